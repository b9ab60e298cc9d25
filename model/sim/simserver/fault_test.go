package simserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model/sim"
)

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		fault            string
		path             string
		status           int
		kind, code       any
		retryAfter, inMs string
	}{
		{"f429=1&retry_after=1500ms", openAIPath, 429, "requests", "rate_limit_exceeded", "2", "1500"},
		{"f429=1&retry_after=0s", openAIPath, 429, "requests", "rate_limit_exceeded", "0", "0"},
		{"f429=1", openAIPath, 429, "requests", "rate_limit_exceeded", "", ""},
		{"f529=1&retry_after=2s", openAIPath, 503, "service_unavailable_error", nil, "2", ""},
		{"f500=1&retry_after=2s", openAIPath, 500, "server_error", nil, "", ""},
		{"f429=1&retry_after=2s", anthropicPath, 429, "rate_limit_error", nil, "2", ""},
		{"f529=1&retry_after=0s", anthropicPath, 529, "overloaded_error", nil, "0", ""},
		{"f529=1", anthropicPath, 529, "overloaded_error", nil, "", ""},
		{"f500=1", anthropicPath, 500, "api_error", nil, "", ""},
	} {
		for _, more := range []string{"", `, "stream": true`} {
			s, ts := newServer(t, Options{})
			status, header, body, err := post(t, ts, test.path, request("sim/default?"+test.fault, "Sort: [1]", more))
			if err != nil || status != test.status || header.Get("Retry-After") != test.retryAfter || header.Get("Retry-After-Ms") != test.inMs {
				t.Errorf("%s %s: status %d, headers %v, error %v", test.path, test.fault, status, header, err)
			}
			want(t, body, at("error", "type"), test.kind, at("error", "code"), test.code)
			if test.path == anthropicPath {
				want(t, body, at("type"), "error", at("request_id"), header.Get("Request-Id"))
			}
			fault, _, _ := strings.Cut(test.fault, "=")
			if st := s.Stats(); st.Faults[sim.Fault(fault)] != 1 || st.Answers != 0 || st.Requests != 1 || st.Rejected != 0 {
				t.Errorf("%s: stats %+v", test.fault, st)
			}
		}
	}
}

func TestBrokenAnswers(t *testing.T) {
	_, ts := newServer(t, Options{})
	for _, path := range []string{openAIPath, anthropicPath} {
		status, _, body, err := post(t, ts, path, request("sim/default?cut=1", "Sort: [1]", ""))
		if status != 200 || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(body, "{") || json.Valid([]byte(body)) {
			t.Errorf("%s cut: status %d, error %v, body %q, want half a body", path, status, err, body)
		}
		status, _, body, err = post(t, ts, path, request("sim/default?cut=1", "Sort: [1]", `, "stream": true`))
		if status != 200 || err == nil || !strings.Contains(body, "data: {") || strings.Contains(body, "DONE") || strings.Contains(body, "message_stop") {
			t.Errorf("%s cut stream: status %d, error %v, body %q, want half a stream", path, status, err, body)
		}
		status, _, body, err = post(t, ts, path, request("sim/default?garbage=1", "Sort: [1]", ""))
		if status != 200 || err != nil || json.Valid([]byte(body)) {
			t.Errorf("%s garbage: status %d, error %v, body %q, want a 200 that is not JSON", path, status, err, body)
		}
	}
}

// TestCancel leaves while the server waits, and looks whether it notices.
func TestCancel(t *testing.T) {
	for _, name := range []string{"sim/default?hang=1", "sim/default?latency=1h"} {
		s, ts := newServer(t, Options{})
		arrived, served := make(chan struct{}), make(chan struct{})
		ts.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(served)
			close(arrived)
			s.ServeHTTP(w, r)
		})
		conn, err := net.Dial("tcp", ts.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body := request(name, "Sort: [1]", "")
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", openAIPath, len(body), body)
		<-arrived
		conn.Close()
		<-served
		if st := s.Stats(); st.Cancelled != 1 || st.InFlight != 0 || st.Answers > 1 {
			t.Errorf("%s: stats after the client left: %+v", name, st)
		}
	}
}

// TestStop ends the base context of a server with a request waiting.
func TestStop(t *testing.T) {
	s, err := Handler(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	arrived := make(chan struct{})
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		s.ServeHTTP(w, r)
	}))
	ts.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	ts.Start()
	done := make(chan error)
	go func() {
		_, err := ts.Client().Post(ts.URL+openAIPath, "", strings.NewReader(request("sim/default?hang=1", "Sort: [1]", "")))
		done <- err
	}()
	<-arrived
	stop()
	if err := <-done; err == nil {
		t.Error("a hanging request got an answer when the server stopped, want an error")
	}
	ts.Close()
}

