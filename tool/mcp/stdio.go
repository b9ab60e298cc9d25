package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/internal/process/supervise"
	"github.com/maker-mdap/maker/internal/text/clip"
)

// stdio carries messages to and from a process, one a line. It is the SDK's
// transport and its connection.
type stdio struct {
	process *supervise.Process
	lines   *bufio.Scanner
	writing chan struct{} // held while writing

	mu  sync.Mutex
	why error // why no message will come any more
}

var _ carrier = (*stdio)(nil)

func newStdio(s Server, o Options) (*stdio, error) {
	orders, err := ordersFor(s, o.Dir, o.Grace)
	if err != nil {
		return nil, err
	}
	p, err := supervise.Start(orders)
	if err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	return &stdio{process: p, lines: p.Lines(), writing: make(chan struct{}, 1)}, nil
}

func (s *stdio) transport() sdk.Transport { return s }

// Connect implements the SDK's transport.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) { return s, nil }

// SessionID implements the SDK's connection.
func (s *stdio) SessionID() string { return "" }

// errGarbage is output that is not MCP.
var errGarbage = errors.New("it wrote something that is not MCP to its stdout")

// Read returns the next message. The SDK calls it from one goroutine.
func (s *stdio) Read(context.Context) (jsonrpc.Message, error) {
	for s.lines.Scan() {
		line := bytes.TrimSpace(s.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		message, err := jsonrpc.DecodeMessage(bytes.Clone(line))
		if err != nil || line[0] != '{' {
			err = fmt.Errorf("%w: %q", errGarbage, clip.Text(string(line[:min(len(line), maxDescription)]), 200))
			s.fail(err)
			return nil, err
		}
		return unmistakable(message), nil
	}
	err := s.lines.Err()
	switch {
	case err == nil, errors.Is(err, os.ErrDeadlineExceeded):
		err = errors.New(s.process.HowItEnded())
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("it wrote a message of more than %d bytes", supervise.MaxLine)
	}
	s.fail(err)
	return nil, err
}

// fail ends the connection, for the first of the reasons.
func (s *stdio) fail(why error) {
	s.mu.Lock()
	if s.why == nil {
		s.why = why
	}
	s.mu.Unlock()
	s.process.Stop()
}

// unmistakable changes an error with a code that the SDK uses for closed
// connections, and would take for one.
func unmistakable(message jsonrpc.Message) jsonrpc.Message {
	const clientClosing, serverClosing, serverError = -32003, -32004, -32000
	response, ok := message.(*jsonrpc.Response)
	if !ok {
		return message
	}
	wire, ok := response.Error.(*jsonrpc.Error)
	if ok && (wire.Code == clientClosing || wire.Code == serverClosing) {
		response.Error = &jsonrpc.Error{Code: serverError, Message: fmt.Sprintf("%s (code %d)", wire.Message, wire.Code)}
	}
	return response
}

// Write sends a message, or gives up when ctx ends. What was sent in part cannot
// be taken back, so that is the end of the connection.
func (s *stdio) Write(ctx context.Context, message jsonrpc.Message) error {
	d := deliveryOf(ctx) // before ctx is looked at
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	expired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(expired)
		_ = s.process.Stdin.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := s.process.Stdin.Write(data)
	if n > 0 {
		d.markSent()
	}
	if !stop() {
		<-expired
		_ = s.process.Stdin.SetWriteDeadline(time.Time{})
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		if n > 0 {
			s.fail(errors.New("it does not read its stdin"))
		}
		return ctx.Err()
	}
	err = errors.New(s.process.HowItEnded())
	s.fail(err)
	return err
}

// Close makes the process end. It does not wait: the SDK holds a lock.
func (s *stdio) Close() error {
	s.process.Stop()
	_ = s.process.Stdout.Close()
	return nil
}

// broken reports whether no answer can come any more.
func (s *stdio) broken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why != nil
}

// answered reports whether an error in the form of the protocol came from the
// server.
func (s *stdio) answered(notes) bool { return true }

// explain says what is known about why the connection was lost.
func (s *stdio) explain(err error) string {
	s.mu.Lock()
	why := s.why
	s.mu.Unlock()
	if why == nil {
		why = err
	}
	return why.Error() + s.lastWords()
}

const lastWordsMark = "; its stderr ends with "

// lastWords quotes the end of what the server wrote to stderr.
func (s *stdio) lastWords() string {
	if words := s.process.LastWords(); words != "" {
		return fmt.Sprintf("%s%q", lastWordsMark, words)
	}
	return ""
}

func (s *stdio) abort() { _ = s.Close() }

func (s *stdio) close() {
	_ = s.Close()
	<-s.process.Done
}
