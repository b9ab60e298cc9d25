package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/runs"
)

// served is a server with a folder of its own.
type served struct {
	t      *testing.T
	logDir string
	server *server.Server
	engine *maker.Engine
	*httptest.Server
}

// serve starts a server. Change may be nil.
func serve(t *testing.T, logDir string, change func(*server.Options)) *served {
	t.Helper()
	engine, err := maker.New(&maker.Options{LogDir: logDir})
	if err != nil {
		t.Fatal(err)
	}
	set := func(c *config.Config, given map[string][]string) error {
		for name, texts := range given {
			for _, text := range texts {
				if err := config.Find(name).Value(c).Set(text); err != nil {
					return &maker.ConfigError{Field: name, Err: err}
				}
			}
		}
		return nil
	}
	o := server.Options{
		LogDir: logDir, Engine: engine, Patience: 5 * time.Second,
		Settings: func(_ config.Kinds, given map[string][]string) (*maker.Options, error) {
			o := &maker.Options{Config: config.Config{Model: "sim/default"}}
			return o, set(&o.Config, given)
		},
		Resuming: func(given map[string][]string) (*maker.Options, func(*maker.Config), error) {
			var tried config.Config
			err := set(&tried, given)
			return &maker.Options{}, func(c *maker.Config) { _ = set(c, given) }, err
		},
		Redact: func(text string) string { return strings.ReplaceAll(text, "sk-secret", "[key]") },
	}
	if change != nil {
		change(&o)
	}
	s := &served{t: t, logDir: logDir, server: server.New(o), engine: engine}
	s.Server = httptest.NewServer(s.server)
	t.Cleanup(s.stop)
	return s
}

// stop shuts the server down; doing so again does nothing.
func (s *served) stop() {
	s.server.Close()
	s.Server.Close()
	if err := s.engine.Close(); err != nil {
		s.t.Error(err)
	}
}

// ask sends a request, whose body is JSON, and returns the answer and its status.
func (s *served) ask(method, path string, body any) (int, []byte) {
	s.t.Helper()
	var in io.Reader
	if text, ok := body.(string); ok {
		in = strings.NewReader(text)
	} else if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, data
}

// must is ask for what has to succeed. It reads the answer into v unless that is nil.
func (s *served) must(method, path string, body, v any) {
	s.t.Helper()
	status, data := s.ask(method, path, body)
	if status >= 300 {
		s.t.Fatalf("%s %s = %d %s", method, path, status, data)
	}
	if v != nil {
		if err := json.Unmarshal(data, v); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, data)
		}
	}
}

type object = map[string]any

// start starts a run and returns its name.
func (s *served) start(kind, task string, params, settings object) string {
	s.t.Helper()
	var out struct{ Run runs.Summary }
	s.must("POST", "/api/runs", object{"kind": kind, "task": task, "params": params, "settings": settings}, &out)
	return out.Run.Run
}

