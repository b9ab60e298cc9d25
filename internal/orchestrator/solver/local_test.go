package solver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	counter "sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// crowd is a model made of voters. Which sample of a question it is asked for it
// finds out by counting.
type crowd struct {
	voters voters
	mu     sync.Mutex
	asked  map[string]int // by the input
	calls  counter.Int64
}

func (c *crowd) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, &model.Error{Kind: model.Cancelled, Err: err}
	}
	a, err := read(req.Messages[0].Text)
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Message: err.Error()}
	}
	c.calls.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	input := inputOf(req.Messages[0].Text)
	if c.asked == nil {
		c.asked = map[string]int{}
	}
	a.sample = c.asked[input]
	c.asked[input]++
	return &model.Response{Text: c.voters(a), Stop: model.StopEnd}, nil
}

// session runs an orchestrator against the log in dir, as a new process would.
func session(t *testing.T, dir string, c *crowd, limits budget.Limits, orchestrate func(flow.Flow) error) error {
	t.Helper()
	past := history.New(dir)
	log, _, err := runlog.Open(dir, nil, past.Visit)
	if err != nil {
		if log, err = runlog.Create(dir, "run", nil); err != nil {
			t.Fatal(err)
		}
		past = nil
		if err := log.Append(event.TaskSubmitted{Format: event.Format, Kind: "solve"}); err != nil {
			t.Fatal(err)
		}
	} else if err := past.Finish(); err != nil {
		t.Fatal(err)
	}
	readers, err := Readers(adapters)
	if err != nil {
		t.Fatal(err)
	}
	ledger := budget.New(limits, usage.Spent{})
	b := ballot.New([]ballot.Voter{{Name: "m", Model: c}}, readers, nil)
	r := local.New(local.Options{Log: log, Ballot: b, Ledger: ledger, Past: past, Looks: Looks(adapters)})
	err = orchestrate(r.Flow(t.Context()))
	b.Close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return err
}

var errCrash = errors.New("crash")

// fragile is a flow that breaks after a number of decisions.
type fragile struct {
	flow.Flow
	left *counter.Int64
}

func (f fragile) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if f.left.Add(-1) < 0 {
		return nil, errCrash
	}
	return f.Flow.Decide(key, q)
}

func (f fragile) Parallel(key string, n int, branch func(i int, f flow.Flow) error) error {
	return f.Flow.Parallel(key, n, func(i int, sub flow.Flow) error { return branch(i, fragile{sub, f.left}) })
}

// story is what a log says: everything that was decided and emitted, in no
// particular order, and how often.
func story(t *testing.T, dir string) (events map[string]int, samples, votes map[string]int) {
	t.Helper()
	events, samples, votes = map[string]int{}, map[string]int{}, map[string]int{}
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := line.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch e := rec.Event.(type) {
		case event.SampleCompleted:
			samples[e.Question]++
		case event.SampleRedFlagged:
			samples[e.Question]++
		case event.VoteCompleted:
			votes[e.Question]++
		case event.TaskSubmitted, event.RunResumed, event.VoteResumed:
		case event.StepCompleted:
			e.Spent, e.DurationMS = usage.Spent{}, 0
			events[fmt.Sprintf("step %d %s %s", e.Step, e.Title, e.Output.JSON)]++
		case event.TaskCompleted:
			events[fmt.Sprintf("completed %d %s", e.Steps, e.Output.JSON)]++
		default:
			data, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			events[fmt.Sprintf("%s %s", e.Type(), data)]++
		}
	}
	return events, samples, votes
}

// TestResume breaks a run after each of its decisions and lets it go on: it has
// the same tree, says the same, and asks nothing again that was decided.
func TestResume(t *testing.T) {
	cfg := config
	cfg.NoDirect = false
	const problem = "1+2+3+1+2+4+5+6"
	// The crowd is wrong about the whole, so that there is a draft to resume, and
	// divided over the first split, so that there is a pick.
	people := voters(adders).but(func(a asked) string {
		switch {
		case a.Ask == "solve" && a.Problem == problem:
			return solution("99")
		case a.Ask == "decompose" && a.Problem == problem && a.sample%2 == 1:
			return parts("1+2+3", "1+2+4+5+6")
		}
		return ""
	})
	solve := func(f flow.Flow) error { return Run(f, problem, cfg) }

	whole := filepath.Join(t.TempDir(), "run")
	if err := session(t, whole, &crowd{voters: people}, budget.Limits{}, solve); err != nil {
		t.Fatal(err)
	}
	wantEvents, _, wantVotes := story(t, whole)
	if len(wantVotes) < 15 || !slices.ContainsFunc(slices.Collect(maps.Keys(wantVotes)), func(k string) bool { return strings.HasSuffix(k, "/pick") }) {
		t.Fatalf("the run asked %d questions, want 15 or more and a pick", len(wantVotes))
	}

	for stop := range len(wantVotes) {
		dir := filepath.Join(t.TempDir(), "run")
		c := &crowd{voters: people}
		var left counter.Int64
		left.Store(int64(stop))
		err := session(t, dir, c, budget.Limits{}, func(f flow.Flow) error { return solve(fragile{f, &left}) })
		if !errors.Is(err, errCrash) {
			t.Fatalf("stop at %d: the first session = %v, want the crash", stop, err)
		}
		_, samplesBefore, votesBefore := story(t, dir)
		if err := session(t, dir, c, budget.Limits{}, solve); err != nil {
			t.Fatalf("stop at %d: the second session = %v", stop, err)
		}
		events, samples, votes := story(t, dir)
		if diff := cmp.Diff(wantEvents, events); diff != "" {
			t.Fatalf("stop at %d: what the run says: -whole +resumed\n%s", stop, diff)
		}
		if diff := cmp.Diff(wantVotes, votes); diff != "" {
			t.Fatalf("stop at %d: verdicts: -whole +resumed\n%s", stop, diff)
		}
		for key := range votesBefore {
			if samples[key] != samplesBefore[key] {
				t.Errorf("stop at %d: %s was decided and asked again", stop, key)
			}
		}
	}
}

