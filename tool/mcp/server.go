package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/tool"
)

// A server is a configured server with the connection to it, if there is one.
type server struct {
	name    string
	config  Server
	options Options
	secrets *secret.Set

	background sync.WaitGroup // attempts to connect, and connections that are ending

	mu     sync.Mutex
	closed bool
	conn   *conn
	last   *conn    // the one before, which may still be ending
	dial   *attempt // under way
	health Health
}

// An attempt to connect, which all who wait for a connection share.
type attempt struct {
	done   chan struct{}
	cancel context.CancelFunc
	conn   *conn
	err    error
}

// start makes the first connection and returns the tools that it offers, with
// what is odd about them.
func (s *server) start(ctx context.Context) (tools []tool.Tool, warnings []string, err error) {
	began := time.Now()
	c, err := s.acquire(ctx)
	var list []*sdk.Tool
	if err == nil {
		limit, cancel := context.WithDeadlineCause(ctx, began.Add(s.config.startTimeout()), s.lateStart())
		defer cancel()
		list, err = c.tools(limit)
	}
	took := time.Since(began)
	if err != nil {
		err = s.redact(err)
		s.note(func(h *Health) { h.State, h.Reason, h.Took = Unavailable, err.Error(), took })
		s.retire(c)
		return nil, nil, err
	}
	tools, warnings = s.toolsOf(list)
	s.note(func(h *Health) {
		h.State, h.Took, h.Tools = Ready, took, len(tools)
		if r := c.session.InitializeResult(); r != nil {
			h.Protocol = r.ProtocolVersion
			if r.ServerInfo != nil {
				h.Server, h.Version = r.ServerInfo.Name, r.ServerInfo.Version
			}
		}
	})
	return tools, warnings, nil
}

func (s *server) lateStart() error {
	return &timeoutError{fmt.Sprintf("it is not ready after %s (raise start_timeout if it needs longer)", s.config.startTimeout())}
}

func (s *server) note(f func(*Health)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.health)
}

// report is the server's health now.
func (s *server) report() Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.health
	if h.State == Ready && (s.conn == nil || s.conn.gone()) {
		h.State = Lost
		if h.Reason == "" {
			h.Reason = "the connection is gone; the next call makes a new one"
		}
	}
	return h
}

// acquire returns a connection that works as far as is known. If there is none it
// makes one, and everybody else who wants one waits for that.
func (s *server) acquire(ctx context.Context) (*conn, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	if s.conn != nil && s.conn.gone() {
		s.retireLocked(s.conn)
	}
	if c := s.conn; c != nil {
		s.mu.Unlock()
		return c, nil
	}
	a := s.dial
	if a == nil {
		a = s.startDialLocked()
	}
	s.mu.Unlock()
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// startDialLocked does not depend on the context of the one who happened to ask
// first.
func (s *server) startDialLocked() *attempt {
	ctx, cancel := context.WithTimeoutCause(context.Background(), s.config.startTimeout(), s.lateStart())
	a := &attempt{done: make(chan struct{}), cancel: cancel}
	s.dial = a
	last := s.last
	s.background.Go(func() {
		defer close(a.done)
		defer cancel()
		if last != nil && !last.overHTTP() {
			<-last.closed // two processes at once could be in each other's way
		}
		a.conn, a.err = open(ctx, s.config, s.options)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dial = nil
		switch {
		case a.err != nil:
			s.health.Reason = s.redact(a.err).Error()
		case s.closed:
			s.background.Go(a.conn.close)
			a.conn, a.err = nil, errClosed
		default:
			s.conn = a.conn
			s.health.Reason = ""
		}
	})
	return a
}

// retire puts a connection out of use. The calls that are under way on it may
// still end well.
func (s *server) retire(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retireLocked(c)
}

func (s *server) retireLocked(c *conn) {
	if c == nil || s.conn != c {
		return
	}
	s.conn, s.last = nil, c
	s.background.Go(func() {
		c.drain()
		c.close()
	})
}

// close ends the connection and whatever else is under way, and waits for it.
func (s *server) close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		for _, c := range []*conn{s.conn, s.last} {
			if c != nil {
				s.background.Go(c.close)
			}
		}
		s.conn = nil // nobody else is to end it
		if s.dial != nil {
			s.dial.cancel()
		}
	}
	s.mu.Unlock()
	s.background.Wait()
}

