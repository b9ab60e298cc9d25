package local

import (
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// class is what the framings of a question are compared by. All questions of a chain are
// alike.
func (b *branch) class(q *flow.Question) string {
	if b.byStep() {
		return ""
	}
	return q.Class
}

// retired are the framings in which a voter is not asked any more.
func (r *Runtime) retired(class, voter string) []int {
	if r.opts.Told != nil {
		return r.opts.Told.Retired[class][voter]
	}
	r.counting.Lock()
	defer r.counting.Unlock()
	return r.past.Framings.Retired(class, voter)
}

// A voted question is one that was decided, or not.
type voted struct {
	class   string // by which framings are compared
	policy  string // by which it is counted how hard it is
	voting  event.Voting
	decided bool
}

// appendVoted appends an event with the votes of a question, retires the framings that
// these show to be worse than others, and learns how hard questions are. Branches do so
// one after the other: the log has what follows from it in the order in which it does.
func (b *branch) appendVoted(key string, e event.Event, v voted) {
	if !teaches(&v.voting) {
		_ = b.appendKeyed(key, e) // it is remembered
		return
	}
	b.counting.Lock()
	defer b.counting.Unlock()
	_ = b.appendKeyed(key, e)
	b.retire(b.past.Framings.Count(v.class, v.voting.Shares))
	b.announce(b.past.Policies.Count(v.policy, v.voting, v.decided))
}

// teaches reports whether votes say how framings do, or how hard questions are.
func teaches(v *event.Voting) bool { return len(v.Shares) > 0 || v.Strategy == vote.Adaptive }

// appendLearnt is appendVoted for a step of a chain, which says itself what there is to learn.
// It is not kept.
func (b *branch) appendLearnt(step *event.StepCompleted) {
	b.counting.Lock()
	defer b.counting.Unlock()
	if err := b.opts.Log.AppendStep("", step); err != nil {
		b.failed.set(err)
	}
	b.retire(b.past.Framings.Count("", step.Voting.Shares))
	b.announce(b.past.Policies.CountStep(b.opts.Class, step))
}

func (b *branch) retire(due []event.FramingRetired) {
	if b.opts.Told != nil {
		return
	}
	for _, e := range due {
		b.past.Framings.Retire(e)
		_ = b.append(e)
	}
}
