package local

import (
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/history"
)

// renumbered is a line of execution of a run whose script was edited: the numbers of its steps
// are those that the log has, and new ones for what is not there.
type renumbered struct {
	*branch
	numbers *history.Numbers
}

// Number implements flow.Numberer.
func (r *renumbered) Number(key string, _ int) int { return r.numbers.Of(r.prefix + key) }

// Decide implements flow.Flow.
func (r *renumbered) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if _, known := r.past.Verdicts[r.prefix+key]; !known {
		asked := *q
		asked.Step = r.numbers.Begun(q.Step)
		q = &asked
	}
	return r.branch.Decide(key, q)
}

// Perform implements flow.Flow.
func (r *renumbered) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	if r.past.Effects[r.prefix+key].Result == nil {
		made := *e
		made.Step = r.numbers.Begun(e.Step)
		e = &made
	}
	return r.branch.Perform(key, e)
}

// Ask implements flow.Flow.
func (r *renumbered) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	if r.past.Answers[r.prefix+key] == nil {
		asked := *q
		asked.Step = r.numbers.Begun(q.Step)
		q = &asked
	}
	return r.branch.Ask(key, q)
}

// Emit implements flow.Flow.
func (r *renumbered) Emit(key string, e event.Event) {
	switch step := e.(type) {
	case event.StepCompleted:
		number, anew := r.ended(key, e, step.Step)
		if step.Step = number; anew {
			r.emitAnew(key, step)
			return
		}
	case event.StepFailed:
		step.Step, _ = r.ended(key, e, step.Step)
		e = step
	case event.TaskFailed:
		step.Step = r.numbers.Now(step.Step)
		e = step
	}
	r.branch.Emit(key, e)
}

// ended is the number under which a step ends, and whether the log does not have it ended in
// this way.
func (r *renumbered) ended(key string, e event.Event, step int) (number int, anew bool) {
	number = r.numbers.Now(step)
	if !r.numbers.Committed(number) {
		return number, true
	}
	key = r.prefix + key
	known, err := r.past.Emitted(key, e, r.opts.Redact)
	if known && (err == nil || !r.past.Outdated(key)) {
		return number, false
	}
	return r.numbers.Begun(number), true
}

// emitAnew appends an event whose key the log may hold from before the edit.
func (r *renumbered) emitAnew(key string, e event.Event) {
	if r.failed.get() != nil {
		return
	}
	key = r.prefix + key
	if err := r.claimKey(byEmit, key); err != nil {
		r.failed.set(err)
		return
	}
	r.emit(key, r.stamp(e))
}

// Parallel implements flow.Flow.
func (r *renumbered) Parallel(key string, n int, f func(i int, f flow.Flow) error) error {
	return r.branch.Parallel(key, n, func(i int, child flow.Flow) error {
		return f(i, &renumbered{child.(*branch), r.numbers})
	})
}

// Loop implements flow.Looper.
func (r *renumbered) Loop(key string) (flow.Turns, error) {
	turns, err := r.branch.Loop(key)
	if err != nil {
		return nil, err
	}
	return &renumberedTurns{turns, r.numbers}, nil
}

type renumberedTurns struct {
	flow.Turns
	numbers *history.Numbers
}

func (t *renumberedTurns) Turn(n int) flow.Flow {
	return &renumbered{t.Turns.Turn(n).(*branch), t.numbers}
}
