package sim

import (
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// Lines that make a prompt a task.
const (
	stateLine   = "Current state:"
	moveLine    = "Previous move:"
	computeLine = "Compute:"
	whatLine    = "What is "
	sortLine    = "Sort:"
)

// A lineTask is a task that is stated on lines of the prompt.
type lineTask struct {
	kind     lineKind
	towers   towers
	previous int    // the disk that was moved last
	text     string // the expression
	number   problem.Number
	list     problem.List
}

type lineKind uint8

const (
	noTask lineKind = iota
	towersTask
	numberTask
	listTask
)

// read finds the task of a prompt. It reads the lines from the last to the first,
// because instructions and examples come before the task. A line that only looks
// like a task ("What is the next move?") is passed over.
func (t *lineTask) read(prompt string) {
	var state, move string // the rest of the prompt after these labels
	for end := len(prompt); end >= 0; {
		start := strings.LastIndexByte(prompt[:end], '\n') + 1
		line := skipSpace(prompt[start:end])
		at := end - len(line)
		end = start - 1
		if line == "" {
			continue
		}
		switch line[0] {
		case 'C':
			if state != "" {
				break
			}
			if strings.HasPrefix(line, stateLine) {
				if rest := prompt[at+len(stateLine):]; isTowers(rest) {
					state = rest
				}
			} else if expr, ok := strings.CutPrefix(line, computeLine); ok && t.readNumber(expr) {
				return
			}
		case 'W':
			if expr, ok := strings.CutPrefix(line, whatLine); ok && state == "" && t.readNumber(expr) {
				return
			}
		case 'S':
			if list, ok := strings.CutPrefix(line, sortLine); ok && state == "" {
				if t.list, ok = problem.ParseList(list); ok {
					t.kind = listTask
					return
				}
			}
		case 'P':
			if strings.HasPrefix(line, moveLine) && move == "" {
				if rest := prompt[at+len(moveLine):]; isMove(rest) {
					move = rest
				}
			}
		}
		if state != "" && move != "" {
			break
		}
	}
	if state != "" {
		t.kind, t.previous = towersTask, parseMove(move)
		t.towers.parse(state)
	}
}

func (t *lineTask) readNumber(expr string) bool {
	n, ok := problem.Evaluate(expr)
	if ok {
		t.kind, t.text, t.number = numberTask, expr, n
	}
	return ok
}

// hash stands for the task: a state and the disk that was moved last, an expression,
// or a list, however it is written.
func (t *lineTask) hash() uint64 {
	switch t.kind {
	case towersTask:
		return t.towers.hash(t.previous)
	case numberTask:
		return hash(computeLine + strings.TrimRight(strings.Join(strings.Fields(t.text), ""), ".?!="))
	}
	return hash(sortLine + string(t.list.Append(nil)))
}

// answerLine appends the answer to a task that there is.
func (d *decision) answerLine(buf []byte, t *lineTask) []byte {
	switch t.kind {
	case towersTask:
		return t.towers.answer(buf, t.previous, d)
	case numberTask:
		return d.answerNumber(buf, t.number)
	}
	return d.answerList(buf, t.list)
}

// skipSpace drops white space before what follows. It is called between any two
// numbers, which makes it worth being faster than strings.TrimLeft.
func skipSpace(s string) string {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return s[i:]
}

// parseNatural reads a whole number without sign. Numbers that cannot be a disk
// or a peg all read as tooLarge.
func parseNatural(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		n = min(n*10+int(s[i]-'0'), tooLarge)
		i++
	}
	return n, s[i:], i > 0
}

const tooLarge = 1 << 20
