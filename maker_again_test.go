package maker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// These tests are about what a resumed run must not do a second time.

// simRule is a rule of a simulator's script; see docs/simulator.md.
type simRule struct {
	Match    string      `json:"match"`
	After    *int        `json:"after,omitempty"`
	Sequence bool        `json:"sequence"`
	Answers  []simAnswer `json:"answers"`
}

type simAnswer struct {
	Text      string    `json:"text,omitempty"`
	ToolCalls []simCall `json:"tool_calls,omitempty"`
}

type simCall struct {
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

// says answers prompts with texts in turn, the last one for ever.
func says(match string, texts ...string) simRule {
	r := simRule{Match: match, Sequence: true}
	for _, text := range texts {
		r.Answers = append(r.Answers, simAnswer{Text: text})
	}
	return r
}

// calls answers prompts with a call of a tool, if n calls were made before.
func calls(match string, n int, name string, input map[string]any) simRule {
	return simRule{Match: match, After: &n, Answers: []simAnswer{{ToolCalls: []simCall{{name, input}}}}}
}

// following is a model that follows rules, of which the first that fits counts.
func following(t *testing.T, rules ...simRule) string {
	t.Helper()
	data, err := json.Marshal(rules)
	if err != nil {
		t.Fatal(err)
	}
	return rulesFile(t, string(data))
}

// planOf is a plan of steps in a row. Each is a task, its tools and further fields,
// separated by bars: "Book a table | Book | timeout: 1m".
func planOf(steps ...string) string {
	var b strings.Builder
	b.WriteString("reasoning: One after the other.\nplan:\n")
	for i, step := range steps {
		parts := append(strings.Split(step, "|"), "", "")
		next := i + 1
		if next == len(steps) {
			next = -1
		}
		more := strings.TrimSpace(parts[2])
		if more != "" {
			more = ", " + more
		}
		fmt.Fprintf(&b, "  - {step: %d, task_type: action_step, title: step %d, task_description: %q, primary_tools: [%s], fallback_tools: [],\n"+
			"     primary_tool_instructions: \"\", fallback_tool_instructions: \"\", input_variables: [], output_variable: step_%d_output,\n"+
			"     output_schema: \"done: boolean\", next_step_sequence_number: %d%s}\n",
			i, i, strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), i, next, more)
	}
	return b.String()
}

// A witness is behind a tool and knows how often it ran.
type witness struct {
	calls atomic.Int64
	then  func(context.Context) error // what a call does besides, nil for nothing
}

