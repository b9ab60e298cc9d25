package sim

import (
	"slices"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// answerList appends the numbers of a list in order.
func (d *decision) answerList(buf []byte, l problem.List) []byte {
	buf = d.appendRamble(buf)
	slices.Sort(l)
	switch d.quality {
	case malformed:
		switch d.form % 3 {
		case 0:
			return d.chat(buf, "They are in order now, smallest first.")
		case 1:
			buf = l.Append(d.field(d.prose(buf, "Smallest first.\n"), true, "answer"))
			return buf[:len(buf)-1]
		default:
			return d.end(d.text(d.field(buf, true, "answer"), "smallest first"))
		}
	case wrong:
		l = l.Off(slipOf(d))
	}
	buf = d.say(buf, len(l),
		"I put the smallest first and went on from there.\n",
		"Smallest first.\n",
		"In ascending order:\n")
	return d.end(l.Append(d.field(buf, true, "answer")))
}
