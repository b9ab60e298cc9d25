package simserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/served"
	"github.com/maker-mdap/maker/model/sim"
)

const agentScript = `
- match: 'Add (\d+) and (\d+)'
  after: 0
  answers: [{text: 'I use a tool.', tool_calls: [{name: add, input: {a: '${1}', b: '${2}'}}, {name: log, input: {text: '<ü𝄞>'}}]}]
- match: Add
  match_result: '^(\d+)\nlogged$'
  answers: [{text: 'It is ${result.1}.'}]
- match: Just call
  answers: [{tool_calls: [{name: unheard_of}]}]
`

// newAgent starts a server that follows agentScript. The model is its twin.
func newAgent(t *testing.T) (*httptest.Server, *sim.Model) {
	t.Helper()
	settings := sim.Default()
	settings.Script = filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(settings.Script, []byte(agentScript), 0o600); err != nil {
		t.Fatal(err)
	}
	_, ts := newServer(t, Options{Default: settings})
	m, err := sim.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	return ts, m
}

// ask posts a request and expects an answer.
func ask(t *testing.T, ts *httptest.Server, path, body string) string {
	t.Helper()
	status, _, answer, err := post(t, ts, path, body)
	if status != 200 || err != nil {
		t.Fatalf("POST %s %s = %d %s, %v, want 200", path, body, status, answer, err)
	}
	return answer
}

const (
	openAITools    = `, "tools": [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}}]`
	anthropicTools = `, "tools": [{"name": "add", "description": "Adds.", "input_schema": {"type": "object"}}, {"type": "web_search_20250305", "name": "web_search"}]`
)

// TestTools plays a conversation with two calls in both formats, and in process.
func TestTools(t *testing.T) {
	const prompt = "Add 2 and 40."
	ts, m := newAgent(t)
	here := &model.Request{
		Messages: []model.Message{{Role: model.User, Text: prompt}},
		Tools:    []model.Tool{{Name: "add", Description: "Adds.", Schema: json.RawMessage(`{"type": "object"}`)}},
	}
	first := m.Answer(here)
	ids := []string{first.ToolCalls[0].ID, first.ToolCalls[1].ID}
	here.Messages = append(here.Messages, model.Message{Role: model.Assistant, Text: first.Text, ToolCalls: first.ToolCalls},
		model.Message{Role: model.User, ToolResults: []model.ToolResult{{ID: ids[0], Text: "42"}, {ID: ids[1], Text: "logged"}}})
	second := m.Answer(here)
	if second.Text != "It is 42." {
		t.Fatalf("in process the answer is %q, want 42", second.Text)
	}

	body := ask(t, ts, openAIPath, request("any", prompt, openAITools))
	want(t, body, at("choices", 0, "finish_reason"), "tool_calls", at("choices", 0, "message", "content"), "I use a tool.",
		at("choices", 0, "message", "tool_calls", 0, "id"), ids[0], at("choices", 0, "message", "tool_calls", 0, "type"), "function",
		at("choices", 0, "message", "tool_calls", 0, "function", "name"), "add", at("choices", 0, "message", "tool_calls", 0, "function", "arguments"), `{"a":"2","b":"40"}`,
		at("choices", 0, "message", "tool_calls", 1, "id"), ids[1], at("choices", 0, "message", "tool_calls", 1, "function", "arguments"), `{"text":"<ü𝄞>"}`,
		at("usage", "prompt_tokens"), first.Usage.Input, at("usage", "completion_tokens"), first.Usage.Output)
	calls := string(encode(lookup(t, body, "choices", 0, "message", "tool_calls")))
	body = ask(t, ts, openAIPath, fmt.Sprintf(`{"model": "any", "messages": [{"role": "user", "content": %q}, {"role": "assistant", "content": null, "tool_calls": %s},
		{"role": "tool", "tool_call_id": %q, "content": "42"}, {"role": "tool", "tool_call_id": %q, "content": [{"type": "text", "text": "logged"}]},
		{"role": "system", "content": "Add nothing."}]}`, prompt, calls, ids[0], ids[1]))
	want(t, body, at("choices", 0, "finish_reason"), "stop", at("choices", 0, "message", "content"), second.Text, at("choices", 0, "message", "tool_calls"), nil)

	ts, _ = newAgent(t) // whose first sample this is
	body = ask(t, ts, anthropicPath, request("any", prompt, anthropicTools))
	want(t, body, at("stop_reason"), "tool_use", at("content", 0, "text"), "I use a tool.",
		at("content", 1, "type"), "tool_use", at("content", 1, "id"), ids[0], at("content", 1, "name"), "add", at("content", 1, "input", "b"), "40",
		at("content", 2, "id"), ids[1], at("content", 2, "input", "text"), "<ü𝄞>", at("content", 3), nil,
		at("usage", "output_tokens"), first.Usage.Output)
	content := string(encode(lookup(t, body, "content")))
	body = ask(t, ts, anthropicPath, fmt.Sprintf(`{"model": "any", "max_tokens": 99, "messages": [{"role": "user", "content": %q}, {"role": "assistant", "content": %s},
		{"role": "user", "content": [{"type": "tool_result", "tool_use_id": %q, "content": "42"}, {"type": "tool_result", "tool_use_id": %q, "content": [{"type": "text", "text": "logged"}], "is_error": true}]},
		{"role": "system", "content": "Add nothing."}]}`, prompt, content, ids[0], ids[1]))
	want(t, body, at("stop_reason"), "end_turn", at("content", 0, "text"), second.Text, at("content", 1), nil)

	// A call without text, of a tool that nobody offered.
	body = ask(t, ts, openAIPath, request("any", "Just call", ""))
	want(t, body, at("choices", 0, "message", "content"), nil, at("choices", 0, "message", "tool_calls", 0, "function", "arguments"), "{}")
	body = ask(t, ts, anthropicPath, request("any", "Just call", ""))
	want(t, body, at("content", 0, "type"), "tool_use", at("content", 0, "input"), "map[]", at("content", 1), nil)
}

