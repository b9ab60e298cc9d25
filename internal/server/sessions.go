package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/server/gateway"
	"github.com/maker-mdap/maker/model/served"
	"github.com/maker-mdap/maker/runs"
)

// sessions are those in which requests to the gateway are answered, by whose they are and what
// they are for.
type sessions struct {
	mu   sync.Mutex
	open map[string]*openSession
	held map[string]chan struct{} // of those that are being found, begun or paused; closed after that
	dirs map[string]string        // of those that were open, so that they are found among many runs
}

// mostDirs is of how many sessions it is remembered where they are: clients may name any.
const mostDirs = 10_000

// An openSession is one that requests are put to.
type openSession struct {
	*maker.Session
	end  context.CancelCauseFunc
	used time.Time // when it was asked for last

	// ended is its log when it was found that it takes no more requests, and refused why another
	// does not take its place: that holds until somebody changes the log.
	ended   stamp
	refused error

	with map[string]*maker.Session // it, for requests to each model, by what that is
}

// hold keeps others from finding, beginning or pausing a session until it is called off.
func (s *sessions) hold(owner, task string) (release func()) {
	key := sessionKey(owner, task)
	for {
		s.mu.Lock()
		busy := s.held[key]
		if busy == nil {
			release = s.holdFree(key)
		}
		s.mu.Unlock()
		if busy == nil {
			return release
		}
		<-busy
	}
}

// holdFree is hold for one that nobody holds.
func (s *sessions) holdFree(key string) (release func()) {
	if s.held == nil {
		s.held = map[string]chan struct{}{}
	}
	over := make(chan struct{})
	s.held[key] = over
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, key)
		close(over)
	}
}

func sessionKey(owner, task string) string { return owner + "\x00" + task }

func (s *sessions) get(owner, task string) *openSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.open[sessionKey(owner, task)]
	if known == nil {
		return nil
	}
	known.used = time.Now()
	return known
}

func (s *sessions) put(owner, task string, session *maker.Session, end context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*openSession{}
	}
	if before := s.open[sessionKey(owner, task)]; before != nil {
		before.end(nil) // it is over
	}
	if s.dirs == nil || len(s.dirs) >= mostDirs {
		s.dirs = map[string]string{}
	}
	s.dirs[sessionKey(owner, task)] = session.Run().Dir()
	s.open[sessionKey(owner, task)] = &openSession{Session: session, end: end, used: time.Now(), with: map[string]*maker.Session{}}
}

// spare takes the session out that was not asked for the longest time, and holds it, if more than
// most are open and nobody waits for an answer of it. The keys of those that are meant have a
// prefix.
func (s *sessions) spare(most int, prefix string) (found *openSession, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) <= most {
		return nil, nil
	}
	oldest := ""
	for key, one := range s.open {
		if one.Idle() && s.held[key] == nil && strings.HasPrefix(key, prefix) && (oldest == "" || one.used.Before(s.open[oldest].used)) {
			oldest = key
		}
	}
	if oldest == "" {
		return nil, nil
	}
	found = s.open[oldest]
	delete(s.open, oldest)
	return found, s.holdFree(oldest)
}

// mostSessions is how many sessions are kept open: each has files and a budget.
const mostSessions = 64

// rest pauses sessions that nobody uses if many are open.
func (s *Server) rest() {
	for s.pauseSpare(cmp.Or(s.o.Sessions, mostSessions), "") {
	}
}

// pauseSpare pauses a session that can be spared, and reports whether there is one.
func (s *Server) pauseSpare(most int, prefix string) bool {
	one, release := s.sessions.spare(most, prefix)
	if one == nil {
		return false
	}
	defer release()
	one.end(maker.PausedBy(Keeper))
	<-one.Run().Done()
	_ = s.settled(s.ctx, one.Run()) // so that whoever asks in it next finds it paused
	return true
}

// settled returns once it is settled what a run has spent that has ended.
func (s *Server) settled(ctx context.Context, run *maker.Run) error {
	for s.running(run.ID()) != nil {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return maker.ErrGone
		}
	}
	return nil
}

// session is the one of whoever asks. It is begun by its first request, and after a restart it
// is the one that was there before.
func (s *Server) session(ctx context.Context, name string, m gateway.Model) (*maker.Session, error) {
	c := s.o.Caller(ctx)
	if !c.MayWrite() {
		return nil, &gateway.Refusal{Class: served.Forbidden, Message: "this token may only look: one with the scope write may ask"}
	}
	given := map[string]any{"model": m.Name}
	settings := map[string][]string{"model": {m.Name}}
	for setting, list := range m.Settings {
		settings[setting] = list
		for _, text := range list {
			given[setting] = text
		}
	}
	if err := s.mayAll(c, given); err != nil {
		return nil, asRefusal(err)
	}
	as, err := s.sessionFor(ctx, c.Owner(), name, &m, settings)
	if err != nil {
		return nil, asRefusal(err)
	}
	return as, nil
}

