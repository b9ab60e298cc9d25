//go:build unix

package claudecode

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/tool"
)

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(dir, "lost")
	if err := os.WriteFile(lost, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	for program, want := range map[string]string{
		lost:                           "--claude-path",
		"no-such-program-here":         "npm install -g @anthropic-ai/claude-code",
		filepath.Join(dir, "claude"):   "npm install -g @anthropic-ai/claude-code",
		plain:                          "cannot be run",
		dir:                            "cannot be run",
		"./relative/path/that/is/none": "--claude-path",
	} {
		a := newFake(t, "", func(o *Options) { o.Program = program })
		_, err := a.Attempt(t.Context(), &agent.Task{Prompt: "hi"})
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Invalid || !e.NotSent || !strings.Contains(e.Message, want) {
			t.Errorf("Attempt(program %s) = %v, want an invalid request with %q", program, err, want)
		}
	}
	checkEmpty(t, os.TempDir())
}

func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%s holds %v, %v, want nothing", dir, left, err)
	}
}

func TestSetup(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("SECRET", "must not get there")
	file := filepath.Join(t.TempDir(), "dump")
	a := newFake(t, "dump "+file+"\n"+strings.Replace(hello, `"tools":[]`, `"tools":["Bash","Read","StructuredOutput"]`, 1)+answer42+success+"hang\n", func(o *Options) { o.MaxUSD = 0.5 })
	temperature := 0.1
	_, err := a.Attempt(t.Context(), &agent.Task{
		System: "Be brief.", Prompt: "hi", Tools: testTools(t), MaxMoves: 3, MaxOutput: 700, Temperature: &temperature,
		Output: &model.OutputFormat{Mode: model.JSONSchema, Schema: json.RawMessage(`{"type":"object","x":1}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got setup
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	args := " " + strings.Join(got.Args, " ") + " "
	for _, want := range []string{
		" -p ", " --tools  --bare ", " --setting-sources  --settings ", " --strict-mcp-config ", " --permission-mode default ",
		" --permission-prompt-tool stdio ", " --model claude-test ", " --max-turns 3 ", " --no-session-persistence ",
		" --max-budget-usd 0.5 ", ` --json-schema {"type":"object","x":1} `, " --include-partial-messages ",
	} {
		if !strings.Contains(args, want) {
			t.Errorf("arguments are %q, want %q in them", args, want)
		}
	}
	wantFiles := map[string]string{
		"--system-prompt-file": "Be brief.",
		"--settings":           `{"permissions":{"allow":["Read","mcp__maker__Read"],"ask":["Bash","mcp__maker__Bash"]}}`,
		"--mcp-config":         `{"mcpServers":{"maker":{"name":"maker","type":"sdk"}}}`,
	}
	if diff := cmp.Diff(wantFiles, got.Contents); diff != "" {
		t.Errorf("files: -want +got\n%s", diff)
	}
	env := map[string]string{}
	for _, pair := range got.Env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	home := env["HOME"]
	if !strings.HasPrefix(home, os.TempDir()) || got.Dir != filepath.Join(home, "work") || env["TMPDIR"] != filepath.Join(home, "tmp") || env["CLAUDE_CONFIG_DIR"] != home {
		t.Errorf("home %s, folder %s, temporary files in %s, want all in one folder", home, got.Dir, env["TMPDIR"])
	}
	for name, want := range map[string]string{
		"ANTHROPIC_API_KEY": "key", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "700", "CLAUDE_CODE_EXTRA_BODY": `{"temperature":0.1}`,
		"ENABLE_TOOL_SEARCH": "false", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1", "SECRET": "",
	} {
		if env[name] != want {
			t.Errorf("%s = %q, want %q", name, env[name], want)
		}
	}
	for name := range env {
		if name == "PWD" { // os/exec adds it
			continue
		}
		if !slices.Contains(passedOn, name) && !strings.Contains(" HOME USERPROFILE APPDATA LOCALAPPDATA TMPDIR TMP TEMP ", " "+name+" ") &&
			!strings.HasPrefix(name, "CLAUDE_") && !strings.Contains(name, "MCP_") && !strings.HasPrefix(name, "DISABLE_") && !strings.HasPrefix(name, "ENABLE_") {
			t.Errorf("%s is in the environment", name)
		}
	}
	checkEmpty(t, os.TempDir())
}

func TestSubscription(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump")
	a := newFake(t, "dump "+file+"\n"+hello+answer42+success+"hang\n", func(o *Options) {
		env := o.Env
		o.Env = func(name string) string {
			switch name {
			case "ANTHROPIC_API_KEY":
				return ""
			case "CLAUDE_CODE_OAUTH_TOKEN":
				return "token"
			}
			return env(name)
		}
	})
	if _, err := a.Attempt(t.Context(), &agent.Task{Prompt: "hi"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), `"--bare"`) || !strings.Contains(string(data), `"--safe-mode"`) || !strings.Contains(string(data), "CLAUDE_CODE_OAUTH_TOKEN=token") {
		t.Errorf("started with %s, %v, want --safe-mode and the token", data, err)
	}
}

func TestTemperatureIsGivenUp(t *testing.T) {
	// The fake fails as long as it is given a temperature.
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	if err := os.WriteFile(first, []byte(hello+`> {"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"Temperature is not supported"}`+"\nhang\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "dump")
	if err := os.WriteFile(second, []byte("dump "+file+"\n"+hello+answer42+success+"hang\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := 0
	a := newFake(t, "", func(o *Options) {
		env := o.Env
		o.Env = func(name string) string {
			if name != "ANTHROPIC_BASE_URL" {
				return env(name)
			}
			runs++
			if runs == 1 {
				return first
			}
			return second
		}
	})
	temperature := 0.0
	for range 2 {
		if r, err := a.Attempt(t.Context(), &agent.Task{Prompt: "hi", Temperature: &temperature}); err != nil || r.Text != "42" {
			t.Errorf("Attempt(temperature) = %+v, %v, want the answer without one", r, err)
		}
		if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), "temperature") {
			t.Errorf("started with %s, %v, want no temperature", data, err)
		}
	}
	if runs != 3 {
		t.Errorf("two attempts took %d runs, want 3", runs)
	}
}

// alive reports whether the process whose number is in the file is there.
func alive(t *testing.T, file string) (pid int, yes bool) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if pid, err = strconv.Atoi(string(data)); err != nil {
		t.Fatal(err)
	}
	if state, err := os.ReadFile("/proc/" + string(data) + "/stat"); err == nil && strings.Contains(string(state), ") Z ") {
		return pid, false // dead, but its parent is, too, and nobody waited for it yet
	}
	return pid, syscall.Kill(pid, 0) == nil
}

// eventually waits for what the kernel does in its own time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not so after 10 s", what)
		}
		runtime.Gosched()
	}
}

