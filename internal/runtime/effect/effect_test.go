package effect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// memory is a journal that is no log: effects need nothing of one but these.
type memory struct {
	states  States
	events  []event.Event
	synced  int // of the events
	full    int // how many events it takes; 0 means any number
	answers map[string]string
	holds   map[string]string // of questions that were put before
}

func (m *memory) Asked(key string) bool {
	_, asked := m.holds[key]
	return asked
}

func (m *memory) Effect(key string) State { return m.states[key] }

func (m *memory) Append(e event.Event) error {
	if m.full > 0 && len(m.events) == m.full {
		return errFull
	}
	m.events = append(m.events, e)
	m.states.Take(e)
	return nil
}

func (m *memory) Sync() error {
	m.synced = len(m.events)
	return nil
}

func (m *memory) Ask(_ context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	text, ok := m.answers[key]
	if !ok {
		return nil, &person.WaitingError{Key: key, Question: *q}
	}
	holds, before := m.holds[key]
	if !before {
		holds = q.Holds
	}
	return &flow.Answer{Text: text, By: "test", Holds: holds}, nil
}

func (m *memory) types() []event.Type {
	var list []event.Type
	for _, e := range m.events {
		list = append(list, e.Type())
	}
	return list
}

var errFull = errors.New("the journal is full")

