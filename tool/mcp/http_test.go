//go:build unix

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/internal/process/supervise"
	"github.com/maker-mdap/maker/tool"
)

// A site is an MCP server over HTTP whose every request a test can meddle with.
type site struct {
	*httptest.Server
	options *sdk.StreamableHTTPOptions
	runs    atomic.Int32 // of tools
	quit    chan struct{}

	mu      sync.Mutex
	handler http.Handler
	before  func(w http.ResponseWriter, r *http.Request, isCall bool) (handled bool)
}

func newSite(t *testing.T, o *sdk.StreamableHTTPOptions) *site {
	t.Helper()
	s := &site{options: o, quit: make(chan struct{})}
	s.forget()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var message struct{ Method string }
		_ = json.Unmarshal(body, &message) // a DELETE has none
		s.mu.Lock()
		before := s.before
		s.mu.Unlock()
		if before != nil && before(w, r, message.Method == "tools/call") {
			return
		}
		s.mu.Lock()
		handler := s.handler // which may be another now
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(s.quit)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// forget makes the server as if it had been started again.
func (s *site) forget() {
	server := sdk.NewServer(&sdk.Implementation{Name: "site", Version: "1"}, nil)
	for name, readOnly := range map[string]bool{"read": true, "write": false} {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: readOnly}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint("run ", s.runs.Add(1))}}}, nil
			})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, s.options)
}

// meddle sets what happens before a request is served.
func (s *site) meddle(before func(w http.ResponseWriter, r *http.Request, isCall bool) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

func (s *site) config() Server { return Server{URL: s.URL, Trusted: true} }

func TestHTTP(t *testing.T) {
	for name, options := range map[string]*sdk.StreamableHTTPOptions{
		"streams":   nil,
		"JSON":      {JSONResponse: true},
		"stateless": {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			site := newSite(t, options)
			var bad, deleted atomic.Int32
			site.meddle(func(_ http.ResponseWriter, r *http.Request, _ bool) bool {
				if r.Header.Get("Authorization") != "Bearer abcdefgh" || r.Header.Get("X-Team") != "blue" {
					bad.Add(1)
				}
				if r.Method == http.MethodDelete {
					deleted.Add(1)
				}
				return false
			})
			text := fmt.Sprintf(`{"mcpServers":{"s":{"type":"http","url":%q,"headers":{"Authorization":"Bearer ${KEY}","X-Team":"blue","Accept":"nothing"}}}}`, site.URL)
			c, err := ParseConfig([]byte(text), func(string) (string, bool) { return "abcdefgh", true })
			if err != nil {
				t.Fatal(err)
			}
			s, r := connect(t, c.Servers, nil)
			for i, tool := range []string{"read", "write"} {
				if got, err := call(t, r, "mcp__s__"+tool, `{}`); err != nil || got.Text != fmt.Sprint("run ", i+1) {
					t.Errorf("%s() = %v, %v, want run %d", tool, got, err, i+1)
				}
			}
			if h := s.Health()[0]; h.State != Ready || h.Transport != "http" || h.Server != "site" || h.Tools != 2 {
				t.Errorf("Health() = %+v", h)
			}
			s.Close()
			if bad.Load() > 0 {
				t.Errorf("%d requests came without the headers", bad.Load())
			}
			if want := int32(1); name != "stateless" && deleted.Load() != want {
				t.Errorf("the session was ended %d times, want %d", deleted.Load(), want)
			}
		})
	}
}

// hangUp ends the connection in the middle of a request.
func hangUp(w http.ResponseWriter) bool {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = c.Close()
	}
	return true
}