// run makes a call of t, which the server knows as name.
func (s *server) run(ctx context.Context, t tool.Tool, name string, input json.RawMessage) (tool.Result, error) {
	if err := t.Validate(input); err != nil {
		return tool.Failed("%v", err), nil
	}
	repeatable := t.Class.BySample() || t.Idempotent
	mayHaveRun := false
	var lost *failure // of the first attempt
	for {
		c, err := s.acquire(ctx)
		if err != nil {
			f := &failure{err: err, text: "it cannot be reached: " + err.Error()}
			if lost != nil {
				f.text = fmt.Sprintf("%s; and after that %s", lost, f.text)
			}
			return tool.Result{}, s.callError(t, f, mayHaveRun)
		}
		result, f := c.call(ctx, s.config.callTimeout(), name, input)
		if f == nil {
			return result, nil
		}
		if f.late {
			continue
		}
		if f.gone {
			s.retire(c)
		}
		mayHaveRun = mayHaveRun || f.sent
		if !f.gone || !repeatable || lost != nil || ctx.Err() != nil {
			return tool.Result{}, s.callError(t, f, mayHaveRun)
		}
		lost = f
	}
}

// callError is the error of a call without an answer. Of one that would have
// changed something, and that the server may have seen, nobody knows the outcome.
func (s *server) callError(t tool.Tool, f *failure, mayHaveRun bool) error {
	e := &Error{Server: s.name, Tool: t.Name, text: s.secrets.Redact(f.String()), causes: []error{f.err}}
	if mayHaveRun && t.Class == tool.Mutate {
		e.causes = append(e.causes, tool.ErrUnknownOutcome)
	}
	return e
}

// redact keeps the secrets of the configuration out of an error.
func (s *server) redact(err error) error {
	if text := err.Error(); s.secrets.Redact(text) != text {
		return errors.New(s.secrets.Redact(text))
	}
	return err
}

// An Error is a call that got no answer.
type Error struct {
	Server string
	Tool   string

	text   string
	causes []error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("mcp: %s: server %q: %s", e.Tool, e.Server, e.text)
	if errors.Is(e, tool.ErrUnknownOutcome) {
		text += "; " + tool.ErrUnknownOutcome.Error()
	}
	return text
}

// Unwrap returns the causes; [tool.ErrUnknownOutcome] may be among them.
func (e *Error) Unwrap() []error { return e.causes }

// toolsOf turns the server's list into tools, restricted and described by the
// configuration's.
func (s *server) toolsOf(list []*sdk.Tool) (tools []tool.Tool, warnings []string) {
	for _, d := range s.config.Tools {
		if !slices.ContainsFunc(list, func(t *sdk.Tool) bool { return t.Name == d.Name }) {
			warnings = append(warnings, fmt.Sprintf("it does not have the tool %q that the configuration names", d.Name))
		}
	}
	taken := map[string]string{}
	for _, t := range list {
		description := cmp.Or(t.Description, t.Title)
		if s.config.Tools != nil {
			i := slices.IndexFunc(s.config.Tools, func(d tool.Declared) bool { return d.Name == t.Name })
			if i < 0 {
				continue
			}
			description = cmp.Or(s.config.Tools[i].Description, description)
		}
		name := tool.ServerTool(s.name, plainName(t.Name))
		schema, err := schemaOf(t)
		switch other, ok := taken[name]; {
		case t.Name == "":
			err = errors.New("it has no name")
		case ok:
			err = fmt.Errorf("it would be called %s, as %q is", name, other)
		case len(name) > maxToolName:
			err = fmt.Errorf("its name would have %d characters, and %d is the most", len(name), maxToolName)
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("the tool %q is left out: %v", clip.Output(t.Name, maxToolName), err))
			continue
		}
		taken[name] = t.Name
		tools = append(tools, s.toolOf(name, clip.Output(description, maxDescription), schema, t))
	}
	return tools, warnings
}

func schemaOf(t *sdk.Tool) (json.RawMessage, error) {
	if t.InputSchema == nil {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	if _, ok := t.InputSchema.(map[string]any); !ok {
		return nil, errors.New("its input schema is no object")
	}
	return json.Marshal(t.InputSchema)
}

func (s *server) toolOf(name, description string, schema json.RawMessage, t *sdk.Tool) tool.Tool {
	out := tool.Tool{Name: name, Description: description, Schema: schema, Class: tool.Mutate, Source: s.name}
	if a := t.Annotations; a != nil && s.config.Trusted {
		if a.ReadOnlyHint {
			out.Class = tool.Observe
		}
		out.Idempotent = a.ReadOnlyHint || a.IdempotentHint
	}
	self := out
	out.Run = func(ctx context.Context, input json.RawMessage) (tool.Result, error) {
		return s.run(ctx, self, t.Name, input)
	}
	return out
}

// maxToolName is what a registry takes.
const maxToolName = 128

// plainName replaces what cannot be part of a tool's name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
}
