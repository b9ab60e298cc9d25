package flowtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

var _ flow.Flow = (*flowtest.Flow)(nil)

// echo decides every question with its key.
func echo(key string, q *flow.Question) (*flow.Verdict, error) {
	return flowtest.Decided(q, fmt.Sprintf("%q", key)), nil
}

func TestFlowRecords(t *testing.T) {
	f := flowtest.New(echo)
	for i := range 2 {
		key := fmt.Sprint("step/", i)
		v, err := f.Decide(key, &flow.Question{})
		if err != nil || string(v.Answer) != `"`+key+`"` {
			t.Fatalf("Decide(%s) = %+v, %v, want the key", key, v, err)
		}
		f.Emit(key+"/started", event.StepStarted{Step: i})
	}
	if diff := cmp.Diff([]string{"step/0", "step/1"}, f.Asked); diff != "" {
		t.Errorf("Asked: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]event.Event{event.StepStarted{Step: 0}, event.StepStarted{Step: 1}}, f.Events); diff != "" {
		t.Errorf("Events: -want +got\n%s", diff)
	}
}

// TestFlowFindsMistakes: what would go wrong on resume or on another machine is
// an error here already.
func TestFlowFindsMistakes(t *testing.T) {
	f := flowtest.New(echo)
	if _, err := f.Decide("a", &flow.Question{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Decide("a", &flow.Question{}); err == nil || !strings.Contains(err.Error(), `"a" is used twice`) {
		t.Errorf("Decide(a, again) = %v, want that it is used twice", err)
	}
	bad := &flow.Question{Answer: flow.Format{Params: json.RawMessage(`{`)}}
	if _, err := f.Decide("b", bad); err == nil || !strings.Contains(err.Error(), "not plain data") {
		t.Errorf("Decide(broken question) = %v, want that it is not plain data", err)
	}
	over := errors.New("out of budget")
	f = flowtest.New(func(string, *flow.Question) (*flow.Verdict, error) { return nil, over })
	if _, err := f.Decide("a", &flow.Question{}); !errors.Is(err, over) {
		t.Errorf("Decide = %v, want the error of the script", err)
	}
}

func TestParallel(t *testing.T) {
	f := flowtest.New(echo)
	err := f.Parallel("both", 2, func(i int, f flow.Flow) error {
		if _, err := f.Decide("part", &flow.Question{}); err != nil {
			return err
		}
		f.Emit("started", event.StepStarted{Step: i})
		return f.Parallel("halves", 2, func(j int, f flow.Flow) error {
			_, err := f.Decide("part", &flow.Question{})
			return err
		})
	})
	if err != nil {
		t.Fatalf("Parallel = %v", err)
	}
	// Branches share no keys, whatever their own are called.
	want := []string{"both/0/part", "both/0/halves/0/part", "both/0/halves/1/part", "both/1/part", "both/1/halves/0/part", "both/1/halves/1/part"}
	if diff := cmp.Diff(want, f.Asked); diff != "" {
		t.Errorf("Asked: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"both/0/started", "both/1/started"}, f.Keys); diff != "" {
		t.Errorf("Keys: -want +got\n%s", diff)
	}
}

func TestParallelReturnsTheFirstError(t *testing.T) {
	ran := 0
	err := flowtest.New(echo).Parallel("four", 4, func(i int, _ flow.Flow) error {
		if ran++; i%2 == 1 {
			return fmt.Errorf("branch %d", i)
		}
		return nil
	})
	if err == nil || err.Error() != "branch 1" || ran != 4 {
		t.Errorf("Parallel = %v after %d branches, want that of branch 1 after all 4", err, ran)
	}
}

func TestDecided(t *testing.T) {
	for _, k := range []int{0, 1, 3} {
		q := &flow.Question{Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: k, MaxSamples: 9}}}
		n := max(k, 1)
		want := &flow.Verdict{
			Status: flow.Decided, Answer: json.RawMessage(`{"a":1}`),
			Voting: event.Voting{Strategy: vote.FirstToK, Samples: n, Margin: n, Votes: map[string]int{vote.ShortKey(`{"a":1}`): n}},
		}
		if diff := cmp.Diff(want, flowtest.Decided(q, `{"a":1}`)); diff != "" {
			t.Errorf("Decided(k = %d): -want +got\n%s", k, diff)
		}
	}
}

// double is the scripted flow as a runtime of the suite.
type double struct {
	world *flowtest.World
	flow  *flowtest.Flow
}

func (d *double) Session(ctx context.Context, orchestrate func(flow.Flow) error) error {
	f := d.flow.Resume()
	f.OnPerform = func(_ string, e *flow.Effect) (*flow.Result, error) {
		var in struct{ What string }
		if err := json.Unmarshal(e.Intent.Input, &in); err != nil {
			return nil, err
		}
		text, err := d.world.Act(ctx, in.What)
		return &flow.Result{Text: text}, err
	}
	d.flow = f
	if err := orchestrate(bounded{f, ctx}); err != nil {
		return err
	}
	return f.Err()
}

func (d *double) Records() ([]event.Record, error) {
	var list []event.Record
	for i, e := range d.flow.Events {
		list = append(list, event.Record{Key: d.flow.Keys[i], Event: e})
	}
	return list, nil
}

// bounded is a flow that ends with a context.
type bounded struct {
	flow.Flow
	ctx context.Context
}

func (b bounded) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if b.ctx.Err() != nil {
		return nil, context.Cause(b.ctx)
	}
	return b.Flow.Decide(key, q)
}

var errAbsent = errors.New("nobody is there")

// TestDouble: what orchestrators are tested with keeps the same promises as what they
// run on.
func TestDouble(t *testing.T) {
	flowtest.TestFlow(t, func(t *testing.T, w *flowtest.World) flowtest.Runtime {
		f := flowtest.New(func(_ string, q *flow.Question) (*flow.Verdict, error) {
			counts := map[string]int{}
			for range q.Rule.MaxSamples {
				text, err := w.Vote(q.Prompt)
				if err != nil {
					return nil, err
				}
				if counts[text]++; counts[text] == q.Rule.K {
					return flowtest.Decided(q, fmt.Sprintf("%q", text)), nil
				}
			}
			return &flow.Verdict{Status: flow.Undecided}, nil
		})
		f.OnAsk = func(_ string, q *flow.HumanQuestion) (*flow.Answer, error) {
			text, ok := w.Answer(q.Text)
			if !ok {
				return nil, errAbsent
			}
			return &flow.Answer{Text: text}, nil
		}
		f.OnObserve = func(_ string, l flow.Look) (any, error) {
			if l.Kind != flowtest.LookKind {
				return nil, fmt.Errorf("nobody looks at %s", l.Kind)
			}
			return w.Look(), nil
		}
		return &double{w, f}
	}, func(err error) bool { return errors.Is(err, errAbsent) })
}
