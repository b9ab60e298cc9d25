package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// runtime runs an orchestrator against the log in dir, as a new process would, and
// returns the runtime as it was at the end.
func runtime(t *testing.T, dir string, m model.Model, o Options, orchestrate func(flow.Flow) error) (*Runtime, error) {
	t.Helper()
	past := history.New(dir)
	log, _, err := runlog.Open(dir, nil, past.Visit)
	if err != nil {
		past = nil
		if log, err = runlog.Create(dir, "run", nil); err != nil {
			t.Fatal(err)
		}
		form := event.FormPlan
		if o.Compact {
			form = event.FormChain
		}
		if err := log.Append(event.TaskSubmitted{Format: event.Format, Kind: "test", Form: form}); err != nil {
			t.Fatal(err)
		}
	} else if err := past.Finish(); err != nil {
		t.Fatal(err)
	}
	o.Log, o.Past, o.Ledger = log, past, budget.New(budget.Limits{}, usage.Spent{})
	o.Ballot = ballot.New([]ballot.Voter{{Name: "m", Model: m}}, readers, &ballot.Options{BatchSize: 1})
	r := New(o)
	runErr := r.Run(t.Context(), orchestrate)
	o.Ballot.Close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return r, runErr
}

// replies answers the n-th call with the n-th text; the last one again and again.
type replies struct {
	texts []string
	n     atomic.Int64
	name  string
}

func (r *replies) Generate(context.Context, *model.Request) (*model.Response, error) {
	n := r.n.Add(1) - 1
	text := r.texts[min(int(n), len(r.texts)-1)]
	switch text {
	case "fault":
		return nil, &model.Error{Kind: model.Overloaded}
	case "number":
		text = strconv.FormatInt(n, 10)
	}
	return &model.Response{Text: text, Stop: model.StopEnd, Model: r.name}, nil
}

func ruled(k, most int) *flow.Question {
	return &flow.Question{Prompt: "?", Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: k, MaxSamples: most}}}
}

func without(all map[event.Type]int, types ...event.Type) map[event.Type]int {
	for _, t := range types {
		delete(all, t)
	}
	return all
}

// TestACompactLog keeps what was contested, what was not decided and what was long, and
// nothing of a vote in which all agreed.
func TestACompactLog(t *testing.T) {
	for name, test := range map[string]struct {
		texts     []string
		question  *flow.Question
		compact   bool
		want      map[event.Type]int
		contested int64
		samples   int64
		faults    int64
	}{
		"all agree":             {[]string{"a"}, ruled(3, 9), true, map[event.Type]int{}, 0, 3, 0},
		"all agree, in full":    {[]string{"a"}, ruled(3, 9), false, map[event.Type]int{event.TypeSampleCompleted: 3, event.TypeVoteCompleted: 1}, 0, 3, 0},
		"all agree after fault": {[]string{"fault", "a"}, ruled(3, 9), true, map[event.Type]int{}, 0, 3, 1},
		"contested":             {[]string{"a", "b", "a"}, ruled(2, 9), true, map[event.Type]int{event.TypeSampleCompleted: 4, event.TypeVoteCompleted: 1}, 1, 4, 0},
		"undecided":             {[]string{"fault"}, ruled(2, 9), true, map[event.Type]int{event.TypeSampleFaulted: 20, event.TypeVoteCompleted: 1}, 0, 0, 20},
		"nearly long":           {[]string{"a"}, ruled(maxHeld-1, 5000), true, map[event.Type]int{}, 0, maxHeld - 1, 0},
		"long":                  {[]string{"a"}, ruled(maxHeld, 5000), true, map[event.Type]int{event.TypeSampleCompleted: maxHeld, event.TypeVoteCompleted: 1}, 0, maxHeld, 0},
		"longer":                {[]string{"a"}, ruled(maxHeld+1, 5000), true, map[event.Type]int{event.TypeSampleCompleted: maxHeld + 1, event.TypeVoteCompleted: 1}, 0, maxHeld + 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			r, err := runtime(t, dir, &replies{texts: test.texts}, Options{Checkpoints: test.compact, Compact: test.compact}, func(f flow.Flow) error {
				_, err := f.Decide("q", test.question)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, without(types(t, dir), event.TypeTaskSubmitted)); diff != "" {
				t.Errorf("the log has (-want +got):\n%s", diff)
			}
			p := r.Progress()
			if p.Contested.Load() != test.contested || p.Samples.Load() != test.samples || p.Faults.Load() != test.faults || p.RedFlagged.Load() != 0 {
				t.Errorf("progress: %d contested, %d samples, %d faults, %d red flags, want %d, %d, %d and 0",
					p.Contested.Load(), p.Samples.Load(), p.Faults.Load(), p.RedFlagged.Load(), test.contested, test.samples, test.faults)
			}
		})
	}
}

