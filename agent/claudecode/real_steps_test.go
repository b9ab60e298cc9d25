//go:build slow && linux

package claudecode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/agent/claudecode"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/tool"
)

func TestRealPlainStep(t *testing.T) {
	l := newLab(t, "p=1", `[{match: 'What is 6 times 7', answers: [{text: 'It is 42.'}]}]`, nil)
	zero := 0.0
	task := l.task("What is 6 times 7?")
	task.Temperature, task.MaxOutput = &zero, 700
	r := l.attempt(t, task)
	if r.Text != "It is 42." || r.Stop != model.StopEnd || r.Intent != nil || r.Calls != 0 || r.Model == "" {
		t.Errorf("Attempt(plain) = %+v, want the answer", r)
	}
	if got := l.sent(t, 0, "temperature"); got != "0" {
		t.Errorf("temperature = %s, want 0", got)
	}
	if got := l.sent(t, 0, "max_tokens"); got != "700" {
		t.Errorf("max_tokens = %s, want 700", got)
	}
	if got := l.sent(t, 0, "thinking"); got != "null" {
		t.Errorf("thinking = %s, want none", got)
	}
	if got := l.sent(t, 0, "tools"); got != "[]" && got != "null" {
		t.Errorf("tools = %s, want none", got)
	}
	if got := l.sent(t, 0, "system"); !strings.Contains(got, "You work in a test.") || strings.Contains(got, "software engineering") {
		t.Errorf("system = %s, want ours", got)
	}
}

// TestRealIsolation has prompts that mean something else to the program, once
// with a key and once with the token of a subscription.
func TestRealIsolation(t *testing.T) {
	t.Run("key", func(t *testing.T) { testIsolation(t, "ANTHROPIC_API_KEY") })
	t.Run("token", func(t *testing.T) { testIsolation(t, "CLAUDE_CODE_OAUTH_TOKEN") })
}

