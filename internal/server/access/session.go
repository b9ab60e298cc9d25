package access

import (
	"sync"
	"time"
)

// How long a session lasts. They are kept in memory alone: whoever restarts the server prints
// a new link, and nothing on disk is worth stealing.
const (
	sessionIdle = 7 * 24 * time.Hour
	sessionLife = 30 * 24 * time.Hour
	mostSession = 1000
)

// sessions are the people who are logged in, by the hash of what their cookies say.
type sessions struct {
	mu   sync.Mutex
	open map[[32]byte]session
}

type session struct{ began, used time.Time }

func (s session) over(now time.Time) bool {
	return now.Sub(s.used) >= sessionIdle || now.Sub(s.began) >= sessionLife
}

// begin returns the secret of a new session. If there are too many, the one that was unused for
// longest ends.
func (s *sessions) begin(now time.Time) string {
	secret := newSecret()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[[32]byte]session{}
	}
	var oldest [32]byte
	first := now
	for hash, one := range s.open {
		if one.over(now) {
			delete(s.open, hash)
		} else if !one.used.After(first) {
			oldest, first = hash, one.used
		}
	}
	if len(s.open) >= mostSession {
		delete(s.open, oldest)
	}
	s.open[hashOf(secret)] = session{now, now}
	return secret
}

// use reports whether a session goes on.
func (s *sessions) use(secret string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := hashOf(secret)
	one, ok := s.open[hash]
	if !ok || one.over(now) {
		delete(s.open, hash)
		return false
	}
	one.used = now
	s.open[hash] = one
	return true
}

func (s *sessions) end(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, hashOf(secret))
}
