package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// ValidatorConfig is how plans are checked.
type ValidatorConfig struct {
	// AllowLoops lets a plan go back.
	AllowLoops bool

	// Quality has a model judge what code cannot, and Threshold is the score that a
	// plan needs.
	Quality   bool
	Threshold float64
	Prompts   *prompts.Set
	MaxOutput int
	MaxFaults int

	// Structured is how quality checks ask for JSON, as in flow.Terms.
	Structured string

	// Language is the one that plans are written in; nil means that of package plan.
	Language *Language

	// Final says that nobody makes another plan: one that is rejected ends the run.
	Final bool
}

// DefaultThreshold is the score that a plan needs if nothing else is said.
const DefaultThreshold = 0.7

// rounding is how far a sum of scores may be off.
const rounding = 1e-9

// weights of the quality checks in the score. What breaks isolated agents counts
// most.
var weights = map[string]float64{
	"single_purpose": 2, "self_contained": 3, "max_k_tool_calls": 2,
	"non_overlapping": 1, "maximally_decomposed": 1, "appropriately_merged": 1,
}

// A Validator checks the plans of one run.
type Validator struct {
	config    ValidatorConfig
	task      string
	available []string // outputs of the plan before
}

// NewValidator returns a validator.
func NewValidator(c ValidatorConfig) *Validator {
	if c.Threshold == 0 {
		c.Threshold = DefaultThreshold
	}
	return &Validator{config: c}
}

// Process implements [flow.Module].
func (v *Validator) Process(f flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yieldAny func(event.Event) bool) {
		yield := func(key string, e event.Event) bool { return yieldAny(flow.Keyed{Event: e, Key: key}) }
		switch e := e.(type) {
		case event.TaskSubmitted:
			v.task = e.Task
		case event.ReplanRequested:
			var outputs []event.NamedOutput
			if json.Unmarshal(e.Outputs.JSON, &outputs) == nil {
				v.available = nil
				for _, o := range outputs {
					v.available = append(v.available, o.Name)
				}
			}
		case event.PlanCreated:
			if v.config.Language != nil {
				v.checkLanguage(f, e, yield)
			} else {
				v.check(f, e, yield)
			}
		}
	}
}

func (v *Validator) check(f flow.Flow, e event.PlanCreated, yield func(string, event.Event) bool) {
	text := e.Plan.Text()
	key := attemptKey(e.Replan, e.Attempt)
	static, err := v.static(f, key, text)
	if err != nil {
		return // the run is over; the pipeline knows why
	}
	p, report := plan.Validate(text, static)
	if !report.Passed {
		v.reject(key, event.ValidationFailed{Attempt: e.Attempt, Replan: e.Replan, Checks: FailedChecks(report)}, yield)
		return
	}
	passed := event.ValidationPassed{Plan: e.Plan, Attempt: e.Attempt, Replan: e.Replan, Notes: report.Notes}
	passed.ChecksPassed, passed.ChecksSkipped = report.Count()
	if pretty, err := plan.Encode(p); err == nil && len(report.Notes) > 0 {
		passed.Plan = event.TextValue(pretty) // as it was read
	}
	if v.config.Quality {
		checks, score, err := v.quality(f, key, e)
		if err != nil {
			return // the run is over; the pipeline knows why
		}
		if score < v.config.Threshold-rounding {
			v.reject(key, event.ValidationFailed{Attempt: e.Attempt, Replan: e.Replan, Score: &score, Checks: v.worst(checks)}, yield)
			return
		}
		for i := range checks {
			checks[i].Passed = true // it is the score of all together that counts
		}
		passed.Score, passed.Checks = &score, checks
		passed.ChecksPassed += len(checks)
	}
	yield(key+"/validated", passed)
}

