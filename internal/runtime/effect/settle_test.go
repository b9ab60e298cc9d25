package effect

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// asked is a journal that keeps the questions it was asked, and may be unable to ask.
type asked struct {
	memory
	questions map[string]flow.HumanQuestion
	broken    error
}

func newAsked(answers map[string]string) *asked {
	return &asked{memory: memory{states: States{}, answers: answers}, questions: map[string]flow.HumanQuestion{}}
}

func (a *asked) Ask(ctx context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	if a.broken != nil {
		return nil, a.broken
	}
	a.questions[key] = *q
	return a.memory.Ask(ctx, key, q)
}

// performer has one tool, which run executes.
func performer(t *testing.T, j Journal, with tool.Tool, policy approval.Policy, run func(context.Context) (tool.Result, error)) *Performer {
	t.Helper()
	with.Schema = json.RawMessage(`{"type":"object"}`)
	if run != nil {
		with.Run = func(ctx context.Context, _ json.RawMessage) (tool.Result, error) { return run(ctx) }
	}
	tools := tool.NewRegistry()
	if err := tools.Register(with); err != nil {
		t.Fatal(err)
	}
	return &Performer{Journal: j, Tools: tools, Approve: policy, Spent: func() usage.Spent { return usage.Spent{} }}
}

// TestSettling: a call that was begun and has no outcome is repeated only if that is
// harmless or the person says that it did not happen, and never where its tool is gone
// or a rule forbids it by now.
func TestSettling(t *testing.T) {
	broken := errors.New("the terminal is gone")
	all, some := []string{Happened, NotYet, GiveUp}, []string{Happened, GiveUp}
	for name, test := range map[string]struct {
		idempotent, gone, denied bool
		answer                   string
		broken                   error
		options                  []string
		runs                     int
		text                     string
		unknown                  bool
	}{
		"it happened":                    {answer: Happened, options: all, text: "took effect"},
		"it did not happen":              {answer: NotYet, options: all, runs: 1, text: "paid"},
		"the person ends the step":       {answer: GiveUp, options: all, text: "a person ended the step", unknown: true},
		"it can be repeated":             {idempotent: true, runs: 1, text: "paid"},
		"its tool is gone":               {gone: true, answer: GiveUp, options: some, text: "a person ended", unknown: true},
		"a rule denies it":               {denied: true, answer: Happened, options: some, text: "took effect"},
		"a rule denies what is harmless": {idempotent: true, denied: true, answer: GiveUp, options: some, text: "ended", unknown: true},
		"nobody can be asked":            {broken: broken},
	} {
		j := newAsked(map[string]string{"k/outcome/1": test.answer})
		j.broken = test.broken
		j.states.Take(event.EffectClaimed{Effect: "k", Tool: "Pay", Input: event.JSONValue(json.RawMessage(`{}`))})
		policy := approval.Policy{Mode: approval.None}
		if test.denied {
			policy.Deny = rules(t, "Pay")
		}
		runs := 0
		p := performer(t, j, tool.Tool{Name: "Pay", Class: tool.Mutate, Idempotent: test.idempotent}, policy, func(context.Context) (tool.Result, error) {
			runs++
			return tool.Result{Text: "paid"}, nil
		})
		if test.gone {
			p.Tools = tool.NewRegistry()
		}
		r, err := p.Perform(t.Context(), "k", payment)
		if runs != test.runs || !errors.Is(err, test.broken) {
			t.Errorf("%s: Perform() = %+v, %v after %d executions, want %v after %d", name, r, err, runs, test.broken, test.runs)
		}
		if test.broken != nil {
			continue
		}
		if r == nil || !strings.Contains(r.Text, test.text) || r.Unknown != test.unknown {
			t.Errorf("%s: Perform() = %+v, want %q, unknown: %t", name, r, test.text, test.unknown)
		}
		if got := j.questions["k/outcome/1"].Options; !slices.Equal(got, test.options) {
			t.Errorf("%s: the person may say %q, want %q", name, got, test.options)
		}
	}
}

func rules(t *testing.T, text string) []approval.Rule {
	t.Helper()
	r, err := approval.ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return []approval.Rule{r}
}

