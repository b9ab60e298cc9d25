package maker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/vote"
)

// twoSteps is a plan of two steps, and twoStepRules a simulator that makes it and
// carries it out, with answers that are wrong one time in five.
const (
	twoSteps = `reasoning: Two steps.
plan:
  - {step: 0, task_type: action_step, title: find, task_description: Return the number seven.,
     primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "",
     input_variables: [], output_variable: step_0_output, output_schema: "value: integer", next_step_sequence_number: 1}
  - {step: 1, task_type: action_step, title: double, task_description: Double step_0_output.value.,
     primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "",
     input_variables: [step_0_output.value], output_variable: step_1_output, output_schema: "value: integer", next_step_sequence_number: -1}
`
	twoStepRules = `
- match: 'Return the number seven'
  answers: [{text: 'value: 7', weight: 4}, {text: 'value: 8', weight: 1}]
- match: 'Double step_0_output'
  and: ['value: 7']
  answers: [{text: 'value: 14', weight: 4}, {text: seven and seven, weight: 1}]
- match: 'Fail at once'
  answers: [{text: 'error: as you say'}]
`
)

// planningSim is the name of a simulator that follows rules and plans with twoSteps.
func planningSim(t *testing.T, settings string) string {
	t.Helper()
	indented := strings.ReplaceAll(twoSteps, "\n", "\n        ")
	rules := twoStepRules + "- match: '# Task'\n  answers:\n    - text: |\n        " + strings.TrimRight(indented, " ")
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	return "sim/default?script=" + file + settings
}

// stable is a result without what differs from run to run.
func stable(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"type", "run", "total_duration_ms"} {
		delete(r, name)
	}
	steps, _ := r["steps"].([]any)
	for _, s := range steps {
		delete(s.(map[string]any), "duration_ms")
	}
	return r
}

// TestLibraryAndProgramAgree: the same task, the same seed, the same result.
func TestLibraryAndProgramAgree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(twoSteps), 0o644); err != nil {
		t.Fatal(err)
	}
	workspace := t.TempDir()
	contested := false
	for seed := range 3 {
		model := planningSim(t, fmt.Sprintf("&seed=%d", seed))
		for _, kind := range []string{"run", "exec", "plan"} {
			engine := newEngine(t, maker.Options{Config: maker.Config{
				Model: model, Voting: vote.Rule{Strategy: vote.FirstToK, K: 3}, Tools: maker.ToolConfig{Workspace: workspace},
			}})
			ctx := context.Background()
			argument, start := "Double seven", map[string]func() (*maker.Run, error){
				"run":  func() (*maker.Run, error) { return engine.Run(ctx, "Double seven") },
				"plan": func() (*maker.Run, error) { return engine.Plan(ctx, "Double seven") },
				"exec": func() (*maker.Run, error) { return engine.Exec(ctx, twoSteps) },
			}[kind]
			if kind == "exec" {
				argument = file
			}
			run, err := start()
			if err != nil {
				t.Fatal(err)
			}
			result := mustResult(t, run)
			contested = contested || result.Voting.Contested > 0
			library, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}

			var out, stderr bytes.Buffer
			args := []string{kind, argument, "--json", "--voting", "first_to_k", "--voting-k", "3", "--model", model, "--workspace", workspace, "--log-dir", t.TempDir()}
			if code := cli.Main(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr}); code != 0 {
				t.Fatalf("maker %q = exit code %d\n%s", args, code, &stderr)
			}
			lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
			if diff := cmp.Diff(stable(t, library), stable(t, lines[len(lines)-1]), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("%s with seed %d: library and program differ: -library +program\n%s", kind, seed, diff)
			}
		}
	}
	if !contested {
		t.Error("no vote was contested: the seeds show nothing")
	}
}

// TestPlanDefaults: what a run has if nothing is said.
func TestPlanDefaults(t *testing.T) {
	engine := newEngine(t, maker.Options{Config: maker.Config{Model: planningSim(t, ""), Tools: maker.ToolConfig{Workspace: t.TempDir()}}})
	run, err := engine.Run(context.Background(), "Double seven")
	if err != nil {
		t.Fatal(err)
	}
	mustResult(t, run)
	for rec, err := range run.Events(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		submitted, ok := rec.Event.(event.TaskSubmitted)
		if !ok {
			break
		}
		var got maker.Config
		if err := json.Unmarshal(submitted.Config, &got); err != nil {
			t.Fatal(err)
		}
		if want := (vote.Rule{Strategy: vote.None, N: 3, K: 2, MaxSamples: 10}); got.Voting != want {
			t.Errorf("voting = %+v, want %+v", got.Voting, want)
		}
		p := got.Plan
		if p.StepMaxRetries != 2 || p.MaxRetries != 2 || p.QualityChecks || p.MaxReplans != 0 || p.Parallel != 1 || p.Repair != "llm" || p.AllowLoops {
			t.Errorf("plan settings = %+v, want 2 retries of each kind and the rest off", p)
		}
		if got.Tools.MCPConfig != "" || got.Tools.Builtin != nil {
			t.Errorf("tools = %+v, want all built-in ones and no server", got.Tools)
		}
	}
	if config.DefaultModel != "anthropic/claude-sonnet-4-5" {
		t.Errorf("DefaultModel = %s, want anthropic/claude-sonnet-4-5", config.DefaultModel)
	}
}

