package maker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
)

const paintRules = `
- match: '(?s)# Task\n\nPaint it\.\n\nQuestion: Which colour\?\nAnswer: (\w+)'
  answers: [{text: "result: ${1}\ndetails: two coats"}]
- match: '# Task\n\nPaint it'
  answers: [{tool_calls: [{name: AskUserQuestion, input: {question: 'Which colour?', options: [red, blue]}}]}]
- match: '(?s)# Task\n\nWrite it down\.\n\n<attachment name="notes.txt">\nof the day\n</attachment>'
  answers: [{text: 'result: with the notes'}]
- match: '(?s)two coats.*# Task\n\nWrite it down'
  answers: [{text: 'result: written'}]
- match: '# Task\n\nGive up'
  answers: [{text: 'no answer at all'}]
`

// outliner is an engine that does tasks, with what the options say besides.
func outliner(t *testing.T, o maker.Options) *maker.Engine {
	t.Helper()
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.yaml")
	for file, text := range map[string]string{rules: paintRules, filepath.Join(dir, "notes.txt"): "of the day"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o.Config.Model = "sim/default?script=" + rules
	o.Config.Tools.Workspace, o.Config.Tools.Approve = dir, "none"
	if o.LogDir == "" {
		o.LogDir = filepath.Join(dir, "runs")
	}
	e, err := maker.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func doTasks(t *testing.T, e *maker.Engine, text string, attach ...string) (*maker.Run, *maker.Result) {
	t.Helper()
	run, err := e.Do(t.Context(), text, attach...)
	if err != nil {
		t.Fatalf("Do(%q) = %v", text, err)
	}
	r, err := run.Result()
	if err != nil {
		t.Fatal(err)
	}
	return run, r
}

func outputs(r *maker.Result) []string {
	var out []string
	for _, s := range r.Steps {
		out = append(out, fmt.Sprintf("%d %s", s.Step, s.Output.Text()))
	}
	return out
}

func TestDo(t *testing.T) {
	var asked []maker.Question
	e := outliner(t, maker.Options{Ask: func(_ context.Context, q maker.Question) (string, error) {
		asked = append(asked, q)
		return "2", nil
	}})
	run, r := doTasks(t, e, "Paint it. Then run `echo done`. Write it down.")
	if r.Status != event.StatusCompleted || run.Kind() != maker.KindDo || r.StepsTotal != 3 {
		t.Errorf("Do() = %s of kind %s with %d steps, want 3 completed", r.Status, run.Kind(), r.StepsTotal)
	}
	if diff := cmp.Diff([]string{"0 blue\n\ntwo coats", "1 done\n", "2 written"}, outputs(r)); diff != "" {
		t.Errorf("the outputs of the tasks: -want +got\n%s", diff)
	}
	if len(asked) != 1 || asked[0].Step != 0 || asked[0].Text != "Which colour?" || !slices.Equal(asked[0].Options, []string{"red", "blue"}) {
		t.Errorf("asked %+v, want once for the colour", asked)
	}
	if out := r.Output.Text(); !strings.Contains(out, "3 of 3 tasks are done") || !strings.Contains(out, "terminal: blue") {
		t.Errorf("the output is %q, want what was done and who decided", out)
	}
	replayed, err := e.Replay(run.ID())
	if err != nil || len(replayed.Differences) > 0 {
		t.Errorf("Replay() = %+v, %v, want no differences", replayed, err)
	}
}

// TestDoWithoutAModel: literal commands need no model and no key.
func TestDoWithoutAModel(t *testing.T) {
	dir := t.TempDir()
	e, err := maker.New(&maker.Options{
		LogDir: filepath.Join(dir, "runs"), Env: func(string) string { return "" },
		Config: maker.Config{Tools: maker.ToolConfig{Workspace: dir, Approve: "none"}, Outline: maker.OutlineConfig{ContextBudget: 400}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, r := doTasks(t, e, strings.Repeat("- Run `seq 1 1000`\n", 5))
	if r.Status != event.StatusCompleted || r.StepsCompleted != 5 || r.Usage.Calls != 0 || r.Model != "none" {
		t.Errorf("Do(commands) = %s, %d steps, %d calls of %s, want 5 completed without a call", r.Status, r.StepsCompleted, r.Usage.Calls, r.Model)
	}
	if _, err := e.Do(t.Context(), "Think about it."); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("Do(a task for a model) = %v, want which key is missing", err)
	}
}

// TestDoFailures: the final summary is there whatever came of the tasks.
func TestDoFailures(t *testing.T) {
	for policy, want := range map[string]struct {
		summary string
		steps   int
	}{
		"":     {"1 of 2 tasks are done, 1 failed.", 1},
		"stop": {"0 of 2 tasks are done, 1 failed, 1 left.", 0},
	} {
		e := outliner(t, maker.Options{Config: maker.Config{Outline: maker.OutlineConfig{OnFailure: policy, Retries: -1}}})
		_, r := doTasks(t, e, "- Give up.\n- Run `echo on`")
		if r.Status != event.StatusFailed || r.StepsCompleted != want.steps || !strings.Contains(r.Output.Text(), want.summary) {
			t.Errorf("Do(on failure %q) = %s with %d steps, output %q, want failed with %d, %q", policy, r.Status, r.StepsCompleted, r.Output.Text(), want.steps, want.summary)
		}
		if !strings.Contains(r.Reason, "1 of 2 tasks failed; task 1 (Give up.): the only sample was discarded") {
			t.Errorf("Do(on failure %q) gives the reason %q", policy, r.Reason)
		}
	}
}

func TestDoWaitsAndResumes(t *testing.T) {
	logs := t.TempDir()
	e := outliner(t, maker.Options{LogDir: logs})
	run, r := doTasks(t, e, "Paint it. Write it down.")
	if r.Stop != event.StopWaiting || r.Usage.Calls != 1 {
		t.Fatalf("Do() = %s (%s) after %d calls, want that it waits after one", r.Status, r.Stop, r.Usage.Calls)
	}
	e = outliner(t, maker.Options{LogDir: logs, Answers: []byte("- {step: 0, answer: red}")})
	changed, err := e.Resume(t.Context(), run.ID(), &maker.ResumeOptions{Change: func(c *maker.Config) {
		c.Outline.Retries = 7 // the keys of what was decided depend on it
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = changed.Result(); err != nil || r.Status != event.StatusCompleted {
		t.Fatalf("Resume() = %+v, %v, want completed", r, err)
	}
	if diff := cmp.Diff([]string{"0 red\n\ntwo coats", "1 written"}, outputs(r)); diff != "" {
		t.Errorf("the outputs of the tasks: -want +got\n%s", diff)
	}
	data, err := os.ReadFile(filepath.Join(run.Dir(), "events.jsonl"))
	if err != nil || strings.Contains(string(data), `"retries":7`) {
		t.Errorf("the configuration of the outline changed on resume (%v)", err)
	}
}

func TestDoShowsAttachments(t *testing.T) {
	e := outliner(t, maker.Options{})
	_, r := doTasks(t, e, "Write it down.", "nowhere.txt")
	if r.Stop != event.StopWaiting || !strings.Contains(r.Reason, "nowhere.txt cannot be used") || r.Usage.Calls != 0 {
		t.Errorf("Do(with a missing attachment) = %s: %s after %d calls, want that it asks for another", r.Stop, r.Reason, r.Usage.Calls)
	}
	_, r = doTasks(t, e, "Write it down.", "notes.txt") // in the workspace
	if diff := cmp.Diff([]string{"0 with the notes"}, outputs(r)); diff != "" {
		t.Errorf("the outputs of the tasks: -want +got\n%s", diff)
	}
}

func TestDoRefuses(t *testing.T) {
	e := outliner(t, maker.Options{})
	for _, test := range []struct {
		text   string
		attach []string
		field  string
	}{
		{"", nil, "text"},
		{" \n\n", nil, "text"},
		{"***", nil, "text"},
		{"Odd \xff bytes.", nil, "text"},
		{"Run `echo hello`.", []string{"a.txt"}, "attach"},
		{"Look.", []string{" "}, "attach"},
	} {
		_, err := e.Do(t.Context(), test.text, test.attach...)
		if c, ok := errors.AsType[*maker.ConfigError](err); !ok || c.Field != test.field {
			t.Errorf("Do(%q, %q) = %v, want that %s is wrong", test.text, test.attach, err, test.field)
		}
	}
	for field, c := range map[string]maker.OutlineConfig{
		"on_failure": {OnFailure: "replan"}, "task_retries": {Retries: -2}, "context_budget": {ContextBudget: 399},
	} {
		_, err := maker.New(&maker.Options{Config: maker.Config{Model: "sim/default", Outline: c}})
		if c, ok := errors.AsType[*maker.ConfigError](err); !ok || c.Field != field {
			t.Errorf("New(%+v) = %v, want that %s is wrong", c, err, field)
		}
	}
}
