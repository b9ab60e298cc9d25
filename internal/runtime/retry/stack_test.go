package retry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// Waiting for the budget does not count against the timeout of the call.
func TestWaitingForTheBudgetIsNoFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		slow := model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
			calls++
			select {
			case <-time.After(50 * time.Second):
			case <-ctx.Done():
				return nil, &model.Error{Kind: model.Cancelled, Err: ctx.Err()}
			}
			return &model.Response{Text: "ok", Usage: usage.Tokens{Input: 1, Output: 1}}, nil
		})
		l := budget.New(budget.Limits{MaxTokens: 150}, usage.Spent{})
		m := New(limiter.New(limiter.Options{}).Wrap(l.Wrap(Timeout(slow, time.Minute), nil)), Options{MaxAttempts: 6})
		req := &model.Request{Messages: []model.Message{{Role: model.User, Text: "?"}}, MaxOutput: 100}
		done := make(chan []*model.Error, 3)
		for range 3 {
			go func() {
				r, err := m.Generate(t.Context(), req)
				if err != nil {
					t.Error(err)
					done <- nil
					return
				}
				done <- r.Faults
			}()
		}
		for range 3 {
			if f := <-done; len(f) > 0 {
				t.Errorf("a sample that only waited for the budget has %d faults: %v", len(f), f[0])
			}
		}
	})
}
