package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/internal/process/supervise"
)

// maxMessage bounds one message of a server.
const maxMessage = 16 << 20

// stdio carries messages to and from a process, one a line. It is the SDK's
// transport and its connection.
type stdio struct {
	process *supervise.Process
	lines   *bufio.Reader
	queue   []jsonrpc.Message // rest of a batch; used by Read only
	writing chan struct{}     // held while writing

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
	return &stdio{process: p, lines: bufio.NewReaderSize(p.Stdout, 64<<10), writing: make(chan struct{}, 1)}, nil
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
	for len(s.queue) == 0 {
		line, err := s.readLine()
		if err == nil {
			s.queue, err = decodeLine(line)
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
				err = errors.New(s.process.HowItEnded())
			}
			s.fail(err)
			return nil, err
		}
	}
	next := s.queue[0]
	s.queue = s.queue[1:]
	return next, nil
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

func (s *stdio) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := s.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxMessage:
			return nil, fmt.Errorf("it wrote a message of more than %d bytes", maxMessage)
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return line, nil // the last one may have no end
		default:
			return nil, err
		}
	}
}

// decodeLine reads a message, or several, or none in an empty line.
func decodeLine(line []byte) ([]jsonrpc.Message, error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, nil
	}
	raws := []json.RawMessage{line}
	if line[0] == '[' {
		if json.Unmarshal(line, &raws) != nil {
			return nil, garbage(line)
		}
	}
	var out []jsonrpc.Message
	for _, raw := range raws {
		message, err := jsonrpc.DecodeMessage(raw)
		if err != nil || raw[0] != '{' {
			return nil, garbage(line)
		}
		out = append(out, unmistakable(message))
	}
	return out, nil
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

func garbage(line []byte) error {
	const shown = 200
	text := strings.ToValidUTF8(string(line[:min(shown, len(line))]), "\uFFFD")
	if len(line) > shown {
		text += "[...]"
	}
	return fmt.Errorf("%w: %q", errGarbage, text)
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
func (s *stdio) answered(*delivery) bool { return true }

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
	words := strings.ToValidUTF8(s.process.Stderr.String(), "\uFFFD")
	if words == "" {
		return ""
	}
	const shown = 600
	if len(words) > shown {
		words = "[...]" + strings.ToValidUTF8(words[len(words)-shown:], "")
	}
	return fmt.Sprintf("%s%q", lastWordsMark, words)
}

func (s *stdio) abort() { _ = s.Close() }

func (s *stdio) close() {
	_ = s.Close()
	<-s.process.Done
}
