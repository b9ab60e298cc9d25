package engine

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/orchestrator/script"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/control"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// A Run is one execution of one task. It goes on by itself; its methods may be
// called from any goroutine.
type Run struct {
	log     *runlog.Log
	stack   *stack
	ballot  *ballot.Ballot
	runtime *local.Runtime
	steps   int
	kind    string
	task    string
	form    event.Form

	arrivals chan *local.Arrival // of a session

	done   chan struct{} // closed when result and err are set
	result *Result
	err    error
}

// ErrDeadline is why a run that ran out of time stopped.
var ErrDeadline = errors.New("the deadline has passed")

// ErrInterrupted is the cause to cancel a run's context with when a person
// stopped it.
var ErrInterrupted = errors.New("interrupted")

// ErrPaused is the cause to cancel a run's context with when a person ended its process
// to go on later.
var ErrPaused = errors.New("paused")

// PausedBy is the cause to cancel a run's context with when somebody ended its process to go
// on later, who is named in the log.
func PausedBy(name string) error {
	return &askedError{control.Request{Action: control.Pause, By: name}}
}

// An askedError is why a run ended that another process asked to end.
type askedError struct{ request control.Request }

func (e *askedError) Error() string {
	if e.request.Action == control.Pause {
		return "paused by " + e.request.By
	}
	return "cancelled by " + e.request.By
}

func (e *askedError) Is(target error) bool {
	return target == ErrPaused && e.request.Action == control.Pause
}

// watch ends the run with cancel when another process asks for that. The function that it
// returns ends the watching.
func (r *Run) watch(cancel context.CancelCauseFunc) func() {
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		control.Watch(ctx, r.log.Dir(), r.log.Session(), func(asked control.Request) { cancel(&askedError{asked}) },
			func(text string) { r.stack.engine.opts.Logger.Warn(text) })
	})
	return func() {
		stop()
		watching.Wait()
	}
}

// newID names a run so that names sort by time.
func newID(family string, t time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	suffix := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))[:5]
	return fmt.Sprintf("%s-%s-%s", family, t.UTC().Format("20060102-150405"), suffix)
}

// ID is the run's name.
func (r *Run) ID() string { return r.log.Run() }

// Kind is what kind of run it is: a task family, or one of the Kind constants.
func (r *Run) Kind() string { return r.kind }

// Task is what it does, in words.
func (r *Run) Task() string { return r.task }

// Rule is when a question of the run is decided.
func (r *Run) Rule() vote.Rule { return r.stack.config.Voting }

// Form is how its steps hang together.
func (r *Run) Form() event.Form { return r.form }

// Dir is the run's folder.
func (r *Run) Dir() string { return r.log.Dir() }

// Events yields the run's events as they come to the disk.
func (r *Run) Events(ctx context.Context) iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		for line, err := range r.log.Follow(ctx) {
			var rec event.Record
			if err == nil {
				rec, err = line.Decode()
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Lines yields the lines of the log in the same way.
func (r *Run) Lines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line, err := range r.log.Follow(ctx) {
			if !yield(line.Raw, err) || err != nil {
				return
			}
		}
	}
}

// Result waits for the end of the run.
func (r *Run) Result() (*Result, error) {
	<-r.done
	return r.result, r.err
}

// Done is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Progress returns where the run stands now. It is cheap.
func (r *Run) Progress() runs.Progress {
	p := r.runtime.Progress()
	out := runs.Progress{
		Steps: int(p.Steps.Load()), Total: r.steps, Session: int(p.Session.Load()),
		Samples: int(p.Samples.Load()), Contested: int(p.Contested.Load()),
		RedFlagged: int(p.RedFlagged.Load()), Faults: int(p.Faults.Load()),
		Spent: r.stack.ledger.Spent(), Elapsed: r.runtime.Elapsed(),
	}
	if r.form == event.FormMeasurement { // each of its questions is one sample
		out.Session = int(p.Decided.Load())
		out.Steps, out.Total = int(p.Known.Load())+out.Session, int(p.Expected.Load())
	}
	if o, ok := r.runtime.Outlook(); ok {
		out.Outlook = &o
	}
	out.Trouble = r.stack.trouble()
	out.Answers, out.OtherAnswers = p.Answers.Top(runs.MostAnswers)
	out.Right, out.Known = int(p.Right.Load()), int(p.Gold.Load())
	out.Futile = r.runtime.Futile()
	c := r.stack.config
	out.Limits = runs.Limits{USD: c.MaxUSD, Tokens: c.MaxTokens, Calls: c.MaxCalls, Time: c.Deadline}
	out.Servers = r.stack.servers()
	r.runtime.Watch(&out)
	return out
}

