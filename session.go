package maker

import (
	"context"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/internal/engine/kind"
)

// KindSession is the kind of run that answers requests.
const KindSession = kind.Session

// A ChatRequest is a conversation whose next turn is wanted, as plain data.
type ChatRequest = kind.Request

// Errors of sessions.
var (
	// ErrGone is why a request has no answer whose context ended.
	ErrGone = engine.ErrGone
)

// A SessionEndedError says that a session takes no more requests, and with what result it
// has ended.
type SessionEndedError = engine.SessionEndedError

// A Session is a run that answers requests for as long as it goes on: each is a step of it,
// voted on and committed on its own, in any order. Its methods may be called from any
// goroutine.
type Session struct{ session *engine.Session }

// Session starts a session. The name is for people. It ends with ctx, with its budget, or
// with [Session.Close].
func (e *Engine) Session(ctx context.Context, name string) (*Session, error) {
	return begunSession(e.engine.Session(ctx, name))
}

// ResumeSession goes on with a session that was paused, stopped or killed. What was asked
// when it ended is not asked again. The run is named as in [runs.Find]; opts may be nil.
func (e *Engine) ResumeSession(ctx context.Context, run string, opts *ResumeOptions) (*Session, error) {
	return begunSession(e.engine.ResumeSession(ctx, run, opts.options()))
}

func begunSession(s *engine.Session, err error) (*Session, error) {
	if err != nil {
		return nil, err
	}
	return &Session{s}, nil
}

// With is the same session for requests that are put to the models of another engine, its
// voters and those that compare and choose texts, and decided by its voting rule, red flags,
// temperatures and limits of one answer. All else stays that of the session: its budgets, and
// the target that the margins of an adaptive rule are for. The engine is made by
// [Engine.With].
func (s *Session) With(e *Engine) (*Session, error) {
	return begunSession(s.session.With(e.engine))
}

// Run is the run that the session is.
func (s *Session) Run() *Run { return &Run{s.session.Run()} }

// Idle reports whether nobody waits for an answer.
func (s *Session) Idle() bool { return s.session.Idle() }

// A ChatVerdict is how a request was decided.
type ChatVerdict struct {
	flow.Verdict

	Run  string // its name
	Step int
}

// Ask has a request voted on and returns once the answer is on disk. The answer of the
// verdict is a [flow.ChatTurn]: one that is not decided has one if the request says what to
// answer then. Ctx ends the vote, with [ErrGone]; a session that is over is a
// [*SessionEndedError].
func (s *Session) Ask(ctx context.Context, r ChatRequest) (*ChatVerdict, error) {
	v, step, err := s.session.Ask(ctx, r)
	if err != nil {
		return nil, err
	}
	return &ChatVerdict{Verdict: *v, Run: s.session.Run().ID(), Step: step}, nil
}

// Close ends the session: requests that are under way are answered, and no more are taken.
// The run is completed.
func (s *Session) Close() (*Result, error) { return s.session.Close() }

// OnUndecided is what a request is answered if voters do not agree. A turn that calls tools is
// never answered without a vote.
type OnUndecided = kind.OnUndecided

// What can be answered.
const (
	SayUndecided = kind.SayUndecided // that they do not
	TakeFirst    = kind.TakeFirst    // the text that most voters gave, and the first one among these
	TakeJudged   = kind.TakeJudged   // the text that the model that plans prefers, by a vote of its own
)
