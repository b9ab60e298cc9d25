package access

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/maker-mdap/maker/internal/httpclient"
)

// What one client may take of a server. Bodies are bounded by those who read them.
const (
	maxHeader   = 64 << 10         // bytes of a request before its body
	headerTime  = 10 * time.Second // to send them
	bodyTime    = time.Minute      // to send them and the body
	answerTime  = 5 * time.Minute  // to take the answer; streams begin anew with each piece
	idleTime    = 2 * time.Minute  // between requests
	mostClients = 4096             // connections, fewer if the process can have only few files
)

// NewServer is a server that slow and greedy clients do not exhaust.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       bodyTime,
		IdleTimeout:       idleTime,
		ErrorLog:          log.New(io.Discard, "", 0), // clients would write it
	}
}

// Serve serves on a listener, with TLS if there is a configuration of it, until the server is
// shut down.
func Serve(s *http.Server, l net.Listener, config *tls.Config) error {
	return serve(s, l, config, clientsFor(httpclient.Descriptors()))
}

func serve(s *http.Server, l net.Listener, config *tls.Config, most int) error {
	crowd := &crowd{Listener: l, most: most, open: map[net.Conn]time.Time{}}
	s.ConnState = crowd.note
	if config != nil {
		s.TLSConfig = config
		return s.ServeTLS(crowd, "", "")
	}
	return s.Serve(crowd)
}

// clientsFor is how many connections there may be in a process that can have so many
// descriptors: runs need theirs.
func clientsFor(descriptors uint64) int { return int(min(max(descriptors/4, 16), mostClients)) }

// limitAnswer bounds how long an answer takes to be taken. A stream sets its own limits.
func limitAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime)) // what is no connection, as in a test, has none
}

// A crowd is a listener with a bound on its connections. If there is no room, the connection
// that has gone without a whole request for longest makes some; if all have one, the new one
// is refused.
type crowd struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[net.Conn]time.Time // since when it has waited for a request; zero while it has one
}

func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		m := &member{Conn: conn, of: c}
		if c.admit(m) {
			return m, nil
		}
		_ = conn.Close() // nothing was said yet
	}
}

func (c *crowd) admit(m *member) bool {
	c.mu.Lock()
	var longest net.Conn
	if len(c.open) >= c.most {
		for other, since := range c.open {
			if !since.IsZero() && (longest == nil || since.Before(c.open[longest])) {
				longest = other
			}
		}
		if longest == nil {
			c.mu.Unlock()
			return false
		}
		delete(c.open, longest)
	}
	c.open[m] = time.Now()
	c.mu.Unlock()
	if longest != nil {
		_ = longest.Close() // whoever it was has nothing to lose
	}
	return true
}

// note follows the states of connections.
func (c *crowd) note(conn net.Conn, state http.ConnState) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.open[conn]; !ok {
		return
	}
	switch state {
	case http.StateActive, http.StateHijacked:
		c.open[conn] = time.Time{}
	case http.StateIdle:
		c.open[conn] = time.Now()
	}
}

// A member leaves the crowd when it is closed.
type member struct {
	net.Conn
	of *crowd
}

func (m *member) Close() error {
	m.of.mu.Lock()
	delete(m.of.open, m)
	m.of.mu.Unlock()
	return m.Conn.Close()
}

// How attempts with wrong secrets are slowed down. Right ones never wait, so that nobody can
// shut others out by failing.
const (
	freeAttempts  = 3
	firstWait     = 100 * time.Millisecond
	longestWait   = 3 * time.Second
	forgetAfter   = 10 * time.Minute
	mostWaiting   = 64
	mostAddresses = 4096
)

// attempts are the failed ones, by address.
type attempts struct {
	sleep func(ctx context.Context, d time.Duration)

	mu      sync.Mutex
	by      map[netip.Prefix]*failures
	waiting int
}

type failures struct {
	n    int
	last time.Time
}

func newAttempts() *attempts {
	return &attempts{by: map[netip.Prefix]*failures{}, sleep: func(ctx context.Context, d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}}
}

// wait counts a failure, and waits the longer the more of them an address has had. It reports
// false if too many wait already.
func (a *attempts) wait(ctx context.Context, address string, now time.Time) (n int, waited bool) {
	a.mu.Lock()
	n = a.count(networkOf(address), now)
	if n <= freeAttempts {
		a.mu.Unlock()
		return n, true
	}
	if a.waiting >= mostWaiting {
		a.mu.Unlock()
		return n, false
	}
	a.waiting++
	a.mu.Unlock()
	a.sleep(ctx, min(firstWait<<min(n-freeAttempts-1, 10), longestWait))
	a.mu.Lock()
	a.waiting--
	a.mu.Unlock()
	return n, true
}

func (a *attempts) count(from netip.Prefix, now time.Time) int {
	f := a.by[from]
	if f == nil {
		if len(a.by) >= mostAddresses {
			for p, other := range a.by {
				if now.Sub(other.last) >= forgetAfter {
					delete(a.by, p)
				}
			}
		}
		if len(a.by) >= mostAddresses { // so many at once are one attacker
			clear(a.by)
		}
		f = &failures{}
		a.by[from] = f
	}
	if now.Sub(f.last) >= forgetAfter {
		f.n = 0
	}
	f.n++
	f.last = now
	return f.n
}

// networkOf is what one client has: an address of IPv4, or a network of IPv6.
func networkOf(address string) netip.Prefix {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{}
	}
	ip := at.Addr().Unmap()
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	p, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