// TestDecodedTurns checks that both formats of a conversation are one to the
// simulated model.
func TestDecodedTurns(t *testing.T) {
	want := []model.Message{
		{Role: model.User, Text: "a"},
		{Role: model.Assistant, Text: "b", ToolCalls: []model.ToolCall{{ID: "1", Name: "f", Input: json.RawMessage(`{"x":1}`)}, {ID: "2", Name: "g", Input: json.RawMessage(`{}`)}}},
		{Role: model.User, Text: "e", ToolResults: []model.ToolResult{{ID: "1", Text: "c\nd"}, {ID: "2"}}},
		{Role: model.User, Text: "f"},
	}
	for format, body := range map[served.Format]string{
		served.Chat{}: `{"model": "x", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"},
			{"role": "assistant", "content": "b", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}, {"id": "2", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "1", "content": "c\nd"}, {"role": "tool", "tool_call_id": "2", "content": ""}, {"role": "user", "content": "e"}, {"role": "user", "content": "f"}, {"role": "system", "content": "t"}]}`,
		served.Messages{}: `{"model": "x", "max_tokens": 1, "system": "s", "messages": [{"role": "user", "content": "a"},
			{"role": "assistant", "content": [{"type": "thinking", "thinking": "?"}, {"type": "text", "text": "b"}, {"type": "tool_use", "id": "1", "name": "f", "input": {"x":1}}, {"type": "tool_use", "id": "2", "name": "g", "input": {}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "c"}, {"type": "image"}, {"type": "text", "text": "d"}]}, {"type": "tool_result", "tool_use_id": "2"}, {"type": "text", "text": "e"}]},
			{"role": "user", "content": "f"}, {"role": "system", "content": "t"}]}`,
	} {
		c, f := format.Decode([]byte(body))
		if f != nil {
			t.Errorf("%T: %+v", format, f)
			continue
		}
		if diff := cmp.Diff(want, c.Request.Messages); diff != "" || c.Request.System != "s\nt" {
			t.Errorf("%T: system %q, messages -want +got\n%s", format, c.Request.System, diff)
		}
	}
	broken, f := served.Chat{}.Decode([]byte(`{"model": "x", "messages": [{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"x"}}]}, {"role": "tool", "tool_call_id": "1", "content": ""}]}`))
	if f != nil || string(broken.Request.Messages[0].ToolCalls[0].Input) != `"{\"x"` {
		t.Errorf("arguments that are not JSON: %+v, %+v, want them as a string", broken, f)
	}
}

