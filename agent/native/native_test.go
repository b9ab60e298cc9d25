package native_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/agent/native"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

type note struct {
	Text string `json:"text"`
	Why  string `json:"why,omitempty" vote:"-"`
}

// tools are one of each class. Look counts how often it ran and Note how often it
// ran at all, which is never for an agent to do.
func tools(t *testing.T, looked, noted *int) []tool.Tool {
	t.Helper()
	look, err := tool.New(tool.Tool{Name: "Look", Class: tool.Pure}, func(_ context.Context, in note) (tool.Result, error) {
		*looked++
		switch in.Text {
		case "nothing":
			return tool.Failed("there is nothing"), nil
		case "broken":
			return tool.Result{}, errors.New("the lamp is out")
		}
		return tool.Result{Text: "seen " + in.Text}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	write, err := tool.New(tool.Tool{Name: "Note", Class: tool.Mutate}, func(context.Context, note) (tool.Result, error) {
		*noted++
		return tool.Result{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return []tool.Tool{look, write}
}

// script answers call after call, and keeps the requests.
type script struct {
	t         *testing.T
	responses []model.Response
	requests  []model.Request
}

func (s *script) Generate(_ context.Context, req *model.Request) (*model.Response, error) {
	copied := *req
	copied.Messages = append([]model.Message(nil), req.Messages...)
	s.requests = append(s.requests, copied)
	n := len(s.requests) - 1
	if n >= len(s.responses) {
		return nil, &model.Error{Kind: model.Transient, Message: "the script is over"}
	}
	cost := 0.25
	r := s.responses[n]
	r.Usage, r.CostUSD = usage.Tokens{Input: 10, Output: 5}, &cost
	return &r, nil
}

func calls(pairs ...string) model.Response {
	r := model.Response{Stop: model.StopToolUse, Text: "let me see"}
	for i := 0; i < len(pairs); i += 2 {
		r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: fmt.Sprint("c", i/2), Name: pairs[i], Input: json.RawMessage(pairs[i+1])})
	}
	return r
}

func answer(text string) model.Response { return model.Response{Text: text, Stop: model.StopEnd} }

func TestAttempt(t *testing.T) {
	for name, test := range map[string]struct {
		script []model.Response
		max    int
		tokens int64

		text    string
		intent  string // its key
		flag    string
		looked  int
		calls   int // of the model
		results []string
	}{
		"no tool":  {script: []model.Response{answer("42")}, text: "42", calls: 1},
		"one look": {script: []model.Response{calls("Look", `{"text":"a"}`), answer("a is there")}, text: "a is there", looked: 1, calls: 2, results: []string{"seen a"}},
		"two at once": {script: []model.Response{calls("Look", `{"text":"a"}`, "Look", `{"text":"b"}`), answer("both")},
			text: "both", looked: 2, calls: 2, results: []string{"seen a", "seen b"}},
		"a tool error is read": {script: []model.Response{calls("Look", `{"text":"nothing"}`), answer("none")},
			text: "none", looked: 1, calls: 2, results: []string{"error: there is nothing"}},
		"a broken tool is read": {script: []model.Response{calls("Look", `{"text":"broken"}`), answer("none")},
			text: "none", looked: 1, calls: 2, results: []string{"error: the lamp is out"}},
		"an unknown tool is read": {script: []model.Response{calls("Fly", `{}`), answer("cannot")},
			text: "cannot", calls: 2, results: []string{`error: There is no tool called "Fly" here. There are Look, Note.`}},
		"a wrong input is read": {script: []model.Response{calls("Note", `{"txet":"a"}`), answer("sorry")},
			text: "sorry", calls: 2, results: []string{"error: input of Note"}},
		"an intent ends it": {script: []model.Response{calls("Note", `{"why":"because","text":"a"}`)},
			text: "let me see", intent: `Note {"text":"a"}`, calls: 1},
		"an intent after a look": {script: []model.Response{calls("Look", `{"text":"a"}`), calls("Note", `{"text":"a"}`)},
			text: "let me see", intent: `Note {"text":"a"}`, looked: 1, calls: 2, results: []string{"seen a"}},
		"the first intent counts, and nothing beside it runs": {script: []model.Response{calls("Look", `{"text":"a"}`, "Note", `{"text":"x"}`, "Note", `{"text":"y"}`)},
			text: "let me see", intent: `Note {"text":"x"}`, calls: 1},
		"cut off in a call": {script: []model.Response{{Stop: model.StopLength, ToolCalls: calls("Note", `{"text":"a"}`).ToolCalls}},
			flag: redflag.Truncated, calls: 1},
		"no end": {script: []model.Response{calls("Look", `{"text":"a"}`), calls("Look", `{"text":"a"}`), calls("Look", `{"text":"a"}`)},
			max: 2, flag: agent.FlagTooManyMoves, looked: 2, calls: 2, results: []string{"seen a"}},
		"too dear": {script: []model.Response{calls("Look", `{"text":"a"}`), answer("never asked")},
			tokens: 10, flag: agent.FlagTooManyMoves, looked: 1, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var looked, noted int
			m := &script{t: t, responses: test.script}
			got, err := native.New(m).Attempt(t.Context(), &agent.Task{
				System: "be brief", Prompt: "look", Tools: tools(t, &looked, &noted), MaxMoves: test.max, MaxTokens: test.tokens,
			})
			if err != nil {
				t.Fatalf("Attempt() = %v", err)
			}
			intent, flag := "", ""
			if got.Intent != nil {
				intent = got.Intent.Key()
			}
			if got.Flag != nil {
				flag = got.Flag.Name
			}
			if got.Text != test.text || intent != test.intent || flag != test.flag {
				t.Errorf("Attempt() = %q, intent %q, flag %q, want %q, %q, %q", got.Text, intent, flag, test.text, test.intent, test.flag)
			}
			if looked != test.looked || got.Calls != looked || noted != 0 {
				t.Errorf("Attempt() looked %d times (and says %d) and noted %d times, want %d and never", looked, got.Calls, noted, test.looked)
			}
			if len(m.requests) != test.calls || got.Usage.Output != int64(5*test.calls) || *got.CostUSD != 0.25*float64(test.calls) {
				t.Errorf("Attempt() made %d calls for %+v, $%v, want %d", len(m.requests), got.Usage, *got.CostUSD, test.calls)
			}
			if test.results == nil || len(m.requests) < 2 {
				return
			}
			messages := m.requests[1].Messages
			var results []string
			for _, r := range messages[len(messages)-1].ToolResults {
				text := r.Text
				if r.IsError {
					text = "error: " + text
				}
				results = append(results, text)
			}
			for i, want := range test.results {
				if i >= len(results) || !strings.HasPrefix(results[i], want) {
					t.Errorf("the model read %q, want %q", results, test.results)
				}
			}
		})
	}
}

// TestDone: the moves that were decided before are part of what every attempt sees.
func TestDone(t *testing.T) {
	var looked, noted int
	m := &script{t: t, responses: []model.Response{answer("done")}}
	_, err := native.New(m).Attempt(t.Context(), &agent.Task{
		Prompt: "note it", Tools: tools(t, &looked, &noted),
		Done: []flow.Move{{Intent: event.Intent{Tool: "Note", Input: json.RawMessage(`{"text":"a"}`)}, Result: flow.Result{Text: "refused", IsError: true}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Message{
		{Role: model.User, Text: "note it"},
		{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "move_0", Name: "Note", Input: json.RawMessage(`{"text":"a"}`)}}},
		{Role: model.User, ToolResults: []model.ToolResult{{ID: "move_0", Text: "refused", IsError: true}}},
	}
	if diff := cmp.Diff(want, m.requests[0].Messages); diff != "" {
		t.Errorf("messages: -want +got\n%s", diff)
	}
	if n := len(m.requests[0].Tools); n != 2 {
		t.Errorf("the model was told of %d tools, want 2", n)
	}
}

// TestFaults: what failed before an attempt failed for good is told with it.
func TestFaults(t *testing.T) {
	var looked, noted int
	first := calls("Look", `{"text":"a"}`)
	first.Faults = []*model.Error{{Kind: model.RateLimited}}
	m := &script{t: t, responses: []model.Response{first}}
	_, err := native.New(m).Attempt(t.Context(), &agent.Task{Prompt: "look", Tools: tools(t, &looked, &noted)})
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.Transient || len(e.Faults) != 1 {
		t.Errorf("Attempt() = %v, want the fault of the second call with the one before it", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("decided")
	stop, err := tool.New(tool.Tool{Name: "Look", Class: tool.Pure}, func(context.Context, note) (tool.Result, error) {
		cancel(over)
		return tool.Result{Text: "too late"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &script{t: t, responses: []model.Response{calls("Look", `{"text":"a"}`), answer("no")}}
	if _, err := native.New(m).Attempt(ctx, &agent.Task{Prompt: "look", Tools: []tool.Tool{stop}}); !errors.Is(err, over) {
		t.Errorf("Attempt() = %v, want the cause of the end", err)
	}
	if len(m.requests) != 1 {
		t.Errorf("the model was asked %d times, want once", len(m.requests))
	}
}

// TestAConversationHasAnEnd has a model ask for one large result after the other and
// say that it used next to nothing: what counts is what was said.
func TestAConversationHasAnEnd(t *testing.T) {
	const large = 100_000
	runs := 0
	read, err := tool.New(tool.Tool{Name: "Read", Class: tool.Observe}, func(context.Context, note) (tool.Result, error) {
		runs++
		return tool.Result{Text: strings.Repeat("x", large)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	greedy := model.Response{Stop: model.StopToolUse}
	for i := range 100 {
		greedy.ToolCalls = append(greedy.ToolCalls, model.ToolCall{ID: fmt.Sprint(i), Name: "Read", Input: json.RawMessage(`{"text":"a"}`)})
	}
	modest := greedy
	modest.ToolCalls = greedy.ToolCalls[:2]
	for name, test := range map[string]struct {
		turn model.Response
		most int // calls that are run
	}{
		"many results at once":    {greedy, 4},
		"some results each time":  {modest, 4},
		"calls of a missing tool": {calls("Missing", `{"text":"`+strings.Repeat("x", large)+`"}`), 0},
	} {
		runs = 0
		s := &script{t: t, responses: slices.Repeat([]model.Response{test.turn}, 12)}
		r, err := native.New(s).Attempt(t.Context(), &agent.Task{Prompt: "p", Tools: []tool.Tool{read}, MaxTokens: 20_000})
		if err != nil || r.Flag == nil || r.Flag.Name != agent.FlagTooManyMoves || !strings.Contains(r.Flag.Reason, "bytes") {
			t.Errorf("%s: Attempt() = %+v, %v, want the flag %s", name, r, err, agent.FlagTooManyMoves)
		}
		if runs > test.most || len(s.requests) > 5 {
			t.Errorf("%s: %d calls were run and %d requests sent, want few", name, runs, len(s.requests))
		}
	}
}
