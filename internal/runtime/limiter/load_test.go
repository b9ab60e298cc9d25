package limiter

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/model"
)

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: 1, Max: 1})
		var next atomic.Int64
		m := l.Wrap(model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
			if got, want := int64(req.MaxOutput), next.Add(1)-1; got != want {
				t.Errorf("caller %d was served in place of %d", got, want)
			}
			time.Sleep(time.Second)
			return response, nil
		}))
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() { m.Generate(t.Context(), &model.Request{MaxOutput: i}) })
			synctest.Wait()
		}
		wg.Wait()
	})
}

// A thousand callers, every kind of outcome, cancellations and pauses: all end,
// none is lost, and the limit holds.
func TestThousandCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const maximum = 64
		var inFlight, done atomic.Int64
		l := New(Options{Start: 8, Max: maximum, OnChange: func(s State) {
			if s.Limit < 1 || s.Limit > maximum {
				t.Errorf("Limit = %d, want 1 to %d", s.Limit, maximum)
			}
		}})
		m := l.Wrap(model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
			defer inFlight.Add(-1)
			// Above the limit there may be a probe.
			if n := inFlight.Add(1); n > maximum+1 {
				t.Errorf("%d calls are in flight, want at most %d", n, maximum+1)
			}
			select {
			case <-time.After(time.Duration(rand.IntN(200)) * time.Millisecond):
			case <-ctx.Done():
				return nil, &model.Error{Kind: model.Cancelled, Err: ctx.Err()}
			}
			switch rand.IntN(20) {
			case 0:
				return nil, &model.Error{Kind: model.RateLimited, RetryAfter: time.Duration(rand.IntN(3)) * 100 * time.Millisecond}
			case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13:
				return nil, transient // most, so that the circuit opens often
			case 14:
				return nil, errors.New("budget exhausted")
			}
			return response, nil
		}))
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				for n := range 5 {
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					if (i+n)%3 == 0 {
						ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(2000))*time.Millisecond)
					}
					m.Generate(ctx, request)
					cancel()
				}
				done.Add(1)
			})
		}
		wg.Wait()
		if got := done.Load(); got != 1000 {
			t.Errorf("%d callers are done, want 1000", got)
		}
		if s := l.State(); s.InFlight != 0 || s.Waiting != 0 {
			t.Errorf("State() = %+v, want nobody there", s)
		}
	})
}

// The same on the real clock, for the race detector: contention at full speed.
func TestContention(t *testing.T) {
	l := New(Options{Start: 4, Max: 8, OnChange: func(State) {}})
	var inFlight, served atomic.Int64
	m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		defer inFlight.Add(-1)
		if n := inFlight.Add(1); n > 8 {
			t.Errorf("%d calls are in flight, want at most 8", n)
		}
		served.Add(1)
		return response, nil
	}))
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			for range 20 {
				if _, err := m.Generate(t.Context(), request); err != nil {
					t.Errorf("Generate() = %v, want no error", err)
				}
				l.State()
			}
		})
	}
	wg.Wait()
	if got, want := served.Load(), int64(20_000); got != want {
		t.Errorf("%d calls were served, want %d", got, want)
	}
}

func TestPanicReleases(t *testing.T) {
	l := New(Options{})
	m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) { panic("broken") }))
	func() {
		defer func() { _ = recover() }()
		m.Generate(t.Context(), request)
	}()
	if got := l.State().InFlight; got != 0 {
		t.Errorf("InFlight = %d after a panic, want 0", got)
	}
}

func TestNoAllocations(t *testing.T) {
	m := New(Options{OnChange: func(State) {}}).Wrap(model.Func(
		func(context.Context, *model.Request) (*model.Response, error) { return response, nil }))
	ctx := t.Context()
	if got := testing.AllocsPerRun(1000, func() { m.Generate(ctx, request) }); got != 0 {
		t.Errorf("Generate allocates %g times, want 0", got)
	}
}

func BenchmarkGenerate(b *testing.B) {
	m := New(Options{}).Wrap(model.Func(
		func(context.Context, *model.Request) (*model.Response, error) { return response, nil }))
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		m.Generate(ctx, request)
	}
}
