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

	// Panel is the rule by which several planners are asked once the retries of one are
	// used up; [vote.None], or no rule, leaves that out.
	Panel vote.Rule

	// AllowLoops lets a plan go back.
	AllowLoops bool

	// Language is the one that plans are written in; nil means that of package plan.
	Language *Language
}

// hasPanel reports whether several planners are asked after one has failed.
func (c *Config) hasPanel() bool {
	return c.Language == nil && c.Rule.Strategy == vote.None && c.Panel.Strategy != "" && c.Panel.Strategy != vote.None
}

// A Planner makes plans for one run.
type Planner struct {
	config    Config
	task      string
	catalogue string // of the tools
	context   string // that the steps are told
	images    []flow.Image
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
			if e.Attempt >= edited {
				return // the person is asked again
			}
			if last := p.lastAttempt(); e.Attempt >= last {
				yield("end", ended(e, p.config.Language.called()))
				return
			}
			p.plan(f, e.Replan, e.Attempt+1, problemsOf(e), yield)
		case event.ReplanRequested:
			var outputs []event.NamedOutput
			if err := json.Unmarshal(e.Outputs.JSON, &outputs); err != nil {
				yield("end", event.TaskFailed{Status: event.StatusFailed, Reason: err.Error(), Step: e.Step})
				return
			}
			p.done, p.failure = doneInputs(outputs), e.Reason
			p.plan(f, e.Replan, 0, nil, yield)
		}
	}
}

// lastAttempt is the number of the last attempt at a plan; with a panel it is the
// panel's.
func (p *Planner) lastAttempt() int {
	if p.config.hasPanel() {
		return p.config.Retries + 1
	}
	return p.config.Retries
}

// isPanel reports whether several planners make an attempt.
func (p *Planner) isPanel(attempt int) bool {
	return p.config.hasPanel() && attempt == p.lastAttempt()
}

// attemptKey is the key of an attempt at a plan.
func attemptKey(replan, attempt int) string {
	return fmt.Sprintf("plan/%d/attempt/%d", replan, attempt)
}

