package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/plan"
)

// NewSplit returns what does a whole in several steps: it has a plan made for it and
// carries that out as steps of plans are, one after another. The steps are no steps of
// the run: what they come to is the result of the one that they stand for.
func NewSplit(c Config, makePlan func(f flow.Flow, key string, w flow.Whole) (string, *flow.Verdict, error)) flow.SplitFunc {
	c.Split, c.AllowLoops, c.Context = nil, false, Inputs                                                                        // what was split is not split again
	c.Ladder.Order = slices.DeleteFunc(slices.Clone(c.Ladder.Order), func(to flow.Escalation) bool { return to == flow.Person }) // who is asked for the whole
	return func(f flow.Flow, key string, w flow.Whole) (*flow.Outcome, error) {
		var out flow.Outcome
		text, v, err := makePlan(f, key+"/plan", w)
		if err != nil {
			return nil, err
		}
		out.Add(&flow.Outcome{Verdict: v, Voting: v.Voting, CostUSD: v.CostUSD, DurationMS: v.DurationMS, Open: []string{key + "/plan"}})
		if v.Status != flow.Decided {
			return &out, nil
		}
		p, findings := plan.Parse(text)
		switch {
		case len(findings) > 0:
			out.Verdict = noResult("the plan for it cannot be read: " + findings[0].String())
			return &out, nil
		case len(p.Steps) < 2:
			out.Verdict = noResult("nobody could split it")
			return &out, nil
		}
		r := run{Executor: New(c), plan: p, key: key, context: w.Context, images: w.Images}
		for _, o := range w.Done {
			r.outputs[o.Name] = output{o.Output, o.Unvoted}
		}
		if err := r.look(f); err != nil {
			return nil, err
		}
		return &out, r.splitSteps(f, w, &out)
	}
}

// splitSteps carries out the steps that a whole was split into.
func (r *run) splitSteps(f flow.Flow, w flow.Whole, out *flow.Outcome) error {
	for next := 0; next != plan.End; {
		s := r.plan.Step(next)
		a := &attempt{step: s, number: w.Step, scope: w.Scope}
		if err := r.decideOne(f, fmt.Sprintf("%s/step/%d", r.key, next), a); err != nil {
			return err
		}
		out.Add(&a.outcome)
		if a.problem != "" {
			out.Verdict = noResult(fmt.Sprintf("it was split into %d steps; step %d (%s): %s%s", len(r.plan.Steps), next, s.Title, a.problem, rivals(a.outcome.Voting)))
			return nil
		}
		r.outputs[s.OutputVariable] = output{a.outcome.Verdict.Answer, a.unvoted()}
		next = a.next
	}
	return nil
}

// maxRivals is how many answers to a part are named that did not win.
const maxRivals = 4

// rivals names what the voters of a part could not agree on: it is a step of nobody's, so that
// they are named nowhere else.
func rivals(v event.Voting) string {
	if len(v.Answers) < 2 {
		return ""
	}
	var list []string
	for _, c := range v.Answers[:min(len(v.Answers), maxRivals)] {
		list = append(list, fmt.Sprintf("%d for %s", c.Votes, clip.Line(string(c.Answer), maxRival)))
	}
	if more := len(v.Answers) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// maxRival is how much of such an answer is named, in characters.
const maxRival = 80

func noResult(reason string) *flow.Verdict { return &flow.Verdict{Status: flow.Failed, Reason: reason} }

// split has the step done in several steps.
func (r *run) split(f flow.Flow, key string, a *attempt) (bool, error) {
	s := a.step
	task := s.TaskDescription
	for _, instructions := range []string{s.PrimaryToolInstructions, s.FallbackToolInstructions} {
		if instructions != "" {
			task += "\n\n" + instructions
		}
	}
	w := flow.Whole{Step: a.number, Scope: a.stepScope(), Fields: s.OutputSchema, Context: r.told(), Why: a.problem}
	for i, variable := range s.Outputs() {
		if o, ok := r.outputs[variable]; ok { // under a name that no step of the new plan takes
			name := fmt.Sprintf("done_%d_output", i)
			task = strings.ReplaceAll(task, variable, name)
			w.Done = append(w.Done, event.NamedOutput{Name: name, Output: o.value, Unvoted: o.unvoted})
		}
	}
	w.Task = task
	before, problem := a.outcome.Verdict, a.problem
	out, err := r.config.Split(f, key, w)
	if err != nil {
		return false, err
	}
	a.asked = key
	a.outcome.Add(out)
	if out.Verdict.Status == flow.Decided {
		answer, err := a.readResult(string(out.Verdict.Answer))
		if err == nil {
			return r.settle(a, answer, event.BySplit), nil
		}
		out.Verdict.Reason = fmt.Sprintf("what its parts came to is not the result that was asked for: %v", err)
	}
	// The trouble remains the one before.
	a.problem = problem + "; " + out.Verdict.Reason
	a.outcome.Verdict = before
	a.outcome.Forget()
	return false, nil
}
