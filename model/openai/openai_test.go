package openai

import (
	"fmt"
	"io"
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
	"github.com/maker-mdap/maker/test/modeltest"
)

const key = "sk-very-secret"

func config(provider string) modeltest.Config {
	return modeltest.Config{
		New: func(s modeltest.Server) (model.Model, error) {
			return New(Options{
				BaseURL: s.BaseURL + "/v1", Provider: provider, Model: s.Model, APIKey: s.Key, Warn: s.Warn,
				MaxResponseBytes: s.MaxResponseBytes,
			})
		},
		Schema: "response_format",
		Refuse: func(param string) string {
			return `{"error": {"message": "Unsupported parameter: '` + param + `' is not supported with this model.", "type": "invalid_request_error", "param": "` + param + `", "code": "unsupported_parameter"}}`
		},
	}
}

func TestConformance(t *testing.T) {
	modeltest.Run(t, config(openAI))
}

// TestProviders looks at what is sent to other providers.
func TestProviders(t *testing.T) {
	for _, provider := range []string{openRouter, "compat"} {
		c := config(provider)
		c.Requests = "requests_" + provider
		t.Run(provider, func(t *testing.T) { modeltest.Requests(t, c) })
	}
}

func newClient(t *testing.T, baseURL, name string) *Client {
	t.Helper()
	c, err := New(Options{BaseURL: baseURL, APIKey: key, Model: name})
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
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return s, ts.URL + "/v1"
}

func ask(prompt string) *model.Request {
	return &model.Request{System: "Be brief.", Messages: []model.Message{{Role: model.User, Text: prompt}}}
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
	for base, want := range map[string]string{
		"":                           "https://api.openai.com/v1/chat/completions",
		"http://localhost:1/v1/":     "http://localhost:1/v1/chat/completions",
		"http://localhost:1":         "http://localhost:1/chat/completions",
		"https://host/api?version=2": "https://host/api/chat/completions?version=2",
	} {
		c, err := New(Options{Model: "m", BaseURL: base})
		if err != nil || c.http.Address != want {
			t.Errorf("New with base %q asks %v, %v, want %s", base, c, err, want)
		}
	}
	c, err := New(Options{Model: "m", Provider: "compat", BaseURL: "http://user:pass@localhost?token=x", APIKey: key})
	if err != nil || c.String() != "compat/m at localhost/chat/completions" {
		t.Errorf("String() = %q, %v, want no secrets", c, err)
	}
	c, err = New(Options{Model: "m", Provider: openRouter, BaseURL: "http://localhost"})
	if err != nil || c.http.Header.Get("X-Title") != "MAKER" || c.http.Header.Get("HTTP-Referer") == "" || c.http.Header.Get("Authorization") != "" {
		t.Errorf("New for OpenRouter sends %v, %v, want our name, and no key", c.http.Header, err)
	}
}

// TestKnown looks at what needs no learning.
func TestKnown(t *testing.T) {
	warm := 0.5
	for _, test := range []struct {
		provider, model string
		temperature     bool
		limit           string
	}{
		{openAI, "gpt-4.1", true, "max_completion_tokens"},
		{openAI, "gpt-5-chat-latest", true, "max_completion_tokens"},
		{openAI, "gpt-5.4-mini", false, "max_completion_tokens"},
		{openAI, "o3-mini", false, "max_completion_tokens"},
		{openAI, "omni", true, "max_completion_tokens"},
		{openRouter, "openai/gpt-5", true, "max_tokens"},
		{"ollama", "o1", true, "max_tokens"},
	} {
		var body string
		warnings := 0
		c, err := New(Options{Provider: test.provider, Model: test.model, BaseURL: "http://localhost", Warn: func(string) { warnings++ },
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				data, err := io.ReadAll(r.Body)
				body = string(data)
				return stub{200, []byte(`{"choices": [{"message": {}}]}`)}.response(), err
			})})
		if err != nil {
			t.Fatal(err)
		}
		req := ask("x")
		req.Temperature, req.MaxOutput = &warm, 9
		for range 2 {
			if _, err := c.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Contains(body, `"temperature":0.5`); got != test.temperature {
			t.Errorf("%s/%s is sent a temperature: %t, want %t", test.provider, test.model, got, test.temperature)
		}
		if !strings.Contains(body, `"`+test.limit+`":9`) {
			t.Errorf("%s/%s is sent %s, want %s", test.provider, test.model, body, test.limit)
		}
		if want := map[bool]int{true: 0, false: 1}[test.temperature]; warnings != want {
			t.Errorf("%s/%s: %d warnings, want %d", test.provider, test.model, warnings, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "cost": 0.1}}`), 200)
	f.Add([]byte(`{"choices": [{"message": {"content": [{"type": "text", "text": "a"}]}}, {"message": {"tool_calls": [{"id": "a", "function": {"name": "b", "arguments": "{"}}]}}], "usage": {"completion_tokens": 7, "total_tokens": 99}}`), 200)
	f.Add([]byte(`{"error": {"message": "temperature is not supported", "code": 429, "metadata": {"raw": "x"}}}`), 400)
	f.Add([]byte(`{"error": "m"}`), 500)
	f.Add([]byte(`{"message": ["n"], "detail": "m"}`), 422)
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		c, err := New(Options{Model: "m", APIKey: key, Transport: stub{status, body}, Warn: func(string) {}})
		if err != nil {
			t.Fatal(err)
		}
		warm := 0.5
		req := ask("x")
		req.Temperature = &warm
		r, err := c.Generate(t.Context(), req)
		modeltest.CheckAnswer(t, r, err)
		list, err := c.GenerateN(t.Context(), req, 3)
		if (len(list) == 0) == (err == nil) {
			t.Fatalf("GenerateN = %v, %v, want one of them", list, err)
		}
		for _, r := range list {
			modeltest.CheckAnswer(t, r, nil)
		}
	})
}

// A stub is a server without a connection.
type stub struct {
	status int
	body   []byte
}

func (s stub) response() *http.Response {
	return &http.Response{StatusCode: s.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(s.body)))}
}

func (s stub) RoundTrip(*http.Request) (*http.Response, error) { return s.response(), nil }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