// TestVerdictsAreThereUntilTheyAreCommitted: what a verdict is kept in is used again only
// when the step that it is from was committed, whatever was decided in between.
func TestVerdictsAreThereUntilTheyAreCommitted(t *testing.T) {
	cost := 0.5
	m := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
		return &model.Response{Text: req.Messages[0].Text, Stop: model.StopEnd, CostUSD: &cost}, nil
	})
	_, err := runtime(t, filepath.Join(t.TempDir(), "run"), m, Options{Checkpoints: true, Compact: true}, func(f flow.Flow) error {
		decide := func(text string) *flow.Verdict {
			q := ruled(2, 9)
			q.Prompt = text
			v, err := f.Decide(text, q)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		commit := func(v *flow.Verdict) {
			flow.Commit(f, "", &event.StepCompleted{Output: event.JSONValue(v.Answer), Voting: v.Voting, CostUSD: v.CostUSD})
		}
		a := decide("a")
		b := decide("b")
		commit(a)
		c := decide("c")
		for text, v := range map[string]*flow.Verdict{"a": a, "b": b, "c": c} {
			if string(v.Answer) != strconv.Quote(text) || !cmp.Equal(v.Voting.Votes, map[string]int{text: 2}) || *v.CostUSD != 1 {
				t.Errorf("the verdict on %s is %s, votes %v, cost %v", text, v.Answer, v.Voting.Votes, *v.CostUSD)
			}
		}
		commit(c)
		answer := c.Answer
		d := decide("d")
		if string(answer) != `"c"` || string(d.Answer) != `"d"` || !cmp.Equal(d.Voting.Votes, map[string]int{"d": 2}) {
			t.Errorf("the verdict on d is %s, votes %v, after %s", d.Answer, d.Voting.Votes, answer)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestJudgementsLoseNoSamples: a judgement on the way to a verdict is a decision of its
// own, and leaves alone the samples that are held back for the question it is about.
func TestJudgementsLoseNoSamples(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	same := func(first, other string) (*flow.Question, error) { return ruled(2, 4), nil }
	m := &replies{texts: []string{`"one thing"`, `"another"`, "different", "different", `"one thing"`}}
	_, err := runtime(t, dir, m, Options{Checkpoints: true, Compact: true, Same: same}, func(f flow.Flow) error {
		q := ruled(2, 9)
		q.Meaning = &flow.Meaning{}
		_, err := f.Decide("q", q)
		return err
	})
	if err != nil || m.n.Load() != 6 {
		t.Fatalf("Decide() = %v after %d calls, want 4 of voters and 2 of the judge", err, m.n.Load())
	}
	want := map[event.Type]int{event.TypeSampleCompleted: 4, event.TypeVoteCompleted: 1}
	if diff := cmp.Diff(want, without(types(t, dir), event.TypeTaskSubmitted)); diff != "" {
		t.Errorf("the log has (-want +got):\n%s", diff)
	}
}

// TestAChainDecidesAnewByAnotherRule: a verdict that a chain had not acted upon yet
// stands only under the rule that it was reached by.
func TestAChainDecidesAnewByAnotherRule(t *testing.T) {
	chain := Options{Checkpoints: true, Compact: true}
	for _, test := range []struct {
		k     int
		calls int64
	}{{2, 0}, {3, 3}} {
		dir := filepath.Join(t.TempDir(), "run")
		decide := func(k int) func(flow.Flow) error {
			return func(f flow.Flow) error {
				v, err := f.Decide("q", ruled(k, 9))
				if err == nil && string(v.Answer) != `"a"` {
					t.Errorf("Decide() = %s, want a", v.Answer)
				}
				return err
			}
		}
		if _, err := runtime(t, dir, &replies{texts: []string{"b", "a"}}, chain, decide(2)); err != nil {
			t.Fatal(err)
		}
		m := &replies{texts: []string{"a"}}
		if _, err := runtime(t, dir, m, chain, decide(test.k)); err != nil || m.n.Load() != test.calls {
			t.Errorf("Decide() with k = %d after k = 2 = %v after %d calls, want %d", test.k, err, m.n.Load(), test.calls)
		}
	}
}

// TestSamplesSayWhoMadeThem: the model that answered and the voter that was asked may
// have different names, red flags are counted, and a simulator is known by its own.
func TestSamplesSayWhoMadeThem(t *testing.T) {
	for _, test := range []struct {
		name, model, voter string
		simulated          bool
	}{
		{"", "m", "", false},
		{"m", "m", "", false},
		{"m-2026", "m-2026", "m", false},
		{"sim/default", "sim/default", "m", true},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		q := ruled(2, 9)
		q.Flags = &redflag.Config{Empty: redflag.EmptyCheck{On: true}}
		r, err := runtime(t, dir, &replies{texts: []string{"", "a"}, name: test.name}, Options{Setup: event.Setup{Model: "m"}}, func(f flow.Flow) error {
			_, err := f.Decide("q", q)
			f.Emit("end", event.TaskCompleted{})
			return err
		})
		if err != nil || r.Progress().RedFlagged.Load() != 1 {
			t.Errorf("%q: %v with %d red flags, want 1", test.name, err, r.Progress().RedFlagged.Load())
		}
		samples := 0
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
				samples++
				if e.Model != test.model || e.Voter != test.voter {
					t.Errorf("%q: a sample of %q, asked of %q, want %q and %q", test.name, e.Model, e.Voter, test.model, test.voter)
				}
			case event.SampleRedFlagged:
				samples++
			case event.TaskCompleted:
				if e.Simulated != test.simulated {
					t.Errorf("%q: the end says simulated %t, want %t", test.name, e.Simulated, test.simulated)
				}
			}
		}
		if samples != 3 {
			t.Errorf("%q: the log has %d samples, want 3", test.name, samples)
		}
	}
}

// TestWhatAQuestionConsistsOf: a part that is not there has no hash, and each part has
// its own.
func TestWhatAQuestionConsistsOf(t *testing.T) {
	plain, model, work := ruled(2, 9), ruled(2, 9), ruled(2, 9)
	model.Model = "judge"
	work.Work = &flow.Work{Tools: []string{"Read"}}
	names := func(q *flow.Question) map[string]bool {
		list := map[string]bool{}
		for name, sum := range partsOf(q) {
			list[name] = len(sum) == 12
		}
		return list
	}
	for _, test := range []struct {
		q    *flow.Question
		want []string
	}{
		{plain, []string{"prompt", "answer", "sampling"}},
		{model, []string{"prompt", "answer", "sampling", "model"}},
		{work, []string{"prompt", "answer", "sampling", "tools", "calls"}},
	} {
		want := map[string]bool{}
		for _, name := range test.want {
			want[name] = true
		}
		if diff := cmp.Diff(want, names(test.q)); diff != "" {
			t.Errorf("partsOf(%+v) (-want +got):\n%s", test.q, diff)
		}
	}
}

// TestPause: a question waits for as long as it says, or until the run ends.
func TestPause(t *testing.T) {
	over := errors.New("over")
	for _, test := range []struct {
		wait, end time.Duration
		took      time.Duration
		want      error
	}{
		{0, time.Hour, 0, nil},
		{-time.Second, time.Hour, 0, nil},
		{time.Second, time.Hour, time.Second, nil},
		{time.Hour, time.Second, time.Second, over},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := time.AfterFunc(test.end, func() { cancel(over) })
			defer stop.Stop()
			start := time.Now()
			if err := pause(ctx, test.wait); err != test.want || time.Since(start) != test.took {
				t.Errorf("pause(%v) = %v after %v, want %v after %v", test.wait, err, time.Since(start), test.want, test.took)
			}
		})
	}
	// No wait is no reason to end: whoever goes on will notice.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if err := pause(ended, 0); err != nil {
			t.Fatalf("pause(0) at the end = %v, want nil", err)
		}
	}
}

