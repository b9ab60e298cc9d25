package limiter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

var (
	request    = &model.Request{}
	response   = &model.Response{Text: "ok"}
	overloaded = &model.Error{Kind: model.Overloaded, Status: 529}
	transient  = &model.Error{Kind: model.Transient, Status: 500, Message: "down"}
)

func half() float64 { return 0.5 }

// transcript records the states that a limiter tells.
type transcript struct {
	mu    sync.Mutex
	start time.Time
	lines []string
}

func (tr *transcript) add(s State) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	line := fmt.Sprintf("%v: limit %d", time.Since(tr.start), s.Limit)
	if s.Open {
		line += ", open"
	}
	if s.LastError != "" {
		line += ", " + s.LastError
	}
	if !s.Until.IsZero() {
		line += fmt.Sprintf(", next in %v", time.Until(s.Until))
	}
	tr.lines = append(tr.lines, line)
}

func (tr *transcript) check(t *testing.T, want string) {
	t.Helper()
	got := strings.Join(tr.lines, "\n")
	if diff := cmp.Diff(strings.TrimSpace(want), got); diff != "" {
		t.Errorf("the transcript differs (-want +got):\n%s", diff)
	}
}

// load runs n callers that each make calls until the time is over.
func load(t *testing.T, m model.Model, n int, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				m.Generate(ctx, request)
			}
		})
	}
	wg.Wait()
}

// capacity is a provider that refuses whatever is above n calls at once, and
// answers in a second.
type capacity struct {
	n       int64
	now     atomic.Int64
	refused atomic.Int64
	served  atomic.Int64
}

func (c *capacity) Generate(ctx context.Context, _ *model.Request) (*model.Response, error) {
	defer c.now.Add(-1)
	if c.now.Add(1) > c.n {
		c.refused.Add(1)
		time.Sleep(10 * time.Millisecond)
		return nil, overloaded
	}
	time.Sleep(time.Second)
	c.served.Add(1)
	return response, nil
}

func TestGrowsAndShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &transcript{start: time.Now()}
		l := New(Options{Start: 4, OnChange: tr.add})
		c := &capacity{n: 8}
		load(t, l.Wrap(c), 100, 12500*time.Millisecond)
		// Once it is known how fast it is, twice as many each second until calls are
		// refused, then one more each second.
		tr.check(t, `
1s: limit 5
2s: limit 6
2s: limit 7
2s: limit 8
2s: limit 9
2.01s: limit 4, overloaded (HTTP 529)
4s: limit 5
5s: limit 6
6s: limit 7
7s: limit 8
8s: limit 9
8.01s: limit 4, overloaded (HTTP 529)
10s: limit 5
11s: limit 6
12s: limit 7`)
		if got := c.refused.Load(); got > 10 {
			t.Errorf("%d calls were refused, want a few", got)
		}
	})
}

// TestQueueIsNotFlooded: a server that answers one call after the other takes longer the
// more it is asked at once, and gets few more; one that is as fast as ever soon gets all.
func TestQueueIsNotFlooded(t *testing.T) {
	for name, test := range map[string]struct {
		atOnce      int64
		least, most int
	}{"one after the other": {1, DefaultStart, 3 * DefaultStart}, "all at once": {1000, 400, 400}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(Options{})
				places := make(chan struct{}, test.atOnce)
				busy := 0
				var mu sync.Mutex
				m := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
					mu.Lock()
					busy = max(busy, l.State().InFlight)
					mu.Unlock()
					places <- struct{}{}
					defer func() { <-places }()
					time.Sleep(100 * time.Millisecond)
					return response, nil
				})
				load(t, l.Wrap(m), 400, 30*time.Second)
				if busy < test.least || busy > test.most {
					t.Errorf("%d calls were in flight, want %d to %d", busy, test.least, test.most)
				}
			})
		})
	}
}

func TestDoesNotGrowWithoutNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: 4})
		load(t, l.Wrap(&capacity{n: 100}), 4, time.Minute)
		if got, want := l.State().Limit, 4; got != want {
			t.Errorf("Limit = %d with 4 callers, want %d", got, want)
		}
	})
}

