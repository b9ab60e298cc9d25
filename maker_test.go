package maker_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// perfect is a model that is always right, slow one that takes a moment for it.
const (
	perfect = "sim/default?p=1"
	slow    = "sim/default?p=1&latency=5ms"
	stuck   = "sim/default?p=1&latency=1h"
)

func newEngine(t *testing.T, o maker.Options) *maker.Engine {
	t.Helper()
	if o.Config.Model == "" {
		o.Config.Model = perfect
	}
	if o.LogDir == "" {
		o.LogDir = t.TempDir()
	}
	e, err := maker.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func startHanoi(t *testing.T, e *maker.Engine, disks int) *maker.Run {
	t.Helper()
	run, err := e.Chain(t.Context(), hanoi.Name, hanoi.Params{Disks: disks})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func mustResult(t *testing.T, run *maker.Run) *maker.Result {
	t.Helper()
	r, err := run.Result()
	if err != nil {
		t.Fatalf("Result() = %v", err)
	}
	return r
}

func resume(t *testing.T, e *maker.Engine, run string, change func(*maker.Config)) *maker.Result {
	t.Helper()
	r, err := e.Resume(t.Context(), run, &maker.ResumeOptions{Change: change})
	if err != nil {
		t.Fatalf("Resume(%s) = %v", run, err)
	}
	return mustResult(t, r)
}

func wantReplay(t *testing.T, e *maker.Engine, run string) {
	t.Helper()
	r, err := e.Replay(run)
	if err != nil || !r.Compared || len(r.Differences) > 0 {
		t.Errorf("Replay(%s) = %+v, %v, want a comparison without differences", run, r, err)
	}
}

func TestNewRefuses(t *testing.T) {
	nan := math.NaN()
	number := func(f float64) *float64 { return &f }
	tests := []struct {
		field  string
		change func(*maker.Config)
	}{
		{"model", func(c *maker.Config) { c.Model = "" }},
		{"ahead_by", func(c *maker.Config) { c.Voting = maker.FirstToK(0) }},
		{"ahead_by", func(c *maker.Config) { c.Voting = maker.FirstToK(-2) }},
		{"max_samples", func(c *maker.Config) { c.Voting.Strategy, c.Voting.K, c.Voting.MaxSamples = vote.FirstToK, 5, 4 }},
		{"max_samples", func(c *maker.Config) { c.Voting.Strategy, c.Voting.K, c.Voting.MaxSamples = vote.FirstToK, 5, -1 }},
		{"voting", func(c *maker.Config) { c.Voting.Strategy = "plurality" }},
		{"voting", func(c *maker.Config) { c.Voting.Strategy = vote.Majority }},
		{"voting", func(c *maker.Config) { c.Voting = vote.Rule{Strategy: vote.Majority, N: 9, MaxSamples: 4} }},
		{"batch_size", func(c *maker.Config) { c.BatchSize = -1 }},
		{"spare", func(c *maker.Config) { c.Spare = -1 }},
		{"max_output", func(c *maker.Config) { c.MaxOutput = -1 }},
		{"max_faults", func(c *maker.Config) { c.MaxFaults = -1 }},
		{"retry_attempts", func(c *maker.Config) { c.RetryAttempts = -1 }},
		{"retry_delay", func(c *maker.Config) { c.RetryDelay = -1 }},
		{"call_timeout", func(c *maker.Config) { c.CallTimeout = -1 }},
		{"max_calls", func(c *maker.Config) { c.MaxCalls = -1 }},
		{"max_tokens", func(c *maker.Config) { c.MaxTokens = -1 }},
		{"deadline", func(c *maker.Config) { c.Deadline = -1 }},
		{"max_usd", func(c *maker.Config) { c.MaxUSD = -0.01 }},
		{"max_usd", func(c *maker.Config) { c.MaxUSD = nan }},
		{"max_usd", func(c *maker.Config) { c.MaxUSD = math.Inf(1) }},
		{"first_temperature", func(c *maker.Config) { c.FirstTemperature = &nan }},
		{"first_temperature", func(c *maker.Config) { c.FirstTemperature = number(-0.1) }},
		{"temperature", func(c *maker.Config) { c.Temperature = number(2.1) }},
		{"batch_size", func(c *maker.Config) { c.BatchSize = math.MaxInt }},
		{"spare", func(c *maker.Config) { c.Spare = math.MaxInt }},
		{"samples_per_call", func(c *maker.Config) { c.SamplesPerCall = math.MaxInt }},
		{"max_output", func(c *maker.Config) { c.MaxOutput = math.MaxInt }},
		{"max_samples", func(c *maker.Config) { c.Voting = vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: math.MaxInt} }},
		{"voting_n", func(c *maker.Config) { c.Voting = vote.Rule{Strategy: vote.Majority, N: math.MaxInt} }},
		{"retry_delay", func(c *maker.Config) { c.RetryDelay = math.MaxInt64 }},
		{"call_timeout", func(c *maker.Config) { c.CallTimeout = math.MaxInt64 }},
		{"max_planner_retries", func(c *maker.Config) { c.Plan.MaxRetries = math.MaxInt }},
		{"max_replans", func(c *maker.Config) { c.Plan.MaxReplans = math.MaxInt }},
		{"step_max_retries", func(c *maker.Config) { c.Plan.StepMaxRetries = math.MaxInt }},
		{"parallel", func(c *maker.Config) { c.Plan.Parallel = math.MaxInt }},
		{"max_steps", func(c *maker.Config) { c.Plan.MaxSteps = math.MaxInt }},
		{"max_plan", func(c *maker.Config) { c.Plan.MaxPlan = math.MaxInt }},
		{"plan_voting", func(c *maker.Config) { c.Plan.Voting = vote.Rule{Strategy: vote.None, MaxSamples: math.MaxInt} }},
		{"context_budget", func(c *maker.Config) { c.Plan.ContextBudget = math.MaxInt }},
		{"context_budget", func(c *maker.Config) { c.Outline.ContextBudget = math.MaxInt }},
		{"task_retries", func(c *maker.Config) { c.Outline.Retries = math.MaxInt }},
		{"max_nodes", func(c *maker.Config) { c.Solve.MaxNodes = math.MaxInt }},
		{"samples_per_problem", func(c *maker.Config) { c.Solve.Calibration.Samples = math.MaxInt }},
		{"flags", func(c *maker.Config) {
			f := redflag.Format()
			f.ExcessiveLength.MaxTokens = -1
			c.Flags = &f
		}},
	}
	for _, test := range tests {
		c := maker.Config{Model: perfect}
		test.change(&c)
		e, err := maker.New(&maker.Options{Config: c, LogDir: t.TempDir()})
		if err == nil { // what is open may depend on the kind of run
			_, err = e.Chain(t.Context(), hanoi.Name, hanoi.Params{Disks: 1})
		}
		bad, ok := errors.AsType[*maker.ConfigError](err)
		if !ok || bad.Field != test.field {
			t.Errorf("New(%s wrong) and Chain = %v, want a ConfigError about it", test.field, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), test.field+": ") || errors.Unwrap(err) == nil {
			t.Errorf("New(%s wrong) = %q, want it to begin with the field and to wrap a cause", test.field, err)
		}
	}
	patient := maker.Config{Model: perfect, MaxFaults: math.MaxInt, RetryAttempts: math.MaxInt, MaxCalls: math.MaxInt64, MaxTokens: math.MaxInt64, Deadline: math.MaxInt64}
	if _, err := maker.New(&maker.Options{Config: patient}); err != nil {
		t.Errorf("New(as patient as can be) = %v, want nil", err)
	}
	if _, err := maker.New(nil); err != nil {
		t.Errorf("New(nil) = %v, want the defaults", err)
	}
	if _, err := maker.New(&maker.Options{Config: maker.Config{Model: perfect}}); err != nil {
		t.Errorf("New(a model and nothing else) = %v, want nil", err)
	}
}

// TestChainRefuses has settings that only show when a run is to start. Nothing
// may be left behind of a run that never was.
func TestChainRefuses(t *testing.T) {
	broken := domain.Family{Name: "broken"}
	missing := filepath.Join(t.TempDir(), "missing", "file")
	tests := []struct {
		name   string
		opts   maker.Options
		family string
		params any
		field  string // of a ConfigError; "" for any error
		text   string
	}{
		{name: "no provider", opts: maker.Options{Config: maker.Config{Model: "llama"}}, field: "model", text: "names no provider"},
		{name: "unknown provider", opts: maker.Options{Config: maker.Config{Model: "nowhere/m"}}, field: "model", text: `"nowhere"`},
		{name: "no key", opts: maker.Options{Config: maker.Config{Model: "openai/gpt-4.1-mini"}}, field: "model", text: "OPENAI_API_KEY"},
		{name: "no address", opts: maker.Options{Config: maker.Config{Model: "compat/m"}}, field: "model", text: "--base-url"},
		{name: "wrong setting", opts: maker.Options{Config: maker.Config{Model: "sim/default?p=2"}}, field: "model", text: "p=2"},
		{
			name: "no price", field: "max_usd", text: "compat/m",
			opts: maker.Options{Config: maker.Config{Model: "compat/m", BaseURL: "http://127.0.0.1:1/v1", MaxUSD: 1}},
		},
		{name: "nothing to replay", opts: maker.Options{Config: maker.Config{Model: "sim/default", ReplayFrom: missing}}, field: "replay", text: "missing"},
		{name: "nowhere to record", opts: maker.Options{Record: missing}, field: "record", text: "missing"},
		{name: "unknown family", family: "chess", text: `"chess"`},
		{name: "family without chains", opts: maker.Options{Families: []domain.Family{broken}}, family: "broken", text: `"broken"`},
		{name: "no disks", params: hanoi.Params{}, text: "0 disks"},
		{name: "too many disks", params: hanoi.Params{Disks: 65}, text: "65 disks"},
		{name: "parameters of the wrong shape", params: "three", text: "hanoi"},
		{name: "parameters that are not data", params: func() {}, text: "hanoi"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.opts.LogDir = filepath.Join(t.TempDir(), "runs")
			test.opts.Env = func(string) string { return "" }
			if test.family == "" {
				test.family = hanoi.Name
			}
			if test.params == nil {
				test.params = hanoi.Params{Disks: 3}
			}
			run, err := newEngine(t, test.opts).Chain(t.Context(), test.family, test.params)
			if err == nil || run != nil {
				t.Fatalf("Chain = %v, %v, want an error", run, err)
			}
			bad, ok := errors.AsType[*maker.ConfigError](err)
			if ok != (test.field != "") || ok && bad.Field != test.field || !strings.Contains(err.Error(), test.text) {
				t.Errorf("Chain = %q, want the field %q and %q in it", err, test.field, test.text)
			}
			if _, err := os.Stat(test.opts.LogDir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Chain left %s behind", test.opts.LogDir)
			}
		})
	}
}