// TestADelayedQuestion is not asked before its time.
func TestADelayedQuestion(t *testing.T) {
	m := &replies{texts: []string{"a"}}
	over := errors.New("over")
	_, err := runtime(t, filepath.Join(t.TempDir(), "run"), m, Options{}, func(f flow.Flow) error {
		ctx, cancel := context.WithCancelCause(f.(*branch).ctx)
		cancel(over)
		q := ruled(1, 9)
		q.DelayMS = time.Hour.Milliseconds()
		_, err := f.(*branch).Flow(ctx).Decide("q", q)
		return err
	})
	if !errors.Is(err, over) || m.n.Load() != 0 {
		t.Errorf("Decide() in an hour = %v after %d calls, want %v after none", err, m.n.Load(), over)
	}
}

// TestACompactVoteGoesOn: what was logged of a vote that was cut off needs its end in
// the log too, though all agree.
func TestACompactVoteGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	chain := Options{Checkpoints: true, Compact: true}
	decide := func(f flow.Flow) error { _, err := f.Decide("q", ruled(3, 9)); return err }
	broke := errors.New("no money left")
	calls := 0
	cut := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		if calls++; calls > 2 {
			return nil, broke
		}
		return &model.Response{Text: "a", Stop: model.StopEnd}, nil
	})
	if _, err := runtime(t, dir, cut, chain, decide); !errors.Is(err, broke) {
		t.Fatalf("Decide() = %v, want %v", err, broke)
	}
	m := &replies{texts: []string{"a"}}
	if _, err := runtime(t, dir, m, chain, decide); err != nil || m.n.Load() != 1 {
		t.Errorf("Decide() again = %v after %d calls, want one more", err, m.n.Load())
	}
	want := map[event.Type]int{event.TypeSampleCompleted: 3, event.TypeVoteResumed: 1, event.TypeVoteCompleted: 1}
	if diff := cmp.Diff(want, without(types(t, dir), event.TypeTaskSubmitted)); diff != "" {
		t.Errorf("the log has (-want +got):\n%s", diff)
	}
}

