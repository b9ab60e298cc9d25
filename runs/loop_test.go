package runs_test

import (
	"path/filepath"
	"testing"

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
