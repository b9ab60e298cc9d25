package effect

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// shop is a performer with a tool that notes what it was asked for.
func shop(t *testing.T, m *memory, ordered *[]string) *Performer {
	t.Helper()
	made, err := tool.New(tool.Tool{Name: "Order", Class: tool.Mutate}, func(_ context.Context, in struct {
		Item string `json:"item"`
	}) (tool.Result, error) {
		*ordered = append(*ordered, in.Item)
		if in.Item == "lost" {
			return tool.Result{}, tool.ErrUnknownOutcome
		}
		return tool.Result{Text: "ordered " + in.Item}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tools := tool.NewRegistry()
	if err := tools.Register(made); err != nil {
		t.Fatal(err)
	}
	return &Performer{Journal: m, Tools: tools, Approve: approval.Policy{Mode: approval.Mutate}, Spent: func() usage.Spent { return usage.Spent{} }}
}

func order(item string) *flow.Effect {
	return &flow.Effect{Intent: event.Intent{Tool: "Order", Input: json.RawMessage(`{"item":"` + item + `"}`)}}
}

// TestForThisRun: a rule of the person lets calls like the first one pass, in this session
// and in later ones, and no others.
func TestForThisRun(t *testing.T) {
	m := &memory{states: States{}, answers: map[string]string{"1/approve": "run Order(item=tea)", "3/approve": "no"}}
	var ordered []string
	p := shop(t, m, &ordered)
	for i, item := range []string{"tea", "tea bags", "coffee"} {
		if _, err := p.Perform(t.Context(), []string{"1", "2", "3"}[i], order(item)); err != nil {
			t.Fatalf("Perform(%s) = %v", item, err)
		}
	}
	if diff := cmp.Diff([]string{"tea", "tea bags"}, ordered); diff != "" {
		t.Errorf("ordered: -want +got\n%s", diff)
	}
	var approved []string
	for _, e := range m.events {
		if c, ok := e.(event.EffectClaimed); ok {
			approved = append(approved, c.Approved)
		}
	}
	if diff := cmp.Diff([]string{"person (test), from now on Order(item=tea)", "the person's rule for this run: Order(item=tea)"}, approved); diff != "" {
		t.Errorf("approved by: -want +got\n%s", diff)
	}

	later := shop(t, m, &ordered)
	later.Recall(map[string]*flow.Answer{
		"1/approve": {Text: "always Order(item=tea)"}, "4/approve": {Text: "no"}, "5/approve": {Text: "run ("}, "6/approve": nil, "7/ask": {Text: "run Order"},
	})
	if _, err := later.Perform(t.Context(), "8", order("tea")); err != nil || len(ordered) != 3 {
		t.Errorf("Perform(in a later session) = %v after %q, want that the rule still holds", err, ordered)
	}
	if _, err := later.Perform(t.Context(), "9", order("coffee")); err == nil {
		t.Error("Perform(coffee) = nil, want that somebody is asked")
	}
	later.Approve.Deny, _ = approval.ParseRules([]string{"Order"})
	if r, err := later.Perform(t.Context(), "10", order("tea")); err != nil || !r.IsError || len(ordered) != 3 {
		t.Errorf("Perform(denied) = %+v, %v, want that a rule that denies is stronger", r, err)
	}
}

// TestEditedCall: what the person changed is what runs, and the log says whose it is.
func TestEditedCall(t *testing.T) {
	m := &memory{states: States{}, answers: map[string]string{"1/approve": `edit {"item": "coffee"}`, "2/approve": `edit {"item":"tea"}`, "3/approve": `edit {"item":"gold"}`}}
	var ordered []string
	p := shop(t, m, &ordered)
	p.Approve.Deny, _ = approval.ParseRules([]string{"Order(item=gold)"})
	for range 2 { // the second time from the journal
		r, err := p.Perform(t.Context(), "1", order("tea"))
		if err != nil || r.Text != "ordered coffee" || string(r.Ran) != `{"item":"coffee"}` {
			t.Fatalf("Perform() = %+v, %v, want that coffee was ordered", r, err)
		}
		move := flow.MoveOf(order("tea").Intent, *r)
		if string(move.Intent.Input) != `{"item":"coffee"}` || !strings.Contains(move.Result.Text, "person changed the arguments") {
			t.Errorf("the next voters see %+v, want what really ran", move)
		}
	}
	claim := m.events[0].(event.EffectClaimed)
	if claim.Input.Compact() != `{"item":"coffee"}` || claim.Voted.Compact() != `{"item":"tea"}` || claim.Approved != "person (test), who changed its arguments" {
		t.Errorf("the claim is %+v, want the input of the person, and that of the voters", claim)
	}
	if r, err := p.Perform(t.Context(), "2", order("tea")); err != nil || r.Ran != nil {
		t.Errorf("Perform(edited to the same) = %+v, %v, want that nothing was changed", r, err)
	}
	if r, err := p.Perform(t.Context(), "3", order("tea")); err != nil || !r.IsError {
		t.Errorf("Perform(edited to what a rule denies) = %+v, %v, want that it is refused", r, err)
	}
	if diff := cmp.Diff([]string{"coffee", "tea"}, ordered); diff != "" {
		t.Errorf("ordered: -want +got\n%s", diff)
	}
}

// TestEditedAmiss: arguments that the tool does not take are asked about again, and nothing is
// called or claimed for them.
func TestEditedAmiss(t *testing.T) {
	m := &memory{states: States{}, answers: map[string]string{"1/approve": `edit {"itm":"coffee"}`}}
	var ordered []string
	_, err := shop(t, m, &ordered).Perform(t.Context(), "1", order("tea"))
	waiting, ok := errors.AsType[*person.WaitingError](err)
	if !ok || waiting.Key != "1/approve/2" || !strings.Contains(waiting.Question.Text, `"itm"`) || len(m.events) > 0 {
		t.Fatalf("Perform() = %v after %v, want that it is asked again and why", err, m.events)
	}
	m.answers["1/approve/2"] = `edit {"item":"coffee"}`
	if _, err := shop(t, m, &ordered).Perform(t.Context(), "1", order("tea")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"coffee"}, ordered); diff != "" {
		t.Errorf("ordered: -want +got\n%s", diff)
	}
}

// TestEditedAndLost: a call that the person changed and whose outcome is lost is asked about,
// and repeated, as it was changed.
func TestEditedAndLost(t *testing.T) {
	m := &memory{states: States{}, answers: map[string]string{"1/approve": `edit {"item":"lost"}`, "1/outcome/1": NotYet}}
	var ordered []string
	p := shop(t, m, &ordered)
	if _, err := p.Perform(t.Context(), "1", order("tea")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lost", "lost"}, ordered); diff != "" {
		t.Errorf("ordered: -want +got\n%s", diff)
	}
	if s := m.states["1"]; string(s.Intent.Input) != `{"item":"tea"}` || string(s.Ran) != `{"item":"lost"}` {
		t.Errorf("the state is %+v, want what won the vote and what ran", s)
	}
	if _, err := shop(t, m, &ordered).Perform(t.Context(), "1", order("milk")); err == nil || errors.Is(err, errFull) {
		t.Errorf("Perform(another intent) = %v, want an error", err)
	}
}

func TestKeep(t *testing.T) {
	m := &memory{states: States{}, answers: map[string]string{"1/approve": `edit {"item":"coffee"}`}}
	var ordered []string
	p := shop(t, m, &ordered)
	p.Keep = func(key string, i event.Intent) *event.Before { return &event.Before{Path: key + string(i.Input)} }
	if _, err := p.Perform(t.Context(), "1", order("tea")); err != nil {
		t.Fatal(err)
	}
	if c := m.events[0].(event.EffectClaimed); c.Before == nil || c.Before.Path != `1{"item":"coffee"}` {
		t.Errorf("the claim is %+v, want what was before it", c)
	}
}

// TestChangedSinceItWasAsked: an approval is for the change that was shown. If the file was
// changed since, in this session or between two, the person is asked again.
func TestChangedSinceItWasAsked(t *testing.T) {
	const first, again = "1/approve", "1/approve/2"
	for name, test := range map[string]struct {
		answers map[string]string
		before  map[string]string // what the file held when an earlier session asked
		now     []string          // what the file holds, at one look after the other
		waits   string            // for this answer
		ordered []string
	}{
		"as it was":                    {answers: map[string]string{first: "yes"}, now: []string{"a"}, ordered: []string{"tea"}},
		"changed":                      {answers: map[string]string{first: "yes"}, now: []string{"a", "b"}, waits: again},
		"changed, and approved":        {answers: map[string]string{first: "yes", again: "yes"}, now: []string{"a", "b"}, ordered: []string{"tea"}},
		"changed, and refused":         {answers: map[string]string{first: "yes", again: "no"}, now: []string{"a", "b"}},
		"changed twice":                {answers: map[string]string{first: "yes", again: "yes"}, now: []string{"a", "b", "b", "c"}, waits: "1/approve/3"},
		"refused, and changed":         {answers: map[string]string{first: "no"}, now: []string{"a", "b"}},
		"a rule, and changed":          {answers: map[string]string{first: "run Order"}, now: []string{"a", "b"}, ordered: []string{"tea"}},
		"edited, and changed":          {answers: map[string]string{first: `edit {"item":"milk"}`, again: "yes"}, now: []string{"a", "b"}, ordered: []string{"milk"}},
		"between two sessions":         {answers: map[string]string{first: "yes"}, before: map[string]string{first: "a"}, now: []string{"b"}, waits: again},
		"by a version without it":      {answers: map[string]string{first: "yes"}, before: map[string]string{first: ""}, now: []string{"b"}, ordered: []string{"tea"}},
		"changed back, but asked":      {answers: map[string]string{first: "yes"}, before: map[string]string{first: "a", again: "b"}, now: []string{"a"}, waits: again},
		"changed back, but refused":    {answers: map[string]string{first: "yes", again: "no"}, before: map[string]string{first: "a", again: "b"}, now: []string{"a"}},
		"approved again, and restored": {answers: map[string]string{first: "yes", again: "yes"}, before: map[string]string{first: "a", again: "b"}, now: []string{"a"}, waits: "1/approve/3"},
	} {
		m := &memory{states: States{}, answers: test.answers, holds: test.before}
		var ordered []string
		p := shop(t, m, &ordered)
		p.Holds = func(event.Intent) string {
			now := test.now[0]
			test.now = test.now[min(1, len(test.now)-1):]
			return now
		}
		_, err := p.Perform(t.Context(), "1", order("tea"))
		waiting, _ := errors.AsType[*person.WaitingError](err)
		if waiting == nil {
			waiting = &person.WaitingError{}
		}
		if waiting.Key != test.waits || test.waits != "" && !strings.Contains(waiting.Question.Text, "The file was changed since you were asked") {
			t.Errorf("%s: Perform() = %v, waiting for %q: %s, want %q", name, err, waiting.Key, waiting.Question.Text, test.waits)
		}
		if diff := cmp.Diff(test.ordered, ordered); diff != "" {
			t.Errorf("%s: ordered: -want +got\n%s", name, diff)
		}
	}
}

// TestEditedToAnotherFile: what a person's own arguments would change is asked about, if the
// question was about something else; the edit alone is no approval of what nobody was shown.
func TestEditedToAnotherFile(t *testing.T) {
	const first, again = "1/approve", "1/approve/2"
	files := map[string]string{"tea": "a", "milk": "b", "water": "a"}
	for name, test := range map[string]struct {
		answers map[string]string
		waits   string
		ordered []string
	}{
		"the same":                {answers: map[string]string{first: `edit {"item":"tea"}`}, ordered: []string{"tea"}},
		"another":                 {answers: map[string]string{first: `edit {"item":"milk"}`}, waits: again},
		"another, and approved":   {answers: map[string]string{first: `edit {"item":"milk"}`, again: "yes"}, ordered: []string{"milk"}},
		"another, and refused":    {answers: map[string]string{first: `edit {"item":"milk"}`, again: "no"}},
		"another that holds that": {answers: map[string]string{first: `edit {"item":"water"}`}, ordered: []string{"water"}},
	} {
		m := &memory{states: States{}, answers: test.answers}
		var ordered []string
		p := shop(t, m, &ordered)
		p.Holds = func(i event.Intent) string {
			var in struct{ Item string }
			if err := json.Unmarshal(i.Input, &in); err != nil {
				t.Fatal(err)
			}
			return files[in.Item]
		}
		_, err := p.Perform(t.Context(), "1", order("tea"))
		waiting, _ := errors.AsType[*person.WaitingError](err)
		if waiting == nil {
			waiting = &person.WaitingError{}
		}
		if waiting.Key != test.waits || test.waits != "" && !strings.Contains(waiting.Question.Text, "with the arguments that you gave") {
			t.Errorf("%s: Perform() = %v, waiting for %q: %s, want %q", name, err, waiting.Key, waiting.Question.Text, test.waits)
		}
		if diff := cmp.Diff(test.ordered, ordered); diff != "" {
			t.Errorf("%s: ordered: -want +got\n%s", name, diff)
		}
	}
}
