package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// TestRefusals has servers refuse what the shared suite does not know, in words
// that real ones use.
func TestRefusals(t *testing.T) {
	object := func(message, param string) string {
		return `{"error": {"message": "` + message + `", "type": "invalid_request_error", "param": ` + param + `, "code": null}}`
	}
	for _, test := range []struct {
		name     string
		provider string
		status   int
		refusal  string
		refuses  string // requests with this in them
		requests int
		warning  string // "" if the call fails
	}{
		{"old name", "compat", 400, object("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", `"max_tokens"`),
			`"max_tokens"`, 2, "limited by max_completion_tokens"},
		{"new name", openAI, 400, `{"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 800}]", "type": "BadRequestError", "param": null, "code": 400}`,
			`"max_completion_tokens"`, 2, "limited by max_tokens"},
		{"either name", openAI, 400, object("max_tokens and max_completion_tokens are not supported", "null"), `"max_`, 2, ""},
		{"too many tokens", "compat", 400, object("max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.", `"max_tokens"`),
			`"max_tokens"`, 1, ""},
		{"temperature", openAI, 400, object("Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.", `"temperature"`),
			`"temperature"`, 2, "temperature is left out"},
		{"temperature, by a gateway", "compat", 400, `{"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "{\"message\":\"` + "`temperature`" + ` is deprecated for this model.\"}"}}}`,
			`"temperature"`, 2, "temperature is left out"},
		{"temperature, under success", "compat", 200, `{"error": {"message": "temperature is deprecated", "code": 400}}`,
			`"temperature"`, 2, "temperature is left out"},
		{"schema", "compat", 400, object("The parameter `response_format.type` specified in the request are not valid: invalid value: `json_schema`, supported values are: `json_object` and `text`.", `"response_format.type"`),
			`"json_schema"`, 2, "any JSON object is asked for"},
		{"schema, not strict", openAI, 400, object("Invalid schema for response_format 'x': In context=(), 'additionalProperties' is required to be supplied and to be false.", `"response_format"`),
			`"strict"`, 3, "not strict"},
		{"schema, with bounds", openAI, 400, object("Invalid schema for response_format 'x': In context=('properties', 'a'), 'minimum' is not permitted.", `"response_format"`),
			`"minimum"`, 2, "no bounds from now on"},
		{"schema, too large for a grammar", "compat", 400, object("failed to parse grammar", "null"),
			`"minimum"`, 2, "no bounds from now on"},
		{"no format at all", "compat", 400, `{"code": "Client specified an invalid argument", "error": "The response_format parameter is unsupported at the moment. Leave it unset."}`,
			`"response_format"`, 3, "structured output is not asked for"},
		{"no format, as a failure of the server", "compat", 500, object(`response_format type must be one of \"text\" or \"json_object\", but got: json_schema`, "null"),
			`"json_schema"`, 2, "any JSON object is asked for"},
		{"no format, without a word", "compat", 400, object("Extra inputs are not permitted", "null"),
			`"response_format"`, 2, "structured output is not asked for"},
		{"several at once", "compat", 422, `{"title": "Unprocessable Entity", "detail": "body -> temperature\n  Extra inputs are not permitted (type=extra_forbidden)\nbody -> max_tokens\n  Extra inputs are not permitted"}`,
			`"temperature"`, 2, "temperature is left out"},
		{"cache", openRouter, 400, object("messages.0.content.0.cache_control: Extra inputs are not permitted", "null"),
			`"cache_control"`, 2, "cache_control is left out"},
		{"something else", openAI, 400, object("Invalid 'messages': empty array.", `"messages"`), `"messages"`, 1, ""},
		{"no refusal", openAI, 500, object("temperature is not supported", `"temperature"`), `"temperature"`, 1, ""},
	} {
		requests := 0
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), test.refuses) {
				w.WriteHeader(test.status)
				io.WriteString(w, test.refusal)
				return
			}
			io.WriteString(w, `{"choices": [{"message": {"content": "hi"}}]}`)
		}))
		var warnings []string
		c, err := New(Options{BaseURL: ts.URL, Provider: test.provider, Model: "m", APIKey: key, Warn: func(s string) { warnings = append(warnings, s) }})
		if err != nil {
			t.Fatal(err)
		}
		warm := 0.5
		req := &model.Request{
			System: "s", Messages: []model.Message{{Role: model.User, Text: "a"}}, Temperature: &warm, MaxOutput: 10, CachePrefix: true,
			Output: &model.OutputFormat{Mode: model.JSONSchema, Schema: []byte(`{"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}}}`)},
		}
		_, err = c.Generate(t.Context(), req)
		all := strings.Join(warnings, "\n")
		switch {
		case requests != test.requests:
			t.Errorf("%s: %d requests, want %d (%v)", test.name, requests, test.requests, err)
		case test.warning == "" && (err == nil || len(warnings) > 0):
			t.Errorf("%s: Generate fails with %v and warnings %q, want an error and none", test.name, err, warnings)
		case test.warning != "" && (err != nil || !strings.Contains(all, test.warning)):
			t.Errorf("%s: Generate fails with %v and warnings %q, want %q", test.name, err, warnings, test.warning)
		}
		if test.warning != "" {
			before, told := requests, len(warnings)
			if _, err = c.Generate(t.Context(), req); err != nil || requests != before+1 || len(warnings) != told {
				t.Errorf("%s: the next call makes %d requests and %d warnings, %v, want one and none", test.name, requests-before, len(warnings)-told, err)
			}
		}
		c.CloseIdle()
		ts.Close()
	}
}

