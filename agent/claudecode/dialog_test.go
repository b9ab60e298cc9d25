package claudecode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/tool"
)

// A play is a dialog without a program.
type play struct {
	t       testing.TB
	dialog  *dialog
	written []string // since the last look
	ran     []string // tools with their input
}

func newPlay(t testing.TB, task *agent.Task) *play {
	p := &play{t: t, dialog: newDialog(task)}
	p.dialog.begin(func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		p.written = append(p.written, string(data))
	}, func(c *pendingCall) {
		if !c.tool.Class.BySample() {
			t.Errorf("%s ran with %s", c.tool.Name, c.input)
		}
		p.ran = append(p.ran, c.tool.Name+" "+string(c.input))
		c.reply(tool.Result{Text: "result of " + c.tool.Name})
	})
	p.written = nil
	return p
}

// says lets the program print lines, none of which may be the end.
func (p *play) says(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if done, err := p.dialog.take([]byte(line)); done || err != nil {
			p.t.Fatalf("take(%s) = %v, %v, want more", line, done, err)
		}
	}
}

// heard checks what was written since the last look: one line for each want, with
// all of its words.
func (p *play) heard(want ...string) {
	p.t.Helper()
	if len(p.written) != len(want) {
		p.t.Fatalf("written: %q, want %q", p.written, want)
	}
	for i := range want {
		for word := range strings.SplitSeq(want[i], " & ") {
			if !strings.Contains(p.written[i], word) {
				p.t.Errorf("written: %s, want %s in it", p.written[i], word)
			}
		}
	}
	p.written = nil
}

func bare(effects map[string]tool.Class) []tool.Tool {
	var tools []tool.Tool
	for _, name := range []string{"Read", "Bash", "Ask", "mcp__shop__buy"} {
		tools = append(tools, tool.Tool{Name: name, Class: effects[name], Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)})
	}
	return tools
}

var effects = map[string]tool.Class{"Read": tool.Observe, "Bash": tool.Mutate, "Ask": tool.Human, "mcp__shop__buy": ""}

const (
	ready        = `{"type":"system","subtype":"init","tools":["Read","Bash","Ask","mcp__shop__buy"]}`
	messageStart = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","model":"m","usage":{"input_tokens":10}}}}`
	messageStop  = `{"type":"stream_event","event":{"type":"message_stop"}}`
	usedTool     = `{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}}`
)

// called is the stream of a call.
func called(id, name, input string) []string {
	quoted, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return []string{
		`{"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{}}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":` + string(quoted) + `}}}`,
	}
}

func asked(request, id, name, input string) string {
	return `{"type":"control_request","request_id":"` + request + `","request":{"subtype":"can_use_tool","tool_name":"` + name + `","input":` + input + `,"tool_use_id":"` + id + `"}}`
}

func rpc(request, method, params string) string {
	return `{"type":"control_request","request_id":"` + request + `","request":{"subtype":"mcp_message","server_name":"maker","message":{"jsonrpc":"2.0","id":4,"method":"` + method + `","params":` + params + `}}}`
}

func TestAskedForPermission(t *testing.T) {
	for name, want := range map[string]string{
		"Bash": `Bash {"n":12345678901234567891}`, "Ask": `Ask {"n":12345678901234567891}`, "mcp__shop__buy": `mcp__shop__buy {"n":12345678901234567891}`,
	} {
		p := newPlay(t, &agent.Task{Tools: bare(effects)})
		p.says(ready, messageStart)
		p.says(called("c1", name, `{"n": 12345678901234567891}`)...)
		// The program rounds what it passes on.
		p.says(asked("r1", "c1", name, `{"n":12345678901234567000}`), usedTool)
		p.heard() // not before the message has ended, or its cost would be lost
		if p.dialog.over {
			t.Errorf("the attempt is over before the message is")
		}
		p.says(messageStop)
		p.heard(`"request_id":"r1" & "behavior":"deny" & "interrupt":true`)
		r := &p.dialog.result
		if !p.dialog.over || r.Intent == nil || r.Intent.Key() != want || r.Stop != model.StopToolUse {
			t.Errorf("asked for %s: %+v, want the intent %s", name, r, want)
		}
		p.says(asked("r2", "c2", name, `{}`), rpc("r3", "tools/call", `{"name":"Read"}`))
		p.heard(`"request_id":"r2" & "behavior":"deny"`, `"request_id":"r3" & over & "isError":true`)
		if r.Intent.Key() != want || len(p.ran) > 0 {
			t.Errorf("after the end: intent %s, ran %q, want neither changed", r.Intent.Key(), p.ran)
		}
	}
}

