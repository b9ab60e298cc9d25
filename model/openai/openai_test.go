package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
	"github.com/maker-mdap/maker/usage"
)

const key = "sk-very-secret"

func newClient(t *testing.T, baseURL, name string) *Client {
	t.Helper()
	c, err := New(Options{BaseURL: baseURL, APIKey: key, Model: name, MaxResponseBytes: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

// newSim starts a simulator on loopback.
func newSim(t *testing.T) (s *simserver.Server, baseURL string) {
	t.Helper()
	s, err := simserver.Handler(simserver.Options{RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(s)
	ts.Config.ConnState = s.ConnState
	ts.Start()
	t.Cleanup(ts.Close)
	return s, ts.URL + "/v1"
}

func ask(prompt string) *model.Request {
	return &model.Request{System: "Be brief.", Messages: []model.Message{{Role: model.User, Text: prompt}}}
}

func TestGenerate(t *testing.T) {
	s, base := newSim(t)
	c := newClient(t, base, "sim/default?p=1")
	for range 20 {
		r, err := c.Generate(t.Context(), ask("Compute: 20 + 22"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(r.Text, "\nanswer = 42") || r.Stop != model.StopEnd || r.Model != "sim/default?p=1" {
			t.Errorf("Generate = %+v, want 42", r)
		}
		if want := (usage.Tokens{Input: 7, Output: int64(len(r.Text)+3) / 4}); r.Usage != want {
			t.Errorf("usage %+v, want %+v", r.Usage, want)
		}
	}
	if n := s.Stats().Connections; *n != 1 {
		t.Errorf("20 calls used %d connections, want 1", *n)
	}
	req := ask("Compute: 20 + 22")
	req.MaxOutput = 2
	if r, err := c.Generate(t.Context(), req); err != nil || r.Stop != model.StopLength || r.Usage.Output != 2 {
		t.Errorf("Generate with 2 tokens = %+v, %v, want a stop for length", r, err)
	}
}

// TestSimulated compares answers and faults with those in process.
func TestSimulated(t *testing.T) {
	const name = "sim/default?p=0.6&malformed=0.2&rivals=3&f429=0.1&f529=0.1&f500=0.1&cut=0.1&garbage=0.1&retry_after=1500ms&seed=3"
	settings, err := sim.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	inProcess, err := sim.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	_, base := newSim(t)
	tally := func(m model.Model) []string {
		var out []string
		for range 300 {
			r, err := m.Generate(t.Context(), ask("Sort: [3, 1, 2]"))
			if err == nil {
				out = append(out, r.Text)
				continue
			}
			e := model.AsError(err)
			wait := e.RetryAfter
			if e.Kind == model.Overloaded && wait == 2*time.Second {
				wait = 1500 * time.Millisecond // the header has whole seconds
			}
			out = append(out, fmt.Sprint(e.Kind, wait))
		}
		slices.Sort(out)
		return out
	}
	if diff := cmp.Diff(tally(inProcess), tally(newClient(t, base, name))); diff != "" {
		t.Errorf("answers and faults, in process (-) and over HTTP (+):\n%s", diff)
	}
}

func TestWireRequest(t *testing.T) {
	var got string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.String() + " " + r.Header.Get("Authorization") + " " + string(body)
		io.WriteString(w, `{"choices": [{"message": {}}]}`)
	}))
	defer ts.Close()
	low := 0.1
	full := &model.Request{System: "<s>", Temperature: &low, MaxOutput: 9,
		Messages: []model.Message{{Role: model.User, Text: "a"}, {Role: model.Assistant, Text: "b"}, {Role: model.User, Text: "c"}}}
	const messages = `"messages":[{"role":"system","content":"<s>"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`
	for _, test := range []struct {
		o    Options
		req  *model.Request
		want string
	}{
		{Options{BaseURL: ts.URL + "/v1", APIKey: key}, full,
			`POST /v1/chat/completions Bearer ` + key + ` {"model":"m",` + messages + `,"temperature":0.1,"max_completion_tokens":9}`},
		{Options{BaseURL: ts.URL + "/v1/", Provider: "compat"}, full,
			`POST /v1/chat/completions  {"model":"m",` + messages + `,"temperature":0.1,"max_tokens":9}`},
		{Options{BaseURL: ts.URL + "/api?version=2", Provider: "compat"}, &model.Request{Messages: []model.Message{{Role: model.User, Text: "a"}}},
			`POST /api/chat/completions?version=2  {"model":"m","messages":[{"role":"user","content":"a"}]}`},
	} {
		test.o.Model = "m"
		c, err := New(test.o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Generate(t.Context(), test.req); err != nil {
			t.Errorf("Generate: %v", err)
		}
		c.CloseIdle()
		if got = strings.TrimSuffix(got, "\n"); got != test.want {
			t.Errorf("request\n%s\nwant\n%s", got, test.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	cost := 0.25
	for _, test := range []struct {
		name, body string
		want       model.Response
	}{
		{"details", `{"model": "m-1", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
			"usage": {"prompt_tokens": 100, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 80}, "completion_tokens_details": {"reasoning_tokens": 30}, "cost": 0.25}}`,
			model.Response{Text: "hi", Stop: model.StopEnd, Model: "m-1", Usage: usage.Tokens{Input: 20, CacheRead: 80, Output: 20, Reasoning: 30}, CostUSD: &cost}},
		{"parts larger than the whole", `{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
			"usage": {"prompt_tokens": 1, "completion_tokens": -5, "prompt_tokens_details": {"cached_tokens": 80}, "completion_tokens_details": {"reasoning_tokens": 30}}}`,
			model.Response{Text: "hi", Stop: model.StopEnd, Usage: usage.Tokens{CacheRead: 1}}},
		{"no usage, null details", `{"choices": [{"message": {"content": null, "refusal": null}, "finish_reason": null}], "usage": {"prompt_tokens_details": null}}`, model.Response{}},
		{"length", `{"choices": [{"message": {"content": "hi"}, "finish_reason": "length"}]}`, model.Response{Text: "hi", Stop: model.StopLength}},
		{"filter", `{"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}`, model.Response{Stop: model.StopRefusal}},
		{"refusal", `{"choices": [{"message": {"content": null, "refusal": "I will not."}, "finish_reason": "stop"}]}`, model.Response{Text: "I will not.", Stop: model.StopRefusal}},
		{"odd reason", `{"choices": [{"message": {"content": "hi"}, "finish_reason": "eos"}]}`, model.Response{Text: "hi"}},
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, test.body) }))
		r, err := newClient(t, ts.URL, "m").Generate(t.Context(), ask("x"))
		if err != nil {
			t.Errorf("%s: Generate: %v", test.name, err)
		} else if diff := cmp.Diff(&test.want, r); diff != "" {
			t.Errorf("%s: response (-want +got):\n%s", test.name, diff)
		}
		ts.Close()
	}
}

func TestErrors(t *testing.T) {
	const quota = `{"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}}`
	for _, test := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		text   string // part of the error
	}{
		{"invalid", 400, `{"error": {"message": "temperature is too high", "code": null}}`, model.Invalid, "openai: invalid (HTTP 400): temperature is too high"},
		{"too long", 400, `{"error": {"message": "too much", "code": "context_length_exceeded"}}`, model.TooLong, "too much"},
		{"too long, in prose", 400, `{"error": {"message": "This model's maximum context length is 8 tokens", "code": 400}}`, model.TooLong, "8 tokens"},
		{"too large", 413, `{"error": {"message": "context_length_exceeded"}}`, model.TooLong, "too long"},
		{"key echoed", 401, `{"error": {"message": "Incorrect API key provided: ` + key + `", "code": "invalid_api_key"}}`, model.Auth, "provided: [key]"},
		{"forbidden", 403, `{"error": "no access"}`, model.Auth, "no access"},
		{"no model", 404, `{"error": {"message": "The model does not exist", "code": "model_not_found"}}`, model.Invalid, `model "m-1"`},
		{"timeout", 408, ``, model.Transient, "Request Timeout"},
		{"conflict", 409, `{}`, model.Transient, "{}"},
		{"rate", 429, `{"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}`, model.RateLimited, "slow down"},
		{"quota", 429, quota, model.Invalid, "You exceeded your current quota"},
		{"no money", 402, `{"error": {"message": "Insufficient credits", "code": 402}}`, model.Invalid, "Insufficient credits"},
		{"filter", 400, `{"error": {"message": "no", "code": "content_filter"}}`, model.Refused, "no"},
		{"policy", 400, `{"error": {"message": "no", "code": "content_policy_violation"}}`, model.Refused, "no"},
		{"internal", 500, `oh ` + key, model.Transient, "oh [key]"},
		{"gateway", 502, "<html>\n  <b>bad gateway</b></html>", model.Transient, "<html> <b>bad gateway</b></html>"},
		{"unavailable", 503, `{"error": {"message": "later"}}`, model.Overloaded, "later"},
		{"overloaded", 529, `{"error": {"message": "later"}}`, model.Overloaded, "later"},
		{"html", 200, "<html>" + key, model.Transient, "<html>[key]"},
		{"empty", 200, "", model.Transient, "not what the protocol says"},
		{"wrong type", 200, `{"choices": 5}`, model.Transient, "not what the protocol says"},
		{"half", 200, `{"choices": [{"mess`, model.Transient, "not what the protocol says"},
		{"no choices", 200, `{"choices": []}`, model.Transient, "no choices"},
		{"hidden rate", 200, `{"error": {"message": "slow down", "code": 429}}`, model.RateLimited, "HTTP 429"},
		{"hidden trouble", 200, `{"error": {"message": "odd", "code": "oops"}}`, model.Transient, "odd"},
		{"broken off", 200, `{"choices": [{"message": {"content": "hal"}, "finish_reason": "error"}]}`, model.Transient, "broke off"},
		{"too much", 200, `{"x": "` + strings.Repeat("x", 1<<16) + `"}`, model.Transient, "larger than 65536 bytes"},
		{"too much explanation", 400, strings.Repeat("x", 1<<17), model.Invalid, "xxx..."},
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		}))
		_, err := newClient(t, ts.URL, "m-1").Generate(t.Context(), ask("x"))
		ts.Close()
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != test.kind || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: Generate = %v, want kind %s with %q", test.name, err, test.kind, test.text)
			continue
		}
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, *e, *e), key) {
			t.Errorf("%s: error %+v shows the key", test.name, *e)
		}
		if test.status >= 400 && e.RetryAfter != 3*time.Second {
			t.Errorf("%s: retry after %v, want 3s", test.name, e.RetryAfter)
		}
	}
}

