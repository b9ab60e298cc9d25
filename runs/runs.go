// Package runs reads runs: which there are, what they did and are doing, what came of
// them, whether their logs hold together, and what they wait for. It also talks to them:
// [Run.Answer], [Run.Pause] and [Run.Cancel] work whichever process writes a run, by files
// in its folder; [Run.Remove] removes one that nobody writes.
//
// A run is a folder with an event log, which is the truth about it; docs/runs.md
// describes both. Reading needs no models and no engine, changes nothing, and is
// welcome while another process writes.
//
//	dir, err := runs.Find("runs", "hanoi-2026")
//	run, err := runs.Open(dir)
//	for rec, err := range run.Follow(ctx, 0) {
//		...
//	}
//	result, err := run.Result()
//
// # Large values
//
// A value that is too large for a line stands in events and results as a reference;
// [Run.Load] fetches it.
package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// A Run is the folder of a run, open for reading. It holds nothing open, and its
// methods may be called from any goroutine.
type Run struct {
	dir     string
	id      string
	started time.Time
	task    event.TaskSubmitted
}

// Open opens the run in a folder; see [Find]. It reads the beginning of the log only.
func Open(dir string) (*Run, error) {
	for line, err := range runlog.Read(dir) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s holds no %s", ErrNoRun, dir, runlog.EventsFile)
		}
		if err != nil {
			return nil, err
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, damaged(dir, line, err)
		}
		task, ok := rec.Event.(event.TaskSubmitted)
		if !ok {
			return nil, fmt.Errorf("runs: the log in %s does not begin with a task, but with %s", dir, rec.Event.Type())
		}
		return &Run{dir: filepath.Clean(dir), id: rec.Run, started: rec.Time, task: task}, nil
	}
	return nil, fmt.Errorf("runs: the log in %s is empty: the run never started", dir)
}

// ID is the run's name.
func (r *Run) ID() string { return r.id }

// Dir is the run's folder.
func (r *Run) Dir() string { return r.dir }

// Kind is what kind of run it is: a task family, or one of the Kind constants of
// package maker.
func (r *Run) Kind() string { return r.task.Kind }

// Form is how its steps hang together.
func (r *Run) Form() event.Form { return r.task.Form }

// Task is what the run was asked to do, in words.
func (r *Run) Task() string { return r.task.Task }

// Config is what the run was begun with.
func (r *Run) Config() (config.Config, error) { return config.Parse(r.task.Config) }

// Workspace is the folder that its tools work in; empty if that is not known.
func (r *Run) Workspace() string {
	cfg, err := r.Config()
	if err != nil {
		return ""
	}
	return cfg.Tools.Workspace
}

// Owner is whose the run is, if that was said when it began.
func (r *Run) Owner() string { return r.task.Owner }

// Started is when the run began.
func (r *Run) Started() time.Time { return r.started }

// Writer returns the process that is writing the run, if one is.
func (r *Run) Writer() (pid int, ok bool) {
	holder, held := runlog.HolderOf(filepath.Join(r.dir, runlog.LockFile))
	return holder.PID, held
}

// Events yields the events that are in the log now, from sequence number from on, or
// the error that ends them. An unfinished last line, as a crash leaves it, is passed
// over; damage anywhere else is a [*CorruptError].
func (r *Run) Events(from uint64) iter.Seq2[event.Record, error] {
	return r.decoded(runlog.ReadFrom(r.dir, from))
}

// Follow yields the run's events from sequence number from on, and then each new one
// once it is on disk, whichever process writes it. It ends when no process writes the
// run any more and all events are read, when ctx ends, or with an error. If another
// process resumes the run before that, it goes on.
func (r *Run) Follow(ctx context.Context, from uint64) iter.Seq2[event.Record, error] {
	return r.decoded(runlog.Follow(ctx, r.dir, from))
}

// A Cursor reads the lines of a log a few at a time, and holds nothing open in between.
type Cursor struct{ of *runlog.Cursor }

// Cursor returns a cursor at the event with sequence number from.
func (r *Run) Cursor(from uint64) *Cursor { return &Cursor{runlog.NewCursor(r.dir, from)} }

// Read returns the next lines that are in the log now: so many at most, and no more once they
// have so many bytes.
func (c *Cursor) Read(lines, bytes int) ([][]byte, error) { return c.of.Read(lines, bytes) }

// Next is the sequence number that the next event of the run will have. It reads the end of
// the log only.
func (r *Run) Next() (uint64, error) {
	last, err := runlog.Tail(r.dir, 1)
	if err != nil || len(last) == 0 {
		return 0, err
	}
	return last[len(last)-1].Seq + 1, nil
}

// FollowLines is Follow, but yields the lines of the log as they stand there. A line is
// valid until the next one is yielded.
func (r *Run) FollowLines(ctx context.Context, from uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line, err := range runlog.Follow(ctx, r.dir, from) {
			if !yield(line.Raw, err) || err != nil {
				return
			}
		}
	}
}

func (r *Run) decoded(lines iter.Seq2[runlog.Line, error]) iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		for line, err := range lines {
			var rec event.Record
			if err == nil {
				if rec, err = line.Decode(); err != nil {
					err = damaged(r.dir, line, err)
				}
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Load returns a value with its content, which a large one has beside the log.
func (r *Run) Load(v event.Value) (event.Value, error) { return runlog.Load(r.dir, v) }

// damaged is a line that is JSON, but no event.
func damaged(dir string, line runlog.Line, err error) error {
	return &CorruptError{Dir: dir, Line: int64(line.Seq) + 1, Offset: line.Offset, Reason: err.Error()}
}