// pay is a performer with one tool, which says how much of its journal was durable
// when it ran.
func pay(t *testing.T, m *memory, mode approval.Mode, synced *[]int) *Performer {
	t.Helper()
	made, err := tool.New(tool.Tool{Name: "Pay", Class: tool.Mutate}, func(context.Context, struct{}) (tool.Result, error) {
		*synced = append(*synced, m.synced)
		return tool.Result{Text: "paid"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tools := tool.NewRegistry()
	if err := tools.Register(made); err != nil {
		t.Fatal(err)
	}
	return &Performer{Journal: m, Tools: tools, Approve: approval.Policy{Mode: mode}, Spent: func() usage.Spent { return usage.Spent{} }}
}

var payment = &flow.Effect{Step: 2, Scope: "step/2", Intent: event.Intent{Tool: "Pay", Input: json.RawMessage(`{}`)}}

func TestPerform(t *testing.T) {
	m := &memory{states: States{}}
	var synced []int
	p := pay(t, m, approval.None, &synced)
	for range 2 {
		r, err := p.Perform(t.Context(), "k", payment)
		if err != nil || r.Text != "paid" {
			t.Fatalf("Perform() = %+v, %v, want paid", r, err)
		}
	}
	if !slices.Equal(synced, []int{1}) {
		t.Errorf("it ran with %v events durable, want once, after its claim", synced)
	}
	if want := []event.Type{event.TypeEffectClaimed, event.TypeEffectDone}; !slices.Equal(m.types(), want) || m.synced != 2 {
		t.Errorf("the journal has %v, %d durable, want %v", m.types(), m.synced, want)
	}
	if c := m.events[0].(event.EffectClaimed); c.Effect != "k" || c.Step != 2 || c.Scope != "step/2" {
		t.Errorf("the claim is %+v, want its key, step and scope", c)
	}
}

// TestNothingRunsUnclaimed: where nothing can be written nothing is done.
func TestNothingRunsUnclaimed(t *testing.T) {
	m := &memory{states: States{}, full: 1}
	m.events = []event.Event{event.StepStarted{}}
	var synced []int
	if r, err := pay(t, m, approval.None, &synced).Perform(t.Context(), "k", payment); !errors.Is(err, errFull) || len(synced) > 0 {
		t.Errorf("Perform(a full journal) = %+v, %v after %d executions, want %v after none", r, err, len(synced), errFull)
	}
}

// TestWaitingAndRefusing: a call waits for its approval, and is made or not.
func TestWaitingAndRefusing(t *testing.T) {
	m := &memory{states: States{}, answers: map[string]string{"no/approve": "no", "yes/approve": "yes"}}
	var synced []int
	p := pay(t, m, approval.Mutate, &synced)
	if _, err := p.Perform(t.Context(), "k", payment); !isWaiting(err) {
		t.Errorf("Perform(nobody there) = %v, want that it waits", err)
	}
	if r, err := p.Perform(t.Context(), "no", payment); err != nil || !r.IsError || len(synced) != 0 {
		t.Errorf("Perform(refused) = %+v, %v after %d executions, want a refusal", r, err, len(synced))
	}
	if r, err := p.Perform(t.Context(), "yes", payment); err != nil || r.Text != "paid" || len(synced) != 1 {
		t.Errorf("Perform(approved) = %+v, %v after %d executions, want it paid", r, err, len(synced))
	}
}

// TestWhyNobodyKnows: what went wrong is said, also in the session after, and not that
// somebody ended the run.
func TestWhyNobodyKnows(t *testing.T) {
	const why = `server "bank": it ended with exit code 1`
	m := &memory{states: States{}}
	var synced []int
	p := pay(t, m, approval.None, &synced)
	lost, err := tool.New(tool.Tool{Name: "Transfer", Class: tool.Mutate}, func(context.Context, struct{}) (tool.Result, error) {
		return tool.Result{}, fmt.Errorf("%s; %w", why, tool.ErrUnknownOutcome)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Tools.Register(lost); err != nil {
		t.Fatal(err)
	}
	transfer := &flow.Effect{Step: 2, Intent: event.Intent{Tool: "Transfer", Input: json.RawMessage(`{}`)}}
	for _, session := range []string{"the session", "the next session"} {
		r, err := p.Perform(t.Context(), "k", transfer)
		if err != nil || !r.Unknown || !strings.Contains(r.Text, why) || strings.Contains(r.Text, "interrupted") {
			t.Errorf("Perform() in %s = %+v, %v, want that nobody knows, and why", session, r, err)
		}
	}
	// A claim without a word about its outcome was interrupted indeed.
	m.states.Take(event.EffectClaimed{Effect: "cut", Tool: "Pay", Input: event.JSONValue(json.RawMessage(`{}`))})
	r, err := p.Perform(t.Context(), "cut", payment)
	if err != nil || !r.Unknown || !strings.Contains(r.Text, "interrupted") {
		t.Errorf("Perform() of what was cut off = %+v, %v, want that it was interrupted", r, err)
	}
}

func isWaiting(err error) bool {
	_, ok := errors.AsType[*person.WaitingError](err)
	return ok
}

// TestStates folds the events of one effect.
func TestStates(t *testing.T) {
	claim := event.EffectClaimed{Effect: "k", Tool: "Pay", Input: event.JSONValue(json.RawMessage(`{}`))}
	released := event.EffectReleased{Effect: "k"}
	unknown := event.EffectUnknown{Effect: "k"}
	done := event.EffectDone{Effect: "k", Result: event.TextValue("paid")}
	refused := event.EffectRefused{Effect: "k", Tool: "Pay", Reason: "no"}
	for name, test := range map[string]struct {
		events  []event.Event
		claims  int
		unknown bool
		result  bool
	}{
		"claimed":              {[]event.Event{claim}, 1, false, false},
		"taken back":           {[]event.Event{claim, released}, 0, false, false},
		"unknown":              {[]event.Event{claim, unknown}, 1, true, false},
		"repeated":             {[]event.Event{claim, unknown, claim}, 2, false, false},
		"repeated, taken back": {[]event.Event{claim, unknown, claim, released}, 1, false, false},
		"done":                 {[]event.Event{claim, done}, 1, false, true},
		"refused":              {[]event.Event{refused}, 0, false, true},
		"of another":           {[]event.Event{event.EffectClaimed{Effect: "other"}, event.StepStarted{}}, 0, false, false},
		"released before":      {[]event.Event{released}, 0, false, false},
	} {
		s := States{}
		for _, e := range test.events {
			s.Take(e)
		}
		if got := s["k"]; got.Claims != test.claims || got.Unknown != test.unknown || (got.Result != nil) != test.result {
			t.Errorf("%s: %+v, want %d claims, unknown %t, a result %t", name, got, test.claims, test.unknown, test.result)
		}
	}
}

// TestOnlyLostKeysAreRefused: what somebody wrote is no key because it looks like what
// stands where one was.
func TestOnlyLostKeysAreRefused(t *testing.T) {
	for input, made := range map[string]bool{
		`{"note":"[redacted]"}`:            true,
		`{"note":"a [redacted] b"}`:        true,
		`{"[redacted]":1}`:                 true,
		`{"note":"sk-12345678"}`:           false,
		`{"sk-12345678":1}`:                false,
		`{"note":"c2stMTIzNDU2Nzg="}`:      false,
		`{"note":"[redacted by maker]"}`:   false, // a log took a key out
		`{"[redacted by maker] (2)":true}`: false,
	} {
		m := &memory{states: States{}}
		runs := 0
		tools := tool.NewRegistry()
		if err := tools.Register(tool.Tool{Name: "Note", Class: tool.Mutate, Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) (tool.Result, error) {
			runs++
			return tool.Result{Text: "noted"}, nil
		}}); err != nil {
			t.Fatal(err)
		}
		p := &Performer{
			Journal: m, Tools: tools, Approve: approval.Policy{Mode: approval.None}, Spent: func() usage.Spent { return usage.Spent{} },
			Redact: secret.NewSet("sk-12345678").RedactBytes,
		}
		r, err := p.Perform(t.Context(), "k", &flow.Effect{Intent: event.Intent{Tool: "Note", Input: json.RawMessage(input)}})
		if err != nil || (runs == 1) != made || r.IsError == made {
			t.Errorf("Perform(%s) = %+v, %v after %d executions, want it made: %t", input, r, err, runs, made)
		}
	}
}
