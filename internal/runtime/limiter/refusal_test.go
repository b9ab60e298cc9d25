package limiter

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/model"
)

// refuser answers in 100 ms, every so many calls with a refusal.
type refuser struct {
	every   int64
	refusal *model.Error
	calls   atomic.Int64
}

func (r *refuser) Generate(ctx context.Context, _ *model.Request) (*model.Response, error) {
	refuse := r.calls.Add(1)%r.every == 0
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return nil, &model.Error{Kind: model.Cancelled, Err: ctx.Err()}
	}
	if refuse {
		return nil, r.refusal
	}
	return response, nil
}

// TestRefusals: single refusals leave room for a vote, and all of it if there is no need
// to wait; who refuses nearly everything is left alone.
func TestRefusals(t *testing.T) {
	none := &model.Error{Kind: model.RateLimited, Status: 429}
	now := &model.Error{Kind: model.RateLimited, Status: 429, RetryNow: true}
	busy := &model.Error{Kind: model.Overloaded, Status: 529}
	tests := []struct {
		name        string
		every       int64
		refusal     *model.Error
		callers     int
		least, most int   // limit after a minute
		calls       int64 // at most, if that matters
	}{
		{"a fifth, no need to wait", 5, now, 3, DefaultStart, DefaultStart, 0},
		{"a fifth, no need to wait, many callers", 5, now, 100, DefaultStart, 2 * DefaultStart, 0},
		{"a fifth, nothing said", 5, none, 3, fewAtOnce, DefaultStart, 0},
		{"a fifth, overloaded", 5, busy, 3, fewAtOnce, DefaultStart, 0},
		{"all, no need to wait", 1, now, 3, 1, 1, 40},
		{"all, nothing said", 1, none, 3, 1, 1, 40},
		{"all, no need to wait, many callers", 1, now, 100, 1, 1, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(Options{Rand: half})
				r := &refuser{every: tt.every, refusal: tt.refusal}
				load(t, l.Wrap(r), tt.callers, time.Minute)
				if got := l.State().Limit; got < tt.least || got > tt.most {
					t.Errorf("the limit is %d after a minute, want %d to %d", got, tt.least, tt.most)
				}
				if got := r.calls.Load(); tt.calls > 0 && got > tt.calls {
					t.Errorf("a provider that takes nothing got %d calls in a minute, want at most %d", got, tt.calls)
				}
			})
		})
	}
}

// TestBackAfterRest: a provider that was left alone gets all there is once it takes calls
// again.
func TestBackAfterRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Rand: half})
		begin := time.Now()
		var served atomic.Int64
		m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			time.Sleep(100 * time.Millisecond)
			if time.Since(begin) < 20*time.Second {
				return nil, &model.Error{Kind: model.RateLimited, RetryNow: true}
			}
			served.Add(1)
			return response, nil
		}))
		load(t, m, 50, time.Minute)
		if got := l.State(); got.Limit < 20 || served.Load() < 2000 {
			t.Errorf("%d calls were served in 40 s, and the limit is %d, want 2,000 and 20 at least", served.Load(), got.Limit)
		}
	})
}
