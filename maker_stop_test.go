package maker_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// unlimited is a change that lets any run go on to its end.
func unlimited(c *maker.Config) {
	c.Model, c.BaseURL = perfect, ""
	c.MaxCalls, c.MaxTokens, c.MaxUSD, c.Deadline = 0, 0, 0, 0
	c.Voting.MaxSamples = max(c.Voting.MaxSamples, 150)
}

// wantResumable resumes a run that did not end well: it completes, and what was
// committed before stays as it was.
func wantResumable(t *testing.T, e *maker.Engine, before *maker.Result, disks int) {
	t.Helper()
	after := resume(t, e, before.Run, unlimited)
	if after.Status != event.StatusCompleted || after.StepsCompleted != hanoi.Steps(disks) || after.Stop != "" || after.Reason != "" {
		t.Errorf("resumed: %s (%s) with %d steps, want completed with %d", after.Status, after.Reason, after.StepsCompleted, hanoi.Steps(disks))
	}
	if diff := cmp.Diff(before.Steps, after.Steps[:len(before.Steps)]); diff != "" {
		t.Errorf("resuming changed committed steps: -before +after\n%s", diff)
	}
	if after.Usage.Calls < before.Usage.Calls || after.TotalDurationMS < before.TotalDurationMS {
		t.Errorf("resumed: %+v in %d ms, want what was spent before (%+v in %d ms) to count",
			after.Usage, after.TotalDurationMS, before.Usage, before.TotalDurationMS)
	}
	wantMoves(t, after, disks)
	wantReplay(t, e, before.Run)
	if _, err := e.Resume(t.Context(), before.Run, nil); !errors.Is(err, maker.ErrFinished) {
		t.Errorf("Resume(a completed run) = %v, want %v", err, maker.ErrFinished)
	}
}

func typesOf(t *testing.T, run *maker.Run) map[event.Type]int {
	t.Helper()
	types := map[event.Type]int{}
	for _, r := range collect(t, run) {
		types[r.Event.Type()]++
	}
	return types
}

func TestCancel(t *testing.T) {
	for _, cause := range []error{maker.ErrInterrupted, context.Canceled} {
		t.Run(cause.Error(), func(t *testing.T) {
			e := newEngine(t, maker.Options{Config: maker.Config{Model: slow}})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			run, err := e.Chain(ctx, hanoi.Name, hanoi.Params{Disks: 8})
			if err != nil {
				t.Fatal(err)
			}
			for r, err := range run.Events(t.Context()) {
				if step, ok := r.Event.(event.StepCompleted); err != nil || ok && step.Step == 2 {
					cancel(cause)
				}
			}
			r := mustResult(t, run)
			if r.Status != event.StatusStopped || r.Stop != event.StopCancelled || r.Reason != cause.Error() {
				t.Errorf("cancelled: status %q, stop %q, reason %q, want stopped, cancelled, %v", r.Status, r.Stop, r.Reason, cause)
			}
			if r.StepsCompleted < 3 || r.StepsCompleted > 200 {
				t.Errorf("cancelled after step 2: %d steps are committed", r.StepsCompleted)
			}
			if types := typesOf(t, run); types[event.TypeRunCancelled] != 1 || types[event.TypeTaskFailed] != 1 {
				t.Errorf("cancelled: the log has %v, want one run_cancelled and one task_failed", types)
			}
			wantReplay(t, e, r.Run)
			wantResumable(t, e, r, 8)
		})
	}
}

// TestCancelBeforeTheFirstStep has nothing committed to go on from.
func TestCancelBeforeTheFirstStep(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: stuck}})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	run, err := e.Chain(ctx, hanoi.Name, hanoi.Params{Disks: 3})
	if err != nil {
		t.Fatal(err)
	}
	cancel(maker.ErrInterrupted)
	r := mustResult(t, run)
	if r.Status != event.StatusStopped || r.StepsCompleted != 0 || len(r.Steps) != 0 {
		t.Errorf("cancelled at once: %s with %d steps, want stopped with none", r.Status, r.StepsCompleted)
	}
	wantResumable(t, e, r, 3)
}