func TestBrokenConnections(t *testing.T) {
	hijack := func(say string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			io.WriteString(conn, say)
			conn.Close()
		}
	}
	for _, test := range []struct {
		name, say string
		kind      model.Kind
	}{
		{"no answer", "", model.Transient},
		{"no HTTP", "hello\r\n\r\n", model.Transient},
		{"cut header", "HTTP/1.1 200 OK\r\nContent-", model.Transient},
		{"cut body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"choices\":", model.Transient},
		{"cut chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":", model.Transient},
		{"cut error", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\n{\"error\":", model.Auth},
		{"redirect", "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/v1\r\nContent-Length: 0\r\n\r\n", model.Invalid},
	} {
		ts := httptest.NewServer(hijack(test.say))
		_, err := newClient(t, ts.URL, "m").Generate(t.Context(), ask("x"))
		ts.Close()
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != test.kind || e.Message == "" {
			t.Errorf("%s: Generate = %v, want kind %s", test.name, err, test.kind)
		}
	}
	// Nobody listens at a port that was just closed.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = newClient(t, "http://"+l.Addr().String(), "m").Generate(t.Context(), ask("x"))
	if model.KindOf(err) != model.Transient || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody listens: Generate = %v, want a transient error", err)
	}
}

// TestContext ends calls that the server leaves without an answer, and waits for
// the server to notice.
func TestContext(t *testing.T) {
	s, err := simserver.Handler(simserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	arrived, left := make(chan struct{}, 1), make(chan struct{}, 1)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		defer func() { left <- struct{}{} }()
		s.ServeHTTP(w, r)
	}))
	defer ts.Close()
	c := newClient(t, ts.URL+"/v1", "sim/default?hang=1")

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	_, err = c.Generate(ctx, ask("x"))
	cancel()
	if model.KindOf(err) != model.Transient || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within") {
		t.Errorf("deadline: Generate = %v, want a transient error", err)
	}
	<-arrived
	<-left

	ctx, cancelCause := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancelCause(errors.New("another sample won"))
	}()
	_, err = c.Generate(ctx, ask("x"))
	if model.KindOf(err) != model.Cancelled || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "another sample won") {
		t.Errorf("cancel: Generate = %v, want kind cancelled and the cause", err)
	}
	<-left
}

