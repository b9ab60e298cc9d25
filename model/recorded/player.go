package recorded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/model"
)

// A Player is a model that answers from a file: each request with the answers
// that were recorded for it, errors included, in their order and each one once.
// When none is left, the error is of kind [model.Invalid].
type Player struct {
	path string

	mu    sync.Mutex
	calls map[string]*calls // by hash
}

// calls are what is left of the recorded calls of one request.
type calls struct {
	answers []line
	givenUp int
	known   int // as many as there were
}

// Open reads the file at path. It passes over an unfinished last line, which a
// crash of the recorder leaves; any other line that it cannot read is an error.
func Open(path string) (*Player, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("recorded: %w", err)
	}
	defer f.Close()
	all, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("recorded: %s: %w", path, err)
	}
	return &Player{path: path, calls: all}, nil
}

func read(r io.Reader) (map[string]*calls, error) {
	all := make(map[string]*calls)
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, err
		}
		if strings.TrimSpace(string(text)) != "" {
			l, err := parseLine(text)
			switch {
			case err == nil:
				add(all, l)
			case !last || json.Valid(text):
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if last {
			return all, nil
		}
	}
}

func parseLine(text []byte) (line, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return line{}, err
	}
	if (l.Response == nil) == (l.Error == nil) {
		return line{}, errors.New("want either a response or an error")
	}
	if l.Hash == "" {
		if l.Request == nil {
			return line{}, errors.New("there is neither a hash nor a request")
		}
		l.Hash = Hash(l.Request)
	}
	l.Request = nil // only the hash is needed from here on
	return l, nil
}

func add(all map[string]*calls, l line) {
	c := all[l.Hash]
	if c == nil {
		c = &calls{}
		all[l.Hash] = c
	}
	c.known++
	if l.Error != nil && l.Error.Kind == model.Cancelled {
		c.givenUp++
	} else {
		c.answers = append(c.answers, l)
	}
}

// Generate implements [model.Model].
func (p *Player) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	l, wait, err := p.next(req)
	switch {
	case err != nil:
		return nil, err
	case wait:
		<-ctx.Done()
		return nil, cancelled(ctx)
	case l.Error != nil:
		return nil, l.Error.modelError()
	}
	return l.Response, nil
}

// next takes the next recorded call of a request. It says to wait if that call
// was given up.
func (p *Player) next(req *model.Request) (l line, wait bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.calls[Hash(req)]
	switch {
	case c == nil:
		return l, false, p.missing(req, "no answer")
	case len(c.answers) > 0:
		l, c.answers = c.answers[0], c.answers[1:]
		return l, false, nil
	case c.givenUp > 0:
		c.givenUp--
		return l, true, nil
	}
	return l, false, p.missing(req, fmt.Sprintf("no more than %d answers", c.known))
}

func (p *Player) missing(req *model.Request, what string) error {
	prompt := req.System
	if len(req.Messages) > 0 {
		prompt = req.Messages[0].Text
	}
	return &model.Error{
		Kind:     model.Invalid,
		Provider: "recorded",
		Message:  fmt.Sprintf("%s has %s to the request that starts %q", p.path, what, clip.Text(prompt, 60)),
	}
}

func cancelled(ctx context.Context) error {
	return &model.Error{Kind: model.Cancelled, Provider: "recorded", Err: context.Cause(ctx)}
}