func testIsolation(t *testing.T, secretName string) {
	l := newLab(t, "p=1", `[{answers: [{text: 'Fine.'}]}]`, func(o *claudecode.Options) {
		env := o.Env
		o.Env = func(name string) string {
			switch name {
			case "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN":
				if name == secretName {
					return "none"
				}
				return ""
			}
			return env(name)
		}
	})
	secret := filepath.Join(l.workspace, "secret.txt")
	if err := os.WriteFile(secret, []byte("open sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	prompts := []string{
		"/clear",
		"  /help me with this",
		"Look at @" + secret + " and @/etc/hostname and tell me.",
		"!touch " + secret + ".new",
		"# remember this",
	}
	for i, prompt := range prompts {
		if r := l.attempt(t, l.task(prompt)); r.Text != "Fine." {
			t.Errorf("Attempt(%q) = %q, want the model's answer", prompt, r.Text)
		}
		sent := l.sent(t, i, "messages")
		quoted, err := json.Marshal(prompt)
		if err != nil {
			t.Fatal(err)
		}
		if inner := strings.Trim(string(quoted), `"`); !strings.Contains(sent, inner) || strings.Contains(sent, "open sesame") {
			t.Errorf("Attempt(%q) sent %s, want the prompt and no file", prompt, sent)
		}
	}
	if left, err := os.ReadDir(l.workspace); err != nil || len(left) != 1 {
		t.Errorf("the workspace holds %v, %v, want the one file", left, err)
	}
}

func TestRealToolStep(t *testing.T) {
	const script = `
- match: 'What does the note say'
  after: 0
  answers: [{text: 'I will look.', tool_calls: [{name: Read, input: {file_path: note.txt}}, {name: Glob, input: {pattern: '*'}}]}]
- match_result: 'buy (\w+)'
  answers: [{text: 'It says to buy ${result.1}.'}]
`
	l := newLab(t, "p=1", script, nil)
	if err := os.WriteFile(filepath.Join(l.workspace, "note.txt"), []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := l.attempt(t, l.task("What does the note say?", "Read", "Glob", "Write", "mcp__shop__buy"))
	if r.Text != "It says to buy milk." || r.Calls != 2 || r.Intent != nil {
		t.Errorf("Attempt(tool step) = %+v, want the answer after two calls", r)
	}
	var tools []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	}
	if err := json.Unmarshal([]byte(l.sent(t, 0, "tools")), &tools); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range tools {
		names = append(names, one.Name)
	}
	if diff := cmp.Diff([]string{"Glob", "Read", "Write", "mcp__shop__buy"}, names, cmp.Transformer("set", func(in []string) map[string]bool {
		out := map[string]bool{}
		for _, name := range in {
			out[name] = true
		}
		return out
	})); diff != "" {
		t.Errorf("tools: -want +got\n%s", diff)
	}
}

func TestRealConfinement(t *testing.T) {
	const script = `
- match: 'What does (\S+) say'
  after: 0
  answers: [{tool_calls: [{name: Read, input: {file_path: '${1}'}}]}]
- match_result: '(?s)(.*)'
  answers: [{text: 'GOT ${result.1}'}]
`
	l := newLab(t, "p=1", script, nil)
	outside := filepath.Join(t.TempDir(), "outside.txt")
	if err := os.WriteFile(outside, []byte("open sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(l.workspace, "link.txt")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, "link.txt", "../outside.txt"} {
		if r := l.attempt(t, l.task("What does "+name+" say?", "Read")); strings.Contains(r.Text, "sesame") || !strings.HasPrefix(r.Text, "GOT ") {
			t.Errorf("Attempt(Read %s) = %q, want to be told that this cannot be read", name, r.Text)
		}
	}
}

// TestRealIntents has the model call what is not a sample's to call. The tools
// of the lab fail the test if they run.
func TestRealIntents(t *testing.T) {
	tests := []struct {
		name, calls, tool, input string
	}{
		{"write", `[{name: Write, input: {file_path: a.txt, content: "one\n"}}]`, "Write", `{"content":"one\n","file_path":"a.txt"}`},
		{"write over a file that nobody read", `[{name: Write, input: {file_path: old.txt, content: new}}]`, "Write", `{"content":"new","file_path":"old.txt"}`},
		{"edit", `[{name: Edit, input: {file_path: old.txt, old_string: old, new_string: new, replace_all: false}}]`, "Edit", `{"file_path":"old.txt","new_string":"new","old_string":"old"}`},
		{"a command that only reads", `[{name: Bash, input: {command: ls, description: "List the files."}}]`, "Bash", `{"command":"ls"}`},
		{"a command", `[{name: Bash, input: {command: touch b.txt}}]`, "Bash", `{"command":"touch b.txt"}`},
		{"a server's tool", `[{name: mcp__shop__buy, input: {item: 12345678901234567890}}]`, "mcp__shop__buy", `{"item":12345678901234567890}`},
		{"a question", `[{name: AskUserQuestion, input: {question: "Which?", options: [a, b]}}]`, "AskUserQuestion", `{"options":["a","b"],"question":"Which?"}`},
		{"the first of two", `[{name: Bash, input: {command: first}}, {name: Bash, input: {command: second}}]`, "Bash", `{"command":"first"}`},
		{"after reading", `[{name: Read, input: {file_path: old.txt}}, {name: Bash, input: {command: second}}]`, "Bash", `{"command":"second"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			script := fmt.Sprintf(`
- after: 0
  answers: [{text: 'I will do it.', tool_calls: %s}]
- answers: [{text: 'Went on.'}]
`, test.calls)
			l := newLab(t, "p=1", script, nil)
			if err := os.WriteFile(filepath.Join(l.workspace, "old.txt"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := l.attempt(t, l.task("Do it.", "Read", "Write", "Edit", "Bash", "AskUserQuestion", "mcp__shop__buy", "mcp__shop__price"))
			want := tool.Intent{Tool: test.tool, Input: json.RawMessage(test.input)}
			if r.Intent == nil || r.Intent.Key() != want.Key() || r.Text != "I will do it." || r.Stop != model.StopToolUse {
				t.Errorf("Attempt(%s) = intent %+v, text %q, want %s", test.calls, r.Intent, r.Text, want.Key())
			}
			if n := l.asked(); n != 1 {
				t.Errorf("the model was asked %d times, want once", n)
			}
			if left, err := os.ReadDir(l.workspace); err != nil || len(left) != 1 {
				t.Errorf("the workspace holds %v, %v, want the one file", left, err)
			}
		})
	}
}

func TestRealWrongCalls(t *testing.T) {
	const script = `
- after: 0
  answers: [{tool_calls: [{name: Bash, input: {cmd: ls}}]}]
- after: 1
  match_result: 'input of Bash.*cmd'
  answers: [{tool_calls: [{name: Rm, input: {}}]}]
- after: 2
  match_result: 'Rm'
  answers: [{tool_calls: [{name: Bash, input: {command: ls}}]}]
- answers: [{text: 'Not told why.'}]
`
	l := newLab(t, "p=1", script, nil)
	r := l.attempt(t, l.task("Do it.", "Bash"))
	if r.Intent == nil || string(r.Intent.Input) != `{"command":"ls"}` {
		t.Errorf("Attempt(two wrong calls) = %+v, %q, want the third as the intent; sent %s", r.Intent, r.Text, l.sent(t, l.asked()-1, "messages"))
	}
}

func TestRealMovesBefore(t *testing.T) {
	const script = "[{match: '(?s)Do it.*Call 1: Write.*a.txt.*wrote 4 bytes.*Call 2: Bash.*exit code 1', answers: [{text: 'Both are done.'}]}, {answers: [{text: 'Nothing is done.'}]}]"
	l := newLab(t, "p=1", script, nil)
	task := l.task("Do it.", "Write", "Bash")
	task.Done = []flow.Move{
		{Intent: event.Intent{Tool: "Write", Input: json.RawMessage(`{"file_path":"a.txt","content":"one\n"}`)}, Result: flow.Result{Text: "wrote 4 bytes"}},
		{Intent: event.Intent{Tool: "Bash", Input: json.RawMessage(`{"command":"false"}`)}, Result: flow.Result{Text: "exit code 1", IsError: true}},
	}
	if r := l.attempt(t, task); r.Text != "Both are done." {
		t.Errorf("Attempt(after two moves) = %q, want them to be known", r.Text)
	}
}

func TestRealStructuredOutput(t *testing.T) {
	format := &model.OutputFormat{Mode: model.JSONSchema, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}
	tests := []struct{ name, answer, want string }{
		{"as data", `{tool_calls: [{name: StructuredOutput, input: {n: 9007199254740993}}]}`, `{"n":9007199254740993}`},
		{"as data that does not fit", `{tool_calls: [{name: StructuredOutput, input: {n: many}}]}`, `{"n":"many"}`},
		{"as text", `{text: '{"n": 3}'}`, `{"n": 3}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, "p=1", "[{after: 0, match: 'How many', answers: ["+test.answer+"]}, {answers: [{text: repaired}]}]", nil)
			task := l.task("How many?")
			task.Output = format
			r, err := l.agent.Attempt(t.Context(), task)
			if err != nil || r.Text != test.want || r.Flag != nil || r.Stop != model.StopEnd {
				t.Errorf("Attempt(%s) = %+v, %v, want %s", test.answer, r, err, test.want)
			}
		})
	}
}

