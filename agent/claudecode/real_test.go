//go:build slow && linux

package claudecode_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/agent/claudecode"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/tool/builtin"
)

// program is the real one. MAKER_TEST_CLAUDE names another version.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MAKER_TEST_CLAUDE")
	if path == "" {
		path = filepath.Join("..", "..", "test", "npm", "node_modules", ".bin", "claude")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; install it with: npm ci --prefix test/npm", err)
	}
	return path
}

// A lab is the program, a simulated model that it asks, and a workspace.
type lab struct {
	agent     agent.Agent
	workspace string
	tools     map[string]tool.Tool
	temporary string // where the program's folders are made

	mu       sync.Mutex
	requests []map[string]any // what the model was sent
	arrived  chan struct{}    // gets something for each
}

// newLab runs the script with the settings of the simulated model.
func newLab(t *testing.T, settings, script string, change func(*claudecode.Options)) *lab {
	t.Helper()
	l := &lab{workspace: t.TempDir(), temporary: t.TempDir(), tools: map[string]tool.Tool{}, arrived: make(chan struct{}, 100)}
	t.Setenv("TMPDIR", l.temporary)
	name := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	parsed, err := sim.Parse("sim/default?" + settings + "&script=" + name)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := simserver.Handler(simserver.Options{Default: parsed, RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var request map[string]any
		if json.Unmarshal(body, &request) == nil && r.URL.Path == "/v1/messages" {
			l.mu.Lock()
			l.requests = append(l.requests, request)
			l.mu.Unlock()
			l.arrived <- struct{}{}
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	env := map[string]string{
		"ANTHROPIC_BASE_URL": server.URL, "ANTHROPIC_API_KEY": "none", "PATH": os.Getenv("PATH"),
	}
	o := claudecode.Options{Program: program(t), Model: "claude-sonnet-4-5", Timeout: time.Minute, Env: func(name string) string { return env[name] }}
	if change != nil {
		change(&o)
	}
	if l.agent, err = claudecode.New(o); err != nil {
		t.Fatal(err)
	}
	set, err := builtin.New(t.Context(), builtin.Options{Workspace: l.workspace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	for _, one := range set.Tools() {
		l.tools[one.Name] = one
	}
	// A server's tool that may change something, and one that may not.
	for name, effect := range map[string]tool.Class{"mcp__shop__buy": tool.Mutate, "mcp__shop__price": tool.Observe} {
		l.tools[name] = tool.Tool{
			Name: name, Description: "Of a shop.", Schema: json.RawMessage(`{"type":"object","properties":{"item":{"type":"integer"}}}`),
			Class: effect, Source: "shop",
			Run: func(_ context.Context, input json.RawMessage) (tool.Result, error) {
				if effect == tool.Mutate {
					t.Errorf("%s ran with %s", name, input)
				}
				return tool.Result{Text: "it costs 7; asked with " + string(input)}, nil
			},
		}
	}
	// What is not a sample's to run must not run here, whoever asks.
	for name, one := range l.tools {
		if !one.Class.BySample() {
			one.Run = func(_ context.Context, input json.RawMessage) (tool.Result, error) {
				t.Errorf("%s ran with %s", name, input)
				return tool.Result{}, nil
			}
			l.tools[name] = one
		}
	}
	t.Cleanup(func() { l.checkClean(t) })
	return l
}

// checkClean looks for what an attempt may not leave behind.
func (l *lab) checkClean(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(l.temporary); err != nil || len(left) > 0 {
		t.Errorf("the temporary folder holds %v, %v, want nothing", left, err)
	}
	for _, pid := range processes(t, l.temporary) {
		t.Errorf("process %s is still there", pid)
	}
}

// processes finds those whose working folder is below dir.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, dir+"/") {
			found = append(found, filepath.Base(filepath.Dir(link)))
		}
	}
	return found
}

func (l *lab) task(prompt string, tools ...string) *agent.Task {
	task := &agent.Task{System: "You work in a test.", Prompt: prompt}
	for _, name := range tools {
		task.Tools = append(task.Tools, l.tools[name])
	}
	return task
}

func (l *lab) attempt(t *testing.T, task *agent.Task) *agent.Result {
	t.Helper()
	r, err := l.agent.Attempt(t.Context(), task)
	if err != nil {
		t.Fatalf("Attempt(%q) = %v, want a result", task.Prompt, err)
	}
	if r.Flag != nil {
		t.Fatalf("Attempt(%q) is flagged: %+v", task.Prompt, r.Flag)
	}
	if r.Usage.Input == 0 || r.Usage.Output == 0 || r.CostUSD == nil || *r.CostUSD <= 0 {
		t.Errorf("Attempt(%q) = usage %+v, cost %v, want both known", task.Prompt, r.Usage, r.CostUSD)
	}
	return r
}

// sent returns the field of the n-th request as JSON.
func (l *lab) sent(t *testing.T, n int, field string) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n >= len(l.requests) {
		t.Fatalf("the model was asked %d times, want more than %d", len(l.requests), n)
	}
	text, err := json.Marshal(l.requests[n][field])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (l *lab) asked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.requests)
}
