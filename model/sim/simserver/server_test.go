package simserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/sim"
)

const (
	openAIPath    = "/v1/chat/completions"
	anthropicPath = "/v1/messages"
)

func newServer(t *testing.T, o Options) (*Server, *httptest.Server) {
	t.Helper()
	s, err := Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(s)
	ts.Config.ConnState = s.ConnState
	ts.Config.BaseContext = func(net.Listener) context.Context { return t.Context() }
	ts.Start()
	t.Cleanup(ts.Close)
	return s, ts
}

// post returns status, headers and body. A body that breaks off is an error.
func post(t *testing.T, ts *httptest.Server, path, body string) (int, http.Header, string, error) {
	t.Helper()
	resp, err := ts.Client().Post(ts.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b), err
}

// request is the body of a request for a simulated model, in both formats.
func request(name, prompt, more string) string {
	return fmt.Sprintf(`{"model": %q, "max_tokens": 500, "messages": [{"role": "user", "content": %q}]%s}`, name, prompt, more)
}

// lookup finds a value in JSON by its path.
func lookup(t *testing.T, data string, path ...any) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// want checks values in JSON: paths and values by turns.
func want(t *testing.T, data string, pairs ...any) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path := pairs[i].([]any)
		if got := lookup(t, data, path...); fmt.Sprint(got) != fmt.Sprint(pairs[i+1]) {
			t.Errorf("%v = %v, want %v in %s", path, got, pairs[i+1], data)
		}
	}
}

func at(path ...any) []any { return path }

const perfect = "sim/default?p=1"

func TestChatCompletions(t *testing.T) {
	_, ts := newServer(t, Options{})
	status, header, body, err := post(t, ts, openAIPath, request(perfect, "Sort: [2, 1]", ""))
	if status != 200 || err != nil || header.Get("Content-Type") != "application/json" {
		t.Fatalf("status %d, error %v, header %v, body %s", status, err, header, body)
	}
	text := lookup(t, body, "choices", 0, "message", "content").(string)
	if !strings.HasSuffix(text, "answer = [1, 2]") {
		t.Errorf("content %q, want the sorted list", text)
	}
	out := (len(text) + 3) / 4
	want(t, body, at("object"), "chat.completion", at("model"), perfect, at("choices", 0, "index"), 0, at("choices", 0, "finish_reason"), "stop",
		at("choices", 0, "message", "role"), "assistant", at("choices", 0, "message", "refusal"), nil,
		at("usage", "prompt_tokens"), 3, at("usage", "completion_tokens"), out, at("usage", "total_tokens"), 3+out,
		at("usage", "prompt_tokens_details", "cached_tokens"), 0)

	// Parts, system messages, several choices, a word of the system's at the end.
	_, _, body, _ = post(t, ts, openAIPath, `{"model": "`+perfect+`", "n": 3, "temperature": 0.5, "max_completion_tokens": 900, "messages": [
		{"role": "system", "content": "Be brief."},
		{"role": "user", "content": [{"type": "text", "text": "Hello."}, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}, {"type": "text", "text": "Compute: 2 + 3"}]},
		{"role": "assistant", "content": "Wait."}, {"role": "developer", "content": "Sort: [1]"}]}`)
	for i := range 3 {
		if text, _ := lookup(t, body, "choices", i, "message", "content").(string); !strings.HasSuffix(text, "answer = 5") {
			t.Errorf("choice %d: %q, want answer = 5", i, text)
		}
	}
	want(t, body, at("choices", 3), nil, at("usage", "prompt_tokens"), 12)

	for _, limit := range []string{"max_tokens", "max_completion_tokens"} {
		_, _, body, _ = post(t, ts, openAIPath, `{"model": "x", "`+limit+`": 2, "messages": [{"role": "user", "content": "Sort: [2, 1]"}]}`)
		want(t, body, at("choices", 0, "finish_reason"), "length", at("usage", "completion_tokens"), 2, at("model"), "sim/default")
	}
}