// tool is the tool with the witness behind it.
func (w *witness) tool(t *testing.T, name string, effect tool.Class) tool.Tool {
	t.Helper()
	type input struct {
		Item string `json:"item"`
	}
	made, err := tool.New(tool.Tool{Name: name, Description: name + " something.", Class: effect}, func(ctx context.Context, _ input) (tool.Result, error) {
		w.calls.Add(1)
		if w.then != nil {
			if err := w.then(ctx); err != nil {
				return tool.Result{}, err
			}
		}
		return tool.Result{Text: "It is done."}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// The party: a table is booked, which must happen once, and then somebody has to be
// asked something.
var partyRules = []simRule{
	calls("Book a table", 0, "Book", map[string]any{"item": "table"}),
	says("Book a table", "done: true"),
	calls("Find out who comes", 0, "AskUserQuestion", map[string]any{"question": "Who comes?"}),
	says("Find out who comes", "done: true"),
	says("Say goodbye", "done: true"),
}

// ada is a person who is there.
func ada(context.Context, maker.Question) (string, error) { return "Ada", nil }

func noEnv(string) string { return "" }

// worldChange is what a plan is checked against and may be another in the next
// session.
type worldChange struct {
	name   string
	step   string                           // of a plan that only the second session lets pass
	mend   func(*testing.T, *maker.Options) // makes the second session
	change func(*maker.Config)
}

var worldChanges = []worldChange{
	{
		name: "a key that was missing", step: "Say goodbye | | model: openai/gpt-4.1-mini",
		mend: func(_ *testing.T, o *maker.Options) {
			o.Env = func(name string) string { return map[string]string{"OPENAI_API_KEY": "a-key-that-came-late"}[name] }
			o.Transport = answering{200, `{"model":"gpt-4.1-mini","choices":[{"finish_reason":"stop","message":{"role":"assistant",
				"content":"done: true"}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`}
		},
	},
	{
		// As of an MCP server that was down while the task was planned.
		name: "a tool that was missing", step: "Say goodbye | Wave",
		mend: func(t *testing.T, o *maker.Options) {
			o.Tools = append(o.Tools, new(witness).tool(t, "Wave", tool.Pure))
		},
	},
	{
		name: "a rule that was too narrow", step: "Say goodbye | | voting: {strategy: first_to_k, k: 5}",
		change: func(c *maker.Config) { c.Voting.MaxSamples = 10 },
	},
}

// next is the engine of the second session, and how that differs from the first.
func (w worldChange) next(t *testing.T, o maker.Options) (*maker.Engine, func(*maker.Config)) {
	t.Helper()
	o.Ask, o.Tools = ada, slices.Clone(o.Tools)
	if w.mend != nil {
		w.mend(t, &o)
	}
	return newEngine(t, o), func(c *maker.Config) {
		c.MaxCalls = 0
		if w.change != nil {
			w.change(c)
		}
	}
}

// wantOnce checks that each step was committed once and each effect done once.
func wantOnce(t *testing.T, dir string) {
	t.Helper()
	steps, effects := map[int]int{}, map[int][]string{}
	for _, e := range eventsOf[event.StepCompleted](t, dir) {
		steps[e.Step]++
	}
	for _, e := range eventsOf[event.EffectDone](t, dir) {
		effects[e.Step] = append(effects[e.Step], e.Effect)
	}
	for step, n := range steps {
		if n != 1 {
			t.Errorf("step %d is committed %d times, want once", step, n)
		}
	}
	for step, keys := range effects {
		if len(keys) != 1 {
			t.Errorf("the effect of step %d was done as %q, want once", step, keys)
		}
	}
}

// A plan was rejected for something about the world: a key that was not set, a tool
// that was not there, a rule that has changed since. The next plan passed, and its
// effect happened. On a resume the first plan was checked again, against the world as
// it was now, passed, and was carried out as well: the effect happened twice.
func TestARejectedPlanStaysRejected(t *testing.T) {
	const (
		failed    = "failed"                 // a later step did
		replanned = "waiting after a replan" // the rest of the task was planned anew before
	)
	for _, world := range worldChanges {
		for _, stop := range []string{event.StopWaiting, event.StopCancelled, "max_calls", failed, replanned} {
			t.Run(world.name+" "+stop, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				book := &witness{}
				rules := append([]simRule{
					says("was rejected", planOf("Book a table | Book", "Find out who comes")),
					says("was begun with another plan", planOf("Book a table | Book", world.step)),
					says("# Task", planOf("Book a table | Book", world.step)),
					says("Fail at once", "error: as you say"),
				}, partyRules...)
				opts := maker.Options{
					LogDir: t.TempDir(), Env: noEnv, Tools: []tool.Tool{book.tool(t, "Book", tool.Mutate)},
					Config: maker.Config{
						Voting: vote.Rule{MaxSamples: 3}, Tools: maker.ToolConfig{Approve: "none", Workspace: t.TempDir()},
						Plan: maker.PlanConfig{StepMaxRetries: -1},
					},
				}
				good := following(t, rules...)
				wantStop := stop
				switch stop {
				case event.StopCancelled:
					book.then = func(context.Context) error { cancel(maker.ErrInterrupted); return nil }
				case "max_calls":
					opts.Config.MaxCalls = 4 // two plans, the call and what is said about it
				case failed:
					wantStop = ""
					rules[3] = says("(?m)^Find out who comes", "error: nobody knows")
				case replanned:
					wantStop = event.StopWaiting
					opts.Config.Plan.MaxReplans = 1
					rules[2] = says("# Task", planOf("Fail at once"))
					good = following(t, rules...)
				}
				opts.Config.Model = following(t, rules...)
				run, err := newEngine(t, opts).Run(ctx, "Have a party")
				if err != nil {
					t.Fatal(err)
				}
				r := mustResult(t, run)
				if n := len(eventsOf[event.ValidationFailed](t, run.Dir())); r.Stop != wantStop || book.calls.Load() != 1 || n != 1 {
					t.Fatalf("Run() = %s by %q (%s) with %d plans rejected and %d effects, want it stopped by %q after one of each",
						r.Status, r.Stop, r.Reason, n, book.calls.Load(), wantStop)
				}

				e, change := world.next(t, opts)
				r = resume(t, e, run.ID(), func(c *maker.Config) {
					c.Model = good
					change(c)
				})
				if n := book.calls.Load(); r.Status != event.StatusCompleted || n != 1 {
					t.Errorf("Resume() = %s (%s) after %d effects, want completed after 1", r.Status, r.Reason, n)
				}
				if n := len(eventsOf[event.ClarificationProvided](t, run.Dir())); n != 1 {
					t.Errorf("the person was asked %d times, want once: that is what the second plan does", n)
				}
				wantOnce(t, run.Dir())
				wantReplay(t, e, run.ID())
			})
		}
	}
}

// A rejection that ended the run has led to nothing. It is looked at again, because
// whoever resumes the run has mended what was wrong: nothing else would help.
func TestARejectionThatEndedTheRunIsLookedAtAgain(t *testing.T) {
	const given, only, last = "a given plan", "the only plan", "the last of several plans"
	for _, world := range worldChanges {
		for _, rejected := range []string{given, only, last} {
			t.Run(world.name+" "+rejected, func(t *testing.T) {
				plan, book := planOf("Book a table | Book", world.step), &witness{}
				opts := maker.Options{
					LogDir: t.TempDir(), Env: noEnv, Tools: []tool.Tool{book.tool(t, "Book", tool.Mutate)},
					Config: maker.Config{
						Model:  following(t, append([]simRule{says("# Task", plan)}, partyRules...)...),
						Voting: vote.Rule{MaxSamples: 3}, Tools: maker.ToolConfig{Approve: "none", Workspace: t.TempDir()},
					},
				}
				if rejected == only {
					opts.Config.Plan.MaxRetries = -1
				}
				first := newEngine(t, opts)
				begin, argument := first.Run, "Have a party"
				if rejected == given {
					begin, argument = first.Exec, plan
				}
				run, err := begin(t.Context(), argument)
				if err != nil {
					t.Fatal(err)
				}
				wantRejected := func(r *maker.Result) {
					t.Helper()
					if r.Status != event.StatusFailed || !strings.Contains(r.Reason, "checks") || book.calls.Load() != 0 {
						t.Fatalf("Result() = %s (%s) after %d effects, want that the plan is rejected", r.Status, r.Reason, book.calls.Load())
					}
				}
				wantRejected(mustResult(t, run))
				wantRejected(resume(t, first, run.ID(), nil)) // nothing is mended yet

				e, change := world.next(t, opts)
				if r := resume(t, e, run.ID(), change); r.Status != event.StatusCompleted || book.calls.Load() != 1 {
					t.Errorf("Resume() = %s (%s) after %d effects, want completed after 1", r.Status, r.Reason, book.calls.Load())
				}
				wantOnce(t, run.Dir())
				wantReplay(t, e, run.ID())
			})
		}
	}
}

var (
	seqField  = regexp.MustCompile(`"seq":\d+`)
	runField  = regexp.MustCompile(`("run":"[^"]*")(,"key":"[^"]*")?`)
	stepField = regexp.MustCompile(`"step":(\d+)`)
)

// logLines are the lines of a run's log.
func logLines(t *testing.T, dir string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, runlog.EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
}

// checksum is how a line ends.
var checksum = regexp.MustCompile(`,"crc":"[0-9a-f]{8}"\}$`)

// rewrite makes a log of lines, numbers them, and stores the result that follows. As in
// early logs, the lines have no checksums.
func rewrite(t *testing.T, dir string, lines []string) {
	t.Helper()
	var b strings.Builder
	for i, line := range lines {
		first := true
		line = checksum.ReplaceAllString(strings.TrimSuffix(line, "\n"), "}")
		b.WriteString(seqField.ReplaceAllStringFunc(line, func(field string) string {
			if !first {
				return field
			}
			first = false
			return fmt.Sprintf(`"seq":%d`, i)
		}))
		b.WriteByte('\n')
	}
	if err := os.WriteFile(filepath.Join(dir, runlog.EventsFile), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := openRun(t, dir).Result()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, runs.ResultFile), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// underAnotherPlan are the lines of step 0 of the given types as a session wrote them
// that carried out the second plan after another had carried out the first. Later
// releases say in a field key what the events of orchestrators belong to, so these
// lines have it as well; this one passes over it.
func underAnotherPlan(lines []string, types ...event.Type) []string {
	var again []string
	for _, line := range lines {
		var h event.Header
		step := stepField.FindStringSubmatch(line)
		if json.Unmarshal([]byte(line), &h) != nil || !slices.Contains(types, h.Type) || step == nil || step[1] != "0" {
			continue
		}
		line = strings.ReplaceAll(line, `"plan/0/step/0`, `"plan/0.1/step/0`)
		if h.Type == event.TypeStepCompleted || h.Type == event.TypeStepStarted {
			line = runField.ReplaceAllString(line, `$1,"key":"plan/0.1/step/0"`)
		}
		again = append(again, line)
	}
	return again
}

// A step and its effect that happened twice, under different keys, were no
// difference to a replay: effects were told apart by their keys alone, and the second
// step_completed was not even written if it said the same as the first. So the log
// looked as if all was well.
func TestReplayFindsWhatHappenedTwice(t *testing.T) {
	book := &witness{}
	opts := maker.Options{
		LogDir: t.TempDir(), Env: noEnv, Tools: []tool.Tool{book.tool(t, "Book", tool.Mutate)},
		Config: maker.Config{Model: following(t, partyRules...), Tools: maker.ToolConfig{Approve: "none", Workspace: t.TempDir()}},
	}
	run, err := newEngine(t, opts).Exec(t.Context(), planOf("Book a table | Book", "Find out who comes"))
	if err != nil {
		t.Fatal(err)
	}
	mustResult(t, run)
	opts.Ask = ada
	if r := resume(t, newEngine(t, opts), run.ID(), nil); r.Status != event.StatusCompleted {
		t.Fatalf("Resume() = %s (%s), want completed", r.Status, r.Reason)
	}
	lines := logLines(t, run.Dir())
	resumed := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, `{"type":"run_resumed"`) })

	votes := []event.Type{event.TypeSampleCompleted, event.TypeVoteCompleted}
	effects := []event.Type{event.TypeEffectClaimed, event.TypeEffectDone}
	for _, test := range []struct {
		name   string
		types  []event.Type
		differ bool
	}{
		{"nothing", nil, false},
		{"the effect", slices.Concat(votes, effects), true},
		{"a claim without an outcome", slices.Concat(votes, effects[:1]), true},
		{"the step", []event.Type{event.TypeStepCompleted}, true},
		{"the step after its votes", append([]event.Type{event.TypeStepStarted, event.TypeStepCompleted}, votes...), true},
		{"both", slices.Concat([]event.Type{event.TypeStepStarted, event.TypeStepCompleted}, votes, effects), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			logs := t.TempDir()
			dir := filepath.Join(logs, run.ID())
			if err := os.CopyFS(dir, os.DirFS(run.Dir())); err != nil {
				t.Fatal(err)
			}
			again := underAnotherPlan(lines[:resumed], test.types...)
			if len(again) < len(test.types) {
				t.Fatalf("%d lines are doubled, want one of each of %q at least", len(again), test.types)
			}
			rewrite(t, dir, slices.Concat(lines[:resumed+1], again, lines[resumed+1:]))
			replay, err := newEngine(t, maker.Options{LogDir: logs}).Replay(run.ID())
			if err != nil || !replay.Compared {
				t.Fatalf("Replay(%s doubled) = %+v, %v, want a comparison", test.name, replay, err)
			}
			named := slices.ContainsFunc(replay.Differences, func(text string) bool {
				return strings.Contains(text, "step 0") || strings.Contains(text, "plan/0.1/step/0/effect/0")
			})
			if named != test.differ || !test.differ && len(replay.Differences) > 0 {
				t.Errorf("Replay(%s doubled) = %q, want a difference that names the step or its effect: %t", test.name, replay.Differences, test.differ)
			}
		})
	}
}

