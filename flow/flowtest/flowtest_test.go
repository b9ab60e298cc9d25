package flowtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/flow/flowtest"
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
		q := &flow.Question{Rule: vote.Rule{Strategy: vote.FirstToK, K: k, MaxSamples: 9}}
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
