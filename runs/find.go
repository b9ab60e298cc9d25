package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

// Last names the run that was begun last.
const Last = "last"

// Find returns the folder of the run in logDir whose name is run, or starts with it if
// that is unambiguous; [Last] is the run that was begun last. A path to a run folder is
// taken as it is.
func Find(logDir, run string) (string, error) {
	if run == "" {
		return "", fmt.Errorf("%w: the name is empty", ErrNoRun)
	}
	if strings.ContainsRune(run, filepath.Separator) || run == "." || run == ".." {
		if isRun(run) {
			return filepath.Clean(run), nil
		}
		return "", fmt.Errorf("%w: %s holds no %s", ErrNoRun, run, runlog.EventsFile)
	}
	if dir := filepath.Join(logDir, run); isRun(dir) {
		return dir, nil
	}
	ids, err := folders(logDir)
	if err != nil {
		return "", err
	}
	if run == Last {
		return last(logDir, ids)
	}
	var found []string
	for _, id := range ids {
		if strings.HasPrefix(id, run) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		hint := ""
		if meant := nearest.To(run, append(ids, Last)); meant != "" {
			hint = "; did you mean " + meant + "?"
		}
		return "", fmt.Errorf("%w: nothing in %s is called %q; `maker runs` lists what there is%s", ErrNoRun, logDir, run, hint)
	case 1:
		return filepath.Join(logDir, found[0]), nil
	default:
		return "", fmt.Errorf("%w: %d start with %q: %s; write more of the name", ErrNoRun, len(found), run, someOf(found))
	}
}

// someOf lists names, the last of many only.
func someOf(names []string) string {
	const most = 5
	if len(names) > most {
		return "..., " + strings.Join(names[len(names)-most:], ", ")
	}
	return strings.Join(names, ", ")
}

// last is the folder of the run that was begun last, of those that can be read.
func last(logDir string, ids []string) (string, error) {
	var newest *Run
	for _, id := range ids {
		if r, err := Open(filepath.Join(logDir, id)); err == nil && (newest == nil || !r.started.Before(newest.started)) {
			newest = r
		}
	}
	if newest == nil {
		return "", fmt.Errorf("%w: there are no runs in %s yet", ErrNoRun, logDir)
	}
	return newest.dir, nil
}

func isRun(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, runlog.EventsFile))
	return err == nil && info.Mode().IsRegular()
}

// folders lists the run folders, oldest name first.
func folders(logDir string) ([]string, error) {
	entries, err := os.ReadDir(logDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &FolderError{Folder: logDir, Err: err}
	}
	var names []string
	for _, e := range entries {
		if !runlog.IsRemoved(e.Name()) && isRun(filepath.Join(logDir, e.Name())) { // it may be a link to a folder
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// A Summary is a run at a glance.
type Summary struct {
	Dir       string    `json:"-"` // its folder, after whose name it is found: a copy has another one than its run
	Run       string    `json:"run"`
	Kind      string    `json:"kind"`
	Task      string    `json:"task"`
	Status    string    `json:"status"`         // as in Result, or running, or StatusUnreadable
	State     string    `json:"state"`          // one of States: the status, and what of it people need to know
	Stop      string    `json:"stop,omitempty"` // what stopped it, as in Result
	Steps     int       `json:"steps_completed"`
	Total     int       `json:"steps_total"`
	CostUSD   *float64  `json:"total_cost_usd"`
	Model     string    `json:"model"`
	Simulated bool      `json:"simulated"`
	Owner     string    `json:"owner,omitempty"` // whose it is, if that was said
	Started   time.Time `json:"started"`
	Updated   time.Time `json:"updated"`         // its last event
	PID       int       `json:"pid,omitempty"`   // of the process that is writing it
	Error     string    `json:"error,omitempty"` // what makes the log unreadable
}

// StatusUnreadable is the status of a run whose log cannot be read.
const StatusUnreadable = "unreadable"

// StateAnswered is the state of a run that waited, or was ended while it asked, and has its
// answers now: a resume takes them.
const StateAnswered = "answered"

// States are the states of runs, those first that people look for first.
func States() []string {
	return []string{
		event.StopWaiting, StateAnswered, event.StatusRunning, event.StopPaused, StatusInterrupted, event.StatusStopped, event.StatusUndecided,
		event.StatusFailed, event.StopCancelled, event.StatusCompleted, StatusUnreadable,
	}
}

// stateOf says how a run stands in one word.
func stateOf(r *Result) string {
	switch r.Stop {
	case event.StopWaiting, event.StopPaused, event.StopCancelled:
		return r.Stop
	}
	return r.Status
}

// List returns a summary of every run in logDir, oldest first. Runs that cannot be
// read come last, with their errors. A folder that is not there has no runs.
func List(logDir string) ([]Summary, error) {
	dirs, err := Folders(logDir)
	if err != nil {
		return nil, err
	}
	list := make([]Summary, 0, len(dirs))
	for _, dir := range dirs {
		list = append(list, Summarize(dir))
	}
	slices.SortStableFunc(list, func(a, b Summary) int {
		if a.Error != b.Error && (a.Error == "" || b.Error == "") {
			return cmp.Compare(a.Error, b.Error) // what cannot be read comes last
		}
		return a.Started.Compare(b.Started)
	})
	return list, nil
}

// Folders lists the folders of the runs in logDir.
func Folders(logDir string) ([]string, error) {
	names, err := folders(logDir)
	for i, name := range names {
		names[i] = filepath.Join(logDir, name)
	}
	return names, err
}

// Summarize returns a summary of the run in a folder. If it cannot be read that says so.
func Summarize(dir string) Summary {
	s, err := summarize(dir)
	if err != nil {
		s = Summary{Run: filepath.Base(dir), Status: StatusUnreadable, State: StatusUnreadable, Error: err.Error()}
		if info, err := os.Stat(filepath.Join(dir, runlog.EventsFile)); err == nil {
			s.Updated = info.ModTime()
		}
	}
	s.Dir = dir
	return s
}

func summarize(dir string) (Summary, error) {
	run := Run{dir: dir}
	pid, written := run.Writer() // before the log is read: see newResult
	report, err := history.Glance(dir)
	if err != nil {
		return Summary{}, err
	}
	r := newResult(report, written)
	s := Summary{
		Run: r.Run, Kind: r.Kind, Task: r.Task, Status: r.Status, Total: r.StepsTotal,
		CostUSD: r.TotalCostUSD, Model: r.Model, Simulated: r.Simulated, Started: report.Started, Updated: report.Updated,
		State: stateOf(r), Stop: r.Stop, Owner: report.Owner,
	}
	if written {
		s.Status, s.State, s.Stop, s.PID = event.StatusRunning, event.StatusRunning, "", pid
		if r.Form != event.FormChain && r.Form != event.FormRecords { // which ask no person
			if open, err := run.Waiting(); err == nil && len(open) > 0 {
				s.State = event.StopWaiting
			}
		}
	}
	switch s.State {
	case event.StopWaiting, event.StopPaused, StatusInterrupted: // the last two may have been asking
		if !written && run.hasAnswers() {
			s.State = StateAnswered
		}
	}
	s.Steps, err = run.committed()
	return s, err
}

// hasAnswers reports whether the run waits for answers and has all of them.
func (r *Run) hasAnswers() bool {
	if _, err := os.Stat(filepath.Join(r.dir, person.InboxFolder)); err != nil {
		return false // as most
	}
	open, err := r.Waiting()
	return err == nil && len(open) > 0 && !slices.ContainsFunc(open, func(q Question) bool {
		left, _, err := r.Left(q.Key)
		return err != nil || left == ""
	})
}
