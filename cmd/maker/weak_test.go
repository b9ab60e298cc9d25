package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/maker-mdap/maker/model/sim/simserver"
)

// runMaker runs the program in a folder of its own, with nothing else in its environment
// than what is given, and returns what it says.
func runMaker(t *testing.T, env []string, args ...string) (stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("maker", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=atexit_sleep_ms=0"}, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // how it ends is in what it says
	return out.String(), errs.String()
}

// crowded is a server that notes how many calls are in flight at most. It answers none
// before there are as many as it waits for and had time to become more, and none while there are more: those that were
// given up leave, and others stay.
type crowded struct {
	handler http.Handler
	atOnce  int // calls that it waits for, once

	mu      sync.Mutex
	now     int
	most    int
	changed chan struct{} // closed when now changes
	waited  bool          // whether others come was waited for
}

// move adds to the calls that are there.
func (c *crowded) move(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += by
	if c.most = max(c.most, min(c.now, c.atOnce)); c.now == c.atOnce && !c.waited {
		time.AfterFunc(200*time.Millisecond, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.waited = true
			c.signal()
		})
	}
	c.signal()
}

// signal says that something has changed.
func (c *crowded) signal() {
	if c.changed != nil {
		close(c.changed)
	}
	c.changed = make(chan struct{})
}

// seen is how many calls were there at most.
func (c *crowded) seen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

// may reports whether calls are answered, and what to wait for if they are not.
func (c *crowded) may(late bool) (bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if late {
		c.most = max(c.most, c.now)
	}
	return c.waited && (c.now <= c.atOnce || late), c.changed
}

func (c *crowded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // only then is it noticed that a client goes away
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.move(1)
	defer c.move(-1)
	patience := time.After(5 * time.Second)
	for late := false; ; {
		ok, changed := c.may(late)
		if ok {
			c.handler.ServeHTTP(w, r)
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-patience:
			late = true
		}
	}
}

// TestMaxInFlight: the cap holds in every kind of run, and is used up.
func TestMaxInFlight(t *testing.T) {
	simulator, err := simserver.Handler(simserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"hanoi", "--disks", "2", "-k", "6"},
		{"ask", "What is 6 times 7?", "--number", "-k", "6"},
		{"do", "1. Say hello. 2. Say goodbye.", "--voting", "first_to_k", "-k", "6"},
		{"plan", "Say hello.", "--plan-voting", "--voting", "first_to_k", "-k", "6"},
		{"solve", "2 * 3", "--domain", "math", "-k", "6", "--batch-size", "12"},
		{"calibrate", "--domain", "math", "--batch-size", "12"},
	} {
		t.Run(command[0], func(t *testing.T) {
			t.Parallel()
			server := &crowded{handler: simulator, atOnce: 2}
			ts := httptest.NewServer(server)
			defer ts.Close()
			args := append(command, "--max-in-flight", "2", "--model", "compat/sim/default?p=1", "--base-url", ts.URL+"/v1", "--deadline", "1m")
			out, errs := runMaker(t, nil, args...)
			if got := server.seen(); got != 2 {
				t.Errorf("maker %s had %d calls in flight, want 2:\n%s%s", strings.Join(args, " "), got, out, errs)
			}
		})
	}
}

// TestUsageOfSeveralSamples: a server that counts the tokens of one sample only, as that of
// llama.cpp does, makes the others no free ones.
func TestUsageOfSeveralSamples(t *testing.T) {
	const answer = "Forty-two is the answer to the question of life."
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ N int }
		_ = json.NewDecoder(r.Body).Decode(&asked) // 0 is one
		choice := map[string]any{"message": map[string]any{"content": answer}, "finish_reason": "stop"}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"model": "m", "choices": slices.Repeat([]any{choice}, max(asked.N, 1)),
			"usage": map[string]int{"prompt_tokens": 100, "completion_tokens": 12},
		})
	}))
	defer ts.Close()
	out, errs := runMaker(t, nil, "ask", "What?", "-k", "5", "--samples-per-call", "4", "--json", "--model", "compat/m", "--base-url", ts.URL)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var result struct {
		Usage struct{ Tokens struct{ Input, Output int64 } }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil {
		t.Fatalf("maker ask prints no result: %v\n%s%s", err, out, errs)
	}
	if got, want := result.Usage.Tokens.Output, int64(5*12); got != want {
		t.Errorf("five samples have %d tokens of output, want %d", got, want)
	}
}

// TestStructuredWithoutTools: agents that are offered tools are not held to a schema, or
// they could not call any. The others are.
func TestStructuredWithoutTools(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want bool // a schema
	}{
		"a step with a tool":     {[]string{"exec", "plan.yaml"}, false},
		"a step without tools":   {[]string{"exec", "plan.yaml", "--tools", "Read"}, true},
		"a task with tools":      {[]string{"do", "Say hello.", "--task-retries", "0"}, false},
		"a task without tools":   {[]string{"do", "Say hello.", "--task-retries", "0", "--tools", ""}, true},
		"a plan":                 {[]string{"plan", "Say hello.", "--max-planner-retries", "0"}, true},
		"a judgement":            {[]string{"validate", "plan.yaml", "--quality-checks"}, true},
		"a step, and no schemas": {[]string{"exec", "plan.yaml", "--tools", "Read", "--structured-mode", "none"}, false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			var schemas, tools, requests atomic.Int64
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				requests.Add(1)
				if bytes.Contains(body, []byte(`"json_schema"`)) {
					schemas.Add(1)
				}
				if bytes.Contains(body, []byte(`"tools":`)) {
					tools.Add(1)
				}
				_, _ = io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"{\"result\":\"hello\",\"the_text\":\"a\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":9}}`)
			}))
			defer ts.Close()
			dir := t.TempDir()
			plan, _, _ := strings.Cut(parrotPlan, "- {step: 1")
			if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(strings.Replace(plan, "next_step_sequence_number: 1", "next_step_sequence_number: -1", 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("maker", append(test.args, "--model", "compat/m", "--base-url", ts.URL)...)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=atexit_sleep_ms=0"}
			out, _ := cmd.CombinedOutput()
			if got := schemas.Load() > 0; got != test.want || requests.Load() == 0 || schemas.Load() > 0 && tools.Load() > 0 {
				t.Errorf("maker %s made %d requests, %d with a schema and %d with tools, want a schema: %t\n%s",
					strings.Join(test.args, " "), requests.Load(), schemas.Load(), tools.Load(), test.want, out)
			}
		})
	}
}

// TestTimeoutNamesItsFlag: a call that took too long says which flag it was.
func TestTimeoutNamesItsFlag(t *testing.T) {
	out, errs := runMaker(t, nil, "hanoi", "--disks", "1", "--model", "sim/default?hang=1", "--call-timeout", "10ms", "--max-faults", "2", "--retry-attempts", "1", "--retry-delay", "1ms")
	if !strings.Contains(out, "no answer within 10ms (--call-timeout)") {
		t.Errorf("maker hanoi with calls that hang says:\n%s%s", out, errs)
	}
}