// TestPlanRefuses: what cannot be begun.
func TestPlanRefuses(t *testing.T) {
	engine := newEngine(t, maker.Options{Config: maker.Config{Model: planningSim(t, "")}})
	if _, err := engine.Run(context.Background(), " \n"); err == nil || !strings.Contains(err.Error(), "task is empty") {
		t.Errorf("Run(blank) = %v, want that the task is empty", err)
	}
	for name, plan := range map[string]string{"empty": "", "words": "do it", "binary": "\x00\xff", "list": "[1, 2]"} {
		run, err := engine.Exec(context.Background(), plan)
		if err != nil {
			t.Fatalf("Exec(%s) = %v, want a run", name, err)
		}
		if r := mustResult(t, run); r.Status != event.StatusFailed || !strings.Contains(r.Reason, "valid_yaml") {
			t.Errorf("Exec(%s) = %s, %s, want that it is no plan", name, r.Status, r.Reason)
		}
	}
}

// TestExecEnds: a given plan that fails has an end, also if the configuration would
// let a planner make another.
func TestExecEnds(t *testing.T) {
	engine := newEngine(t, maker.Options{Config: maker.Config{Model: planningSim(t, ""), Plan: maker.PlanConfig{MaxReplans: 2, StepMaxRetries: -1}}})
	run, err := engine.Exec(context.Background(), strings.Replace(twoSteps, "Return the number seven.", "Fail at once.", 1))
	if err != nil {
		t.Fatal(err)
	}
	r := mustResult(t, run)
	if r.Status != event.StatusFailed || !strings.Contains(r.Reason, "as you say") {
		t.Errorf("Exec = %s, %q, want that it failed", r.Status, r.Reason)
	}
}

// shout is a module of a user's own: it answers a task by itself.
type shout struct{}

func (shout) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		task, ok := e.(event.TaskSubmitted)
		if !ok {
			return
		}
		answer, _ := json.Marshal(strings.ToUpper(task.Task))
		if yield(event.StepCompleted{Step: 0, Title: "shout", Output: event.JSONValue(answer)}) {
			yield(event.TaskCompleted{Steps: 1, Output: event.JSONValue(answer)})
		}
	}
}

// TestOwnModules: planner, validator and executor can be replaced.
func TestOwnModules(t *testing.T) {
	engine := newEngine(t, maker.Options{
		Config:  maker.Config{Model: "sim/default"},
		Modules: func(maker.Modules) []flow.Module { return []flow.Module{shout{}} },
	})
	run, err := engine.Run(context.Background(), "hello")
	if err != nil {
		t.Fatal(err)
	}
	if r := mustResult(t, run); r.Status != event.StatusCompleted || string(r.Output.JSON) != `"HELLO"` {
		t.Errorf("Run = %s, %s, want HELLO", r.Status, r.Output.JSON)
	}
}

// rulesFile writes the rules of a simulator and returns its name.
func rulesFile(t *testing.T, rules string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	return "sim/default?script=" + file
}

// TestLargeOutputs: an output that the log keeps beside itself is passed on whole,
// also by a session that did not see it being made.
func TestLargeOutputs(t *testing.T) {
	long := strings.Repeat("all work and no play ", 5000)
	model := rulesFile(t, `[
		{"match": "Return the number seven", "answers": [{"text": "value: `+long+`end", "tokens": 9}]},
		{"match": "Double step_0_output", "and": ["value: \"?([a-z ]+end)"], "answers": [{"text": "value: ${1}", "tokens": 9}]}]`)
	engine := newEngine(t, maker.Options{Config: maker.Config{Model: model, MaxCalls: 1, MaxOutput: 100_000}})
	run, err := engine.Exec(t.Context(), twoSteps)
	if err != nil {
		t.Fatal(err)
	}
	r := mustResult(t, run)
	if r.Status != event.StatusStopped || r.StepsCompleted != 1 || r.Steps[0].Output.Ref == nil {
		t.Fatalf("Exec with one call = %s, %d steps, want it stopped after the large output", r.Status, r.StepsCompleted)
	}
	r = resume(t, engine, run.ID(), func(c *maker.Config) { c.MaxCalls = 0 })
	output, err := openRun(t, run.Dir()).Load(r.Output)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`{"value":"%send"}`, long); r.Status != event.StatusCompleted || string(output.JSON) != want {
		t.Errorf("Resume = %s, %s, %.100s (%d bytes), want the second step to see all of the first", r.Status, r.Reason, output.JSON, len(output.JSON))
	}
	wantReplay(t, engine, run.ID())
}

// TestPromptsSurviveResume: a run goes on with the prompts that it was begun with.
func TestPromptsSurviveResume(t *testing.T) {
	model := rulesFile(t, `[{"match": "^Mine: Return", "answers": [{"text": "value: 7"}]}, {"match": "^Mine: Double", "answers": [{"text": "value: 14"}]}]`)
	logs, mine := t.TempDir(), map[string]string{"executor_step": "Mine: {{.Description}}"}
	engine := newEngine(t, maker.Options{LogDir: logs, Config: maker.Config{Model: model, MaxCalls: 1, Prompts: mine}})
	run, err := engine.Exec(t.Context(), twoSteps)
	if err != nil {
		t.Fatal(err)
	}
	mustResult(t, run)
	another := newEngine(t, maker.Options{LogDir: logs})
	if r := resume(t, another, run.ID(), func(c *maker.Config) { c.MaxCalls = 0 }); r.Status != event.StatusCompleted {
		t.Errorf("Resume = %s, %s, want it completed with the prompts it began with", r.Status, r.Reason)
	}
}
