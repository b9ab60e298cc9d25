package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/server/gateway"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/anthropic"
	"github.com/maker-mdap/maker/model/openai"
	"github.com/maker-mdap/maker/runs"
)

// served is a gateway with one session for each model.
type served struct {
	*httptest.Server
	dir string

	mu       sync.Mutex
	sessions map[string]*maker.Session
}

func serve(t *testing.T, c maker.Config, o gateway.Options) *served {
	t.Helper()
	s := &served{dir: t.TempDir(), sessions: map[string]*maker.Session{}}
	o.Open = func(_ context.Context, name string, m gateway.Model) (*maker.Session, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if known := s.sessions[name+m.Spec()]; known != nil {
			return known, nil
		}
		c := c
		if c.Model == "" {
			c.Model = m.Name
		}
		engine, err := maker.New(&maker.Options{Config: c, LogDir: s.dir})
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		session, err := engine.Session(ctx, name)
		if err != nil {
			cancel(nil)
			return nil, err
		}
		t.Cleanup(func() {
			cancel(maker.ErrPaused)
			<-session.Run().Done()
			engine.Close()
		})
		s.sessions[name+m.Spec()] = session
		return session, nil
	}
	s.Server = httptest.NewServer(gateway.New(o))
	t.Cleanup(s.Close)
	return s
}

