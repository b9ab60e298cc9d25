package planner

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/vote"
)

// The answers to whether a plan is to be carried out. Another plan comes after [EditPlan], on
// the lines below it.
const (
	RunPlan  = "run"
	StopPlan = "stop"
	EditPlan = "edit"
)

// edited is the number of the first attempt at a plan that is a person's: no planner makes so
// many.
const edited = 1000

// A Confirm shows the person each plan before it is carried out. The person has it carried
// out, stops, or gives another one, which is checked like any: one that does not pass is
// asked about again.
type Confirm struct {
	Validator *Validator  // what checks plans
	Next      flow.Module // carries them out

	last string // the plan that was made last
}

// Process implements [flow.Module].
func (c *Confirm) Process(f flow.Flow, e event.Event) iter.Seq[event.Event] {
	question := flow.HumanQuestion{Kind: event.ClarifyPlan, Text: fmt.Sprintf("Carry out this %s?", c.Validator.config.Language.called()), Options: []string{RunPlan, StopPlan}, Free: true}
	switch e := e.(type) {
	case event.PlanCreated:
		c.last = e.Plan.Text()
	case event.ValidationPassed:
		if e.Attempt < edited { // what the person wrote the person has seen
			question.Plan = e.Plan.Text()
			return c.ask(f, e, e.Replan, e.Attempt, question)
		}
	case event.ValidationFailed:
		if e.Attempt >= edited {
			question.Text = fmt.Sprintf("This %s does not pass its checks:\n- ", c.Validator.config.Language.called()) + strings.Join(problemsOf(e), "\n- ")
			question.Options, question.Plan = []string{StopPlan}, c.last
			return c.ask(f, e, e.Replan, e.Attempt, question)
		}
	}
	return c.Next.Process(f, e)
}

// against is what a plan of the person's is held against before it is taken. One in another
// language is checked when it is.
func (c *Confirm) against(f flow.Flow, key string) (json.RawMessage, error) {
	if l := c.Validator.config.Language; l != nil {
		return json.Marshal(plan.Checks{Language: l.Name})
	}
	checks, err := checksOf(f, key, c.Validator.config.AllowLoops, c.Validator.available)
	if err != nil {
		return nil, err
	}
	return json.Marshal(checks)
}

// ask asks about the plan that an event is about.
func (c *Confirm) ask(f flow.Flow, e event.Event, replan, attempt int, q flow.HumanQuestion) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		key := attemptKey(replan, attempt)
		var err error
		if q.Against, err = c.against(f, key+"/confirm"); err != nil {
			return // the run is over; the pipeline knows why
		}
		a, err := f.Ask(key+"/confirm", &q)
		if err != nil {
			return
		}
		another, isEdited := strings.CutPrefix(a.Text, EditPlan+"\n")
		switch {
		case isEdited:
			yield(flow.Keyed{Key: key + "/edited", Event: event.PlanCreated{
				Plan: event.TextValue(another), Replan: replan, Attempt: max(edited, attempt+1),
				Voting: event.Voting{Strategy: vote.None}, CostUSD: new(float64),
			}})
		case a.Text == RunPlan:
			for out := range c.Next.Process(f, e) {
				if !yield(out) {
					return
				}
			}
		default:
			yield(flow.Keyed{Key: "end", Event: event.TaskFailed{
				Status: event.StatusStopped, Stop: event.StopDeclined, Reason: fmt.Sprintf("the person did not want the %s to be carried out (%s)", c.Validator.config.Language.called(), a.By), Reopen: []string{key + "/confirm"},
			}})
		}
	}
}