// static is what a plan is held against: the tools and models that it names, as they
// were when somebody first looked, and the rule that was in force then.
func (v *Validator) static(f flow.Flow, key, text string) (plan.Options, error) {
	o := plan.Options{AllowLoops: v.config.AllowLoops, Available: v.available}
	var wanted flow.Wanted
	note := func(list *[]string) func(string) error {
		return func(name string) error {
			*list = append(*list, name)
			return nil
		}
	}
	asks := o
	asks.Tools, asks.Models = note(&wanted.Tools), note(&wanted.Models)
	_, _ = plan.Validate(text, asks) // for the names that it asks about
	slices.Sort(wanted.Tools)
	slices.Sort(wanted.Models)
	wanted.Tools, wanted.Models = slices.Compact(wanted.Tools), slices.Compact(wanted.Models)
	usable, err := flow.Usable(f, key+"/usable", wanted)
	if err != nil {
		return o, err
	}
	problem := func(of map[string]string) func(string) error {
		return func(name string) error {
			if text, ok := of[name]; ok {
				return errors.New(text)
			}
			return nil
		}
	}
	o.Tools, o.Models, o.Rule = problem(usable.Tools), problem(usable.Models), usable.Rule
	return o, nil
}

func (v *Validator) reject(key string, e event.ValidationFailed, yield func(string, event.Event) bool) {
	if yield(key+"/validated", e) && v.config.Final {
		yield("end", ended(e, v.config.Language.called()))
	}
}

// FailedChecks are the checks of a report that failed, as events have them.
func FailedChecks(r plan.Report) []event.Check {
	var list []event.Check
	for _, c := range r.Checks {
		if !c.Passed && !c.Skipped {
			message := c.Message
			if c.Step == nil && c.Line > 0 {
				message = fmt.Sprintf("line %d: %s", c.Line, message)
			}
			list = append(list, event.Check{Name: c.Name, Step: c.Step, Message: message})
		}
	}
	return list
}

// worst are the checks to tell the planner about: those that pull the score below
// what it should be, of which there is one at least.
func (v *Validator) worst(checks []event.Check) []event.Check {
	return slices.DeleteFunc(checks, func(c event.Check) bool { return *c.Score >= v.config.Threshold })
}

// quality asks a model for its judgement of each property. A judgement that is not
// to be had counts as the worst one.
func (v *Validator) quality(f flow.Flow, key string, e event.PlanCreated) ([]event.Check, float64, error) {
	names := prompts.QualityChecks()
	checks := make([]event.Check, len(names))
	text := asPlan(e.Plan.Text())
	err := f.Parallel(key+"/quality", len(names), func(i int, f flow.Flow) error {
		var err error
		checks[i], err = v.judge(f, names[i], text)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	var sum, of float64
	for _, c := range checks {
		sum += weights[c.Name] * *c.Score
		of += weights[c.Name]
	}
	return checks, sum / of, nil
}

func (v *Validator) judge(f flow.Flow, check, text string) (event.Check, error) {
	c := event.Check{Name: check, Score: new(float64)}
	prompt, err := v.config.Prompts.Render(prompts.QualityCheck{Check: check, Task: v.task, Plan: text, MaxToolCalls: maxToolCalls})
	if err != nil {
		c.Message = err.Error()
		return c, nil
	}
	again := 0.1 // a discarded answer would come again at 0
	verdict, err := f.Decide(check, &flow.Question{
		Prompt: prompt, Model: flow.Cheap, Answer: flow.Format{Reader: ScoreReader}, Schema: scoreSchema,
		Terms: flow.Terms{
			Rule: vote.Rule{Strategy: vote.None, MaxSamples: 3}, Flags: &redflag.Config{Refusal: redflag.RefusalCheck{On: true}},
			FirstTemperature: new(float64), Temperature: &again, MaxOutput: v.config.MaxOutput, MaxFaults: v.config.MaxFaults,
			Structured: v.config.Structured,
		},
		Work: &flow.Work{Repair: flow.RepairSyntax},
	})
	if err != nil {
		return c, err
	}
	if verdict.Status != flow.Decided {
		c.Message = "no judgement: " + verdict.Reason
		return c, nil
	}
	var s Score
	if err := json.Unmarshal(verdict.Answer, &s); err != nil {
		c.Message = err.Error()
		return c, nil
	}
	*c.Score, c.Message = s.Score, s.Reason
	return c, nil
}

// asPlan is a plan that stays between the tags of its prompt. A text that holds such
// a tag itself is written as JSON, which can say the tag without spelling it.
func asPlan(text string) string {
	if !prompts.Holds("plan", text) && !prompts.Holds("task", text) {
		return text
	}
	p, findings := plan.Parse(text)
	if len(findings) > 0 { // it passed a moment ago
		return text
	}
	escaped, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return text
	}
	return string(escaped)
}
