package runs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/control"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// writer writes a run, as an engine does, until it is asked to end it. Obey is what it does
// then; the log is closed after it.
type writer struct {
	log     *runlog.Log
	session string
	done    chan struct{}
}

func startSession(t *testing.T, dir string, obey func(*runlog.Log, control.Request)) *writer {
	t.Helper()
	log, _, err := runlog.Open(dir, nil, func(runlog.Line) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{log: log, session: log.Session(), done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer close(w.done)
		control.Watch(ctx, dir, w.session, func(r control.Request) {
			stop()
			obey(log, r)
		}, func(string) {})
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-w.done
	})
	return w
}

// end is how an engine ends a session that it was asked to end.
func end(log *runlog.Log, r control.Request) {
	stop := map[control.Action]string{control.Cancel: event.StopCancelled, control.Pause: event.StopPaused}[r.Action]
	_ = log.Append(event.TaskFailed{Status: event.StatusStopped, Stop: stop, Reason: "asked by " + r.By}) // what is missing is noticed
}

func stateOf(t *testing.T, run *runs.Run) string {
	t.Helper()
	list, err := runs.List(filepath.Dir(run.Dir()))
	if err != nil || len(list) != 1 {
		t.Fatalf("List() = %v, %v, want one run", list, err)
	}
	return list[0].State
}

func wantNoRequests(t *testing.T, run *runs.Run) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(run.Dir(), control.Folder)); err == nil {
		t.Error("a request was left lying in the folder of the run")
	}
}

func TestCancelAndPauseARunOfAnotherWriter(t *testing.T) {
	for name, test := range map[string]struct {
		ask  func(*runs.Run, context.Context, string) error
		want string
	}{
		"Cancel": {(*runs.Run).Cancel, event.StopCancelled},
		"Pause":  {(*runs.Run).Pause, event.StopPaused},
	} {
		run := written(t, submitted("exec"))
		startSession(t, run.Dir(), end)
		begun := time.Now()
		if err := test.ask(run, t.Context(), "test"); err != nil {
			t.Errorf("%s() = %v", name, err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("%s() takes %s", name, took)
		}
		if got := stateOf(t, run); got != test.want {
			t.Errorf("the state after %s() = %s, want %s", name, got, test.want)
		}
		wantNoRequests(t, run)
	}
}

func TestTwoAtOnce(t *testing.T) {
	run := written(t, submitted("exec"))
	startSession(t, run.Dir(), end)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := run.Cancel(t.Context(), "one of many"); err != nil {
				t.Errorf("Cancel() = %v", err)
			}
		})
	}
	all.Go(func() {
		err := run.Pause(t.Context(), "another")
		if _, late := errors.AsType[*runs.NotRunningError](err); err != nil && !late {
			t.Errorf("Pause() = %v, want none or that it is not running any more", err)
		}
	})
	all.Wait()
	if got := stateOf(t, run); got != event.StopCancelled {
		t.Errorf("the state = %s, want that it is cancelled in the end", got)
	}
	wantNoRequests(t, run)
}

// TestCancelARunThatNobodyWrites: it is carried out at once, and only where there is
// something to cancel.
func TestCancelARunThatNobodyWrites(t *testing.T) {
	failed := event.TaskFailed{Status: event.StatusFailed, Reason: "it broke"}
	waiting := event.TaskFailed{Status: event.StatusStopped, Stop: event.StopWaiting, Reason: "it waits", Step: 3}
	for name, test := range map[string]struct {
		end   event.Event // nil after a crash
		ended bool
	}{
		"crashed":   {nil, false},
		"waiting":   {waiting, false},
		"undecided": {event.TaskFailed{Status: event.StatusUndecided}, false},
		"failed":    {failed, true},
		"completed": {event.TaskCompleted{Steps: 1}, true},
	} {
		events := []event.Event{submitted("exec")}
		if test.end != nil {
			events = append(events, test.end)
		}
		run := written(t, events...)
		err := run.Pause(t.Context(), "test")
		if _, ok := errors.AsType[*runs.NotRunningError](err); !ok {
			t.Errorf("Pause(%s) = %v, want a NotRunningError", name, err)
		}
		before := stateOf(t, run)
		for range 2 { // the second time it is so already
			err = run.Cancel(t.Context(), "test")
			if _, ended := errors.AsType[*runs.EndedError](err); ended != test.ended || !ended && err != nil {
				t.Errorf("Cancel(%s) = %v, want that it has ended: %t", name, err, test.ended)
			}
		}
		want := event.StopCancelled
		if test.ended {
			want = before
		}
		if got := stateOf(t, run); got != want {
			t.Errorf("the state of a run that was %s = %s, want %s", name, got, want)
		}
		replay, err := run.Replay(nil)
		if err != nil || len(replay.Differences) > 0 {
			t.Errorf("Replay(%s, cancelled) = %v, %v, want no differences", name, replay.Differences, err)
		}
		wantNoRequests(t, run)
	}
}

