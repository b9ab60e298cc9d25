package local

import (
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// class is what the framings of a question are compared by. All questions of a chain are
// alike.
func (b *branch) class(q *flow.Question) string {
	if b.opts.Checkpoints {
		return ""
	}
	return q.Class
}

// retired are the framings in which a voter is not asked any more.
func (r *Runtime) retired(class, voter string) []int {
	r.framings.Lock()
	defer r.framings.Unlock()
	return r.past.Framings.Retired(class, voter)
}

// appendVoted appends an event with the votes of a question, and retires the framings
// that these show to be worse than others. Branches do so one after the other: the log
// has what follows from it in the order in which it does.
func (b *branch) appendVoted(key string, e event.Event, class string, shares []event.Share) {
	if len(shares) == 0 {
		_ = b.appendKeyed(key, e) // it is remembered
		return
	}
	b.framings.Lock()
	defer b.framings.Unlock()
	_ = b.appendKeyed(key, e)
	b.retire(b.past.Framings.Count(class, shares))
}

func (b *branch) retire(due []event.FramingRetired) {
	for _, e := range due {
		b.past.Framings.Retire(e)
		_ = b.append(e)
	}
}
