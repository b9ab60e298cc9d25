package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/tool"
)

// A carrier gets messages to a server and back.
type carrier interface {
	transport() sdk.Transport
	broken() bool             // no answer can come any more
	answered(n notes) bool    // an error in the protocol's form is the server's
	explain(err error) string // what is known about a failure
	lastWords() string        // what the server said last, to be added to an error
	abort()                   // ends it without ceremony, and returns at once
	close()                   // ends it and waits until nothing is left
}

// A conn is one connection to a server: a session, and what carries it.
type conn struct {
	session *sdk.ClientSession
	carrier carrier
	grace   time.Duration // for the server to take note of the end
	ended   chan struct{} // closed when the session is over, for whatever reason
	closed  chan struct{} // closed when nothing of it is left

	mu      sync.Mutex
	retired bool // no call may begin
	closing bool
	calls   map[*delivery]context.CancelCauseFunc
	idle    sync.WaitGroup // calls
}

// versions are the ways to begin a session, tried in order. The first is the
// handshake that every server knows; some end themselves at the sight of another.
// The second, "", is the SDK's newest, for servers that have given up the first.
var versions = []string{"2025-11-25", ""}

// open connects to a server.
func open(ctx context.Context, s Server, o Options) (*conn, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "maker", Version: o.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, // we offer servers nothing
		// A call that wants more input is not repeated behind our back.
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	var failure error
	for _, version := range versions {
		c, err := openVersion(ctx, client, s, o, version)
		if err == nil {
			return c, nil
		}
		failure = err
		if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != jsonrpc.CodeMethodNotFound && wire.Code != sdk.CodeUnsupportedProtocolVersion {
			break
		}
	}
	return nil, failure
}

func openVersion(ctx context.Context, client *sdk.Client, s Server, o Options, version string) (*conn, error) {
	var carrier carrier
	if s.transport() == httpTransport {
		carrier = newWeb(s)
	} else {
		process, err := newStdio(s, o)
		if err != nil {
			return nil, err
		}
		carrier = process
	}
	attempt, d := withDelivery(ctx)
	session, err := client.Connect(attempt, carrier.transport(), &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		err = startError(ctx, err, carrier, d.known())
		carrier.close()
		return nil, err
	}
	c := &conn{
		session: session, carrier: carrier, grace: o.Grace,
		ended: make(chan struct{}), closed: make(chan struct{}),
		calls: map[*delivery]context.CancelCauseFunc{},
	}
	go func() {
		defer close(c.ended)
		_ = session.Wait()
	}()
	return c, nil
}

// startError says why there is no session.
func startError(ctx context.Context, err error, c carrier, n notes) error {
	wire, isWire := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w%s", context.Cause(ctx), c.lastWords())
	case n.status >= 400:
		return errors.New(n.text())
	case isWire && c.answered(n):
		return fmt.Errorf("it refuses the handshake: %w (code %d)%s", err, wire.Code, c.lastWords())
	}
	return errors.New(c.explain(err))
}

func (n notes) text() string {
	text := fmt.Sprintf("it answers with HTTP %d %s", n.status, http.StatusText(n.status))
	if n.detail != "" {
		text += fmt.Sprintf(": %q", n.detail)
	}
	if n.status == http.StatusUnauthorized || n.status == http.StatusForbidden {
		text += " (check its headers)"
	}
	return text
}

// gone reports whether the connection can no longer be used.
func (c *conn) gone() bool {
	select {
	case <-c.ended:
		return true
	default:
		return c.carrier.broken()
	}
}

// maxTools bounds a list that has no end.
const maxTools = 2000

// tools asks for the list of tools, page by page.
func (c *conn) tools(ctx context.Context) ([]*sdk.Tool, error) {
	if r := c.session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Tools == nil {
		return nil, nil
	}
	var all []*sdk.Tool
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("%w%s", context.Cause(ctx), c.carrier.lastWords())
			}
			return nil, fmt.Errorf("its list of tools: %s", c.carrier.explain(err))
		}
		if len(all) == maxTools {
			return nil, fmt.Errorf("its list of tools has more than %d entries", maxTools)
		}
		all = append(all, t)
	}
	return all, nil
}

// A failure is a call without an answer.
type failure struct {
	err  error
	text string // err in words; "" means err's own
	sent bool   // the server may have seen the call
	gone bool   // the connection cannot be used for another
	late bool   // the connection was put out of use before the call began
}

func (f *failure) String() string {
	if f.text == "" {
		return f.err.Error()
	}
	return f.text
}

var errClosed = errors.New("the connection is closed")

// A timeoutError is a context.DeadlineExceeded that says what took too long.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }
func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }

// call makes one call and waits for the answer.
func (c *conn) call(ctx context.Context, limit time.Duration, name string, input json.RawMessage) (tool.Result, *failure) {
	ctx, cancelTime := context.WithTimeoutCause(ctx, limit, &timeoutError{fmt.Sprintf("no answer within %s (call_timeout)", limit)})
	defer cancelTime()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, d := withDelivery(ctx)
	if !c.begin(d, cancel) {
		return tool.Result{}, &failure{err: errClosed, late: true}
	}
	defer c.finish(d)

	r, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: input})
	if err == nil {
		return resultOf(r), nil
	}
	n := d.known()
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && c.carrier.answered(n) {
		return tool.Failed("The server refuses the call: %s (code %d)", clip.Output(wire.Message, maxDescription), wire.Code), nil
	}
	f := &failure{err: err, sent: n.sent}
	switch {
	case ctx.Err() != nil:
		f.err = context.Cause(ctx)
	case n.status >= 500:
		f.text = n.text()
	case n.status >= 400:
		// It was turned away. Most often the server has forgotten the session, and
		// many say so with another status than the right one.
		f.text, f.sent = n.text(), false
		f.gone = n.status != http.StatusRequestTimeout && n.status != http.StatusTooManyRequests
	case n.status >= 300:
		f.sent = false // a redirect that was not followed
	case n.status >= 200:
		// The answer broke off, or cannot be read.
		f.text, f.gone = cmp.Or(n.detail, c.carrier.explain(err)), true
	case c.overHTTP() || c.gone():
		f.text, f.gone = c.carrier.explain(err), true
	default:
		f.text = "its answer cannot be read: " + c.carrier.explain(err)
	}
	return tool.Result{}, f
}

func (c *conn) overHTTP() bool {
	_, ok := c.carrier.(*web)
	return ok
}

func (c *conn) begin(d *delivery, cancel context.CancelCauseFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired {
		return false
	}
	c.calls[d] = cancel
	c.idle.Add(1)
	return true
}

func (c *conn) finish(d *delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, d)
	c.idle.Done()
}

// drain lets no further call begin, and waits for those that are under way.
func (c *conn) drain() {
	c.mu.Lock()
	c.retired = true
	c.mu.Unlock()
	c.idle.Wait()
}

// close ends the calls that are under way, and the session, and waits until
// nothing is left.
func (c *conn) close() {
	c.mu.Lock()
	first := !c.closing
	c.closing, c.retired = true, true
	for _, cancel := range c.calls {
		cancel(errClosed)
	}
	c.mu.Unlock()
	if !first {
		<-c.closed
		return
	}
	defer close(c.closed)
	c.idle.Wait()
	if !c.overHTTP() {
		c.carrier.abort() // there is nothing to be said
	}
	hurry := time.AfterFunc(c.grace, c.carrier.abort)
	_ = c.session.Close()
	hurry.Stop()
	c.carrier.close()
	<-c.ended
}
