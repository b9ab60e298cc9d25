package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/vote"
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
	asking *atomic.Int64

	// Whom requests are put to, and how they are decided, if not as the run's own settings say.
	model string
	terms *flow.Terms
}

// Session starts one. The name is for people.
func (e *Engine) Session(ctx context.Context, name string) (*Session, error) {
	r, err := e.launchParams(ctx, kind.Session, kind.SessionParams{Name: name})
	if err != nil {
		return nil, err
	}
	return &Session{run: r, asking: new(atomic.Int64)}, nil
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
	return &Session{run: r, asking: new(atomic.Int64)}, nil
}

// With is the same session for requests that are put to the model of another engine, and
// decided as its settings say. All else stays what it is for the whole run.
func (s *Session) With(e *Engine) (*Session, error) {
	cfg, err := configFor(e.opts.Config, config.Sessions)
	if err != nil {
		return nil, err
	}
	if err := s.run.stack.engine.checkOwn(cfg); err != nil {
		return nil, err
	}
	own := s.run.stack.config
	switch {
	case cfg.Voting.Strategy == own.Voting.Strategy:
	case cfg.Voting.Strategy == vote.Adaptive, own.Voting.Strategy == vote.Adaptive:
		return nil, config.Errorf("voting", "the session %s votes by %s, and %s is for a whole session", s.run.ID(), own.Voting.Strategy, vote.Adaptive)
	}
	if cfg.Voting.Strategy == vote.Adaptive {
		cap := cmp.Or(cfg.Voting.MaxSamples, own.Voting.MaxSamples)
		cfg.Voting = own.Voting
		cfg.Voting.MaxSamples = cap
	}
	other := &Session{run: s.run, asking: s.asking}
	if names := cfg.VoterNames(); !slices.Equal(names, own.VoterNames()) {
		switch name := names[0]; {
		case len(names) > 1:
			return nil, config.Errorf("voters", "several models that share the samples are those of a whole session")
		case name == flow.Reasoning, name == flow.Cheap: // which are names of roles
			return nil, config.Errorf("model", "there is no model called %q; want provider/model", name)
		case s.run.stack.opened() >= mostModels:
			return nil, config.Errorf("model", "the session %s has asked %d models, and no more are opened for it: begin another one", s.run.ID(), mostModels)
		}
		if _, err := s.run.stack.groupOf(names[0], true); err != nil {
			return nil, err
		}
		other.model = names[0]
	}
	if terms := kind.Terms(cfg); !reflect.DeepEqual(terms, kind.Terms(own)) {
		other.terms = &terms
	}
	return other, nil
}

// mostModels is how many models a session opens at most: each takes memory, and whoever asks may
// name any.
const mostModels = 256

// Run is the run that it is.
func (s *Session) Run() *Run { return s.run }

// Idle reports whether nobody waits for an answer.
func (s *Session) Idle() bool { return s.asking.Load() == 0 }

// Ask has a request voted on, and returns when the answer is on disk, with the number of its
// step.
func (s *Session) Ask(ctx context.Context, r kind.Request) (*flow.Verdict, int, error) {
	s.asking.Add(1)
	defer s.asking.Add(-1)
	raw, err := flow.Encode(kind.Addressed{Request: r, Model: s.model, Terms: s.terms})
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