// TestHTTPLost is about calls that fail on their way or on the way back.
func TestHTTPLost(t *testing.T) {
	status := func(code int, text string) func(*site, http.ResponseWriter, *http.Request) bool {
		return func(_ *site, w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, text, code)
			return true
		}
	}
	answer := func(kind, text string) func(*site, http.ResponseWriter, *http.Request) bool {
		return func(s *site, w http.ResponseWriter, _ *http.Request) bool {
			s.runs.Add(1)
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
			return true
		}
	}
	const noSession = `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":1}`
	tests := []struct {
		name string

		// first is what happens to the first call.
		first func(s *site, w http.ResponseWriter, r *http.Request) bool

		repeated bool   // a call that is safe to repeat is, and works
		unknown  bool   // of one that is not, the outcome is unknown
		runs     int32  // of one that is not
		want     string // in its error
	}{
		{"cut before the answer", func(s *site, w http.ResponseWriter, _ *http.Request) bool { s.runs.Add(1); return hangUp(w) }, true, true, 1, "EOF"},
		{"cut in the answer", func(s *site, w http.ResponseWriter, _ *http.Request) bool {
			s.runs.Add(1)
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			return hangUp(w)
		}, true, true, 1, "without response"},
		{"session forgotten", func(s *site, w http.ResponseWriter, r *http.Request) bool { s.forget(); return false }, true, false, 0, "HTTP 404"},
		{"session forgotten, another way", status(400, noSession), true, false, 0, "No valid session ID"},
		{"unauthorized", status(401, ""), true, false, 0, "check its headers"},
		{"busy", status(429, "slow down"), false, false, 0, "HTTP 429"},
		{"broken", status(500, "null pointer"), false, true, 0, "null pointer"},
		{"bad gateway", status(502, ""), false, true, 0, "HTTP 502"},
		{"no JSON", answer("application/json", "<html>"), true, true, 1, "decode"},
		{"no MCP", answer("text/html", "<html>"), true, true, 1, "unsupported content type"},
		{"too long", answer("application/json", strings.Repeat(" ", supervise.MaxLine+1)), true, true, 1, "more than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"read", "write"} {
				site := newSite(t, nil)
				s, r := connect(t, map[string]Server{"s": site.config()}, nil)
				var calls atomic.Int32
				site.meddle(func(w http.ResponseWriter, r *http.Request, isCall bool) bool {
					return isCall && calls.Add(1) == 1 && test.first(site, w, r)
				})
				result, err := call(t, r, "mcp__s__"+name, `{}`)
				switch {
				case name == "read" && test.repeated:
					if err != nil || calls.Load() != 2 {
						t.Errorf("read() = %v, %v after %d calls, want an answer to the second", result, err, calls.Load())
					}
				case name == "read":
					if err == nil || errors.Is(err, tool.ErrUnknownOutcome) || calls.Load() != 1 {
						t.Errorf("read() = %v, %v after %d calls, want an error after one", result, err, calls.Load())
					}
				default:
					if err == nil || errors.Is(err, tool.ErrUnknownOutcome) != test.unknown || !strings.Contains(err.Error(), test.want) {
						t.Errorf("write() = %v, %v, want %q, and unknown outcome is %v", result, err, test.want, test.unknown)
					}
					if calls.Load() != 1 || site.runs.Load() != test.runs {
						t.Errorf("write() was called %d times and ran %d times, want 1 and %d", calls.Load(), site.runs.Load(), test.runs)
					}
				}
				// The next one works.
				if got, err := call(t, r, "mcp__s__write", `{}`); err != nil || !strings.HasPrefix(got.Text, "run ") {
					t.Errorf("write() after that = %v, %v", got, err)
				}
				s.Close()
			}
		})
	}
}

func TestHTTPDown(t *testing.T) {
	site := newSite(t, nil)
	s, r := connect(t, map[string]Server{"s": site.config()}, nil)
	site.CloseClientConnections()
	site.Listener.Close()
	for _, name := range []string{"read", "write"} {
		_, err := call(t, r, "mcp__s__"+name, `{}`)
		if err == nil || errors.Is(err, tool.ErrUnknownOutcome) || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s() = %v, want an error that says that it was not sent", name, err)
		}
	}
	if h := s.Health()[0]; h.State != Lost || !strings.Contains(h.Reason, "refused") {
		t.Errorf("Health() = %+v, want lost", h)
	}
}