func TestChatStream(t *testing.T) {
	_, ts := newServer(t, Options{})
	for _, usage := range []bool{false, true} {
		more := fmt.Sprintf(`, "stream": true, "n": 2, "stream_options": {"include_usage": %t}`, usage)
		_, header, body, err := post(t, ts, openAIPath, request(perfect, "Sort: [2, 1]", more))
		if err != nil || header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("stream: error %v, header %v", err, header)
		}
		texts, finished := map[any]string{}, map[any]any{}
		frames := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
		if frames[len(frames)-1] != "data: [DONE]" {
			t.Errorf("last frame %q, want data: [DONE]", frames[len(frames)-1])
		}
		frames = frames[:len(frames)-1]
		for i, frame := range frames {
			data, ok := strings.CutPrefix(frame, "data: ")
			if !ok {
				t.Fatalf("frame %q", frame)
			}
			want(t, data, at("object"), "chat.completion.chunk", at("model"), perfect)
			if last := usage && i == len(frames)-1; last {
				want(t, data, at("choices"), "[]", at("usage", "prompt_tokens"), 3)
				continue
			}
			if has := strings.Contains(data, `"usage":null`); has != usage {
				t.Errorf("chunk %s has a null usage: %t, want %t", data, has, usage)
			}
			index := lookup(t, data, "choices", 0, "index")
			text, _ := lookup(t, data, "choices", 0, "delta", "content").(string)
			texts[index] += text
			finished[index] = lookup(t, data, "choices", 0, "finish_reason")
		}
		for index := range 2 {
			if i := float64(index); !strings.HasSuffix(texts[i], "answer = [1, 2]") || finished[i] != "stop" {
				t.Errorf("choice %d: text %q, finish_reason %v", index, texts[i], finished[i])
			}
		}
	}
}

func TestMessages(t *testing.T) {
	_, ts := newServer(t, Options{})
	for _, system := range []string{`"Be brief."`, `[{"type": "text", "text": "Be brief."}]`} {
		_, _, body, err := post(t, ts, anthropicPath+"?beta=true", `{"model": "`+perfect+`", "max_tokens": 500, "temperature": 1, "system": `+system+`, "messages": [
			{"role": "user", "content": "Sort: [9, 8]"}, {"role": "assistant", "content": "No."},
			{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}, {"type": "text", "text": "Sort: [2, 1]"}]},
			{"role": "system", "content": "Compute: 1 + 1"}]}`)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := lookup(t, body, "content", 0, "text").(string)
		if !strings.HasSuffix(text, "answer = [1, 2]") {
			t.Errorf("text %q, want the answer to the last message of the user", text)
		}
		want(t, body, at("type"), "message", at("role"), "assistant", at("model"), perfect, at("content", 0, "type"), "text",
			at("stop_reason"), "end_turn", at("stop_sequence"), nil,
			at("usage", "input_tokens"), 13, at("usage", "output_tokens"), (len(text)+3)/4)
	}
	_, _, body, _ := post(t, ts, anthropicPath, `{"model": "x", "max_tokens": 2, "messages": [{"role": "user", "content": "Sort: [2, 1]"}]}`)
	want(t, body, at("stop_reason"), "max_tokens", at("usage", "output_tokens"), 2)
}

