// Package budget keeps a run within its money, tokens and calls.
//
// A [Ledger] is shared by all models of a run. Before each call it reserves the
// worst case, and after it settles with what the call really used, so that the
// limits hold at every moment, however many calls are in flight:
//
//	spent + held + reserved <= limit
//
// A call that does not fit beside the calls in flight waits for them, in order
// of arrival, because most answers take less than their worst case. A call that
// would not fit even if those in flight cost nothing more ends with an
// [*ExhaustedError].
//
// # The worst case
//
// A token is at least one byte, so a prompt has at most as many tokens as bytes,
// plus the few that a provider puts around each message and about tools. The answer
// has at most [model.Request.MaxOutput] tokens; where a request sets none, the most
// that the price table says the model can write, or else [DefaultOutput]. Input is
// reserved at the dearest input price, which is that of writing the cache.
//
// # What is never learnt
//
// A call that was given up in flight may be billed, and nobody says how much.
// Its worst case stays on the books as held, and counts against the limits. So
// does that of an answer without any usage, whose cost is not known, and of a call
// whose answer broke on its way. A call that the provider refused costs nothing but
// its place among the calls.
package budget

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/usage"
)

// DefaultOutput is the worst case of an answer to a request that does not bound
// its output, from a model whose greatest output is not known.
const DefaultOutput = 32_768

// messageTokens bounds what a provider adds around one message, and toolPrompt what
// it tells the model about using tools, if there are any.
const (
	messageTokens = 8
	toolPrompt    = 1024
)

// Limits are what a run may use. Zero means no limit.
type Limits struct {
	MaxCalls  int64
	MaxTokens int64
	MaxUSD    float64
}

// Reasons why a run cannot be kept within its limits.
var (
	// ErrExhausted is what every [*ExhaustedError] is.
	ErrExhausted = errors.New("budget exhausted")

	// ErrUnpriced says that a limit on money cannot be kept.
	ErrUnpriced = errors.New("max_usd cannot be kept")
)

// An ExhaustedError is a call that was not made because it might have broken a
// limit. It is not a [*model.Error]: asking again cannot help.
type ExhaustedError struct {
	Limit string // "max_calls", "max_tokens" or "max_usd"
	Max   string // the limit
	Used  string // what counts against it already
	Need  string // the worst case of the call
	Spent usage.Spent
}

// Error says which limit it was and what the call would have needed.
func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("budget: %s is %s: %s used, and the next call may take %s", e.Limit, e.Max, e.Used, e.Need)
}

// Is reports whether target is [ErrExhausted].
func (e *ExhaustedError) Is(target error) bool { return target == ErrExhausted }

// A Ledger counts what a run uses and keeps it within its limits. It is safe for
// concurrent use.
type Ledger struct {
	limits   Limits
	maxMoney price.Money

	mu        sync.Mutex
	calls     int64 // those in flight too
	unclaimed int64 // of them, those that may still be given back before they are sent
	tokens    usage.Tokens
	money     price.Money
	unpriced  int64
	unreport  int64
	noPrice   bool // of one of the models the price is not known
	abandoned int64
	held      amount
	wasted    int64
	largest   amount    // of what a call has needed
	reserved  amount    // by the calls in flight
	waiters   list.List // of *waiter
	claimed   Claim     // what was announced; see OnClaim

	onClaim  func(context.Context, Claim) error
	claiming sync.Mutex // held while a claim is being announced
}

// A Claim is up to what totals a run may spend.
type Claim struct {
	Calls  int64
	Tokens int64 // 0 if there is no limit on tokens
	USD    float64
	money  price.Money
}

// claimShare is the part of what remains of a limit, one in so many, that is claimed
// beyond what the calls in flight may take. It counts as spent after a crash, so a
// small budget must not lose much by it. A large one must not be announced often:
// what is not claimed yet shrinks by this part with each claim, so that there are at
// most claimShare * (1 + ln(limit/claimShare)) of them.
const claimShare = 64

// ahead is up to where a claim goes if so much is taken already.
func ahead[N int64 | price.Money](taken, limit N) N {
	return min(taken+max(limit-taken, 0)/claimShare, limit)
}

// An amount is what one call may use, or several.
type amount struct {
	tokens int64
	money  price.Money
}

// A waiter is a call that waits for others to settle.
type waiter struct {
	need amount
	done chan error // gets nil once the amount is reserved; room for one
}

// A charge is what a call adds to the books when it settles.
type charge struct {
	tokens     usage.Tokens
	money      price.Money
	held       amount
	unpriced   int64
	unreported int64
	abandoned  int64
}

// plus adds up the charges of several answers.
func (c charge) plus(d charge) charge {
	return charge{
		tokens:     c.tokens.Add(d.tokens),
		money:      c.money.Plus(d.money),
		held:       amount{plus(c.held.tokens, d.held.tokens), c.held.money.Plus(d.held.money)},
		unpriced:   c.unpriced + d.unpriced,
		unreported: c.unreported + d.unreported,
		abandoned:  c.abandoned + d.abandoned,
	}
}

