package maker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runlog"
)

// contested and full name frozen runs that replays are tried on.
const (
	contested = "hanoi-20261115-030916-nnhq2"
	full      = "hanoi-20261115-030916-ayrx3"
	killed    = "hanoi-20261115-030916-najw3"
	stopped   = "hanoi-20261115-030916-wv7au"
)

// copyRun puts a copy of a frozen run into logDir under a name.
func copyRun(t *testing.T, run, logDir, name string) string {
	t.Helper()
	dir := filepath.Join(logDir, name)
	if err := os.CopyFS(dir, os.DirFS(frozenDir("v0.1/"+run))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFindRun(t *testing.T) {
	logDir := t.TempDir()
	for _, name := range []string{"hanoi-1", "hanoi-10", "hanoi-2"} {
		copyRun(t, stopped, logDir, name)
	}
	if err := os.Mkdir(filepath.Join(logDir, "not-a-run"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ run, want, text string }{
		{run: "hanoi-2", want: "hanoi-2"},
		{run: "hanoi-10", want: "hanoi-10"},
		{run: "hanoi-1", want: "hanoi-1"}, // a whole name, though another one begins with it
		{run: filepath.Join(logDir, "hanoi-2"), want: "hanoi-2"},
		{run: filepath.Join(logDir, "hanoi-2") + string(filepath.Separator), want: "hanoi-2"},
		{run: "hanoi", text: "hanoi-1, hanoi-10, hanoi-2"},
		{run: "chess", text: `"chess"`},
		{run: "not-a-run", text: `"not-a-run"`},
		{run: filepath.Join(logDir, "not-a-run"), text: "events.jsonl"},
		{run: "", text: "empty"},
	}
	for _, test := range tests {
		got, err := maker.FindRun(logDir, test.run)
		if test.want != "" && (err != nil || got != filepath.Join(logDir, test.want)) {
			t.Errorf("FindRun(%q) = %q, %v, want %q", test.run, got, err, test.want)
		}
		if test.want == "" && (!errors.Is(err, maker.ErrNoRun) || !strings.Contains(err.Error(), test.text)) {
			t.Errorf("FindRun(%q) = %q, %v, want ErrNoRun with %q", test.run, got, err, test.text)
		}
	}
	if got, err := maker.FindRun(logDir, "hanoi-20"); err == nil {
		t.Errorf("FindRun(a name that is longer than any) = %q, want an error", got)
	}
	if _, err := maker.FindRun(filepath.Join(logDir, "nowhere"), "hanoi"); !errors.Is(err, maker.ErrNoRun) {
		t.Errorf("FindRun(in a folder that does not exist) = %v, want ErrNoRun", err)
	}
	e := newEngine(t, maker.Options{LogDir: logDir})
	if _, err := e.Resume(t.Context(), "chess", nil); !errors.Is(err, maker.ErrNoRun) {
		t.Errorf("Resume(chess) = %v, want ErrNoRun", err)
	}
	if _, err := e.Replay("chess"); !errors.Is(err, maker.ErrNoRun) {
		t.Errorf("Replay(chess) = %v, want ErrNoRun", err)
	}
}

func TestList(t *testing.T) {
	logDir := t.TempDir()
	if list, err := maker.List(filepath.Join(logDir, "nowhere")); err != nil || len(list) != 0 {
		t.Errorf("List(nowhere) = %v, %v, want nothing", list, err)
	}
	copyRun(t, contested, logDir, "a")
	copyRun(t, stopped, logDir, "b")
	copyRun(t, killed, logDir, "c")
	for name, log := range map[string]string{
		"d-empty": "", "e-garbage": "{}\n{}\n", "f-newer": `{"type":"task_submitted","seq":0,"run":"f","format":99,"maker":"9.0"}` + "\n",
	} {
		dir := filepath.Join(logDir, name)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, runlog.EventsFile), []byte(log), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(logDir, "a-file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := maker.List(logDir)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Run, Status  string
		Steps, Total int
	}
	var got []line
	for _, s := range list {
		got = append(got, line{s.Run, s.Status, s.Steps, s.Total})
		if unreadable := s.Status == "unreadable"; unreadable != (s.Error != "") || unreadable != s.Started.IsZero() {
			t.Errorf("List: %s is %s with the error %q and the start %v", s.Run, s.Status, s.Error, s.Started)
		}
	}
	want := []line{
		{contested, event.StatusCompleted, 15, 15},
		{stopped, event.StatusStopped, 10, 31},
		{killed, maker.StatusInterrupted, 7, 15},
		{"d-empty", "unreadable", 0, 0},
		{"e-garbage", "unreadable", 0, 0},
		{"f-newer", "unreadable", 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("List: -want +got\n%s", diff)
	}
	if s := list[0]; s.CostUSD == nil || !s.Simulated || s.Kind != "hanoi" || s.Task != "Towers of Hanoi with 4 disks" {
		t.Errorf("List: %+v, want the cost, the kind and the task of a simulated run", s)
	}
}

// TestReplayFindsDifferences tampers with copies of runs. Each change keeps the
// files well-formed, so that only the replay can find it.
func TestReplayFindsDifferences(t *testing.T) {
	tests := []struct {
		name, run, file string
		old, new        string // the first old after the text in after becomes new
		after           string
		want            string
	}{
		{"status", full, maker.ResultFile, `"completed"`, `"failed"`, "", `"status"`},
		{"cost", full, maker.ResultFile, `"total_cost_usd": 0.`, `"total_cost_usd": 1.`, "", `"total_cost_usd"`},
		{"steps in the result", full, maker.ResultFile, `"steps_completed": 15`, `"steps_completed": 16`, "", `"steps_completed"`},
		{"result that is no JSON", full, maker.ResultFile, `{`, `[`, "", "is not JSON"},
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
			r, err := newEngine(t, maker.Options{LogDir: logDir}).Replay("run")
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
	e := newEngine(t, maker.Options{LogDir: logDir})
	if err := os.WriteFile(filepath.Join(dir, runlog.IndexFile), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Replay("run"); err != nil || len(r.Differences) > 0 || !r.Compared {
		t.Errorf("Replay(with a broken index) = %+v, %v, want no differences", r, err)
	}
	if err := os.Remove(filepath.Join(dir, maker.ResultFile)); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Replay("run"); err != nil || len(r.Differences) > 0 || r.Compared || r.Result.StepsCompleted != 15 {
		t.Errorf("Replay(without a result) = %+v, %v, want nothing compared", r, err)
	}
}

func TestDamagedLog(t *testing.T) {
	logDir := t.TempDir()
	dir := copyRun(t, stopped, logDir, "run")
	replace(t, filepath.Join(dir, runlog.EventsFile), `"step":5,`, `"output":{`, `"output":{{`)
	e := newEngine(t, maker.Options{LogDir: logDir})
	before := fingerprint(t, dir)
	if _, err := e.Resume(t.Context(), "run", nil); err == nil || !strings.Contains(err.Error(), "damaged at line 7") {
		t.Errorf("Resume(a damaged log) = %v, want where the damage is", err)
	}
	delete(before, filepath.Join(dir, runlog.IndexFile)) // may be rebuilt at any time
	after := fingerprint(t, dir)
	for path, sum := range before {
		if after[path] != sum {
			t.Errorf("Resume(a damaged log) changed %s", path)
		}
	}
	if _, err := e.Replay("run"); err == nil {
		t.Error("Replay(a damaged log) = nil, want an error")
	}
	run, err := e.Resume(t.Context(), "run", &maker.ResumeOptions{SetAside: true, Change: unlimited})
	if err != nil {
		t.Fatalf("Resume(set aside) = %v", err)
	}
	if r := mustResult(t, run); r.Status != event.StatusCompleted || r.StepsCompleted != 31 {
		t.Errorf("Resume(set aside) = %s with %d steps, want completed with 31", r.Status, r.StepsCompleted)
	}
	wantReplay(t, e, "run")
	if aside, err := filepath.Glob(filepath.Join(dir, "events.jsonl.damaged-at-*")); err != nil || len(aside) != 1 {
		t.Errorf("the damaged rest is in %q, want one file", aside)
	}
}