func TestStaysWithinMinAndMax(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: 4, Min: 3, Max: 6})
		load(t, l.Wrap(&capacity{n: 100}), 100, time.Minute)
		if got, want := l.State().Limit, 6; got != want {
			t.Errorf("Limit = %d, want %d", got, want)
		}
		refuses := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			time.Sleep(time.Second)
			return nil, &model.Error{Kind: model.RateLimited}
		})
		load(t, l.Wrap(refuses), 100, time.Minute)
		if got, want := l.State().Limit, 3; got != want {
			t.Errorf("Limit = %d, want %d", got, want)
		}
	})
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		options Options
		want    int
	}{
		{Options{}, DefaultStart},
		{Options{Start: 5}, 5},
		{Options{Min: 50}, 50},
		{Options{Min: 5000}, 5000},
		{Options{Max: 8}, 8},
		{Options{Start: 9000}, DefaultMax},
		{Options{Start: 5, Min: 4, Max: 2}, 4},
	} {
		if got := New(tt.options).State().Limit; got != tt.want {
			t.Errorf("New(%d, %d, %d).State().Limit = %d, want %d",
				tt.options.Start, tt.options.Min, tt.options.Max, got, tt.want)
		}
	}
}

// A burst of refusals that come back together is one piece of news.
func TestOneBurstCutsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: 16})
		m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			time.Sleep(time.Second)
			return nil, &model.Error{Kind: model.RateLimited}
		}))
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() { m.Generate(t.Context(), request) })
		}
		wg.Wait()
		if got, want := l.State().Limit, 8; got != want {
			t.Errorf("Limit = %d, want %d", got, want)
		}
	})
}

func TestRetryAfterPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &transcript{start: time.Now()}
		l := New(Options{Start: 2, OnChange: tr.add})
		var at []time.Duration
		m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			at = append(at, time.Since(tr.start))
			switch len(at) {
			case 1:
				return nil, &model.Error{Kind: model.RateLimited, RetryAfter: 3 * time.Second}
			case 3:
				return nil, &model.Error{Kind: model.RateLimited, RetryAfter: time.Hour}
			}
			return response, nil
		}))
		for range 4 {
			m.Generate(t.Context(), request)
		}
		want := []time.Duration{0, 3 * time.Second, 3 * time.Second, 3*time.Second + MaxPause}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("the times of the calls differ (-want +got):\n%s", diff)
		}
		tr.check(t, `
0s: limit 2, rate limited, next in 3s
3s: limit 2, rate limited, next in 5m0s`)
	})
}

func TestCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &transcript{start: time.Now()}
		l := New(Options{Start: 4, OnChange: tr.add, Rand: half})
		back := tr.start.Add(20 * time.Second)
		var calls []time.Duration
		var mu sync.Mutex
		m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			mu.Lock()
			calls = append(calls, time.Since(tr.start))
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			if time.Now().Before(back) {
				return nil, transient
			}
			return response, nil
		}))
		var failed, served atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := m.Generate(t.Context(), request); err != nil {
					failed.Add(1)
				} else {
					served.Add(1)
				}
			})
		}
		time.Sleep(10 * time.Second)
		s := l.State()
		if !s.Open || s.LastError != "transient (HTTP 500): down" || s.Waiting != 34 || s.InFlight != 0 {
			t.Errorf("State() = %+v, want open with 34 callers waiting", s)
		}
		wg.Wait()
		// Each wait is three quarters of 1, 2, 4, 8 and 16 seconds; a probe takes
		// a tenth of a second.
		tr.check(t, `
300ms: limit 4, open, transient (HTTP 500): down, next in 750ms
1.15s: limit 4, open, transient (HTTP 500): down, next in 1.5s
2.75s: limit 4, open, transient (HTTP 500): down, next in 3s
5.85s: limit 4, open, transient (HTTP 500): down, next in 6s
11.95s: limit 4, open, transient (HTTP 500): down, next in 12s
24.05s: limit 4
24.15s: limit 5
24.25s: limit 6
24.35s: limit 7
24.45s: limit 8`)
		// Thirteen calls before the circuit opened, then one probe after another.
		probes := []time.Duration{1050, 2650, 5750, 11850, 23950}
		for i := range probes {
			probes[i] *= time.Millisecond
		}
		if diff := cmp.Diff(probes, calls[13:18]); diff != "" {
			t.Errorf("the times of the probes differ (-want +got):\n%s", diff)
		}
		if failed.Load() != 17 || served.Load() != 33 {
			t.Errorf("%d calls failed and %d were served, want 17 and 33", failed.Load(), served.Load())
		}
	})
}

func TestProbeIntervalIsCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Rand: half})
		m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) { return nil, transient }))
		calls := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for ctx.Err() == nil {
			m.Generate(ctx, request)
			calls++
		}
		// Three quarters of half a minute apart.
		if calls < 160 || calls > 180 {
			t.Errorf("a dead provider got %d calls in an hour, want about 170", calls)
		}
	})
}

// open returns a limiter whose circuit is open.
func open(t *testing.T) *Limiter {
	t.Helper()
	l := New(Options{Rand: half})
	for range FailuresToOpen {
		l.release(mustAcquire(t, l), transient)
	}
	if !l.State().Open {
		t.Fatalf("the circuit is closed after %d failures", FailuresToOpen)
	}
	return l
}

func mustAcquire(t *testing.T, l *Limiter) token {
	t.Helper()
	tok, err := l.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestProbeOutcomes(t *testing.T) {
	for _, tt := range []struct {
		err      error
		wantOpen bool
		wantNext time.Duration
	}{
		{nil, false, 0},
		{&model.Error{Kind: model.Invalid}, false, 0},
		{&model.Error{Kind: model.Refused}, false, 0},
		{transient, true, 1500 * time.Millisecond},
		{overloaded, true, 1500 * time.Millisecond},
		{&model.Error{Kind: model.RateLimited, RetryAfter: 9 * time.Second}, true, 9 * time.Second},
		// These say nothing, so the next caller probes at once.
		{&model.Error{Kind: model.Cancelled}, true, 0},
		{errors.New("budget exhausted"), true, 0},
		{errUnfinished, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := open(t)
			probe := mustAcquire(t, l)
			second := make(chan time.Time)
			go func() {
				mustAcquire(t, l)
				second <- time.Now()
			}()
			time.Sleep(time.Minute) // nobody else starts while the probe is in flight
			if s := l.State(); s.InFlight != 1 || s.Waiting != 1 {
				t.Errorf("State() = %+v, want the probe alone in flight", s)
			}
			end := time.Now()
			l.release(probe, tt.err)
			if got := l.State().Open; got != tt.wantOpen {
				t.Errorf("Open = %t after a probe ended with %v, want %t", got, tt.err, tt.wantOpen)
			}
			if got := (<-second).Sub(end); got != tt.wantNext {
				t.Errorf("the next call started %v after a probe ended with %v, want %v", got, tt.err, tt.wantNext)
			}
		})
	}
}

// Calls that hung through an outage and fail after it do not start another.
func TestLateFailuresAreOldNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: 64, Rand: half})
		var hung []token
		for range 30 {
			hung = append(hung, mustAcquire(t, l))
		}
		for range FailuresToOpen {
			l.release(mustAcquire(t, l), transient)
		}
		l.release(mustAcquire(t, l), nil) // the probe
		for _, tok := range hung {
			l.release(tok, transient)
		}
		if s := l.State(); s.Open || s.InFlight != 0 {
			t.Errorf("State() = %+v, want closed and idle", s)
		}
	})
}

// A success between failures keeps the circuit closed.
func TestMixedOutcomesKeepItClosed(t *testing.T) {
	l := New(Options{})
	for i := range 20 * FailuresToOpen {
		err := error(transient)
		if i%FailuresToOpen == 0 {
			err = nil
		}
		l.release(mustAcquire(t, l), err)
	}
	for range 2 * FailuresToOpen {
		l.release(mustAcquire(t, l), &model.Error{Kind: model.RateLimited})
	}
	if s := l.State(); s.Open {
		t.Errorf("State() = %+v, want closed", s)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t)
		cause := errors.New("decided")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
		start := time.Now()
		_, err := l.acquire(ctx)
		if model.KindOf(err) != model.Cancelled || !errors.Is(err, cause) || time.Since(start) != 100*time.Millisecond {
			t.Errorf("acquire() = %v after %v, want cancelled after 100ms", err, time.Since(start))
		}
		if _, err := l.acquire(ctx); model.KindOf(err) != model.Cancelled {
			t.Errorf("acquire(ended ctx) = %v, want cancelled", err)
		}
		if s := l.State(); s.Waiting != 0 || s.InFlight != 0 {
			t.Errorf("State() = %+v, want nobody there", s)
		}
	})
}