// only is the run of the only session.
func (s *served) only(t *testing.T) *runs.Run {
	t.Helper()
	dir, err := runs.Find(s.dir, runs.Last)
	if err != nil {
		t.Fatal(err)
	}
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (s *served) post(t *testing.T, path, body string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(data)
}

// TestRight: with a model that is wrong one time in five, and a margin of four, all answers
// are right, or are said not to be agreed on.
func TestRight(t *testing.T) {
	s := serve(t, maker.Config{Voting: maker.FirstToK(4)}, gateway.Options{})
	name := gateway.Prefix + "sim/default?p=0.8&seed=5"
	chat, err := openai.New(openai.Options{BaseURL: s.URL + "/v1", Model: name, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := anthropic.New(anthropic.Options{BaseURL: s.URL, Model: name, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var unsure atomic.Int64
	for i := range 100 {
		all.Go(func() {
			m := []model.Model{chat, messages}[i%2]
			resp, err := m.Generate(t.Context(), &model.Request{
				Messages:  []model.Message{{Role: model.User, Text: fmt.Sprintf("What is %d + %d? Answer in JSON.", i, i+3)}},
				MaxOutput: 100, Output: &model.OutputFormat{Mode: model.JSONSchema, Name: "sum", Schema: json.RawMessage(`{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"],"additionalProperties":false}`)},
			})
			if err != nil && strings.Contains(err.Error(), "the voters do not agree") {
				unsure.Add(1)
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			var got struct{ Answer int }
			if err := json.Unmarshal([]byte(resp.Text), &got); err != nil || got.Answer != 2*i+3 || resp.Usage.Input == 0 || resp.Usage.Output == 0 || resp.Stop != model.StopEnd {
				t.Errorf("%d: %q (%+v, %s), want %d", i, resp.Text, resp.Usage, resp.Stop, 2*i+3)
			}
		})
	}
	all.Wait()
	if unsure.Load() > 20 {
		t.Errorf("%d of 100 are not agreed on", unsure.Load())
	}
}

// frames reads a stream of events as name and data.
func frames(t *testing.T, stream string) [][2]string {
	t.Helper()
	var list [][2]string
	name := ""
	in := bufio.NewScanner(strings.NewReader(stream))
	for in.Scan() {
		if line, ok := strings.CutPrefix(in.Text(), "event: "); ok {
			name = line
		} else if line, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			list = append(list, [2]string{name, line})
			name = ""
		} else if in.Text() != "" {
			t.Errorf("a line %q", in.Text())
		}
	}
	return list
}

// TestStreams: a stream begins at once, shows that it is alive while it is voted, and ends with
// the answer and with how it was decided.
func TestStreams(t *testing.T) {
	s := serve(t, maker.Config{Voting: maker.FirstToK(2)}, gateway.Options{Quiet: 20 * time.Millisecond})
	const ask = `"model": "maker/sim/default?latency=150ms,0", "stream": true, "max_tokens": 50, "messages": [{"role": "user", "content": "What is 20 + 22?"}]`
	_, stream := s.post(t, "/v1/chat/completions", "{"+ask+`, "stream_options": {"include_usage": true}}`)
	list := frames(t, stream)
	text, reasons, alive := "", 0, 0
	for i, frame := range list[:len(list)-1] {
		var chunk struct {
			ID, Object, Model string
			Choices           []struct {
				Delta struct {
					Role, Content string
				}
				FinishReason *string `json:"finish_reason"`
			}
			Usage *struct {
				PromptTokens int `json:"prompt_tokens"`
			}
			Maker *struct {
				DecidedBy string `json:"decided_by"`
				Margin    int
			}
			Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(frame[1]), &chunk); err != nil || chunk.ID == "" || chunk.Object != "chat.completion.chunk" || chunk.Error != nil {
			t.Fatalf("chunk %s: %v", frame[1], err)
		}
		if len(chunk.Choices) == 0 {
			if i != len(list)-2 || chunk.Usage.PromptTokens == 0 {
				t.Errorf("usage in chunk %d: %s", i, frame[1])
			}
			continue
		}
		c := chunk.Choices[0]
		if text += c.Delta.Content; c.Delta.Content == "" && i > 0 && c.FinishReason == nil {
			alive++
		}
		if c.FinishReason != nil {
			if reasons++; chunk.Maker == nil || chunk.Maker.DecidedBy != "vote" || chunk.Maker.Margin != 2 {
				t.Errorf("the end is %s", frame[1])
			}
		}
	}
	if list[len(list)-1][1] != "[DONE]" || !strings.HasSuffix(text, "answer = 42") || reasons != 1 || alive < 2 {
		t.Errorf("%d signs of life, %d ends, %q in\n%s", alive, reasons, text, stream)
	}

	_, stream = s.post(t, "/v1/messages?beta=true", "{"+ask+"}")
	var names []string
	for _, frame := range frames(t, stream) {
		names = append(names, frame[0])
	}
	order := strings.Join(names, " ")
	if !strings.HasPrefix(order, "message_start ping content_block_start content_block_delta ping content_block_delta") || !strings.HasSuffix(order, "content_block_stop message_delta message_stop") ||
		strings.Count(order, "content_block_start") != 1 || !strings.Contains(stream, `answer = 42"`) {
		t.Errorf("events %s in\n%s", order, stream)
	}

	_, stream = s.post(t, "/v1/responses", `{"model": "maker/sim/default?latency=150ms,0", "stream": true, "input": "What is 20 + 22?"}`)
	last := -1
	for _, frame := range frames(t, stream) {
		var e struct {
			Type     string
			Sequence int `json:"sequence_number"`
		}
		if err := json.Unmarshal([]byte(frame[1]), &e); err != nil || e.Type != frame[0] || e.Sequence != last+1 {
			t.Errorf("event %v after %d: %v", frame, last, err)
		}
		last = e.Sequence
	}
	if !strings.Contains(stream, "event: response.completed") || !strings.Contains(stream, `answer = 42","type":"output_text"`) {
		t.Errorf("no answer in\n%s", stream)
	}
}

// proposer proposes calls over HTTP in the format of Chat Completions, one in four of them
// wrong, or whatever say says.
func proposer(t *testing.T, say func(n int64) string) string {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",%s}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, say(n.Add(1)-1))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

const tools = `"tools": [{"type": "function", "function": {"name": "remove", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}}]`

// TestCalls: a call that loses never reaches the client, in any format; one that is not agreed
// on is an error that tells clients not to retry.
func TestCalls(t *testing.T) {
	call := func(path string) string {
		return fmt.Sprintf(`"content":"I will.","tool_calls":[{"id":"c-%s","type":"function","function":{"name":"remove","arguments":"{\"path\":\"%[1]s\"}"}}]`, path)
	}
	s := serve(t, maker.Config{Model: "compat/m", BaseURL: proposer(t, func(n int64) string {
		if n%4 == 0 {
			return call("home")
		}
		return call("tmp")
	}), Voting: maker.FirstToK(3)}, gateway.Options{})
	for range 3 {
		resp, body := s.post(t, "/v1/chat/completions", `{"model": "maker/compat/m", "messages": [{"role": "user", "content": "Tidy up."}], `+tools+`}`)
		if resp.StatusCode != 200 || !strings.Contains(body, `"arguments":"{\"path\":\"tmp\"}"`) || strings.Contains(body, "home") || !strings.Contains(body, `"finish_reason":"tool_calls"`) || resp.Header.Get("X-Maker-Decided-By") != "vote" {
			t.Errorf("%s %s", resp.Status, body)
		}
	}
	_, body := s.post(t, "/v1/messages", `{"model": "maker/compat/m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "Tidy up."}], "tools": [{"name": "remove", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}]}`)
	if !strings.Contains(body, `"stop_reason":"tool_use"`) || strings.Contains(body, "home") {
		t.Error(body)
	}
	_, body = s.post(t, "/v1/responses", `{"model": "maker/compat/m", "input": "Tidy up.", "tools": [{"type": "function", "name": "remove", "parameters": {"type": "object"}}]}`)
	if !strings.Contains(body, `"type":"function_call"`) || !strings.Contains(body, `"call_id":"c-tmp"`) || strings.Contains(body, "home") {
		t.Error(body)
	}

	split := serve(t, maker.Config{Model: "compat/m", BaseURL: proposer(t, func(n int64) string { return call(fmt.Sprint("f", n)) }), Voting: maker.FirstToK(2)}, gateway.Options{})
	resp, body := split.post(t, "/v1/chat/completions", `{"model": "maker/compat/m?undecided=first", "messages": [{"role": "user", "content": "Tidy up."}], `+tools+`}`)
	if resp.StatusCode != 422 || resp.Header.Get("X-Should-Retry") != "false" || !strings.Contains(body, "the voters do not agree") || strings.Contains(body, "tool_calls") {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestCallsHaveIDs: calls can be told apart by the client, whatever the server made of their ids.
func TestCallsHaveIDs(t *testing.T) {
	for name, ids := range map[string][2]string{"none": {"", `"id":"",`}, "the same": {`"id":"x",`, `"id":"x",`}, "their own": {`"id":"x",`, `"id":"y",`}} {
		s := serve(t, maker.Config{Model: "compat/m", BaseURL: proposer(t, func(int64) string {
			return fmt.Sprintf(`"tool_calls":[{%s"type":"function","function":{"name":"remove","arguments":"{\"path\":\"a\"}"}},{%s"type":"function","function":{"name":"remove","arguments":"{\"path\":\"b\"}"}}]`, ids[0], ids[1])
		}), Voting: maker.FirstToK(2)}, gateway.Options{})
		_, body := s.post(t, "/v1/chat/completions", `{"model": "maker/compat/m", "messages": [{"role": "user", "content": "Tidy up."}], `+tools+`}`)
		var got struct {
			Choices []struct {
				Message struct {
					ToolCalls []struct{ ID string } `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Choices) != 1 || len(got.Choices[0].Message.ToolCalls) != 2 {
			t.Fatalf("ids %s: %v %s", name, err, body)
		}
		calls := got.Choices[0].Message.ToolCalls
		if calls[0].ID == "" || calls[1].ID == "" || calls[0].ID == calls[1].ID || name == "their own" && (calls[0].ID != "x" || calls[1].ID != "y") {
			t.Errorf("ids %s: %q and %q", name, calls[0].ID, calls[1].ID)
		}
	}
}

// TestPolicies: text that is not agreed on is answered with the first one, and a header says
// so, unless something else is asked for; data is not.
func TestPolicies(t *testing.T) {
	s := serve(t, maker.Config{Model: "compat/m", BaseURL: proposer(t, func(n int64) string { return fmt.Sprintf(`"content":"{\"n\": %d}"`, n) }), Voting: maker.FirstToK(2)}, gateway.Options{})
	const ask = `"messages": [{"role": "user", "content": "Say something in JSON."}]`
	for _, c := range []struct {
		body   string
		status int
		by     string
	}{
		{`{"model": "maker/compat/m", ` + ask + `}`, 200, "first"},
		{`{"model": "maker/compat/m?undecided=error", ` + ask + `}`, 422, "none"},
		{`{"model": "maker/compat/m", "response_format": {"type": "json_object"}, ` + ask + `}`, 422, "none"},
		{`{"model": "maker/compat/m?undecided=first", "response_format": {"type": "json_object"}, ` + ask + `}`, 200, "first"},
	} {
		resp, body := s.post(t, "/v1/chat/completions", c.body)
		if resp.StatusCode != c.status || resp.Header.Get("X-Maker-Decided-By") != c.by || (c.status == 200) == strings.Contains(body, `"error"`) {
			t.Errorf("%s: %s by %q: %s", c.body, resp.Status, resp.Header.Get("X-Maker-Decided-By"), body)
		}
	}
}

// TestRefused: what cannot be passed on is refused in the words of the format.
func TestRefused(t *testing.T) {
	s := serve(t, maker.Config{}, gateway.Options{Named: map[string]string{"careful": "sim/default?p=1&k=5"}, Default: "sim/default"})
	const ask = `"messages": [{"role": "user", "content": "What is 1 + 1?"}], "max_tokens": 50`
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/chat/completions", `{"model": "gpt-4o", ` + ask + `}`, 404, `there is no model \"gpt-4o\" here; there are careful, maker/sim/default`},
		{"/v1/messages", `{"model": "maker/", ` + ask + `}`, 404, `"type":"not_found_error"`},
		{"/v1/chat/completions", `{"model": "maker/sim/default?ahead_byy=3", ` + ask + `}`, 400, "ahead_byy"},
		{"/v1/chat/completions", `{"model": "maker/openai/x?kk=3", ` + ask + `}`, 404, "there is no setting"},
		{"/v1/chat/completions", `{"model": "maker/openai/x?base_url=http://evil", ` + ask + `}`, 404, "cannot be set by the name of a model"},
		{"/v1/chat/completions", `{"model": "careful", "n": 2, ` + ask + `}`, 400, "n must be 1"},
		{"/v1/chat/completions", `{"model": "careful", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}`, 400, "input_audio"},
		{"/v1/chat/completions", `{"model": "careful"`, 400, "not JSON"},
		{"/v1/responses", `{"model": "careful", "input": "x", "previous_response_id": "r"}`, 400, "responses are not kept"},
		{"/v1/responses", `{"model": "careful", "input": [{"type": "item_reference", "id": "msg_1"}, {"role": "user", "content": "x"}]}`, 400, "responses are not kept"},
		{"/v1/chat/completions", `{"model": "careful", "functions": [{"name": "f"}], ` + ask + `}`, 400, "functions, which are now called tools"},
		{"/v1/chat/completions", `{"model": "careful", "messages": [{"role": "user", "content": "x"}, {"role": "function", "name": "f", "content": "y"}]}`, 400, "a message of a function"},
		{"/v1/messages", `{"model": "careful", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "see", "input": {}}]}, ` +
			`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]}]}]}`, 400, "image in the result of a call"},
		{"/v1/chat/completions", `{"model": "maker/sim/default?k=2&ahead_by=3", ` + ask + `}`, 404, "ahead_by is there twice"},
		{"/v1/other", `{}`, 404, "there is nothing at /v1/other"},
	} {
		resp, body := s.post(t, c.path, c.body)
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %s %s, want %d with %q", c.path, c.body, resp.Status, body, c.status, c.want)
		}
	}
	for _, name := range []string{"\xff", "a\tb", strings.Repeat("x", 200), "\u202e"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(`{"model": "careful", `+ask+`}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(gateway.SessionHeader, name)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 400 {
			t.Errorf("a session called %q: %s", name, resp.Status)
		}
	}
	resp, body := s.post(t, "/v1/chat/completions", `{"model": "careful", `+ask+`}`)
	if resp.StatusCode != 200 || !strings.Contains(body, "answer = 2") {
		t.Errorf("%s %s", resp.Status, body)
	}
	list, err := http.Get(s.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Body.Close()
	data, _ := io.ReadAll(list.Body)
	if !bytes.Contains(data, []byte(`"id":"careful"`)) || !bytes.Contains(data, []byte(`"id":"maker/sim/default"`)) {
		t.Errorf("models %s", data)
	}
	_, body = s.post(t, "/v1/messages/count_tokens", `{"model": "careful", "messages": [{"role": "user", "content": "What is 1 + 1?"}]}`)
	if !strings.Contains(body, `{"input_tokens":`) {
		t.Error(body)
	}
}

// TestJoins: a request that is repeated while it is voted on joins the vote, and a client that
// goes away ends it if it is the last.
func TestJoins(t *testing.T) {
	s := serve(t, maker.Config{Voting: maker.FirstToK(2)}, gateway.Options{})
	const slow = `{"model": "maker/sim/default?latency=300ms,0", "messages": [{"role": "user", "content": "What is 3 + 4?"}]}`
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if resp, body := s.post(t, "/v1/chat/completions", slow); !strings.Contains(body, "answer = 7") {
				t.Errorf("%s %s", resp.Status, body)
			}
		})
	}
	all.Wait()
	r, err := s.only(t).Result()
	if err != nil || r.StepsCompleted != 1 || r.Voting.Samples != 2 {
		t.Errorf("%d steps with %d samples for three equal requests, %v", r.StepsCompleted, r.Voting.Samples, err)
	}

	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(strings.Replace(slow, "300ms", "30s", 1)))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error)
	go func() {
		_, err := http.DefaultClient.Do(req)
		gone <- err
	}()
	for { // until it is under way
		s.mu.Lock()
		n := len(s.sessions)
		s.mu.Unlock()
		if n == 2 {
			break
		}
		runtime.Gosched()
	}
	run := s.only(t)
	for rec, err := range run.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Event.Type() == event.TypeStepStarted {
			leave()
		}
		if failed, ok := rec.Event.(event.StepFailed); ok {
			if failed.Status != "gone" {
				t.Errorf("the step ended as %s", failed.Status)
			}
			break
		}
	}
	if <-gone == nil {
		t.Error("a client that has gone got an answer")
	}
}
