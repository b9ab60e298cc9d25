package runs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// TestReplayFindsDifferences tampers with copies of runs. Each change keeps the
// files well-formed, so that only the replay can find it.
func TestReplayFindsDifferences(t *testing.T) {
	tests := []struct {
		name, run, file string
		old, new        string // the first old after the text in after becomes new
		after           string
		want            string
	}{
		{"status", full, runs.ResultFile, `"completed"`, `"failed"`, "", `"status"`},
		{"cost", full, runs.ResultFile, `"total_cost_usd": 0.`, `"total_cost_usd": 1.`, "", `"total_cost_usd"`},
		{"steps in the result", full, runs.ResultFile, `"steps_completed": 15`, `"steps_completed": 16`, "", `"steps_completed"`},
		{"result that is no JSON", full, runs.ResultFile, `{`, `[`, "", "is not JSON"},
		{"a vote turned", full, runlog.EventsFile, `"vote":"{\"move\":[1,`, `"vote":"{\"move\":[2,`, "", "the samples give the votes"},
		{"a flag taken away", full, runlog.EventsFile, `"type":"agent_sample_red_flagged"`, `"type":"agent_sample_passed_over"`, "", "the samples give the votes"},
		{"a verdict turned", contested, runlog.EventsFile, `"status":"decided"`, `"status":"undecided"`, "", "the rule says otherwise"},
		{"a margin raised", full, runlog.EventsFile, `"margin":3`, `"margin":4`, `"type":"step_completed"`, "margin"},
		{"samples added", full, runlog.EventsFile, `"samples":3`, `"samples":4`, `"type":"step_completed"`, "samples"},
		{"a step left out", full, runlog.EventsFile, `"type":"step_completed"`, `"type":"step_passed_over"`, "", "where step 0 belongs"},
		{"a step renumbered", full, runlog.EventsFile, `"step":4,"output"`, `"step":5,"output"`, "", "step 5 is committed where step 4 belongs"},
		{"another move committed", full, runlog.EventsFile, `"output":{"move":[1,`, `"output":{"move":[2,`, "", "is wrong"},
		{"a rule that asks for more", full, runlog.EventsFile, `"k":3`, `"k":4`, "", "the rule asks for 4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			logDir := t.TempDir()
			dir := copyRun(t, test.run, logDir, "run")
			replace(t, filepath.Join(dir, test.file), test.after, test.old, test.new)
			r, err := open(t, dir).Replay(nil)
			if err != nil {
				t.Fatalf("Replay = %v", err)
			}
			if all := strings.Join(r.Differences, "\n"); !strings.Contains(all, test.want) {
				t.Errorf("Replay = %q, want a difference with %q", all, test.want)
			}
			if len(r.Differences) > 20 {
				t.Errorf("Replay = %d differences, want at most 20", len(r.Differences))
			}
		})
	}
}

// TestReplayOfARunThatEnds: a log that has ended has no result yet for as long as it is written;
// one that lies there is that of an earlier session.
func TestReplayOfARunThatEnds(t *testing.T) {
	dir := copyRun(t, full, t.TempDir(), "run")
	replace(t, filepath.Join(dir, runs.ResultFile), "", `"completed"`, `"stopped"`)
	log, _, err := runlog.Open(dir, nil, func(runlog.Line) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if r, err := open(t, dir).Replay(nil); err != nil || len(r.Differences) > 0 || r.Compared {
		t.Errorf("Replay(while it is written) = %+v, %v, want nothing compared", r, err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := open(t, dir).Replay(nil); err != nil || len(r.Differences) == 0 || !r.Compared {
		t.Errorf("Replay() = %+v, %v, want a difference", r, err)
	}
}

// replace changes one place of a file.
func replace(t *testing.T, path, after, from, to string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, tail, _ := strings.Cut(string(data), after)
	if !strings.Contains(tail, from) {
		t.Fatalf("%s has no %s after %q", path, from, after)
	}
	if err := os.WriteFile(path, []byte(head+after+strings.Replace(tail, from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReplayUsesTheLogAlone: neither the index nor the stored result is needed,
// and a missing stored value is found.
func TestReplayUsesTheLogAlone(t *testing.T) {
	logDir := t.TempDir()
	dir := copyRun(t, full, logDir, "run")
	run := open(t, dir)
	if err := os.WriteFile(filepath.Join(dir, runlog.IndexFile), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := run.Replay(nil); err != nil || len(r.Differences) > 0 || !r.Compared {
		t.Errorf("Replay(with a broken index) = %+v, %v, want no differences", r, err)
	}
	if err := os.Remove(filepath.Join(dir, runs.ResultFile)); err != nil {
		t.Fatal(err)
	}
	if r, err := run.Replay(nil); err != nil || len(r.Differences) > 0 || r.Compared || r.Result.StepsCompleted != 15 {
		t.Errorf("Replay(without a result) = %+v, %v, want nothing compared", r, err)
	}
}
