package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

type plain struct{}

func (plain) Read(text string) (domain.Answer, *redflag.Flag) {
	return domain.Answer{Value: json.RawMessage(fmt.Sprintf("%q", text)), Key: text}, nil
}

var readers = domain.Readers{"plain": func(json.RawMessage) (domain.Reader, error) { return plain{}, nil }}

// echo answers with the prompt and counts its calls.
type echo struct{ calls atomic.Int64 }

func (e *echo) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	e.calls.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, &model.Error{Kind: model.Cancelled, Err: err}
	}
	return &model.Response{Text: req.Messages[0].Text, Stop: model.StopEnd}, nil
}

func ask(f flow.Flow, key, prompt string) (string, error) {
	v, err := f.Decide(key, &flow.Question{
		Prompt: prompt, Answer: flow.Format{Reader: "plain"},
		Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 5}},
	})
	if err != nil {
		return "", err
	}
	var s string
	return s, json.Unmarshal(v.Answer, &s)
}

// written is a run folder whose log holds events.
func written(t *testing.T, events ...event.Event) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// session runs an orchestrator against the log in dir, as a new process would.
func session(t *testing.T, dir string, m model.Model, orchestrate func(flow.Flow) error) error {
	t.Helper()
	past := history.New(dir)
	log, _, err := runlog.Open(dir, nil, past.Visit)
	if err != nil {
		log, err = runlog.Create(dir, "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		past = nil
		if err := log.Append(event.TaskSubmitted{Format: event.Format, Kind: "test", Form: event.FormPlan}); err != nil {
			t.Fatal(err)
		}
	} else if err := past.Finish(); err != nil {
		t.Fatal(err)
	}
	b := ballot.New([]ballot.Voter{{Name: "m", Model: m}}, readers, nil)
	r := New(Options{Log: log, Ballot: b, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Past: past})
	runErr := orchestrate(r.Flow(t.Context()))
	b.Close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return runErr
}

func types(t *testing.T, dir string) map[event.Type]int {
	t.Helper()
	out := map[event.Type]int{}
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		out[line.Type]++
	}
	return out
}

var errCrash = errors.New("crash")

// tree asks three questions in a row, then two branches of two, and stops where
// it is told to.
func tree(crashAfter int, got *[]string) func(flow.Flow) error {
	var decided atomic.Int64
	step := func(f flow.Flow, n int, key, prompt string) error {
		answer, err := ask(f, key, prompt)
		if err != nil {
			return err
		}
		f.Emit(key+"/completed", event.StepCompleted{Step: n, Output: event.TextValue(answer)})
		if decided.Add(1) == int64(crashAfter) {
			return errCrash
		}
		return nil
	}
	return func(f flow.Flow) error {
		for i := range 3 {
			if err := step(f, i, fmt.Sprint("row/", i), fmt.Sprint("row ", i)); err != nil {
				return err
			}
		}
		parts := make([]string, 2)
		err := f.Parallel("parts", 2, func(i int, f flow.Flow) error {
			for j := range 2 {
				// Both branches use the same keys; they must not meet.
				if err := step(f, 3+2*i+j, fmt.Sprint("part/", j), fmt.Sprintf("branch %d part %d", i, j)); err != nil {
					return err
				}
			}
			parts[i] = fmt.Sprint("branch ", i)
			return nil
		})
		if err != nil {
			return err
		}
		*got = parts
		f.Emit("end", event.TaskCompleted{Steps: 7})
		return nil
	}
}

// TestResume stops an orchestrator after each of its decisions and runs it
// again: nothing is asked twice and nothing is logged twice.
func TestResume(t *testing.T) {
	for stop := 1; stop <= 7; stop++ {
		dir := filepath.Join(t.TempDir(), "run")
		m := &echo{}
		var got []string
		if err := session(t, dir, m, tree(stop, &got)); !errors.Is(err, errCrash) {
			t.Fatalf("stop at %d: first session = %v", stop, err)
		}
		if err := session(t, dir, m, tree(0, &got)); err != nil {
			t.Fatalf("stop at %d: second session = %v", stop, err)
		}
		if want := []string{"branch 0", "branch 1"}; !cmp.Equal(want, got) {
			t.Errorf("stop at %d: %q, want %q", stop, got, want)
		}
		// A branch may be cut off in the middle of a question, which is then
		// asked again; all others are asked once, with two samples.
		if calls := m.calls.Load(); calls < 14 || calls > 18 {
			t.Errorf("stop at %d: %d calls, want 14 and at most two questions more", stop, calls)
		}
		n := types(t, dir)
		if n[event.TypeStepCompleted] != 7 || n[event.TypeVoteCompleted] != 7 || n[event.TypeTaskCompleted] != 1 {
			t.Errorf("stop at %d: %v, want 7 steps, 7 votes and 1 end", stop, n)
		}
	}
}

func TestLargeOutputsAreRecognisedOnResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	large := strings.Repeat("x", 100_000)
	m := &echo{}
	run := func(f flow.Flow) error {
		answer, err := ask(f, "q", large)
		if err != nil {
			return err
		}
		if answer != large {
			return fmt.Errorf("got %d bytes", len(answer))
		}
		f.Emit("q/completed", event.StepCompleted{Output: event.TextValue(answer)})
		return nil
	}
	for range 2 {
		if err := session(t, dir, m, run); err != nil {
			t.Fatal(err)
		}
	}
	if n := types(t, dir); n[event.TypeStepCompleted] != 1 || m.calls.Load() != 2 {
		t.Errorf("%v after %d calls, want one step after 2", n, m.calls.Load())
	}
}

func TestParallelReturnsTheLowestError(t *testing.T) {
	first := errors.New("first")
	err := session(t, filepath.Join(t.TempDir(), "run"), &echo{}, func(f flow.Flow) error {
		return f.Parallel("three", 3, func(i int, f flow.Flow) error {
			if i == 1 {
				return first
			}
			for n := 0; ; n++ { // until the failure of its sibling ends it
				if _, err := ask(f, fmt.Sprint(n), "?"); err != nil {
					return err
				}
			}
		})
	})
	if !errors.Is(err, first) {
		t.Errorf("Parallel() = %v, want %v", err, first)
	}
}

// TestAFailedQuestionIsAskedAgain resumes a run that a question without a winner
// has ended.
func TestAFailedQuestionIsAskedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	down := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		return nil, &model.Error{Kind: model.TooLong, Message: "too long"}
	})
	run := func(f flow.Flow) error {
		v, err := f.Decide("q", &flow.Question{Prompt: "?", Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.None, MaxSamples: 1}}})
		if err != nil {
			return err
		}
		if v.Status != flow.Decided {
			f.Emit("end", event.TaskFailed{Status: event.StatusFailed, Reason: v.Reason, Reopen: []string{"q"}})
			return errCrash
		}
		return nil
	}
	if err := session(t, dir, down, run); !errors.Is(err, errCrash) {
		t.Fatalf("first session = %v", err)
	}
	if err := session(t, dir, &echo{}, run); err != nil {
		t.Errorf("second session = %v", err)
	}
}

func TestAFailedLogEndsTheRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	err := session(t, dir, &echo{}, func(f flow.Flow) error {
		f.Emit("u", unencodable{})
		_, err := ask(f, "q", "?")
		return err
	})
	if err == nil {
		t.Error("Decide() after a failed Emit: no error")
	}
}

type unencodable struct{ C chan int }

func (unencodable) Type() event.Type { return "unencodable" }