func TestResult(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.9&malformed=0.05&seed=4"}})
	run := startHanoi(t, e, 6)
	r := mustResult(t, run)
	if r.Status != event.StatusCompleted || r.Reason != "" || r.Stop != "" || r.Wrong {
		t.Errorf("Result() = %s, %q, %q, wrong %t, want completed and nothing else", r.Status, r.Reason, r.Stop, r.Wrong)
	}
	if r.Run != run.ID() || filepath.Base(run.Dir()) != run.ID() || r.Kind != hanoi.Name || r.Task != "Towers of Hanoi with 6 disks" {
		t.Errorf("Result() = run %q, kind %q, task %q in %s", r.Run, r.Kind, r.Task, run.Dir())
	}
	if !r.Simulated || r.Model != "sim/default?p=0.9&malformed=0.05&seed=4" {
		t.Errorf("Result() = model %q, simulated %t, want the simulator and that it says so", r.Model, r.Simulated)
	}
	if r.StepsCompleted != 63 || r.StepsTotal != 63 || len(r.Steps) != 63 || r.StepsOmitted != 0 {
		t.Errorf("Result() = %d of %d steps, %d listed, %d omitted, want all 63", r.StepsCompleted, r.StepsTotal, len(r.Steps), r.StepsOmitted)
	}
	wantMoves(t, r, 6)
	var samples, flagged, contested int
	var cost float64
	for i, s := range r.Steps {
		if s.Step != i || s.Voting.Margin != 3 || s.CostUSD == nil {
			t.Fatalf("step %d is %+v, want its number, a margin of 3 and a cost", i, s)
		}
		samples, flagged, cost = samples+s.Voting.Samples, flagged+s.Voting.RedFlagged, cost+*s.CostUSD
		if s.Voting.Contested() {
			contested++
		}
	}
	v := r.Voting
	if v.Samples != samples || v.RedFlagged != flagged || v.Contested != contested || v.LeastMargin != 3 || contested == 0 || flagged == 0 {
		t.Errorf("Result().Voting = %+v, want %d samples, %d flagged, %d contested", v, samples, flagged, contested)
	}
	if r.Usage.Calls != int64(samples) || r.TotalCostUSD == nil || math.Abs(*r.TotalCostUSD-cost) > 1e-9 {
		t.Errorf("Result() = %d calls for %v dollars, want %d for %v", r.Usage.Calls, r.TotalCostUSD, samples, cost)
	}
	if !cmp.Equal(r.Output, r.Steps[62].Output) {
		t.Errorf("Result().Output = %s, want that of the last step", r.Output.JSON)
	}

	built, err := openRun(t, run.Dir()).Result()
	if diff := cmp.Diff(r, built); err != nil || diff != "" {
		t.Errorf("runs.Result() = %v: -of the run +of its folder\n%s", err, diff)
	}
	compareStored(t, run.Dir(), r)
	summary, err := os.ReadFile(filepath.Join(run.Dir(), runs.SummaryFile))
	if err != nil || string(summary) != r.Markdown() || !strings.Contains(string(summary), "simulated") {
		t.Errorf("%s = %q, %v, want Markdown() with a word about the simulator", runs.SummaryFile, summary, err)
	}
	wantReplay(t, e, run.ID())
}