// Voters may want the same call twice within a step, in one try or in two: that is no
// difference.
func TestReplayTakesEqualCallsOfOneStep(t *testing.T) {
	item := map[string]any{"item": "table"}
	for name, rules := range map[string][]simRule{
		"one after the other": {calls("Book twice", 0, "Book", item), calls("Book twice", 1, "Book", item), says("Book twice", "done: true")},
		"in two tries": {
			calls("Book twice", 0, "Book", item),
			{Match: "Book twice", After: new(1), Sequence: true, Answers: []simAnswer{{Text: "error: it is full"}, {ToolCalls: []simCall{{"Book", item}}}}},
			says("Book twice", "done: true"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			book := &witness{}
			e := newEngine(t, maker.Options{
				Tools:  []tool.Tool{book.tool(t, "Book", tool.Mutate)},
				Config: maker.Config{Model: following(t, rules...), Tools: maker.ToolConfig{Approve: "none", Workspace: t.TempDir()}},
			})
			run, err := e.Exec(t.Context(), planOf("Book twice | Book"))
			if err != nil {
				t.Fatal(err)
			}
			if r := mustResult(t, run); r.Status != event.StatusCompleted || book.calls.Load() != 2 {
				t.Fatalf("Exec() = %s (%s) after %d calls, want completed after 2", r.Status, r.Reason, book.calls.Load())
			}
			wantReplay(t, e, run.ID())
		})
	}
}

