package anthropic

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/test/modeltest"
)

func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Config{
		New: func(s modeltest.Server) (model.Model, error) {
			return New(Options{
				BaseURL: s.BaseURL, Model: s.Model, APIKey: s.Key, Warn: s.Warn,
				MaxResponseBytes: s.MaxResponseBytes,
			})
		},
		Schema: "output_config",
		Refuse: func(param string) string {
			return `{"type": "error", "error": {"type": "invalid_request_error", "message": "` + "`" + param + "`" + ` is deprecated for this model."}}`
		},
	})
}

const key = "sk-ant-very-secret"

func TestNew(t *testing.T) {
	for _, o := range []Options{
		{},
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
		"":                             "https://api.anthropic.com/v1/messages",
		"https://api.anthropic.com/":   "https://api.anthropic.com/v1/messages",
		"https://api.anthropic.com/v1": "https://api.anthropic.com/v1/messages",
		"http://localhost:4000/v1/":    "http://localhost:4000/v1/messages",
		"http://localhost/claude":      "http://localhost/claude/v1/messages",
		"http://localhost/claude/v1":   "http://localhost/claude/v1/messages",
		"http://localhost/av1?beta=1":  "http://localhost/av1/v1/messages?beta=1",
	} {
		c, err := New(Options{Model: "m", BaseURL: base})
		if err != nil || c.http.Address != want {
			t.Errorf("New with base %q asks %v, %v, want %s", base, c, err, want)
		}
	}
	c, err := New(Options{Model: "m", Provider: "proxy", BaseURL: "http://user:pass@localhost?token=x", APIKey: key})
	if err != nil || c.String() != "proxy/m at localhost/v1/messages" {
		t.Errorf("String() = %q, %v, want no secrets", c, err)
	}
}

// TestRefusals has servers refuse what the shared suite does not know.
func TestRefusals(t *testing.T) {
	tools := []model.Tool{{Name: "now"}}
	for _, test := range []struct {
		name, refusal string
		refuses       string // requests with this in them
		requests      int
		warning       string // "" if the call fails
	}{
		{"cache on tools", "tools.0.cache_control: Extra inputs are not permitted", `"cache_control"`, 2, "cache_control is left out"},
		{"cache on the system prompt", "system.0.cache_control: Extra inputs are not permitted", `"cache_control"`, 2, "cache_control is left out"},
		{"format", "output_config.format: Extra inputs are not permitted", `"output_config"`, 2, "structured output is not asked for"},
		{"format by words", "'m' does not support output format.", `"output_config"`, 2, "structured output is not asked for"},
		{"temperature with thinking", "`temperature` may only be set to 1 when thinking is enabled.", `"temperature"`, 2, "temperature is left out"},
		{"range", "temperature: range: 0..1", `"temperature"`, 1, ""},
		{"something else", "messages: final assistant content cannot end with trailing whitespace", `"messages"`, 1, ""},
		{"nothing like it", "Invalid request data", `"temperature"`, 1, ""},
	} {
		requests := 0
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), test.refuses) {
				w.WriteHeader(400)
				io.WriteString(w, `{"type": "error", "error": {"type": "invalid_request_error", "message": "`+test.refusal+`"}}`)
				return
			}
			io.WriteString(w, `{"type": "message", "content": []}`)
		}))
		var warnings []string
		c, err := New(Options{BaseURL: ts.URL, Model: "m", APIKey: key, Warn: func(s string) { warnings = append(warnings, s) }})
		if err != nil {
			t.Fatal(err)
		}
		half := 0.5
		_, err = c.Generate(t.Context(), &model.Request{
			System: "s", Tools: tools, Messages: []model.Message{{Role: model.User, Text: "a"}}, Temperature: &half, CachePrefix: true,
			Output: &model.OutputFormat{Mode: model.JSONSchema, Schema: []byte(`{"type": "object"}`)},
		})
		c.CloseIdle()
		ts.Close()
		switch {
		case requests != test.requests:
			t.Errorf("%s: %d requests, want %d", test.name, requests, test.requests)
		case test.warning == "" && (model.KindOf(err) != model.Invalid || len(warnings) > 0):
			t.Errorf("%s: Generate fails with %v and warnings %q, want invalid and none", test.name, err, warnings)
		case test.warning != "" && (err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], test.warning)):
			t.Errorf("%s: Generate fails with %v and warnings %q, want %q", test.name, err, warnings, test.warning)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn", "usage": {"input_tokens": 3}}`), 200)
	f.Add([]byte(`{"type": "message", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {"c": 1}}], "stop_reason": "tool_use"}`), 200)
	f.Add([]byte(`{"type": "message", "content": "hi", "stop_reason": "refusal", "stop_details": {"explanation": "x"}}`), 200)
	f.Add([]byte(`{"type": "error", "error": {"type": "invalid_request_error", "message": "temperature is deprecated"}, "request_id": "r"}`), 400)
	f.Add([]byte(`{"error": "m"}`), 500)
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		c, err := New(Options{Model: "m", APIKey: key, Transport: stub{status, body}, Warn: func(string) {}})
		if err != nil {
			t.Fatal(err)
		}
		half := 0.5
		r, err := c.Generate(t.Context(), &model.Request{Messages: []model.Message{{Role: model.User, Text: "a"}}, Temperature: &half})
		modeltest.CheckAnswer(t, r, err)
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