func TestNew(t *testing.T) {
	for _, o := range []Options{
		{},
		{Model: "m", Provider: "compat"},
		{Model: "m", BaseURL: "localhost:8080"},
		{Model: "m", BaseURL: "ftp://localhost"},
		{Model: "m", BaseURL: "http://"},
		{Model: "m", BaseURL: "http://local host/"},
		{Model: "m", APIKey: key + "\n"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("New(%+v) = %v, want an error without the key", o, err)
		}
	}
	c, err := New(Options{Model: "m"})
	if err != nil || c.address != "https://api.openai.com/v1/chat/completions" {
		t.Errorf("New with defaults = %+v, %v", c, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}`), 200)
	f.Add([]byte(`{"error": {"message": "m", "code": 429}}`), 400)
	f.Add([]byte(`{"error": "m"}`), 500)
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		c, err := New(Options{Model: "m", Transport: stub{status, body}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Generate(t.Context(), ask("x"))
		if (r == nil) == (err == nil) {
			t.Errorf("answer %d %q gives %v, %v, want one of them", status, body, r, err)
		}
		if r != nil && (r.Usage.Input < 0 || r.Usage.Output < 0 || r.Usage.CacheRead < 0 || r.Usage.Reasoning < 0) {
			t.Errorf("answer %q gives usage %+v", body, r.Usage)
		}
	})
}

// A stub is a server without a connection.
type stub struct {
	status int
	body   []byte
}

func (s stub) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(s.body)))}, nil
}
