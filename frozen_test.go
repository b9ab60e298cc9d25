package maker_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
)

// frozenRuns are run folders that a release wrote. They are never changed: every
// later release must read them. A release adds its own.
var frozenRuns = []struct {
	dir       string // below testdata/frozen
	status    string
	stop      string
	steps     int // committed
	total     int
	samples   int
	flagged   int
	faults    int
	contested int
	races     int    // votes that a replay counts again
	compared  bool   // there is a result to compare with
	disks     int    // of a run that can be resumed
	listed    string // status in a list of runs
}{
	{
		dir: "v0.1/hanoi-20261115-030916-ayrx3", status: event.StatusCompleted, steps: 15, total: 15,
		samples: 54, flagged: 1, faults: 4, contested: 4, races: 15, compared: true, listed: event.StatusCompleted,
	},
	{
		dir: "v0.1/hanoi-20261115-030916-nnhq2", status: event.StatusCompleted, steps: 15, total: 15,
		samples: 75, flagged: 2, contested: 5, races: 5, compared: true, listed: event.StatusCompleted,
	},
	{
		dir: "v0.1/hanoi-20261115-030916-wv7au", status: event.StatusStopped, stop: "max_calls", steps: 10, total: 31,
		samples: 34, flagged: 4, compared: true, disks: 5, listed: event.StatusStopped,
	},
	{
		dir: "v0.1/hanoi-20261115-030916-najw3", status: runs.StatusInterrupted, steps: 7, total: 15,
		samples: 31, contested: 4, races: 5, disks: 4, listed: runs.StatusInterrupted,
	},
	{
		dir: "v0.1/do-20261115-114159-735gu", status: event.StatusCompleted, steps: 2, total: 2,
		samples: 1, races: 1, compared: true, listed: event.StatusCompleted,
	},
	{
		dir: "v0.1/run-20261115-114159-buu4x", status: event.StatusCompleted, steps: 3,
		samples: 16, contested: 2, races: 5, compared: true, listed: event.StatusCompleted,
	},
	{
		dir: "v0.1/run-20261115-114209-kvhms", status: event.StatusStopped, stop: event.StopWaiting, steps: 2,
		samples: 8, contested: 1, races: 4, compared: true, listed: event.StatusStopped,
	},
	{
		dir: "v0.1/solve-20261115-114159-zetlz", status: event.StatusCompleted, steps: 15,
		samples: 38, flagged: 1, contested: 3, races: 16, compared: true, listed: event.StatusCompleted,
	},
}

// openRun opens the run in a folder.
func openRun(t *testing.T, dir string) *runs.Run {
	t.Helper()
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatalf("Open(%s) = %v", dir, err)
	}
	return run
}

func frozenDir(dir string) string {
	return filepath.Join("testdata", "frozen", filepath.FromSlash(dir))
}

func TestFrozenRunsAreReadable(t *testing.T) {
	before := fingerprint(t, frozenDir(""))
	for _, run := range frozenRuns {
		t.Run(run.dir, func(t *testing.T) {
			dir := frozenDir(run.dir)
			r, err := openRun(t, dir).Result()
			if err != nil {
				t.Fatalf("Result(%s) = %v", dir, err)
			}
			type summary struct {
				Run, Status, Stop                                 string
				Steps, Total, Samples, Flagged, Faults, Contested int
				Simulated                                         bool
			}
			want := summary{filepath.Base(dir), run.status, run.stop, run.steps, run.total, run.samples, run.flagged, run.faults, run.contested, true}
			got := summary{r.Run, r.Status, r.Stop, r.StepsCompleted, r.StepsTotal, r.Voting.Samples, r.Voting.RedFlagged, r.Voting.Faults, r.Voting.Contested, r.Simulated}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Result(%s): -want +got\n%s", dir, diff)
			}
			if run.compared {
				compareStored(t, dir, r)
			}

			replay, err := newEngine(t, maker.Options{LogDir: filepath.Dir(dir)}).Replay(filepath.Base(dir))
			if err != nil {
				t.Fatalf("Replay(%s) = %v", dir, err)
			}
			if len(replay.Differences) > 0 || replay.Races != run.races || replay.Compared != run.compared {
				t.Errorf("Replay(%s) = %d races, compared %t, differences %q, want %d, %t and none",
					dir, replay.Races, replay.Compared, replay.Differences, run.races, run.compared)
			}
			if run.compared {
				return
			}
			if diff := cmp.Diff(r, replay.Result); diff != "" {
				t.Errorf("Replay(%s) differs from Result: -Result +Replay\n%s", dir, diff)
			}
		})
	}
	if diff := cmp.Diff(before, fingerprint(t, frozenDir(""))); diff != "" {
		t.Errorf("reading changed frozen runs: -before +after\n%s", diff)
	}
}

