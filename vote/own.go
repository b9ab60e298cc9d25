package vote

import "slices"

// A Decider is a voting rule of one's own. It is asked after each sample what the tally
// means. It is a pure function: the same rule and the same tally give the same decision,
// also in another session.
//
// While a race is [Open], Need says how many further votes could decide it at best, 1 or
// more: that many are asked for at once. A key that has [Won] is one of those that were
// voted for: any other one leaves the race open. The cap of the rule holds whatever the decider says; the other numbers of the
// rule mean what the decider takes them for.
type Decider func(rule Rule, t *Tally) Decision

// NewTallyBy returns an empty tally of a race that decide decides, under a rule that is
// [Own]. It panics if the rule is not valid. Without a decider nobody wins.
func NewTallyBy(rule Rule, decide Decider, margins ...int) *Tally {
	t := new(Tally)
	t.Begin(rule, decide, margins...)
	return t
}

// own is what the decider says, within the cap.
func (t *Tally) own() Decision {
	d := Decision{Need: 1}
	if t.decide != nil {
		d = t.decide(t.rule, t)
	}
	if d.Outcome == Won && !slices.ContainsFunc(t.Counts(), func(c Count) bool { return c.Key == d.Key }) {
		d = Decision{} // nobody gave that answer, so there is none to commit
	}
	if d.Outcome == Open {
		if d.Need = max(d.Need, 1); d.Need > t.left() {
			d.Outcome = Stuck
		}
	}
	return d
}
