package access

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A pipes is a listener without a network, for clients whose time a test sets.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7433} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// TestSlowClients: who sends or takes too slowly is cut off, at every stage.
func TestSlowClients(t *testing.T) {
	tests := map[string]struct {
		send string
		slow string // sent a byte a second after that
		take bool   // reads what comes
		want time.Duration
	}{
		"says nothing":    {take: true, want: headerTime},
		"headers":         {send: "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", slow: strings.Repeat("x", 4000), take: true, want: headerTime},
		"body":            {send: "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 4000\r\n\r\n", slow: strings.Repeat("x", 4000), take: true, want: bodyTime},
		"takes no answer": {send: "GET /long HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", want: answerTime},
		"says no more":    {send: "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", take: true, want: idleTime},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			secret := mustNew(t, store, Token{Name: "ci", Scope: Read})
			synctest.Test(t, func(t *testing.T) {
				guard, err := New(Options{Tokens: store, Address: "127.0.0.1:7433"})
				if err != nil {
					t.Fatal(err)
				}
				l := newPipes()
				s := NewServer(guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if r.URL.Path == "/long" {
						_, _ = io.Copy(w, io.LimitReader(zeros{}, 1<<20))
					}
				})))
				served := make(chan error, 1)
				go func() { served <- serve(s, l, nil, 10) }()
				client, start := l.dial(), time.Now()
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					if test.take {
						_, _ = io.Copy(io.Discard, client)
					}
				}()
				if strings.Contains(test.send, "%s") {
					test.send = fmt.Sprintf(test.send, secret)
				}
				_, err = io.WriteString(client, test.send)
				for i := 0; err == nil && i < len(test.slow); i++ {
					time.Sleep(time.Second)
					_, err = io.WriteString(client, test.slow[i:i+1])
				}
				if !test.take {
					time.Sleep(answerTime + time.Second)
					_, err = client.Write([]byte("x"))
					if !errors.Is(err, io.ErrClosedPipe) {
						t.Errorf("after %v the connection is still there: %v", time.Since(start), err)
					}
				} else {
					<-gone
					// Half a second more is how long net/http waits for a client to close.
					if took := time.Since(start); took < test.want || took > test.want+2*time.Second {
						t.Errorf("the client was cut off after %v, want %v", took, test.want)
					}
				}
				if err := s.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Errorf("serve() = %v", err)
				}
			})
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestStreamsGoOn: what bounds a body and an answer does not end a request that takes long for
// another reason.
func TestStreamsGoOn(t *testing.T) {
	store := newStore(t)
	secret := mustNew(t, store, Token{Name: "ci", Scope: Read})
	synctest.Test(t, func(t *testing.T) {
		guard, err := New(Options{Tokens: store, Address: "127.0.0.1:7433"})
		if err != nil {
			t.Fatal(err)
		}
		l := newPipes()
		s := NewServer(guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || string(body) != "hello" {
				t.Errorf("the body is %q, %v", body, err)
			}
			for range 100 {
				time.Sleep(time.Minute)
				if err := r.Context().Err(); err != nil {
					t.Errorf("the request has ended: %v", err)
					return
				}
				rc := http.NewResponseController(w)
				_ = rc.SetWriteDeadline(time.Now().Add(time.Minute))
				_, _ = io.WriteString(w, "data\n")
				_ = rc.Flush()
			}
		})))
		served := make(chan error, 1)
		go func() { served <- serve(s, l, nil, 10) }()
		client := l.dial()
		if _, err := fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 5\r\n\r\nhello", secret); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil || len(got) != 500 {
			t.Errorf("the stream has %d bytes, %v, want 500", len(got), err)
		}
		client.Close()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
	})
}