// TestRealNoRepair has the model give answers after which the program would go on
// by itself.
func TestRealNoRepair(t *testing.T) {
	tests := []struct {
		name, answer, text string
		stop               model.StopReason
		flag               string
	}{
		{"cut off", `{text: 'It is 4', stop: length}`, "It is 4", model.StopLength, ""},
		{"cut off in a call", `{text: 'I will', tool_calls: [{name: Bash, input: {command: rm}}], stop: length}`, "I will", model.StopLength, "truncated"},
		{"empty", `{text: ''}`, "", model.StopEnd, ""},
		{"refused", `{text: 'I will not.', stop: refusal}`, "I will not.", model.StopRefusal, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, "p=1", "[{match: 'How many', answers: ["+test.answer+"]}, {answers: [{text: repaired}]}]", nil)
			r, err := l.agent.Attempt(t.Context(), l.task("How many?", "Bash"))
			if err != nil {
				t.Fatalf("Attempt(%s) = %v, want a result", test.answer, err)
			}
			flag := ""
			if r.Flag != nil {
				flag = r.Flag.Name
			}
			if r.Text != test.text || r.Stop != test.stop || flag != test.flag || r.Intent != nil {
				t.Errorf("Attempt(%s) = %q, %q, flag %q, intent %v, want %q, %q, %q", test.answer, r.Text, r.Stop, flag, r.Intent, test.text, test.stop, test.flag)
			}
		})
	}
}

func TestRealBounds(t *testing.T) {
	const script = "[{answers: [{tool_calls: [{name: Glob, input: {pattern: '*'}}]}]}]"
	tests := []struct {
		name    string
		options func(*claudecode.Options)
		task    func(*agent.Task)
		most    int // requests
	}{
		{"moves", nil, func(t *agent.Task) { t.MaxMoves = 3 }, 3},
		{"tokens", nil, func(t *agent.Task) { t.MaxTokens = 100 }, 2},
		{"money", func(o *claudecode.Options) { o.MaxUSD = 0.0001 }, func(*agent.Task) {}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, "p=1", script, test.options)
			task := l.task("Find out.", "Glob")
			test.task(task)
			r, err := l.agent.Attempt(t.Context(), task)
			if err != nil || r.Flag == nil || r.Flag.Name != agent.FlagTooManyMoves {
				t.Errorf("Attempt(no end) = %+v, %v, want the flag %s", r, err, agent.FlagTooManyMoves)
			}
			if n := l.asked(); n > test.most {
				t.Errorf("the model was asked %d times, want at most %d", n, test.most)
			}
		})
	}
}

