package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// blocks until cancelled
var blocked = model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
	<-ctx.Done()
	return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
})

func TestAnAbortedParallelFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		dir := filepath.Join(t.TempDir(), "run")
		var inner error = errors.New("not reached")
		session(t, dir, blocked, func(f flow.Flow) error {
			return f.Parallel("outer", 2, func(i int, f flow.Flow) error {
				if i == 1 {
					time.Sleep(20 * time.Millisecond)
					return boom
				}
				inner = f.Parallel("inner", 2, func(_ int, f flow.Flow) error {
					_, err := ask(f, "q", "?")
					return err
				})
				if inner != nil {
					return inner
				}
				f.Emit("made", event.StepCompleted{Step: 0, Output: event.TextValue("made of nothing")})
				return nil
			})
		})
		if inner == nil {
			t.Errorf("inner Parallel() = nil although none of its questions was decided; log: %v", types(t, dir))
		}
	})
}

func TestParallelsInARowShareNoKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := &echo{}
	orch := func(got *[]string) func(f flow.Flow) error {
		return func(f flow.Flow) error {
			for round := range 2 {
				err := f.Parallel(fmt.Sprint("round/", round), 1, func(i int, f flow.Flow) error {
					a, err := ask(f, "q", fmt.Sprint("round ", round))
					*got = append(*got, a)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	var first, second []string
	if err := session(t, dir, m, orch(&first)); err != nil {
		t.Fatal(err)
	}
	if err := session(t, dir, m, orch(&second)); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("first session %q, resumed %q", first, second)
	}
}

func TestEveryVerdictSurvivesACrash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var n atomic.Int64
	split := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		return &model.Response{Text: fmt.Sprint(n.Add(1)), Stop: model.StopEnd}, nil
	})
	run := func(path *string) func(f flow.Flow) error {
		return func(f flow.Flow) error {
			v, err := f.Decide("q", &flow.Question{Prompt: "?", Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 3}}})
			if err != nil {
				return err
			}
			if *path = "main"; v.Status != flow.Decided {
				*path = "fallback"
				_, err = ask(f, "fallback", "?")
			}
			return err
		}
	}
	var a, b string
	_ = session(t, dir, split, func(f flow.Flow) error { // crash after the fallback began
		v, err := f.Decide("q", &flow.Question{Prompt: "?", Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 3}}})
		if err == nil && v.Status != flow.Decided {
			a = "fallback"
			f.Emit("fallback", event.StepStarted{Step: 1, Title: "fallback"})
		}
		return errCrash
	})
	_ = session(t, dir, &echo{}, run(&b))
	if a != b {
		t.Errorf("the first session took the path %q, the resumed one %q", a, b)
	}
}

func TestTheEndCountsWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "run")
		log, err := runlog.Create(dir, "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		log.Append(event.TaskSubmitted{Format: event.Format, Kind: "test", Form: event.FormChain})
		var n atomic.Int64
		m := model.Func(func(ctx context.Context, req *model.Request) (*model.Response, error) {
			if n.Add(1) == 1 { // a fault that cannot be retried, while the others are in flight
				time.Sleep(10 * time.Millisecond)
				return nil, &model.Error{Kind: model.TooLong, Message: "too long"}
			}
			<-ctx.Done()
			time.Sleep(5 * time.Millisecond) // tearing a request down takes a moment
			return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
		})
		p := price.Price{Input: 1e6, Output: 1e6}
		ledger := budget.New(budget.Limits{MaxUSD: 1}, usage.Spent{})
		ledger.OnClaim(func(ctx context.Context, c budget.Claim) error {
			log.Append(event.BudgetClaimed{Calls: c.Calls, USD: c.USD})
			return log.Sync(ctx)
		})
		b := ballot.New([]ballot.Voter{{Name: "m", Model: ledger.Wrap(m, &p)}}, readers, nil)
		r := New(Options{Log: log, Ballot: b, Ledger: ledger})
		f := r.Flow(t.Context())
		v, err := f.Decide("q", &flow.Question{Prompt: "?", Terms: flow.Terms{MaxOutput: 100, Rule: vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 5}}, Answer: flow.Format{Reader: "plain"}})
		if err != nil || v.Status != flow.Failed {
			t.Fatal(v, err)
		}
		f.Emit("end", event.TaskFailed{Status: event.StatusFailed, Reason: v.Reason})
		b.Close()
		log.Close()
		past := history.New(dir)
		l2, _, err := runlog.Open(dir, nil, past.Visit)
		if err != nil {
			t.Fatal(err)
		}
		defer l2.Close()
		past.Finish()
		if got, want := past.Spent, ledger.Spent(); got != want {
			t.Errorf("a resume starts from\n %+v, really spent or held:\n %+v", got, want)
		}
	})
}

func TestARedactedStepIsCommittedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	redact := func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "sekret-key", "[redacted]")) }
	for i := range 2 {
		past := history.New(dir)
		var log *runlog.Log
		var err error
		if i == 0 {
			log, err = runlog.Create(dir, "run", redact)
			past = nil
			log.Append(event.TaskSubmitted{Format: event.Format, Kind: "test", Form: event.FormPlan})
		} else {
			log, _, err = runlog.Open(dir, redact, past.Visit)
			past.Finish()
		}
		if err != nil {
			t.Fatal(err)
		}
		b := ballot.New([]ballot.Voter{{Name: "m", Model: &echo{}}}, readers, nil)
		r := New(Options{Log: log, Ballot: b, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Past: past, Redact: redact})
		f := r.Flow(t.Context())
		// the output does not come from the verdict alone: e.g. a tool result or a plan input
		if _, err := ask(f, "q", "x"); err != nil {
			t.Fatal(err)
		}
		f.Emit("step/0", event.StepCompleted{Step: 0, Output: event.TextValue("the tool printed sekret-key")})
		b.Close()
		log.Close()
	}
	if n := types(t, dir)[event.TypeStepCompleted]; n != 1 {
		t.Errorf("step 0 is committed %d times", n)
	}
}

func TestAKeyIsUsedOnce(t *testing.T) {
	m := &echo{}
	_ = session(t, filepath.Join(t.TempDir(), "run"), m, func(f flow.Flow) error {
		a, _ := ask(f, "q", "one")
		b, err := ask(f, "q", "two")
		if a != b && err == nil {
			t.Errorf("the same key gave %q, then %q, and no error", a, b)
		}
		return nil
	})
}

// TestAChangedQuestionIsSaid: what was decided stands, but the log says once that the
// question would now be another one, and in what.
func TestAChangedQuestionIsSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := &echo{}
	asked := func(change func(*flow.Question)) func(flow.Flow) error {
		return func(f flow.Flow) error {
			q := &flow.Question{Step: 4, Prompt: "one", Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 5}}}
			change(q)
			v, err := f.Decide("q", q)
			if err == nil && string(v.Answer) != `"one"` {
				t.Errorf("Decide(changed) = %s, want what was decided", v.Answer)
			}
			return err
		}
	}
	for _, change := range []func(*flow.Question){
		func(*flow.Question) {},
		func(q *flow.Question) { q.Rule.K = 3 }, // the rule may change
		func(q *flow.Question) { q.Prompt, q.MaxOutput = "two", 7 },
		func(q *flow.Question) { q.Prompt, q.MaxOutput = "three", 9 },
	} {
		if err := session(t, dir, m, asked(change)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if rec, err := line.Decode(); err == nil {
			if e, ok := rec.Event.(event.QuestionChanged); ok {
				got = append(got, fmt.Sprint(e.Question, e.Step, e.Changed))
			}
		}
	}
	if want := []string{"q4 [prompt sampling]"}; fmt.Sprint(got) != fmt.Sprint(want) || m.calls.Load() != 2 {
		t.Errorf("the log says %q after %d calls, want %q after 2", got, m.calls.Load(), want)
	}
}
