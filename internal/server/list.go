package server

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/runs"
)

// list knows the runs of a folder. What has not changed is not read again.
type list struct {
	logDir string
	total  func(runs.Summary) int // of the steps of a run that makes its plan itself

	mu    sync.Mutex
	known map[string]seen // by folder
}

// seen is a summary, and what its folder looked like then.
type seen struct {
	summary runs.Summary
	log     stamp
	answers stamp
}

// stamp tells whether a file or folder is as it was.
type stamp struct {
	size    int64
	changed time.Time
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

func newList(logDir string, total func(runs.Summary) int) *list {
	return &list{logDir: logDir, total: total, known: map[string]seen{}}
}

// all are the summaries of all runs: those first that wait for a person, then the newest.
func (l *list) all() ([]runs.Summary, error) {
	dirs, err := runs.Folders(l.logDir)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := make(map[string]seen, len(dirs))
	list := make([]runs.Summary, 0, len(dirs))
	for _, dir := range dirs {
		one := seen{log: stampOf(filepath.Join(dir, "events.jsonl")), answers: stampOf(filepath.Join(dir, "answers"))}
		// One that a process writes may end without a word, and another may be about to change.
		was, ok := l.known[dir]
		if ok && was.summary.Status != event.StatusRunning && was.log == one.log && was.answers == one.answers && time.Since(one.log.changed) > time.Second {
			one.summary = was.summary
		} else {
			one.summary = runs.Summarize(dir)
			if one.summary.Kind == maker.KindRun && one.summary.State != event.StatusCompleted {
				one.summary.Total = l.total(one.summary)
			}
		}
		now[dir] = one
		list = append(list, named(one.summary))
	}
	l.known = now
	slices.SortStableFunc(list, func(a, b runs.Summary) int {
		if first, second := a.State == event.StopWaiting, b.State == event.StopWaiting; first != second {
			if first {
				return -1
			}
			return 1
		}
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.Run, b.Run))
	})
	return list, nil
}

// mostTask is how much lists have of a task. It can have megabytes.
const mostTask = 1000

// brief is a summary as lists have it: with the beginning of the task, which ends in an ellipsis
// if there is more.
func brief(s runs.Summary) runs.Summary {
	s.Task = clip.Text(s.Task, mostTask)
	return s
}

// named is a summary under the name of its folder, by which the API finds it: a copy of a run
// has another one than the run.
func named(s runs.Summary) runs.Summary {
	s.Run = filepath.Base(s.Dir)
	return s
}
