package simserver

import (
	"net"
	"net/http"
	"sync/atomic"

	"github.com/maker-mdap/maker/model/sim"
)

type stats struct {
	requests, answers, rejected, cancelled, inFlight, connections atomic.Int64

	f429, f529, f500, hang, cut, garbage atomic.Int64
}

// Stats is what GET /stats returns, as JSON.
type Stats struct {
	Requests  int64               `json:"requests"`  // questions asked
	Answers   int64               `json:"answers"`   // answers given; several if a request asks for several choices
	Faults    map[sim.Fault]int64 `json:"faults"`    // by kind, as the settings call them
	Rejected  int64               `json:"rejected"`  // wrong requests
	Cancelled int64               `json:"cancelled"` // given up by the client while they waited
	InFlight  int64               `json:"in_flight"`

	// Connections is null unless [Server.ConnState] is hooked up.
	Connections *int64 `json:"connections"`
}

// Stats returns the counters.
func (s *Server) Stats() Stats { return s.stats.snapshot() }

// ConnState counts connections if it is set as [http.Server.ConnState].
func (s *Server) ConnState(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.stats.connections.Add(1)
	}
}

func (s *stats) fault(f sim.Fault) {
	if c := s.counter(f); c != nil {
		c.Add(1)
	}
}

func (s *stats) counter(f sim.Fault) *atomic.Int64 {
	switch f {
	case sim.F429:
		return &s.f429
	case sim.F529:
		return &s.f529
	case sim.F500:
		return &s.f500
	case sim.Hang:
		return &s.hang
	case sim.Cut:
		return &s.cut
	case sim.Garbage:
		return &s.garbage
	}
	return nil
}

func (s *stats) snapshot() Stats {
	out := Stats{
		Requests:  s.requests.Load(),
		Answers:   s.answers.Load(),
		Faults:    map[sim.Fault]int64{},
		Rejected:  s.rejected.Load(),
		Cancelled: s.cancelled.Load(),
		InFlight:  s.inFlight.Load(),
	}
	for _, f := range []sim.Fault{sim.F429, sim.F529, sim.F500, sim.Hang, sim.Cut, sim.Garbage} {
		out.Faults[f] = s.counter(f).Load()
	}
	if n := s.connections.Load(); n > 0 {
		out.Connections = &n
	}
	return out
}
