package local

import (
	"cmp"
	"fmt"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// A FutileError says that more votes will not make the run right.
type FutileError struct{ adaptive.Futility }

func (e *FutileError) Error() string {
	return fmt.Sprintf("%s; other voters (--voters), other words or smaller steps may help, and --on-futile warn goes on", e.Says())
}

// policyClass is the class of a question by which it is counted how hard it is. All
// questions of a chain are alike, unless its family says otherwise.
func (b *branch) policyClass(q *flow.Question) string {
	if b.byStep() {
		return adaptive.ClassOf(cmp.Or(q.Class, b.opts.Class), q.Model)
	}
	return adaptive.ClassOf(q.Class, q.Model)
}

// margins is the policy that is in force for a question, if its rule is adaptive.
func (b *branch) margins(q *flow.Question) adaptive.Change {
	if q.Rule.Strategy != vote.Adaptive {
		return adaptive.Change{}
	}
	class := b.policyClass(q)
	if b.opts.Told != nil {
		if now, ok := b.opts.Told.Policies[class]; ok {
			return now
		}
	}
	b.counting.Lock()
	defer b.counting.Unlock()
	now, begins := b.past.Policies.Now(class)
	b.announce(begins)
	return now
}

// oneByOne reports whether questions are decided one after another, as in a chain: then there
// are no others that voters differ over.
func (r *Runtime) oneByOne() bool { return r.opts.Checkpoints && !r.opts.Apart }

// dispute notes the first vote for a second answer.
func (d *decision) dispute(s *ballot.Sample) {
	switch {
	case d.split || s.Flag != nil || s.Err != nil:
	case d.led == "":
		d.led = s.Answer.Key
	case d.led != s.Answer.Key:
		if d.split = true; d.oneByOne() || d.q.Rule.Strategy != vote.Adaptive {
			return
		}
		d.counting.Lock()
		d.disputed[d.policyClass(d.q)]++
		d.counting.Unlock()
	}
}

// settled ends a question, and is over how many others of its class voters differ. One that is now
// put to other voters stays one of these until they have said what they think: a race without a
// winner is the hardest there is, and counts only when its step ends.
func (b *branch) settled(d *decision, decided bool) int {
	if b.oneByOne() || d.q.Rule.Strategy != vote.Adaptive {
		return 0
	}
	b.counting.Lock()
	defer b.counting.Unlock()
	class := b.policyClass(d.q)
	if b.unsettled != "" && d.q.Confirm != nil {
		b.disputed[b.unsettled]--
		b.unsettled = ""
	}
	if !d.split {
		return b.disputed[class]
	}
	if d.q.Second && !decided && b.unsettled == "" {
		b.unsettled = class
		return b.disputed[class] - 1
	}
	b.disputed[class]--
	return b.disputed[class]
}

// announce appends what follows from votes. The run ends if more of them are of no use.
func (b *branch) announce(follows []event.Event) {
	if b.opts.Told != nil {
		return // whoever knows more says it
	}
	for _, e := range follows {
		if c, ok := e.(event.PolicyChanged); ok {
			c.Outlook = b.priced(c.Outlook)
			e = c
		}
		_ = b.append(e) // it is remembered
		if f, ok := e.(event.PolicyFutile); ok && !b.opts.GoOnIfFutile {
			b.failed.set(&FutileError{f.Futility})
		}
	}
}

// settle appends what follows from the votes of earlier sessions and is not in the log:
// the last one was killed in between. It reports why the run should not go on.
func (b *branch) settle() error {
	b.retire(b.past.Framings.Due())
	b.announce(b.past.Policies.Due())
	if f := b.past.Policies.Futile(); f != nil && !b.opts.GoOnIfFutile {
		return &FutileError{*f}
	}
	return nil
}

// Outlook is how the run stands and is thought to end, if its rule is adaptive.
func (r *Runtime) Outlook() (adaptive.Outlook, bool) {
	if r.opts.Setup.Rule.Strategy != vote.Adaptive {
		return adaptive.Outlook{}, false
	}
	r.counting.Lock()
	defer r.counting.Unlock()
	o, ok := r.past.Policies.Outlook()
	return r.priced(o), ok
}

func (r *Runtime) priced(o adaptive.Outlook) adaptive.Outlook {
	spent := r.opts.Ledger.Spent()
	return o.Priced(spent.CostUSD(), spent.Calls)
}

// Futile is why more votes will not make the run right that goes on all the same, nil if
// they may.
func (r *Runtime) Futile() *adaptive.Futility {
	if !r.opts.GoOnIfFutile {
		return nil
	}
	return r.futility()
}

func (r *Runtime) futility() *adaptive.Futility {
	r.counting.Lock()
	defer r.counting.Unlock()
	return r.past.Policies.Futile()
}
