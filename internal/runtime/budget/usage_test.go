package budget

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// TestBadUsageIsAFault has models say that an answer took what no answer takes. It is
// a fault that may be billed: its worst case is held.
func TestBadUsageIsAFault(t *testing.T) {
	usd := func(f float64) *float64 { return &f }
	want := usage.Spent{Calls: 1, Abandoned: 1, HeldTokens: 200, HeldUSD: 0.0003}
	for name, resp := range map[string]*model.Response{
		"negative":       answer(-30, 5),
		"huge":           answer(math.MaxInt64, math.MaxInt64),
		"too much":       answer(5, 1e6),
		"no number":      {Usage: usage.Tokens{Input: 5}, CostUSD: usd(math.NaN())},
		"infinite":       {Usage: usage.Tokens{Input: 5}, CostUSD: usd(math.Inf(1))},
		"too dear":       {Usage: usage.Tokens{Input: 5}, CostUSD: usd(1e308)},
		"less than free": {Usage: usage.Tokens{Input: 5}, CostUSD: usd(-1)},
	} {
		l := New(Limits{}, usage.Spent{})
		_, err := l.Wrap(always(resp, nil), &testPrice).Generate(t.Context(), question())
		if model.KindOf(err) != model.BadUsage {
			t.Errorf("%s: Generate() = %v, want bad usage", name, err)
		}
		if diff := cmp.Diff(want, l.Spent()); diff != "" {
			t.Errorf("%s: Spent() differs (-want +got):\n%s", name, diff)
		}
		l = New(Limits{}, usage.Spent{})
		_, err = l.Wrap(choices{resp, answer(5, 5)}, &testPrice).(model.Batcher).GenerateN(t.Context(), question(), 2)
		if s := l.Spent(); model.KindOf(err) != model.BadUsage || s.Abandoned != 1 || s.HeldTokens != 300 {
			t.Errorf("%s: GenerateN() = %v with %+v, want bad usage and 300 tokens held", name, err, s)
		}
		l = New(Limits{MaxUSD: 2}, usage.Spent{})
		a := l.WrapAgent(agentFunc(func(context.Context, *agent.Task) (*agent.Result, error) {
			return &agent.Result{Usage: resp.Usage, CostUSD: resp.CostUSD}, nil
		}), 1)
		if _, err = a.Attempt(t.Context(), &agent.Task{}); name != "too much" && (model.KindOf(err) != model.BadUsage || l.Spent().HeldUSD != 1) {
			t.Errorf("%s: Attempt() = %v with %+v, want bad usage and $1 held", name, err, l.Spent())
		}
	}
}

// choices are the answers to one call for several.
type choices []*model.Response

func (c choices) Generate(context.Context, *model.Request) (*model.Response, error) { return c[0], nil }

func (c choices) GenerateN(context.Context, *model.Request, int) ([]*model.Response, error) {
	return append([]*model.Response(nil), c...), nil
}

// TestTheLargerCostCounts: where there is a limit on money, a server that says that
// its answers cost less than their tokens is not believed.
func TestTheLargerCostCounts(t *testing.T) {
	usd := func(f float64) *float64 { return &f }
	used := usage.Tokens{Input: 30, Output: 7} // $0.000044
	free, dear := &model.Response{Usage: used, CostUSD: usd(0)}, &model.Response{Usage: used, CostUSD: usd(0.25)}
	some := &model.Response{CostUSD: usd(0.0001)} // of no tokens
	for _, test := range []struct {
		name   string
		limits Limits
		resp   choices
		want   usage.Spent
	}{
		{"free, with a limit", Limits{MaxUSD: 1}, choices{free}, usage.Spent{Calls: 1, Tokens: used, USD: 0.000044}},
		{"free, without", Limits{}, choices{free}, usage.Spent{Calls: 1, Tokens: used}},
		{"free, with a limit on calls", Limits{MaxCalls: 9}, choices{free}, usage.Spent{Calls: 1, Tokens: used}},
		{"dear, with a limit", Limits{MaxUSD: 1}, choices{dear}, usage.Spent{Calls: 1, Tokens: used, USD: 0.25}},
		{"no tokens, with a limit", Limits{MaxUSD: 1}, choices{some}, usage.Spent{Calls: 1, USD: 0.0001, HeldUSD: 0.0002, HeldTokens: 200}},
		{"no tokens, without", Limits{}, choices{some}, usage.Spent{Calls: 1, USD: 0.0001, HeldTokens: 200}},
		// The first answer has the cost of all.
		{"several, free", Limits{MaxUSD: 1}, choices{free, free}, usage.Spent{Calls: 1, Tokens: used.Add(used), USD: 0.000088}},
		{"several, dear", Limits{MaxUSD: 1}, choices{dear, free}, usage.Spent{Calls: 1, Tokens: used.Add(used), USD: 0.25}},
	} {
		l := New(test.limits, usage.Spent{})
		m := l.Wrap(test.resp, &testPrice)
		var list []*model.Response
		var err error
		if len(test.resp) == 1 {
			list = make([]*model.Response, 1)
			list[0], err = m.Generate(t.Context(), question())
		} else {
			list, err = m.(model.Batcher).GenerateN(t.Context(), question(), len(test.resp))
		}
		if err != nil {
			t.Fatalf("%s: Generate() = %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, l.Spent()); diff != "" {
			t.Errorf("%s: Spent() differs (-want +got):\n%s", test.name, diff)
		}
		// What the answers are said to cost adds up to what was counted.
		sum := 0.0
		for _, r := range list {
			sum += *r.CostUSD
		}
		if math.Abs(sum-test.want.USD) > 1e-12 {
			t.Errorf("%s: the answers cost %v together, want %v", test.name, sum, test.want.USD)
		}
		if *free.CostUSD != 0 || *dear.CostUSD != 0.25 {
			t.Fatalf("%s: the provider's answer was changed", test.name)
		}
	}
}
