package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/vote"
)

// attempt is one step of a batch.
type attempt struct {
	step   *plan.Step
	number int    // in the run
	plan   string // the key of the plan
	name   string // of the step in it
	format MappingFormat

	outcome flow.Outcome // of all tries together
	next    int          // the number in the plan of the step after it
	problem string       // why it failed; empty if it did not
}

// key is that of the step.
func (a *attempt) key() string { return a.plan + "/" + a.name }

// decideOne decides a step under a key. Where there is one sample only, a step that failed is
// tried again; calls that were made stay made.
func (r *run) decideOne(f flow.Flow, base string, a *attempt) error {
	q, err := r.question(a)
	if err != nil {
		a.outcome = flow.Outcome{Verdict: &flow.Verdict{Status: flow.Failed}}
		a.problem = err.Error()
		return nil
	}
	moves := r.config.MaxMoves
	for try := 0; ; try++ {
		key := base
		if try > 0 {
			key = fmt.Sprintf("%s/try/%d", key, try)
		}
		out, err := flow.Act(f, key, q, moves)
		if err != nil {
			return err
		}
		a.outcome.Add(out)
		a.problem = a.judge(r)
		// The rule that counts is the one by which it was decided: on a resume another
		// one may be in force, and what follows has to be the same.
		if a.problem == "" || out.Verdict.Voting.Strategy != vote.None || try >= r.config.Retries || out.Unknown() {
			return nil
		}
		// What a step may do and bear is the same however often it is tried.
		if moves = r.config.MaxMoves - len(a.outcome.Moves); moves <= 0 {
			return nil
		}
		if r.config.MaxFaults > 0 {
			q.MaxFaults = max(r.config.MaxFaults-a.outcome.Voting.Faults, 1)
		}
		q.Work.Done = slices.Clone(a.outcome.Moves)
		q.FirstTemperature = q.Temperature // the greedy answer is known
	}
}

// judge says what keeps the step from being committed, and otherwise which step is
// next.
func (a *attempt) judge(r *run) string {
	v := a.outcome.Verdict
	if v.Status != flow.Decided {
		if v.Reason == "" {
			return string(v.Status)
		}
		return v.Reason
	}
	if a.outcome.Voting.Strategy != vote.None {
		a.outcome.Voting.Unvoted = a.format.unvoted(v.Answer)
	}
	a.next = a.step.NextStep
	if a.step.TaskType != plan.ConditionalStep {
		return ""
	}
	next, err := nextStep(v.Answer)
	if err == nil {
		err = r.plan.Route(a.step.Number, next, r.config.AllowLoops)
	}
	if err != nil {
		return err.Error()
	}
	a.next = next
	return ""
}

// nextStep reads the answer of a conditional step.
func nextStep(answer json.RawMessage) (int, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(answer, &fields); err != nil {
		return 0, fmt.Errorf("the answer of the conditional step is no mapping")
	}
	raw, ok := fields[nextStepField]
	if !ok {
		return 0, fmt.Errorf("the answer of the conditional step has no next_step")
	}
	number, err := strconv.ParseFloat(string(raw), 64)
	if next := int(number); err == nil && float64(next) == number { // 2.0 agrees with 2 in the vote
		return next, nil
	}
	return 0, fmt.Errorf("next_step is %.60s, want the number of a step", raw)
}

// status is how the step ended.
func (a *attempt) status() flow.Status {
	if s := a.outcome.Verdict.Status; s != flow.Decided {
		return s
	}
	return flow.Failed // the answer led nowhere
}
