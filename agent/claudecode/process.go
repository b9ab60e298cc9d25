package claudecode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
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

	in     chan []byte   // what it is to read
	failed error         // why reading ended, if not with the output
	stop   chan struct{} // closed by kill
	group  sync.WaitGroup
}

func start(o supervise.Orders) (*process, error) {
	running, err := supervise.Start(o)
	if err != nil {
		return nil, err
	}
	lines := make(chan []byte)
	p := &process{Process: running, lines: lines, in: make(chan []byte, unread), stop: make(chan struct{})}
	p.group.Go(func() { p.read(lines) })
	p.group.Go(p.feed)
	return p, nil
}

// unread is how many lines wait for a process that does not read: more than it can ask
// for, so that it blocks nobody.
const unread = 4096

// feed passes on what the process is to read, until it is gone or reads no more.
func (p *process) feed() {
	for {
		select {
		case line := <-p.in:
			if _, err := p.Stdin.Write(line); err != nil {
				return
			}
		case <-p.stop:
			return
		}
	}
}

// read passes the lines on until the output or the process ends.
func (p *process) read(lines chan<- []byte) {
	defer close(lines)
	for r := p.Lines(); ; {
		if !r.Scan() {
			if !errors.Is(r.Err(), os.ErrDeadlineExceeded) {
				p.failed = r.Err()
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
	select {
	case p.in <- append(data, '\n'):
	case <-p.stop:
	}
}

// kill ends the process and all that it started, and waits for it.
func (p *process) kill() {
	close(p.stop)
	p.Stop()
	_ = p.Stdout.Close() // somebody who got away may hold the other end
	<-p.Done
	p.group.Wait()
}

// died is the error of a process whose output ended without a result.
func (p *process) died() *model.Error {
	switch {
	case errors.Is(p.failed, bufio.ErrTooLong):
		return broken("a line is longer than %d MB", supervise.MaxLine>>20)
	case p.failed != nil:
		return broken("%v", p.failed)
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
