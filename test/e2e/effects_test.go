//go:build (slow || soak) && linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A ledger is an MCP server that counts what it is asked to book: the witness that
// knows how often an effect really happened.
type ledger struct {
	mu     sync.Mutex
	booked map[string]int
	config string // file for --mcp-config
}

type entry struct {
	Item string `json:"item"`
}

// newLedger serves a ledger over HTTP. Booking takes as long as pause says.
func newLedger(t *testing.T, pause time.Duration) *ledger {
	t.Helper()
	l := &ledger{booked: map[string]int{}}
	server := sdk.NewServer(&sdk.Implementation{Name: "ledger", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "book", Description: "Books an item."}, func(_ context.Context, _ *sdk.CallToolRequest, in entry) (*sdk.CallToolResult, any, error) {
		l.mu.Lock()
		l.booked[in.Item]++
		l.mu.Unlock()
		if pause > 0 {
			timer := time.NewTimer(pause)
			defer timer.Stop()
			<-timer.C
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "booked"}}}, nil, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	l.config = writeFile(t, "mcp.json", fmt.Sprintf(`{"mcpServers":{"ledger":{"type":"http","url":%q,"required":true}}}`, web.URL))
	return l
}

func (l *ledger) counts() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]int{}
	for item, n := range l.booked {
		out[item] = n
	}
	return out
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// effectPlan has n steps, each with one effect: a line for a file and an entry for
// the ledger, in turn.
func effectPlan(t *testing.T, n int, kinds ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("reasoning: every item once\nplan:\n")
	for i := range n {
		task, tool := fmt.Sprintf("Append the line item-%d to log.txt.", i), "Bash"
		if kinds[i%len(kinds)] == "ledger" {
			task, tool = fmt.Sprintf("Book item-%d in the ledger.", i), "mcp__ledger__book"
		}
		next := i + 1
		if next == n {
			next = -1
		}
		fmt.Fprintf(&b, `  - step: %d
    task_type: action_step
    title: item %d
    task_description: %q
    primary_tools: [%s]
    fallback_tools: []
    primary_tool_instructions: "Once."
    fallback_tool_instructions: ""
    input_variables: []
    output_variable: step_%d_output
    output_schema: "done: boolean"
    next_step_sequence_number: %d
`, i, i, task, tool, i, next)
	}
	return writeFile(t, "plan.yaml", b.String())
}

// effectScript proposes the right call nine times in ten, and otherwise one of five
// wrong ones.
func effectScript(t *testing.T, command string) string {
	t.Helper()
	var b strings.Builder
	rule := func(match, tool, field, right, wrong string) {
		fmt.Fprintf(&b, "- match: '%s'\n  after: 0\n  answers:\n", match)
		fmt.Fprintf(&b, "    - {weight: 90, tool_calls: [{name: %s, input: {%s: '%s'}}]}\n", tool, field, right)
		for i := range 5 {
			fmt.Fprintf(&b, "    - {weight: 2, tool_calls: [{name: %s, input: {%s: '%s'}}]}\n", tool, field, fmt.Sprintf(wrong, i))
		}
		fmt.Fprintf(&b, "- match: '%s'\n  answers: [{text: 'done: true'}]\n", match)
	}
	rule(`Append the line item-(\d+) to`, "Bash", "command", command, "echo WRONG%d-${1} >> log.txt")
	rule(`Book item-(\d+) in`, "mcp__ledger__book", "item", "item-${1}", "WRONG%d-${1}")
	return writeFile(t, "script.yaml", b.String())
}

// linesOf counts the lines of a file that effects write to.
func linesOf(t *testing.T, path string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return map[string]int{}
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for line := range strings.Lines(string(data)) {
		out[strings.TrimSpace(line)]++
	}
	return out
}

// TestEffectsHappenOnce runs a thousand steps of noisy voters: every item is booked
// or written once, and none of the wrong proposals ever ran.
func TestEffectsHappenOnce(t *testing.T) {
	const steps = 1000
	l := newLedger(t, 0)
	workspace, logDir := t.TempDir(), t.TempDir()
	sim := startSim(t, "sim/default?seed=5&script="+effectScript(t, "echo item-${1} >> log.txt"), "")
	mustMaker(t, 0, "exec", effectPlan(t, steps, "file", "ledger"), "--model", "compat/default", "--base-url", sim.base,
		"--voting", "first_to_k", "--voting-k", "3", "--max-voting-samples", "60", "--approve", "none",
		"--mcp-config", l.config, "--workspace", workspace, "--log-dir", logDir, "--quiet")
	lines, booked := linesOf(t, filepath.Join(workspace, "log.txt")), l.counts()
	for i := range steps {
		item, n := fmt.Sprintf("item-%d", i), 0
		if i%2 == 0 {
			n = lines[item]
		} else {
			n = booked[item]
		}
		if n != 1 {
			t.Errorf("%s happened %d times, want once", item, n)
		}
	}
	if len(lines) != steps/2 || len(booked) != steps/2 {
		t.Errorf("%d different lines and %d different entries, want %d of each: a wrong proposal ran", len(lines), len(booked), steps/2)
	}
	dir := runDir(t, logDir)
	proposed := bytes.Count(readLog(t, dir), []byte(`WRONG`))
	if proposed < steps/10 {
		t.Errorf("only %d mentions of wrong proposals in the log: the test shows nothing", proposed)
	}
	t.Logf("%d mentions of wrong proposals in the log, none of them executed", proposed)
	mustMaker(t, 0, "replay", dir)
}