func TestToolStreams(t *testing.T) {
	ts, _ := newAgent(t)
	body := ask(t, ts, openAIPath, request("any", "Add 2 and 40.", openAITools+`, "stream": true`))
	var arguments [2]string
	for frame := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		data := strings.TrimPrefix(frame, "data: ")
		if data == "[DONE]" || lookup(t, data, "choices", 0, "delta", "tool_calls") == nil {
			continue
		}
		call := at("choices", 0, "delta", "tool_calls", 0)
		index := int(lookup(t, data, append(call, "index")...).(float64))
		text := lookup(t, data, append(call, "function", "arguments")...).(string)
		// The name and the id come with the first piece and with no other.
		first := arguments[index] == "" && text == ""
		if has := lookup(t, data, append(call, "id")...) != nil && lookup(t, data, append(call, "function", "name")...) != nil; has != first {
			t.Errorf("chunk %s has a name and an id: %t, want %t", data, has, first)
		}
		arguments[index] += text
	}
	if wanted := [2]string{`{"a":"2","b":"40"}`, `{"text":"<ü𝄞>"}`}; arguments != wanted {
		t.Errorf("streamed arguments %q, want %q", arguments, wanted)
	}
	if !strings.Contains(body, `"delta":{},"finish_reason":"tool_calls"`) {
		t.Errorf("stream %s does not end for tool_calls", body)
	}

	body = ask(t, ts, anthropicPath, request("any", "Add 2 and 40.", anthropicTools+`, "stream": true`))
	inputs := map[any]string{}
	for frame := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		_, data, _ := strings.Cut(frame, "\ndata: ")
		index := lookup(t, data, "index")
		switch lookup(t, data, "type") {
		case "content_block_start":
			if index != 0.0 {
				want(t, data, at("content_block", "type"), "tool_use", at("content_block", "input"), "map[]")
			}
		case "content_block_delta":
			if index != 0.0 {
				want(t, data, at("delta", "type"), "input_json_delta")
				inputs[index] += lookup(t, data, "delta", "partial_json").(string)
			}
		case "message_delta":
			want(t, data, at("delta", "stop_reason"), "tool_use")
		}
	}
	if diff := cmp.Diff(map[any]string{1.0: `{"a":"2","b":"40"}`, 2.0: `{"text":"<ü𝄞>"}`}, inputs); diff != "" {
		t.Errorf("streamed inputs: -want +got\n%s", diff)
	}
}

func TestStructuredOutput(t *testing.T) {
	_, ts := newServer(t, Options{})
	const prompt = "Answer as JSON.\nSort: [2, 1]"
	const schema = `{"type": "object", "properties": {"answer": {}}, "required": ["answer"], "additionalProperties": false}`
	for _, more := range []string{
		`, "response_format": {"type": "json_object"}`,
		`, "response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": ` + schema + `}}`,
	} {
		want(t, ask(t, ts, openAIPath, request(perfect, prompt, more)), at("choices", 0, "message", "content"), `{"answer": [1, 2]}`)
	}
	for _, more := range []string{
		`, "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": ` + schema + `}}`,
		`, "output_format": {"type": "json_schema", "schema": ` + schema + `}`,
	} {
		want(t, ask(t, ts, anthropicPath, request(perfect, prompt, more)), at("content", 0, "text"), `{"answer": [1, 2]}`)
	}
	if text := lookup(t, ask(t, ts, openAIPath, request(perfect, prompt, `, "response_format": {"type": "text"}`)), "choices", 0, "message", "content").(string); !strings.HasSuffix(text, "answer = [1, 2]") {
		t.Errorf("response_format text: %q, want prose", text)
	}
}

