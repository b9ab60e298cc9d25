package sim

import (
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

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
		return d.complain(buf, dividesByZero)
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
