package route

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
)

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

var withKey = environment(map[string]string{"OPENAI_API_KEY": "k-1"})

var (
	withRouter = environment(map[string]string{"OPENROUTER_API_KEY": "r"})
	withBoth   = environment(map[string]string{"OPENROUTER_API_KEY": "r", "OPENAI_API_KEY": "k"})
)

func TestOpen(t *testing.T) {
	tests := []struct {
		name      string
		opts      Options
		want      string // the name
		provider  string
		priced    bool
		simulated bool
	}{
		{name: "sim/default", want: "sim/default", provider: "sim", priced: true, simulated: true},
		{name: "sim/", want: "sim/default", provider: "sim", priced: true, simulated: true},
		{name: "sim/default?seed=7&p=0.9", want: "sim/default?p=0.9&seed=7", provider: "sim", priced: true, simulated: true},
		{name: "openai/gpt-4.1-mini", opts: Options{Env: withKey}, want: "openai/gpt-4.1-mini", provider: "openai", priced: true},
		{name: "gpt-4.1-mini", opts: Options{Env: withKey}, want: "openai/gpt-4.1-mini", provider: "openai", priced: true},
		{name: "openai/nobody-knows-this", opts: Options{Env: withKey}, want: "openai/nobody-knows-this", provider: "openai"},
		{name: "compat/org/model:7b", opts: Options{BaseURL: "http://127.0.0.1:1/v1"}, want: "compat/org/model:7b", provider: "compat"},
		{
			name: "compat/sim/default?p=0.9", opts: Options{BaseURL: "http://127.0.0.1:1/v1"},
			want: "compat/sim/default?p=0.9", provider: "compat", priced: true, simulated: true,
		},
		{name: "meta-llama/llama-3.1-8b-instruct", opts: Options{Env: withRouter}, want: "openrouter/meta-llama/llama-3.1-8b-instruct", provider: "openrouter"},
		{name: "openai/gpt-oss-20b", opts: Options{Env: withRouter}, want: "openrouter/openai/gpt-oss-20b", provider: "openrouter", priced: true},
		{name: "anthropic/claude-sonnet-4.5", opts: Options{Env: withRouter}, want: "openrouter/anthropic/claude-sonnet-4.5", provider: "openrouter"},
		{name: "gpt-4.1-mini", opts: Options{Env: withRouter}, want: "openrouter/openai/gpt-4.1-mini", provider: "openrouter"},
		{name: "openai/gpt-4.1-mini", opts: Options{Env: withBoth}, want: "openai/gpt-4.1-mini", provider: "openai", priced: true},
		{name: "openai/sim/default", opts: Options{Env: withKey}, want: "openai/sim/default", provider: "openai", priced: true, simulated: true},
	}
	for _, test := range tests {
		if test.opts.Env == nil {
			test.opts.Env = environment(nil)
		}
		test.opts.Prices = price.Default()
		v, err := Open(test.name, test.opts)
		if err != nil {
			t.Errorf("Open(%q) = %v", test.name, err)
			continue
		}
		if v.Name != test.want || v.Provider != test.provider || v.Simulated != test.simulated || (v.Price != nil) != test.priced || v.Model == nil {
			t.Errorf("Open(%q) = %q of %q, simulated %t, priced %t, want %q of %q, %t, %t", test.name,
				v.Name, v.Provider, v.Simulated, v.Price != nil, test.want, test.provider, test.simulated, test.priced)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name string
		opts Options
		want []string // parts of the message
	}{
		{name: "", want: []string{"names no provider", "compat", "openai", "sim"}},
		{name: "llama-3", want: []string{`"llama-3"`, "names no provider", "provider/model"}},
		{name: "default?script=a/b.yaml", want: []string{"names no provider"}}, // the slash is inside a setting
		{name: "nowhere/m", want: []string{`"nowhere"`, "compat", "openai", "sim"}},
		{name: "/m", want: []string{"names no provider"}},
		{name: "openai/gpt-4.1-mini", want: []string{"OPENAI_API_KEY", "sim/default"}},
		{name: "gpt-4.1-mini", want: []string{"OPENAI_API_KEY", "sim/default"}},
		{name: "anthropic/claude-sonnet-4-5", opts: Options{Env: withRouter}, want: []string{"set ANTHROPIC_API_KEY", "OPENROUTER_API_KEY, which is set: --model openrouter/anthropic/claude-sonnet-4.5"}},
		{name: "anthropic/claude-3-haiku", opts: Options{Env: withRouter}, want: []string{"--model openrouter/anthropic/claude-3-haiku"}},
		{name: "claude-3-5-sonnet-20241022", opts: Options{Env: withRouter}, want: []string{"--model openrouter/anthropic/claude-3.5-sonnet-20241022"}},
		{name: "claude-sonnet-4-5", opts: Options{Env: withKey}, want: []string{"set ANTHROPIC_API_KEY", "OPENAI_API_KEY, which is set: --model openai/gpt-4.1-mini"}},
		{name: "nowhere/m", opts: Options{Env: withKey}, want: []string{`"nowhere"`, "need OPENROUTER_API_KEY"}},
		{name: "openai/", opts: Options{Env: withKey}, want: []string{"no name"}},
		{name: "openai/m", opts: Options{Env: environment(map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "ftp://x"})}, want: []string{"base URL"}},
		{name: "compat/m", want: []string{"compat/", "--base-url"}},
		{name: "compat/", opts: Options{BaseURL: "http://127.0.0.1:1/v1"}, want: []string{"no name"}},
		{name: "compat/m", opts: Options{BaseURL: "not an address"}, want: []string{"base URL"}},
		{name: "sim/other", want: []string{`"other"`, "sim/default"}},
		{name: "sim/default?p=2", want: []string{"p=2"}},
		{name: "sim/default?colour=red", want: []string{`"colour"`, "malformed"}},
		{name: "sim/default?script=/no/such/file", want: []string{"/no/such/file"}},
	}
	for _, test := range tests {
		if test.opts.Env == nil {
			test.opts.Env = environment(nil)
		}
		test.opts.Prices = price.Default()
		v, err := Open(test.name, test.opts)
		if err == nil {
			t.Errorf("Open(%q) = %+v, want an error", test.name, v)
			continue
		}
		for _, part := range test.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Open(%q) = %q, want %q in it", test.name, err, part)
			}
		}
	}
}

