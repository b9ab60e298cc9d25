package httpclient

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/maker-mdap/maker/model"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		seconds, ms string
		want        time.Duration
		asked       bool
	}{
		{"", "", 0, false},
		{"2", "", 2 * time.Second, true},
		{"0", "", 0, true},
		{"", "0", 0, true},
		{" 1.5 ", "", 1500 * time.Millisecond, true},
		{"2", "250", 250 * time.Millisecond, true},
		{"2", "soon", 2 * time.Second, true},
		{"Fri, 02 Jan 2026 03:04:15 GMT", "", 10 * time.Second, true},
		{"Fri, 02 Jan 2026 03:04:00 GMT", "", 0, false},
		{"-3", "", 0, false},
		{"NaN", "", 0, false},
		{"1e300", "", 1<<62 - 1, true},
		{"tomorrow", "", 0, false},
	} {
		h := http.Header{}
		h.Set("Retry-After", test.seconds)
		h.Set("Retry-After-Ms", test.ms)
		if got, asked := RetryAfter(h, now); got != test.want || asked != test.asked {
			t.Errorf("RetryAfter(%q, %q) = %v, %t, want %v, %t", test.seconds, test.ms, got, asked, test.want, test.asked)
		}
	}
}

func TestKindOf(t *testing.T) {
	for status, want := range map[int]model.Kind{
		301: model.Invalid, 400: model.Invalid, 401: model.Auth, 402: model.Invalid, 403: model.Auth, 404: model.Invalid,
		408: model.Transient, 409: model.Transient, 413: model.TooLong, 422: model.Invalid, 425: model.Transient, 429: model.RateLimited,
		500: model.Transient, 502: model.Transient, 503: model.Overloaded, 504: model.Transient, 529: model.Overloaded,
	} {
		if got := KindOf(status); got != want {
			t.Errorf("KindOf(%d) = %s, want %s", status, got, want)
		}
	}
}

func TestPostReusesConnections(t *testing.T) {
	var connections atomic.Int64
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	}))
	ts.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	ts.Start()
	defer ts.Close()
	c := newClient(t, ts.URL, Options{})
	defer c.CloseIdle()
	for range 5 {
		a, err := c.Post(t.Context(), "hello", Room(1))
		if err != nil || string(a.Body) != "\"hello\"\n" || a.Status != 200 {
			t.Fatalf("Post = %v, %v, want an echo", a, err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("5 calls used %d connections, want 1", n)
	}
}

func newClient(t *testing.T, address string, o Options) *Client {
	t.Helper()
	o.Provider, o.Model, o.BaseURL, o.Path = "p", "m", address, func(string) string { return "" }
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConnectionsFor(t *testing.T) {
	for limit, want := range map[uint64]int{0: 4, 48: 4, 49: 4, 64: 8, 256: 104, 1024: 488, 8240: 4096, 1 << 20: 4096, unlimited: 4096} {
		if got := connectionsFor(limit); got != want {
			t.Errorf("connectionsFor(%d) = %d, want %d", limit, got, want)
		}
	}
}

// TestGatewayTimeout: a gateway that waited in vain says the same as our own timeout.
func TestGatewayTimeout(t *testing.T) {
	c := newClient(t, "http://localhost", Options{})
	for status, want := range map[int]bool{0: false, 500: false, 503: false, 504: true} {
		if got := c.Error(model.Transient, status, "").TimedOut; got != want {
			t.Errorf("Error(%d).TimedOut = %t, want %t", status, got, want)
		}
	}
}

func TestPostErrors(t *testing.T) {
	const secret = "sk-secret"
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 101))
	}))
	defer ts.Close()
	c := newClient(t, ts.URL, Options{Secret: secret, MaxBytes: 100})
	defer c.CloseIdle()
	_, err := c.Post(t.Context(), nil, Room(0))
	if model.KindOf(err) != model.Transient || !strings.Contains(err.Error(), "larger than 100 bytes") {
		t.Errorf("Post with a large answer = %v, want a transient error about its size", err)
	}
	if _, err = c.Post(t.Context(), func() {}, Room(0)); model.KindOf(err) != model.Invalid {
		t.Errorf("Post of what is no JSON = %v, want invalid", err)
	}
	nowhere := newClient(t, ts.URL, Options{Secret: secret})
	nowhere.Address = "http://\n" + secret
	if _, err = nowhere.Post(t.Context(), nil, Room(0)); model.KindOf(err) != model.Invalid || strings.Contains(err.Error(), secret) {
		t.Errorf("Post to nowhere = %v, want invalid", err)
	}
	broken := newClient(t, ts.URL, Options{Secret: secret, Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, syscall.ECONNRESET
	})})
	if _, err = broken.Post(t.Context(), nil, Room(0)); model.KindOf(err) != model.Transient || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("Post over a broken connection = %v, want a transient error with its cause", err)
	}
	leaking := newClient(t, ts.URL, Options{Secret: secret, Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("the proxy saw " + secret)
	})})
	_, err = leaking.Post(t.Context(), nil, Room(0))
	if text := fmt.Sprintf("%v %#v %v", err, err, errors.Unwrap(err)); !strings.Contains(text, "the proxy saw [key]") || strings.Contains(text, secret) {
		t.Errorf("Post over a proxy that repeats the key = %s, want it without the key", text)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestExcerpt(t *testing.T) {
	if got := newClient(t, "http://localhost", Options{}).Excerpt([]byte("a\n\tb  c\xff")); got != "a b c?" {
		t.Errorf(`Excerpt = %q, want "a b c?"`, got)
	}
	if got := newClient(t, "http://localhost", Options{}).Excerpt([]byte(strings.Repeat("ü", 500))); utf8.RuneCountInString(got) != 200 || !strings.HasSuffix(got, "ü…") {
		t.Errorf("Excerpt of a long text = %q", got)
	}
	const secret = "sk-secret-of-ours-7Hq2xW9vB4nT6yL1"
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	for before := 150; before < 850; before += 7 { // at the end of the excerpt it is cut
		for _, form := range []string{secret, encoded, strings.ReplaceAll(secret, "s", "%73")} {
			got := newClient(t, "http://localhost", Options{Secret: secret}).Excerpt([]byte(strings.Repeat("x ", before/2) + form + " y"))
			if strings.Contains(got, form[:12]) {
				t.Errorf("Excerpt(%s after %d bytes) = %q, want nothing of it", form, before, got)
			}
		}
	}
}

func TestErrorsAboutTheKey(t *testing.T) {
	for _, test := range []struct {
		options Options
		kind    model.Kind
		want    string
	}{
		{Options{Secret: "k", SecretFrom: "OPENAI_API_KEY"}, model.Auth, "no; the key is that of OPENAI_API_KEY: set it to one that is valid there; `maker doctor --online` tries it"},
		{Options{SecretFrom: "OPENAI_API_KEY"}, model.Auth, "no; OPENAI_API_KEY is not set: set it to your key"},
		{Options{Secret: "k"}, model.Auth, "no"},
		{Options{Secret: "k", SecretFrom: "OPENAI_API_KEY"}, model.Invalid, "no"},
	} {
		if got := newClient(t, "http://localhost", test.options).Error(test.kind, 401, "no").Message; got != test.want {
			t.Errorf("Error(%s) with %+v = %q, want %q", test.kind, test.options, got, test.want)
		}
	}
}