func TestDeadline(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: stuck, Deadline: 20 * time.Millisecond}})
	run := startHanoi(t, e, 3)
	r := mustResult(t, run)
	if r.Status != event.StatusStopped || r.Stop != "deadline" || r.Reason != maker.ErrDeadline.Error() {
		t.Errorf("past its deadline: status %q, stop %q, reason %q, want stopped, deadline, %v", r.Status, r.Stop, r.Reason, maker.ErrDeadline)
	}
	if types := typesOf(t, run); types[event.TypeBudgetExhausted] != 1 || types[event.TypeRunCancelled] != 0 {
		t.Errorf("past its deadline: the log has %v, want one budget_exhausted", types)
	}
	wantResumable(t, e, r, 3)

	// The caller's own deadline is one as well.
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond) // time to start, on a busy machine
	defer cancel()
	run, err := newEngine(t, maker.Options{Config: maker.Config{Model: stuck}}).Chain(ctx, hanoi.Name, hanoi.Params{Disks: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r := mustResult(t, run); r.Status != event.StatusStopped || r.Stop != "deadline" {
		t.Errorf("past the context's deadline: status %q, stop %q, want stopped, deadline", r.Status, r.Stop)
	}
}

func TestBudgets(t *testing.T) {
	const model = "sim/default?p=0.999&latency=1ms&seed=3"
	tests := []struct {
		limit string
		set   func(*maker.Config)
		used  func(*maker.Result) bool // within the limit, and near it
	}{
		{
			"max_calls", func(c *maker.Config) { c.MaxCalls = 50 },
			func(r *maker.Result) bool { return r.Usage.Calls == 50 },
		},
		{
			"max_tokens", func(c *maker.Config) { c.MaxTokens = 40_000 },
			func(r *maker.Result) bool {
				n := r.Usage.Tokens.Total() + r.Usage.HeldTokens
				return n <= 40_000 && n > 30_000
			},
		},
		{
			"max_usd", func(c *maker.Config) { c.MaxUSD = 0.02 },
			func(r *maker.Result) bool {
				usd := r.Usage.USD + r.Usage.HeldUSD
				return usd <= 0.02 && usd > 0.015
			},
		},
	}
	for _, test := range tests {
		t.Run(test.limit, func(t *testing.T) {
			c := maker.Config{Model: model, Spare: 61} // 64 samples in flight
			test.set(&c)
			e := newEngine(t, maker.Options{Config: c})
			run := startHanoi(t, e, 7)
			r := mustResult(t, run)
			if r.Status != event.StatusStopped || r.Stop != test.limit {
				t.Errorf("status %q, stop %q (%s), want stopped by %s", r.Status, r.Stop, r.Reason, test.limit)
			}
			if !test.used(r) {
				t.Errorf("stopped by %s after using %+v, want it near the limit and not above", test.limit, r.Usage)
			}
			if types := typesOf(t, run); types[event.TypeBudgetExhausted] != 1 {
				t.Errorf("the log has %v, want one budget_exhausted", types)
			}
			// What was spent still counts: without a change the run stops again.
			if again := resume(t, e, r.Run, nil); again.Stop != test.limit || !test.used(again) {
				t.Errorf("resumed with the same budget: stop %q, used %+v, want %s", again.Stop, again.Usage, test.limit)
			}
			wantResumable(t, e, r, 7)
		})
	}
}

func TestUndecidedAndFailedRunsCanBeResumed(t *testing.T) {
	const disks = 3
	quick := maker.Config{MaxFaults: 2, RetryAttempts: 1, RetryDelay: time.Millisecond}
	tests := []struct {
		name, model  string
		maxSamples   int
		status, text string
	}{
		{"undecided", "sim/default?p=0.5&seed=1", 3, event.StatusUndecided, "no answer won within 3 samples"},
		{"flagged out", "sim/default?malformed=1", 5, event.StatusFailed, "all 3 samples were discarded"},
		{"outage", "sim/default?f500=1", 5, event.StatusFailed, "HTTP 500"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := quick
			c.Model, c.Voting = test.model, maker.FirstToK(3)
			c.Voting.MaxSamples = test.maxSamples
			e := newEngine(t, maker.Options{Config: c})
			run := startHanoi(t, e, disks)
			r := mustResult(t, run)
			if r.Status != test.status || !strings.Contains(r.Reason, test.text) || r.Wrong || r.StepsCompleted == hanoi.Steps(disks) {
				t.Errorf("status %q, reason %q after %d steps, want %s and %q", r.Status, r.Reason, r.StepsCompleted, test.status, test.text)
			}
			if types := typesOf(t, run); types[event.TypeStepFailed] != 1 || types[event.TypeTaskFailed] != 1 {
				t.Errorf("the log has %v, want one step_failed and one task_failed", types)
			}
			wantReplay(t, e, r.Run)
			if r.Status == event.StatusUndecided { // it goes on with the votes it has
				if again := resume(t, e, r.Run, nil); again.Status != event.StatusUndecided || again.Usage.Calls != r.Usage.Calls {
					t.Errorf("resumed without more samples: %s after %d calls, want undecided after %d", again.Status, again.Usage.Calls, r.Usage.Calls)
				}
			}
			wantResumable(t, e, r, disks)
		})
	}
}

