package sim

import (
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

const dividesByZero = "This divides by zero, so there is no result."

// answerNumber appends what an expression comes to.
func (d *decision) answerNumber(buf []byte, n problem.Number) []byte {
	buf = d.appendRamble(buf)
	if n.Value == nil {
		return d.complain(buf, dividesByZero)
	}
	text := n.Text()
	switch d.quality {
	case malformed:
		return d.garbleNumber(buf, text)
	case wrong:
		text = n.Off(slipOf(d)).Text()
	}
	buf = d.say(buf, len(text),
		"I worked through it term by term.\n",
		"Products first, then sums.\n",
		"Adding up the parts gives the result.\n")
	buf = d.field(buf, true, "answer")
	if strings.Contains(text, "/") {
		buf = d.text(buf, text) // JSON has no fractions
	} else {
		buf = append(buf, text...)
	}
	return d.end(buf)
}

func (d *decision) garbleNumber(buf []byte, text string) []byte {
	switch d.form % 3 {
	case 0:
		return d.chat(buf, "It comes to about "+text+", I would say.")
	case 1:
		if d.structured {
			return append(buf, `{"answer": null}`...)
		}
		return append(buf, "I worked through it term by term.\nanswer ="...)
	default:
		return d.end(d.text(d.field(buf, true, "answer"), text+" or a little more"))
	}
}
