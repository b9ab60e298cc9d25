// Package runner runs MAKER's runs on Temporal: workflows whose orchestrators are the engine's,
// and activities with its models and tools.
package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/temporal/internal/part"
	"github.com/maker-mdap/maker/temporal/internal/session"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

// Workflow is the name of the workflow of a run.
const Workflow = "maker.run"

// Input is what the workflow of a run begins with.
type Input struct {
	Version int    `json:"version"` // of the workflow's code
	Run     string `json:"run"`
	NoInput bool   `json:"no_input,omitempty"` // end where only a person can say how it goes on
}

// Output is how a session of a run ended.
type Output struct {
	Status string `json:"status"`
	Stop   string `json:"stop,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// A Runner is what a worker does runs with.
type Runner struct {
	Engine *engine.Engine
	Store  store.Store
	Person person.Person // answers given in advance, may be nil
	Temp   string

	// Lost is after how long without a word a worker counts as lost.
	Lost time.Duration

	mu      sync.Mutex
	benches map[string]*bench
}

// Register registers workflow and activities with a worker.
func (r *Runner) Register(w worker.Registry) {
	a := &part.Activities{Store: r.Store, Open: r.open, Person: r.Person, Temp: r.Temp, Heartbeat: r.Lost / 5}
	for name, f := range map[string]any{
		wire.Begin: a.Begin, wire.Append: a.Append, wire.Decide: a.Decide, wire.Perform: a.Perform, wire.Observe: a.Observe, wire.Answer: a.Answer, wire.Block: a.Block,
	} {
		w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	w.RegisterWorkflowWithOptions(r.Workflow, workflow.RegisterOptions{Name: Workflow})
}

// Workflow runs the orchestrator of a run.
func (r *Runner) Workflow(ctx workflow.Context, in Input) (*Output, error) {
	if in.Version != wire.Version {
		return nil, final(fmt.Errorf("the run %s was begun by version %d of the workflow, and this worker has %d: finish it with a worker of its version, or start it anew", in.Run, in.Version, wire.Version))
	}
	// What a run began with does not change: reading it is the same each time.
	submitted, err := wire.ReadSubmitted(context.Background(), r.Store, in.Run)
	if err != nil {
		return nil, final(err)
	}
	parts, err := r.Engine.Parts(submitted)
	if err != nil {
		return nil, final(err)
	}
	cfg := parts.Config()
	ctx, over := within(ctx, cfg.Deadline)
	s, err := session.Open(ctx, session.Options{
		Store: r.Store, Run: in.Run, Limits: budget.Limits{MaxCalls: cfg.MaxCalls, MaxTokens: cfg.MaxTokens, MaxUSD: cfg.MaxUSD}, MaxInFlight: cfg.MaxInFlight,
		Heartbeat: r.Lost, NoInput: in.NoInput, GoOnIfFutile: cfg.OnFutile == "warn", Setup: submitted.Setup,
	}, submitted)
	if err != nil {
		return nil, final(err)
	}
	if submitted.Form.Alone() {
		err = byBlocks(ctx, s, submitted, cfg)
	} else {
		err = parts.Run(s.Flow())
	}
	if errors.Is(err, session.ErrTooLong) {
		if err := s.Close(); err != nil {
			return nil, final(err)
		}
		if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
			return nil, err
		}
		return nil, workflow.NewContinueAsNewError(ctx, Workflow, in)
	}
	if errors.Is(err, session.ErrCancelled) && over() {
		s.Stop([]event.Event{
			event.BudgetExhausted{Limit: deadline, Max: cfg.Deadline.String()},
			event.TaskFailed{Status: event.StatusStopped, Stop: deadline, Reason: engine.ErrDeadline.Error()},
		})
	} else if err != nil {
		s.Stop(stopOf(err))
	}
	if err := s.Close(); err != nil {
		return nil, final(err)
	}
	return outputOf(s.Past().End), nil
}

// deadline is the limit on the time of a session.
const deadline = "deadline"

// within is a context that ends when a time has passed, and a function that tells whether it
// has; 0 is no limit.
func within(ctx workflow.Context, limit time.Duration) (workflow.Context, func() bool) {
	if limit <= 0 {
		return ctx, func() bool { return false }
	}
	over := false
	bounded, cancel := workflow.WithCancel(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		if workflow.Sleep(ctx, limit) == nil {
			over = true
			cancel()
		}
	})
	return bounded, func() bool { return over }
}

// final is an error that trying again does not mend.
func final(err error) error {
	if temporal.IsCanceledError(err) {
		return err
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), "maker", err)
}

// stopOf are the events that say why a run ended before its task did.
func stopOf(cause error) []event.Event {
	end := event.TaskFailed{Status: event.StatusStopped, Reason: cause.Error()}
	var first event.Event
	exhausted, outOfBudget := errors.AsType[*budget.ExhaustedError](cause)
	waiting, needsPerson := errors.AsType[*person.WaitingError](cause)
	_, isFutile := errors.AsType[*local.FutileError](cause)
	switch {
	case needsPerson:
		end.Stop, end.Step = event.StopWaiting, waiting.Question.Step
	case isFutile:
		end.Stop = event.StopFutile
	case outOfBudget:
		end.Stop, first = exhausted.Limit, event.BudgetExhausted{Limit: exhausted.Limit, Max: exhausted.Max}
	case errors.Is(cause, session.ErrCancelled):
		end.Stop, first = event.StopCancelled, event.RunCancelled{Reason: cause.Error()}
	default:
		end.Status = event.StatusFailed
	}
	if first == nil {
		return []event.Event{end}
	}
	return []event.Event{first, end}
}

func outputOf(end event.Event) *Output {
	switch e := end.(type) {
	case event.TaskCompleted:
		return &Output{Status: event.StatusCompleted}
	case event.TaskFailed:
		return &Output{Status: e.Status, Stop: e.Stop, Reason: e.Reason}
	}
	return &Output{Status: event.StatusFailed, Reason: "the orchestrator ended without saying how"}
}

// A bench is what this worker has open for a run.
type bench struct {
	runner *Runner
	parts  *engine.Parts
	tools  sync.Once
	err    error

	users int       // parts that are being done
	last  time.Time // when there was one
}

// idle is how long a bench stays open that nobody uses: the next part of a run comes soon, but
// programs of tools should not outlive their run by much.
const idle = time.Minute

// open is the bench of a run.
func (r *Runner) open(_ context.Context, run string, submitted event.TaskSubmitted) (part.Bench, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeIdle()
	b := r.benches[run]
	if b == nil {
		parts, err := r.Engine.Parts(submitted)
		if err != nil {
			return nil, err
		}
		if r.benches == nil {
			r.benches = map[string]*bench{}
		}
		b = &bench{runner: r, parts: parts}
		r.benches[run] = b
	}
	b.last = time.Now()
	return b, nil
}

// closeIdle closes the benches that nobody uses.
func (r *Runner) closeIdle() {
	for run, b := range r.benches {
		if b.users == 0 && time.Since(b.last) > idle {
			_ = b.parts.Close() // programs that are ended anyway
			delete(r.benches, run)
		}
	}
}

// Options implements [part.Bench].
func (b *bench) Options(ctx context.Context, a wire.Allowance) (local.Options, func() error, error) {
	b.use(1)
	b.tools.Do(func() { b.err = b.parts.OpenTools(context.WithoutCancel(ctx)) })
	if b.err != nil {
		b.use(-1)
		return local.Options{}, nil, b.err
	}
	o, release, err := b.parts.Runtime(ctx, budget.Limits{MaxCalls: a.Calls, MaxTokens: a.Tokens, MaxUSD: a.USD}, a.InFlight)
	if err != nil {
		b.use(-1)
		return o, nil, err
	}
	return o, func() error {
		defer b.use(-1)
		return release()
	}, nil
}

// use notes that a part begins or ends.
func (b *bench) use(n int) {
	b.runner.mu.Lock()
	defer b.runner.mu.Unlock()
	b.users += n
	b.last = time.Now()
}

// Block implements [part.Orchestrator].
func (b *bench) Block(f flow.Flow, at chain.Checkpoint, first int, records string) error {
	return b.parts.Block(f, at, first, records)
}

// Close ends what is open.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, b := range r.benches {
		errs = append(errs, b.parts.Close())
	}
	return errors.Join(errs...)
}

// Follow visits the events of a run that have come since the last time.
type Follow = wire.Tail
