package sympy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/domain/math/notation"
	"github.com/maker-mdap/maker/internal/process/sandbox"
)

// A question is one line to the process.
type question struct {
	ID int64          `json:"id"`
	A  *notation.Expr `json:"a"`
	B  *notation.Expr `json:"b"`
}

// An answer is one line from it.
type answer struct {
	ID      int64  `json:"id"`
	Equal   *bool  `json:"equal"` // nil if it is not known
	Error   string `json:"error"`
	Version string `json:"version"`
}

// A process is SymPy, running. One goroutine at a time uses it; another, which is
// its own, waits for its end.
type process struct {
	path   string
	pipe   *os.File
	cancel context.CancelFunc
	lines  *lines
	ended  chan struct{}
	err    error // why it ended; to be read after that
}

// launch starts the process. Its questions come through a named pipe, for a
// command in the sandbox has no input.
func launch(s *sandbox.Sandbox, program []string, path string, timeout time.Duration) (*process, error) {
	pipe, err := openPipe(path)
	if err != nil {
		return nil, err
	}
	// It lives until stop, not until the end of the call that happens to start it.
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{path: path, pipe: pipe, cancel: cancel, lines: &lines{out: make(chan answer, 1)}, ended: make(chan struct{})}
	// It gives up by itself a little earlier, which saves starting it again.
	seconds := fmt.Sprintf("%.3f", (timeout * 4 / 5).Seconds())
	go func() {
		defer close(p.ended)
		outcome, err := s.Run(ctx, sandbox.Command{Args: slices.Concat(program, []string{path, seconds}), Output: p.lines})
		if err == nil {
			err = fmt.Errorf("exit code %d", outcome.ExitCode)
			if outcome.Limit != "" {
				err = fmt.Errorf("the limit of %s ended it", outcome.Limit)
			}
		}
		p.err = err
	}()
	return p, nil
}

// ask sends a question and waits for the answer.
func (p *process) ask(ctx context.Context, timeout time.Duration, q question) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("sympy: no answer within %s", timeout))
	defer cancel()
	line, err := json.Marshal(q)
	if err != nil {
		return answer{}, fmt.Errorf("sympy: %w", err)
	}
	// The pipe is empty and holds more than a question has, nearly always. Where
	// there are no deadlines, that has to do.
	if deadline, ok := ctx.Deadline(); ok {
		_ = p.pipe.SetWriteDeadline(deadline)
	}
	if _, err := p.pipe.Write(append(line, '\n')); err != nil {
		return answer{}, fmt.Errorf("sympy: %w", err)
	}
	return p.answer(ctx, q.ID)
}

// answer waits for the answer to one question.
func (p *process) answer(ctx context.Context, id int64) (answer, error) {
	for {
		select {
		case a := <-p.lines.out:
			if a.ID == id {
				return a, nil
			}
		case <-p.ended:
			said := p.lines.last()
			return answer{}, fmt.Errorf("sympy: the process has ended: %w%s", p.err, said)
		case <-ctx.Done():
			return answer{}, context.Cause(ctx)
		}
	}
}

// stop ends the process and waits for it.
func (p *process) stop() error {
	p.cancel()
	for {
		select {
		case <-p.lines.out: // nobody wants it any more
		case <-p.ended:
			return errors.Join(p.pipe.Close(), os.Remove(p.path))
		}
	}
}

// lines takes the output of the process apart. What is not an answer is kept for
// the case that the process ends.
type lines struct {
	partial []byte
	other   []string
	out     chan answer
}

const (
	maxLine  = 64 << 10
	maxOther = 5 // lines
)

// Write implements io.Writer. It is called by one goroutine, which has ended when
// last is called.
func (l *lines) Write(data []byte) (int, error) {
	n := len(data)
	l.partial = append(l.partial, data...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			break
		}
		var a answer
		if json.Unmarshal(line, &a) == nil {
			l.out <- a
		} else if text := strings.TrimSpace(string(line)); text != "" {
			l.other = append(l.other, text[:min(len(text), 200)])
			l.other = l.other[max(0, len(l.other)-maxOther):]
		}
		l.partial = rest
	}
	if len(l.partial) > maxLine {
		l.partial = nil
	}
	return n, nil
}

// last returns what the process said last, in brackets.
func (l *lines) last() string {
	if len(l.other) == 0 {
		return ""
	}
	return " (" + strings.Join(l.other, "; ") + ")"
}
