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
	previous int             // the disk that was moved last
	problem  problem.Problem // to compute or to sort
}

type lineKind uint8

const (
	noTask lineKind = iota
	towersTask
	problemTask
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
		rest := func(label string) string { return prompt[at+len(label):] }
		switch {
		case strings.HasPrefix(line, stateLine):
			if state == "" && isTowers(rest(stateLine)) {
				state = rest(stateLine)
			}
		case strings.HasPrefix(line, moveLine):
			if move == "" && isMove(rest(moveLine)) {
				move = rest(moveLine)
			}
		case state == "" && maybeProblem(line):
			if t.problem = problem.Read(line); t.problem != nil {
				t.kind = problemTask
				return
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

// maybeProblem reports whether it is worth the time to read a line as a problem.
func maybeProblem(line string) bool {
	return strings.HasPrefix(line, sortLine) ||
		(strings.HasPrefix(line, computeLine) || strings.HasPrefix(line, whatLine)) && strings.ContainsAny(line, "0123456789")
}

// hash stands for the task, however it is written.
func (t *lineTask) hash() uint64 {
	if t.kind == towersTask {
		return t.towers.hash(t.previous)
	}
	return hash(t.problem.String())
}

// answerLine appends the answer to a task that there is.
func (d *decision) answerLine(buf []byte, t *lineTask) []byte {
	if t.kind == towersTask {
		return t.towers.answer(buf, t.previous, d)
	}
	return d.answerProblem(buf, t.problem)
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
