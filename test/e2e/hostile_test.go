//go:build slow && linux

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAHostileServerTakesNoMemory has a server answer every request with calls of a
// tool that are twelve megabytes long. They are discarded; the program stays small.
func TestAHostileServerTakesNoMemory(t *testing.T) {
	const most = 200 << 20
	call := fmt.Sprintf(`{"id": "a", "type": "function", "function": {"name": "Grep", "arguments": "{\"pattern\": \"%s\"}"}}`, strings.Repeat("x", 4<<20))
	body := fmt.Sprintf(`{"model": "m", "choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [%s, %s, %s]}, "finish_reason": "tool_calls"}],
		"usage": {"prompt_tokens": 1, "completion_tokens": 1}}`, call, call, call)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body) // it may hang up
	}))
	defer web.Close()
	o, peak := measure(t, "exec", effectPlan(t, 1, "file"), "--model", "compat/m", "--base-url", web.URL+"/v1",
		"--voting", "first_to_k", "--voting-k", "3", "--max-faults", "6", "--retry-delay", "1ms", "--approve", "none", "--no-input",
		"--workspace", t.TempDir(), "--log-dir", t.TempDir(), "--quiet")
	if o.code != 1 || !strings.Contains(o.stdout+o.stderr, "cut off at its output limit") {
		t.Errorf("maker exec with a hostile server = %v, want that the step fails, and why", o)
	}
	if peak > most {
		t.Errorf("it took %d MB, want at most %d", peak>>20, most>>20)
	}
	t.Logf("it took %d MB", peak>>20)
}