// summary waits until a run is as it is wanted.
func (s *served) summary(run string, want func(runs.Summary) bool) runs.Summary {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		var out struct{ Summary runs.Summary }
		s.must("GET", "/api/runs/"+run, nil, &out)
		if want(out.Summary) {
			return out.Summary
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s stays %+v", run, out.Summary)
		}
		select {
		case <-s.t.Context().Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func state(name string) func(runs.Summary) bool {
	return func(s runs.Summary) bool { return s.State == name }
}

// ended waits for the end of a run.
func (s *served) ended(run string) runs.Summary {
	s.t.Helper()
	return s.summary(run, func(one runs.Summary) bool { return one.Status != "running" })
}

func TestARunFromStartToEnd(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	var out struct {
		Run     runs.Summary
		Command string
	}
	s.must("POST", "/api/runs", object{"kind": "hanoi", "params": object{"disks": 5}, "settings": object{"model": "sim/default?p=0.9&seed=3", "ahead_by": 6}}, &out)
	if want := "maker hanoi --disks 5 --model 'sim/default?p=0.9&seed=3' --ahead-by 6"; out.Command != want {
		t.Errorf("the command is %s, want %s", out.Command, want)
	}
	run := "/api/runs/" + out.Run.Run
	if sum := s.ended(out.Run.Run); sum.State != "completed" || sum.Steps != 31 {
		t.Fatalf("it ended as %+v", sum)
	}
	var got struct {
		Form        string
		Rule        struct{ K int }
		Progress    server.Progress
		Certificate *runs.CertificateSummary
		Actions     []string
	}
	s.must("GET", run, nil, &got)
	if got.Form != "chain" || got.Rule.K != 6 || got.Progress.Steps != 31 || got.Certificate == nil || !cmp.Equal(got.Actions, []string{"delete"}) {
		t.Errorf("GET run = %+v", got)
	}
	var strip runs.Strip
	s.must("GET", run+"/strip?width=10&from=1&to=21", nil, &strip)
	if strip.Steps != 20 || len(strip.Count) != 10 || strip.Total != 31 {
		t.Errorf("GET strip = %+v", strip)
	}
	var steps struct {
		Steps []runs.StepResult
		More  bool
	}
	s.must("GET", run+"/steps?order=margin&contested=true&limit=1", nil, &steps)
	if len(steps.Steps) != 1 || !steps.Steps[0].Contested() || !steps.More {
		t.Fatalf("GET steps = %+v", steps)
	}
	var detail runs.StepDetail
	s.must("GET", fmt.Sprintf("%s/steps/%d", run, steps.Steps[0].Step), nil, &detail)
	if len(detail.Rivals) < 2 || !detail.Rivals[0].Won || len(detail.Rivals[0].Voters) != detail.Rivals[0].Votes || len(detail.Samples) == 0 || !strings.Contains(detail.Asked, "Current state") {
		t.Errorf("GET step = %+v", detail)
	}
	var certificate runs.Certificate
	s.must("GET", run+"/certificate", nil, &certificate)
	var result runs.Result
	s.must("GET", run+"/result", nil, &result)
	var replay runs.Replay
	s.must("GET", run+"/replay", nil, &replay)
	if certificate.Run != result.Run || result.StepsCompleted != 31 || len(replay.Differences) != 0 {
		t.Errorf("certificate of %s, result of %d steps, replay %+v", certificate.Run, result.StepsCompleted, replay)
	}
	var list struct {
		Runs  []runs.Summary
		Total int
	}
	for query, want := range map[string]int{"": 1, "?state=completed": 1, "?state=running,waiting": 0, "?q=hanoi+towers": 1, "?q=nothing": 0, "?from=1": 0, "?limit=0": 0} {
		if s.must("GET", "/api/runs"+query, nil, &list); len(list.Runs) != want {
			t.Errorf("GET /api/runs%s = %+v, want %d", query, list, want)
		}
	}
	s.must("DELETE", run, nil, nil)
	if status, _ := s.ask("GET", run, nil); status != http.StatusNotFound {
		t.Errorf("GET a removed run = %d", status)
	}
}

// TestRefused: what is wrong is named, and nothing is started.
func TestRefused(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	for _, test := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"POST", "/api/runs", `{`, 400, ""},
		{"POST", "/api/runs", `{"kind":"hanoi"} {}`, 400, ""},
		{"POST", "/api/runs", `{"kind":"tower"}`, 400, "kind"},
		{"POST", "/api/runs", `{"kind":"hanoi","x":1}`, 400, "x"},
		{"POST", "/api/runs", `{"kind":7}`, 400, "kind"},
		{"POST", "/api/runs", `{"kind":"hanoi","task":"x","params":{"disks":3}}`, 400, "task"},
		{"POST", "/api/runs", `{"kind":"ask","task":" "}`, 400, "task"},
		{"POST", "/api/runs", `{"kind":"hanoi","params":{"disks":0}}`, 400, "params.disks"},
		{"POST", "/api/runs", `{"kind":"hanoi","params":{"disk":3}}`, 400, "params.disk"},
		{"POST", "/api/runs", `{"kind":"hanoi","params":{"disks":3},"settings":{"ahead_by":0}}`, 400, "settings.ahead_by"},
		{"POST", "/api/runs", `{"kind":"hanoi","params":{"disks":3},"settings":{"ahead":1}}`, 400, "settings.ahead"},
		{"POST", "/api/runs", `{"kind":"hanoi","params":{"disks":3},"settings":{"log_dir":"/x"}}`, 400, "settings.log_dir"},
		{"POST", "/api/runs", `{"kind":"hanoi","params":{"disks":3},"settings":{"workspace":"/x"}}`, 400, "settings.workspace"},
		{"POST", "/api/runs", `{"kind":"hanoi","params":{"disks":3},"settings":{"ahead_by":{}}}`, 400, "settings.ahead_by"},
		{"POST", "/api/runs", `{"kind":"map","params":{"records":[]}}`, 400, "params.records"},
		{"POST", "/api/runs", `{"kind":"ask","task":"?","params":{"answer":{"number":true,"bool":true}}}`, 400, "params.answer"},
		{"POST", "/api/runs", `{"kind":"script","task":"def main(:"}`, 400, "task"},
		{"POST", "/api/runs", `{"kind":"script","task":"def main():\n  return 1\n","params":{"args":{"a":"1"}}}`, 400, "params.args"},
		{"PUT", "/api/runs", ``, 405, ""},
		{"GET", "/api/runs?state=asleep", ``, 400, "state"},
		{"GET", "/api/runs?limit=x", ``, 400, "limit"},
		{"GET", "/api/nothing", ``, 404, ""},
		{"GET", "/api/runs/nothing", ``, 404, "run"},
		{"GET", "/api/runs/nothing/events", ``, 404, "run"},
	} {
		var body any
		if test.body != "" {
			body = test.body
		}
		status, data := s.ask(test.method, test.path, body)
		var p server.Problem
		if err := json.Unmarshal(data, &p); err != nil || status != test.status || p.Status != status || p.Field != test.field || p.Detail == "" || p.Title == "" {
			t.Errorf("%s %s %s = %d %s, want %d with the field %q", test.method, test.path, test.body, status, data, test.status, test.field)
		}
	}
	if list, err := runs.List(s.logDir); err != nil || len(list) != 0 {
		t.Errorf("there are runs: %+v, %v", list, err)
	}
	req, _ := http.NewRequest("POST", s.URL+"/api/runs", strings.NewReader(`{"kind":"hanoi","params":{"disks":1}}`))
	req.Header.Set("Content-Type", "text/plain")
	if resp, err := s.Client().Do(req); err != nil || resp.StatusCode != http.StatusUnsupportedMediaType || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a body of another type = %v, %v", resp, err)
	}
}

