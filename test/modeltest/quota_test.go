package modeltest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/anthropic"
	"github.com/maker-mdap/maker/model/openai"
)

// told answers with headers.
type told struct {
	status int
	header map[string]string
	body   string
}

func (a told) RoundTrip(*http.Request) (*http.Response, error) {
	h := http.Header{}
	for name, value := range a.header {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// TestQuota: what a provider says is left becomes a number of calls and a time, and so does
// a refusal that does not say how long to wait.
func TestQuota(t *testing.T) {
	clients := map[string]func(told) (model.Model, error){
		"anthropic": func(a told) (model.Model, error) {
			a.body = `{"type": "message", "content": [], "usage": {"input_tokens": 100, "cache_read_input_tokens": 5000, "output_tokens": 20}}`
			return anthropic.New(anthropic.Options{Model: "m", Transport: a})
		},
		"openai": func(a told) (model.Model, error) {
			a.body = `{"choices": [{"message": {"content": ""}}], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}`
			return openai.New(openai.Options{Model: "m", Transport: a})
		},
	}
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for _, test := range []struct {
		name, client string
		header       map[string]string
		left         int           // of an answer; -1 if it is not known
		every        time.Duration // of a refusal too
	}{
		{"nothing said", "anthropic", nil, -1, 0},
		{"nothing said", "openai", nil, -1, 0},
		{"requests", "openai", map[string]string{
			"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m0s",
			"x-ratelimit-limit-tokens": "150000", "x-ratelimit-remaining-tokens": "149984", "x-ratelimit-reset-tokens": "6ms",
		}, 0, time.Second},
		{"tokens, which are charged as asked for", "openai", map[string]string{
			"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s",
			"x-ratelimit-limit-tokens": "3000", "x-ratelimit-remaining-tokens": "1500", "x-ratelimit-reset-tokens": "30s",
		}, 3, 10 * time.Second},
		{"no limit", "openai", map[string]string{
			"x-ratelimit-limit-requests": "-1", "x-ratelimit-remaining-requests": "-1", "x-ratelimit-reset-requests": "0s",
			"x-ratelimit-limit-tokens": "0", "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m0s",
		}, -1, 0},
		{"requests", "anthropic", map[string]string{
			"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": in(50 * time.Second),
			"anthropic-ratelimit-tokens-limit": "36000", "anthropic-ratelimit-tokens-remaining": "36000", "anthropic-ratelimit-tokens-reset": in(0),
		}, 0, time.Second},
		{"input, without what is cached", "anthropic", map[string]string{
			"anthropic-ratelimit-input-tokens-limit": "1000", "anthropic-ratelimit-input-tokens-remaining": "250", "anthropic-ratelimit-input-tokens-reset": in(45 * time.Second),
			"anthropic-ratelimit-output-tokens-limit": "1000", "anthropic-ratelimit-output-tokens-remaining": "900", "anthropic-ratelimit-output-tokens-reset": in(time.Second),
		}, 2, 6 * time.Second},
		{"output", "anthropic", map[string]string{
			"anthropic-ratelimit-output-tokens-limit": "400", "anthropic-ratelimit-output-tokens-remaining": "0", "anthropic-ratelimit-output-tokens-reset": in(80 * time.Second),
		}, 0, 4 * time.Second},
	} {
		near := func(got time.Duration) bool { // a time has whole seconds, and some have passed
			return got <= test.every && got >= test.every*8/10
		}
		what := test.client + ", " + test.name
		m, err := clients[test.client](told{status: 200, header: test.header})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.Generate(t.Context(), ask("x"))
		switch {
		case err != nil:
			t.Errorf("%s: %v", what, err)
		case test.left < 0 && r.Quota != nil:
			t.Errorf("%s: the quota is %+v, want none", what, r.Quota)
		case test.left >= 0 && (r.Quota == nil || r.Quota.Left != test.left || !near(r.Quota.Every)):
			t.Errorf("%s: the quota is %+v, want %d calls left and one more every %v", what, r.Quota, test.left, test.every)
		}
		if test.left > 0 {
			continue
		}
		if m, err = clients[test.client](told{status: 429, header: test.header}); err != nil {
			t.Fatal(err)
		}
		if _, err = m.Generate(t.Context(), ask("x")); model.KindOf(err) != model.RateLimited || model.AsError(err).RetryNow {
			t.Errorf("%s: Generate fails with %v, want that it was too much and to wait", what, err)
		}
		want := test.every
		if test.name == "output" { // what it would have taken is not known
			want = 8 * time.Second
		}
		if got := model.AsError(err).RetryAfter; got > want || got < want*8/10 {
			t.Errorf("%s: a refusal asks for %v, want %v", what, got, want)
		}
	}
}
