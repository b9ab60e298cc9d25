// Package part does the parts of a run that belong to workers: it decides questions, performs
// effects and looks at the world, as activities.
//
// What came of a part is in the store before the workflow learns of it. So a part that is asked
// for again, because nobody knows what became of the worker, is not done again.
package part

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

// A Bench is what the parts of one run are done with: its models and tools.
type Bench interface {
	// Options are those of a runtime that does one part, within an allowance. What they hold
	// is given back with done.
	Options(ctx context.Context, a wire.Allowance) (opts local.Options, done func() error, err error)
}

// Activities are those of a worker.
type Activities struct {
	Store store.Store

	// Open is the bench for a run. It may be asked for several times.
	Open func(ctx context.Context, run string, submitted event.TaskSubmitted) (Bench, error)

	// Person has the answers that were given in advance; nil if there are none.
	Person person.Person

	// Temp is the folder for what is needed only while a part is done; empty means the
	// system's.
	Temp string

	// Heartbeat is how often a worker says that it is still there.
	Heartbeat time.Duration
}

// errMoved is why a part ends on this worker.
var errMoved = errors.New("the worker is being stopped")

// begin is what every part does first. The context ends with the part's, and when the worker
// is stopped; the function ends what was begun.
func (a *Activities) begin(ctx context.Context, chunks []*wire.Chunk) (context.Context, func(), error) {
	if err := a.Append(ctx, chunks); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		beat := time.NewTicker(a.Heartbeat)
		defer beat.Stop()
		for {
			activity.RecordHeartbeat(ctx)
			select {
			case <-over:
				return
			case <-activity.GetWorkerStopChannel(ctx):
				cancel(errMoved)
				<-over
				return
			case <-beat.C:
			}
		}
	}()
	return ctx, func() {
		close(over)
		cancel(nil)
	}, nil
}

// bench is the one for a run.
func (a *Activities) bench(ctx context.Context, run string) (Bench, event.TaskSubmitted, error) {
	submitted, err := wire.ReadSubmitted(ctx, a.Store, run)
	if err != nil {
		return nil, submitted, err
	}
	b, err := a.Open(ctx, run, submitted)
	return b, submitted, err
}

// Begin claims a session of a run.
func (a *Activities) Begin(ctx context.Context, in wire.BeginRequest) (wire.Begun, error) {
	n, err := wire.BeginSession(ctx, a.Store, in.Run, in.Owner)
	return wire.Begun{Session: n}, err
}

// Append writes events of a run.
func (a *Activities) Append(ctx context.Context, chunks []*wire.Chunk) error {
	for _, c := range chunks {
		if err := wire.PutChunk(ctx, a.Store, c); err != nil {
			return err
		}
	}
	return nil
}