func TestAskedAfterTheMessage(t *testing.T) {
	p := newPlay(t, &agent.Task{Tools: bare(effects)})
	p.says(ready, messageStart)
	p.says(called("c1", "Bash", `{"n":1}`)...)
	p.says(usedTool, messageStop)
	p.heard()
	p.says(asked("r1", "c1", "Bash", `{"n":1}`))
	p.heard(`"request_id":"r1" & "behavior":"deny" & "interrupt":true`)
	if r := p.dialog.result; r.Intent == nil || r.Intent.Key() != `Bash {"n":1}` {
		t.Errorf("asked after the message: %+v, want the intent", r)
	}
}

// TestNotAsked is the second line of defence: a program that calls at once.
func TestNotAsked(t *testing.T) {
	p := newPlay(t, &agent.Task{Tools: bare(effects)})
	p.says(ready, messageStart)
	p.says(called("c1", "Bash", `{"n":1}`)...)
	p.says(rpc("r1", "tools/call", `{"name":"Bash","arguments":{"n":1},"_meta":{"claudecode/toolUseId":"c1"}}`), usedTool)
	p.heard()
	p.says(messageStop)
	p.heard(`"subtype":"interrupt"`)
	if r := p.dialog.result; r.Intent == nil || r.Intent.Key() != `Bash {"n":1}` || len(p.ran) > 0 || r.Calls != 0 {
		t.Errorf("called without asking: %+v, ran %q, want the intent and nothing run", r, p.ran)
	}
}

func TestWrongRequests(t *testing.T) {
	p := newPlay(t, &agent.Task{Tools: bare(effects)})
	p.says(ready, messageStart)
	p.says(asked("r1", "c1", "Bash", `{"n":"one"}`))
	p.heard(`"request_id":"r1" & "behavior":"deny" & "interrupt":false & input of Bash`)
	p.says(asked("r2", "c1", "Rm", `{}`))
	p.heard(`"request_id":"r2" & "behavior":"deny" & "interrupt":false & no tool called \"Rm\" here. There are Ask, Bash, Read`)
	p.says(asked("r3", "c1", "Read", `{"n":1}`))
	p.heard(`"request_id":"r3" & "behavior":"allow" & "updatedInput":{"n":1}`)
	p.says(rpc("r4", "tools/call", `{"name":"Rm","arguments":{}}`))
	p.heard(`"request_id":"r4" & no tool called & "isError":true`)
	p.says(rpc("r5", "tools/call", `{"name":"Bash","arguments":{"n":"one"}}`))
	p.heard(`"request_id":"r5" & input of Bash & "isError":true`)
	p.says(rpc("r6", "resources/list", `{}`))
	p.heard(`"request_id":"r6" & "code":-32601 & resources/list`)
	p.says(rpc("r7", "ping", `null`))
	p.heard(`"request_id":"r7" & "result":{}`)
	p.says(`{"type":"control_request","request_id":"r8","request":{"subtype":"mcp_message","message":[]}}`)
	p.heard(`"request_id":"r8" & "subtype":"error"`)
	p.says(`{"type":"control_request","request_id":"r9","request":{"subtype":"mcp_message","message":{"method":"notifications/initialized"}}}`)
	p.heard(`"request_id":"r9" & "mcp_response"`)
	if p.dialog.over || len(p.ran) > 0 {
		t.Errorf("wrong requests ended the attempt (%v) or ran %q", p.dialog.over, p.ran)
	}
}