func TestNothingIsLeft(t *testing.T) {
	ends := map[string]struct {
		script string
		cancel bool
		ok     bool
	}{
		"answered":  {answer42 + success + "hang\n", false, true},
		"cancelled": {"hang\n", true, false},
		"crashed":   {"exit 1\n", false, false},
		"garbage":   {"> x\nhang\n", false, false},
		"deaf":      {"hang\n", true, false},
	}
	for name, test := range ends {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			before := runtime.NumGoroutine()
			child := filepath.Join(t.TempDir(), "child")
			begin := hello
			prompt := "hi"
			if name == "deaf" { // more than a pipe holds, and nobody reads it
				begin, prompt = "", strings.Repeat("x", 1<<20)
			}
			a := newFake(t, "spawn "+child+"\n"+begin+"2 ready\n"+test.script, nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var watch sync.WaitGroup
			if test.cancel {
				watch.Go(func() {
					eventually(t, "the program runs", func() bool { data, err := os.ReadFile(child); return err == nil && len(data) > 0 })
					cancel(errors.New("enough"))
				})
			}
			r, err := a.Attempt(ctx, &agent.Task{Prompt: prompt})
			watch.Wait()
			if (err == nil) != test.ok {
				t.Errorf("Attempt(%s) = %+v, %v, want success: %v", name, r, err, test.ok)
			}
			if e, ok := errors.AsType[*model.Error](err); test.cancel && (!ok || e.Kind != model.Cancelled || !errors.Is(err, context.Canceled) || e.Message != "enough") {
				t.Errorf("Attempt(%s) = %v, want it cancelled with the cause", name, err)
			}
			eventually(t, "the child of the program is dead", func() bool { _, yes := alive(t, child); return !yes })
			eventually(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
			checkEmpty(t, os.TempDir())
		})
	}
}

func TestWeAreKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process that its parent died")
	}
	dir := t.TempDir()
	script, pid := filepath.Join(dir, "script"), filepath.Join(dir, "pid")
	if err := os.WriteFile(script, []byte("pid "+pid+"\n"+hello+"hang\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "parent", script)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program runs", func() bool { data, err := os.ReadFile(pid); return err == nil && len(data) > 0 })
	if _, yes := alive(t, pid); !yes {
		t.Error("the program is dead before we are")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the program is dead", func() bool { _, yes := alive(t, pid); return !yes })
}

func TestAChildThatGotAway(t *testing.T) {
	child := filepath.Join(t.TempDir(), "child")
	a := newFake(t, "escape "+child+"\n"+hello+answer42+success+"hang\n", nil)
	r, err := a.Attempt(t.Context(), &agent.Task{Prompt: "hi"})
	if err != nil || r.Text != "42" {
		t.Errorf("Attempt(a child holds the output) = %+v, %v, want the answer", r, err)
	}
	if pid, yes := alive(t, child); yes {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		if runtime.GOOS == "linux" {
			t.Error("the child that got away outlived the attempt")
		}
	}
}

func TestTimeout(t *testing.T) {
	a := newFake(t, hello+"hang\n", func(o *Options) { o.Timeout = 50 * time.Millisecond })
	_, err := a.Attempt(t.Context(), &agent.Task{Prompt: "hi"})
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Transient || !strings.Contains(e.Message, "50ms") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Attempt(hangs) = %v, want a transient error that says how long", err)
	}
	a = newFake(t, hello+"hang\n", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = a.Attempt(ctx, &agent.Task{Prompt: "hi"})
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Transient || !strings.Contains(e.Message, "deadline") {
		t.Errorf("Attempt(deadline of the caller) = %v, want a transient error", err)
	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if _, err = a.Attempt(done, &agent.Task{Prompt: "hi"}); model.KindOf(err) != model.Cancelled {
		t.Errorf("Attempt(cancelled before) = %v, want it cancelled", err)
	}
}

func TestTheCostIsNotWaitedForForEver(t *testing.T) {
	a := newFake(t, hello+answer42+"hang\n", nil)
	a.(*claude).patience = 10 * time.Millisecond
	r, err := a.Attempt(t.Context(), &agent.Task{Prompt: "hi"})
	if err != nil || r.Text != "42" || r.CostUSD != nil || r.Usage.Output != 5 {
		t.Errorf("Attempt(no result line) = %+v, %v, want the answer and no cost", r, err)
	}
}

func TestToolsAreCancelled(t *testing.T) {
	started := make(chan struct{})
	slow := tool.Tool{Name: "Wait", Class: tool.Pure, Run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
		close(started)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}}
	a := newFake(t, strings.Replace(hello, `"tools":[]`, `"tools":["Wait"]`, 1)+`
> {"type":"control_request","request_id":"r1","request":{"subtype":"mcp_message","server_name":"maker","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Wait","arguments":{}}}}}
hang
`, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := a.Attempt(ctx, &agent.Task{Prompt: "hi", Tools: []tool.Tool{slow}}); model.KindOf(err) != model.Cancelled {
		t.Errorf("Attempt(cancelled in a call) = %v, want it cancelled", err)
	}
}

func TestToolsDoNotHoldUpTheEnd(t *testing.T) {
	slow := tool.Tool{Name: "Wait", Class: tool.Pure, Run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}}
	a := newFake(t, strings.Replace(hello, `"tools":[]`, `"tools":["Wait"]`, 1)+`
> {"type":"control_request","request_id":"r1","request":{"subtype":"mcp_message","server_name":"maker","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Wait","arguments":{}}}}}
`+answer42+success+"hang\n", nil)
	if r, err := a.Attempt(t.Context(), &agent.Task{Prompt: "hi", Tools: []tool.Tool{slow}}); err != nil || r.Text != "42" {
		t.Errorf("Attempt(ends in a call) = %+v, %v, want the answer", r, err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{}, "Model is missing"},
		{Options{Model: "--bare"}, `"--bare" cannot be the name`},
		{Options{Model: "m", MaxUSD: -1}, "MaxUSD"},
		{Options{Model: "m", Timeout: -1}, "Timeout"},
	} {
		if _, err := New(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("New(%+v) = %v, want an error with %q", test.options, err, test.want)
		}
	}
	if _, err := New(Options{Model: "claude-sonnet-4-5"}); err != nil {
		t.Errorf("New(a model) = %v, want an agent", err)
	}
}
