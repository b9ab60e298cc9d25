package budget

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/usage"
)

// failing is a batcher whose calls fail.
type failing struct {
	model.Func
	err error
}

func (f failing) GenerateN(context.Context, *model.Request, int) ([]*model.Response, error) {
	return nil, f.err
}

// TestBatchesSettle: a call for several answers is one call, and its worst case is to
// read once and write as often as there are answers.
func TestBatchesSettle(t *testing.T) {
	const n = 3
	held := usage.Spent{Calls: 1, Abandoned: 1, HeldTokens: 100 + n*100, HeldUSD: 0.0001 + n*0.0002}
	unknown := held
	unknown.Abandoned, unknown.Unreported = 0, 1
	some := 0.25
	gone := errors.New("gone")
	for _, test := range []struct {
		name  string
		price *price.Price
		model model.Model
		err   error
		want  usage.Spent
	}{
		{"priced", &testPrice, choices{answer(30, 7), answer(0, 7), answer(0, 7)}, nil, usage.Spent{Calls: 1, Tokens: usage.Tokens{Input: 30, Output: 21}, USD: 0.000072}},
		{"price unknown", nil, choices{answer(30, 7), answer(0, 7), answer(0, 7)}, nil, usage.Spent{Calls: 1, Tokens: usage.Tokens{Input: 30, Output: 21}, Unpriced: n}},
		{"price unknown, one is empty", nil, choices{answer(30, 7), answer(0, 7), answer(0, 0)}, nil, usage.Spent{Calls: 1, Tokens: usage.Tokens{Input: 30, Output: 14}, Unpriced: 2}},
		{"one is empty and was billed", &testPrice, choices{answer(30, 7), {CostUSD: &some}, answer(0, 0)}, nil, usage.Spent{Calls: 1, Tokens: usage.Tokens{Input: 30, Output: 7}, USD: 0.250044}},
		{"no usage", &testPrice, choices{answer(0, 0), answer(0, 0), answer(0, 0)}, nil, unknown},
		{"refused", &testPrice, failing{err: &model.Error{Kind: model.RateLimited, Status: 429}}, nil, usage.Spent{Calls: 1}},
		{"given up", &testPrice, failing{err: &model.Error{Kind: model.Cancelled}}, nil, held},
		{"not from the provider", &testPrice, failing{err: gone}, gone, usage.Spent{Calls: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := New(Limits{}, usage.Spent{})
			list, err := l.Wrap(test.model, test.price).(model.Batcher).GenerateN(t.Context(), question(), n)
			f, fails := test.model.(failing)
			if fails != (err != nil) || !fails && len(list) != n || fails && err != f.err {
				t.Fatalf("GenerateN() = %v, %v", list, err)
			}
			if diff := cmp.Diff(test.want, l.Spent()); diff != "" {
				t.Errorf("Spent() differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBatchesAreRefused: a call for several answers is not made where a limit could not
// be kept.
func TestBatchesAreRefused(t *testing.T) {
	for _, test := range []struct {
		limits Limits
		price  *price.Price
		n      int
		want   error
	}{
		{Limits{MaxUSD: 1}, nil, 1, ErrUnpriced},
		{Limits{MaxTokens: 400}, nil, 3, nil},
		{Limits{MaxTokens: 399}, nil, 3, ErrExhausted},
		{Limits{MaxUSD: 0.0007}, &testPrice, 3, nil},
		{Limits{MaxUSD: 0.0007}, &testPrice, 4, ErrExhausted},
	} {
		l := New(test.limits, usage.Spent{})
		m := l.Wrap(choices{answer(1, 1)}, test.price).(model.Batcher)
		if _, err := m.GenerateN(t.Context(), question(), test.n); !errors.Is(err, test.want) || (l.Spent().Calls == 0) != (test.want != nil) {
			t.Errorf("GenerateN(%d) within %+v = %v with %+v, want %v", test.n, test.limits, err, l.Spent(), test.want)
		}
	}
}

// TestTheProvidersSplitStays: how a provider spreads the cost of a call over its answers
// is its own affair as long as the sum is right.
func TestTheProvidersSplitStays(t *testing.T) {
	all, none := 0.000088, 0.0
	l := New(Limits{MaxUSD: 1}, usage.Spent{})
	m := l.Wrap(choices{
		{Usage: usage.Tokens{Input: 30, Output: 7}, CostUSD: &all},
		{Usage: usage.Tokens{Input: 30, Output: 7}, CostUSD: &none},
	}, &testPrice).(model.Batcher)
	list, err := m.GenerateN(t.Context(), question(), 2)
	if err != nil || *list[0].CostUSD != all || *list[1].CostUSD != none || l.Spent().USD != all {
		t.Errorf("GenerateN() = %v, %v with %+v, want costs of %v and %v", list, err, l.Spent(), all, none)
	}
}

// TestWhatMayBeBilled: a failed call is held if the provider may have done its work.
func TestWhatMayBeBilled(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	fault := func(status int) error { return &model.Error{Kind: model.Transient, Status: status} }
	for _, test := range []struct {
		ctx  context.Context
		err  error
		want bool
	}{
		{t.Context(), fault(0), true}, // the connection broke
		{t.Context(), fault(200), true},
		{t.Context(), fault(299), true},
		{t.Context(), fault(300), false},
		{t.Context(), fault(503), false},
		{t.Context(), &model.Error{Kind: model.Transient, NotSent: true}, false},
		{t.Context(), &model.Error{Kind: model.Cancelled}, true},
		{t.Context(), &model.Error{Kind: model.BadUsage}, true},
		{t.Context(), &model.Error{Kind: model.Invalid, Status: 400}, false},
		{t.Context(), errors.New("no server"), false},
		{ended, errors.New("no server"), true},
	} {
		if got := gaveUp(test.ctx, test.err); got != test.want {
			t.Errorf("gaveUp(%v) with a context that is %v = %t, want %t", test.err, test.ctx.Err(), got, test.want)
		}
	}
}

// TestFreeWithoutUsage: nothing is unreported where nothing is to be paid.
func TestFreeWithoutUsage(t *testing.T) {
	l := New(Limits{}, usage.Spent{})
	resp, err := l.Wrap(always(answer(0, 0), nil), &price.Price{}).Generate(t.Context(), question())
	if err != nil || resp.CostUSD == nil || *resp.CostUSD != 0 {
		t.Errorf("Generate() = %+v, %v, want an answer that is free", resp, err)
	}
	if diff := cmp.Diff(usage.Spent{Calls: 1, HeldTokens: 200}, l.Spent()); diff != "" {
		t.Errorf("Spent() differs (-want +got):\n%s", diff)
	}
}

// TestChargesAddUp: nothing is lost of what two answers cost.
func TestChargesAddUp(t *testing.T) {
	a := charge{tokens: usage.Tokens{Input: 1}, money: 2, held: amount{3, 4}, unpriced: 5, unreported: 6, abandoned: 7}
	b := charge{tokens: usage.Tokens{Input: 10}, money: 20, held: amount{30, 40}, unpriced: 50, unreported: 60, abandoned: 70}
	want := charge{tokens: usage.Tokens{Input: 11}, money: 22, held: amount{33, 44}, unpriced: 55, unreported: 66, abandoned: 77}
	if got := a.plus(b); got != want {
		t.Errorf("plus() = %+v, want %+v", got, want)
	}
	if got := plus(math.MaxInt64-1, 2); got != math.MaxInt64 {
		t.Errorf("plus(the most, 1) = %d, want the most", got)
	}
}

// TestAnExactClaimIsEnough: a claim covers what comes up to it to the last token and the
// last fraction of a cent.
func TestAnExactClaimIsEnough(t *testing.T) {
	for name, test := range map[string]struct {
		limits      Limits
		first, next amount
	}{
		"tokens": {Limits{MaxCalls: 1000, MaxTokens: 640}, amount{tokens: 64}, amount{tokens: 64 + (640-64)/claimShare}},
		"money":  {Limits{MaxCalls: 1000, MaxUSD: 640e-12}, amount{money: 64}, amount{money: 64 + (640-64)/claimShare}},
	} {
		for _, more := range []int64{0, 1} {
			var c claims
			l := c.of(New(test.limits, usage.Spent{}))
			next := test.next
			if next.tokens > 0 {
				next.tokens += more
			} else {
				next.money += price.Money(more)
			}
			for _, need := range []amount{test.first, next} {
				if err := l.reserve(t.Context(), need); err != nil {
					t.Fatal(err)
				}
				l.settle(need, &charge{})
			}
			if want := 1 + int(more); c.n != want {
				t.Errorf("%s: %d claims for %d beyond the first, want %d", name, c.n, more, want)
			}
		}
	}
}

// TestCancelledAtTheSameMoment: a call that is cancelled just as its turn comes is made,
// or gives its place back.
func TestCancelledAtTheSameMoment(t *testing.T) {
	const need = 100
	for range 200 {
		l := New(Limits{MaxTokens: need}, usage.Spent{})
		if err := l.reserve(t.Context(), amount{tokens: need}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var waited error
		wg.Go(func() { waited = l.reserve(ctx, amount{tokens: need}) })
		for waiting := 0; waiting == 0; {
			l.mu.Lock()
			waiting = l.waiters.Len()
			l.mu.Unlock()
		}
		l.mu.Lock() // who waits cannot look at the books between the two
		cancel()
		l.release(amount{tokens: need})
		l.admit()
		l.mu.Unlock()
		wg.Wait()
		made := int64(0)
		if waited == nil {
			made = 1
		} else if model.KindOf(waited) != model.Cancelled {
			t.Fatalf("reserve() = %v, want cancelled", waited)
		}
		if got, reserved := l.Spent().Calls, l.reserved.tokens; got != 1+made || reserved != made*need {
			t.Fatalf("reserve() = %v: %d calls and %d tokens reserved, want %d and %d", waited, got, reserved, 1+made, made*need)
		}
	}
}
