package runs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/vote"
)

// TestALoop: a run with a loop has its turns as steps, a replay agrees with it though it has
// no samples of votes on which all agreed, and a certificate counts these.
func TestALoop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	first := submitted("script")
	first.Form = event.FormScript
	add := func(key string, e event.Event) {
		t.Helper()
		if err := log.AppendKeyed(key, e); err != nil {
			t.Fatal(err)
		}
	}
	add("", first)
	const turns = 5
	for n := range turns {
		key, step := flow.TurnKey("loop", n), committed(n)
		step.Loop = true
		for _, question := range []string{"/one", "/two"} {
			add("", event.VoteCompleted{
				Question: key + question, Step: n, Scope: key, Status: string(flow.Decided), Answer: step.Output, Voting: step.Voting,
				Rule: vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 10}, Class: "next",
			})
		}
		add(key, step)
	}
	add("", event.TaskCompleted{Steps: turns, Output: event.TextValue("done")})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	run := open(t, dir)
	replay, err := run.Replay(nil)
	if err != nil || len(replay.Differences) > 0 || replay.Races != 0 || replay.Result.StepsCompleted != turns {
		t.Errorf("Replay() = %+v, %v, want nothing that differs", replay, err)
	}
	if r, err := run.Result(); err != nil || len(r.Steps) != turns || r.Output.Text() != "done" {
		t.Errorf("Result() = %+v, %v, want %d steps", r, err, turns)
	}
	c, err := run.Certify()
	if err != nil || c.Votes.Races != 2*turns {
		t.Errorf("Certify() = %+v, %v, want %d votes", c, err, 2*turns)
	}
}

// TestResultOfALongLoop: most turns are counted by the index alone, and the result is the one
// that the whole log gives: before and after the index is rebuilt, and without it.
func TestResultOfALongLoop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	add := func(key string, e event.Event) {
		t.Helper()
		if err := log.AppendKeyed(key, e); err != nil {
			t.Fatal(err)
		}
	}
	first := submitted("script")
	first.Form = event.FormScript
	add("", first)
	const turns = 1500
	sole := 0
	for n := range turns {
		key, step := flow.TurnKey("loop", n), committed(n)
		step.Loop = true
		step.Voting.Samples, step.Voting.Margin, step.Voting.Votes = 3, 3, map[string]int{"a": 3}
		v := event.VoteCompleted{
			Question: key + "/one", Step: n, Status: string(flow.Decided), Answer: step.Output, Voting: step.Voting,
			Rule: vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 10}, Class: runlog.SoleClass, Spent: step.Spent,
		}
		isSole := n > 0
		switch {
		case n%100 == 7: // it was contested
			v.Voting.Samples, v.Voting.Votes = 5, map[string]int{"a": 4, "b": 1}
			step.Voting, isSole = v.Voting, false
		case n%100 == 8: // it took more
			v.Voting.Samples, v.Voting.RedFlagged = 4, 1
			step.Voting = v.Voting
		case n%100 == 9: // it was another kind of question
			v.Class, isSole = "other", false
		case n%100 == 10: // there were two
			add("", v)
			isSole = false
		case n%100 == 11: // it did something as well
			add("", event.EffectClaimed{Effect: key + "/call", Step: n, Tool: "Write", Input: event.JSONValue([]byte(`{}`))})
			add("", event.EffectDone{Effect: key + "/call", Step: n, Result: event.TextValue("ok")})
			isSole = false
		case n%100 == 12: // others were asked
			v.Pool, isSole = "second", false
		case n%100 == 13: // it asked nobody
			add(key, step)
			continue
		case n%100 == 14: // it was less than three, and another kind of race therefore
			v.Voting.Samples, v.Voting.Margin, v.Voting.Votes = 2, 2, map[string]int{"a": 2}
			step.Voting = v.Voting
		case n%100 == 15: // one sample is no vote
			v.Voting.Samples, v.Voting.Margin, v.Voting.Votes = 1, 1, map[string]int{"a": 1}
			step.Voting = v.Voting
		case n%100 == 16: // the step says something else than the verdict
			step.Voting.Samples, step.Voting.RedFlagged, isSole = 4, 1, false
		case n%100 == 17:
			step.By, isSole = event.ByCode, false
		case n%100 == 18: // something failed before
			add(key+"/failed", event.StepFailed{Step: n, Status: "failed", Reason: "why"})
			isSole = false
		}
		if isSole {
			sole++
		}
		add("", v)
		add(key, step)
	}
	add("", event.TaskCompleted{Steps: turns, Output: event.TextValue("done")})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(when string, wantSole int) string {
		t.Helper()
		got := 0
		if x, err := runlog.OpenIndex(dir); err == nil {
			for s := range x.All() {
				if s.Sole {
					got++
				}
			}
			x.Close()
		}
		if got != wantSole {
			t.Errorf("%s: the index has %d sole steps, want %d", when, got, wantSole)
		}
		result, err := open(t, dir).Result()
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := open(t, dir).Certify()
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal([]any{result, certificate})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	indexed := check("as it was written", sole)
	index := filepath.Join(dir, runlog.IndexFile)
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	want := check("without the index", 0)
	if diff := cmp.Diff(want, indexed); diff != "" {
		t.Errorf("with the index: %s", diff)
	}
	for _, keep := range []int64{0, 16 + 48*700, 16 + 48*700 + 5} { // nothing, some of it, and half a step more
		if err := os.WriteFile(index, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if keep > 0 { // as it is once it was rebuilt
			reopen(t, dir)
			if err := os.Truncate(index, keep); err != nil {
				t.Fatal(err)
			}
		}
		reopen(t, dir)
		if diff := cmp.Diff(want, check("rebuilt", sole)); diff != "" {
			t.Errorf("with the index rebuilt after byte %d: %s", keep, diff)
		}
	}
}

// reopen opens a log for writing, which rebuilds its index.
func reopen(t *testing.T, dir string) {
	t.Helper()
	log, _, err := runlog.Open(dir, nil, func(runlog.Line) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}
