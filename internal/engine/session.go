package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/runtime/local"
)

// ErrGone is why a request has no answer whose context ended.
var ErrGone = local.ErrGone

// A SessionEndedError says that a session takes no more requests.
type SessionEndedError struct{ Result *Result }

func (e *SessionEndedError) Error() string {
	reason := e.Result.Reason
	if reason == "" {
		reason = e.Result.Status
	}
	return fmt.Sprintf("the session %s has ended: %s", e.Result.Run, reason)
}

// A Session is a run that answers requests for as long as it goes on.
type Session struct {
	run    *Run
	asking atomic.Int64
}

// Session starts one. The name is for people.
func (e *Engine) Session(ctx context.Context, name string) (*Session, error) {
	r, err := e.launchParams(ctx, kind.Session, kind.SessionParams{Name: name})
	if err != nil {
		return nil, err
	}
	return &Session{run: r}, nil
}

// ResumeSession goes on with one that was paused, stopped or killed.
func (e *Engine) ResumeSession(ctx context.Context, run string, o ResumeOptions) (*Session, error) {
	r, err := e.Resume(ctx, run, o)
	if err != nil {
		return nil, err
	}
	if r.form != event.FormRequests {
		return nil, fmt.Errorf("maker: %s is no session", run)
	}
	return &Session{run: r}, nil
}

// Run is the run that it is.
func (s *Session) Run() *Run { return s.run }

// Idle reports whether nobody waits for an answer.
func (s *Session) Idle() bool { return s.asking.Load() == 0 }

// Ask has a request voted on, and returns when the answer is on disk, with the number of its
// step.
func (s *Session) Ask(ctx context.Context, r kind.Request) (*flow.Verdict, int, error) {
	s.asking.Add(1)
	defer s.asking.Add(-1)
	raw, err := flow.Encode(r)
	if err != nil {
		return nil, 0, fmt.Errorf("maker: the request: %w", err)
	}
	type told struct {
		step int
		v    *flow.Verdict
		err  error
	}
	done := make(chan told, 1)
	a := &local.Arrival{Request: raw, Ctx: ctx, Done: func(step int, v *flow.Verdict, err error) { done <- told{step, v, err} }}
	select {
	case s.run.arrivals <- a:
	case <-s.run.done:
		return nil, 0, s.ended()
	case <-ctx.Done():
		return nil, 0, ErrGone
	}
	t := <-done
	if t.err != nil && !errors.Is(t.err, ErrGone) {
		<-s.run.done // whatever it is has ended the run
		return nil, t.step, s.ended()
	}
	return t.v, t.step, t.err
}

// ended says why no request is taken.
func (s *Session) ended() error {
	if s.run.err != nil {
		return s.run.err
	}
	return &SessionEndedError{s.run.result}
}

// Close ends the session: requests that are under way are answered, and no more are taken.
func (s *Session) Close() (*Result, error) {
	select {
	case s.run.arrivals <- nil:
	case <-s.run.done:
	}
	return s.run.Result()
}