// TestOpenSchemas: a schema that cannot be strict does not make others less strict.
func TestOpenSchemas(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object"}`: true, // the server says if it cannot be
		`{"type":"object","properties":{},"additionalProperties":true}`: false,
	} {
		got := format(&model.OutputFormat{Mode: model.JSONSchema, Schema: []byte(schema)}, strictSchema)
		if got.JSONSchema.Strict != want {
			t.Errorf("format(%s) is strict: %t, want %t", schema, got.JSONSchema.Strict, want)
		}
	}
}

func TestGenerateN(t *testing.T) {
	s, base := newSim(t)
	c := newClient(t, base, "sim/default?p=1")
	for _, n := range []int{-1, 0, 1, 2, 7} {
		before := s.Stats().Requests
		list, err := c.GenerateN(t.Context(), ask("Compute: 20 + 22"), n)
		if err != nil || len(list) != max(n, 1) || s.Stats().Requests != before+1 {
			t.Fatalf("GenerateN(%d) gives %d answers with %d requests, %v", n, len(list), s.Stats().Requests-before, err)
		}
		for i, r := range list {
			want := usage.Tokens{Output: int64(len(r.Text)+3) / 4}
			if i == 0 {
				want.Input = 7
			}
			// The answers are as long as each other, but for a few bytes.
			if !strings.HasSuffix(r.Text, "answer = 42") || r.Usage.Input != want.Input || max(r.Usage.Output-want.Output, want.Output-r.Usage.Output) > 3 {
				t.Errorf("GenerateN(%d)[%d] = %+v, want 42 and about %+v", n, i, r, want)
			}
		}
	}
}

// TestFewerChoices asks servers for more answers than they give.
func TestFewerChoices(t *testing.T) {
	for _, test := range []struct {
		name    string
		status  int
		body    string // the answer to a request for several
		got     []int  // answers to three requests for 5
		asked   []int  // what the server was asked for
		warning string
	}{
		{"all", 200, choices(5), []int{5, 5, 5}, []int{5, 5, 5}, ""},
		{"one", 200, choices(1), []int{1, 1, 1}, []int{5, 0, 0}, "at most 1 of several answers"},
		{"three", 200, choices(3), []int{3, 3, 3}, []int{5, 3, 3}, "at most 3 of several answers"},
		{"refused", 400, `{"error": {"message": "'n' : number must be at most 1", "type": "invalid_request_error"}}`, []int{1, 1, 1}, []int{5, 0, 0, 0}, "must be at most 1"},
		{"refused by name", 422, `{"error": {"message": "not supported", "param": "n"}}`, []int{1, 1, 1}, []int{5, 0, 0, 0}, "at most 1 of several answers"},
	} {
		var asked []int
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var req struct {
				N int `json:"n"`
			}
			if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
				t.Error(err)
			}
			asked = append(asked, req.N)
			if req.N > 1 {
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			} else {
				io.WriteString(w, choices(1))
			}
		}))
		var warnings []string
		c, err := New(Options{BaseURL: ts.URL, Model: "m", Warn: func(s string) { warnings = append(warnings, s) }})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for range 3 {
			list, err := c.GenerateN(t.Context(), ask("x"), 5)
			if err != nil {
				t.Errorf("%s: GenerateN fails with %v", test.name, err)
			}
			got = append(got, len(list))
		}
		c.CloseIdle()
		ts.Close()
		if diff := cmp.Diff([][]int{test.got, test.asked}, [][]int{got, asked}); diff != "" {
			t.Errorf("%s: answers and requests (-want +got):\n%s", test.name, diff)
		}
		if text := strings.Join(warnings, "|"); len(warnings) > 1 || (text == "") != (test.warning == "") || !strings.Contains(text, test.warning) {
			t.Errorf("%s: warnings %q, want %q", test.name, warnings, test.warning)
		}
	}
}

func choices(n int) string {
	return `{"choices": [` + strings.TrimSuffix(strings.Repeat(`{"message": {"content": "hi"}, "finish_reason": "stop"},`, n), ",") + `]}`
}

// TestSpread divides what several answers used together.
func TestSpread(t *testing.T) {
	const body = `{"model": "m", "choices": [
		{"message": {"content": "aaaaaaaaa"}, "finish_reason": "stop"},
		{"message": {"content": "b"}, "finish_reason": "error"},
		{"message": {"content": "cccc"}, "finish_reason": "length"},
		{"message": {"content": null, "tool_calls": [{"id": "x", "function": {"name": "n", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}],
		"usage": {"prompt_tokens": 100, "completion_tokens": 101, "prompt_tokens_details": {"cached_tokens": 30}, "completion_tokens_details": {"reasoning_tokens": 40}, "cost": 0.5}}`
	c, err := New(Options{Model: "m", Transport: stub{200, []byte(body)}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.GenerateN(t.Context(), ask("x"), 4)
	if err != nil {
		t.Fatal(err)
	}
	// Sizes 9, 4 and 3, and one more for each: 10, 5 and 4 of 19 parts. Of 61
	// visible tokens these are 32.1, 16.05 and 12.8, of 40 hidden ones 21.05,
	// 10.5 and 8.4; the first takes what is left over.
	half, nothing := 0.5, 0.0
	want := []*model.Response{
		{Text: "aaaaaaaaa", Stop: model.StopEnd, Model: "m", CostUSD: &half, Usage: usage.Tokens{Input: 70, CacheRead: 30, Output: 33, Reasoning: 22}},
		{Text: "cccc", Stop: model.StopLength, Model: "m", CostUSD: &nothing, Usage: usage.Tokens{Output: 16, Reasoning: 10}},
		{Stop: model.StopToolUse, Model: "m", CostUSD: &nothing, Usage: usage.Tokens{Output: 12, Reasoning: 8},
			ToolCalls: []model.ToolCall{{ID: "x", Name: "n", Input: json.RawMessage("{}")}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GenerateN (-want +got):\n%s", diff)
	}
}