func TestSameSeedSameResult(t *testing.T) {
	const model = "sim/default?p=0.85&malformed=0.05&rivals=2&seed=11"
	var results []*maker.Result
	for _, batch := range []int{1, 64, 64} {
		e := newEngine(t, maker.Options{Config: maker.Config{Model: model, BatchSize: batch, Voting: maker.FirstToK(4)}})
		results = append(results, mustResult(t, startHanoi(t, e, 7)))
	}
	same := cmp.Options{
		cmpopts.IgnoreFields(maker.Result{}, "Run", "TotalDurationMS"),
		cmpopts.IgnoreFields(runs.StepResult{}, "DurationMS"),
		cmpopts.EquateApprox(1e-9, 0), // sums of the same costs in another order
	}
	for _, r := range results[1:] {
		if diff := cmp.Diff(results[0], r, same); diff != "" {
			t.Errorf("two runs with the same seed differ: -one +other\n%s", diff)
		}
	}
	e := newEngine(t, maker.Options{Config: maker.Config{Model: strings.Replace(model, "seed=11", "seed=12", 1), Voting: maker.FirstToK(4)}})
	if other := mustResult(t, startHanoi(t, e, 7)); other.Voting == results[0].Voting {
		t.Errorf("another seed gave the same votes: %+v", other.Voting)
	}
}