// compareStored checks that every field of the stored result is derived again.
// Later releases may add fields.
func compareStored(t *testing.T, dir string, r *maker.Result) {
	t.Helper()
	stored, err := os.ReadFile(filepath.Join(dir, runs.ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	derived, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	if err := json.Unmarshal(stored, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(derived, &got); err != nil {
		t.Fatal(err)
	}
	was, _ := want["effects"].([]any)
	calls, _ := got["effects"].([]any)
	for i := range min(len(was), len(calls)) { // the votes of calls came later
		for _, name := range []string{"voting", "voted"} {
			if was[i].(map[string]any)[name] == nil {
				delete(calls[i].(map[string]any), name)
			}
		}
	}
	for name := range want {
		if diff := cmp.Diff(want[name], got[name]); diff != "" {
			t.Errorf("Result(%s): the field %s: -stored +derived\n%s", dir, name, diff)
		}
	}
}

func TestFrozenRunsAreListed(t *testing.T) {
	list, err := runs.List(frozenDir("v0.1"))
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]string{}
	for _, s := range list {
		status["v0.1/"+s.Run] = s.Status
	}
	for _, run := range frozenRuns {
		if status[run.dir] != run.listed {
			t.Errorf("List: the status of %s = %q, want %q", run.dir, status[run.dir], run.listed)
		}
	}
	if len(list) != len(frozenRuns) {
		t.Errorf("List = %d runs, want %d", len(list), len(frozenRuns))
	}
}

func TestFrozenRunsCanBeResumed(t *testing.T) {
	for _, run := range frozenRuns {
		if run.disks == 0 {
			continue
		}
		t.Run(run.dir, func(t *testing.T) {
			logDir := t.TempDir()
			dir := filepath.Join(logDir, filepath.Base(run.dir))
			if err := os.CopyFS(dir, os.DirFS(frozenDir(run.dir))); err != nil {
				t.Fatal(err)
			}
			old, err := openRun(t, dir).Result()
			if err != nil {
				t.Fatal(err)
			}
			engine := newEngine(t, maker.Options{LogDir: logDir})
			resumed, err := engine.Resume(t.Context(), filepath.Base(dir), &maker.ResumeOptions{Change: func(c *maker.Config) {
				c.Model, c.MaxCalls = "sim/default?p=1", 0
			}})
			if err != nil {
				t.Fatalf("Resume(%s) = %v", run.dir, err)
			}
			r := mustResult(t, resumed)
			if r.Status != event.StatusCompleted || r.StepsCompleted != run.total {
				t.Errorf("Resume(%s) ended %s with %d steps (%s), want completed with %d", run.dir, r.Status, r.StepsCompleted, r.Reason, run.total)
			}
			if diff := cmp.Diff(old.Steps, r.Steps[:run.steps]); diff != "" {
				t.Errorf("Resume(%s) changed committed steps: -before +after\n%s", run.dir, diff)
			}
			wantMoves(t, r, run.disks)
			replay, err := engine.Replay(filepath.Base(dir))
			if err != nil || len(replay.Differences) > 0 || !replay.Compared {
				t.Errorf("Replay(%s) after resuming = %+v, %v, want no differences", run.dir, replay, err)
			}
		})
	}
}

// wantMoves checks the listed steps against the closed form of the solution.
func wantMoves(t *testing.T, r *maker.Result, disks int) {
	t.Helper()
	for _, s := range r.Steps {
		var got struct {
			Move  [3]int      `json:"move"`
			State hanoi.State `json:"next_state"`
		}
		if err := json.Unmarshal(s.Output.JSON, &got); err != nil {
			t.Fatal(err)
		}
		m, state := hanoi.MoveAt(disks, s.Step), hanoi.StateAt(disks, s.Step+1)
		if got.Move != [3]int{m.Disk, m.From, m.To} || fmt.Sprint(got.State) != fmt.Sprint(state) {
			t.Errorf("step %d is %s, want the move %v to %v", s.Step, s.Output.JSON, m, state)
		}
	}
}

// TestFrozenRunsTellNothing keeps names of machines, people and folders out.
func TestFrozenRunsTellNothing(t *testing.T) {
	private := regexp.MustCompile(`(?i)/(home|root|tmp|users|work|var)/|[A-Z]:\\\\|"host"|"pid"`)
	for path, data := range files(t, frozenDir("")) {
		if found := private.Find(data); found != nil {
			t.Errorf("%s holds %q", path, found)
		}
	}
}

func files(t *testing.T, root string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatalf("%s is empty", root)
	}
	return out
}

func fingerprint(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for path, data := range files(t, root) {
		out[path] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return out
}
