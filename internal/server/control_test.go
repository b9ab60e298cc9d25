package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/runs"
)

// slow is a model that leaves time to do something with a run.
const slow = "sim/default?latency=20ms,0.1"

// TestPauseAndResume: a run is paused and goes on, whoever does which.
func TestPauseAndResume(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	run := s.start("hanoi", "", object{"disks": 9}, object{"model": slow})
	path := "/api/runs/" + run
	s.summary(run, func(one runs.Summary) bool { return one.Steps > 2 })
	var sum runs.Summary
	s.must("POST", path+"/pause", nil, &sum)
	if sum.State != "paused" {
		t.Fatalf("POST pause = %+v", sum)
	}
	if status, data := s.ask("POST", path+"/pause", nil); status != http.StatusConflict {
		t.Errorf("POST pause again = %d %s", status, data)
	}
	if status, data := s.ask("POST", path+"/resume", object{"settings": object{"ahead_by": -3}}); status != http.StatusBadRequest {
		t.Errorf("POST resume with nonsense = %d %s", status, data)
	}
	before := sum.Steps
	s.must("POST", path+"/resume", object{"settings": object{"model": "sim/default"}}, &sum)
	if sum = s.ended(run); sum.State != "completed" || sum.Steps != 511 || before == 0 {
		t.Errorf("it ended as %+v", sum)
	}
	if status, _ := s.ask("POST", path+"/resume", nil); status != http.StatusConflict {
		t.Errorf("POST resume of a completed run = %d", status)
	}
	if status, _ := s.ask("POST", path+"/cancel", nil); status != http.StatusConflict {
		t.Errorf("POST cancel of a completed run = %d", status)
	}
}

// TestRunOfAnotherProcess: one that this server did not start is listed, ended, and goes on
// here.
func TestRunOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, nil)
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{Model: slow}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	run, err := engine.Chain(t.Context(), "hanoi", object{"disks": 9})
	if err != nil {
		t.Fatal(err)
	}
	s.summary(run.ID(), func(one runs.Summary) bool { return one.State == "running" && one.Steps > 0 })
	var sum runs.Summary
	s.must("POST", "/api/runs/"+run.ID()+"/cancel", nil, &sum)
	if r, err := run.Result(); err != nil || r.Stop != "cancelled" || sum.State != "cancelled" || !strings.Contains(r.Reason, "maker serve") {
		t.Errorf("it ended as %+v, %v; the server says %+v", r, err, sum)
	}
	s.must("POST", "/api/runs/"+run.ID()+"/resume", object{"settings": object{"model": "sim/default"}}, nil)
	if sum := s.ended(run.ID()); sum.State != "completed" {
		t.Errorf("it goes on here and ends as %+v", sum)
	}
}

// TestShutDown: the runs of a server are paused when it ends, its followers hear of it, and the
// next one goes on with them, but not with those that a person paused.
func TestShutDown(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, nil)
	first := s.start("hanoi", "", object{"disks": 9}, object{"model": slow})
	second := s.start("hanoi", "", object{"disks": 9}, object{"model": slow})
	s.summary(first, func(one runs.Summary) bool { return one.Steps > 0 })
	s.must("POST", "/api/runs/"+second+"/pause", nil, nil)
	events, err := http.Get(s.URL + "/api/runs/" + first + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	heard := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(events.Body)
		heard <- string(data)
	}()
	s.stop()
	if text := <-heard; !strings.Contains(text, `"type":"run_paused"`) || !strings.Contains(text, "event: end\ndata: {\"state\":\"paused\"}") {
		t.Errorf("a follower heard at last: %s", text[max(0, len(text)-1000):])
	}
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, httptest.NewRequest("POST", "/api/runs", strings.NewReader(`{"kind":"hanoi","params":{"disks":1}}`)))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("a start after the end = %d %s", w.Code, w.Body)
	}
	next := serve(t, dir, nil)
	resumed, err := next.server.Resume(t.Context())
	if diff := cmp.Diff([]string{first}, resumed); diff != "" || err != nil {
		t.Errorf("Resume() = %v, -want +got\n%s", err, diff)
	}
	next.summary(first, state("running"))
	next.summary(second, state("paused"))
	next.must("POST", "/api/runs/"+first+"/cancel", nil, nil)
}