// ended is the end of a run whose last plan was rejected. A resume looks at that plan
// again: what it was held against may have changed. Those before it stay rejected,
// because others were made in their place.
func ended(e event.ValidationFailed, called string) event.TaskFailed {
	text := fmt.Sprintf("the %s does not pass its checks:", called)
	if e.Attempt > 0 {
		text = fmt.Sprintf("no %s passed its checks in %d attempts; the last one:", called, e.Attempt+1)
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
	key := attemptKey(replan, attempt)
	format, err := p.format(f, key, attempt)
	if err != nil {
		return
	}
	q, err := p.question(attempt, format, problems)
	if err != nil {
		yield("end", event.TaskFailed{Status: event.StatusFailed, Reason: err.Error()})
		return
	}
	v, err := f.Decide(key, q)
	if err != nil {
		return
	}
	if v.Status == flow.FlaggedOut && attempt < p.lastAttempt() && (format.Checks != nil || p.config.hasPanel()) {
		next := attempt + 1
		if format.Checks == nil {
			next = p.lastAttempt() // one planner has had as many tries as there are retries
		} else {
			problems = []string{v.Reason}
		}
		p.plan(f, replan, next, problems, yield)
		return
	}
	if v.Status != flow.Decided {
		end := event.TaskFailed{Status: event.StatusFailed, Reason: "no " + p.config.Language.called() + ": " + v.Reason, Reopen: []string{key}}
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

// Split makes a plan for something that could not be settled as it is. Plans that pass
// the checks are voted on.
func (p *Planner) Split(f flow.Flow, key string, w flow.Whole) (string, *flow.Verdict, error) {
	part := *p
	part.task = w.Task + "\n\nThe last step returns these fields:\n" + w.Fields
	part.failure = "agents who did it in one step did not agree (" + w.Why + "). It has to be split into two steps or more."
	part.context, part.images, part.done = w.Context, w.Images, doneInputs(w.Done)
	var err error
	if part.catalogue, err = flow.Catalogue(f, key+"/catalogue"); err != nil {
		return "", nil, err
	}
	if part.config.hasPanel() {
		part.config.Rule = p.config.Panel
	}
	format, err := part.format(f, key, 0)
	if err != nil {
		return "", nil, err
	}
	q, err := part.question(0, format, nil)
	if err != nil {
		return "", &flow.Verdict{Status: flow.Failed, Reason: err.Error()}, nil
	}
	q.Step, q.Scope = w.Step, w.Scope
	v, err := f.Decide(key, q)
	if err != nil {
		return "", nil, err
	}
	var answer Draft
	if v.Status == flow.Decided {
		if err := json.Unmarshal(v.Answer, &answer); err != nil {
			return "", &flow.Verdict{Status: flow.Failed, Reason: err.Error()}, nil
		}
	}
	return answer.Plan, v, nil
}

// outputTag is the tag around an output that exists already.
const outputTag = "output"

// doneInputs are outputs as a planner is told of them, with what of them nobody voted on.
func doneInputs(outputs []event.NamedOutput) []prompts.Input {
	var list []prompts.Input
	for _, o := range outputs {
		text, err := prompts.YAML(outputTag, o.Output)
		if err != nil {
			text = string(o.Output) // it is JSON, which can be read as well
		}
		list = append(list, prompts.Input{Name: o.Name, YAML: prompts.Unvoted(outputTag, o.Unvoted) + text})
	}
	return list
}

// format is how the plans of an attempt are read. Where several are voted on, those
// that do not pass the checks are none.
func (p *Planner) format(f flow.Flow, key string, attempt int) (Format, error) {
	if p.config.Rule.Strategy == vote.None && !p.isPanel(attempt) {
		return Format{}, nil
	}
	var done []string
	for _, o := range p.done {
		done = append(done, o.Name)
	}
	checks, err := checksOf(f, key, p.config.AllowLoops, done)
	return Format{Strict: true, Checks: checks}, err
}

// checksOf are what plans are held against that somebody else is to make.
func checksOf(f flow.Flow, key string, allowLoops bool, available []string) (*plan.Checks, error) {
	tools, err := flow.Tools(f, key+"/tools")
	checks := &plan.Checks{Tools: []string{}, AllowLoops: allowLoops, Available: available}
	for _, t := range tools {
		if t.Unavailable == "" {
			checks.Tools = append(checks.Tools, t.Name)
		}
	}
	return checks, err
}

func (p *Planner) question(attempt int, format Format, problems []string) (*flow.Question, error) {
	c := &p.config
	var lesson prompts.Data = prompts.PlannerSystem{MaxToolCalls: maxToolCalls, ProseNames: plan.ProseNames()}
	if c.Language != nil {
		lesson = c.Language.System
	}
	system, err := c.Prompts.Render(lesson)
	if err != nil {
		return nil, err
	}
	user := prompts.PlannerUser{Task: p.task, Catalogue: p.catalogue, Context: p.context, Problems: problems, Done: p.done, Failure: p.failure}
	if attempt > 0 {
		user.Rejected = p.last
	}
	params, err := json.Marshal(format)
	if err != nil {
		return nil, err
	}
	terms := c.Terms
	if p.isPanel(attempt) {
		terms.Rule = c.Panel
	} else if terms.Rule.Strategy == vote.None {
		terms.Rule.MaxSamples = c.Retries + 1 // a plan that is cut off is one of the attempts
	}
	if attempt > 0 {
		terms.FirstTemperature = c.Temperature // the greedy plan may just be the rejected one again
	}
	q := &flow.Question{
		System: system, Images: p.images, Model: flow.Reasoning,
		Answer: flow.Format{Reader: Reader, Params: params}, Schema: planSchema,
		Terms: terms,
		Work:  &flow.Work{Repair: c.Repair},
	}
	if c.Language != nil {
		q.Answer, q.Schema, q.Work = flow.Format{Reader: DraftReader}, nil, nil
		return q, c.Prompts.Put(q, c.Language.User(user))
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
