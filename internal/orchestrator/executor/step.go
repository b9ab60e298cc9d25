package executor

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/maker-mdap/maker/event"
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
	scope  string // the key of the step that it is a part of, if it is one
	format MappingFormat

	outcome flow.Outcome // of all tries together
	asked   string       // the key under which it was last tried
	by      string       // who settled it, if its own voters did not: one of the By constants of package event
	next    int          // the number in the plan of the step after it
	problem string       // why it failed; empty if it did not
}

// key is that of the step.
func (a *attempt) key() string { return a.plan + "/" + a.name }

// stepScope is the key of the step of the run that it is, or that it is a part of.
func (a *attempt) stepScope() string {
	if a.scope != "" {
		return a.scope
	}
	return a.key()
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
	switch {
	case a.by != "":
	case a.outcome.Voting.Strategy != vote.None:
		a.outcome.Voting.Unvoted = a.format.unvoted(v.Answer)
	case r.config.Rule.Strategy != vote.None: // one sample where others vote
		a.outcome.Voting.Unvoted = []string{event.WholeAnswer}
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

// unvoted are the paths of what nobody voted on, whatever the others of the run do.
func (a *attempt) unvoted() []string {
	if a.outcome.Voting.Strategy == vote.None && a.by != event.ByPerson {
		return []string{event.WholeAnswer}
	}
	return a.outcome.Voting.Unvoted
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