// sessionFor is the session of an owner's requests to a model.
func (s *Server) sessionFor(ctx context.Context, owner, name string, m *gateway.Model, settings map[string][]string) (*maker.Session, error) {
	spec := m.Spec()
	alone := ""
	if m.Alone() {
		alone = spec
	}
	task := taskOf(owner, name, alone)
	defer s.sessions.hold(owner, task)()
	session, err := s.findSession(ctx, owner, task, settings)
	if err != nil {
		return nil, err
	}
	if as := session.with[spec]; as != nil {
		return as, nil
	}
	opts, err := s.sessionOptions(settings)
	if err != nil {
		return nil, err
	}
	engine, err := s.o.Engine.With(opts)
	if err != nil {
		return nil, err
	}
	as, err := session.With(engine)
	if err != nil {
		return nil, problemOf(err)
	}
	if len(session.with) >= mostModels {
		clear(session.with)
	}
	session.with[spec] = as
	return as, nil
}

// taskOf is what a session is called, by which it is found again: with its own name, and the
// model that has it alone, if there are these. No two sessions of an owner are called the same.
func taskOf(owner, name, alone string) string {
	task := "requests of " + cmp.Or(owner, "a person")
	if strings.Contains(name, ": ") { // which would look like a model
		name = strconv.Quote(name)
	}
	if name != "" {
		task += ", " + name
	}
	if alone != "" {
		task += ": " + alone
	}
	return task
}

// mostModels is of how many models with their settings it is remembered how they are asked:
// clients may name any.
const mostModels = 256

// findSession finds the session of a task, or begins it.
func (s *Server) findSession(ctx context.Context, owner, task string, settings map[string][]string) (*openSession, error) {
	known := s.sessions.get(owner, task)
	if known != nil {
		more, err := s.lendMore(ctx, known.Session, settings)
		if err != nil {
			return nil, err
		}
		if more {
			return s.sessions.get(owner, task), nil
		}
		over, err := s.isOver(ctx, known)
		if err != nil || !over {
			return known, err
		}
	}
	if err := s.openSession(ctx, owner, task, settings); err != nil {
		if known != nil && isA[*gateway.Refusal](err) {
			known.ended, known.refused = logOf(known.Run()), err
		}
		return nil, err
	}
	s.rest()
	return s.sessions.get(owner, task), nil
}

// logOf tells whether a log has changed.
func logOf(run *maker.Run) stamp { return stampOf(filepath.Join(run.Dir(), "events.jsonl")) }

// isOver reports whether a session takes no more requests and has to be opened again, or another
// one takes its place. A budget that is used up is not gone round by that, and a session that
// somebody paused refuses requests, until something happens to it.
func (s *Server) isOver(ctx context.Context, known *openSession) (bool, error) {
	run := known.Run()
	select {
	case <-run.Done():
	default:
		return false, nil
	}
	if err := s.settled(ctx, run); err != nil {
		return false, err
	}
	now := logOf(run)
	if known.ended == (stamp{}) {
		if r, err := run.Result(); err == nil && (r.Stop == "max_usd" || r.Stop == "max_tokens" || r.Stop == "max_calls") {
			known.ended = now
		}
	}
	if known.ended == (stamp{}) || known.ended != now {
		return true, nil
	}
	return false, known.refused
}

// lent is the share of what is left of a token's budget that a session of it may spend before
// it asks for more, and leastLent what it may spend at least: several sessions of one token have
// to share its budget.
const (
	lent      = 0.25
	leastLent = 0.10
)

// lease is what a session of whoever asks may spend of their budget before it asks for more; 0
// if they have none, or the request says itself what may be spent. What sessions were lent that
// nobody uses is given back first if little is left.
func (s *Server) lease(ctx context.Context, settings map[string][]string) float64 {
	left := s.o.Me(ctx).LeftUSD
	for left != nil && *left < leastLent && s.pauseSpare(0, sessionKey(s.o.Caller(ctx).Owner(), "")) {
		left = s.o.Me(ctx).LeftUSD
	}
	if left == nil || settings["max_usd"] != nil {
		return 0
	}
	return min(*left, max(lent**left, leastLent))
}

// lendMore goes on with a session that has spent what it was lent, if there is more.
func (s *Server) lendMore(ctx context.Context, known *maker.Session, settings map[string][]string) (bool, error) {
	run := known.Run()
	select {
	case <-run.Done():
	default:
		return false, nil
	}
	r, err := run.Result()
	if err != nil || r.Stop != "max_usd" || r.TotalCostUSD == nil {
		return false, nil
	}
	if err := s.settled(ctx, run); err != nil {
		return false, err
	}
	more, left := s.lease(ctx, settings), s.o.Me(ctx).LeftUSD
	if more <= 0 {
		return false, nil
	}
	unspent := run.Progress().Limits.USD - *r.TotalCostUSD // which was not enough for one call
	more = min(*left, max(more, 2*unspent))
	_, err = s.resume(ctx, run.Dir(), resumption{Settings: map[string]any{"max_usd": *r.TotalCostUSD + more}})
	return err == nil, err
}

