package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/runtime/history"
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

	// as is whom requests are put to, and how they are decided, where that is not as the run's
	// own settings say.
	as kind.Addressed
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
	if cfg.Voting.Strategy == vote.Adaptive {
		shared := history.Adapting(event.FormRequests, own.Voting, own.TargetError)
		shared.MaxSamples = cmp.Or(cfg.Voting.MaxSamples, shared.MaxSamples, history.Length{}.Options(shared, nil).Cap())
		cfg.Voting = shared
	}
	other := &Session{run: s.run, asking: s.asking}
	for _, of := range []struct {
		as         *string
		field      string
		wants, has []string
	}{
		{&other.as.Model, votersField(cfg), cfg.VoterNames(), own.VoterNames()},
		{&other.as.Cheap, "model_cheap", []string{CheapModel(cfg)}, []string{CheapModel(own)}},
		{&other.as.Reasoning, "model_reasoning", []string{cfg.Reasoning()}, []string{own.Reasoning()}},
	} {
		if slices.Equal(of.wants, of.has) {
			continue
		}
		if *of.as, err = s.open(of.field, of.wants); err != nil {
			return nil, err
		}
	}
	if terms := kind.Terms(cfg); !reflect.DeepEqual(terms, kind.Terms(own)) {
		other.as.Terms = &terms
	}
	return other, nil
}

// open opens the models of a setting that share the samples of a request, and returns what
// questions call them.
func (s *Session) open(field string, names []string) (string, error) {
	if len(names) == 1 && names[0] == "" {
		return "", nil
	}
	if slices.Contains(names, flow.Reasoning) || slices.Contains(names, flow.Cheap) { // which are names of roles
		return "", config.Errorf(field, "there is no model called %q; want provider/model", strings.Join(names, ","))
	}
	pool, err := s.run.stack.pool(field, names, mostModels)
	if errors.Is(err, errManyModels) {
		return "", config.Errorf(field, "the session %s has asked %d models, and no more are opened for it: begin another one", s.run.ID(), mostModels)
	}
	return pool, err
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
	as := s.as
	as.Request = r
	raw, err := flow.Encode(as)
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