// New returns the ledger of a run of which earlier sessions have already spent
// something.
func New(limits Limits, already usage.Spent) *Ledger {
	return &Ledger{
		limits:    limits,
		maxMoney:  price.FromUSD(limits.MaxUSD),
		calls:     already.Calls,
		tokens:    already.Tokens,
		money:     price.FromUSD(already.USD),
		unpriced:  already.Unpriced,
		unreport:  already.Unreported,
		abandoned: already.Abandoned,
		wasted:    already.Wasted,
		held:      amount{already.HeldTokens, price.FromUSD(already.HeldUSD)},
	}
}

// Check reports whether the limits can be kept with a model of price p, nil if
// it is not known. A limit on money needs the price of every call, those of
// earlier sessions included.
func (l *Ledger) Check(p *price.Price) error {
	if l.limits.MaxCalls < 0 || l.limits.MaxTokens < 0 || !(l.limits.MaxUSD >= 0) {
		return fmt.Errorf("budget: a limit is negative: %+v", l.limits)
	}
	if l.limits.MaxUSD == 0 {
		return nil
	}
	if p == nil {
		return fmt.Errorf("budget: %w: the price of the model is not known", ErrUnpriced)
	}
	if n := l.Spent().Unpriced; n > 0 {
		return fmt.Errorf("budget: %w: the run has %d answers whose cost is not known", ErrUnpriced, n)
	}
	return nil
}

// Spent is what the run has used so far. It counts a call as soon as it is sent,
// and its tokens and money when it settles.
func (l *Ledger) Spent() usage.Spent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent()
}

func (l *Ledger) spent() usage.Spent {
	return usage.Spent{
		Calls:      l.calls,
		Tokens:     l.tokens,
		USD:        l.money.USD(),
		Unpriced:   l.unpriced,
		NoPrice:    l.noPrice && l.tokens.Total() == 0,
		Unreported: l.unreport,
		Abandoned:  l.abandoned,
		HeldUSD:    l.held.money.USD(),
		HeldTokens: l.held.tokens,
		Wasted:     l.wasted,
	}
}

// Waste notes calls that came to nothing for the sake of speed.
func (l *Ledger) Waste(calls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wasted += int64(calls)
}

// Roomy reports whether so many further calls like the largest so far fit beside those in
// flight. What is done for the sake of speed leaves so much to what must be done.
func (l *Ledger) Roomy(calls int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := int64(calls)
	return (l.limits.MaxCalls == 0 || l.calls+n <= l.limits.MaxCalls) &&
		l.largest.tokens <= (l.freeTokens()-l.reserved.tokens)/n &&
		l.largest.money <= (l.freeMoney()-l.reserved.money)/price.Money(n)
}

// OnClaim has f announce, and make durable, how much may be spent before it is.
// A run that ends without a word has spent no more than its last claim. It is
// only used where there is a limit, and must be set before the first call.
func (l *Ledger) OnClaim(f func(context.Context, Claim) error) { l.onClaim = f }

// reserve takes one call and the amount it needs, waiting if it must.
func (l *Ledger) reserve(ctx context.Context, need amount) error {
	if err := l.wait(ctx, need); err != nil {
		return err
	}
	if !l.claims() {
		return nil
	}
	err := l.claim(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unclaimed--
	if err != nil {
		l.calls--
		l.release(need)
	}
	if l.waiters.Len() > 0 {
		l.admit()
	}
	return err
}

// claims reports whether calls are announced before they are sent.
func (l *Ledger) claims() bool { return l.onClaim != nil && l.limits != (Limits{}) }

// claim announces what the calls in flight may spend, unless that is covered
// already.
func (l *Ledger) claim(ctx context.Context) error {
	if l.covered() {
		return nil
	}
	l.claiming.Lock()
	defer l.claiming.Unlock()
	if l.covered() {
		return nil // by somebody else's claim
	}
	if ctx.Err() != nil {
		return cancelled(ctx) // the run may have ended while this waited
	}
	l.mu.Lock()
	next := l.nextClaim()
	l.mu.Unlock()
	if err := l.onClaim(ctx, next); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimed = next
	return nil
}

// nextClaim covers the calls in flight and a share of what remains. It is never less
// than the last claim: that one still covers calls that are sent in the meantime.
func (l *Ledger) nextClaim() Claim {
	next := l.claimed
	if limit := l.limits.MaxCalls; limit > 0 {
		next.Calls = max(next.Calls, ahead(l.calls, limit))
	} else {
		next.Calls = max(next.Calls, l.calls+l.calls/claimShare) // counted, though nothing limits them
	}
	if limit := l.limits.MaxTokens; limit > 0 {
		next.Tokens = max(next.Tokens, ahead(plus(l.usedTokens(), l.reserved.tokens), limit))
	}
	if l.maxMoney > 0 {
		next.money = max(next.money, ahead(l.usedMoney().Plus(l.reserved.money), l.maxMoney))
		next.USD = next.money.USD()
	}
	return next
}

// covered reports whether the last claim covers the calls in flight.
func (l *Ledger) covered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls <= l.claimed.Calls &&
		(l.limits.MaxTokens == 0 || plus(l.usedTokens(), l.reserved.tokens) <= l.claimed.Tokens) &&
		(l.maxMoney == 0 || l.usedMoney().Plus(l.reserved.money) <= l.claimed.money)
}

