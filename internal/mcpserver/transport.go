package mcpserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostMessage is how long a message of a client may be: a table of records is the longest that
// there is.
const mostMessage = 16 << 20

// ServeStdio serves one client until it is gone or ctx ends. Nothing else may be written to
// out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	session, err := s.Connect(context.WithoutCancel(ctx), &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: mostMessage})
	if err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { gone <- session.Wait() }()
	select {
	case err = <-gone:
	case <-ctx.Done():
		s.Close() // so that calls which wait for a run have a result
		err = errors.Join(session.Close(), <-gone)
	}
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil // which is how it ends
	}
	return err
}

// unclosed is what somebody else closes.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// How long a client may take for what is not an answer, and what it may send.
const (
	headerTime   = 10 * time.Second
	idleTime     = 2 * time.Minute
	sessionTime  = time.Hour
	shutdownTime = 2 * time.Second
	mostHeader   = 64 << 10
)

// ServeHTTP serves any number of clients that have the token until ctx ends.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, token string) error {
	web := &http.Server{
		Handler: s.Handler(token), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err := <-ended: // which it does not by itself
		return err
	case <-ctx.Done():
	}
	s.Close() // so that those who wait for a run hear how it stands
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	_ = web.Shutdown(bounded) // streams that are open stay so until they are closed below
	for session := range s.mcp.Sessions() {
		_ = session.Close() // of a client that may be gone
	}
	err := web.Close()
	<-ended
	return err
}

// Handler serves clients that have the token, at any path. Pages of other sites and names that
// are not this machine's are refused, whatever they bring.
func (s *Server) Handler(token string) http.Handler {
	streams := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		SessionTimeout: sessionTime, MaxRequestBodyBytes: mostMessage,
	})
	want := sha256.Sum256([]byte(token))
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "this server is one of this machine alone, and goes by its names", http.StatusForbidden)
			return
		}
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="maker mcp"`)
			http.Error(w, "want the header Authorization: Bearer TOKEN, with the token that maker mcp printed or was given", http.StatusUnauthorized)
			return
		}
		streams.ServeHTTP(w, r)
	}))
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Connect connects a client over a transport.
func (s *Server) Connect(ctx context.Context, t mcp.Transport) (*mcp.ServerSession, error) {
	return s.mcp.Connect(ctx, t, nil)
}