// run executes the orchestrator and ends the session.
func (r *Run) run(ctx context.Context, orchestrate func(context.Context) error) {
	defer close(r.done)
	if d := r.stack.config.Deadline; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, ErrDeadline)
		defer cancel()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := r.watch(cancel)
	err := orchestrate(ctx)
	r.ballot.Close()
	stop()
	if err != nil {
		r.logStop(ctx, err)
	}
	r.log.FreeSpare()
	// From here on nothing is cancelled: what is committed is to be kept.
	if r.err = r.log.Sync(context.WithoutCancel(ctx)); r.err == nil {
		r.result, r.err = storeResult(r.log.Dir())
	}
	if err := errors.Join(r.stack.close(), r.log.Close()); r.err == nil {
		r.err = err
	}
	if held := r.stack.engine.opts.Hold; held != nil && r.err == nil && errors.Is(context.Cause(ctx), errHeld) {
		held(r.log.Dir())
	}
}

// hold ends the session before anything is done.
func (r *Run) hold(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(errHeld)
	r.run(ctx, context.Cause)
}

// errHeld is why a run has not begun.
var errHeld = fmt.Errorf("%w before its first step", ErrPaused)

// logStop says in the log why the run ended before the task did. If the log
// itself is the reason, there is nothing left to say there.
func (r *Run) logStop(ctx context.Context, cause error) {
	// The context of the run has ended; this needs none.
	f := r.runtime.Flow(context.Background())
	step := int(r.runtime.Progress().Steps.Load())
	end := event.TaskFailed{Status: event.StatusStopped, Reason: cause.Error(), Step: step}
	exhausted, outOfBudget := errors.AsType[*budget.ExhaustedError](cause)
	_, isFutile := errors.AsType[*local.FutileError](cause)
	waiting, needsPerson := errors.AsType[*person.WaitingError](cause)
	switch {
	case needsPerson:
		end.Stop, end.Step = event.StopWaiting, waiting.Question.Step
	case isFutile:
		end.Stop = event.StopFutile
	case outOfBudget:
		end.Stop = exhausted.Limit
		f.Emit("end", event.BudgetExhausted{Limit: exhausted.Limit, Max: exhausted.Max})
	case errors.Is(cause, ErrDeadline), errors.Is(cause, context.DeadlineExceeded):
		end.Stop = "deadline"
		f.Emit("end", event.BudgetExhausted{Limit: end.Stop, Max: r.stack.config.Deadline.String()})
	case errors.Is(ctx.Err(), context.Canceled) && errors.Is(cause, context.Cause(ctx)):
		asked, _ := errors.AsType[*askedError](context.Cause(ctx))
		by := ""
		if asked != nil {
			by = asked.request.By
		}
		if errors.Is(cause, ErrPaused) {
			end.Stop = event.StopPaused
			f.Emit("end", event.RunPaused{By: by})
			break
		}
		end.Stop = event.StopCancelled
		f.Emit("end", event.RunCancelled{Reason: cause.Error(), By: by})
	default:
		end.Status = event.StatusFailed
		if where := script.Where(cause); where != "" {
			end.Reason = where + ": " + end.Reason
		}
		if kind := model.KindOf(cause); kind == model.Auth || kind == model.Invalid {
			end.Stop = event.StopConfiguration
		}
		end.Reason += r.nextAction(cause)
	}
	f.Emit("end", end)
}

// nextAction is what to do about a request that the server calls invalid: its own words are
// often few, and what of the request can be changed is in the settings.
func (r *Run) nextAction(cause error) string {
	e, ok := errors.AsType[*model.Error](cause)
	if !ok || e.Kind != model.Invalid || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return ""
	}
	next := "; the server does not take the request: see that --model (`maker doctor --online` asks for those it has), --max-output and --temperature suit it"
	if r.stack.config.StructuredMode != "none" {
		next += ", or try --structured-mode none"
	}
	return next
}
