package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/maker-mdap/maker/internal/server/feed"
	"github.com/maker-mdap/maker/runs"
)

// follow answers with the events of a run as they come: as server-sent events, or over a
// WebSocket if the request asks for one.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	from, err := position(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.followers, func() {
		if _, written := run.Writer(); written {
			cancel() // by another process
		} else {
			time.AfterFunc(lastWords, cancel)
		}
	})()
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return s.followSocket(ctx, w, r, run, from)
	}
	// A browser comes again when the connection ends, and goes away for good on this answer:
	// there is nothing that it has not got.
	if _, written := run.Writer(); !written {
		if next, err := run.Next(); err == nil && from >= next {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	out := s.stream(ctx, w)
	defer out.close()
	for lines, err := range s.feeds.Follow(ctx, run, from) {
		if err != nil {
			problem, _ := json.Marshal(problemOf(err)) // never fails
			return out.send("problem", "", problem)
		}
		if out.lines(lines) != nil {
			return nil // nobody is there, or nobody reads
		}
	}
	if ctx.Err() == nil {
		end, _ := json.Marshal(map[string]string{"state": runs.Summarize(run.Dir()).State}) // never fails
		_ = out.send("end", "", end)
	}
	return nil
}

// lastWords is how long followers may take for the end of a run when the server is shut down.
const lastWords = 2 * time.Second

// position is the first event that a follower wants.
func position(r *http.Request) (uint64, error) {
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			return 0, problemf(http.StatusBadRequest, "Last-Event-ID", "Last-Event-ID is %q, want the number of an event", last)
		}
		return n + 1, nil
	}
	text := r.URL.Query().Get("from")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, problemf(http.StatusBadRequest, "from", "from is %q, want the number of an event", text)
	}
	return n, nil
}

// stream writes server-sent events. Whoever does not read them in time is dropped; to one who
// has nothing to read it sends a sign of life.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	quiet    time.Duration

	mu   sync.Mutex
	buf  bytes.Buffer
	err  error
	tick *time.Timer
	over bool
}

func (s *Server) stream(ctx context.Context, w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies
	out := &stream{w: w, control: http.NewResponseController(w), patience: s.o.Patience, quiet: s.o.Quiet}
	w.WriteHeader(http.StatusOK)
	out.mu.Lock()
	defer out.mu.Unlock()
	out.buf.WriteString(": begins\n\n")
	out.flush()
	out.tick = time.AfterFunc(out.quiet, out.live)
	return out
}

// live sends a sign of life.
func (o *stream) live() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return
	}
	o.buf.WriteString(": still here\n\n")
	o.flush()
}

// flush writes what there is to write, while the mutex is held.
func (o *stream) flush() {
	if o.err == nil {
		_ = o.control.SetWriteDeadline(time.Now().Add(o.patience)) // a test has none
		if _, o.err = o.w.Write(o.buf.Bytes()); o.err == nil {
			o.err = o.control.Flush()
		}
	}
	o.buf.Reset()
	if o.tick != nil {
		o.tick.Reset(o.quiet)
	}
}

// close ends the signs of life.
func (o *stream) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.tick.Stop()
}

// lines sends events of a log.
func (o *stream) lines(lines []feed.Line) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range lines {
		fmt.Fprintf(&o.buf, "id: %d\ndata: ", l.Seq)
		o.buf.Write(l.Raw)
		o.buf.WriteString("\n\n")
	}
	o.flush()
	return o.err
}

// send sends one event. Data is JSON on one line.
func (o *stream) send(name, id string, data []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if name != "" {
		fmt.Fprintf(&o.buf, "event: %s\n", name)
	}
	if id != "" {
		fmt.Fprintf(&o.buf, "id: %s\n", id)
	}
	o.buf.WriteString("data: ")
	o.buf.Write(data)
	o.buf.WriteString("\n\n")
	o.flush()
	return o.err
}

// followSocket sends events over a WebSocket, each as one message.
func (s *Server) followSocket(ctx context.Context, w http.ResponseWriter, r *http.Request, run *runs.Run, from uint64) error {
	// Whether another site may come is the guard's business, which knows the names of this one;
	// without one the library's own check holds.
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: s.o.Guard != nil, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil // which it has said
	}
	defer c.CloseNow()
	ctx = c.CloseRead(ctx) // a follower says nothing
	alive, stop := context.WithCancel(ctx)
	var pinging sync.WaitGroup
	pinging.Go(func() { s.ping(alive, c) })
	defer pinging.Wait()
	defer stop()
	for lines, err := range s.feeds.Follow(alive, run, from) {
		if err != nil {
			return c.Close(websocket.StatusInternalError, "the log cannot be read any further")
		}
		for _, l := range lines {
			if s.sendMessage(ctx, c, l.Raw) != nil {
				return nil
			}
		}
	}
	if s.followers.Err() != nil {
		_ = c.Close(websocket.StatusGoingAway, "the server is shutting down")
	} else if ctx.Err() == nil {
		_ = c.Close(websocket.StatusNormalClosure, runs.Summarize(run.Dir()).State)
	}
	return nil
}