func TestToolServer(t *testing.T) {
	tools := bare(effects)
	tools[0].Description, tools[3].Schema = "Reads.", json.RawMessage("{")
	p := newPlay(t, &agent.Task{Tools: tools})
	p.says(rpc("r1", "initialize", `{"protocolVersion":"2025-11-25"}`))
	p.heard(`"protocolVersion":"2025-11-25" & "capabilities":{"tools":{}} & "id":4`)
	p.says(rpc("r2", "tools/list", `{}`))
	p.heard(`{"name":"Read","description":"Reads.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/maxResultSizeChars":500000}} & ` +
		`"name":"Bash" & "readOnlyHint":false & {"name":"mcp__shop__buy","inputSchema":{"type":"object"}`)
	p.says(ready, messageStart)
	p.says(called("c1", "Read", ``)...)
	p.says(rpc("r3", "tools/call", `{"name":"Read","_meta":{"claudecode/toolUseId":"c1"}}`))
	p.heard(`"request_id":"r3" & "content":[{"text":"result of Read","type":"text"}],"isError":false`)
	p.says(rpc("r4", "tools/call", `{"name":"Read","arguments":{"n":2},"_meta":{"claudecode/toolUseId":"c9"}}`))
	p.heard(`"request_id":"r4"`)
	if diff := cmp.Diff([]string{"Read {}", `Read {"n":2}`}, p.ran); diff != "" || p.dialog.result.Calls != 2 {
		t.Errorf("%d calls: -want +got\n%s", p.dialog.result.Calls, diff)
	}
}

func TestOffersOtherTools(t *testing.T) {
	for _, tools := range []string{`[]`, `["Read"]`, `["Read","Bash","Ask","mcp__shop__buy","WebFetch"]`, `["mcp__maker__Read","mcp__maker__Bash","mcp__maker__Ask","mcp__maker__mcp__shop__buy"]`, `null`} {
		p := newPlay(t, &agent.Task{Tools: bare(effects)})
		_, err := p.dialog.take([]byte(`{"type":"system","subtype":"init","tools":` + tools + `}`))
		if err == nil || err.Kind != model.Invalid || !strings.Contains(err.Message, "was given Ask, Bash, Read, mcp__shop__buy") {
			t.Errorf("take(tools %s) = %v, want an error", tools, err)
		}
	}
}

// text is the stream of a text.
func text(words string) []string {
	return []string{
		`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + words + `"}}}`,
	}
}

func stopped(reason string) string {
	return `{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}}`
}

// TestFinalMessages is about which messages end an attempt, and after which of
// them the program has to be stopped from asking for better ones.
func TestFinalMessages(t *testing.T) {
	data := &model.OutputFormat{Mode: model.JSONObject}
	tests := []struct {
		name, text, call, stop string
		output                 *model.OutputFormat
		want                   model.StopReason
		flag                   string
		goesOn                 bool // it is stopped
	}{
		{"answer", "42", "", "end_turn", nil, model.StopEnd, "", false},
		{"at a sequence", "42", "", "stop_sequence", nil, model.StopEnd, "", false},
		{"cut off", "4", "", "max_tokens", nil, model.StopLength, "", true},
		{"no room", "4", "", "model_context_window_exceeded", nil, model.StopLength, "", true},
		{"cut off in a call", "I will", "Bash", "max_tokens", nil, model.StopLength, "truncated", true},
		{"empty", "", "", "end_turn", nil, model.StopEnd, "", true},
		{"blank", " ", "", "end_turn", nil, model.StopEnd, "", true},
		{"refused", "No.", "", "refusal", nil, model.StopRefusal, "", true},
		{"refused in a call", "No.", "Bash", "refusal", nil, model.StopRefusal, "", true},
		{"text for data", "42", "", "end_turn", data, model.StopEnd, "", true},
		{"a new reason", "42", "", "new", nil, model.StopUnknown, "", true},
	}
	for _, test := range tests {
		p := newPlay(t, &agent.Task{Tools: bare(effects), Output: test.output})
		p.says(messageStart)
		if test.text != "" {
			p.says(text(test.text)...)
		}
		if test.call != "" {
			p.says(called("c1", test.call, `{"n":1}`)...)
			p.says(asked("r1", "c1", test.call, `{"n":1}`))
		}
		p.says(stopped(test.stop), messageStop)
		r := &p.dialog.result
		flag := ""
		if r.Flag != nil {
			flag = r.Flag.Name
		}
		if !p.dialog.over || r.Text != test.text || r.Stop != test.want || flag != test.flag || r.Intent != nil {
			t.Errorf("%s: over %v with %q, %q, flag %q, intent %v, want %q, %q, %q", test.name, p.dialog.over, r.Text, r.Stop, flag, r.Intent, test.text, test.want, test.flag)
		}
		if test.goesOn {
			p.heard(`"subtype":"interrupt"`)
		} else {
			p.heard()
		}
		// What comes later changes nothing.
		p.says(asked("r2", "c2", "Bash", `{}`))
		p.heard(`"request_id":"r2" & "behavior":"deny"`)
		if r.Intent != nil {
			t.Errorf("%s: a later call became the intent", test.name)
		}
	}
}