// Decide has a question decided.
func (a *Activities) Decide(ctx context.Context, in wire.DecideRequest) (*wire.Decision, error) {
	ctx, end, err := a.begin(ctx, in.Chunks)
	if err != nil {
		return nil, err
	}
	defer end()
	name := wire.DecisionName(in.Run, in.Key, in.Time)
	if known, err := a.decision(ctx, name); known != nil || err != nil {
		return known, err
	}
	b, submitted, err := a.bench(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	opts, done, err := b.Options(ctx, in.Allowance)
	if err != nil {
		return nil, err
	}
	out, err := a.decide(ctx, &in, submitted, opts)
	if err = errors.Join(err, done()); err != nil || out.Verdict == nil {
		return out, err
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	if opts.Redact != nil {
		data = opts.Redact(data)
		out = new(wire.Decision)
		if err := json.Unmarshal(data, out); err != nil {
			return nil, err
		}
	}
	// Cancelled or not, what was decided is paid for.
	err = a.Store.Create(context.WithoutCancel(ctx), name, data)
	if errors.Is(err, store.ErrExists) { // another worker was thought to be lost, and was not
		return a.decision(ctx, name)
	}
	return out, err
}

// decision is one that was made before; nil if none was.
func (a *Activities) decision(ctx context.Context, name string) (*wire.Decision, error) {
	data, err := a.Store.Get(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out wire.Decision
	return &out, json.Unmarshal(data, &out)
}

// decide has a question decided by a local runtime, whose log is that of this part alone.
func (a *Activities) decide(ctx context.Context, in *wire.DecideRequest, submitted event.TaskSubmitted, opts local.Options) (*wire.Decision, error) {
	temp, err := os.MkdirTemp(a.Temp, "maker-part-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "part")
	log, err := runlog.CreateTemporary(dir, in.Run, opts.Redact)
	if err != nil {
		return nil, err
	}
	if err := log.Append(submitted); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	past := history.New(dir)
	if past.Votes[in.Key], err = earlier(in.Earlier); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	if past.Votes[in.Key] == nil {
		delete(past.Votes, in.Key)
	}
	opts.Log, opts.Past, opts.Told = log, past, &in.Told
	var out wire.Decision
	failed := local.New(opts).Run(ctx, func(f flow.Flow) (err error) {
		out.Verdict, err = f.Decide(in.Key, &in.Question)
		return err
	})
	opts.Ballot.Close()
	out.Spent = opts.Ledger.Spent()
	if err := log.Close(); err != nil {
		return nil, err
	}
	if out.Lines, err = linesOf(dir); err != nil {
		return nil, err
	}
	if failed != nil {
		out.Verdict, out.Stop = nil, stopOf(ctx, failed)
	}
	return &out, nil
}

// earlier are the samples of a vote that was begun elsewhere; nil if there are none.
func earlier(lines wire.Lines) (*history.Vote, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	var v history.Vote
	for _, line := range lines {
		rec, err := event.Decode(line)
		if err != nil {
			return nil, err
		}
		if _, fault := rec.Event.(event.SampleFaulted); fault {
			v.Faults++
			continue
		}
		v.Samples = append(v.Samples, rec.Event)
	}
	return &v, nil
}

// linesOf are the events of a part, but for the first, with all that they hold.
func linesOf(dir string) (wire.Lines, error) {
	var lines wire.Lines
	for line, err := range runlog.Read(dir) {
		if err != nil {
			return nil, err
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, err
		}
		if rec.Seq == 0 {
			continue
		}
		if rec.Event, err = event.WithValues(rec.Event, func(v event.Value) (event.Value, error) { return runlog.Load(dir, v) }); err != nil {
			return nil, err
		}
		raw, err := rec.AppendJSON(nil)
		if err != nil {
			return nil, err
		}
		lines = append(lines, raw)
	}
	return lines, nil
}

// stopOf says why a part came to no end.
func stopOf(ctx context.Context, err error) *wire.Stop {
	s := &wire.Stop{Kind: wire.Failed, Reason: err.Error()}
	exhausted, isExhausted := errors.AsType[*budget.ExhaustedError](err)
	switch {
	case isExhausted:
		s.Kind, s.Limit, s.Max = wire.Exhausted, exhausted.Limit, exhausted.Max
	case errors.Is(context.Cause(ctx), errMoved):
		s.Kind = wire.Moved
	case temporal.IsCanceledError(context.Cause(ctx)):
		s.Kind = wire.Cancelled
	case ctx.Err() != nil: // the server could not be told in time that the worker is there
		s.Kind = wire.Moved
	}
	return s
}

// Observe looks at the world.
func (a *Activities) Observe(ctx context.Context, in wire.LookRequest) (wire.Seen, error) {
	b, _, err := a.bench(ctx, in.Run)
	if err != nil {
		return wire.Seen{}, err
	}
	opts, done, err := b.Options(ctx, wire.Allowance{})
	if err != nil {
		return wire.Seen{}, err
	}
	defer done()
	defer opts.Ballot.Close()
	look, ok := opts.Looks[in.Look.Kind]
	if !ok {
		return wire.Seen{Error: fmt.Sprintf("nobody knows how to look at %q", in.Look.Kind)}, nil
	}
	what, err := look(ctx, in.Look.Params)
	if err != nil {
		if ctx.Err() != nil {
			return wire.Seen{}, err
		}
		return wire.Seen{Error: err.Error()}, nil
	}
	seen, err := json.Marshal(what)
	if err != nil {
		return wire.Seen{Error: err.Error()}, nil
	}
	return wire.Seen{Result: seen}, nil
}

// Answer looks for an answer that was given in advance.
func (a *Activities) Answer(ctx context.Context, in wire.AnswerRequest) (wire.Given, error) {
	if a.Person == nil {
		return wire.Given{}, nil
	}
	answer, err := a.Person.Ask(ctx, in.Key, &in.Question.Question)
	if errors.Is(err, person.ErrAbsent) {
		return wire.Given{}, nil
	}
	return wire.Given{Answer: answer}, err
}