// TestKilledBetween: a process that takes the request and dies before it says so.
func TestKilledBetween(t *testing.T) {
	run := written(t, submitted("exec"))
	startSession(t, run.Dir(), func(*runlog.Log, control.Request) {})
	if err := run.Cancel(t.Context(), "test"); err != nil {
		t.Errorf("Cancel() = %v", err)
	}
	if got := stateOf(t, run); got != event.StopCancelled {
		t.Errorf("the state = %s, want that the request was carried out all the same", got)
	}
	wantNoRequests(t, run)
}

func TestADeafWriter(t *testing.T) {
	run := written(t, submitted("exec"))
	log, _, err := runlog.Open(run.Dir(), nil, func(runlog.Line) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := run.Pause(ctx, "test"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Pause(without patience) = %v, want %v", err, context.DeadlineExceeded)
	}
	wantNoRequests(t, run)
	if testing.Short() {
		return // it takes some seconds to give up
	}
	err = run.Cancel(t.Context(), "test")
	if deaf, ok := errors.AsType[*runs.DeafError](err); !ok || deaf.PID != os.Getpid() {
		t.Errorf("Cancel(a process that does not react) = %v, want a DeafError with its id", err)
	}
	wantNoRequests(t, run)
}

func TestRemove(t *testing.T) {
	run := written(t, submitted("exec"))
	w := startSession(t, run.Dir(), end)
	if _, ok := errors.AsType[*runs.LockedError](run.Remove()); !ok {
		t.Error("Remove(a run that goes on) is not a LockedError")
	}
	if _, err := run.Result(); err != nil {
		t.Errorf("Result(after Remove was refused) = %v", err)
	}
	if err := run.Cancel(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	<-w.done
	left := filepath.Join(filepath.Dir(run.Dir()), ".removed-before-abc")
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run.Remove(); err != nil {
		t.Errorf("Remove() = %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(run.Dir())); err != nil || len(entries) > 0 {
		t.Errorf("what is left = %v, %v, want nothing", entries, err)
	}
	if err := run.Remove(); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("Remove(again) = %v, want %v", err, runs.ErrNoRun)
	}
	if err := runs.Remove(t.TempDir()); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("Remove(a folder that is no run) = %v, want %v", err, runs.ErrNoRun)
	}
}

// TestAnswerWhileItRuns: whoever asks takes what was left; whoever was slower is told.
func TestAnswerWhileItRuns(t *testing.T) {
	const key = "step/0/name"
	q := &flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: "Who?"}
	nobody := person.Func(func(ctx context.Context, _ string, _ *flow.HumanQuestion) (*flow.Answer, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	terminal := person.Func(func(ctx context.Context, _ string, _ *flow.HumanQuestion) (*flow.Answer, error) {
		<-ctx.Done() // somebody has just typed it
		return &flow.Answer{Text: "Eve", By: "terminal"}, nil
	})
	for name, test := range map[string]struct {
		asked person.Person
		want  string
	}{"nobody at the terminal": {nobody, "Ada"}, "somebody at the terminal": {terminal, "Eve"}} {
		run := written(t, submitted("exec"), event.ClarificationRequested{Question: key, Kind: q.Kind, Text: q.Text})
		log, _, err := runlog.Open(run.Dir(), nil, func(runlog.Line) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			a, err := person.OrInbox(run.Dir(), test.asked).Ask(t.Context(), key, q)
			if err != nil || a.Text != test.want {
				t.Errorf("Ask(%s) = %+v, %v, want %s", name, a, err, test.want)
				return
			}
			if err := log.Append(event.ClarificationProvided{Question: key, Answer: a.Text, By: a.By}); err != nil {
				t.Error(err)
			}
		}()
		err = run.Answer(key, "Ada", "elsewhere")
		<-done
		if other, ok := errors.AsType[*runs.AnsweredError](err); ok != (test.want == "Eve") || ok && !(other.Used && other.Answer == "Eve") || !ok && err != nil {
			t.Errorf("Answer(%s) = %v, want to hear of the answer that counts", name, err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
}