func TestMessagesStream(t *testing.T) {
	_, ts := newServer(t, Options{})
	_, _, body, err := post(t, ts, anthropicPath, request(perfect, "Sort: [2, 1]", `, "stream": true`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var text strings.Builder
	for frame := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		event, data, _ := strings.Cut(frame, "\ndata: ")
		name := strings.TrimPrefix(event, "event: ")
		want(t, data, at("type"), name)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		switch name {
		case "message_start":
			want(t, data, at("message", "content"), "[]", at("message", "stop_reason"), nil, at("message", "usage", "input_tokens"), 3)
		case "content_block_start":
			want(t, data, at("index"), 0, at("content_block", "type"), "text", at("content_block", "text"), "")
		case "content_block_delta":
			want(t, data, at("index"), 0, at("delta", "type"), "text_delta")
			text.WriteString(lookup(t, data, "delta", "text").(string))
		case "message_delta":
			want(t, data, at("delta", "stop_reason"), "end_turn", at("usage", "output_tokens"), (text.Len()+3)/4)
		}
	}
	if want := []string{"message_start", "content_block_start", "ping", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}; !slices.Equal(names, want) {
		t.Errorf("events %v, want %v", names, want)
	}
	if !strings.HasSuffix(text.String(), "answer = [1, 2]") {
		t.Errorf("text %q, want the sorted list", text.String())
	}
}

func TestRefusal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(file, []byte("- {match: secret, answers: [{text: 'I will not say.', stop: refusal}]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := sim.Default()
	settings.Script = file
	_, ts := newServer(t, Options{Default: settings})
	_, _, body, _ := post(t, ts, openAIPath, request("any", "the secret", ""))
	want(t, body, at("choices", 0, "message", "content"), nil, at("choices", 0, "message", "refusal"), "I will not say.")
	_, _, body, _ = post(t, ts, openAIPath, request("any", "the secret", `, "stream": true`))
	if !strings.Contains(body, `"delta":{"refusal":"I will not say."}`) {
		t.Errorf("stream %s, want a refusal", body)
	}
	_, _, body, _ = post(t, ts, anthropicPath, request("any", "the secret", ""))
	want(t, body, at("stop_reason"), "refusal", at("content", 0, "text"), "I will not say.")

	// A request can use the server's script, but not make it read other files.
	status, _, body, _ := post(t, ts, openAIPath, request("sim/default?script="+file+"&seed=1", "the secret", ""))
	if status != 200 {
		t.Errorf("the server's own script: status %d, %s", status, body)
	}
	status, _, body, _ = post(t, ts, openAIPath, request("sim/default?script=/etc/hosts", "the secret", ""))
	want(t, body, at("error", "code"), "model_not_found")
	if status != 404 {
		t.Errorf("another script: status %d, want 404", status)
	}
}

func TestOtherPaths(t *testing.T) {
	_, ts := newServer(t, Options{})
	post(t, ts, openAIPath, request(perfect, "Sort: [1]", `, "n": 2`))
	get := func(path string) string {
		resp, err := ts.Client().Get(ts.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	want(t, get("/healthz"), at("status"), "ok")
	want(t, get("/v1/models"), at("object"), "list", at("data", 0, "id"), "sim/default", at("data", 0, "object"), "model", at("has_more"), false)
	stats := get("/stats")
	want(t, stats, at("requests"), 1, at("answers"), 2, at("faults", "f429"), 0, at("in_flight"), 0, at("cancelled"), 0, at("rejected"), 0)
	if n, _ := lookup(t, stats, "connections").(float64); n < 1 {
		t.Errorf("connections = %v, want at least 1", n)
	}
}

// TestSameAsInProcess compares the answers per prompt over HTTP, in either
// format, with those in process.
func TestSameAsInProcess(t *testing.T) {
	const name = "sim/default?p=0.5&malformed=0.2&rivals=4&seed=9"
	const samples = 12
	settings, err := sim.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]any{openAIPath: at("choices", 0, "message", "content"), anthropicPath: at("content", 0, "text")} {
		_, ts := newServer(t, Options{})
		m, err := sim.New(settings)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			prompt := fmt.Sprintf("Step %d\nSort: [5, 3, 4, 1, 2]", i)
			var here, there []string
			for range samples {
				r, err := m.Generate(t.Context(), &model.Request{Messages: []model.Message{{Role: model.User, Text: prompt}}})
				if err != nil {
					t.Fatal(err)
				}
				here = append(here, r.Text)
				_, _, body, _ := post(t, ts, path, request(name+"&f429=0.3", prompt, ""))
				for strings.Contains(body, "error") {
					_, _, body, _ = post(t, ts, path, request(name+"&f429=0.3", prompt, ""))
				}
				there = append(there, lookup(t, body, text...).(string))
			}
			slices.Sort(here)
			slices.Sort(there)
			if !slices.Equal(here, there) {
				t.Errorf("%s, %q: answers over HTTP %q, in process %q", path, prompt, there, here)
			}
		}
	}
}

func TestModelsAreBounded(t *testing.T) {
	s, err := Handler(Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.models.get("sim/default?seed=1")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.models.get("sim/default?seed=1"); again != first {
		t.Error("the same name gets another model, want the same one")
	}
	for seed := range 3 * maxModels {
		if _, err := s.models.get(fmt.Sprintf("sim/default?seed=%d", seed+2)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.models.named) != maxModels || len(s.models.order) != maxModels {
		t.Errorf("%d models are kept, want %d", len(s.models.named), maxModels)
	}
	if same, _ := s.models.get("sim/default?p=0.99"); same != s.models.standard {
		t.Error("a name with the server's own settings gets another model")
	}
	if _, err := Handler(Options{Default: sim.Settings{P: 2}}); err == nil {
		t.Error("Handler with wrong settings succeeds")
	}
}
