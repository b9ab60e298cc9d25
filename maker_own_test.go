package maker_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// listening is a module that counts what it hears and says nothing.
type listening map[event.Type]int

func (l listening) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(func(event.Event) bool) { l[e.Type()]++ }
}

// TestOneModule: each module can be replaced without the others, and others can be put
// beside them.
func TestOneModule(t *testing.T) {
	model := rulesFile(t, `[{"match": "Count", "answers": [{"text": "result: 7"}]}]`)
	for name, test := range map[string]struct {
		change func(*maker.Modules)
		heard  event.Type
	}{
		"planner":   {func(m *maker.Modules) { m.Planner = oneStep{} }, event.TypeStepCompleted},
		"validator": {func(m *maker.Modules) { m.Planner, m.Validator = oneStep{}, passing{} }, event.TypeStepCompleted},
		"executor":  {func(m *maker.Modules) { m.Planner, m.Executor = oneStep{}, idle{} }, event.TypeValidationPassed},
	} {
		heard := listening{}
		engine := newEngine(t, maker.Options{
			Config: maker.Config{Model: model},
			Modules: func(m maker.Modules) []flow.Module {
				test.change(&m)
				return append(m.List(), heard)
			},
		})
		run, err := engine.Run(t.Context(), "Count.")
		if err != nil {
			t.Fatal(err)
		}
		if r := mustResult(t, run); r.Status != event.StatusCompleted || heard[test.heard] != 1 || heard[event.TypePlanCreated] != 1 {
			t.Errorf("%s: %s (%s), heard %v, want it completed, with %s", name, r.Status, r.Reason, heard, test.heard)
		}
	}
}

// passing is a validator to which every plan is good.
type passing struct{}

func (passing) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		if made, ok := e.(event.PlanCreated); ok {
			yield(event.ValidationPassed{Plan: made.Plan})
		}
	}
}

// idle is an executor that does nothing.
type idle struct{}

func (idle) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		if _, ok := e.(event.ValidationPassed); ok {
			yield(event.TaskCompleted{Output: event.TextValue("DONE")})
		}
	}
}

// TestOwnRule: a voting rule and a red flag of the program's own decide, within the cap,
// and are in the log.
func TestOwnRule(t *testing.T) {
	rule := vote.Rule{Strategy: vote.Own, N: 3, MaxSamples: 6}
	for name, test := range map[string]struct {
		answers string
		want    string
		flagged int
		samples int
	}{
		"all agree":      {`{"text": "result: 7"}`, event.StatusCompleted, 0, 3},
		"one dissents":   {`{"text": "result: 7"}, {"text": "result: 8"}`, event.StatusUndecided, 0, 2},
		"one is flagged": {`{"text": "result: -7"}, {"text": "result: 7"}`, event.StatusCompleted, 1, 4},
		"all are":        {`{"text": "result: -7"}`, event.StatusFailed, 4, 4}, // three votes cannot come any more,
	} {
		model := rulesFile(t, `[{"match": "Count", "sequence": true, "answers": [`+test.answers+`]}]`)
		engine := newEngine(t, maker.Options{
			Config:  maker.Config{Model: model, Voting: rule, BatchSize: 1, Solve: maker.SolveConfig{Escalate: []string{}}},
			Modules: func(m maker.Modules) []flow.Module { m.Planner = oneStep{}; return m.List() },
			Decide:  unanimous, RedFlag: noNegatives,
		})
		run, err := engine.Run(t.Context(), "Count.")
		if err != nil {
			t.Fatal(err)
		}
		r := mustResult(t, run)
		v := event.Voting{}
		if len(r.Steps) > 0 {
			v = r.Steps[0].Voting
		} else if r.FailedStep != nil {
			v = r.FailedStep.Voting
		}
		if r.Status != test.want || v.Strategy != vote.Own || v.RedFlagged != test.flagged || v.Samples != test.samples {
			t.Errorf("%s: %s (%s) with %+v, want %s after %d samples, %d of them flagged", name, r.Status, r.Reason, v, test.want, test.samples, test.flagged)
		}
		if replay, err := engine.Replay(run.ID()); err != nil || len(replay.Differences) > 0 {
			t.Errorf("%s: Replay = %+v, %v", name, replay, err)
		}
	}
	// A rule that nobody brought decides nothing.
	engine := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default", Voting: rule}})
	_, err := engine.Run(t.Context(), "Count.")
	if wrong, ok := errors.AsType[*maker.ConfigError](err); !ok || wrong.Field != "voting" {
		t.Errorf("Run without a decider = %v, want an error about voting", err)
	}
}
