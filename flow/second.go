package flow

import (
	"fmt"

	"github.com/maker-mdap/maker/event"
)

// AskSecond asks the other pool about a question of a step that has no winner. What it
// agrees to is the answer, and the step is marked with it; otherwise the question stays as
// it was.
func AskSecond(f Flow, key, pool string, q *Question, first *Verdict, done *event.StepCompleted) (*Verdict, error) {
	next := key + "/" + string(Second)
	f.Emit(next+"/escalated", event.Escalated{
		Path: fmt.Sprintf("step %d", q.Step), Step: q.Step, Question: key, To: string(Second), Reason: first.Reason, Why: first.Why(),
	})
	asked := *q
	first.toOthers(pool).Put(&asked)
	v, err := f.Decide(next, &asked)
	if err != nil {
		return nil, err
	}
	if v.Status != Decided {
		still := *first
		still.Reason += "; " + v.Reason
		return &still, nil
	}
	done.By, done.Pool, done.First, done.Voting = event.ByModel, pool, &first.Voting, v.Voting
	var both Outcome
	both.Take(first)
	both.Take(v)
	done.CostUSD, done.DurationMS = both.CostUSD, both.DurationMS
	return v, nil
}