func TestWrongRunCannotBeResumed(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0", Voting: maker.FirstToK(1)}})
	r := mustResult(t, startHanoi(t, e, 3))
	if r.Status != event.StatusFailed || !r.Wrong || !strings.Contains(r.Reason, "step 0 is wrong") {
		t.Errorf("status %q, wrong %t, reason %q, want failed and known to be wrong at step 0", r.Status, r.Wrong, r.Reason)
	}
	wantReplay(t, e, r.Run)
	if _, err := e.Resume(t.Context(), r.Run, nil); !errors.Is(err, maker.ErrFinished) || !strings.Contains(err.Error(), "cannot be mended") {
		t.Errorf("Resume(a wrong run) = %v, want that it cannot be mended", err)
	}
}

// answering is a transport that gives every request the same answer.
type answering struct {
	status int
	body   string
}

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(a.body)), Request: req,
	}, nil
}

func TestRefusedKeyIsAMatterOfConfiguration(t *testing.T) {
	e := newEngine(t, maker.Options{
		Config:    maker.Config{Model: "openai/gpt-4.1-mini"},
		Transport: answering{401, `{"error":{"message":"Incorrect API key provided"}}`},
		Env:       func(name string) string { return map[string]string{"OPENAI_API_KEY": "key-that-is-wrong"}[name] },
	})
	run := startHanoi(t, e, 3)
	r := mustResult(t, run)
	if r.Status != event.StatusFailed || r.Stop != event.StopConfiguration || !strings.Contains(r.Reason, "Incorrect API key") || r.Simulated {
		t.Errorf("status %q, stop %q, reason %q, want failed, configuration and the provider's words", r.Status, r.Stop, r.Reason)
	}
	for path, data := range files(t, run.Dir()) {
		if strings.Contains(string(data), "key-that-is-wrong") {
			t.Errorf("%s holds the key", path)
		}
	}
	wantResumable(t, e, r, 3)
}

func TestUnknownCostIsNull(t *testing.T) {
	e := newEngine(t, maker.Options{
		Config: maker.Config{Model: "compat/local", BaseURL: "http://127.0.0.1:1/v1"},
		Transport: answering{200, `{"model":"local","choices":[{"finish_reason":"stop","message":{"role":"assistant",
			"content":"move = [1, 0, 2]\nnext_state = [[], [], [1]]"}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`},
		Env: func(string) string { return "" },
	})
	run := startHanoi(t, e, 1)
	r := mustResult(t, run)
	if r.Status != event.StatusCompleted || r.TotalCostUSD != nil || r.Steps[0].CostUSD != nil || r.Usage.Unpriced != 3 {
		t.Errorf("%s (%s) at %v dollars, %+v, want completed at an unknown cost", r.Status, r.Reason, r.TotalCostUSD, r.Usage)
	}
	data, err := os.ReadFile(run.Dir() + "/" + runs.ResultFile)
	if err != nil || !strings.Contains(string(data), `"total_cost_usd": null`) {
		t.Errorf("%s = %s, %v, want a cost of null", runs.ResultFile, data, err)
	}
}

func TestOneWriterAtATime(t *testing.T) {
	logDir := t.TempDir()
	e := newEngine(t, maker.Options{LogDir: logDir, Config: maker.Config{Model: stuck}})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	run, err := e.Chain(ctx, hanoi.Name, hanoi.Params{Disks: 3})
	if err != nil {
		t.Fatal(err)
	}
	other := newEngine(t, maker.Options{LogDir: logDir})
	_, err = other.Resume(t.Context(), run.ID(), nil)
	if locked, ok := errors.AsType[*runlog.LockedError](err); !ok || locked.Holder.PID != os.Getpid() {
		t.Errorf("Resume(a running run) = %v, want a LockedError with pid %d", err, os.Getpid())
	}
	if list, err := runs.List(logDir); err != nil || len(list) != 1 || list[0].Status != event.StatusRunning || list[0].PID != os.Getpid() {
		t.Errorf("List = %+v, %v, want one running run with pid %d", list, err, os.Getpid())
	}
	cancel(maker.ErrInterrupted)
	r := mustResult(t, run)
	wantResumable(t, other, r, 3)
}
