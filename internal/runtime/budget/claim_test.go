package budget

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// A call that is cancelled while it waits for another's claim still announces one.
func TestNoClaimAfterCancel(t *testing.T) {
	l := New(Limits{MaxCalls: 100}, usage.Spent{})
	late := 0
	l.OnClaim(func(ctx context.Context, _ Claim) error {
		if ctx.Err() != nil {
			late++
		}
		return ctx.Err()
	})
	l.claiming.Lock() // another call's claim is being fsynced
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := l.Wrap(always(answer(1, 1), nil), nil).Generate(ctx, question()); done <- err }()
	for l.Spent().Calls == 0 {
	}
	cancel() // the race is decided; step_completed and task_completed are appended
	l.claiming.Unlock()
	<-done
	if late != 0 {
		t.Error("a claim was logged after its call was cancelled, that is after task_completed")
	}
}

// A call that is given up before it is announced takes nothing from those that wait, and
// they are not refused because of it.
func TestUnannouncedCallsAreGivenBack(t *testing.T) {
	l := New(Limits{MaxCalls: 1}, usage.Spent{})
	l.OnClaim(func(ctx context.Context, _ Claim) error { return ctx.Err() })
	m := l.Wrap(always(answer(1, 1), nil), nil)
	call := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() { _, err := m.Generate(ctx, question()); done <- err }()
		return done
	}
	l.claiming.Lock() // another claim is being fsynced
	ctx, cancel := context.WithCancel(t.Context())
	first := call(ctx)
	for l.Spent().Calls == 0 {
	}
	second := call(t.Context())
	for waiting := 0; waiting == 0; {
		l.mu.Lock()
		waiting = l.waiters.Len()
		l.mu.Unlock()
		select {
		case err := <-second:
			t.Fatalf("the second call = %v, want that it waits for what becomes of the first", err)
		default:
		}
	}
	cancel()
	l.claiming.Unlock()
	if err := <-first; model.KindOf(err) != model.Cancelled {
		t.Errorf("the first call = %v, want that it is cancelled", err)
	}
	if err := <-second; err != nil {
		t.Errorf("the second call = %v, want an answer", err)
	}
	if err := <-call(t.Context()); err == nil {
		t.Error("a call beyond the limit was answered")
	}
}

// claims keeps what a ledger announced.
type claims struct {
	last Claim
	n    int
}

func (c *claims) of(l *Ledger) *Ledger {
	l.OnClaim(func(_ context.Context, next Claim) error {
		c.last = next
		c.n++
		return nil
	})
	return l
}

// TestAKillLosesLittle kills a run with one call in flight, after any number of
// answers. What the last claim says beyond what was spent is lost: at most what the
// call reserved, and one part in claimShare of the limit.
func TestAKillLosesLittle(t *testing.T) {
	const worstTokens, worstUSD = 200, 0.0003 // of question
	for name, limits := range map[string]Limits{
		"calls":  {MaxCalls: 20},
		"tokens": {MaxTokens: 5 * worstTokens},
		"money":  {MaxUSD: 5 * worstUSD},
		"all":    {MaxCalls: 20, MaxTokens: 5 * worstTokens, MaxUSD: 5 * worstUSD},
		"large":  {MaxCalls: 1000, MaxTokens: 1e6, MaxUSD: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var c claims
			l := c.of(New(limits, usage.Spent{}))
			kills := 0
			m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
				kills++
				spent := l.Spent() // the call in flight is one of its calls
				if lost, most := c.last.Calls-spent.Calls, max(limits.MaxCalls, spent.Calls)/claimShare; lost > most {
					t.Errorf("a kill during call %d loses %d calls, want at most %d", kills, lost, most)
				}
				if lost, most := c.last.Tokens-spent.Tokens.Total(), worstTokens+limits.MaxTokens/claimShare; limits.MaxTokens > 0 && lost > most {
					t.Errorf("a kill during call %d loses %d tokens, want at most %d", kills, lost, most)
				}
				if lost, most := c.last.USD-spent.USD, worstUSD+limits.MaxUSD/claimShare; limits.MaxUSD > 0 && lost > most+1e-9 {
					t.Errorf("a kill during call %d loses $%.6f, want at most $%.6f", kills, lost, most)
				}
				return answer(9, 1), nil
			}), &testPrice)
			for {
				if _, err := m.Generate(t.Context(), question()); errors.Is(err, ErrExhausted) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if kills < 20 {
				t.Errorf("%d calls were made, want at least 20", kills)
			}
		})
	}
}

// TestASmallBudgetOutlivesKills: a run that is killed in every one of its calls
// makes all of them.
func TestASmallBudgetOutlivesKills(t *testing.T) {
	const limit = 20
	already, sent := usage.Spent{}, 0
	for {
		var c claims
		l := c.of(New(Limits{MaxCalls: limit}, already))
		if err := l.reserve(t.Context(), amount{}); errors.Is(err, ErrExhausted) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		sent++                       // and the process is gone
		already.Calls = c.last.Calls // see local.Past
	}
	if sent != limit {
		t.Errorf("a run that was killed in every call made %d calls, want %d", sent, limit)
	}
}

// TestClaimsAreRare counts the claims of long runs. Each leaves at most
// 1 - 1/claimShare of what was not claimed before, so that there are no more than
// claimShare * (1 + ln(limit/claimShare)) of them, whatever the limit counts and
// however many calls there are.
func TestClaimsAreRare(t *testing.T) {
	bound := func(limit float64) int {
		return int(math.Ceil(claimShare * (1 + math.Log(limit/claimShare))))
	}
	for name, test := range map[string]struct {
		limits Limits
		most   int
	}{
		"calls":  {Limits{MaxCalls: 1e5}, bound(1e5)},
		"tokens": {Limits{MaxTokens: 1e6}, bound(1e6) + bound(1e5)}, // calls are counted too
		"money":  {Limits{MaxUSD: 1.1}, bound(1.1e12) + bound(1e5)},
	} {
		t.Run(name, func(t *testing.T) {
			var c claims
			l := c.of(New(test.limits, usage.Spent{}))
			m := l.Wrap(always(answer(9, 1), nil), &testPrice)
			calls := 0
			for ; ; calls++ {
				if _, err := m.Generate(t.Context(), question()); errors.Is(err, ErrExhausted) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d calls, %d claims, at most %d allowed", calls, c.n, test.most)
			if calls < 99_000 || c.n > test.most {
				t.Errorf("%d calls made %d claims, want at most %d for some 100000 calls", calls, c.n, test.most)
			}
		})
	}
}

// TestClaimsDoNotGoBack: while a claim is on its way to the disk, calls go out that
// only the one before covers. It must not end up below that one.
func TestClaimsDoNotGoBack(t *testing.T) {
	l := New(Limits{MaxCalls: 1000, MaxTokens: 1e6, MaxUSD: 1}, usage.Spent{})
	var last Claim
	l.OnClaim(func(_ context.Context, c Claim) error {
		if c.Calls < last.Calls || c.Tokens < last.Tokens || c.USD < last.USD {
			t.Errorf("claim %+v after %+v, want no less of anything", c, last)
		}
		last = c
		return nil
	})
	m := l.Wrap(always(answer(9, 1), nil), &testPrice)
	large := question()
	large.MaxOutput = 100_000
	for _, req := range []*model.Request{large, question()} {
		for range 30 {
			if _, err := m.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
	}
}
