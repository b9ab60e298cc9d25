package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// Runs that a release wrote.
const (
	frozen    = "../testdata/frozen/v0.1"
	contested = "hanoi-20261115-030916-nnhq2"
	full      = "hanoi-20261115-030916-ayrx3"
	killed    = "hanoi-20261115-030916-najw3"
	stopped   = "hanoi-20261115-030916-wv7au"
)

// copyRun puts a copy of a frozen run into logDir under a name.
func copyRun(t *testing.T, run, logDir, name string) string {
	t.Helper()
	dir := filepath.Join(logDir, name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(frozen, run))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
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
		got, err := runs.Find(logDir, test.run)
		if test.want != "" && (err != nil || got != filepath.Join(logDir, test.want)) {
			t.Errorf("Find(%q) = %q, %v, want %q", test.run, got, err, test.want)
		}
		if test.want == "" && (!errors.Is(err, runs.ErrNoRun) || !strings.Contains(err.Error(), test.text)) {
			t.Errorf("Find(%q) = %q, %v, want ErrNoRun with %q", test.run, got, err, test.text)
		}
	}
	if got, err := runs.Find(logDir, "hanoi-20"); err == nil {
		t.Errorf("Find(a name that is longer than any) = %q, want an error", got)
	}
	file := filepath.Join(logDir, "hanoi-1", runlog.EventsFile)
	if _, err := runs.Find(file, "hanoi"); !isFolderError(err, file) {
		t.Errorf("Find(in a file) = %v, want a FolderError about it", err)
	}
	if _, err := runs.List(file); !isFolderError(err, file) {
		t.Errorf("List(a file) = %v, want a FolderError about it", err)
	}
	if _, err := runs.Find(filepath.Join(logDir, "nowhere"), "hanoi"); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("Find(in a folder that does not exist) = %v, want ErrNoRun", err)
	}
}

func isFolderError(err error, folder string) bool {
	f, ok := errors.AsType[*runs.FolderError](err)
	return ok && f.Folder == folder && errors.Unwrap(f) != nil && strings.Contains(f.Error(), folder)
}

func TestList(t *testing.T) {
	logDir := t.TempDir()
	if list, err := runs.List(filepath.Join(logDir, "nowhere")); err != nil || len(list) != 0 {
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
	list, err := runs.List(logDir)
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
		if unreadable := s.Status == runs.StatusUnreadable; unreadable != (s.Error != "") || unreadable != s.Started.IsZero() {
			t.Errorf("List: %s is %s with the error %q and the start %v", s.Run, s.Status, s.Error, s.Started)
		}
	}
	want := []line{
		{contested, event.StatusCompleted, 15, 15},
		{stopped, event.StatusStopped, 10, 31},
		{killed, runs.StatusInterrupted, 7, 15},
		{"d-empty", runs.StatusUnreadable, 0, 0},
		{"e-garbage", runs.StatusUnreadable, 0, 0},
		{"f-newer", runs.StatusUnreadable, 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("List: -want +got\n%s", diff)
	}
	if s := list[0]; s.CostUSD == nil || !s.Simulated || s.Kind != "hanoi" || s.Task != "Towers of Hanoi with 4 disks" {
		t.Errorf("List: %+v, want the cost, the kind and the task of a simulated run", s)
	}
}

// TestFindLast: it is the one that was begun last, whatever it is called.
func TestFindLast(t *testing.T) {
	if _, err := runs.Find(filepath.Join(t.TempDir(), "none"), runs.Last); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("Find(last of none) = %v, want %v", err, runs.ErrNoRun)
	}
	logDir := t.TempDir()
	var newest string
	for _, name := range []string{"z-first", "m-second", "a-third"} {
		newest = filepath.Join(logDir, name)
		log, err := runlog.Create(newest, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(log.Append(submitted("exec")), log.Close()); err != nil {
			t.Fatal(err)
		}
		for at := time.Now().UnixMilli(); time.Now().UnixMilli() == at; { // the clock of events counts these
			runtime.Gosched()
		}
	}
	if err := os.WriteFile(filepath.Join(logDir, "m-second", runlog.EventsFile), []byte("broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := runs.Find(logDir, runs.Last); err != nil || got != newest {
		t.Errorf("Find(last) = %s, %v, want %s", got, err, newest)
	}
	if err := os.Rename(filepath.Join(logDir, "z-first"), filepath.Join(logDir, runs.Last)); err != nil {
		t.Fatal(err)
	}
	if got, err := runs.Find(logDir, runs.Last); err != nil || filepath.Base(got) != runs.Last {
		t.Errorf("Find(last, which is the name of a run) = %s, %v, want that run", got, err)
	}
	for _, here := range []string{".", ".."} {
		if _, err := runs.Find(logDir, here); !errors.Is(err, runs.ErrNoRun) {
			t.Errorf("Find(%s, which is no run) = %v, want %v", here, err, runs.ErrNoRun)
		}
	}
}

// TestStateOfAnswered: whatever ended a run while it asked, once it has its answers these are
// what people need to know of it; but for one that nobody wants any more.
func TestStateOfAnswered(t *testing.T) {
	asks := func(key string) event.Event {
		return event.ClarificationRequested{Question: key, Kind: event.ClarifyQuestion, Text: "Who?"}
	}
	stop := func(why string) event.Event { return event.TaskFailed{Status: event.StatusStopped, Stop: why} }
	taken := event.ClarificationProvided{Question: "a", Answer: "Ada", By: "elsewhere"}
	tests := map[string]struct {
		events   []event.Event
		answered []string
		want     string
	}{
		"waiting":                       {[]event.Event{asks("a"), stop(event.StopWaiting)}, nil, event.StopWaiting},
		"waiting, answered":             {[]event.Event{asks("a"), stop(event.StopWaiting)}, []string{"a"}, runs.StateAnswered},
		"waiting, one of two":           {[]event.Event{asks("a"), asks("b"), stop(event.StopWaiting)}, []string{"a"}, event.StopWaiting},
		"paused":                        {[]event.Event{asks("a"), stop(event.StopPaused)}, nil, event.StopPaused},
		"paused, answered":              {[]event.Event{asks("a"), stop(event.StopPaused)}, []string{"a"}, runs.StateAnswered},
		"paused after what was asked":   {[]event.Event{asks("a"), taken, stop(event.StopPaused)}, nil, event.StopPaused},
		"paused, one of two":            {[]event.Event{asks("a"), asks("b"), stop(event.StopPaused)}, []string{"b"}, event.StopPaused},
		"killed, answered":              {[]event.Event{asks("a")}, []string{"a"}, runs.StateAnswered},
		"killed":                        {[]event.Event{asks("a")}, nil, runs.StatusInterrupted},
		"cancelled, answered by chance": {[]event.Event{asks("a"), stop(event.StopCancelled)}, []string{"a"}, event.StopCancelled},
	}
	for name, test := range tests {
		run := written(t, append([]event.Event{submitted("exec")}, test.events...)...)
		if err := os.MkdirAll(filepath.Join(run.Dir(), "answers"), 0o755); err != nil { // of an earlier answer
			t.Fatal(err)
		}
		for _, key := range test.answered {
			if err := run.Answer(key, "Ada", "elsewhere"); err != nil {
				t.Fatal(err)
			}
		}
		list, err := runs.List(filepath.Dir(run.Dir()))
		if err != nil || len(list) != 1 || list[0].State != test.want {
			t.Errorf("%s: List() = %+v, %v, want one that is %s", name, list, err, test.want)
		}
	}
}