// TestEndingWhileItRuns: a run may end while a tool is at work. If the tool came to its
// end nevertheless, that is what happened; if not, nobody knows.
func TestEndingWhileItRuns(t *testing.T) {
	failed := errors.New("connection reset")
	for name, test := range map[string]struct {
		result  tool.Result
		err     error
		unknown bool
	}{
		"it came to its end":      {result: tool.Result{Text: "paid"}},
		"it was cut off":          {err: failed, unknown: true},
		"it says that it was cut": {result: tool.Failed("cut off"), unknown: true},
	} {
		j := newAsked(nil)
		ctx, end := context.WithCancel(t.Context())
		p := performer(t, j, tool.Tool{Name: "Pay", Class: tool.Mutate}, approval.Policy{Mode: approval.None}, func(context.Context) (tool.Result, error) {
			end()
			return test.result, test.err
		})
		r, err := p.Perform(ctx, "k", payment)
		want := event.TypeEffectDone
		if test.unknown {
			want = event.TypeEffectUnknown
		}
		if got := j.types(); len(got) != 2 || got[1] != want {
			t.Errorf("%s: the journal has %v, want a claim and %v", name, got, want)
		}
		if test.unknown != errors.Is(err, context.Canceled) {
			t.Errorf("%s: Perform() = %+v, %v, want that the run ended: %t", name, r, err, test.unknown)
		}
	}
}

// TestHumanTools: the question of an agent is put to the person, and what the person
// says is the result. A tool that calls it something else shows its whole input.
func TestHumanTools(t *testing.T) {
	for input, want := range map[string]flow.HumanQuestion{
		`{"question":"Which one?","options":["a","b"]}`: {Text: "Which one?", Options: []string{"a", "b"}},
		`{"question":"","options":["a"]}`:               {Text: `Ask asks: {"question":"","options":["a"]}`},
		`{"subject":"x"}`:                               {Text: `Ask asks: {"subject":"x"}`},
		`{"question":7}`:                                {Text: `Ask asks: {"question":7}`},
	} {
		want.Step, want.Kind, want.Free = 3, event.ClarifyQuestion, true
		j := newAsked(map[string]string{"k": "the second"})
		p := performer(t, j, tool.Tool{Name: "Ask", Class: tool.Human}, approval.Policy{}, nil)
		e := &flow.Effect{Step: 3, Intent: event.Intent{Tool: "Ask", Input: json.RawMessage(input)}}
		r, err := p.Perform(t.Context(), "k", e)
		if err != nil || r.Text != "the second" || r.IsError {
			t.Errorf("Perform(%s) = %+v, %v, want the answer", input, r, err)
		}
		if diff := cmp.Diff(want, j.questions["k"]); diff != "" {
			t.Errorf("Perform(%s) asked something else (-want +got):\n%s", input, diff)
		}
		if r, err := p.Perform(t.Context(), "nobody", e); r != nil || !isWaiting(err) {
			t.Errorf("Perform(%s) with nobody there = %+v, %v, want that it waits", input, r, err)
		}
	}
}

// TestRefusalsSayWhy: a model reads what the person said against its call.
func TestRefusalsSayWhy(t *testing.T) {
	for answer, want := range map[string]string{
		"no":               "The call was not made: a person refused it",
		"not on a Sunday!": "The call was not made: a person refused it: not on a Sunday!",
	} {
		j := newAsked(map[string]string{"k/approve": answer})
		var synced []int
		p := pay(t, &j.memory, approval.Mutate, &synced)
		r, err := p.Perform(t.Context(), "k", payment)
		if err != nil || r.Text != want || !r.Refused {
			t.Errorf("Perform() answered %q = %+v, %v, want %q", answer, r, err, want)
		}
	}
}

// TestReopen: only what the person refused is open again.
func TestReopen(t *testing.T) {
	input := event.JSONValue(json.RawMessage(`{}`))
	claim := func(key string) event.Event { return event.EffectClaimed{Effect: key, Tool: "Pay", Input: input} }
	refused := func(key, by string) event.Event {
		return event.EffectRefused{Effect: key, Tool: "Pay", Input: input, Reason: "no", By: by}
	}
	all := func(string) bool { return true }
	for name, test := range map[string]struct {
		events []event.Event
		those  func(string) bool
		want   []string
	}{
		"refused by the person": {[]event.Event{refused("b", byPerson("terminal")), refused("a", byPerson("file"))}, all, []string{"a", "b"}},
		"refused, not meant":    {[]event.Event{refused("a", byPerson("terminal"))}, func(key string) bool { return key != "a" }, nil},
		"refused by a rule":     {[]event.Event{refused("a", "deny: Pay")}, all, nil},
		"claimed":               {[]event.Event{claim("a")}, all, nil},
		"done":                  {[]event.Event{claim("a"), event.EffectDone{Effect: "a"}}, all, nil},
		"claimed, taken back":   {[]event.Event{claim("a"), event.EffectReleased{Effect: "a"}}, all, nil},
		"refused, then claimed": {[]event.Event{refused("a", byPerson("terminal")), claim("a")}, all, nil},
	} {
		s := States{}
		for _, e := range test.events {
			s.Take(e)
		}
		before := len(s)
		if got := s.Reopen(test.those); !slices.Equal(got, test.want) || len(s) != before-len(test.want) {
			t.Errorf("%s: Reopen() = %q, leaving %d of %d, want %q", name, got, len(s), before, test.want)
		}
	}
}
