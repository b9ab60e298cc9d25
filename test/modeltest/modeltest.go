// Package modeltest is the suite that every provider's client passes.
//
// It asks the simulator over real HTTP, reads recorded answers, breaks
// connections in every way that has been seen, has servers send without end, looks
// at the requests that are sent, and has parameters refused. Recorded answers and expected results are
// files of the provider:
//
//	testdata/answers/NAME.http       an answer: status line, headers, body
//	testdata/answers/NAME.golden     what the client makes of it
//	testdata/requests/NAME.golden    how the client writes a request
//
// Run the tests with -update to write the golden files, and read what changed.
package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

var update = flag.Bool("update", false, "write the golden files")

// Key is the API key of all clients under test. It must not appear in any error
// or warning, and the suite looks for it everywhere.
const Key = "sk-test-this-must-never-be-shown"

// MaxResponseBytes is the limit of most clients under test.
const MaxResponseBytes = 1 << 16

// A Server is what a client under test talks to.
type Server struct {
	BaseURL string // without a path
	Model   string
	Key     string
	Warn    func(string)

	// MaxResponseBytes is the largest answer that the client takes; 0 means its own
	// limit.
	MaxResponseBytes int64
}

// A Config is a provider's client and its files.
type Config struct {
	// New makes a client.
	New func(Server) (model.Model, error)

	// Dir holds the files; "testdata" if it is empty. An answer called plain
	// has to be there.
	Dir string

	// Requests is the folder of written requests in Dir; "requests" if it is
	// empty. A client that speaks to several providers has one for each.
	Requests string

	// Refuse is the body of the answer with status 400 by which the provider
	// refuses a parameter.
	Refuse func(param string) string

	// Schema is the parameter of structured output that can be refused.
	Schema string
}

// Run runs the whole suite.
func Run(t *testing.T, c Config) {
	t.Run("Simulated", func(t *testing.T) { Simulated(t, c) })
	t.Run("Recorded", func(t *testing.T) { Recorded(t, c) })
	t.Run("Wire", func(t *testing.T) { Wire(t, c) })
	t.Run("Hostile", func(t *testing.T) { Hostile(t, c) })
	t.Run("Requests", func(t *testing.T) { Requests(t, c) })
	t.Run("Refusals", func(t *testing.T) { Refusals(t, c) })
}

func (c *Config) path(parts ...string) string {
	dir := c.Dir
	if dir == "" {
		dir = "testdata"
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// A client is a model under test that keeps its secret.
type client struct {
	t testing.TB
	model.Model

	mu       sync.Mutex
	warnings []string
}

// newClient makes a client that fails the test if it shows its key.
func newClient(t testing.TB, c Config, baseURL, name string) *client {
	t.Helper()
	return newClientWith(t, c, Server{BaseURL: baseURL, Model: name, MaxResponseBytes: MaxResponseBytes})
}

func newClientWith(t testing.TB, c Config, s Server) *client {
	t.Helper()
	out := &client{t: t}
	s.Key, s.Warn = Key, func(text string) {
		out.mu.Lock()
		defer out.mu.Unlock()
		out.warnings = append(out.warnings, text)
		if strings.Contains(text, Key) {
			t.Errorf("the warning %q shows the key", text)
		}
	}
	m, err := c.New(s)
	if err != nil {
		t.Fatal(err)
	}
	if closer, ok := m.(interface{ CloseIdle() }); ok {
		t.Cleanup(closer.CloseIdle)
	}
	if text := fmt.Sprintf("%v %+v %#v", m, m, m); strings.Contains(text, Key) {
		t.Errorf("the client as text, %q, shows the key", text)
	}
	out.Model = m
	return out
}

// Generate checks what every call has to keep.
func (c *client) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	c.t.Helper()
	before := mustJSON(c.t, req)
	r, err := c.Model.Generate(ctx, req)
	if after := mustJSON(c.t, req); !bytes.Equal(before, after) {
		c.t.Errorf("Generate changed its request from %s to %s", before, after)
	}
	if (r == nil) == (err == nil) {
		c.t.Errorf("Generate = %v, %v, want one of them", r, err)
	}
	if err != nil {
		e, ok := errors.AsType[*model.Error](err)
		if !ok {
			c.t.Fatalf("Generate fails with %T %v, want a *model.Error", err, err)
		}
		if text := fmt.Sprintf("%v %+v %#v %v", err, *e, *e, errors.Unwrap(e)); strings.Contains(text, Key) {
			c.t.Errorf("the error %s shows the key", text)
		}
		if e.Message == "" || e.Provider == "" {
			c.t.Errorf("the error %+v lacks its provider or an explanation", *e)
		}
	}
	return r, err
}

// warned returns the warnings so far.
func (c *client) warned() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.warnings...)
}

func ask(prompt string) *model.Request {
	return &model.Request{System: "Be brief.", Messages: []model.Message{{Role: model.User, Text: prompt}}, MaxOutput: 500}
}

// wantKind reports an error of another kind, or none.
func wantKind(t testing.TB, what string, err error, kind model.Kind, text string) {
	t.Helper()
	if err == nil || model.KindOf(err) != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: Generate fails with %v, want kind %s with %q", what, err, kind, text)
	}
}

// serve starts a server on loopback and returns its address.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return ts.URL
}

// golden compares a text with a file, or writes the file.
func golden(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// CheckAnswer checks what holds for every answer, whatever a server sends.
func CheckAnswer(t testing.TB, r *model.Response, err error) {
	t.Helper()
	if (r == nil) == (err == nil) {
		t.Fatalf("Generate = %v, %v, want one of them", r, err)
	}
	if err != nil {
		if _, ok := errors.AsType[*model.Error](err); !ok {
			t.Errorf("Generate fails with %T %v, want a *model.Error", err, err)
		}
		return
	}
	u := r.Usage
	if min(u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning) < 0 {
		t.Errorf("usage %+v has a negative count", u)
	}
	if r.CostUSD != nil && !(*r.CostUSD >= 0) {
		t.Errorf("cost %v is no sum of money", *r.CostUSD)
	}
	for _, call := range r.ToolCalls {
		if !json.Valid(call.Input) {
			t.Errorf("the input %q of a tool call is not JSON", call.Input)
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("the response cannot be written down: %v", err)
	}
}
