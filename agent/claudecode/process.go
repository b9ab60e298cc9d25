package claudecode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/internal/process/tail"
	"github.com/maker-mdap/maker/model"
)

// A process is the running program. Its goroutines end with kill, which has to be
// called.
type process struct {
	lines <-chan []byte // what it prints; closed at the end

	cmd    *exec.Cmd
	in     *queue
	stdin  io.WriteCloser
	stdout *os.File
	stderr *os.File
	errors *tail.Buffer // the end of the error output

	unread error         // why reading ended, if not with the output
	stop   chan struct{} // closed by kill
	exited chan struct{} // closed when the process has been waited for
	silent chan struct{} // closed when the error output has been read
	group  sync.WaitGroup
}

const (
	// maxLine bounds a line of the output. The longest that is known has a whole
	// message in it.
	maxLine = 16 << 20

	// farewell is how long there may be output after the process has ended, or a
	// process after its output has.
	farewell = 2 * time.Second
)

func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, in: newQueue(), errors: tail.New(lastWords), stop: make(chan struct{}), exited: make(chan struct{}), silent: make(chan struct{})}
	cmd.SysProcAttr = ownGroup()
	// Pipes of our own: with those of the package, waiting for the process would
	// be waiting for whoever inherited them.
	var err error
	var theirs [2]*os.File
	for i, ours := range []**os.File{&p.stdout, &p.stderr} {
		if *ours, theirs[i], err = os.Pipe(); err != nil {
			break
		}
	}
	if err == nil {
		p.stdin, err = cmd.StdinPipe()
	}
	if err == nil {
		cmd.Stdout, cmd.Stderr = theirs[0], theirs[1]
		err = cmd.Start()
	}
	closeAll(theirs[0], theirs[1])
	if err != nil {
		closeAll(p.stdout, p.stderr)
		return nil, err
	}
	lines := make(chan []byte)
	p.lines = lines
	p.group.Go(func() { p.read(lines) })
	p.group.Go(p.listen)
	p.group.Go(p.wait)
	p.group.Go(func() { p.in.drain(p.stdin) })
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // an error on nil, too, and none that matters
	}
}

// read passes the lines on until the output or the process ends.
func (p *process) read(lines chan<- []byte) {
	defer close(lines)
	r := bufio.NewReaderSize(p.stdout, 64<<10)
	for {
		line, err := readLine(r, maxLine)
		if len(bytes.TrimSpace(line)) > 0 {
			select {
			case lines <- line:
			case <-p.stop:
				return
			}
		}
		if err != nil {
			if err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) {
				p.unread = err
			}
			return
		}
	}
}

// listen keeps the last words of the error output.
func (p *process) listen() {
	defer close(p.silent)
	_, _ = io.Copy(p.errors, p.stderr)
}

// wait sees the process off, and what it started with it.
func (p *process) wait() {
	_ = p.cmd.Wait() // ProcessState has the outcome
	killGroup(p.cmd)
	end := time.Now().Add(farewell)
	_ = p.stdout.SetReadDeadline(end)
	_ = p.stderr.SetReadDeadline(end)
	close(p.exited)
}

var errLongLine = errors.New("a line is longer than 16 MB")

// readLine returns the next line, of at most so many bytes.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errLongLine
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
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
	killGroup(p.cmd)
	p.in.close()
	_ = p.stdin.Close()
	closeAll(p.stdout, p.stderr) // somebody who got away may hold the other ends
	p.group.Wait()
}

// died is the error of a process whose output ended without a result.
func (p *process) died() *model.Error {
	if p.unread != nil {
		return broken("%v", p.unread)
	}
	timer := time.NewTimer(2 * farewell)
	defer timer.Stop()
	ended := "it closed its output"
	select {
	case <-p.exited:
		ended = p.cmd.ProcessState.String()
		select {
		case <-p.silent:
		case <-timer.C:
		}
	case <-timer.C:
	}
	words := lastLines(p.errors.String())
	if strings.Contains(words, "error: unknown option") {
		return invalid("the program does not know what it is told (%s); install version 2.1.197 or later", clip(words))
	}
	if words == "" {
		words = "it printed no reason"
	}
	return broken("it ended without a result (%s): %s", ended, clip(words))
}

// lastWords is how much of the error output is kept.
const lastWords = 2000

// lastLines returns as many of the last lines as an error has room for.
func lastLines(text string) string {
	const most = 400
	if len(text) > most {
		text = text[len(text)-most:]
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
	}
	return strings.ToValidUTF8(text, "")
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
