package limiter

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

// names is a model that notes whom it served, by the system prompt, in a second each.
type names struct {
	mu   sync.Mutex
	list []string
}

func (n *names) Generate(_ context.Context, req *model.Request) (*model.Response, error) {
	n.mu.Lock()
	n.list = append(n.list, req.System)
	n.mu.Unlock()
	time.Sleep(time.Second)
	return response, nil
}

// TestClasses: who was asked goes first, whoever came before; then the others, by class
// and arrival. A call whose class changes while it waits changes its place.
func TestClasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := &names{}
		m := New(Options{Start: 1, Max: 1}).Wrap(served)
		var wg sync.WaitGroup
		call := func(ctx context.Context, name string) {
			wg.Go(func() { m.Generate(ctx, &model.Request{System: name}) })
			synctest.Wait()
		}
		var rank, gone Rank
		rank.Set(Thin)
		gone.Set(Likely)
		cancelled, cancel := context.WithCancel(WithRank(t.Context(), &gone))
		call(t.Context(), "first")
		call(WithClass(t.Context(), Thin), "thin 1")
		call(WithRank(t.Context(), &rank), "thin, then asked")
		call(WithClass(t.Context(), Likely), "likely 1")
		call(cancelled, "likely, then thin, then gone")
		call(WithClass(t.Context(), Hedge), "hedge")
		call(WithClass(t.Context(), Asked), "asked 1")
		call(WithClass(t.Context(), Likely), "likely 2")
		call(t.Context(), "asked 2")
		call(WithClass(t.Context(), Thin), "thin 2")
		rank.Set(Asked)
		gone.Set(Thin)
		time.Sleep(time.Second)
		cancel()
		wg.Wait()
		want := []string{"first", "asked 1", "asked 2", "thin, then asked", "hedge", "likely 1", "likely 2", "thin 1", "thin 2"}
		if diff := cmp.Diff(want, served.list); diff != "" {
			t.Errorf("the order differs (-want +got):\n%s", diff)
		}
	})
}

// TestOnlyWhoWasAskedMakesItGrow: guesses take what is there and no more, until one of
// them is asked.
func TestOnlyWhoWasAskedMakesItGrow(t *testing.T) {
	for class, want := range map[Class]int{Asked: 40, Hedge: 4, Likely: 4, Thin: 4} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Start: 4})
			var rank Rank
			rank.Set(class)
			ctx, cancel := context.WithTimeout(WithRank(t.Context(), &rank), time.Minute)
			defer cancel()
			m := l.Wrap(&busiest{})
			var wg sync.WaitGroup
			for range 40 {
				wg.Go(func() {
					for ctx.Err() == nil {
						m.Generate(ctx, request)
					}
				})
			}
			time.Sleep(30 * time.Second)
			if got := l.State().Limit; got != want {
				t.Errorf("the limit is %d for calls of class %d, want %d", got, class, want)
			}
			rank.Set(Asked)
			wg.Wait()
			if got := l.State().Limit; got != 40 {
				t.Errorf("the limit is %d after calls of class %d were asked, want 40", got, class)
			}
		})
	}
}

// TestCalm: whoever asks is told for how long the provider is better left in peace.
func TestCalm(t *testing.T) {
	limited := func(wait time.Duration) error { return &model.Error{Kind: model.RateLimited, RetryAfter: wait} }
	now := &model.Error{Kind: model.RateLimited, RetryNow: true}
	tests := []struct {
		name     string
		outcomes []error
		want     time.Duration // until it is calm
	}{
		{"nothing happened", nil, 0},
		{"answers", []error{nil, nil}, 0},
		{"rate limited", []error{nil, limited(0), nil}, quietAfter},
		{"overloaded", []error{overloaded}, quietAfter},
		{"asked to wait", []error{limited(3 * time.Second)}, 3 * time.Second},
		{"asked not to wait", []error{now, nil, now}, 0},
		{"broken", []error{transient, transient}, 0},
		{"timed out", []error{&model.Error{Kind: model.Transient, TimedOut: true}}, 0},
		{"cancelled", []error{&model.Error{Kind: model.Cancelled}}, 0},
		{"refuses most, with no need to wait", slices.Repeat([]error{now}, 20), -1},
		{"down", slices.Repeat([]error{transient}, FailuresToOpen), -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(Options{Start: 32, Rand: half})
				tokens := make([]token, len(tt.outcomes))
				for i := range tokens {
					tokens[i] = mustAcquire(t, l)
				}
				for i, err := range tt.outcomes {
					l.release(tokens[i], err)
				}
				begin := time.Now()
				for !l.Calm() && time.Since(begin) < time.Hour {
					time.Sleep(time.Second)
				}
				got := time.Since(begin)
				if got == time.Hour {
					got = -1
				}
				if got != tt.want {
					t.Errorf("it is calm after %v, want %v (-1: not before it answers)", got, tt.want)
				}
				for range 2 * memory {
					l.release(mustAcquire(t, l), nil)
				}
				if !l.Calm() {
					t.Error("it is not calm after many answers")
				}
			})
		})
	}
}

func TestClassAllocations(t *testing.T) {
	m := New(Options{}).Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) { return response, nil }))
	ctx := WithClass(t.Context(), Thin)
	if got := testing.AllocsPerRun(1000, func() { m.Generate(ctx, request) }); got != 0 {
		t.Errorf("Generate allocates %g times where nobody waits, want 0", got)
	}
}

// failing fails after a second.
type failing struct{}

func (failing) Generate(context.Context, *model.Request) (*model.Response, error) {
	time.Sleep(time.Second)
	return nil, &model.Error{Kind: model.Transient, Status: 500}
}

// TestMayLeave: who can ask somebody else does not wait for a provider that turns out to be
// out of order; who cannot does.
func TestMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Options{Start: 1, Max: 1}).Wrap(failing{})
		for range FailuresToOpen { // one after another
			go m.Generate(t.Context(), &model.Request{})
		}
		synctest.Wait()
		start := time.Now()
		stays, cancel := context.WithTimeout(t.Context(), FailuresToOpen*time.Second+200*time.Millisecond)
		defer cancel()
		for name, ctx := range map[string]context.Context{"leaves": MayLeave(t.Context()), "stays": stays} {
			go func() {
				_, err := m.Generate(ctx, &model.Request{})
				took, want := time.Since(start), map[string]time.Duration{"leaves": FailuresToOpen * time.Second, "stays": FailuresToOpen*time.Second + 200*time.Millisecond}[name]
				if left := errors.Is(err, ErrFailing); left != (name == "leaves") || took != want {
					t.Errorf("who %s came to %v after %s, want an end after %s", name, err, took, want)
				}
			}()
		}
		time.Sleep(time.Minute)
	})
}
