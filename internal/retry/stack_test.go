package retry_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/internal/budget"
	"github.com/maker-mdap/maker/internal/limiter"
	"github.com/maker-mdap/maker/internal/retry"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// stack builds the decorators the way the engine does.
func stack(m model.Model, l *budget.Ledger) model.Model {
	timed := retry.Timeout(l.Wrap(m, nil), 30*time.Second)
	return retry.New(limiter.New(limiter.Options{}).Wrap(timed), retry.Options{MaxAttempts: 1000})
}

// call makes 64 callers ask until ctx ends or the model fails for good.
func call(ctx context.Context, m model.Model) {
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for {
				_, err := m.Generate(ctx, &model.Request{MaxOutput: 10})
				if err != nil && !model.KindOf(err).Retryable() || errors.Is(err, budget.ErrExhausted) {
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestStackHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int64
		refuses := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			requests.Add(1)
			time.Sleep(50 * time.Millisecond)
			return nil, &model.Error{Kind: model.RateLimited, Status: 429, RetryAfter: 2 * time.Second}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		l := budget.New(budget.Limits{}, usage.Spent{})
		call(ctx, stack(refuses, l))
		// 16, 8, 4, 2, then one every two seconds.
		if got := requests.Load(); got < 20 || got > 60 {
			t.Errorf("64 callers sent %d requests in a minute, want about 55", got)
		}
		if got, want := l.Spent().Calls, requests.Load(); got != want {
			t.Errorf("Spent().Calls = %d, want %d", got, want)
		}
	})
}

func TestStackStopsAtTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int64
		hangsAtTimes := model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
			if requests.Add(1)%10 == 0 {
				<-ctx.Done()
				return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
			}
			time.Sleep(time.Second)
			return &model.Response{Usage: usage.Tokens{Input: 1, Output: 5}}, nil
		})
		l := budget.New(budget.Limits{MaxCalls: 200}, usage.Spent{})
		call(t.Context(), stack(hangsAtTimes, l))
		s := l.Spent()
		if requests.Load() != 200 || s.Calls != 200 || s.Abandoned != 20 || s.HeldTokens != 20*18 || s.Tokens.Output != 180*5 {
			t.Errorf("Spent() = %+v after %d requests, want 200, of which 20 timed out and are held", s, requests.Load())
		}
	})
}
