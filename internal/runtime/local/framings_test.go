package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/vote"
)

// confusable answers right, but for questions in the third framing, which it does not
// understand.
var confusable = model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
	text := "right"
	if strings.Contains(req.Messages[0].Text, "framing 3") {
		text = "wrong"
	}
	return &model.Response{Text: text, Stop: model.StopEnd}, nil
})

// framedQuestion is one of many questions of a class, in five framings.
func framedQuestion(n int) *flow.Question {
	q := &flow.Question{
		Step: n, Class: "riddle", Answer: flow.Format{Reader: "plain"},
		Terms: flow.Terms{MaxOutput: 100, Rule: vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 20}},
	}
	for i := range 5 {
		q.Variants = append(q.Variants, fmt.Sprintf("riddle %d, framing %d", n, i+1))
	}
	q.Prompt = q.Variants[0]
	return q
}

// askFramed asks questions from one to another, as an orchestrator that is run again does.
func askFramed(to, crashAt int) func(flow.Flow) error {
	return func(f flow.Flow) error {
		for n := range to {
			if n == crashAt {
				return errCrash
			}
			v, err := f.Decide(fmt.Sprintf("riddle/%d", n), framedQuestion(n))
			if err != nil {
				return err
			}
			f.Emit(fmt.Sprintf("riddle/%d/completed", n), event.StepCompleted{Step: n, Output: event.JSONValue(v.Answer), Voting: v.Voting})
		}
		return nil
	}
}

// framingsIn are the framings that were asked in, before and after one was retired, and
// the events that retired some.
func framingsIn(t *testing.T, dir string, chain bool) (before, after []int, retired []event.FramingRetired) {
	t.Helper()
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := line.Decode()
		if err != nil {
			t.Fatal(err)
		}
		var shares []event.Share
		switch e := rec.Event.(type) {
		case event.FramingRetired:
			retired = append(retired, e)
		case event.VoteCompleted:
			if !chain {
				shares = e.Voting.Shares
			}
		case event.StepCompleted:
			if chain {
				shares = e.Voting.Shares
			}
		}
		for _, s := range shares {
			if len(retired) > 0 {
				after = append(after, s.Framing)
			} else {
				before = append(before, s.Framing)
			}
		}
	}
	return before, after, retired
}

// TestAWorseFramingIsRetired: a framing whose votes dissent again and again is not asked
// in any more, in a plan and in a chain, over a crash and in the same place of the log;
// and the audit finds nothing to object to.
func TestAWorseFramingIsRetired(t *testing.T) {
	const questions = 60
	for _, chain := range []bool{false, true} {
		var logs [2]event.FramingRetired
		for i, crashAt := range []int{-1, 20} {
			dir := filepath.Join(t.TempDir(), "run")
			o := Options{Checkpoints: chain, Compact: chain}
			run := askFramed(questions, crashAt)
			if _, err := runtime(t, dir, confusable, o, run); err != nil && !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			if crashAt >= 0 {
				from := 0
				if chain { // it goes on after its last step
					from = crashAt
				}
				if _, err := runtime(t, dir, confusable, o, func(f flow.Flow) error {
					for n := from; n < questions; n++ {
						v, err := f.Decide(fmt.Sprintf("riddle/%d", n), framedQuestion(n))
						if err != nil {
							return err
						}
						f.Emit(fmt.Sprintf("riddle/%d/completed", n), event.StepCompleted{Step: n, Output: event.JSONValue(v.Answer), Voting: v.Voting})
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			before, after, retired := framingsIn(t, dir, chain)
			if len(retired) != 1 || retired[0].Framing != 3 || retired[0].Voter != "m" {
				t.Fatalf("chain %t, crash at %d: retired are %+v, want framing 3", chain, crashAt, retired)
			}
			if !slices.Contains(before, 3) || slices.Contains(after, 3) || !slices.Contains(after, 4) {
				t.Errorf("chain %t, crash at %d: asked in %v, and in %v after framing 3 was retired", chain, crashAt, before, after)
			}
			logs[i] = retired[0]
		}
		if logs[0] != logs[1] {
			t.Errorf("chain %t: it was retired for %+v, after a crash for %+v", chain, logs[0], logs[1])
		}
	}
}

// TestAKilledRetirement: a session that was killed before it could say so leaves that to
// the next one.
func TestAKilledRetirement(t *testing.T) {
	bad := event.Share{Voter: "m", Framing: 3, Votes: 40, Dissent: 40}
	good := event.Share{Voter: "m", Framing: 1, Votes: 100}
	dir := written(t,
		event.TaskSubmitted{Format: event.Format, Form: event.FormPlan},
		event.VoteCompleted{Question: "riddle/0", Class: "riddle", Status: "decided", Voting: event.Voting{Shares: []event.Share{bad, good}}},
	)
	if _, err := runtime(t, dir, confusable, Options{}, askFramed(2, -1)); err != nil {
		t.Fatal(err)
	}
	_, after, retired := framingsIn(t, dir, false)
	if len(retired) != 1 || retired[0].Framing != 3 || slices.Contains(after, 3) {
		t.Errorf("retired are %+v, then asked in %v; want framing 3 once and no more", retired, after)
	}
}

// TestFramingsAreAudited: a framing that no vote speaks against was not retired by us.
func TestFramingsAreAudited(t *testing.T) {
	retired := event.FramingRetired{Class: "riddle", Voter: "m", Framing: 3, Own: vote.Record{Samples: 40, Bad: 40}, Others: vote.Record{Samples: 100}}
	shares := []event.Share{{Voter: "m", Framing: 3, Votes: 40, Dissent: 40}, {Voter: "m", Framing: 1, Votes: 100}}
	for _, test := range []struct {
		shares []event.Share
		agrees bool
	}{{shares, true}, {shares[1:], false}, {nil, false}} {
		dir := written(t,
			event.TaskSubmitted{Format: event.Format, Form: event.FormPlan, Config: []byte(`{"voting":{"strategy":"none","max_samples":1}}`)},
			event.VoteCompleted{Question: "riddle/0", Class: "riddle", Status: "undecided", Voting: event.Voting{Shares: test.shares}},
			retired,
		)
		_, a, err := history.ReadAudit(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(a.Differences(), func(d string) bool { return strings.Contains(d, "framing 3") })
		if found == test.agrees {
			t.Errorf("after the shares %+v the audit says %q, agrees %t", test.shares, a.Differences(), test.agrees)
		}
	}
}
