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
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// Find returns the folder of the run in logDir whose name is run, or starts with it if
// that is unambiguous. A path to a run folder is taken as it is.
func Find(logDir, run string) (string, error) {
	if run == "" {
		return "", fmt.Errorf("%w: the name is empty", ErrNoRun)
	}
	if strings.ContainsRune(run, filepath.Separator) {
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
	var found []string
	for _, id := range ids {
		if strings.HasPrefix(id, run) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w: nothing in %s is called %q; `maker runs` lists what there is", ErrNoRun, logDir, run)
	case 1:
		return filepath.Join(logDir, found[0]), nil
	default:
		return "", fmt.Errorf("%w: several start with %q: %s", ErrNoRun, run, strings.Join(found, ", "))
	}
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
		if isRun(filepath.Join(logDir, e.Name())) { // it may be a link to a folder
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// A Summary is a run at a glance.
type Summary struct {
	Run       string    `json:"run"`
	Kind      string    `json:"kind"`
	Task      string    `json:"task"`
	Status    string    `json:"status"` // as in Result, or running, or StatusUnreadable
	Steps     int       `json:"steps_completed"`
	Total     int       `json:"steps_total"`
	CostUSD   *float64  `json:"total_cost_usd"`
	Model     string    `json:"model"`
	Simulated bool      `json:"simulated"`
	Started   time.Time `json:"started"`
	PID       int       `json:"pid,omitempty"`   // of the process that is writing it
	Error     string    `json:"error,omitempty"` // what makes the log unreadable
}

// StatusUnreadable is the status of a run whose log cannot be read.
const StatusUnreadable = "unreadable"

// List returns a summary of every run in logDir, oldest first. Runs that cannot be
// read come last, with their errors. A folder that is not there has no runs.
func List(logDir string) ([]Summary, error) {
	names, err := folders(logDir)
	if err != nil {
		return nil, err
	}
	list := make([]Summary, 0, len(names))
	for _, name := range names {
		s, err := summarize(filepath.Join(logDir, name))
		if err != nil {
			s = Summary{Run: name, Status: StatusUnreadable, Error: err.Error()}
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b Summary) int {
		if a.Error != b.Error && (a.Error == "" || b.Error == "") {
			return cmp.Compare(a.Error, b.Error) // what cannot be read comes last
		}
		return a.Started.Compare(b.Started)
	})
	return list, nil
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
		CostUSD: r.TotalCostUSD, Model: r.Model, Simulated: r.Simulated, Started: report.Started,
	}
	if written {
		s.Status, s.PID = event.StatusRunning, pid
	}
	s.Steps, err = run.committed()
	return s, err
}
