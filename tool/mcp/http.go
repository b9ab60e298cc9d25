package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/internal/process/supervise"
)

// web carries messages over streamable HTTP.
type web struct {
	url     string
	headers map[string]string
	base    *http.Transport

	mu    sync.Mutex
	open  map[*trackedConn]bool
	ended bool
}

var _ carrier = (*web)(nil)

func newWeb(s Server) *web {
	w := &web{url: s.URL, headers: s.Headers, open: map[*trackedConn]bool{}}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	w.base = &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return w.track(c)
		},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	return w
}

func (w *web) transport() sdk.Transport {
	return &sdk.StreamableClientTransport{
		Endpoint:     w.url,
		HTTPClient:   &http.Client{Transport: w, CheckRedirect: sameOrigin},
		MaxEventSize: supervise.MaxLine,
		// Nothing that a server says unasked is of use to a run.
		DisableStandaloneSSE: true,
	}
}

// sameOrigin follows redirects that stay with the server, and so does not give
// headers with keys to others. One that turns a call into something else is
// refused.
func sameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme:
		return fmt.Errorf("it redirects to %s; if that is right, put it in the configuration", req.URL.Host)
	case req.Method != first.Method:
		return errors.New("it redirects in a way that loses the request; put the final address in the configuration")
	case len(via) > 5:
		return errors.New("it redirects again and again")
	}
	return nil
}

// RoundTrip adds the configured headers, bounds the answer, and notes what became
// of a call.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	d := deliveryOf(req.Context())
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{WroteHeaders: d.markSent})
	req = req.Clone(ctx)
	for name, value := range w.headers {
		if req.Header.Get(name) == "" { // the protocol's own stay
			req.Header.Set(name, value)
		}
	}
	resp, err := w.base.RoundTrip(req)
	if err != nil {
		if neverConnected(err) {
			d.note(func(n *notes) { n.sent = false })
		}
		return nil, err
	}
	detail := ""
	if resp.StatusCode >= 400 {
		const shown = 300
		start, _ := io.ReadAll(io.LimitReader(resp.Body, shown))
		detail = strings.TrimSpace(strings.ToValidUTF8(string(start), ""))
		resp.Body = &prefixed{io.MultiReader(bytes.NewReader(start), resp.Body), resp.Body}
	}
	d.note(func(n *notes) { n.status, n.detail = resp.StatusCode, detail })
	resp.Body = &bounded{body: resp.Body, left: supervise.MaxLine, delivery: d}
	return resp, nil
}

// neverConnected reports whether a request failed before a byte of it was sent.
// An attempt on an old connection is only followed by another if nothing of it
// was written.
func neverConnected(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// prefixed gives back what was read of a body.
type prefixed struct {
	io.Reader
	io.Closer
}

// bounded is a body that does not fill the memory.
type bounded struct {
	body     io.ReadCloser
	left     int64
	delivery *delivery
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.delivery.note(func(n *notes) { n.detail = fmt.Sprintf("its answer has more than %d bytes", supervise.MaxLine) })
		return 0, errors.New("the answer is too long")
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }

// broken is for the SDK's session to say.
func (w *web) broken() bool { return false }

// answered reports whether an error in the form of the protocol came from the
// server: the SDK uses that form for failures to reach it, too.
func (w *web) answered(n notes) bool { return n.status/100 == 2 }

func (w *web) explain(err error) string { return err.Error() }

func (w *web) lastWords() string { return "" }

// A trackedConn is a connection that can be found when it is to end.
type trackedConn struct {
	net.Conn
	web *web
}

func (w *web) track(c net.Conn) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil, errors.Join(net.ErrClosed, c.Close())
	}
	t := &trackedConn{c, w}
	w.open[t] = true
	return t, nil
}

// Close closes the connection.
func (t *trackedConn) Close() error {
	t.web.mu.Lock()
	delete(t.web.open, t)
	t.web.mu.Unlock()
	return t.Conn.Close()
}

// abort ends all requests, also those to a server that does not answer.
func (w *web) abort() {
	w.mu.Lock()
	w.ended = true
	open := w.open
	w.open = map[*trackedConn]bool{}
	w.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close()
	}
}

func (w *web) close() {
	w.abort()
	w.base.CloseIdleConnections()
}
