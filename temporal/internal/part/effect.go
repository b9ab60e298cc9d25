package part

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

// Perform has an effect performed, once: the store has its claim before it acts.
func (a *Activities) Perform(ctx context.Context, in wire.PerformRequest) (*wire.Performance, error) {
	ctx, end, err := a.begin(ctx, in.Chunks)
	if err != nil {
		return nil, err
	}
	defer end()
	b, _, err := a.bench(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	opts, done, err := b.Options(ctx, wire.Allowance{})
	if err != nil {
		return nil, err
	}
	opts.Ballot.Close() // nobody is asked
	j, err := a.openJournal(ctx, &in, opts.Redact)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	p := effect.Performer{
		Journal: j, Tools: opts.Tools, Approve: opts.Approve, Redact: opts.Redact, Spent: opts.Ledger.Spent, Keep: opts.Keep, Holds: opts.Holds,
	}
	p.Recall(in.Answers)
	result, err := p.Perform(ctx, in.Key, &in.Effect)
	out := &wire.Performance{Lines: j.lines}
	ask, asks := errors.AsType[*askError](err)
	switch {
	case errors.Is(err, store.ErrTaken):
		return nil, errors.Join(err, done()) // what came of it is known once whoever was first is done
	case asks:
		out.Ask = &wire.Question{Key: ask.key, Question: *ask.question}
	case err != nil:
		out.Stop = stopOf(ctx, err)
	default:
		out.Result = result
	}
	return out, done()
}

// An askError says that the person has to be asked first.
type askError struct {
	key      string
	question *flow.HumanQuestion
}

func (e *askError) Error() string { return "a person is to be asked: " + e.question.Text }

// A journal is what the store has about one effect, event by event. Whoever writes one is the
// first to do so, or late.
type journal struct {
	ctx    context.Context // of the activity
	store  store.Store
	in     *wire.PerformRequest
	redact func([]byte) []byte
	next   int
	states effect.States
	lines  wire.Lines // that the run does not have yet
}

func (a *Activities) openJournal(ctx context.Context, in *wire.PerformRequest, redact func([]byte) []byte) (*journal, error) {
	j := &journal{ctx: ctx, store: a.Store, in: in, redact: redact, states: effect.States{}}
	for {
		line, err := a.Store.Get(ctx, wire.EffectName(in.Run, in.Key, j.next))
		if errors.Is(err, fs.ErrNotExist) {
			return j, nil
		}
		if err != nil {
			return nil, err
		}
		rec, err := event.Decode(line)
		if err != nil {
			return nil, err
		}
		j.take(rec.Event, line)
	}
}

func (j *journal) take(e event.Event, line []byte) {
	if j.next >= j.in.Known {
		j.lines = append(j.lines, line)
	}
	j.states.Take(e)
	j.next++
}

func (j *journal) Effect(key string) effect.State { return j.states[key] }

// Append writes an event to the store. Before a claim it makes sure that the activity is
// still this worker's.
func (j *journal) Append(e event.Event) error {
	if _, claims := e.(event.EffectClaimed); claims {
		activity.RecordHeartbeat(j.ctx)
		if j.ctx.Err() != nil {
			return context.Cause(j.ctx)
		}
	}
	line, err := event.Record{Time: time.Now(), Run: j.in.Run, Event: e}.AppendJSON(nil)
	if err != nil {
		return err
	}
	if j.redact != nil {
		line = j.redact(line)
	}
	// What has happened must be known, whoever ends the run meanwhile.
	err = j.store.Create(context.WithoutCancel(j.ctx), wire.EffectName(j.in.Run, j.in.Key, j.next), line)
	if errors.Is(err, store.ErrExists) {
		return fmt.Errorf("the effect %s: %w", j.in.Key, store.ErrTaken)
	}
	if err == nil {
		j.take(e, line)
	}
	return err
}

// Sync implements [effect.Journal]: what was appended is durable.
func (j *journal) Sync() error { return nil }

func (j *journal) Ask(_ context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	if given := j.in.Answers[key]; given != nil {
		return given, nil
	}
	if slices.Contains(j.in.Absent, key) {
		return nil, &person.WaitingError{Key: key, Question: *q}
	}
	return nil, &askError{key, q}
}

func (j *journal) Asked(key string) bool { return j.in.Asked[key] }