// TestHugeBody: what is too large is not read.
func TestHugeBody(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	body := io.MultiReader(strings.NewReader(`{"kind":"`), &endless{left: 40 << 20})
	resp, err := s.Client().Post(s.URL+"/api/runs", "application/json", body)
	if err == nil && resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 40 MB = %d", resp.StatusCode)
	}
}

type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	e.left -= len(p)
	return len(p), nil
}

// TestNamesOfRuns: a run is a folder of exactly this name in the folder of runs.
func TestNamesOfRuns(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, filepath.Join(dir, "runs"), nil)
	run := s.start("hanoi", "", object{"disks": 1}, nil)
	s.ended(run)
	outside := filepath.Join(dir, "outside")
	if err := os.CopyFS(outside, os.DirFS(filepath.Join(dir, "runs", run))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		run[:len(run)-1], "last", "..%2foutside", "%2e%2e%2foutside", "..%5coutside", "..", ".", "%2e", strings.ReplaceAll(outside, "/", "%2f"), run + "%2f..%2f" + run, run + "%00", "-",
	} {
		for _, method := range []string{"GET", "DELETE"} {
			status, data := s.ask(method, "/api/runs/"+name, nil)
			if status != http.StatusNotFound && status != http.StatusMethodNotAllowed && !strings.Contains(string(data), `"runs":`) {
				t.Errorf("%s %s = %d %s, want that there is none", method, name, status, data)
			}
		}
	}
	if _, err := runs.Open(outside); err != nil {
		t.Errorf("the run outside is gone: %v", err)
	}
	if status, _ := s.ask("GET", "/api/runs/"+run+"/values/..%2f..%2fevents.jsonl", nil); status != http.StatusNotFound {
		t.Errorf("GET a value outside = %d", status)
	}
}
