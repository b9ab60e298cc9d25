package sim

import (
	"regexp"
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
	isTowers bool
	towers   towers
	previous int             // the disk that was moved last
	problem  problem.Problem // to compute or to sort; nil if there is none
}

func (t *lineTask) found() bool { return t.isTowers || t.problem != nil }

// read finds the task of a prompt. It reads the lines from the last to the first,
// because instructions and examples come before the task. A line that only looks
// like a task ("What is the next move?") is passed over, and so is an example below the
// task: a problem with its answer.
func (t *lineTask) read(prompt string) {
	moved := false
	for end := len(prompt); end >= 0 && !(t.isTowers && moved); {
		start := strings.LastIndexByte(prompt[:end], '\n') + 1
		line := skipSpace(prompt[start:end])
		at := end - len(line)
		end = start - 1
		switch { // a state or a move may go on in the lines below
		case !t.isTowers && strings.HasPrefix(line, stateLine):
			t.isTowers = t.towers.read(prompt[at+len(stateLine):])
		case !moved && strings.HasPrefix(line, moveLine):
			t.previous, moved = readMove(prompt[at+len(moveLine):])
		case !t.isTowers && maybeProblem(line):
			if p := problem.Read(line); p != nil && !answered.MatchString(prompt[at:]) {
				t.problem = p
				return
			} else if t.problem == nil { // there may be nothing else
				t.problem = p
			}
		}
	}
}

// answered matches a line that has an answer behind or below it.
var answered = regexp.MustCompile(`(?i)^[^\n]*(?:\n\s*)?\banswer\s*[:=]\s*[-\[\d]`)

// maybeProblem reports whether it is worth the time to read a line as a problem.
func maybeProblem(line string) bool {
	return strings.HasPrefix(line, sortLine) ||
		(strings.HasPrefix(line, computeLine) || strings.HasPrefix(line, whatLine)) && strings.ContainsAny(line, "0123456789")
}

// hash stands for the task, however it is written.
func (t *lineTask) hash() uint64 {
	if t.isTowers {
		return t.towers.hash(t.previous)
	}
	return hash(t.problem.String())
}

// answerLine appends the answer to a task that there is.
func (d *decision) answerLine(buf []byte, t *lineTask) []byte {
	if t.isTowers {
		return t.towers.answer(buf, t.previous, d)
	}
	return d.answerProblem(buf, t.problem)
}

const dividesByZero = "This divides by zero, so there is no result."

// answerProblem appends what an expression comes to, or a list in order.
func (d *decision) answerProblem(buf []byte, p problem.Problem) []byte {
	buf = d.appendRamble(buf)
	var mistakes []problem.Slip
	if d.quality == wrong {
		mistakes = append(mistakes, slipOf(d))
	}
	text, ok := p.Solution(mistakes)
	if !ok {
		return d.alone(buf, "error", dividesByZero)
	}
	if d.quality == malformed {
		switch d.form % 3 {
		case 0:
			return d.chat(buf, "It comes to about "+text+", I would say.")
		case 1: // what there is, is not all
			if d.structured {
				return append(d.field(buf, true, "answer"), text...)
			}
			return append(buf, "Step by step.\nanswer ="...)
		default:
			return d.end(d.text(d.field(buf, true, "answer"), text+" or a little more"))
		}
	}
	buf = d.say(buf, len(text),
		"I worked through it step by step.\n",
		"First things first, then the rest.\n",
		"Putting the parts together gives the result.\n")
	buf = d.field(buf, true, "answer")
	if strings.Contains(text, "/") {
		buf = d.text(buf, text) // JSON has no fractions
	} else {
		buf = append(buf, text...)
	}
	return d.end(buf)
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