func TestOtherRules(t *testing.T) {
	for _, test := range []struct {
		rule            vote.Rule
		samples, margin int // of a step that nobody contests
	}{
		{vote.Rule{Strategy: vote.None}, 1, 1},
		{vote.Rule{Strategy: vote.Majority, N: 5}, 5, 5},
		{vote.Rule{Strategy: vote.FirstToK, K: 1}, 1, 1},
	} {
		e := newEngine(t, maker.Options{Config: maker.Config{Voting: test.rule}})
		r := mustResult(t, startHanoi(t, e, 4))
		if r.Status != event.StatusCompleted || r.Voting.MostSamples > test.samples || r.Voting.LeastMargin > test.margin {
			t.Errorf("%+v: %s with %+v, want at most %d samples a step", test.rule, r.Status, r.Voting, test.samples)
		}
		wantReplay(t, e, r.Run)
	}
}

// TestRuleChangedOnResume holds each step against the rule of its own session.
func TestRuleChangedOnResume(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{MaxCalls: 40, Voting: maker.FirstToK(3)}})
	first := mustResult(t, startHanoi(t, e, 5))
	r := resume(t, e, first.Run, func(c *maker.Config) { c.MaxCalls, c.Voting.K = 0, 2 })
	for _, s := range r.Steps {
		want := 3
		if s.Step >= first.StepsCompleted {
			want = 2
		}
		if s.Voting.Margin != want {
			t.Errorf("step %d was decided by %d, want %d", s.Step, s.Voting.Margin, want)
		}
	}
	wantReplay(t, e, r.Run)
}

func TestRecordAndReplayFrom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	c := maker.Config{Model: "sim/default?p=0.9&seed=5"}
	first := mustResult(t, startHanoi(t, newEngine(t, maker.Options{Config: c, Record: file}), 4))
	replayed := c
	replayed.ReplayFrom = file
	again := mustResult(t, startHanoi(t, newEngine(t, maker.Options{Config: replayed}), 4))
	if diff := cmp.Diff(first.Voting, again.Voting); diff != "" || again.Status != event.StatusCompleted {
		t.Errorf("a run from recorded answers = %s: -first +again\n%s", again.Status, diff)
	}
}

// TestGoroutinesEnd runs to the end, into a stop and past readers that left, and
// looks whether anything still runs afterwards.
func TestGoroutinesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.9&latency=1ms", Spare: 5}})
	for range 3 {
		run := startHanoi(t, e, 3)
		for range run.Events(t.Context()) {
			break
		}
		mustResult(t, run)
	}
	stopped := newEngine(t, maker.Options{Config: maker.Config{Model: stuck, Deadline: time.Millisecond}})
	mustResult(t, startHanoi(t, stopped, 3))
	waitFor(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// waitFor polls a condition that comes true on its own.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("waited too long for %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
	}
}