func TestBadRequests(t *testing.T) {
	s, ts := newServer(t, Options{})
	n := 0
	for _, test := range []struct {
		body    string
		openAI  string // part of the message; "" if the request is fine
		anthrop string
	}{
		{`{"model"`, "not JSON", "not JSON"},
		{``, "not JSON", "not JSON"},
		{`[]`, "wrong type", "wrong type"},
		{`{"max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}`, "model is missing", "model is missing"},
		{`{"model": "x", "max_tokens": 1}`, "at least one message", "at least one message"},
		{`{"model": "x", "max_tokens": 1, "messages": []}`, "at least one message", "at least one message"},
		{`{"model": "x", "max_tokens": 1, "messages": "x"}`, "messages has the wrong type", "messages has the wrong type"},
		{`{"model": 5, "max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}`, "model has the wrong type", "model has the wrong type"},
		{`{"model": "x", "max_tokens": 1, "messages": [{"role": "user", "content": 5}]}`, "content must be", "content must be"},
		{`{"model": "x", "max_tokens": 1, "messages": [{"role": "user", "content": [{"text": "x"}]}]}`, "content[0] has no type", "content[0] has no type"},
		{`{"model": "x", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "text"}]}]}`, "content[0] has no text", "content[0] has no text"},
		{`{"model": "x", "max_tokens": 1, "messages": [{"role": "user", "content": ["x"]}]}`, "wrong type", "wrong type"},
		{`{"model": "x", "max_tokens": 1, "messages": [{"role": "bard", "content": "x"}]}`, `"bard" is not a role`, `"bard" is not a role`},
		{`{"model": "x", "max_tokens": 1, "temperature": "hot", "messages": [{"role": "user", "content": "x"}]}`, "temperature has the wrong type", "temperature has the wrong type"},
		{`{"model": "x", "max_tokens": 1, "temperature": 3, "messages": [{"role": "user", "content": "x"}]}`, "temperature must be from 0 to 2", "temperature must be from 0 to 1"},
		{`{"model": "x", "max_tokens": 0, "messages": [{"role": "user", "content": "x"}]}`, "max_tokens must be at least 1", "max_tokens"},
		{`{"model": "x", "messages": [{"role": "user", "content": "x"}]}`, "", "max_tokens is missing"},
		{`{"model": "x", "max_tokens": 1, "n": 0, "messages": [{"role": "user", "content": "x"}]}`, "n must be from 1", ""},
	} {
		for path, message := range map[string]string{openAIPath: test.openAI, anthropicPath: test.anthrop} {
			if message == "" {
				continue
			}
			n++
			status, _, body, err := post(t, ts, path, test.body)
			got, _ := lookup(t, body, "error", "message").(string)
			if status != 400 || err != nil || !strings.Contains(got, message) {
				t.Errorf("%s %s: status %d, error %v, message %q, want 400 with %q", path, test.body, status, err, got, message)
			}
			want(t, body, at("error", "type"), "invalid_request_error")
		}
	}
	if got := s.Stats().Rejected; got != int64(n) {
		t.Errorf("%d requests rejected, want %d", got, n)
	}
}

