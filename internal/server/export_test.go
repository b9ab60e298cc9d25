package server

import "time"

// SetBodyTime says how long a body may take, until it is called again with what it returns.
func SetBodyTime(d time.Duration) (before time.Duration) {
	before, bodyTime = bodyTime, d
	return before
}

// OpenSessions is how many sessions are open.
func (s *Server) OpenSessions() int {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	return len(s.sessions.open)
}

// TaskOf is what a session is called.
var TaskOf = taskOf