func TestRefuse(t *testing.T) {
	s, ts := newServer(t, Options{})
	const all = "sim/default?refuse=temperature+max_tokens+schema+object+n"
	const schema = `{"type": "object", "additionalProperties": false}`
	body := func(more string) string {
		return `{"model": "` + all + `", "messages": [{"role": "user", "content": "JSON"}]` + more + `}`
	}
	for _, test := range []struct {
		path, more           string
		message, param, code any // nil: the request is fine
	}{
		{openAIPath, `, "temperature": 0.1`, "Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported.", "temperature", "unsupported_value"},
		{openAIPath, `, "temperature": 1`, nil, nil, nil},
		{openAIPath, `, "max_tokens": 5`, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter"},
		{openAIPath, `, "max_completion_tokens": 5`, nil, nil, nil},
		{openAIPath, `, "n": 2`, "Unsupported value: 'n' does not support 2 with this model. Only the default (1) value is supported.", "n", "unsupported_value"},
		{openAIPath, `, "n": 1`, nil, nil, nil},
		{openAIPath, `, "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": ` + schema + `}}`,
			"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs", nil, nil},
		{openAIPath, `, "response_format": {"type": "json_object"}`, "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.", "response_format", nil},
		{anthropicPath, `, "max_tokens": 5, "temperature": 0`, "`temperature` is deprecated for this model.", nil, nil},
		{anthropicPath, `, "max_tokens": 5, "temperature": 1.0`, nil, nil, nil},
		{anthropicPath, `, "max_tokens": 5, "output_config": {"format": {"type": "json_schema", "schema": ` + schema + `}}`, "output_config.format: Extra inputs are not permitted", nil, nil},
		{anthropicPath, `, "max_tokens": 5, "output_format": {"type": "json_schema", "schema": ` + schema + `}`, "output_format: Extra inputs are not permitted", nil, nil},
	} {
		status, _, answer, err := post(t, ts, test.path, body(test.more))
		if refused := status == 400; err != nil || refused != (test.message != nil) {
			t.Errorf("%s%s: %d %s, %v", test.path, test.more, status, answer, err)
			continue
		}
		want(t, answer, at("error", "message"), test.message)
		if test.message != nil {
			want(t, answer, at("error", "type"), "invalid_request_error", at("error", "param"), test.param, at("error", "code"), test.code)
		}
	}
	if st := s.Stats(); st.Rejected != 8 || st.Answers != 4 {
		t.Errorf("stats %+v, want 8 rejected and 4 answers", st)
	}
}

func TestCacheUsage(t *testing.T) {
	_, ts := newServer(t, Options{})
	system := strings.Repeat("word ", 1000) // 1250 tokens
	chat := `{"model": "sim/default?cache=on", "messages": [{"role": "system", "content": "` + system + `"}, {"role": "user", "content": "Sort: [2, 1]"}]}`
	for _, cached := range []int{0, 1152, 1152} { // nine blocks of 128
		want(t, ask(t, ts, openAIPath, chat), at("usage", "prompt_tokens"), 1253, at("usage", "prompt_tokens_details", "cached_tokens"), cached)
	}
	marked := func(model, mark string) string {
		return `{"model": "` + model + `", "max_tokens": 99, "system": [{"type": "text", "text": "` + system + `"` + mark + `}], "messages": [{"role": "user", "content": "Sort: [2, 1]"}]}`
	}
	const mark = `, "cache_control": {"type": "ephemeral"}`
	for _, test := range []struct {
		body                 string
		input, written, read int
	}{
		{marked("sim/default?cache=on&seed=1", ""), 1253, 0, 0},
		{marked("sim/default?cache=on&seed=1", mark), 3, 1250, 0},
		{marked("sim/default?cache=on&seed=1", mark), 3, 0, 1250},
		{marked("sim/default", mark), 1253, 0, 0},
	} {
		want(t, ask(t, ts, anthropicPath, test.body), at("usage", "input_tokens"), test.input, at("usage", "cache_creation_input_tokens"), test.written,
			at("usage", "cache_creation", "ephemeral_5m_input_tokens"), test.written, at("usage", "cache_read_input_tokens"), test.read)
	}
	streamed := ask(t, ts, anthropicPath, strings.TrimSuffix(marked("sim/default?cache=on&seed=1", mark), "}")+`, "stream": true}`)
	if n := strings.Count(streamed, `"cache_read_input_tokens":1250`); n != 2 {
		t.Errorf("the stream says %d times what it read from the cache, want at the start and at the end", n)
	}
}

func TestCountTokens(t *testing.T) {
	s, err := Handler(Options{RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	const path = anthropicPath + "/count_tokens"
	for _, test := range []struct {
		key, body string
		status    int
		want      []any
	}{
		{"k", `{"model": "x", "system": "12345678", "messages": [{"role": "user", "content": "1234"}]` + anthropicTools + `}`, 200, at("input_tokens")},
		{"k", `{"model": "x", "messages": []}`, 400, at("error", "type")},
		{"", `{"model": "x", "messages": [{"role": "user", "content": "1234"}]}`, 401, at("error", "type")},
	} {
		r := httptest.NewRequest("POST", path+"?beta=true", strings.NewReader(test.body))
		r.Header.Set("Authorization", "Bearer "+test.key)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != test.status || lookup(t, w.Body.String(), test.want...) == nil {
			t.Errorf("POST %s %s = %d %s, want %d and %v", path, test.body, w.Code, w.Body, test.status, test.want)
		}
		if test.status == 200 {
			want(t, w.Body.String(), at("input_tokens"), 12) // 12 bytes of text and 36 of tools
		}
	}
	if st := s.Stats(); st.Requests != 0 || st.Answers != 0 {
		t.Errorf("stats %+v, want no questions", st)
	}
}

// FuzzAnswer decodes requests and delivers an answer to those that are sound:
// whatever is written must be JSON.
func FuzzAnswer(f *testing.F) {
	for _, body := range decodeSeeds {
		f.Add([]byte(body))
	}
	settings := sim.Default()
	settings.Script = filepath.Join(f.TempDir(), "script.yaml")
	if err := os.WriteFile(settings.Script, []byte(agentScript), 0o600); err != nil {
		f.Fatal(err)
	}
	m, err := sim.New(settings)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, format := range []served.Format{served.Chat{}, served.Messages{}, served.Messages{Counting: true}} {
			c, fail := format.Decode(body)
			if (c == nil) == (fail == nil) {
				t.Fatalf("%T.Decode(%q) = %v, %v, want one of them", format, body, c, fail)
			}
			if fail != nil {
				if _, out := format.Fail(map[string][]string{}, fail); !json.Valid(out) {
					t.Errorf("error %s is not JSON", out)
				}
				continue
			}
			for p := sim.Temperature; p <= sim.Choices; p <<= 1 {
				if asks(c, format).Has(p) && refuse(c, format, p).Message == "" {
					t.Errorf("%T: refusal of %s has no message", format, p)
				}
			}
			answers := []*model.Response{m.Answer(&c.Request)}
			if out := format.Body(served.Envelope{ID: "1"}, c, answers); !json.Valid(out) {
				t.Errorf("answer %s is not JSON", out)
			}
			for _, frame := range served.Frames(format, served.Envelope{ID: "1"}, c, answers) {
				_, data, _ := bytes.Cut(frame, []byte("data: "))
				if data = bytes.TrimSpace(data); !json.Valid(data) && string(data) != "[DONE]" {
					t.Errorf("frame %s is not JSON", frame)
				}
			}
		}
	})
}

// decodeSeeds are requests with something of everything.
var decodeSeeds = []string{
	request("x", "Sort: [1]", ""),
	request("x", "Add 1 and 2 as JSON", openAITools+`, "n": 2, "stream": true, "stream_options": {"include_usage": true}, "temperature": 0, "response_format": {"type": "json_object"}`),
	request("x", "Add 1 and 2", anthropicTools+`, "temperature": 0.5, "output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "additionalProperties": false}}}`),
	`{"model": "x", "max_tokens": 1, "system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}], "messages": [{"role": "user", "content": [{"type": "text", "text": "b"}]}, {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "c"}], "is_error": true}]}, {"role": "system", "content": "d"}]}`,
	`{"model": "x", "max_completion_tokens": 3, "messages": [{"role": "developer", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "c"}], "response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false}}}}`,
}
