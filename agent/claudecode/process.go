package claudecode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/maker-mdap/maker/internal/process/supervise"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/model"
)

// A process is the running program. Its goroutines end with kill, which has to be
// called.
type process struct {
	*supervise.Process
	lines <-chan []byte // what it prints; closed at the end

	in     *queue
	unread error         // why reading ended, if not with the output
	stop   chan struct{} // closed by kill
	group  sync.WaitGroup
}

func start(o supervise.Orders) (*process, error) {
	running, err := supervise.Start(o)
	if err != nil {
		return nil, err
	}
	lines := make(chan []byte)
	p := &process{Process: running, lines: lines, in: newQueue(), stop: make(chan struct{})}
	p.group.Go(func() { p.read(lines) })
	p.group.Go(func() { p.in.drain(p.Stdin) })
	return p, nil
}

// read passes the lines on until the output or the process ends.
func (p *process) read(lines chan<- []byte) {
	defer close(lines)
	for r := p.Lines(); ; {
		if !r.Scan() {
			if !errors.Is(r.Err(), os.ErrDeadlineExceeded) {
				p.unread = r.Err()
			}
			return
		}
		if len(bytes.TrimSpace(r.Bytes())) == 0 {
			continue
		}
		select {
		case lines <- bytes.Clone(r.Bytes()):
		case <-p.stop:
			return
		}
	}
}

// write gives the process a line to read, in its own time.
func (p *process) write(v any) {
	data, err := json.Marshal(v)
	if err != nil { // all JSON in it was checked before
		panic(err)
	}
	p.in.put(append(data, '\n'))
}

// kill ends the process and all that it started, and waits for it.
func (p *process) kill() {
	close(p.stop)
	p.Stop()
	p.in.close()
	_ = p.Stdout.Close() // somebody who got away may hold the other end
	<-p.Done
	p.group.Wait()
}

// died is the error of a process whose output ended without a result.
func (p *process) died() *model.Error {
	switch {
	case errors.Is(p.unread, bufio.ErrTooLong):
		return broken("a line is longer than %d MB", supervise.MaxLine>>20)
	case p.unread != nil:
		return broken("%v", p.unread)
	}
	how := p.HowItEnded()
	words := p.LastWords()
	if strings.Contains(words, "error: unknown option") {
		return invalid("the program does not know what it is told (%s); install version 2.1.197 or later", clip.Text(words, maxWords))
	}
	if strings.HasPrefix(words, supervise.CannotStart) { // its interpreter is missing, or it is for another machine
		e := invalid("%s; say where the claude program is with --claude-path", clip.Text(words, maxWords))
		e.NotSent = true
		return e
	}
	if words == "" {
		words = "it printed no reason"
	}
	return broken("there is no result: %s: %s", how, clip.Text(words, maxWords))
}

// A queue holds what the process has not read yet, so that a process that does
// not read blocks nobody.
type queue struct {
	mu     sync.Mutex
	more   *sync.Cond
	lines  [][]byte
	closed bool
}

func newQueue() *queue {
	q := new(queue)
	q.more = sync.NewCond(&q.mu)
	return q
}

// put adds a line, which is lost if the queue is closed.
func (q *queue) put(line []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.lines = append(q.lines, line)
		q.more.Signal()
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.lines = true, nil
	q.more.Signal()
}

// drain writes the lines until the queue is closed or the reader is gone.
func (q *queue) drain(w io.Writer) {
	for {
		q.mu.Lock()
		for len(q.lines) == 0 && !q.closed {
			q.more.Wait()
		}
		if q.closed {
			q.mu.Unlock()
			return
		}
		line := q.lines[0]
		q.lines = q.lines[1:]
		q.mu.Unlock()
		if _, err := w.Write(line); err != nil {
			q.close()
			return
		}
	}
}
