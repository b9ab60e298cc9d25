package session

import (
	"fmt"
	"strconv"

	"go.temporal.io/sdk/workflow"

	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/usage"
)

// A loan is what a part of the run may spend, and how many calls it may have in flight. What it
// may spend counts as spent until the part says what it was, and for good if its worker is lost.
type loan struct {
	allowance wire.Allowance
	all       bool // nothing was left when it was made, and nobody else had anything
}

// share is which part of what is left is lent at first.
const share = 4

// lend makes a loan, to a part that is alone or one of many. One that was too small is made again
// with all there is, once nobody else has any of it.
func (s *Session) lend(ctx workflow.Context, tries int, alone bool) (*loan, error) {
	l := &loan{}
	limits := s.opts.Limits
	if limits.MaxCalls == 0 && limits.MaxTokens == 0 && limits.MaxUSD == 0 && s.opts.MaxInFlight == 0 {
		return l, nil
	}
	// What is left is lent to one after the other; whoever gets nothing waits for what others give
	// back.
	enough := func() bool {
		return len(s.lent) == 0 || tries == 0 && s.left() == "" && (s.opts.MaxInFlight == 0 || s.places() > 0)
	}
	if err := workflow.Await(ctx, enough); err != nil {
		return l, ErrCancelled
	}
	if limit := s.left(); limit != "" {
		most := map[string]string{
			"max_calls": strconv.FormatInt(limits.MaxCalls, 10), "max_tokens": strconv.FormatInt(limits.MaxTokens, 10), "max_usd": fmt.Sprintf("$%v", limits.MaxUSD),
		}[limit]
		return l, &budget.ExhaustedError{Limit: limit, Max: most, Used: most, Need: "more", Spent: s.spent}
	}
	parts := int64(share)
	if l.all = tries > 0; l.all {
		parts = 1
	}
	free := s.free()
	if limits.MaxCalls > 0 {
		l.allowance.Calls = max(free.Calls/parts, 1)
	}
	if limits.MaxTokens > 0 {
		l.allowance.Tokens = max(free.Tokens/parts, 1)
	}
	if limits.MaxUSD > 0 {
		l.allowance.USD = free.USD / float64(parts)
	}
	if s.opts.MaxInFlight > 0 {
		l.allowance.InFlight = s.places()
		if !alone {
			l.allowance.InFlight = min(l.allowance.InFlight, max(fewPlaces, s.opts.MaxInFlight/mostLeases))
		}
	}
	s.lent[l] = true
	return l, nil
}

// places is how many more calls may be in flight.
func (s *Session) places() int {
	n := s.opts.MaxInFlight
	for l := range s.lent {
		n -= l.allowance.InFlight
	}
	return n
}

// Of the calls that may be in flight, a part that is one of many gets a few, about as many as the
// samples of a step or two need, but so many that there are not more than mostLeases parts.
const (
	fewPlaces  = 8
	mostLeases = 100
)

// left is the limit of which nothing is left to be lent; empty if there is none.
func (s *Session) left() string {
	limits, free := s.opts.Limits, s.free()
	switch {
	case limits.MaxCalls > 0 && free.Calls < 1:
		return "max_calls"
	case limits.MaxTokens > 0 && free.Tokens < 1:
		return "max_tokens"
	case limits.MaxUSD > 0 && free.USD < leastUSD:
		return "max_usd"
	}
	return ""
}

// leastUSD is less than any call costs.
const leastUSD = 1e-12

// free is what is neither spent nor lent.
func (s *Session) free() wire.Allowance {
	used := s.taken()
	limits := s.opts.Limits
	return wire.Allowance{
		Calls:  max(limits.MaxCalls-used.Calls, 0),
		Tokens: max(limits.MaxTokens-used.Tokens, 0),
		USD:    max(limits.MaxUSD-used.USD, 0),
	}
}

// taken is what is spent or lent.
func (s *Session) taken() wire.Allowance {
	used := wire.Allowance{
		Calls: s.spent.Calls, Tokens: s.spent.Tokens.Total() + s.spent.HeldTokens, USD: s.spent.USD + s.spent.HeldUSD,
	}
	for l := range s.lent { // sums do not depend on the order
		used.Calls += l.allowance.Calls
		used.Tokens += l.allowance.Tokens
		used.USD += l.allowance.USD
	}
	for _, spent := range s.owed {
		used.Calls += spent.Calls
		used.Tokens += spent.Tokens.Total() + spent.HeldTokens
		used.USD += spent.USD + spent.HeldUSD
	}
	return used
}

// settle takes in what a part has spent of its loan.
func (s *Session) settle(l *loan, spent usage.Spent) {
	delete(s.lent, l)
	s.spent = s.spent.Add(spent)
}

// owe is settle for what becomes part of what the run has spent later.
func (s *Session) owe(l *loan, spent usage.Spent) {
	delete(s.lent, l)
	s.owed[l] = spent
}

// giveBack ends a loan of which nothing was spent.
func (s *Session) giveBack(l *loan) { delete(s.lent, l) }

// forfeit takes a loan as spent, whose worker is lost.
func (s *Session) forfeit(l *loan) {
	if !s.lent[l] {
		return
	}
	delete(s.lent, l)
	s.spent = s.spent.Add(usage.Spent{
		Calls: l.allowance.Calls, HeldTokens: l.allowance.Tokens, HeldUSD: l.allowance.USD, Abandoned: 1,
	})
}
