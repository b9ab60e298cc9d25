package planner_test

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/test/flowtest"
)

// doer notes which plans it is given.
type doer struct{ plans *[]string }

func (d doer) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		if v, ok := e.(event.ValidationPassed); ok {
			*d.plans = append(*d.plans, v.Plan.Text())
			yield(event.TaskCompleted{})
		}
	}
}

// passing takes every plan for a good one.
type passing struct{}

func (passing) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		if p, ok := e.(event.PlanCreated); ok {
			yield(event.ValidationPassed{Plan: p.Plan, Attempt: p.Attempt, Replan: p.Replan})
		}
	}
}

func TestConfirm(t *testing.T) {
	over := errors.New("out of budget")
	for name, test := range map[string]struct {
		answer string
		err    error
		asked  int
		plans  string
		stop   string
	}{
		"run":    {planner.RunPlan, nil, 1, "first", ""},
		"stop":   {planner.StopPlan, nil, 1, "", event.StopDeclined},
		"edit":   {planner.EditPlan + "\nsecond\nline", nil, 1, "second\nline", ""},
		"ending": {"", over, 1, "", ""},
	} {
		f := flowtest.New(nil)
		f.OnObserve = func(string, flow.Look) (any, error) { return []flow.ToolInfo{}, nil }
		asked := 0
		f.OnAsk = func(_ string, q *flow.HumanQuestion) (*flow.Answer, error) {
			asked++
			if q.Kind != event.ClarifyPlan || q.Plan != "first" {
				t.Errorf("%s: it asks %+v, want about the plan", name, q)
			}
			return &flow.Answer{Text: test.answer, By: "test"}, test.err
		}
		var plans []string
		err := flow.Pipe(f, event.PlanCreated{Plan: event.TextValue("first")}, passing{}, &planner.Confirm{Validator: planner.NewValidator(planner.ValidatorConfig{}), Next: doer{&plans}})
		if !errors.Is(err, test.err) || asked != test.asked || strings.Join(plans, "|") != test.plans {
			t.Errorf("%s: Pipe = %v after %d questions, carried out %q, want %q", name, err, asked, plans, test.plans)
		}
		if test.stop != "" {
			end, ok := f.Events[len(f.Events)-1].(event.TaskFailed)
			if !ok || end.Stop != test.stop || len(end.Reopen) != 1 {
				t.Errorf("%s: the end is %+v, want that it stopped and can be asked again", name, f.Events[len(f.Events)-1])
			}
		}
	}
}

// choosy takes every plan for a good one that does not say otherwise.
type choosy struct{}

func (choosy) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		p, ok := e.(event.PlanCreated)
		switch {
		case ok && strings.HasPrefix(p.Plan.Text(), "bad"):
			yield(event.ValidationFailed{Attempt: p.Attempt, Replan: p.Replan, Checks: []event.Check{{Name: "tools", Message: "no " + p.Plan.Text()}}})
		case ok:
			yield(event.ValidationPassed{Plan: p.Plan, Attempt: p.Attempt, Replan: p.Replan})
		}
	}
}

// TestConfirmAgain: a person's plan that does not pass does not end the run, and stays what
// is worked on.
func TestConfirmAgain(t *testing.T) {
	f := flowtest.New(nil)
	f.OnObserve = func(string, flow.Look) (any, error) {
		return []flow.ToolInfo{{Name: "Read"}, {Name: "Gone", Unavailable: "down"}}, nil
	}
	answers := []string{planner.EditPlan + "\nbad one", planner.EditPlan + "\nbad two", planner.EditPlan + "\ngood"}
	var asked []string
	f.OnAsk = func(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
		asked = append(asked, key+" "+q.Plan+" "+strings.Join(q.Options, ",")+" "+q.Text+" "+string(q.Against))
		return &flow.Answer{Text: answers[len(asked)-1], By: "test"}, nil
	}
	var plans []string
	maker, validator := planner.New(planner.Config{}), planner.NewValidator(planner.ValidatorConfig{AllowLoops: true})
	err := flow.Pipe(f, event.PlanCreated{Plan: event.TextValue("first")}, maker, choosy{}, &planner.Confirm{Validator: validator, Next: doer{&plans}})
	if err != nil || strings.Join(plans, "|") != "good" {
		t.Errorf("Pipe = %v, carried out %q, want the plan that passes", err, plans)
	}
	const against = ` {"tools":["Read"],"allow_loops":true}`
	want := []string{
		"plan/0/attempt/0/confirm first run,stop Carry out this plan?" + against,
		"plan/0/attempt/1000/confirm bad one stop This plan does not pass its checks:\n- no bad one (tools)" + against,
		"plan/0/attempt/1001/confirm bad two stop This plan does not pass its checks:\n- no bad two (tools)" + against,
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked: -want +got\n%s", diff)
	}
}