// killWhen starts maker and kills it as soon as the last event in its log is of a
// type.
func killWhen(t *testing.T, logDir, last string, args ...string) outcome {
	t.Helper()
	p := start(t, makerPath, append(args, "--log-dir", logDir)...)
	for p.running() {
		if dir, ok := findRun(logDir); ok {
			data, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
			// A line whose end is not there yet may be lost by the kill.
			lines := bytes.Split(bytes.TrimSpace(complete(data)), []byte("\n"))
			if err == nil && bytes.HasPrefix(lines[len(lines)-1], []byte(fmt.Sprintf(`{"type":%q`, last))) {
				return p.kill()
			}
		}
	}
	return p.outcome()
}

// effectEvents counts the events about effects in a log.
func effectEvents(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for line := range bytes.Lines(readLog(t, dir)) {
		var e struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(line, &e) == nil {
			out[e.Type]++
		}
	}
	return out
}

// TestKillAroundEffects kills the program a hundred times while an effect is being
// executed, and a hundred times when it was and its step is not committed yet.
func TestKillAroundEffects(t *testing.T) {
	const each = 50 // for each kind of effect
	for _, kind := range []string{"file", "ledger"} {
		for _, moment := range []string{"effect_claimed", "effect_done"} {
			t.Run(kind+" after "+moment, func(t *testing.T) {
				t.Parallel()
				killed, unknown, happened := 0, 0, 0
				for i := 0; killed < each; i++ {
					if i > 4*each {
						t.Fatalf("killed only %d times in %d runs", killed, i)
					}
					k, u, h := killOnce(t, kind, moment, i%2 == 0)
					killed, unknown, happened = killed+k, unknown+u, happened+h
				}
				t.Logf("killed %d times; %d outcomes unknown, of which %d had happened", killed, unknown, happened)
				if moment == "effect_done" && unknown > 0 {
					t.Errorf("%d outcomes were unknown although they were logged", unknown)
				}
				if moment == "effect_claimed" && unknown == 0 {
					t.Error("no outcome was ever unknown: the kills missed their moment")
				}
			})
		}
	}
}

// killOnce runs a step with one effect, kills it at the moment, resumes it, and
// answers what it asks with the truth. It reports whether the kill came in time,
// whether the outcome was unknown, and if so whether the effect had happened. A
// command may have its effect early or late.
func killOnce(t *testing.T, kind, moment string, early bool) (killed, unknown, happened int) {
	t.Helper()
	l := newLedger(t, 60*time.Millisecond)
	workspace, logDir := t.TempDir(), t.TempDir()
	command := "sleep 0.05; echo item-${1} >> log.txt"
	if early {
		command = "echo item-${1} >> log.txt; sleep 0.05"
	}
	script := effectScript(t, command)
	count := func() int {
		if kind == "ledger" {
			return l.counts()["item-0"]
		}
		return linesOf(t, filepath.Join(workspace, "log.txt"))["item-0"]
	}
	o := killWhen(t, logDir, moment, "exec", effectPlan(t, 1, kind), "--model", "sim/default?latency=20ms&script="+script,
		"--voting", "first_to_k", "--voting-k", "4", "--max-voting-samples", "60", "--approve", "none", "--no-input",
		"--mcp-config", l.config, "--workspace", workspace, "--quiet")
	if o.code == 0 {
		return 0, 0, 0 // it was faster
	}
	dir := runDir(t, logDir)
	if n := count(); n > 1 {
		t.Fatalf("after the kill it has happened %d times", n)
	}
	o = maker(t, "resume", dir, "--quiet", "--no-input")
	if o.code == 1 { // nobody knows, and the step fails
		unknown = 1
		if !strings.Contains(o.stdout, "nobody knows whether") || effectEvents(t, dir)["effect_unknown"] != 1 {
			t.Fatalf("maker resume = %v, want that the outcome is reported as unknown", o)
		}
		answer := "it did not happen: do it"
		if count() > 0 {
			answer, happened = "it happened", 1
		}
		mustMaker(t, 0, "answer", dir, "--text", answer)
		o = maker(t, "resume", dir, "--quiet", "--no-input")
	}
	if o.code != 0 {
		t.Fatalf("maker resume = %v, want that it ends", o)
	}
	if n := count(); n != 1 {
		t.Fatalf("in the end it has happened %d times, want once", n)
	}
	if events := effectEvents(t, dir); events["effect_done"] != 1 || events["step_completed"] != 1 {
		t.Fatalf("the log has %v, want one effect_done and one step_completed", events)
	}
	mustMaker(t, 0, "replay", dir)
	return 1, unknown, happened
}