// TestBadConversations has mistakes about tools and formats, which each provider
// has words of its own for.
func TestBadConversations(t *testing.T) {
	_, ts := newServer(t, Options{})
	const user = `{"role": "user", "content": "x"}`
	const chatCalls = `{"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}, {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}`
	const uses = `{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}, {"type": "tool_use", "id": "c2", "name": "f", "input": {}}]}`
	for _, test := range []struct {
		path, messages, more string
		message              string
		param                any
	}{
		{openAIPath, user + `, {"role": "tool", "tool_call_id": "c1", "content": "r"}`, "", "must be a response to a preceeding message with 'tool_calls'", "messages.[1].role"},
		{openAIPath, chatCalls + `, {"role": "tool", "tool_call_id": "c3", "content": "r"}`, "", "'tool_call_id' of 'c3' not found in 'tool_calls' of previous message", "messages.[1].tool_call_id"},
		{openAIPath, chatCalls + `, {"role": "tool", "tool_call_id": "c1", "content": "r"}, ` + user, "", "did not have response messages: c2", "messages.[2].role"},
		{openAIPath, user + ", " + chatCalls, "", "did not have response messages: c1, c2", "messages.[1].role"},
		{openAIPath, chatCalls + `, {"role": "tool", "content": "r"}`, "", "Missing required parameter: 'messages[1].tool_call_id'", "messages[1].tool_call_id"},
		{openAIPath, `{"role": "user", "content": null}`, "", "expected a string, got null", "messages.[0].content"},
		{openAIPath, user + `, {"role": "assistant", "content": null}`, "", "expected a string, got null", "messages.[1].content"},
		{openAIPath, uses, "", "tool_use and tool_result are not among the supported values", "messages[0].content"},
		{openAIPath, `{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f"}}]}`, "", "'messages[0].tool_calls[0].id'", "messages[0].tool_calls[0].id"},
		{openAIPath, `{"role": "assistant", "tool_calls": [{"id": "c", "type": "tool", "function": {"name": "f"}}]}`, "", "Invalid value: 'tool'", "messages[0].tool_calls[0].type"},
		{openAIPath, `{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {}}]}`, "", "function.name'", "messages[0].tool_calls[0].function.name"},
		{openAIPath, user, `"tools": []`, "Invalid 'tools': empty array", "tools"},
		{openAIPath, user, `"tool_choice": "auto"`, "'tool_choice' is only allowed when 'tools' are specified", "tool_choice"},
		{openAIPath, user, `"tools": [{"name": "f", "input_schema": {"type": "object"}}]`, "Invalid value: ''", "tools[0].type"},
		{openAIPath, user, `"tools": [{"type": "function", "name": "f"}]`, "'tools[0].function'", "tools[0].function"},
		{openAIPath, user, `"tools": [{"type": "function", "function": {}}]`, "Missing required parameter", "tools[0].function.name"},
		{openAIPath, user, `"tools": [{"type": "function", "function": {"name": "a b"}}]`, "string does not match pattern", "tools[0].function.name"},
		{openAIPath, user, `"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "string"}}}]`, "Invalid schema for function 'f'", "tools[0].function.parameters"},
		{openAIPath, user, `"response_format": {"type": "json"}`, "Supported values are: 'json_object', 'json_schema', and 'text'", "response_format.type"},
		{openAIPath, user, `"response_format": {"type": "json_object"}`, "must contain the word 'json' in some form", "messages"},
		{openAIPath, user, `"response_format": {"type": "json_schema"}`, "Missing required parameter: 'response_format.json_schema'", "response_format.json_schema"},
		{openAIPath, user, `"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}`, "json_schema.name'", "response_format.json_schema.name"},
		{openAIPath, user, `"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}`, `got 'type: "None"'`, "response_format"},
		{openAIPath, user, `"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": {"type": "object"}}}`, "'additionalProperties' is required to be supplied and to be false", "response_format"},
		{openAIPath, user, `"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": {"type": "object", "properties": {"a": {}}, "additionalProperties": false}}}`, "including every key in properties", "response_format"},

		{anthropicPath, user + `, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]}`, "", "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: c1.", nil},
		{anthropicPath, uses + `, {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "c2"}]}`, "", "messages.0: `tool_use` ids were found without `tool_result` blocks immediately after: c1.", nil},
		{anthropicPath, user + ", " + uses, "", "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: c1, c2.", nil},
		{anthropicPath, uses + ", " + user, "", "without `tool_result` blocks immediately after: c1, c2.", nil},
		{anthropicPath, `{"role": "user", "content": ""}`, "", "messages.0: all messages must have non-empty content", nil},
		{anthropicPath, `{"role": "user"}, ` + user, "", "messages.0: all messages must have non-empty content", nil},
		{anthropicPath, `{"role": "user", "content": [{"type": "text", "text": ""}]}`, "", "text content blocks must be non-empty", nil},
		{anthropicPath, `{"role": "user", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}`, "", "`tool_use` blocks can only be in `assistant` messages", nil},
		{anthropicPath, `{"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "c"}]}`, "", "`tool_result` blocks can only be in `user` messages", nil},
		{anthropicPath, `{"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": "{}"}]}`, "", "content[0] needs an id, a name and an input that is an object", nil},
		{anthropicPath, `{"role": "user", "content": [{"type": "tool_result", "content": "x"}]}`, "", "content[0] has no tool_use_id", nil},
		{anthropicPath, user, `"tools": [{"input_schema": {"type": "object"}}]`, "tools.0.custom.name: Field required", nil},
		{anthropicPath, user, `"tools": [{"name": "a b", "input_schema": {"type": "object"}}]`, "tools.0.custom.name: String should match pattern", nil},
		{anthropicPath, user, `"tools": [{"name": "f"}]`, "tools.0.custom.input_schema: Field required", nil},
		{anthropicPath, user, `"tools": [{"name": "f", "input_schema": {}}]`, "tools.0.custom.input_schema.type: Field required", nil},
		{anthropicPath, user, `"tools": [{"name": "f", "input_schema": {"type": "array"}}]`, "tools.0.custom.input_schema.type: Input should be 'object'", nil},
		{anthropicPath, user, `"tools": [{"name": "f", "input_schema": {"type": "object"}}, {"name": "f", "input_schema": {"type": "object"}}]`, "Tool names must be unique", nil},
		{anthropicPath, user, `"n": 2`, "n: Extra inputs are not permitted", nil},
		{anthropicPath, user, `"response_format": {"type": "json_object"}`, "response_format: Extra inputs are not permitted", nil},
		{anthropicPath, user, `"output_config": {"format": {"type": "json_object"}}`, "output_config.format.type: Input should be 'json_schema'", nil},
		{anthropicPath, user, `"output_format": {"type": "json_schema"}`, "output_format.schema: Field required", nil},
		{anthropicPath, user, `"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}`, "'additionalProperties' must be explicitly set to false", nil},
		{anthropicPath, user, `"system": [` + strings.Repeat(`{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}, `, 4) + `{"type": "text", "text": "x"}], "cache_control": {"type": "ephemeral"}`, "A maximum of 4 blocks with cache_control may be provided. Found 5.", nil},
	} {
		body := `{"model": "x", "max_tokens": 9, "messages": [` + test.messages + `]`
		if test.more != "" {
			body += ", " + test.more
		}
		status, _, answer, err := post(t, ts, test.path, body+"}")
		got, _ := lookup(t, answer, "error", "message").(string)
		if status != 400 || err != nil || !strings.Contains(got, test.message) {
			t.Errorf("%s %s: status %d, error %v, message %q, want 400 with %q", test.path, body, status, err, got, test.message)
		}
		want(t, answer, at("error", "type"), "invalid_request_error", at("error", "param"), test.param)
	}
}

