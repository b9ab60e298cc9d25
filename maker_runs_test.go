package maker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// stopped is a frozen run that can go on.
const stopped = "hanoi-20261115-030916-wv7au"

// copyRun puts a copy of a frozen run into logDir under a name.
func copyRun(t *testing.T, run, logDir, name string) string {
	t.Helper()
	dir := filepath.Join(logDir, name)
	if err := os.CopyFS(dir, os.DirFS(frozenDir("v0.1/"+run))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestNoSuchRun(t *testing.T) {
	e := newEngine(t, maker.Options{})
	if _, err := e.Resume(t.Context(), "chess", nil); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("Resume(chess) = %v, want ErrNoRun", err)
	}
	if _, err := e.Replay("chess"); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("Replay(chess) = %v, want ErrNoRun", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := newEngine(t, maker.Options{LogDir: file}).Replay("chess")
	if bad, ok := errors.AsType[*maker.ConfigError](err); !ok || bad.Field != "log_dir" {
		t.Errorf("Replay(in a log folder that is a file) = %v, want a ConfigError about log_dir", err)
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
