package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
)

// TestOpenAPIHasAllRoutes: every route is described, and nothing else is.
func TestOpenAPIHasAllRoutes(t *testing.T) {
	s := New(Options{LogDir: t.TempDir()})
	described := map[string]bool{}
	for name, o := range operations {
		if described[name] = true; o.summary == "" {
			t.Errorf("%s has no summary", name)
		}
	}
	for _, r := range s.routes() {
		name := r.method + " " + r.path
		if !described[name] {
			t.Errorf("%s is not in the document", name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s is in the document, and no route", name)
	}
}

// held holds answers against the document.
type held struct {
	t    *testing.T
	base string
	doc  struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Parameters []struct{ Name, In string }
			Responses  map[string]struct {
				Content map[string]struct{ Schema *jsonschema.Schema }
			}
		}
	}
	tried map[string]bool
}

// path is the path of the document that an address belongs to.
func (h *held) path(at string) string {
	parts := strings.Split(at, "/")
	for path := range h.doc.Paths {
		names := strings.Split(path, "/")
		fits := len(names) == len(parts)
		for i := 0; fits && i < len(names); i++ {
			fits = names[i] == parts[i] || strings.HasPrefix(names[i], "{") && path != "/api/runs" && parts[i] != ""
		}
		if fits && (!strings.Contains(path, "{") || h.doc.Paths[at] == nil) {
			return path
		}
	}
	h.t.Fatalf("no path of the document is %s", at)
	return ""
}

// ask sends a request and checks that the answer is as the document says.
func (h *held) ask(method, address, body string) []byte {
	h.t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		h.t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(h.t.Context(), method, h.base+address, strings.NewReader(body))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	path := h.path(at.Path)
	op := h.doc.Paths[path][strings.ToLower(method)]
	h.tried[method+" "+path] = true
	for name := range at.Query() {
		known := false
		for _, p := range op.Parameters {
			known = known || p.Name == name && p.In == "query"
		}
		if !known {
			h.t.Errorf("%s %s: the document does not know %s", method, path, name)
		}
	}
	answer, ok := op.Responses[strconv.Itoa(resp.StatusCode)]
	if !ok {
		h.t.Errorf("%s %s = %d %s, which the document does not know", method, address, resp.StatusCode, data)
		return data
	}
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if len(answer.Content) == 0 {
		if len(data) > 0 {
			h.t.Errorf("%s %s = %s, want nothing", method, address, data)
		}
		return data
	}
	of, ok := answer.Content[media]
	if !ok {
		h.t.Errorf("%s %s = %s, want one of %v", method, address, media, answer.Content)
		return data
	}
	if !strings.HasSuffix(media, "json") {
		return data
	}
	resolved, err := of.Schema.Resolve(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		h.t.Fatal(err)
	}
	if err := resolved.Validate(v); err != nil {
		h.t.Errorf("%s %s: %v\n%s", method, address, err, data[:min(len(data), 2000)])
	}
	return data
}

// TestOpenAPIHolds: what the server answers is what its document says.
func TestOpenAPIHolds(t *testing.T) {
	dir := t.TempDir()
	engine, err := maker.New(&maker.Options{LogDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{
		LogDir: dir, Engine: engine,
		Settings: func(config.Kinds, map[string][]string) (*maker.Options, error) {
			return &maker.Options{Config: maker.Config{Model: "sim/default?p=0.9&malformed=0.1&latency=2ms,0.1"}}, nil
		},
		Resuming: func(map[string][]string) (*maker.Options, func(*maker.Config), error) {
			return &maker.Options{}, func(*maker.Config) {}, nil
		},
	})
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		web.Close()
		_ = engine.Close()
	})
	h := &held{t: t, base: web.URL, tried: map[string]bool{}}
	resp, err := http.Get(web.URL + "/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(resp.Body).Decode(&h.doc); err != nil || h.doc.OpenAPI != "3.1.0" {
		t.Fatalf("the document: %v", err)
	}
	resp.Body.Close()
	h.ask("GET", "/api/openapi.json", "")
	start := func(order string) string {
		var started StartedRun
		if err := json.Unmarshal(h.ask("POST", "/api/runs", order), &started); err != nil {
			t.Fatal(err)
		}
		return "/api/runs/" + started.Run.Run
	}
	chain := start(`{"kind":"hanoi","params":{"disks":6}}`)
	table := start(`{"kind":"map","params":{"records":[{"a":"1"},{"a":"2"}],"questions":[{"prompt":"What is {{.a}} + 1?"}],"answer":{"number":true}}}`)
	problem := start(`{"kind":"solve","task":"What is 12 * 12?"}`)
	tasks := start(`{"kind":"do","task":"- Ask me which colour I like."}`)
	plan := start(`{"kind":"run","task":"Count to three"}`)
	h.ask("POST", chain+"/pause", "")
	h.ask("POST", chain+"/resume", "{}")
	h.ask("POST", tasks+"/answers", `{"question":"x","answer":"red"}`)
	for _, run := range []string{chain, table, problem, tasks, plan} {
		for _, part := range []string{"", "/strip?width=7", "/steps?order=margin&limit=3", "/steps/0", "/steps/99999", "/shape", "/records?limit=1", "/effects", "/questions", "/certificate", "/result", "/replay", "/values/x"} {
			h.ask("GET", run+part, "")
		}
		h.ask("POST", run+"/cancel", "")
	}
	h.ask("GET", chain+"/events?from=2", "")
	h.ask("DELETE", chain, "")
	h.ask("GET", "/api/runs?q=a&state=running", "")
	h.ask("GET", "/api/runs?state=x", "")
	h.ask("POST", "/api/runs", `{"kind":"x"}`)
	h.ask("POST", "/api/preview", `{"kind":"hanoi","params":{"disks":2}}`)
	for _, path := range []string{"/api/runs", "/api/kinds", "/api/me", "/healthz", "/readyz", "/metrics"} {
		h.ask("GET", path, "")
	}
	h.tried["GET /api/events"] = true // which does not end
	for name := range operations {
		if !h.tried[name] {
			t.Errorf("%s was not tried", name)
		}
	}
}

// TestMeasure: the figures are those of the runs.
func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	engine, err := maker.New(&maker.Options{LogDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s := New(Options{LogDir: dir, Engine: engine, Settings: func(config.Kinds, map[string][]string) (*maker.Options, error) {
		return &maker.Options{Config: maker.Config{Model: "sim/default?p=1"}}, nil
	}})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/api/runs", strings.NewReader(`{"kind":"hanoi","params":{"disks":4}}`)))
	var started StartedRun
	if err := json.Unmarshal(w.Body.Bytes(), &started); err != nil {
		t.Fatal(err)
	}
	s.work.Wait() // until it has ended
	s.list.known = map[string]seen{}
	w = httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		"maker_runs{state=\"completed\"} 1\n", "maker_runs_here 0\n", "maker_steps_total 15\n", "maker_samples_total 45\n", "maker_contested_total 0\n", "maker_step_seconds_count 15\n",
	} {
		if !bytes.Contains(w.Body.Bytes(), []byte(want)) {
			t.Errorf("%q is missing in\n%s", want, w.Body)
		}
	}
	s.Close()
	w = httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("GET /readyz of a closed server = %d", w.Code)
	}
}