// wire keeps the request that it was given.
type wire struct{ req *http.Request }

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.req = req
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`{"choices":[{"finish_reason":"stop","message":{"content":"hello"}}]}`)),
	}, nil
}

// TestWhereRequestsGo looks at the wire: which address, and which key.
func TestWhereRequestsGo(t *testing.T) {
	tests := []struct {
		name, baseURL string
		env           map[string]string
		url, key      string
		model         string
	}{
		{
			name: "openai/gpt-4.1-mini", env: map[string]string{"OPENAI_API_KEY": "k-1", "MAKER_COMPAT_API_KEY": "k-2"},
			baseURL: "http://127.0.0.1:9/v1", // is for compat/ alone
			url:     "https://api.openai.com/v1/chat/completions", key: "Bearer k-1", model: "gpt-4.1-mini",
		},
		{
			name: "gpt-4.1-mini", env: map[string]string{"OPENAI_API_KEY": "k-1", "OPENAI_BASE_URL": "http://127.0.0.1:8/v1"},
			url: "http://127.0.0.1:8/v1/chat/completions", key: "Bearer k-1", model: "gpt-4.1-mini",
		},
		{
			name: "compat/org/m", baseURL: "http://127.0.0.1:9/v1", env: map[string]string{"OPENAI_API_KEY": "k-1"},
			url: "http://127.0.0.1:9/v1/chat/completions", key: "", model: "org/m",
		},
		{
			name: "compat/m", baseURL: "http://127.0.0.1:9/v1/", env: map[string]string{"OPENAI_API_KEY": "k-1", "MAKER_COMPAT_API_KEY": "k-2"},
			url: "http://127.0.0.1:9/v1/chat/completions", key: "Bearer k-2", model: "m",
		},
	}
	for _, test := range tests {
		var w wire
		v, err := Open(test.name, Options{BaseURL: test.baseURL, Env: environment(test.env), Transport: &w, Prices: price.Default()})
		if err != nil {
			t.Errorf("Open(%q) = %v", test.name, err)
			continue
		}
		resp, err := v.Generate(t.Context(), &model.Request{Messages: []model.Message{{Role: model.User, Text: "hi"}}})
		if err != nil || resp.Text != "hello" {
			t.Errorf("%s: Generate = %+v, %v, want hello", test.name, resp, err)
			continue
		}
		var body struct{ Model string }
		if err := json.NewDecoder(w.req.Body).Decode(&body); err != nil {
			t.Fatal(err)
		}
		if got := w.req.URL.String(); got != test.url || w.req.Header.Get("Authorization") != test.key || body.Model != test.model {
			t.Errorf("%s asks %s with the key %q for %q, want %s, %q, %q", test.name,
				got, w.req.Header.Get("Authorization"), body.Model, test.url, test.key, test.model)
		}
	}
}

