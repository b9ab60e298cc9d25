package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/server/gateway"
)

// TestUpstreamDoesNotCount: a server that does not say what an answer took has it estimated:
// clients reckon with it.
func TestUpstreamDoesNotCount(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"yes"}}]}`)
	}))
	t.Cleanup(upstream.Close)
	s := serve(t, maker.Config{Model: "compat/m", BaseURL: upstream.URL + "/v1", Voting: maker.FirstToK(2)}, gateway.Options{})
	for _, stream := range []string{"false", "true"} {
		_, body := s.post(t, "/v1/messages", `{"model": "maker/compat/m", "max_tokens": 9, "stream": `+stream+`, "messages": [{"role": "user", "content": "Is it so?"}]}`)
		if !strings.Contains(body, "yes") || strings.Contains(body, `"input_tokens":0`) || strings.Contains(body, `"output_tokens":0`) {
			t.Errorf("stream %s: %s", stream, body)
		}
	}
}

// TestStopSequence: a text ends before the first of those that the request names, and the client
// is told which one that was.
func TestStopSequence(t *testing.T) {
	s := serve(t, maker.Config{Model: "compat/m", BaseURL: proposer(t, func(int64) string { return `"content":"one, two. three; four"` }), Voting: maker.FirstToK(2)}, gateway.Options{})
	for _, stream := range []string{"false", "true"} {
		_, body := s.post(t, "/v1/messages", `{"model": "maker/compat/m", "max_tokens": 9, "stop_sequences": [";", ".", ":"], "stream": `+stream+`, "messages": [{"role": "user", "content": "Count."}]}`)
		if !strings.Contains(body, `"one, two"`) || strings.Contains(body, "three") || !strings.Contains(body, `"stop_reason":"stop_sequence"`) || !strings.Contains(body, `"stop_sequence":"."`) {
			t.Errorf("stream %s: %s", stream, body)
		}
	}
}

// TestUpstreamRefuses: a request that the provider does not take is refused, in its words, and
// so is one for which the key of the server will not do; neither ends the session, nor the vote
// of another request.
func TestUpstreamRefuses(t *testing.T) {
	const key = "sk-of-the-provider-0123456789"
	t.Setenv("MAKER_COMPAT_API_KEY", key)
	asked, refused := make(chan struct{}, 8), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		status, message := 0, ""
		switch said := string(body); {
		case strings.Contains(said, "odd"):
			status, message = 400, "max_tokens is too large"
		case strings.Contains(said, "locked"):
			status, message = 401, "Incorrect API key provided: "+key
		case strings.Contains(said, "slow"):
			asked <- struct{}{}
			<-refused
		}
		if status != 0 {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, message)
			return
		}
		_, _ = io.WriteString(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"yes"}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`)
	}))
	t.Cleanup(upstream.Close)
	s := serve(t, maker.Config{Model: "compat/m", BaseURL: upstream.URL + "/v1", Voting: maker.FirstToK(2)}, gateway.Options{})
	ask := func(text string) (*http.Response, string) {
		return s.post(t, "/v1/chat/completions", `{"model": "maker/compat/m", "messages": [{"role": "user", "content": "`+text+`"}]}`)
	}

	// The very first request, before anything was answered.
	resp, body := ask("odd")
	if resp.StatusCode != 400 || !strings.Contains(body, "max_tokens is too large") || !strings.Contains(body, `"invalid_request_error"`) {
		t.Errorf("a request that is not taken: %s %s", resp.Status, body)
	}
	run := resp.Header.Get("X-Maker-Run")

	other := make(chan string)
	go func() {
		resp, body := ask("slow")
		other <- resp.Header.Get("X-Maker-Run") + " " + resp.Status + " " + body
	}()
	select {
	case <-asked:
	case got := <-other:
		t.Fatalf("another request of the session %s: %s", run, got)
	}
	resp, body = ask("locked")
	if resp.StatusCode != 502 || resp.Header.Get("X-Should-Retry") != "false" || !strings.Contains(body, "Incorrect API key") || strings.Contains(body, key) {
		t.Errorf("a key that will not do: %s %v %s", resp.Status, resp.Header, body)
	}
	close(refused)
	if got := <-other; !strings.HasPrefix(got, run+" 200 OK") {
		t.Errorf("another request of the session %s: %s", run, got)
	}
}
