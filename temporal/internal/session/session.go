// Package session runs orchestrators as workflows: it implements flow.Flow with activities.
//
// A session is one execution of the workflow of a run. Its events go to the store in chunks,
// each before what is built on it; a session that comes later, because the one before was
// cancelled, terminated or became too long, reads them there and goes on, as a resume does on
// one machine. Code here is that of a workflow: it runs again from the beginning whenever a
// worker has to find out how far it is, so that all that it does follows from what is recorded.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
	"github.com/maker-mdap/maker/usage"
)

// Options are what a session needs to know.
type Options struct {
	Store  store.Store
	Run    string
	Limits budget.Limits // of the run, over all its sessions

	// MaxInFlight is how many calls all parts together may have in flight; 0 is no limit.
	MaxInFlight int

	// Heartbeat is after how long without a word a worker counts as lost.
	Heartbeat time.Duration

	// NoInput ends the session where only a person can say how it goes on, instead of waiting.
	NoInput bool

	// GoOnIfFutile goes on when more votes will not help.
	GoOnIfFutile bool

	// Setup is stamped on the events that end the session.
	Setup event.Setup
}

// Why a session ends before its run does.
var (
	ErrCancelled = errors.New("the run was cancelled")
	ErrTooLong   = errors.New("the history is long: another session goes on")
)

// A Session is a session of a run.
type Session struct {
	opts    Options
	ctx     workflow.Context
	started time.Time
	number  int
	past    *history.History

	seq       uint64 // of the next event
	chunk     int    // the next one
	pending   wire.Lines
	following bool          // what follows from votes is being added
	chunks    []*wire.Chunk // that nobody was asked to write yet

	used    map[usedKey]bool
	decided map[string]int // how often, by key
	effects map[string]int // events, by key
	samples map[string]wire.Lines
	failed  error

	spent   usage.Spent // settled
	lent    map[*loan]bool
	owed    map[*loan]usage.Spent // not yet among what is spent
	done    map[int]wire.BlockRef // blocks
	answers map[string]*waiting
}

// Open begins a session: it reads what those before it recorded. First is the event that
// begins the run, which is the first of the first session; others begin with a resume.
func Open(ctx workflow.Context, o Options, first event.TaskSubmitted) (*Session, error) {
	s := &Session{
		opts: o, ctx: ctx, started: workflow.Now(ctx), past: history.New(""), used: map[usedKey]bool{},
		decided: map[string]int{}, effects: map[string]int{}, samples: map[string]wire.Lines{}, answers: map[string]*waiting{}, lent: map[*loan]bool{}, owed: map[*loan]usage.Spent{}, done: map[int]wire.BlockRef{},
	}
	var begun wire.Begun
	in := wire.BeginRequest{Run: o.Run, Owner: workflow.GetInfo(ctx).WorkflowExecution.RunID}
	if err := workflow.ExecuteActivity(s.short(ctx), wire.Begin, in).Get(ctx, &begun); err != nil {
		return nil, s.ended(ctx, err)
	}
	s.number = begun.Session
	// The store has these for good, so that reading them is the same each time.
	err := wire.ReadSessions(context.Background(), o.Store, o.Run, s.number, func(line json.RawMessage) error {
		rec, err := event.Decode(line)
		if err == nil {
			err = s.past.Visit(runlog.Line{Type: rec.Event.Type(), Seq: s.seq, Raw: line})
		}
		s.note(rec.Event, line)
		return err
	}, func(b wire.BlockRef) { s.done[b.N] = b })
	if err == nil {
		err = s.past.Finish()
	}
	if err != nil {
		return nil, fmt.Errorf("the events of %s: %w", o.Run, err)
	}
	s.spent = s.past.Spent
	var begins event.Event = first
	if s.seq > 0 {
		begins = event.RunResumed{Maker: first.Maker, Step: s.past.Steps, Config: first.Config, Spent: s.spent, Setup: o.Setup}
	}
	if err := s.append("", begins); err != nil {
		return nil, err
	}
	return s, s.serve()
}

// Flow is that of the session's main line.
func (s *Session) Flow() flow.Flow { return &branch{Session: s, ctx: s.ctx} }

