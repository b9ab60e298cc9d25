package engine

import (
	"errors"
	"net/http"
	"sync"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/internal/runtime/limiter"
)

// ErrClosed says that an engine was closed and starts no more runs.
var ErrClosed = errors.New("maker: the engine is closed; make another one with New")

// shared is what the runs of an engine have in common: connections, and what is known
// about how much a server bears. Budgets, and whatever else says what a run did, are
// its own.
type shared struct {
	transport http.RoundTripper
	own       *http.Transport // the same, unless the user brought it

	mu       sync.Mutex
	limiters map[string]*limiter.Limiter // by server; see route.Voter
	closed   bool
}

func newShared(transport http.RoundTripper) *shared {
	s := &shared{transport: transport, limiters: map[string]*limiter.Limiter{}}
	if transport == nil {
		s.own = httpclient.NewTransport()
		s.transport = s.own
	}
	return s
}

// limiter is the one of a server.
func (s *shared) limiter(server string) *limiter.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.limiters[server]
	if !ok {
		l = limiter.New(limiter.Options{})
		s.limiters[server] = l
	}
	return l
}

// check reports whether runs may still be started.
func (s *shared) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return nil
}

// runEnded lets go of the connections of a run that outlived its engine.
func (s *shared) runEnded() {
	if s.check() != nil {
		s.closeIdle()
	}
}

func (s *shared) closeIdle() {
	if s.own != nil {
		s.own.CloseIdleConnections()
	}
}

// Close ends the connections that the engine keeps open between calls.
func (e *Engine) Close() error {
	e.shared.mu.Lock()
	e.shared.closed = true
	e.shared.mu.Unlock()
	e.shared.closeIdle()
	return nil
}