// wait takes one call and the amount it needs once they fit.
func (l *Ledger) wait(ctx context.Context, need amount) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	l.mu.Lock()
	if err := l.exhausted(need); err != nil {
		l.mu.Unlock()
		return err
	}
	if l.waiters.Len() == 0 && l.fits(need) {
		l.take(need)
		l.mu.Unlock()
		return nil
	}
	w := &waiter{need: need, done: make(chan error, 1)}
	place := l.waiters.PushBack(w)
	l.mu.Unlock()

	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case err := <-w.done: // it came at the same moment
		if err == nil {
			l.calls--
			l.release(need)
			if l.claims() {
				l.unclaimed--
			}
		}
	default:
		l.waiters.Remove(place)
	}
	l.admit()
	return cancelled(ctx)
}

// settle ends a reservation and books what the call really used.
func (l *Ledger) settle(need amount, c *charge) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(need)
	l.tokens = l.tokens.Add(c.tokens)
	l.money = l.money.Plus(c.money)
	l.unpriced += c.unpriced
	l.unreport += c.unreported
	l.abandoned += c.abandoned
	l.held.tokens = plus(l.held.tokens, c.held.tokens)
	l.held.money = l.held.money.Plus(c.held.money)
	l.admit()
}

func (l *Ledger) take(need amount) {
	l.calls++
	if l.claims() {
		l.unclaimed++
	}
	l.largest = amount{max(l.largest.tokens, need.tokens), max(l.largest.money, need.money)}
	l.reserved.tokens += need.tokens
	l.reserved.money += need.money
}

func (l *Ledger) release(need amount) {
	l.reserved.tokens -= need.tokens
	l.reserved.money -= need.money
}

// admit lets those waiters go whose turn has come.
func (l *Ledger) admit() {
	for l.waiters.Len() > 0 {
		first := l.waiters.Front()
		w := first.Value.(*waiter)
		err := l.exhausted(w.need)
		if err == nil {
			if !l.fits(w.need) {
				return
			}
			l.take(w.need)
		}
		l.waiters.Remove(first)
		w.done <- err
	}
}

// fits reports whether a call fits beside those in flight.
func (l *Ledger) fits(need amount) bool {
	return (l.limits.MaxCalls == 0 || l.calls < l.limits.MaxCalls) &&
		(need.tokens == 0 || need.tokens <= l.freeTokens()-l.reserved.tokens) &&
		(need.money == 0 || need.money <= l.freeMoney()-l.reserved.money)
}

// exhausted returns an [*ExhaustedError] if a call would not fit even if those
// in flight cost nothing more, and those that are not announced yet are not sent.
func (l *Ledger) exhausted(need amount) error {
	var e *ExhaustedError
	switch {
	case l.limits.MaxCalls > 0 && l.calls-l.unclaimed >= l.limits.MaxCalls:
		e = &ExhaustedError{
			Limit: "max_calls", Max: strconv.FormatInt(l.limits.MaxCalls, 10),
			Used: strconv.FormatInt(l.calls, 10), Need: "1",
		}
	case need.tokens > 0 && need.tokens > l.freeTokens():
		e = &ExhaustedError{
			Limit: "max_tokens", Max: strconv.FormatInt(l.limits.MaxTokens, 10),
			Used: strconv.FormatInt(l.usedTokens(), 10), Need: strconv.FormatInt(need.tokens, 10),
		}
	case need.money > 0 && need.money > l.freeMoney():
		e = &ExhaustedError{
			Limit: "max_usd", Max: l.maxMoney.String(),
			Used: l.usedMoney().String(), Need: need.money.String(),
		}
	default:
		return nil
	}
	e.Spent = l.spent()
	return e
}

func (l *Ledger) usedTokens() int64      { return plus(l.tokens.Total(), l.held.tokens) }
func (l *Ledger) usedMoney() price.Money { return l.money.Plus(l.held.money) }
func (l *Ledger) freeTokens() int64      { return free(l.limits.MaxTokens, l.usedTokens()) }
func (l *Ledger) freeMoney() price.Money { return free(l.maxMoney, l.usedMoney()) }

// free is what is left of a limit. It is 0 where there is no limit, which is
// enough because calls reserve nothing there.
func free[N int64 | price.Money](limit, used N) N { return max(limit-used, 0) }

func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func cancelled(ctx context.Context) error {
	return &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
}
