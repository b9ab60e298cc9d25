package maker_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/model/sim/simserver"
)

// overHTTP is a simulated model that is always right behind a server.
const overHTTP = "compat/sim/default?p=1"

func simHandler(t *testing.T) http.Handler {
	t.Helper()
	s, err := simserver.Handler(simserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// countedServer is a simulator behind a socket. It counts the open connections.
func countedServer(t *testing.T) (base string, open *atomic.Int64) {
	t.Helper()
	open = new(atomic.Int64)
	server := httptest.NewUnstartedServer(simHandler(t))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL + "/v1", open
}

// TestEndedRunsLeaveNothing looks at connections and goroutines: runs that have ended
// leave no more of them than one did, and an engine that is closed leaves none.
func TestEndedRunsLeaveNothing(t *testing.T) {
	const margin, runs = 16, 10
	base, open := countedServer(t)
	before := runtime.NumGoroutine()
	e := newEngine(t, maker.Options{Config: maker.Config{Model: overHTTP, BaseURL: base, Voting: maker.FirstToK(margin)}})
	for range runs {
		if r := mustResult(t, startHanoi(t, e, 3)); r.Status != event.StatusCompleted {
			t.Fatalf("a run over HTTP = %s: %s", r.Status, r.Reason)
		}
	}
	// A connection may be opened while another one becomes free.
	const few = 4
	most := before + 3*(margin+few) // two goroutines here and one at the server for each
	if n := runtime.NumGoroutine(); n > most || open.Load() > margin+few {
		t.Errorf("%d ended runs left %d goroutines (%d before) and %d connections, want at most %d and %d", runs, n, before, open.Load(), most, margin+few)
	}
	t.Logf("%d goroutines before, %d after %d runs with %d connections", before, runtime.NumGoroutine(), runs, open.Load())
	if err := e.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
	waitFor(t, "connections and goroutines to end", func() bool { return open.Load() == 0 && runtime.NumGoroutine() <= before })
	t.Logf("%d goroutines after Close", runtime.NumGoroutine())
}

// TestCloseWithARunGoingOn: the run keeps its connections as long as it needs them,
// and no longer.
func TestCloseWithARunGoingOn(t *testing.T) {
	base, open := countedServer(t)
	e := newEngine(t, maker.Options{Config: maker.Config{Model: overHTTP, BaseURL: base}})
	run := startHanoi(t, e, 6)
	waitFor(t, "the first step", func() bool { return run.Progress().Steps > 0 })
	if err := e.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if r := mustResult(t, run); r.Status != event.StatusCompleted {
		t.Errorf("a run whose engine was closed = %s: %s, want that it completes", r.Status, r.Reason)
	}
	waitFor(t, "connections to end", func() bool { return open.Load() == 0 })
}

func TestAClosedEngineRefusesRuns(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{MaxCalls: 4}})
	stopped := mustResult(t, startHanoi(t, e, 3))
	for range 2 {
		if err := e.Close(); err != nil {
			t.Errorf("Close() = %v, want nil however often", err)
		}
	}
	_, err := e.Chain(t.Context(), hanoi.Name, hanoi.Params{Disks: 1})
	_, again := e.Resume(t.Context(), stopped.Run, nil)
	if !errors.Is(err, maker.ErrClosed) || !errors.Is(again, maker.ErrClosed) {
		t.Errorf("Chain() and Resume() of a closed engine = %v and %v, want %v", err, again, maker.ErrClosed)
	}
	if _, err := e.Replay(stopped.Run); err != nil {
		t.Errorf("Replay() of a closed engine = %v, want that reading a log still works", err)
	}
}

// wire carries requests to a handler without a network, so that time can be that of
// the test.
type wire struct {
	handler http.Handler
	now     atomic.Int64 // requests in flight
	most    atomic.Int64
	seen    atomic.Int64
	closed  atomic.Int64
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.seen.Add(1)
	w.most.Store(max(w.most.Load(), w.now.Add(1)))
	defer w.now.Add(-1)
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, req)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

// CloseIdleConnections is what closing a transport calls.
func (w *wire) CloseIdleConnections() { w.closed.Add(1) }

func TestCloseLeavesTheUsersTransport(t *testing.T) {
	w := &wire{handler: simHandler(t)}
	e := newEngine(t, maker.Options{Config: maker.Config{Model: overHTTP, BaseURL: "http://test.invalid/v1"}, Transport: w})
	mustResult(t, startHanoi(t, e, 2))
	if err := e.Close(); err != nil || w.closed.Load() != 0 || w.seen.Load() == 0 {
		t.Errorf("Close() = %v and closed a transport that is not the engine's %d times, want never", err, w.closed.Load())
	}
}

// TestRunsShareTheLimit: together, the runs of an engine have no more calls in flight
// at a server than one of them may have. Another server is another matter.
func TestRunsShareTheLimit(t *testing.T) {
	const start, margin = 16, 20 // what the limiter begins with, and more than that
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		simulator := simHandler(t)
		held := &wire{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-gate:
				simulator.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		})}
		e := newEngine(t, maker.Options{Transport: held, Config: maker.Config{
			Model: overHTTP, BaseURL: "http://one.invalid/v1", Voting: maker.FirstToK(margin), CallTimeout: time.Hour,
		}})
		other, err := e.With(&maker.Options{LogDir: t.TempDir(), Config: maker.Config{
			Model: overHTTP, BaseURL: "http://one.invalid/v1", Voting: maker.FirstToK(margin + 1), CallTimeout: time.Hour,
		}})
		if err != nil {
			t.Fatal(err)
		}
		runs := []*maker.Run{startHanoi(t, other, 1)} // with other settings
		for range 2 {
			runs = append(runs, startHanoi(t, e, 1))
		}
		synctest.Wait()
		if got := held.now.Load(); got != start {
			t.Errorf("three runs have %d calls in flight, want %d", got, start)
		}
		close(gate)
		for _, run := range runs {
			if r := mustResult(t, run); r.Status != event.StatusCompleted {
				t.Errorf("a run that shares its limit = %s: %s", r.Status, r.Reason)
			}
		}
	})
}

