package history

import (
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// turn holds a committed turn of a loop against those before it.
func (a *Audit) turn(h *History, key string, step int) {
	name, n, ok := flow.CutTurn(key)
	if !ok {
		a.differ("step %d is a turn of a loop, but its key is %q", step, key)
		return
	}
	a.under(step, key, "committed")
	was := 0
	if l := h.loops[name]; l != nil {
		was = l.n
	}
	if n != was {
		a.differ("step %d: turn %d of the loop %s is committed where turn %d belongs", step, n, name, was)
	}
}

// leftOut reports whether the samples of a vote are rightly not in the log: in a loop those
// are not on which all agreed.
func (a *Audit) leftOut(h *History, e event.VoteCompleted) bool {
	open := h.Votes[e.Question]
	return !a.full && (open == nil || len(open.Samples) == 0) && loopOf(e.Question) != "" &&
		e.Status == string(flow.Decided) && !e.Voting.Contested() && len(e.Leads) == 0
}

// agreeing are samples that all agreed, as a verdict counts them.
func agreeing(v event.Voting) []event.Event {
	var list []event.Event
	for range min(v.RedFlagged, maxAgreeing) {
		list = append(list, event.SampleRedFlagged{})
	}
	for key, n := range v.Votes {
		for range min(n, maxAgreeing) {
			list = append(list, event.SampleCompleted{Vote: key})
		}
	}
	return list
}

// maxAgreeing bounds what is made of a log that says anything.
const maxAgreeing = 10_000

// A row is a set of numbers that come nearly one after the other, from 0: a million of them
// take no room. The zero value is empty.
type row struct {
	next  int // all below are in it
	apart map[int]bool
}

func (r *row) has(n int) bool { return n >= 0 && n < r.next || r.apart[n] }

// add adds n and reports whether it is new.
func (r *row) add(n int) bool {
	if r.has(n) {
		return false
	}
	if r.apart == nil {
		r.apart = map[int]bool{}
	}
	r.apart[n] = true
	for ; r.apart[r.next]; r.next++ {
		delete(r.apart, r.next)
	}
	return true
}