// TestThousandsOfConnections: connections that ask nothing, or only begin to, take no place from
// those that do, and there are never more than the bound.
func TestThousandsOfConnections(t *testing.T) {
	const most, many = 50, 2000
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	store := newStore(t)
	secret := mustNew(t, store, Token{Name: "ci", Scope: Read})
	guard, err := New(Options{Tokens: store, Address: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(guard.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	served := make(chan error, 1)
	go func() { served <- serve(s, l, nil, most) }()
	ask := func() error {
		req, err := http.NewRequest("GET", "http://"+l.Addr().String()+"/api/me", nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return err
		}
		if res.StatusCode != 200 {
			err = errors.New(res.Status)
		}
		return errors.Join(err, res.Body.Close())
	}
	before := runtime.NumGoroutine()
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := range many {
		c, err := net.Dial("tcp", l.Addr().String())
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		if err != nil {
			t.Skipf("this machine has no room for %d connections: %v", i, err)
		}
		open = append(open, c)
		if i%2 == 0 {
			_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: loc") // it may be closed already
		}
		if i%100 == 99 {
			if err := ask(); err != nil {
				t.Errorf("with %d connections: %v", i+1, err)
			}
		}
	}
	if now := runtime.NumGoroutine(); now > before+3*most {
		t.Errorf("%d connections take %d goroutines, want at most %d", many, now-before, 3*most)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-served
}

// TestFullOfRequests: if all connections have requests under way, a new one is refused, and they
// go on.
func TestFullOfRequests(t *testing.T) {
	l := newPipes()
	release := make(chan struct{})
	s := NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun\n")
		_ = http.NewResponseController(w).Flush()
		<-release
		_, _ = io.WriteString(w, "done\n")
	}))
	served := make(chan error, 1)
	go func() { served <- serve(s, l, nil, 2) }()
	var busy []*bufio.Reader
	for range 2 {
		c := l.dial()
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.0\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		for line := ""; line != "begun\n"; {
			var err error
			if line, err = r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		busy = append(busy, r)
	}
	if _, err := l.dial().Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a third connection: %v, want its end", err)
	}
	close(release)
	for _, r := range busy {
		if rest, err := io.ReadAll(r); err != nil || string(rest) != "done\n" {
			t.Errorf("a request under way ends with %q, %v, want done", rest, err)
		}
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	<-served
}

// TestIdleMakeRoom: connections that wait for their next request make room for others.
func TestIdleMakeRoom(t *testing.T) {
	l := newPipes()
	s := NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	served := make(chan error, 1)
	go func() { served <- serve(s, l, nil, 2) }()
	for i := range 10 {
		c := l.dial()
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		if res, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || res.StatusCode != 200 {
			t.Fatalf("connection %d: %v, %v, want an answer", i, res, err)
		}
		// A first byte may be taken before the request has quite ended; the second is read once
		// the connection is idle.
		if _, err := io.WriteString(c, "GE"); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-served
}

func TestClientsFor(t *testing.T) {
	for descriptors, want := range map[uint64]int{0: 16, 64: 16, 1024: 256, 1 << 20: 4096, 1<<64 - 1: 4096} {
		if got := clientsFor(descriptors); got != want {
			t.Errorf("clientsFor(%d) = %d, want %d", descriptors, got, want)
		}
	}
}

// TestWrongSecretsWait: the more an address has failed the longer it waits, and right ones never
// wait.
func TestWrongSecretsWait(t *testing.T) {
	h := newHouse(t, false, nil)
	secret := mustNew(t, h.store, Token{Name: "ci", Scope: Read})
	var waits []time.Duration
	h.guard.attempts.sleep = func(_ context.Context, d time.Duration) { waits = append(waits, d) }
	for range freeAttempts + 8 {
		h.want(t, 401, "GET", "/api/me", "Authorization: Bearer wrong")
		h.want(t, 200, "GET", "/api/me", "Authorization: Bearer "+secret)
		h.want(t, 401, "GET", "/api/me")
	}
	if len(waits) != 8 || waits[0] != firstWait || waits[1] != 2*firstWait || waits[7] != longestWait {
		t.Errorf("wrong secrets waited %v, want 8 waits from %v to %v", waits, firstWait, longestWait)
	}
	h.now = h.now.Add(forgetAfter)
	waits = nil
	h.want(t, 401, "GET", "/api/me", "Authorization: Bearer wrong")
	if len(waits) != 0 {
		t.Errorf("after %v a wrong secret waited %v", forgetAfter, waits)
	}
}

// TestManyWrongSecrets: they do not pile up, neither waiting nor in memory.
func TestManyWrongSecrets(t *testing.T) {
	a := newAttempts()
	hold := make(chan struct{})
	a.sleep = func(context.Context, time.Duration) { <-hold }
	now := time.Now()
	for range freeAttempts {
		a.wait(t.Context(), "10.0.0.1:5", now)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range mostWaiting + 20 {
		wg.Go(func() {
			if _, ok := a.wait(t.Context(), "10.0.0.1:6", now); !ok {
				mu.Lock()
				defer mu.Unlock()
				if refused++; refused == 20 {
					close(hold)
				}
			}
		})
	}
	wg.Wait()
	if refused != 20 {
		t.Errorf("%d were refused at once, want 20", refused)
	}
	for i := range 3 * mostAddresses {
		a.wait(t.Context(), fmt.Sprintf("10.%d.%d.%d:5", i>>16, i>>8&255, i&255), now)
	}
	if len(a.by) > mostAddresses {
		t.Errorf("%d addresses are remembered, want at most %d", len(a.by), mostAddresses)
	}
	for address, want := range map[string]string{
		"10.1.2.3:4": "10.1.2.3/32", "[::ffff:10.1.2.3]:4": "10.1.2.3/32", "[2001:db8:1:2:3::4%eth0]:5": "2001:db8:1:2::/64", "@": "invalid Prefix",
	} {
		if got := networkOf(address).String(); got != want {
			t.Errorf("networkOf(%q) = %s, want %s", address, got, want)
		}
	}
}
