package maker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

func TestACauseOfItsOwnIsACancellation(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: stuck}})
	ctx, cancel := context.WithCancelCause(t.Context())
	run, err := e.Chain(ctx, hanoi.Name, hanoi.Params{Disks: 3})
	if err != nil {
		t.Fatal(err)
	}
	cancel(errors.New("the server shuts down"))
	if r := mustResult(t, run); r.Status != event.StatusStopped {
		t.Errorf("cancelled with a cause of its own: status %q stop %q reason %q", r.Status, r.Stop, r.Reason)
	}
}

func TestSecretsInAddressesAreRedacted(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, maker.Options{LogDir: dir, Config: maker.Config{Model: "compat/x", BaseURL: "http://user:hunter2hunter2@127.0.0.1:1/v1?api_key=topsecret99", MaxFaults: 1}})
	run := startHanoi(t, e, 2)
	mustResult(t, run)
	data, _ := os.ReadFile(filepath.Join(run.Dir(), runlog.EventsFile))
	for _, s := range []string{"hunter2hunter2", "topsecret99"} {
		if strings.Contains(string(data), s) {
			t.Errorf("the log holds %s", s)
		}
	}
}

func TestAKeyOfDigitsLeavesTheLogWhole(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, maker.Options{LogDir: dir, Env: func(k string) string {
		if k == "MAKER_COMPAT_API_KEY" {
			return "60000000000" // e.g. a numeric token; here it equals call_timeout_ns
		}
		return ""
	}, Config: maker.Config{Model: "compat/x", BaseURL: "http://127.0.0.1:1/v1", MaxFaults: 1}})
	run := startHanoi(t, e, 2)
	if _, err := run.Result(); err != nil {
		t.Errorf("Result() = %v", err)
	}
}

// The rule is raised on a resume while a decided vote waits for its commit.
func TestAVerdictCountsUnderItsRuleOnly(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, maker.Options{LogDir: dir, Config: maker.Config{Model: "sim/default?p=0.6&rivals=1&seed=3", Voting: maker.FirstToK(2)}})
	run, err := e.Chain(t.Context(), hanoi.Name, hanoi.Params{Disks: 4, NoCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	mustResult(t, run)
	// cut the log right behind the first vote_completed
	path := filepath.Join(run.Dir(), runlog.EventsFile)
	data, _ := os.ReadFile(path)
	var keep []string
	for _, line := range strings.SplitAfter(string(data), "\n") {
		keep = append(keep, line)
		if strings.HasPrefix(line, `{"type":"vote_completed"`) {
			break
		}
	}
	os.WriteFile(path, []byte(strings.Join(keep, "")), 0o644)
	resumed, err := e.Resume(t.Context(), run.ID(), &maker.ResumeOptions{Change: func(c *maker.Config) { c.Voting = maker.FirstToK(6); c.Model = perfect }})
	if err != nil {
		t.Fatal(err)
	}
	r := mustResult(t, resumed)
	if r.Voting.Rule.K != 6 {
		t.Errorf("the rule is %+v, want the new one", r.Voting.Rule)
	}
	// A replay holds each step against the rule that was in force.
	rep, err := e.Replay(run.ID())
	if err != nil || len(rep.Differences) > 0 {
		t.Errorf("Replay() = %v, %v, want no differences", rep.Differences, err)
	}
}

// Killed after task_completed is on disk, before result.json is written.
func TestResumeOfAFinishedRunMendsItsResult(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, maker.Options{LogDir: dir, Config: maker.Config{Model: perfect, MaxCalls: 10}})
	run := startHanoi(t, e, 4)
	before := mustResult(t, run)
	stale, _ := os.ReadFile(filepath.Join(run.Dir(), runs.ResultFile))
	r := resume(t, e, before.Run, unlimited)
	if r.Status != "completed" {
		t.Fatal(r.Status)
	}
	os.WriteFile(filepath.Join(run.Dir(), runs.ResultFile), stale, 0o644) // as the kill leaves it
	_, err := e.Resume(t.Context(), run.ID(), nil)
	t.Log("resume:", err)
	rep, err := e.Replay(run.ID())
	if err != nil || len(rep.Differences) > 0 {
		t.Errorf("replay after kill and resume: %v %v", rep.Differences, err)
	}
}

// Killed right after run_resumed.
func TestStatusAfterResumeAndKill(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, maker.Options{LogDir: dir, Config: maker.Config{Model: perfect, MaxCalls: 10}})
	run := startHanoi(t, e, 4)
	mustResult(t, run)
	path := filepath.Join(run.Dir(), runlog.EventsFile)
	first, _ := os.ReadFile(path)
	resume(t, e, run.ID(), unlimited)
	data, _ := os.ReadFile(path)
	rest := string(data[len(first):])
	os.WriteFile(path, append(first, rest[:strings.Index(rest, "\n")+1]...), 0o644)
	list, _ := runs.List(dir)
	if list[0].Status != runs.StatusInterrupted {
		t.Errorf("status of a run that was resumed and killed: %q", list[0].Status)
	}
}

func TestAClaimDoesNotReopenARun(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, maker.Options{LogDir: dir, Config: maker.Config{Model: perfect}})
	run := startHanoi(t, e, 3)
	mustResult(t, run)
	log, _, err := runlog.Open(run.Dir(), nil, func(runlog.Line) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	log.Append(event.BudgetClaimed{Calls: 100})
	log.Close()
	if _, err := e.Resume(t.Context(), run.ID(), nil); !errors.Is(err, maker.ErrFinished) {
		t.Errorf("a completed run with a late claim is resumed: %v", err)
	}
}