// samplesOf counts the samples in a log by step.
func samplesOf(t *testing.T, dir string) map[int]int {
	t.Helper()
	n := map[int]int{}
	for _, e := range eventsOf[event.SampleCompleted](t, dir) {
		n[e.Step]++
	}
	return n
}

// Which steps run at once depends on which tools change something, and the keys of
// decisions depended on which steps run at once. So a tool that had another effect
// class on a resume, or that was gone, had committed steps asked again under other
// keys, and committed again if the answers differed in anything.
func TestStepsStayDecidedWhateverToolsThereAre(t *testing.T) {
	const gone = tool.Class("gone") // which is none
	model := following(t, append([]simRule{
		calls("Look at the", 0, "Look", map[string]any{"item": "sky"}),
		says("Look at the", "done: true"),
	}, partyRules...)...)
	for _, test := range []struct {
		first, second tool.Class
	}{
		{tool.Observe, tool.Mutate}, {tool.Observe, gone}, {tool.Pure, tool.Observe},
		{tool.Mutate, tool.Observe}, {tool.Mutate, gone},
	} {
		t.Run(fmt.Sprintf("%s then %s", test.first, test.second), func(t *testing.T) {
			look := &witness{}
			opts := maker.Options{
				LogDir: t.TempDir(), Env: noEnv, Tools: []tool.Tool{look.tool(t, "Look", test.first)},
				Config: maker.Config{
					Model: model, Voting: maker.FirstToK(2), Plan: maker.PlanConfig{Parallel: 3},
					Tools: maker.ToolConfig{Approve: "none", Workspace: t.TempDir()},
				},
			}
			run, err := newEngine(t, opts).Exec(t.Context(), planOf("Look at the sky | Look", "Look at the sea | Look", "Look at the road | Look", "Find out who comes"))
			if err != nil {
				t.Fatal(err)
			}
			if r := mustResult(t, run); r.Stop != event.StopWaiting || r.StepsCompleted != 3 {
				t.Fatalf("Exec() = %s by %q (%s) after %d steps, want it waiting after 3", r.Status, r.Stop, r.Reason, r.StepsCompleted)
			}
			looked, asked := look.calls.Load(), samplesOf(t, run.Dir())

			opts.Ask, opts.Tools = ada, nil
			if test.second != gone {
				opts.Tools = []tool.Tool{look.tool(t, "Look", test.second)}
			}
			e := newEngine(t, opts)
			if r := resume(t, e, run.ID(), nil); r.Status != event.StatusCompleted || r.StepsCompleted != 4 {
				t.Errorf("Resume() = %s (%s) after %d steps, want completed after 4", r.Status, r.Reason, r.StepsCompleted)
			}
			if n := look.calls.Load(); n != looked {
				t.Errorf("Resume() looked %d times more, want never", n-looked)
			}
			now := samplesOf(t, run.Dir())
			delete(asked, 3)
			delete(now, 3)
			if diff := cmp.Diff(asked, now); diff != "" {
				t.Errorf("samples by committed step: -first session +both\n%s", diff)
			}
			wantOnce(t, run.Dir())
			wantReplay(t, e, run.ID())
		})
	}
}
