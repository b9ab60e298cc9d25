package executor

import (
	"encoding/json"
	"maps"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/plan"
)

// following says what will be asked if a step has a given output, as long as that is one
// question: the next step is a single one, and nothing is asked in between. It looks at the
// run as it is now, which must not change while the step is being decided.
func (r *run) following(a *attempt, q *flow.Question) func(json.RawMessage) (string, *flow.Question) {
	if r.summaries != nil || a.scope != "" {
		return nil
	}
	return func(answer json.RawMessage) (string, *flow.Question) {
		done := *a
		done.outcome = flow.Outcome{Verdict: &flow.Verdict{Status: flow.Decided, Answer: answer}, Voting: event.Voting{Strategy: q.Rule.Strategy}}
		if done.judge(r) != "" || done.next == plan.End {
			return "", nil
		}
		later := r.after(&done)
		if later.config.AllowLoops && later.taken >= later.config.MaxSteps {
			return "", nil
		}
		batch := later.batch(done.next)
		if len(batch) != 1 {
			return "", nil
		}
		next, err := later.question(batch[0])
		if err != nil {
			return "", nil
		}
		later.config.Ladder.First().Put(next)
		next.Next = later.following(batch[0], next)
		return flow.FirstMove(batch[0].key()), next
	}
}

// after is the run as it will be once a step is committed.
func (r *run) after(a *attempt) *run {
	x := *r.Executor
	x.outputs = maps.Clone(r.outputs)
	x.outputs[a.step.OutputVariable] = output{a.outcome.Verdict.Answer, a.unvoted()}
	later := *r
	later.Executor, later.visits = &x, maps.Clone(r.visits)
	return &later
}