func TestTokens(t *testing.T) {
	turn := append([]string{messageStart}, called("c1", "Read", `{}`)...)
	turn = append(turn, usedTool, messageStop)
	p := newPlay(t, &agent.Task{Tools: bare(effects), MaxTokens: 30})
	p.says(ready)
	p.says(turn...)
	p.says(turn...)
	p.heard()
	p.says(turn...)
	p.heard(`"subtype":"interrupt"`)
	if f := p.dialog.result.Flag; f == nil || f.Name != agent.FlagTooManyMoves || !strings.Contains(f.Reason, "45 tokens") {
		t.Errorf("45 tokens of 30: %+v, want a flag", f)
	}
}

func TestWithdrawn(t *testing.T) {
	p := newPlay(t, &agent.Task{Tools: bare(effects)})
	p.says(ready, messageStart, asked("r1", "", "Bash", `{}`), `{"type":"control_cancel_request","request_id":"r1"}`, usedTool, messageStop)
	p.heard(`"subtype":"interrupt"`)
	if p.dialog.result.Intent == nil {
		t.Error("the program no longer wants an answer: want the intent all the same")
	}
}

func TestStructuredAnswers(t *testing.T) {
	task := &agent.Task{Output: &model.OutputFormat{Mode: model.JSONSchema, Schema: json.RawMessage(`{"type":"object"}`)}}
	p := newPlay(t, task)
	p.says(`{"type":"system","subtype":"init","tools":["StructuredOutput"]}`, messageStart)
	p.says(called("c1", "StructuredOutput", `{"n": 9007199254740993}`)...)
	p.says(usedTool, messageStop)
	p.heard()
	if r := p.dialog.result; r.Text != `{"n": 9007199254740993}` || r.Stop != model.StopEnd || !p.dialog.over {
		t.Errorf("an answer as data: %+v, want it as it was written", r)
	}
	for _, o := range []*model.OutputFormat{nil, {Mode: model.JSONSchema, Schema: json.RawMessage(`{"type":"array"}`)}, {Mode: model.JSONSchema}} {
		if got := schemaOf(o); got != nil {
			t.Errorf("schemaOf(%+v) = %s, want none", o, got)
		}
	}
}

func TestNoResultInTime(t *testing.T) {
	p := newPlay(t, &agent.Task{Tools: bare(effects)})
	p.says(ready, messageStart, asked("r1", "", "Bash", `{}`), usedTool, messageStop)
	if err := p.dialog.conclude(nil); err != nil {
		t.Fatal(err)
	}
	if r := p.dialog.result; r.Intent == nil || r.CostUSD != nil || r.Usage.Input != 10 || r.Usage.Output != 5 {
		t.Errorf("no result line: %+v, want the intent, the usage and no cost", r)
	}
}