func TestRealFailures(t *testing.T) {
	tests := []struct {
		name, settings string
		change         func(*claudecode.Options)
		kind           model.Kind
		status         int
	}{
		{"rate limit", "f429=1&retry_after=1s", nil, model.RateLimited, 429},
		{"overload", "f529=1", nil, model.Overloaded, 529},
		{"internal", "f500=1", nil, model.Transient, 500},
		{"no key", "p=1", func(o *claudecode.Options) {
			env := o.Env
			o.Env = func(name string) string {
				if name == "ANTHROPIC_API_KEY" {
					return ""
				}
				return env(name)
			}
		}, model.Auth, 0},
		{"wrong model", "p=1", func(o *claudecode.Options) { o.Model = "sim/default?p=2" }, model.Invalid, 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t, test.settings, "[{answers: [{text: Fine.}]}]", test.change)
			task := l.task("How many?")
			told := 0
			task.OnFault = func(*model.Error) bool { told++; return told < 2 }
			_, err := l.agent.Attempt(t.Context(), task)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != test.kind || e.Status != test.status || e.Message == "" {
				t.Fatalf("Attempt(%s) = %v, want the kind %s with the status %d", test.name, err, test.kind, test.status)
			}
			if want := 1 + len(e.Faults); e.Kind.Retryable() && (told != 2 || want != 2) {
				t.Errorf("Attempt(%s) told of %d faults and carries %d, want 2 of each", test.name, told, want)
			}
		})
	}
}

func TestRealRecovers(t *testing.T) {
	l := newLab(t, "f529=0.3&seed=3", "[{answers: [{text: Fine.}]}]", nil)
	faults, attempts := 0, 0
	// The program tells the model the date, so which requests fail depends on the day.
	for faults == 0 && attempts < 30 {
		attempts++
		r := l.attempt(t, l.task("How many?"))
		faults += len(r.Faults)
		if r.Text != "Fine." {
			t.Errorf("Attempt(a third of the requests fail) = %q, want the answer", r.Text)
		}
	}
	if want := l.asked() - attempts; faults != want || want == 0 {
		t.Errorf("%d attempts report %d faults, want %d, and more than none", attempts, faults, want)
	}
}

func TestRealLearnsThatAModelTakesNoTemperature(t *testing.T) {
	l := newLab(t, "refuse=temperature", "[{answers: [{text: Fine.}]}]", nil)
	tenth := 0.1
	task := l.task("How many?")
	task.Temperature = &tenth
	for range 2 {
		if r := l.attempt(t, task); r.Text != "Fine." {
			t.Errorf("Attempt(temperature) = %q, want the answer", r.Text)
		}
	}
	last := l.asked() - 1
	if got := l.sent(t, last, "temperature"); got == "0.1" {
		t.Errorf("temperature = %s in the last request, want it learned that there is none", got)
	}
}

func TestRealCancelled(t *testing.T) {
	l := newLab(t, "hang=1", "[{answers: [{text: Fine.}]}]", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-l.arrived // the request is with the model
		if len(processes(t, l.temporary)) == 0 {
			t.Error("there is no process to be cancelled")
		}
		cancel(errors.New("somebody else won"))
	}()
	_, err := l.agent.Attempt(ctx, l.task("How many?"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Cancelled || !strings.Contains(e.Message, "somebody else won") {
		t.Errorf("Attempt(cancelled) = %v, want the kind cancelled with the cause", err)
	}
}

func TestRealTimeout(t *testing.T) {
	l := newLab(t, "hang=1", "[{answers: [{text: Fine.}]}]", func(o *claudecode.Options) { o.Timeout = 2 * time.Second })
	_, err := l.agent.Attempt(t.Context(), l.task("How many?"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Transient || !strings.Contains(e.Message, "2s") {
		t.Errorf("Attempt(hangs) = %v, want the kind transient with the time", err)
	}
}

func TestRealAttemptsAtOnce(t *testing.T) {
	l := newLab(t, "p=1", "[{after: 0, answers: [{tool_calls: [{name: mcp__shop__price, input: {item: 3}}]}]}, {match_result: 'costs (\\d)', answers: [{text: '${result.1}'}]}]", nil)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			r, err := l.agent.Attempt(t.Context(), l.task("What does it cost?", "mcp__shop__price"))
			if err != nil || r.Text != "7" || r.Calls != 1 {
				t.Errorf("Attempt(with three others) = %+v, %v, want 7", r, err)
			}
		})
	}
	group.Wait()
}
