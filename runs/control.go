package runs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/control"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/internal/version"
)

// A NotRunningError says that no process writes the run, so that there is none to pause.
type NotRunningError struct {
	Run   string
	State string // one of States
}

func (e *NotRunningError) Error() string {
	return fmt.Sprintf("%s is not running: it is %s", e.Run, e.State)
}

// An EndedError says that a run has come to its end and cannot be cancelled any more.
type EndedError struct {
	Run   string
	State string // one of States
}

func (e *EndedError) Error() string { return fmt.Sprintf("%s has ended already: %s", e.Run, e.State) }

// A DeafError says that the process that writes a run does not do what it is asked for.
type DeafError struct {
	PID  int
	Host string
}

func (e *DeafError) Error() string {
	return fmt.Sprintf("process %d on %s, which writes the run, does not react: it is stopped, or of an earlier version; to end it: kill -INT %[1]d", e.PID, e.Host)
}

// takeTime is how long a process may take to notice a request. It looks for one several
// times a second.
const takeTime = 5 * time.Second

// Cancel ends the run, whichever process writes it, and returns once it has ended. What is
// committed is kept. A run that nobody writes is marked as cancelled. One that has come to
// its end is an [*EndedError]; that it is cancelled already is none. A process that does not
// react is a [*DeafError]. If ctx ends first, a request that was taken stays in force. By is
// who asks, for the log.
func (r *Run) Cancel(ctx context.Context, by string) error {
	return r.end(ctx, control.Request{Action: control.Cancel, By: by})
}

// Pause ends the process that writes the run, to go on later with a resume, and returns
// once it has ended. What is committed is kept. If there is no such process it is a
// [*NotRunningError], but for a session that would go on with its next request. Otherwise it is
// like [Run.Cancel].
func (r *Run) Pause(ctx context.Context, by string) error {
	return r.end(ctx, control.Request{Action: control.Pause, By: by})
}

// end asks whoever writes the run to end it, until it is ended: between two looks somebody
// may resume it, kill it, or ask for something else.
func (r *Run) end(ctx context.Context, ask control.Request) error {
	for asked := false; ; {
		holder, held := runlog.HolderOf(filepath.Join(r.dir, runlog.LockFile))
		if held {
			if err := r.ask(ctx, ask, holder); err != nil {
				return err
			}
			asked = true
			continue
		}
		seen, err := summarize(r.dir)
		if err != nil {
			return err
		}
		switch state := seen.State; {
		case seen.PID != 0: // somebody has just begun to write it
		case ask.Action == control.Pause && state == event.StopPaused && asked:
			return nil
		case ask.Action == control.Pause && !r.rests(state):
			return &NotRunningError{r.id, state}
		case state == event.StopCancelled:
			return nil
		case state == event.StatusCompleted, state == event.StatusFailed:
			return &EndedError{r.id, state}
		default:
			err := r.mark(ask)
			if _, locked := errors.AsType[*LockedError](err); !locked {
				return err
			}
		}
		if err := pass(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// ask puts a request to the process that writes the run and returns when it does so no more.
func (r *Run) ask(ctx context.Context, ask control.Request, of runlog.Holder) error {
	begun := time.Now()
	if of.Session == "" {
		if of.PID == 0 { // it is writing its name just now, or will have ended
			return pass(ctx, pollInterval)
		}
		return &DeafError{of.PID, of.Host}
	}
	ask.Session = of.Session
	if err := control.Leave(r.dir, ask); err != nil {
		return err
	}
	for taken := false; ; {
		now, held := runlog.HolderOf(filepath.Join(r.dir, runlog.LockFile))
		if !held || now.Session != of.Session && now.Session != "" {
			_, err := control.Withdraw(r.dir, ask.Action)
			return err
		}
		taken = taken || !control.Pending(r.dir, ask.Action)
		if !taken && time.Since(begun) > takeTime {
			mine, err := control.Withdraw(r.dir, ask.Action)
			if err != nil {
				return err
			}
			if mine {
				return &DeafError{of.PID, of.Host}
			}
		}
		if err := pass(ctx, pollInterval); err != nil {
			if !taken {
				_, failed := control.Withdraw(r.dir, ask.Action)
				return errors.Join(err, failed)
			}
			return fmt.Errorf("process %d has taken the request and has not ended yet: %w", of.PID, err)
		}
	}
}

// pass waits.
func pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// mark says in the log of a run that nobody writes that it is cancelled, or paused: in a session
// that does nothing else.
func (r *Run) mark(ask control.Request) error {
	past := history.New(r.dir)
	log, rec, err := runlog.Open(r.dir, nil, past.Visit)
	if err != nil {
		return err
	}
	if err = past.Finish(); err == nil {
		err = ended(log, past, rec, ask)
	}
	if err == nil {
		err = log.Sync(context.Background())
	}
	if err == nil {
		_, err = r.Store() // before somebody else may write
	}
	return errors.Join(err, log.Close())
}

// rests reports whether a run in a state that is not one of going on is a session that goes on
// when it is asked something.
func (r *Run) rests(state string) bool {
	if r.Form() != event.FormRequests || state != event.StopPaused && state != StatusInterrupted {
		return false
	}
	last, err := r.Session()
	return err == nil && last.Keeper != "" && (!last.Paused || last.PausedBy == last.Keeper)
}

func ended(log *runlog.Log, past *history.History, rec runlog.Recovery, ask control.Request) error {
	end := event.TaskFailed{
		Status: event.StatusStopped, Step: past.Steps, Setup: past.LastSetup(),
		Spent: past.Spent, DurationMS: past.Duration.Milliseconds(),
	}
	switch was := past.End.(type) {
	case event.TaskCompleted: // since somebody looked
		return &EndedError{log.Run(), event.StatusCompleted}
	case event.TaskFailed:
		if was.Status == event.StatusFailed {
			return &EndedError{log.Run(), event.StatusFailed}
		}
		end.Step, end.Setup, end.Open, end.Output = was.Step, was.Setup, was.Open, was.Output
	}
	var why event.Event
	if ask.Action == control.Pause {
		end.Stop, end.Reason = event.StopPaused, "paused by "+ask.By
		why = event.RunPaused{By: ask.By, Spent: past.Spent}
	} else {
		end.Stop, end.Reason = event.StopCancelled, "cancelled by "+ask.By
		why = event.RunCancelled{Reason: end.Reason, By: ask.By, Spent: past.Spent}
	}
	for _, e := range []event.Event{
		event.RunResumed{Maker: version.String(), Step: past.Checkpoint.Step, Dropped: rec.Dropped, Spent: past.Spent}, why, end,
	} {
		if err := log.Append(e); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the run with its folder. One that a process writes is a [*LockedError],
// and nothing is removed.
func (r *Run) Remove() error { return Remove(r.dir) }

// Remove removes the run in a folder, also one that cannot be read; see [Find]. One that a
// process writes is a [*LockedError], and nothing is removed. What earlier removals left
// that were cut short goes too.
func Remove(dir string) error {
	if !isRun(dir) {
		return fmt.Errorf("%w: %s holds no %s", ErrNoRun, dir, runlog.EventsFile)
	}
	return errors.Join(runlog.Remove(dir), runlog.RemoveLeftovers(filepath.Dir(filepath.Clean(dir))))
}