// caller may do what it is told.
type caller struct {
	name          string
	write, answer bool
}

func (c caller) Owner() string              { return c.name }
func (c caller) MaySee(owner string) bool   { return owner == c.name }
func (c caller) MaySeeAll() bool            { return false }
func (c caller) MayWrite() bool             { return c.write }
func (c caller) MayAnswer() bool            { return c.answer }
func (c caller) MaySet(setting string) bool { return c.answer || !config.Find(setting).NeedsTrust }

// byHeader has callers say who they are.
func byHeader(o *server.Options) {
	type key struct{}
	o.Guard = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name, scope, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			c := caller{name, scope == "write" || scope == "answer", scope == "answer"}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, c)))
		})
	}
	o.Caller = func(ctx context.Context) server.Caller { return ctx.Value(key{}).(caller) }
}

// TestCallers: who asks sees their own runs, and may do what they may; budgets are asked for.
func TestCallers(t *testing.T) {
	var settled []float64
	s := serve(t, t.TempDir(), func(o *server.Options) {
		byHeader(o)
		o.Reserve = func(_ context.Context, want server.Spending) (server.Reservation, error) {
			if want.MaxUSD > 2 {
				return server.Reservation{}, errors.New("nothing is left")
			}
			return server.Reservation{USD: 1, Settle: func(cost *float64) { settled = append(settled, *cost) }}, nil
		}
	})
	ask := func(who, method, path, body string) (int, string) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		req.Header.Set("Authorization", who)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(data)
	}
	order := `{"kind":"hanoi","params":{"disks":2}}`
	if status, text := ask("ci read", "POST", "/api/runs", order); status != http.StatusForbidden {
		t.Errorf("a start by who may only read = %d %s", status, text)
	}
	if status, text := ask("ci write", "POST", "/api/runs", `{"kind":"do","task":"- x","settings":{"approve":"none"}}`); status != http.StatusForbidden || !strings.Contains(text, "settings.approve") {
		t.Errorf("a setting that needs trust = %d %s", status, text)
	}
	if status, text := ask("ci write", "POST", "/api/runs", `{"kind":"hanoi","params":{"disks":2},"settings":{"max_usd":3}}`); status != http.StatusForbidden || !strings.Contains(text, "nothing is left") {
		t.Errorf("a start without a budget = %d %s", status, text)
	}
	status, text := ask("ci write", "POST", "/api/runs", order)
	if status != http.StatusCreated {
		t.Fatalf("a start = %d %s", status, text)
	}
	var out struct{ Run runs.Summary }
	if err := json.Unmarshal([]byte(text), &out); err != nil || out.Run.Owner != "ci" {
		t.Errorf("the run is %s, %v, want one of ci", text, err)
	}
	path := "/api/runs/" + out.Run.Run
	for _, test := range []struct {
		who, method, path string
		want              int
	}{
		{"ci read", "GET", path, 200}, {"other answer", "GET", path, 404}, {"other answer", "GET", path + "/events", 404}, {"other answer", "DELETE", path, 404},
		{"ci read", "DELETE", path, 403}, {"ci read", "POST", path + "/pause", 403}, {"ci write", "POST", path + "/answers", 403}, {"ci read", "POST", path + "/resume", 403},
	} {
		if status, text := ask(test.who, test.method, test.path, ""); status != test.want {
			t.Errorf("%s: %s %s = %d %s, want %d", test.who, test.method, test.path, status, text, test.want)
		}
	}
	if _, text := ask("other answer", "GET", "/api/runs", ""); !strings.Contains(text, `"total":0`) {
		t.Errorf("another sees %s", text)
	}
	stored, err := runs.Open(filepath.Join(s.logDir, out.Run.Run))
	if err != nil {
		t.Fatal(err)
	}
	if cfg, err := stored.Config(); err != nil || cfg.MaxUSD != 1 {
		t.Errorf("the run may spend %v, %v, want what was reserved", cfg.MaxUSD, err)
	}
	s.stop()
	if len(settled) != 1 {
		t.Errorf("settled %v, want one reservation", settled)
	}
}
