package ballot

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/usage"
)

// inTurn gives one response after the other, the last one again and again.
type inTurn struct {
	responses []model.Response
	calls     atomic.Int64
	asked     atomic.Pointer[model.Request]
}

func (m *inTurn) Generate(_ context.Context, req *model.Request) (*model.Response, error) {
	m.asked.Store(req)
	r := m.responses[min(int(m.calls.Add(1)), len(m.responses))-1]
	return &r, nil
}

func decideTurn(t *testing.T, m model.Model, q *flow.Question) *flow.Verdict {
	t.Helper()
	b := New(only(m), reader.Readers(), &Options{BatchSize: 1})
	defer b.Close()
	v, err := b.Decide(t.Context(), q, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func calls(pairs ...string) model.Response {
	r := model.Response{Text: "I will.", Stop: model.StopToolUse, Usage: usage.Tokens{Input: 7, Output: int64(len(pairs))}}
	for i := 0; i < len(pairs); i += 2 {
		r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: "id" + pairs[i], Name: pairs[i], Input: json.RawMessage(pairs[i+1])})
	}
	return r
}

func chat(call string) *flow.Question {
	q := question(firstToK(2, 6))
	object := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"number"}},"required":["path"],"additionalProperties":false}`)
	q.Prompt, q.Answer = "", reader.Text{}.Format()
	q.Flags = &redflag.Config{Truncated: redflag.TruncatedCheck{On: true}, Empty: redflag.EmptyCheck{On: true}}
	q.Chat = &flow.Chat{
		Messages: []flow.ChatMessage{
			{Role: "user", Text: "Tidy up."},
			{Role: "assistant", Calls: []flow.ChatCall{{ID: "1", Name: "list", Input: json.RawMessage(`{"path":"."}`)}}},
			{Role: "user", Results: []flow.ChatResult{{ID: "1", Text: "a b"}}},
		},
		Tools: []flow.ChatTool{{Name: "list", Schema: object}, {Name: "remove", Schema: object}}, Call: call, Stop: []string{"\nEND"},
	}
	return q
}

// TestTurns: turns that call tools agree if the calls do, whatever is said beside them and in
// which order; a call that no tool takes is discarded.
func TestTurns(t *testing.T) {
	text := func(text string) model.Response { return model.Response{Text: text, Stop: model.StopEnd} }
	a, b := calls("remove", `{"path":"a"}`), calls("remove", `{"path":"b"}`)
	for _, c := range []struct {
		name    string
		call    string
		said    []model.Response
		want    string
		flagged string // the reason of the first that is discarded
	}{
		{"the losing call is not the answer", "", []model.Response{a, b, b, b}, `{"text":"I will.","calls":[{"id":"idremove","name":"remove","input":{"path":"b"}}]}`, ""},
		{"numbers and order do not matter", "", []model.Response{
			calls("list", `{"path":"x","n":1}`, "remove", `{"path":"y"}`), calls("remove", `{ "path": "y" }`, "list", `{"n":1.0,"path":"x"}`),
		}, `{"text":"I will.","calls":[{"id":"idlist","name":"list","input":{"path":"x","n":1}},{"id":"idremove","name":"remove","input":{"path":"y"}}]}`, ""},
		{"text against a call", "", []model.Response{text("Done."), a, text("Done.")}, `{"text":"Done."}`, ""},
		{"no such tool", "", []model.Response{calls("format", `{"path":"/"}`), a}, `{"text":"I will.","calls":[{"id":"idremove","name":"remove","input":{"path":"a"}}]}`, "it calls format, which is no tool that it was offered"},
		{"wrong input", "", []model.Response{calls("remove", `{"file":"a"}`), text("Done.")}, `{"text":"Done."}`, "path"},
		{"it has to call", flow.CallAny, []model.Response{text("Done."), a}, `{"text":"I will.","calls":[{"id":"idremove","name":"remove","input":{"path":"a"}}]}`, "it calls no tool, and has to call one"},
		{"it has to call another", "list", []model.Response{a, calls("list", `{"path":"a"}`)}, `{"text":"I will.","calls":[{"id":"idlist","name":"list","input":{"path":"a"}}]}`, "it calls remove, and was to call list"},
		{"cut in a call", "", []model.Response{{ToolCalls: a.ToolCalls, Stop: model.StopLength}, text("Done.")}, `{"text":"Done."}`, "it was cut at the limit of its length"},
		{"text ends before", flow.CallNone, []model.Response{text("Done.\nEND of it"), text("Done.\nEND")}, `{"text":"Done.","stopped":"\nEND"}`, ""},
		{"nothing", "", []model.Response{text(" "), text("Done.")}, `{"text":"Done."}`, "visible"},
	} {
		m := &inTurn{responses: c.said}
		v := decideTurn(t, m, chat(c.call))
		if v.Status != flow.Decided || string(v.Answer) != c.want {
			t.Errorf("%s: %s %s (%s), want %s", c.name, v.Status, v.Answer, v.Reason, c.want)
		}
		if (v.Voting.RedFlagged > 0) != (c.flagged != "") {
			t.Errorf("%s: %d discarded, want a reason with %q", c.name, v.Voting.RedFlagged, c.flagged)
		}
		if v.Tokens.Total() == 0 && strings.Contains(c.want, "calls") {
			t.Errorf("%s: what the winner took is not known", c.name)
		}
		if asked := m.asked.Load(); len(asked.Messages) != 3 || len(asked.Messages[1].ToolCalls) != 1 || len(asked.Messages[2].ToolResults) != 1 || (len(asked.Tools) == 0) != (c.call == flow.CallNone) {
			t.Errorf("%s: it was asked %+v", c.name, asked)
		}
	}
}

// TestOneCall: a turn with several calls is discarded where one at most was asked for.
func TestOneCall(t *testing.T) {
	one := calls("remove", `{"path":"a"}`)
	m := &inTurn{responses: []model.Response{calls("remove", `{"path":"a"}`, "remove", `{"path":"b"}`), one, one}}
	q := chat("")
	q.Chat.OneCall = true
	v := decideTurn(t, m, q)
	if want := `{"text":"I will.","calls":[{"id":"idremove","name":"remove","input":{"path":"a"}}]}`; v.Status != flow.Decided || string(v.Answer) != want || v.Voting.RedFlagged != 1 {
		t.Errorf("%s %s with %d discarded (%s), want %s with 1", v.Status, v.Answer, v.Voting.RedFlagged, v.Reason, want)
	}
}

// TestTurnAsJSON: what was written around the JSON that was asked for does not reach whoever
// asked.
func TestTurnAsJSON(t *testing.T) {
	q := chat(flow.CallNone)
	q.Answer = reader.JSON{Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}.Format()
	q.Schema, q.Structured = json.RawMessage(`{"type":"object"}`), flow.StructuredAuto
	v := decideTurn(t, &inTurn{responses: []model.Response{
		{Text: "Here it is:\n```json\n{\"n\": 4}\n```", Stop: model.StopEnd}, {Text: `{"n": 5}`, Stop: model.StopEnd}, {Text: `{"n": 4.0}`, Stop: model.StopEnd}, {Text: `{"n": 4}`, Stop: model.StopEnd},
	}}, q)
	var turn flow.ChatTurn
	if err := json.Unmarshal(v.Answer, &turn); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"n": 4}`, turn.Text); diff != "" || v.Voting.Margin != 2 {
		t.Errorf("margin %d, -want +got\n%s", v.Voting.Margin, diff)
	}
}

// TestScattered: texts that all differ will go on to differ, and are given up; calls of tools
// are voted on to the end, even if those who would say something are among the first.
func TestScattered(t *testing.T) {
	text := func(text string) model.Response { return model.Response{Text: text, Stop: model.StopEnd} }
	a, b := calls("remove", `{"path":"a"}`), calls("remove", `{"path":"b"}`)
	for _, c := range []struct {
		name    string
		said    []model.Response
		status  flow.Status
		samples int
	}{
		{"texts", []model.Response{text("one"), text("two"), text("three"), text("three")}, flow.Undecided, 3},
		{"calls", []model.Response{b, text("No."), a, a, a}, flow.Decided, 5},
		{"texts that begin to agree", []model.Response{text("one"), text("one"), text("two"), text("one"), text("one")}, flow.Decided, 2},
	} {
		q := chat("")
		q.Scattered = 3
		v := decideTurn(t, &inTurn{responses: c.said}, q)
		if v.Status != c.status || v.Voting.Samples != c.samples {
			t.Errorf("%s: %s after %d samples (%s), want %s after %d", c.name, v.Status, v.Voting.Samples, v.Reason, c.status, c.samples)
		}
	}
}