func TestOtherErrors(t *testing.T) {
	_, ts := newServer(t, Options{RequireKey: true})
	large := `{"model": "` + strings.Repeat("x", maxBody) + `"}`
	for _, test := range []struct {
		method, path, body, key string
		status                  int
		kind                    string
	}{
		{"GET", "/v1/nothing", "", "k", 404, "invalid_request_error"},
		{"POST", "/", "", "k", 404, "invalid_request_error"},
		{"POST", "/v1/messages/batches", "", "k", 404, "not_found_error"},
		{"GET", openAIPath, "", "k", 405, "invalid_request_error"},
		{"GET", anthropicPath, "", "k", 405, "invalid_request_error"},
		{"POST", "/v1/models", "", "k", 405, "invalid_request_error"},
		{"POST", "/healthz", "", "", 405, "invalid_request_error"},
		{"DELETE", "/stats", "", "", 405, "invalid_request_error"},
		{"POST", openAIPath, "{}", "", 401, "invalid_request_error"},
		{"POST", anthropicPath, "{}", "", 401, "authentication_error"},
		{"GET", "/v1/models", "", "", 401, "invalid_request_error"},
		{"POST", openAIPath, large, "k", 413, "invalid_request_error"},
		{"POST", anthropicPath, large, "k", 413, "request_too_large"},
		{"POST", openAIPath, request("sim/default?q=1", "x", ""), "k", 404, "invalid_request_error"},
		{"POST", anthropicPath, request("sim/default?q=1", "x", ""), "k", 404, "not_found_error"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), test.method, ts.URL+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", test.key)
		resp, err := ts.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != test.status {
			t.Errorf("%s %s with key %q: status %d, want %d", test.method, test.path, test.key, resp.StatusCode, test.status)
		}
		want(t, string(body), at("error", "type"), test.kind)
		if allow := resp.Header.Get("Allow"); (allow != "") != (test.status == 405) {
			t.Errorf("%s %s: Allow %q", test.method, test.path, allow)
		}
	}
	for _, header := range []string{"Authorization", "X-Api-Key"} {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", ts.URL+openAIPath, strings.NewReader(request(perfect, "Sort: [1]", "")))
		req.Header.Set(header, "Bearer k")
		if resp, err := ts.Client().Do(req); err != nil || resp.StatusCode != 200 {
			t.Errorf("with a key in %s: %v, %v, want 200", header, resp, err)
		} else {
			resp.Body.Close()
		}
	}
}