// Past is what the run has recorded.
func (s *Session) Past() *history.History { return s.past }

// Close writes what is left to write, also if the session was cancelled.
func (s *Session) Close() error {
	ctx, _ := workflow.NewDisconnectedContext(s.ctx)
	return errors.Join(s.failed, s.flush(ctx))
}

// short are the options of activities that only write or read something small.
func (s *Session) short(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
}

// learn takes an event that the run has.
func (s *Session) learn(rec event.Record, line json.RawMessage) error {
	if err := s.past.Learn(rec); err != nil {
		return err
	}
	s.note(rec.Event, line)
	return nil
}

// note counts an event that the run has.
func (s *Session) note(e event.Event, line json.RawMessage) {
	s.seq++
	switch e := e.(type) {
	case event.SampleCompleted:
		s.samples[e.Question] = append(s.samples[e.Question], line)
	case event.SampleRedFlagged:
		s.samples[e.Question] = append(s.samples[e.Question], line)
	case event.SampleFaulted:
		s.samples[e.Question] = append(s.samples[e.Question], line)
	case event.VoteCompleted:
		s.decided[e.Question]++
		delete(s.samples, e.Question)
	case event.EffectClaimed:
		s.effects[e.Effect]++
	case event.EffectReleased:
		s.effects[e.Effect]++
	case event.EffectDone:
		s.effects[e.Effect]++
	case event.EffectRefused:
		s.effects[e.Effect]++
	case event.EffectUnknown:
		s.effects[e.Effect]++
	}
}

// append adds an event to the run.
func (s *Session) append(key string, e event.Event) error {
	return s.record(event.Record{Time: workflow.Now(s.ctx), Key: key, Event: e})
}

func (s *Session) record(rec event.Record) error {
	if s.failed != nil {
		return s.failed
	}
	rec.Seq, rec.Run = s.seq, s.opts.Run
	line, err := rec.AppendJSON(nil)
	if err == nil {
		err = s.learn(rec, line)
	}
	if err != nil {
		s.failed = err
		return err
	}
	s.pending = append(s.pending, line)
	return s.follow()
}

// follow adds what follows from the votes so far, one after the other: each is due until the
// run has it.
func (s *Session) follow() error {
	if s.following {
		return nil
	}
	s.following = true
	defer func() { s.following = false }()
	for {
		var due event.Event
		if list := s.past.Framings.Due(); len(list) > 0 {
			due = list[0]
		} else if list := s.past.Policies.Due(); len(list) > 0 {
			due = list[0]
		} else {
			return nil
		}
		if err := s.append("", due); err != nil {
			return err
		}
		if f, ok := due.(event.PolicyFutile); ok && !s.opts.GoOnIfFutile {
			s.failed = &local.FutileError{Futility: f.Futility}
			return s.failed
		}
	}
}

// take adds the events of a part, which has spent something since then.
func (s *Session) take(lines wire.Lines) error {
	for _, line := range lines {
		rec, err := event.Decode(line)
		if err != nil {
			return err
		}
		rec.Event = withSpent(rec.Event, s.spent)
		if err := s.record(rec); err != nil {
			return err
		}
	}
	return nil
}

// withSpent is an event of a part with what the run has spent in all.
func withSpent(e event.Event, all usage.Spent) event.Event {
	switch e := e.(type) {
	case event.VoteCompleted:
		e.Spent = all
		return e
	case event.EffectDone:
		e.Spent = all
		return e
	}
	return e
}

// chunked ends a chunk, perhaps with a block.
func (s *Session) chunked(block *wire.BlockRef) {
	s.chunks = append(s.chunks, &wire.Chunk{Run: s.opts.Run, Session: s.number, N: s.chunk, Lines: s.pending, Block: block})
	s.chunk++
	s.pending = nil
}

// pieces are what is to be written next.
func (s *Session) pieces() []*wire.Chunk {
	if len(s.pending) > 0 {
		s.chunked(nil)
	}
	list := s.chunks
	s.chunks = nil
	return list
}