// openSession goes on with the session of this task that a server here was doing, or begins
// one.
func (s *Server) openSession(ctx context.Context, owner, task string, settings map[string][]string) error {
	list, err := s.sessionsOf(owner, task)
	if err != nil {
		return err
	}
	for _, one := range list { // the newest one first
		if one.Kind != maker.KindSession || one.Owner != owner || one.Task != task {
			continue
		}
		kept := one.State == event.StatusStopped
		if one.State == runs.StatusInterrupted || one.State == event.StopPaused {
			if kept, err = s.wasKept(one); err != nil {
				return err
			}
		}
		switch {
		case kept:
			in := resumption{Settings: map[string]any{}}
			if more := s.lease(ctx, settings); one.Stop == "max_usd" && one.CostUSD != nil && more > 0 {
				in.Settings["max_usd"] = *one.CostUSD + more
			}
			_, err := s.resume(ctx, one.Dir, in)
			if isA[*maker.ConfigError](err) { // the model that it was begun with may be gone
				in.Settings["model"] = settings["model"][0]
				_, err = s.resume(ctx, one.Dir, in)
			}
			return err
		case one.State == event.StopPaused:
			return &gateway.Refusal{Class: served.Overload, Message: fmt.Sprintf("somebody has paused the session %s; it goes on once it is resumed, on the page or by POST /api/runs/%[1]s/resume", one.Run)}
		}
		break
	}
	return s.beginSession(ctx, owner, task, settings)
}

// sessionsOf are the runs among which that of a task is, if there is one.
func (s *Server) sessionsOf(owner, task string) ([]runs.Summary, error) {
	s.sessions.mu.Lock()
	dir := s.sessions.dirs[sessionKey(owner, task)]
	s.sessions.mu.Unlock()
	if dir != "" {
		return []runs.Summary{runs.Summarize(dir)}, nil
	}
	return s.list.all()
}

// sessionOptions are those of a session whose requests have given settings. The model that a
// request names is the one that is asked, whatever models other runs here have.
func (s *Server) sessionOptions(given map[string][]string) (*maker.Options, error) {
	opts, err := s.o.Settings(config.Sessions, given)
	if err != nil {
		return nil, err
	}
	if given["model_execution"] == nil {
		opts.Config.ModelExecution = ""
	}
	if given["voters"] == nil {
		opts.Config.Voters = nil
	}
	return opts, nil
}

func (s *Server) beginSession(ctx context.Context, owner, task string, settings map[string][]string) error {
	opts, err := s.sessionOptions(settings)
	if err != nil {
		return err
	}
	if opts.Config.MaxUSD == 0 {
		opts.Config.MaxUSD = s.lease(ctx, settings)
	}
	held, err := s.o.Reserve(ctx, Spending{MaxUSD: opts.Config.MaxUSD})
	if err != nil {
		return &gateway.Refusal{Class: served.NoBudget, Message: err.Error()}
	}
	if held.USD > 0 {
		opts.Config.MaxUSD = held.USD
	}
	s.prepare(opts, owner)
	engine, err := s.o.Engine.With(opts)
	if err != nil {
		held.settle(new(float64))
		return err
	}
	_, err = s.begin(held, runs.Progress{}, func(ctx context.Context) (*maker.Run, error) {
		ctx, end := context.WithCancelCause(ctx)
		session, err := engine.Session(ctx, task)
		if err != nil {
			end(nil)
			return nil, err
		}
		s.sessions.put(owner, task, session, end)
		return session.Run(), nil
	})
	return err
}

// resumeRunOf goes on with a run of an engine. One that answers requests can be asked from then
// on.
func (s *Server) resumeRunOf(ctx context.Context, e *maker.Engine, run *runs.Run, o *maker.ResumeOptions) (*maker.Run, error) {
	if run.Kind() != maker.KindSession {
		return e.Resume(ctx, run.Dir(), o)
	}
	ctx, end := context.WithCancelCause(ctx)
	session, err := e.ResumeSession(ctx, run.Dir(), o)
	if err != nil {
		end(nil)
		return nil, err
	}
	s.sessions.put(run.Owner(), run.Task(), session, end)
	return session.Run(), nil
}

// asRefusal tells a client what was wrong with its request.
func asRefusal(err error) error {
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		return err
	}
	class := served.BadRequest
	switch {
	case p.Status == 403 && p.Field == "settings.max_usd":
		class = served.NoBudget
	case p.Status == 403:
		class = served.Forbidden
	case p.Status == 503:
		class = served.Overload
	}
	return &gateway.Refusal{Class: class, Message: p.Detail, Param: "model"}
}
