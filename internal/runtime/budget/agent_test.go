package budget

import (
	"context"
	"errors"
	"testing"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

type agentFunc func(context.Context, *agent.Task) (*agent.Result, error)

func (f agentFunc) Attempt(ctx context.Context, t *agent.Task) (*agent.Result, error) {
	return f(ctx, t)
}

func TestWrapAgent(t *testing.T) {
	cost := 0.25
	for name, test := range map[string]struct {
		result *agent.Result
		err    error
		spent  float64
		held   float64
	}{
		"priced":   {&agent.Result{CostUSD: &cost, Usage: usage.Tokens{Output: 7}}, nil, 0.25, 0},
		"unpriced": {&agent.Result{}, nil, 0, 1},
		"refused":  {nil, &model.Error{Kind: model.RateLimited, Status: 429}, 0, 0},
		"given up": {nil, &model.Error{Kind: model.Cancelled}, 0, 1},
	} {
		l := New(Limits{MaxUSD: 2}, usage.Spent{})
		a := l.WrapAgent(agentFunc(func(context.Context, *agent.Task) (*agent.Result, error) { return test.result, test.err }), 1)
		if _, err := a.Attempt(t.Context(), &agent.Task{}); !errors.Is(err, test.err) {
			t.Errorf("%s: Attempt() = %v, want %v", name, err, test.err)
		}
		if s := l.Spent(); s.USD != test.spent || s.HeldUSD != test.held || s.Calls != 1 {
			t.Errorf("%s: spent %+v, want $%v and $%v held", name, s, test.spent, test.held)
		}
	}
	// What does not fit is not begun.
	l := New(Limits{MaxUSD: 0.5}, usage.Spent{})
	a := l.WrapAgent(agentFunc(func(context.Context, *agent.Task) (*agent.Result, error) {
		t.Error("an attempt was begun that might have broken the limit")
		return &agent.Result{}, nil
	}), 1)
	if _, err := a.Attempt(t.Context(), &agent.Task{}); !errors.Is(err, ErrExhausted) {
		t.Errorf("Attempt() = %v, want that the budget is exhausted", err)
	}
}
