// Package planner turns a task into a plan and looks at the plan before anything
// is spent on it. Its two modules are the first two of the pipeline: the [Planner]
// answers task_submitted with plan_created, and the [Validator] answers that with
// validation_passed or validation_failed, whereupon the planner tries again.
package planner

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/vote"
)

// Config is how plans are made.
type Config struct {
	Prompts *prompts.Set

	flow.Terms // of plans; [vote.None] takes one as it comes
	Repair     flow.Repair

	// Retries is how often a plan that was rejected is made anew.
	Retries int
}

// A Planner makes plans for one run.
type Planner struct {
	config    Config
	task      string
	catalogue string // of the tools
	last      string // the plan that was looked at last
	done      []prompts.Input
	failure   string
}

// New returns a planner.
func New(c Config) *Planner { return &Planner{config: c} }

const maxToolCalls = 1 // that a step should need at most

// Process implements [flow.Module].
func (p *Planner) Process(f flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yieldAny func(event.Event) bool) {
		yield := func(key string, e event.Event) { yieldAny(flow.Keyed{Event: e, Key: key}) }
		switch e := e.(type) {
		case event.TaskSubmitted:
			p.task = e.Task
			p.plan(f, 0, 0, nil, yield)
		case event.ValidationFailed:
			if e.Attempt >= p.config.Retries {
				yield("end", ended(e))
				return
			}
			p.plan(f, e.Replan, e.Attempt+1, problemsOf(e), yield)
		case event.ReplanRequested:
			var outputs []event.NamedOutput
			if err := json.Unmarshal(e.Outputs.JSON, &outputs); err != nil {
				yield("end", event.TaskFailed{Status: event.StatusFailed, Reason: err.Error(), Step: e.Step})
				return
			}
			p.done, p.failure = nil, e.Reason
			for _, o := range outputs {
				text, err := prompts.YAML("output", o.Output)
				if err != nil {
					text = string(o.Output) // it is JSON, which can be read as well
				}
				p.done = append(p.done, prompts.Input{Name: o.Name, YAML: text})
			}
			p.plan(f, e.Replan, 0, nil, yield)
		}
	}
}

// attemptKey is the key of an attempt at a plan.
func attemptKey(replan, attempt int) string {
	return fmt.Sprintf("plan/%d/attempt/%d", replan, attempt)
}

// ended is the end of a run whose last plan was rejected. A resume looks at that plan
// again: what it was held against may have changed. Those before it stay rejected,
// because others were made in their place.
func ended(e event.ValidationFailed) event.TaskFailed {
	text := "the plan does not pass its checks:"
	if e.Attempt > 0 {
		text = fmt.Sprintf("no plan passed its checks in %d attempts; the last one:", e.Attempt+1)
	}
	for _, problem := range problemsOf(e) {
		text += "\n- " + problem
	}
	key := attemptKey(e.Replan, e.Attempt)
	return event.TaskFailed{
		Status: event.StatusFailed, Reason: text, Final: slices.ContainsFunc(e.Checks, isLasting),
		Reopen: []string{key + "/usable", key + "/quality", key + "/validated"},
	}
}

// isLasting reports whether a plan that failed a check always will: it is about the plan
// alone, and not about tools, models and rules or what somebody thinks of it.
func isLasting(c event.Check) bool {
	return c.Score == nil && c.Name != plan.CheckToolsAreValid && c.Name != plan.CheckRequiredFieldsPresent
}

func problemsOf(e event.ValidationFailed) []string {
	var list []string
	for _, c := range e.Checks {
		message := c.Message
		if c.Score != nil {
			message = strings.TrimSuffix(fmt.Sprintf("it scored %.2f: %s", *c.Score, message), ": ")
		}
		list = append(list, fmt.Sprintf("%s (%s)", message, c.Name))
	}
	return list
}

// plan makes one plan.
func (p *Planner) plan(f flow.Flow, replan, attempt int, problems []string, yield func(string, event.Event)) {
	var err error
	if attempt == 0 {
		if p.catalogue, err = flow.Catalogue(f, fmt.Sprintf("plan/%d/catalogue", replan)); err != nil {
			return // the run is over; the pipeline knows why
		}
	}
	q, err := p.question(attempt, problems)
	if err != nil {
		yield("end", event.TaskFailed{Status: event.StatusFailed, Reason: err.Error()})
		return
	}
	key := attemptKey(replan, attempt)
	v, err := f.Decide(key, q)
	if err != nil {
		return
	}
	if v.Status != flow.Decided {
		end := event.TaskFailed{Status: event.StatusFailed, Reason: "no plan: " + v.Reason, Reopen: []string{key}}
		if v.Status == flow.Undecided {
			end.Status = event.StatusUndecided
		}
		yield("end", end)
		return
	}
	var answer Draft
	if err := json.Unmarshal(v.Answer, &answer); err != nil {
		yield("end", event.TaskFailed{Status: event.StatusFailed, Reason: err.Error()})
		return
	}
	p.last = answer.Plan
	yield(key+"/created", event.PlanCreated{
		Plan: event.TextValue(answer.Plan), Attempt: attempt, Replan: replan, Repaired: v.Repaired,
		Voting: v.Voting, CostUSD: v.CostUSD, DurationMS: v.DurationMS,
	})
}

func (p *Planner) question(attempt int, problems []string) (*flow.Question, error) {
	c := &p.config
	system, err := c.Prompts.Render(prompts.PlannerSystem{MaxToolCalls: maxToolCalls, ProseNames: plan.ProseNames()})
	if err != nil {
		return nil, err
	}
	user := prompts.PlannerUser{Task: p.task, Catalogue: p.catalogue, Problems: problems, Done: p.done, Failure: p.failure}
	if attempt > 0 {
		user.Rejected = p.last
	}
	params, err := json.Marshal(Format{Strict: c.Rule.Strategy != vote.None})
	if err != nil {
		return nil, err
	}
	terms := c.Terms
	if terms.Rule.Strategy == vote.None {
		terms.Rule.MaxSamples = c.Retries + 1 // a plan that is cut off is one of the attempts
	}
	if attempt > 0 {
		terms.FirstTemperature = c.Temperature // the greedy plan may just be the rejected one again
	}
	q := &flow.Question{
		System: system, Model: flow.Reasoning,
		Answer: flow.Format{Reader: Reader, Params: params}, Schema: planSchema,
		Terms: terms,
		Work:  &flow.Work{Repair: c.Repair},
	}
	return q, c.Prompts.Put(q, user)
}

// AsPlan is a module that ends a run with the first plan that passes: the task was
// to plan.
type AsPlan struct{}

// Process implements [flow.Module].
func (AsPlan) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		valid, ok := e.(event.ValidationPassed)
		if !ok {
			return
		}
		yield(flow.Keyed{Event: event.TaskCompleted{Output: valid.Plan}, Key: "end"})
	}
}