// TestHTTPSilent is about a server that takes requests and does not answer.
func TestHTTPSilent(t *testing.T) {
	t.Parallel()
	site := newSite(t, nil)
	config := site.config()
	config.CallTimeout = Duration(200 * time.Millisecond)
	s, r := connect(t, map[string]Server{"s": config}, nil)
	var calls atomic.Int32
	site.meddle(func(_ http.ResponseWriter, _ *http.Request, isCall bool) bool {
		if isCall {
			calls.Add(1)
		}
		<-site.quit
		return true
	})
	for name, unknown := range map[string]bool{"read": false, "write": true} {
		_, err := call(t, r, "mcp__s__"+name, `{}`)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, tool.ErrUnknownOutcome) != unknown {
			t.Errorf("%s() = %v, want a timeout, and unknown outcome is %v", name, err, unknown)
		}
	}
	if calls.Load() != 2 {
		t.Errorf("the server saw %d calls, want 2", calls.Load())
	}
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > 3*time.Second { // the SDK alone would take 5
		t.Errorf("Close() took %v, want about the time of grace", took)
	}
}

func TestHTTPUnavailable(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was sent to another server, with %v", r.Method, r.Header)
	}))
	defer elsewhere.Close()
	tests := []struct {
		name   string
		before func(w http.ResponseWriter, r *http.Request, isCall bool) bool
		want   string
	}{
		{"unauthorized", func(w http.ResponseWriter, r *http.Request, _ bool) bool {
			http.Error(w, "your key "+r.Header.Get("X-Key")+" is unknown", http.StatusUnauthorized)
			return true
		}, `HTTP 401 Unauthorized: "your key [redacted] is unknown" (check its headers)`},
		{"not found", func(w http.ResponseWriter, r *http.Request, _ bool) bool { http.NotFound(w, r); return true }, "HTTP 404"},
		{"no MCP", func(w http.ResponseWriter, _ *http.Request, _ bool) bool {
			w.Header().Set("Content-Type", "text/html")
			return true
		}, "unsupported content type"},
		{"silent", func(_ http.ResponseWriter, r *http.Request, _ bool) bool {
			<-r.Context().Done()
			return true
		}, "not ready after 300ms"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request, _ bool) bool {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return true
		}, "it redirects to 127.0.0.1"},
		{"loses the request", func(w http.ResponseWriter, r *http.Request, _ bool) bool {
			if r.URL.Path == "/x" {
				return false
			}
			http.Redirect(w, r, "/x", http.StatusFound)
			return true
		}, "loses the request"},
		{"round and round", func(w http.ResponseWriter, r *http.Request, _ bool) bool {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return true
		}, "again and again"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			site := newSite(t, nil)
			site.meddle(test.before)
			config := site.config()
			config.Headers = map[string]string{"X-Key": "abcdefgh"}
			if test.name == "silent" {
				config.StartTimeout = Duration(300 * time.Millisecond)
			}
			s, _ := connect(t, map[string]Server{"s": config}, nil)
			if h := s.Health()[0]; h.State != Unavailable || !strings.Contains(h.Reason, test.want) {
				t.Errorf("Health() = %+v, want unavailable with %q", h, test.want)
			}
		})
	}
}

func TestHTTPRedirect(t *testing.T) {
	site := newSite(t, nil)
	site.meddle(func(w http.ResponseWriter, r *http.Request, _ bool) bool {
		if r.URL.Path == "/mcp/" {
			return false
		}
		http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
		return true
	})
	config := site.config()
	config.URL += "/mcp"
	_, r := connect(t, map[string]Server{"s": config}, nil)
	if got, err := call(t, r, "mcp__s__write", `{}`); err != nil || got.Text != "run 1" {
		t.Errorf("write() = %v, %v, want run 1", got, err)
	}
}

// TestHTTPNeverConnected: of two attempts to send a request, the first of which
// found an old connection dead, the second counts.
func TestHTTPNeverConnected(t *testing.T) {
	site := newSite(t, nil)
	url := site.URL
	for _, up := range []bool{true, false} {
		if !up {
			site.Close()
		}
		w := newWeb(Server{URL: url})
		ctx, cancel := context.WithCancel(t.Context())
		ctx, d := withDelivery(ctx)
		d.markSent()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if d.known().sent != up || (err == nil) != up {
			t.Errorf("RoundTrip(server there: %v) = %v, sent: %v", up, err, d.known().sent)
		}
		// Nothing is noted for a call that has ended.
		cancel()
		if deliveryOf(ctx) != nil {
			t.Error("deliveryOf(ended) is there, want nil")
		}
		w.close()
	}
}
