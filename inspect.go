package maker

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
	"github.com/maker-mdap/maker/internal/runlog"
)

// ErrNoRun says that there is no such run.
var ErrNoRun = errors.New("there is no such run")

// FindRun returns the folder of the run in logDir whose name is run, or starts
// with it if that is unambiguous. A path to a run folder is taken as it is.
func FindRun(logDir, run string) (string, error) {
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
	ids, err := runIDs(logDir)
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

// runIDs lists the run folders, oldest name first.
func runIDs(logDir string) ([]string, error) {
	entries, err := os.ReadDir(logDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &ConfigError{Field: "log_dir", Err: err}
	}
	var ids []string
	for _, e := range entries {
		if isRun(filepath.Join(logDir, e.Name())) { // it may be a link to a folder
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// A Summary is a run at a glance.
type Summary struct {
	Run       string    `json:"run"`
	Kind      string    `json:"kind"`
	Task      string    `json:"task"`
	Status    string    `json:"status"` // as in Result, or running, or interrupted if its process is gone
	Steps     int       `json:"steps_completed"`
	Total     int       `json:"steps_total"`
	CostUSD   *float64  `json:"total_cost_usd"`
	Model     string    `json:"model"`
	Simulated bool      `json:"simulated"`
	Started   time.Time `json:"started"`
	PID       int       `json:"pid,omitempty"`   // of the process that is writing it
	Error     string    `json:"error,omitempty"` // what makes the log unreadable
}

// StatusInterrupted is the status of a run whose process ended without a word.
const StatusInterrupted = "interrupted"

// List returns a summary of every run in logDir, oldest first. Runs that cannot be
// read come last, with their errors.
func List(logDir string) ([]Summary, error) {
	ids, err := runIDs(logDir)
	if err != nil {
		return nil, err
	}
	out := make([]Summary, 0, len(ids))
	for _, id := range ids {
		s, err := summarize(filepath.Join(logDir, id))
		if err != nil {
			s = Summary{Run: id, Status: "unreadable", Error: err.Error()}
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Summary) int {
		if a.Error != b.Error && (a.Error == "" || b.Error == "") {
			return cmp.Compare(a.Error, b.Error) // what cannot be read comes last
		}
		return a.Started.Compare(b.Started)
	})
	return out, nil
}

func summarize(dir string) (Summary, error) {
	r, err := newResult(dir)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{
		Run: r.Run, Kind: r.Kind, Task: r.Task, Status: r.Status, Total: r.StepsTotal,
		CostUSD: r.TotalCostUSD, Model: r.Model, Simulated: r.Simulated,
	}
	for line, err := range runlog.Read(dir) {
		if rec, decodeErr := line.Decode(); err == nil && decodeErr == nil {
			s.Started = rec.Time
		}
		break
	}
	if x, err := runlog.OpenIndex(dir); err == nil {
		s.Steps = x.Len()
		x.Close()
	}
	holder, held := runlog.HolderOf(filepath.Join(dir, runlog.LockFile))
	if held {
		s.Status, s.PID = event.StatusRunning, holder.PID
	}
	return s, nil
}