// TestStepsDoNotDependOnTime: branches that finish in another order give the same
// run.
func TestStepsDoNotDependOnTime(t *testing.T) {
	var first map[string]int
	for i := range 5 {
		dir := filepath.Join(t.TempDir(), "run")
		c := &crowd{voters: adders}
		err := session(t, dir, c, budget.Limits{}, func(f flow.Flow) error { return Run(f, "1+2+3+4+5+6+7+8", config) })
		if err != nil {
			t.Fatal(err)
		}
		events, _, _ := story(t, dir)
		if i == 0 {
			first = events
		}
		if diff := cmp.Diff(first, events); diff != "" {
			t.Fatalf("run %d: -first +this\n%s", i, diff)
		}
	}
}

// TestBudgetStops: a limit of the runtime ends the run with its error, and the log
// has the draft.
func TestBudgetStops(t *testing.T) {
	cfg := config
	cfg.NoDirect = false
	dir := filepath.Join(t.TempDir(), "run")
	over := errors.New("enough")
	calls := &crowd{}
	calls.voters = adders
	ctx, cancel := context.WithCancelCause(t.Context())
	calls.voters = func(a asked) string {
		if calls.calls.Load() == 9 {
			cancel(over)
		}
		return adders(a)
	}
	err := session(t, dir, calls, budget.Limits{}, func(f flow.Flow) error {
		return Run(bounded{f, ctx}, "1+2+3+4", cfg)
	})
	if !errors.Is(err, over) {
		t.Fatalf("Run() = %v, want %v", err, over)
	}
	events, _, _ := story(t, dir)
	drafts := 0
	for e := range events {
		if strings.HasPrefix(e, "answer_composed") && strings.Contains(e, `"draft":true`) {
			drafts++
		}
		if strings.HasPrefix(e, "task_") {
			t.Errorf("the run says %s, want no end of its own", e)
		}
	}
	if drafts == 0 {
		t.Errorf("there is no draft in %v", events)
	}
}

// bounded is a flow that ends with a context.
type bounded struct {
	flow.Flow
	ctx context.Context
}

func (f bounded) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if f.ctx.Err() != nil {
		return nil, context.Cause(f.ctx)
	}
	return f.Flow.Decide(key, q)
}

func (f bounded) Parallel(key string, n int, branch func(i int, f flow.Flow) error) error {
	return f.Flow.Parallel(key, n, func(i int, sub flow.Flow) error { return branch(i, bounded{sub, f.ctx}) })
}

// TestCalibratedMarginIsUsed: what calibration says is what the votes of the run
// ask for, also after a resume.
func TestCalibratedMarginIsUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	// Right four times out of five.
	c := &crowd{voters: voters(adders).but(func(a asked) string {
		if a.Ask == "solve" && strings.HasPrefix(a.Problem, "10+") && a.sample%5 == 4 {
			return solution("0")
		}
		return ""
	})}
	var k []int
	orchestrate := func(f flow.Flow) error {
		cfg := config
		cfg.Rule.MaxSamples = 12
		atoms, err := NewAtoms(cfg)
		if err != nil {
			return err
		}
		got, err := calibrate.Run(f, atoms, calibrate.Config{Samples: 20, Trials: []domain.Trial{
			{Problem: "10+1", Solution: "11"}, {Problem: "10+2", Solution: "12"}, {Problem: "10+3", Solution: "13"},
		}})
		if err != nil {
			return err
		}
		if got.P != 0.8 || got.Basis != calibrate.Known {
			t.Errorf("calibrated %+v, want p = 0.8 from known answers", got)
		}
		k = append(k, got.K)
		cfg.Rule.K = got.K
		return Run(f, "1+2+3", cfg)
	}
	for range 2 {
		if err := session(t, dir, c, budget.Limits{}, orchestrate); err != nil {
			t.Fatal(err)
		}
	}
	if len(k) != 2 || k[0] != k[1] || k[0] <= config.Rule.K {
		t.Fatalf("k = %v, want the same twice and more than the default", k)
	}
	seen := 0
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := line.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := rec.Event.(event.VoteCompleted); ok && strings.Contains(v.Question, "solve/") {
			seen++
			if v.Rule.K != k[0] || v.Voting.Margin != k[0] {
				t.Errorf("%s: k = %d with a margin of %d, want %d", v.Question, v.Rule.K, v.Voting.Margin, k[0])
			}
		}
	}
	if seen == 0 {
		t.Error("the run has no votes")
	}
}