// TestServer: voters share the limits of a server if address and key are the same,
// whatever the model.
func TestServer(t *testing.T) {
	server := func(name, base, key string) string {
		t.Helper()
		env := environment(map[string]string{"OPENAI_API_KEY": key, "MAKER_COMPAT_API_KEY": key})
		v, err := Open(name, Options{BaseURL: base, Env: env, Prices: price.Default()})
		if err != nil {
			t.Fatal(err)
		}
		if key != "" && strings.Contains(v.Server, key) {
			t.Errorf("the server of %s is %q, want no key in it", name, v.Server)
		}
		return v.Server
	}
	const one, two = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"
	first := server("compat/m", one, "k-1")
	for name, same := range map[string]string{
		"another model":       server("compat/n", one, "k-1"),
		"another temperature": server("compat/m@0.7", one, "k-1"),
		"a slash at its end":  server("compat/m", one+"/", "k-1"),
	} {
		if same != first {
			t.Errorf("%s is another server, want the same", name)
		}
	}
	for name, other := range map[string]string{
		"another address":  server("compat/m", two, "k-1"),
		"another key":      server("compat/m", one, "k-2"),
		"no key":           server("compat/m", one, ""),
		"another provider": server("openai/m", one, "k-1"),
		"no server":        server("sim/default", one, "k-1"),
	} {
		if other == first {
			t.Errorf("%s is the same server, want another", name)
		}
	}
	if got := server("sim/default", one, "k-1"); got != "" {
		t.Errorf("the server of sim/default is %q, want none", got)
	}
}

func TestSimulatorIsPricedByItsName(t *testing.T) {
	v, err := Open("sim/default?price=2,10", Options{Env: environment(nil), Prices: price.Default()})
	if err != nil {
		t.Fatal(err)
	}
	want := price.Price{
		Input: price.FromUSD(2e-6), CacheRead: price.FromUSD(2e-6), CacheWrite: price.FromUSD(2e-6), Output: price.FromUSD(10e-6),
	}
	if *v.Price != want {
		t.Errorf("the price of sim/default?price=2,10 is %+v, want %+v", *v.Price, want)
	}
}

// TestKeyFrom: an error about a key says where it comes from.
func TestKeyFrom(t *testing.T) {
	p := Provider{Name: "openai", KeyVar: "OPENAI_API_KEY"}
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "OPENAI_API_KEY"},
		{map[string]string{"OPENAI_API_KEY_FILE": "k"}, "the file that OPENAI_API_KEY_FILE names"},
		{map[string]string{"OPENAI_API_KEY": "k", "OPENAI_API_KEY_FILE": "k"}, "OPENAI_API_KEY"},
	} {
		if got := p.keyFrom(environment(test.env)); got != test.want {
			t.Errorf("with %v the key is that of %s, want %s", test.env, got, test.want)
		}
	}
}

// TestMissingKeyNamesItsVariable goes over all providers there are.
func TestMissingKeyNamesItsVariable(t *testing.T) {
	wanted := 0
	for _, p := range Providers() {
		if p.KeyVar == "" {
			continue
		}
		wanted++
		_, err := Open(p.Name+"/m", Options{Env: environment(nil), Prices: price.Default()})
		if err == nil || !strings.Contains(err.Error(), p.KeyVar) || !strings.Contains(err.Error(), "sim/default") {
			t.Errorf("Open(%s/m) without a key = %v, want %s and the simulator in it", p.Name, err, p.KeyVar)
		}
		if _, err := Open(p.Name+"/m", Options{Env: environment(map[string]string{p.KeyVar: "k"}), Prices: price.Default()}); err != nil {
			t.Errorf("Open(%s/m) with %s = %v, want nil", p.Name, p.KeyVar, err)
		}
	}
	if wanted == 0 {
		t.Error("no provider needs a key, want at least one")
	}
}