// TestLooksThatFail: nothing is recorded of a look that saw nothing.
func TestLooksThatFail(t *testing.T) {
	blind := errors.New("nothing to see")
	looks := Looks{
		"fails":       func(context.Context, json.RawMessage) (any, error) { return nil, blind },
		"unencodable": func(context.Context, json.RawMessage) (any, error) { return func() {}, nil },
		"sees":        func(context.Context, json.RawMessage) (any, error) { return 7, nil },
	}
	for kind, want := range map[string]string{"fails": "", "unencodable": "", "unknown": "", "sees": "7"} {
		dir := filepath.Join(t.TempDir(), "run")
		var seen json.RawMessage
		_, err := runtime(t, dir, &echo{}, Options{Looks: looks}, func(f flow.Flow) (err error) {
			seen, err = f.Observe("look", flow.Look{Kind: kind})
			return err
		})
		if string(seen) != want || (err == nil) != (want != "") || kind == "fails" && !errors.Is(err, blind) {
			t.Errorf("Observe(%s) = %s, %v, want %q", kind, seen, err, want)
		}
		if n := types(t, dir)[event.TypeObserved]; (n == 1) != (want != "") {
			t.Errorf("Observe(%s): %d looks in the log", kind, n)
		}
	}
}

// TestAnsweredAndNot: who is absent makes the run wait, and a person that fails makes
// it fail; neither is an answer.
func TestAnsweredAndNot(t *testing.T) {
	broken := errors.New("the terminal is gone")
	for _, test := range []struct {
		err     error
		waiting bool
	}{{nil, false}, {person.ErrAbsent, true}, {fmt.Errorf("late: %w", person.ErrAbsent), true}, {broken, false}} {
		dir := filepath.Join(t.TempDir(), "run")
		p := person.Func(func(context.Context, string, *flow.HumanQuestion) (*flow.Answer, error) {
			return &flow.Answer{Text: "yes", By: "test"}, test.err
		})
		_, err := runtime(t, dir, &echo{}, Options{Person: p}, func(f flow.Flow) error {
			_, err := f.Ask("q", &flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: "?", Call: &event.Intent{Tool: "Pay", Input: json.RawMessage(`{}`)}})
			return err
		})
		_, waiting := errors.AsType[*person.WaitingError](err)
		if waiting != test.waiting || (err == nil) != (test.err == nil) || test.err == broken && !errors.Is(err, broken) {
			t.Errorf("Ask() of a person who says %v = %v", test.err, err)
		}
		for line, err := range runlog.Read(dir) {
			if err != nil {
				t.Fatal(err)
			}
			if rec, err := line.Decode(); err != nil {
				t.Fatal(err)
			} else if e, ok := rec.Event.(event.ClarificationRequested); ok && string(e.Call) != `{"tool":"Pay","input":{}}` {
				t.Errorf("the log asks about the call %s, want that of Pay", e.Call)
			}
		}
		if n := types(t, dir)[event.TypeClarificationProvided]; (n == 1) != (test.err == nil) {
			t.Errorf("Ask() of a person who says %v: %d answers in the log", test.err, n)
		}
	}
}

// TestElapsed: a run has taken the time of all its sessions.
func TestElapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		past := history.New("")
		past.Duration = time.Hour
		r := New(Options{Past: past, Ledger: budget.New(budget.Limits{}, usage.Spent{})})
		time.Sleep(time.Minute)
		if got, want := r.Elapsed(), time.Hour+time.Minute; got != want {
			t.Errorf("Elapsed() = %v, want %v", got, want)
		}
	})
}
