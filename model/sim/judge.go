package sim

import "strconv"

const judgeHeading = "Judge one property of a plan"

// judge scores a plan: it always likes it, and wrongly does not.
func (d *decision) judge() *answer {
	score, reason := 0.9, "All steps have the property as far as I can see."
	if d.quality == wrong {
		score, reason = 0.5-0.05*float64(slipOf(d).Among(10)), "Step 0 lacks it."
	}
	m := mapping{
		{"score", plainValue(strconv.FormatFloat(score, 'f', 2, 64))},
		{"reason", textValue(d.rambling(reason))},
	}
	if d.quality == malformed {
		return d.garble(m)
	}
	return say(m.write(d.structured))
}