// TestMaxInFlight: a run's cap on the calls in flight at a server holds for all runs that
// ask it, as long as that run goes on.
func TestMaxInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := &wire{}
		simulator := simHandler(t)
		held.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			simulator.ServeHTTP(w, r)
		})
		e := newEngine(t, maker.Options{Transport: held, Config: maker.Config{
			Model: overHTTP, BaseURL: "http://one.invalid/v1", Voting: maker.FirstToK(20), CallTimeout: time.Hour, MaxInFlight: 3,
		}})
		capped := mustResult(t, startHanoi(t, e, 1))
		if got := held.most.Load(); capped.Status != event.StatusCompleted || got != 3 {
			t.Errorf("a run with MaxInFlight 3 = %s with %d calls in flight, want 3", capped.Status, got)
		}
		free := startHanoi(t, newEngine(t, maker.Options{Transport: held, Config: maker.Config{
			Model: overHTTP, BaseURL: "http://one.invalid/v1", Voting: maker.FirstToK(20), CallTimeout: time.Hour,
		}}), 1)
		if mustResult(t, free); held.most.Load() != 16 {
			t.Errorf("a run without had %d calls in flight, want 16", held.most.Load())
		}
	})
}

// TestAnotherServerHasItsOwnLimit: a run that goes on at another address has nothing to
// do with the outage of the first one.
func TestAnotherServerHasItsOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		simulator := simHandler(t)
		w := &wire{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Host == "one.invalid" {
				http.Error(w, "down", http.StatusInternalServerError)
				return
			}
			simulator.ServeHTTP(w, r)
		})}
		e := newEngine(t, maker.Options{Transport: w, Config: maker.Config{
			Model: overHTTP, BaseURL: "http://one.invalid/v1", RetryAttempts: 50, MaxFaults: 20,
		}})
		run := startHanoi(t, e, 2)
		failed := mustResult(t, run)
		if failed.Status != event.StatusFailed || !strings.Contains(run.Progress().Trouble, "is failing") {
			t.Fatalf("a run at a server that is down = %s, %q, want that it fails and says why", failed.Status, run.Progress().Trouble)
		}
		begin := time.Now()
		moved := resume(t, e, failed.Run, func(c *maker.Config) { c.BaseURL = "http://two.invalid/v1" })
		if took := time.Since(begin); moved.Status != event.StatusCompleted || took > 100*time.Millisecond {
			t.Errorf("resumed at another server = %s: %s in %s, want that it completes at once", moved.Status, moved.Reason, took)
		}
	})
}

// TestARecordingHasNoOutage: answers that were recorded are there although their server
// is down.
func TestARecordingHasNoOutage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	config := maker.Config{Model: overHTTP, BaseURL: "http://one.invalid/v1", RetryAttempts: 50, MaxFaults: 20}
	up := &wire{handler: simHandler(t)}
	mustResult(t, startHanoi(t, newEngine(t, maker.Options{Transport: up, Config: config, Record: file}), 2))
	synctest.Test(t, func(t *testing.T) {
		down := &wire{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "down", http.StatusInternalServerError)
		})}
		e := newEngine(t, maker.Options{Transport: down, Config: config})
		failed := mustResult(t, startHanoi(t, e, 2))
		begin := time.Now()
		r := resume(t, e, failed.Run, func(c *maker.Config) { c.ReplayFrom = file })
		if took := time.Since(begin); r.Status != event.StatusCompleted || took > 100*time.Millisecond {
			t.Errorf("resumed from a recording = %s: %s in %s, want that it completes at once", r.Status, r.Reason, took)
		}
	})
}

// TestRunsShareAnOutage: what one run has found out about a server, the others need
// not find out again.
func TestRunsShareAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		simulator := simHandler(t)
		w := &wire{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !up.Load() {
				http.Error(w, "down for repairs", http.StatusInternalServerError)
				return
			}
			simulator.ServeHTTP(w, r)
		})}
		e := newEngine(t, maker.Options{Transport: w, Config: maker.Config{
			Model: overHTTP, BaseURL: "http://one.invalid/v1", RetryAttempts: 1000, MaxFaults: 1000, RetryDelay: 1,
		}})
		first := startHanoi(t, e, 2)
		for !strings.Contains(first.Progress().Trouble, "is failing") {
			time.Sleep(time.Millisecond)
		}
		before := w.seen.Load()
		second := startHanoi(t, e, 2)
		synctest.Wait()
		if text := second.Progress().Trouble; !strings.Contains(text, "compat is failing") || !strings.Contains(text, "next try in") {
			t.Errorf("the second run says %q, want that the server is failing", text)
		}
		if n := w.seen.Load() - before; n > 0 {
			t.Errorf("the second run sent %d requests to a server that is known to be down, want none", n)
		}
		up.Store(true)
		for _, run := range []*maker.Run{first, second} {
			if r := mustResult(t, run); r.Status != event.StatusCompleted {
				t.Errorf("a run after the outage = %s: %s", r.Status, r.Reason)
			}
		}
		if text := second.Progress().Trouble; text != "" {
			t.Errorf("after the outage the run says %q, want nothing", text)
		}
	})
}
