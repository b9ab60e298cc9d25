package event_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
)

func TestValueForm(t *testing.T) {
	tests := []struct {
		value event.Value
		want  string
	}{
		{event.Value{}, `null`},
		{event.JSONValue(json.RawMessage(`{"b":1,"a":[true,null]}`)), `{"b":1,"a":[true,null]}`},
		{event.JSONValue(json.RawMessage(`12345678901234567890`)), `12345678901234567890`},
		{event.TextValue(""), `""`},
		{event.TextValue("a \"b\"\n"), `"a \"b\"\n"`},
		{event.TextValue(`{"$sha256":"not a reference"}`), `"{\"$sha256\":\"not a reference\"}"`},
		{event.Value{Ref: &event.Ref{SHA256: "9f86", Bytes: 7}}, `{"$sha256":"9f86","bytes":7}`},
	}
	for _, test := range tests {
		got, err := json.Marshal(test.value)
		if err != nil || string(got) != test.want {
			t.Errorf("json.Marshal(%+v) = %s, %v, want %s", test.value, got, err, test.want)
			continue
		}
		back := event.TextValue("to be overwritten")
		if err := json.Unmarshal(got, &back); err != nil {
			t.Errorf("json.Unmarshal(%s) = %v", got, err)
		}
		if diff := cmp.Diff(test.value, back); diff != "" {
			t.Errorf("json.Unmarshal(%s): -want +got\n%s", got, diff)
		}
		if zero := test.want == "null"; back.IsZero() != zero {
			t.Errorf("IsZero(%s) = %t, want %t", got, back.IsZero(), zero)
		}
	}
}

// TestValueThatLooksLikeAReference has an answer that was written to be taken
// for a reference: it must come back as what it is, in a log that a model can
// write such answers to.
func TestValueThatLooksLikeAReference(t *testing.T) {
	for _, raw := range []string{`{"$sha256":"9f86","bytes":7}`, `{"$sha256":"9f86"}`, `{"$sha256":7}`} {
		want := event.Record{Event: event.StepCompleted{Output: event.JSONValue(json.RawMessage(raw))}}
		line, err := want.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.Decode(line)
		if err != nil {
			t.Errorf("Decode(%s) = %v", line, err)
			continue
		}
		if output := got.Event.(event.StepCompleted).Output; output.Ref != nil || string(output.JSON) != raw {
			t.Errorf("Decode(%s): the output is %+v, want the answer %s", line, output, raw)
		}
	}
}

func TestText(t *testing.T) {
	for _, s := range strange {
		if got := event.TextValue(s).Text(); got != s {
			t.Errorf("TextValue(%q).Text() = %q", s, got)
		}
	}
	if got, want := event.JSONValue(json.RawMessage(`[1,2]`)).Text(), "[1,2]"; got != want {
		t.Errorf("Text() of a list = %q, want %q", got, want)
	}
}

// TestValues checks that the log can store the values of each event that has
// one, and that a copy leaves the original alone.
func TestValues(t *testing.T) {
	large := event.TextValue(strings.Repeat("x", 100))
	ref := event.Value{Ref: &event.Ref{SHA256: "9f86", Bytes: 102}}
	store := func(v event.Value) (event.Value, error) {
		if diff := cmp.Diff(large, v); diff != "" {
			t.Errorf("WithValues passed another value: -want +got\n%s", diff)
		}
		return ref, nil
	}
	tests := []struct{ before, after event.Event }{
		{event.SampleCompleted{Vote: "v", Text: large}, event.SampleCompleted{Vote: "v", Text: ref}},
		{event.SampleCompleted{Vote: "v", Read: large}, event.SampleCompleted{Vote: "v", Read: ref}},
		{event.Observed{Look: "l", Result: large}, event.Observed{Look: "l", Result: ref}},
		{event.SampleRedFlagged{Flag: "f", Text: large}, event.SampleRedFlagged{Flag: "f", Text: ref}},
		{event.VoteCompleted{Step: 3, Answer: large}, event.VoteCompleted{Step: 3, Answer: ref}},
		{event.StepCompleted{Step: 3, Output: large}, event.StepCompleted{Step: 3, Output: ref}},
		{event.TaskCompleted{Steps: 3, Output: large}, event.TaskCompleted{Steps: 3, Output: ref}},
		{event.EffectClaimed{Step: 3, Input: large}, event.EffectClaimed{Step: 3, Input: ref}},
		{event.EffectDone{Step: 3, Result: large}, event.EffectDone{Step: 3, Result: ref}},
		{event.EffectRefused{Step: 3, Input: large}, event.EffectRefused{Step: 3, Input: ref}},
		{event.EffectUnknown{Step: 3, Input: large}, event.EffectUnknown{Step: 3, Input: ref}},
		{event.PlanCreated{Attempt: 1, Plan: large}, event.PlanCreated{Attempt: 1, Plan: ref}},
		{event.ValidationPassed{Attempt: 1, Plan: large}, event.ValidationPassed{Attempt: 1, Plan: ref}},
		{event.ReplanRequested{Step: 3, Outputs: large}, event.ReplanRequested{Step: 3, Outputs: ref}},
		{event.TaskFailed{Step: 3, Output: large}, event.TaskFailed{Step: 3, Output: ref}},
		{event.OutlineCreated{Tasks: large}, event.OutlineCreated{Tasks: ref}},
		{event.ContextCompacted{Step: 3, Summary: large}, event.ContextCompacted{Step: 3, Summary: ref}},
		{event.DecompositionSelected{Step: 3, Problem: large, PartA: large, PartB: large, Compose: large}, event.DecompositionSelected{Step: 3, Problem: ref, PartA: ref, PartB: ref, Compose: ref}},
		{event.DecompositionSelected{Step: 3, PartB: large}, event.DecompositionSelected{Step: 3, PartB: ref}},
		{event.SubproblemSolved{Step: 3, Problem: large, Solution: large, Work: large}, event.SubproblemSolved{Step: 3, Problem: ref, Solution: ref, Work: ref}},
		{event.AnswerComposed{Step: 3, Answer: large}, event.AnswerComposed{Step: 3, Answer: ref}},
	}
	for _, test := range tests {
		if got := event.Largest(test.before); got != 102 {
			t.Errorf("%s.Largest = %d, want 102", test.before.Type(), got)
		}
		if got := event.Largest(test.after); got != 0 {
			t.Errorf("%s.Largest() of a reference = %d, want 0", test.after.Type(), got)
		}
		got, err := event.WithValues(test.before, store)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.after, got); diff != "" {
			t.Errorf("%s.WithValues: -want +got\n%s", test.before.Type(), diff)
		}
		if event.Largest(test.before) != 102 {
			t.Errorf("%s.WithValues changed the event it was called on", test.before.Type())
		}
		full := errors.New("disk full")
		if _, err := event.WithValues(test.before, func(event.Value) (event.Value, error) { return event.Value{}, full }); !errors.Is(err, full) {
			t.Errorf("%s.WithValues = %v, want the error of its function", test.before.Type(), err)
		}
	}
}

func TestCompact(t *testing.T) {
	for in, want := range map[string]string{
		`{"b": "\u003ca\u003e \u0026", "a": 12345678901234567890}`: `{"a":12345678901234567890,"b":"<a> &"}`,
		`"x"`: `"x"`, `[1, 2.50]`: `[1,2.50]`, ``: ``,
	} {
		if got := (event.Value{JSON: json.RawMessage(in)}).Compact(); got != want {
			t.Errorf("Compact(%s) = %s, want %s", in, got, want)
		}
	}
}
