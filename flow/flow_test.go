package flow_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// TestPlainData sends a question and a verdict through JSON, as a runtime on
// another machine would, and gets all of them back.
func TestPlainData(t *testing.T) {
	zero, warm, cost := 0.0, 0.1, 0.002
	questions := []flow.Question{
		{},
		{
			Step: 7, System: "rules", Prompt: "what next? <&>", Answer: flow.Format{Reader: "hanoi", Params: json.RawMessage(`{"disks":3}`)},
			Terms: flow.Terms{
				Rule: vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 150}, Flags: new(redflag.Format()),
				FirstTemperature: &zero, Temperature: &warm, Structured: "json_schema", MaxOutput: 750, MaxFaults: 20,
			},
			Schema: json.RawMessage(`{"type":"object"}`),
		},
	}
	for _, want := range questions {
		roundTrip(t, want)
	}
	for _, want := range []flow.Verdict{
		{Status: flow.Undecided, Reason: "no answer won"},
		{
			Status: flow.Decided, Answer: json.RawMessage(`{"n":12345678901234567890}`), CostUSD: &cost, DurationMS: 12,
			Voting: event.Voting{Strategy: vote.FirstToK, Samples: 4, RedFlagged: 1, Faults: 2, Cancelled: 1, Votes: map[string]int{"a": 3}, Margin: 3},
		},
	} {
		roundTrip(t, want)
	}
}

func roundTrip[T any](t *testing.T, want T) {
	t.Helper()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatalf("json.Marshal(%+v) = %v", want, err)
	}
	var got T
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("json.Unmarshal(%s) = %v", data, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("json.Unmarshal(%s): -want +got\n%s", data, diff)
	}
}

// TestTemperatureZeroIsNotNone: a greedy first sample is asked for, and leaving
// the temperature to the provider is something else.
func TestTemperatureZeroIsNotNone(t *testing.T) {
	zero := 0.0
	for _, test := range []struct {
		q    flow.Question
		want bool
	}{{flow.Question{Terms: flow.Terms{FirstTemperature: &zero}}, true}, {flow.Question{}, false}} {
		data, err := json.Marshal(test.q)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		if _, ok := fields["first_temperature"]; ok != test.want {
			t.Errorf("json.Marshal(%+v) = %s, want a first temperature: %t", test.q, data, test.want)
		}
	}
}

// TestStatusNames keeps what logs of earlier releases say.
func TestStatusNames(t *testing.T) {
	for status, want := range map[flow.Status]string{
		flow.Decided: "decided", flow.Undecided: "undecided", flow.FlaggedOut: "flagged_out", flow.Failed: "failed",
	} {
		if string(status) != want {
			t.Errorf("status %q, want %q", status, want)
		}
	}
}
