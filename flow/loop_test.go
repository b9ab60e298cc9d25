package flow_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
)

func TestCutTurn(t *testing.T) {
	for key, want := range map[string]struct {
		loop string
		n    int
		ok   bool
	}{
		flow.TurnKey("main/chain/0", 0):               {"main/chain/0", 0, true},
		flow.TurnKey(flow.TurnKey("a", 3)+"/b", 1234): {"a/turn/3/b", 1234, true},
		"a/turn/3/b": {}, "a/turn/": {}, "a/turn/x": {}, "a/turn/-1": {}, "a/turn/+1": {}, "a/turn/01": {}, "turn/1": {}, "1": {}, "": {},
		"a/turn/99999999999999999999": {},
	} {
		if loop, n, ok := flow.CutTurn(key); ok != want.ok || ok && (loop != want.loop || n != want.n) {
			t.Errorf("CutTurn(%q) = %q, %d, %t, want %v", key, loop, n, ok, want)
		}
	}
}

// TestALoopOfAnyFlow: one that has no loops of its own goes through all turns again, and has
// all that happened in them.
func TestALoopOfAnyFlow(t *testing.T) {
	decided := 0
	f := flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
		decided++
		return &flow.Verdict{Status: flow.Decided, Answer: json.RawMessage(fmt.Sprintf("%q", key))}, nil
	})
	f.OnObserve = func(string, flow.Look) (any, error) { return 7, nil }
	f.OnAsk = func(string, *flow.HumanQuestion) (*flow.Answer, error) { return &flow.Answer{Text: "yes"}, nil }
	f.OnPerform = func(string, *flow.Effect) (*flow.Result, error) { return &flow.Result{Text: "done"}, nil }
	loop := func(f flow.Flow) error {
		turns, err := flow.Loop(f, "loop")
		if err != nil {
			return err
		}
		if diff := cmp.Diff(flow.Turn{}, turns.At()); diff != "" {
			t.Errorf("At() (-want +got):\n%s", diff)
		}
		for n := range 2 {
			turn := turns.Turn(n)
			_, err1 := turn.Decide("q", &flow.Question{})
			_, err2 := turn.Observe("look", flow.Look{})
			_, err3 := turn.Ask("person", &flow.HumanQuestion{})
			_, err4 := turn.Perform("act", &flow.Effect{})
			err5 := turn.Parallel("all", 1, func(i int, f flow.Flow) error {
				_, err := f.Decide("q", &flow.Question{})
				return err
			})
			turn.Emit("note", event.StepStarted{Step: n})
			turns.Commit(n, &event.StepCompleted{Step: n})
			for _, err := range []error{err1, err2, err3, err4, err5} {
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	for range 2 {
		if err := loop(f); err != nil {
			t.Fatal(err)
		}
		f = f.Resume()
	}
	want := []string{"loop/turn/0/note", "loop/turn/0", "loop/turn/1/note", "loop/turn/1"}
	if diff := cmp.Diff(want, f.Keys); diff != "" || decided != 4 {
		t.Errorf("%d decisions, want 4, and events (-want +got):\n%s", decided, diff)
	}
	if step, ok := f.Events[1].(event.StepCompleted); !ok || step.Loop {
		t.Errorf("the step %+v says that what happened in it may be forgotten", f.Events[1])
	}
}