func (s *Server) sendMessage(ctx context.Context, c *websocket.Conn, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	return c.Write(ctx, websocket.MessageText, data)
}

// ping sees whether somebody is there.
func (s *Server) ping(ctx context.Context, c *websocket.Conn) {
	tick := time.NewTicker(s.o.Quiet)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			within, cancel := context.WithTimeout(ctx, s.o.Patience)
			err := c.Ping(within)
			cancel()
			if err != nil && ctx.Err() == nil {
				_ = c.CloseNow() // which ends those who write
				return
			}
		}
	}
}

// followList answers with a summary whenever one has changed.
func (s *Server) followList(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.followers, cancel)()
	news := s.changes.join(s.list)
	defer s.changes.leave(news)
	out := s.stream(ctx, w)
	defer out.close()
	caller := s.o.Caller(r.Context())
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-news.there:
		}
		changed, removed := s.changes.take(news)
		for _, one := range changed {
			if !maySee(caller, one) {
				continue
			}
			data, err := json.Marshal(brief(one))
			if err != nil {
				return nil
			}
			if out.send("", "", data) != nil {
				return nil
			}
		}
		for _, one := range removed {
			if !maySee(caller, one) {
				continue
			}
			data, _ := json.Marshal(map[string]string{"run": one.Run}) // never fails
			if out.send("removed", "", data) != nil {
				return nil
			}
		}
	}
}

// lookInterval is how often the list of runs is looked at for those who follow it.
const lookInterval = 500 * time.Millisecond

// changes tells followers of the list of runs what has changed. As long as there are some, one
// goroutine looks for all of them.
type changes struct {
	mu    sync.Mutex
	all   map[*news]bool
	known map[string]runs.Summary // by folder
	stop  context.CancelFunc
	done  chan struct{}
}

// news is what a follower has not been told yet. Of a run that has changed twice it is told
// once.
type news struct {
	there   chan struct{} // has room for one
	changed map[string]runs.Summary
	removed map[string]runs.Summary
}

func (c *changes) join(l *list) *news {
	n := &news{there: make(chan struct{}, 1), changed: map[string]runs.Summary{}, removed: map[string]runs.Summary{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) == 0 {
		c.all, c.known, c.done = map[*news]bool{}, nil, make(chan struct{})
		var ctx context.Context
		ctx, c.stop = context.WithCancel(context.Background())
		go c.look(ctx, l, c.done)
	}
	c.all[n] = true
	return n
}

func (c *changes) leave(n *news) {
	c.mu.Lock()
	delete(c.all, n)
	last := len(c.all) == 0
	stop, done := c.stop, c.done
	c.mu.Unlock()
	if last {
		stop()
		<-done
	}
}

// take returns what a follower has not been told.
func (c *changes) take(n *news) (changed, removed []runs.Summary) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range n.changed {
		changed = append(changed, one)
	}
	for _, one := range n.removed {
		removed = append(removed, one)
	}
	slices.SortFunc(changed, func(a, b runs.Summary) int { return a.Updated.Compare(b.Updated) })
	clear(n.changed)
	clear(n.removed)
	return changed, removed
}

// look compares the list with what it was.
func (c *changes) look(ctx context.Context, l *list, done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if all, err := l.all(); err == nil { // a folder that cannot be read now may be later
			c.compare(ctx, all)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (c *changes) compare(ctx context.Context, all []runs.Summary) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return // another one looks now
	}
	now := make(map[string]runs.Summary, len(all))
	var changed, removed []runs.Summary
	for _, one := range all {
		now[one.Dir] = one
		if was, ok := c.known[one.Dir]; c.known != nil && (!ok || !same(was, one)) {
			changed = append(changed, one)
		}
	}
	for dir, was := range c.known {
		if _, ok := now[dir]; !ok {
			removed = append(removed, was)
		}
	}
	c.known = now
	if len(changed)+len(removed) == 0 {
		return
	}
	for n := range c.all {
		for _, one := range changed {
			n.changed[one.Dir] = one
		}
		for _, one := range removed {
			delete(n.changed, one.Dir)
			n.removed[one.Dir] = one
		}
		select {
		case n.there <- struct{}{}:
		default:
		}
	}
}

// same reports whether two summaries say the same.
func same(a, b runs.Summary) bool {
	if a.CostUSD != nil && b.CostUSD != nil && *a.CostUSD == *b.CostUSD {
		a.CostUSD = b.CostUSD
	}
	return a == b
}