// flush writes what has not been written.
func (s *Session) flush(ctx workflow.Context) error {
	list := s.pieces()
	if len(list) == 0 {
		return nil
	}
	err := workflow.ExecuteActivity(s.short(ctx), wire.Append, list).Get(ctx, nil)
	if err != nil {
		s.unwritten(list)
	}
	return s.ended(ctx, err)
}

// unwritten takes chunks back of which nobody knows whether they were written: whoever writes next
// does it, once more perhaps.
func (s *Session) unwritten(list []*wire.Chunk) { s.chunks = append(list, s.chunks...) }

// ended is what an error of an activity means for the run.
func (s *Session) ended(ctx workflow.Context, err error) error {
	if err != nil && (temporal.IsCanceledError(err) || ctx.Err() != nil) {
		return ErrCancelled
	}
	return err
}

// MaxLost is how many workers may be lost over one part before it counts as what kills them.
const MaxLost = 10

// A LostError says that workers were lost over one part of the run.
type LostError struct {
	Key string
	Err error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%d workers in a row were lost while they were at %s, the last one because of this: %v; look at their output, then resume the run", MaxLost, e.Key, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// part has a worker do a part, another one if that is lost. Request makes what it is asked, with
// the events that it writes before it begins, and settle takes in what came of it; it reports
// whether the part has to be asked for again. Lost is called for each worker of which nobody knows what it has done.
func (s *Session) part(ctx workflow.Context, name, key string, request func(chunks []*wire.Chunk) any, settle func(workflow.Future) (again bool, err error), lost func() error) error {
	wait := time.Second
	for n := 1; ; {
		chunks := s.pieces()
		did := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: longest, HeartbeatTimeout: s.opts.Heartbeat, WaitForCancellation: true,
			RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		}), name, request(chunks))
		again, err := settle(did)
		if err == nil {
			if !again {
				return nil
			}
			n, wait = 1, time.Second
			continue
		}
		s.unwritten(chunks)
		if errors.Is(err, budget.ErrExhausted) {
			return err
		}
		if ended := s.ended(ctx, err); errors.Is(ended, ErrCancelled) {
			return errors.Join(ended, lost())
		}
		workflow.GetLogger(ctx).Warn("a worker was lost or failed at a part, which is done again", "run", s.opts.Run, "part", key, "error", err)
		if err := lost(); err != nil {
			return err
		}
		if n == MaxLost {
			return &LostError{key, err}
		}
		n++
		if err := workflow.Sleep(ctx, wait); err != nil {
			return ErrCancelled
		}
		wait = min(2*wait, time.Minute)
	}
}

// moved reports whether another worker has to go on with a part: its worker was stopped, or was
// told that nobody waits for it while the run goes on.
func moved(ctx workflow.Context, s *wire.Stop) bool {
	return s != nil && (s.Kind == wire.Moved || s.Kind == wire.Cancelled && ctx.Err() == nil)
}

// longest is how long a part may take: as long as its worker is alive it is the part's own
// limits that end it.
const longest = 10 * 365 * 24 * time.Hour

type usedKey struct {
	method string
	key    string
}

// about are those of the person's answers that concern an effect, and the questions about it
// that were put.
func (s *Session) about(key string) (answers map[string]*flow.Answer, asked map[string]bool) {
	answers, asked = map[string]*flow.Answer{}, map[string]bool{}
	for q, a := range s.past.Answers {
		mine := q == key || strings.HasPrefix(q, key+"/")
		if mine {
			asked[q] = true
		}
		if _, allows := effect.Allows(q, a); a != nil && (mine || allows) {
			answers[q] = a
		}
	}
	return answers, asked
}

// Stop says among the events why the run ended before its task did, unless the store is the
// reason.
func (s *Session) Stop(events []event.Event) {
	if _, over := errors.AsType[*local.FutileError](s.failed); over || errors.Is(s.failed, budget.ErrExhausted) {
		s.failed = nil
	}
	for _, e := range events {
		if end, ok := e.(event.TaskFailed); ok && end.Step == 0 {
			end.Step = s.past.Steps
			e = end
		}
		s.Flow().Emit("end", e)
	}
}
