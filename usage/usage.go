// Package usage is how MAKER counts tokens and money.
//
// Counts come from providers, who may say anything. [Check] tells what no call can
// have used, and sums stop at a largest number instead of wrapping around, so that a
// total is always a number that can be written down.
package usage

import (
	"fmt"
	"math"
)

// Tokens counts the tokens of one call or of many. The fields are disjoint,
// whatever a provider's own accounting: their sum is everything processed.
type Tokens struct {
	Input      int64 `json:"input"`                 // read afresh
	CacheRead  int64 `json:"cache_read,omitempty"`  // read from a prompt cache
	CacheWrite int64 `json:"cache_write,omitempty"` // written to a prompt cache
	Output     int64 `json:"output"`                // the visible answer
	Reasoning  int64 `json:"reasoning,omitempty"`   // hidden thinking, billed as output
}

// Total is the number of tokens in every class.
func (t Tokens) Total() int64 {
	return plus(plus(plus(plus(t.Input, t.CacheRead), t.CacheWrite), t.Output), t.Reasoning)
}

// Add returns the sum of two counts.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{
		Input:      plus(t.Input, u.Input),
		CacheRead:  plus(t.CacheRead, u.CacheRead),
		CacheWrite: plus(t.CacheWrite, u.CacheWrite),
		Output:     plus(t.Output, u.Output),
		Reasoning:  plus(t.Reasoning, u.Reasoning),
	}
}

// Spent is what a run has used up to some moment.
type Spent struct {
	Calls  int64  `json:"calls"` // requests sent, failed ones included
	Tokens Tokens `json:"tokens"`

	// USD is the cost of the calls whose price is known.
	USD float64 `json:"usd"`

	// Unpriced counts the answered calls whose cost is not known. While there
	// are any, USD is a lower bound and the total is reported as null.
	Unpriced int64 `json:"unpriced,omitempty"`

	// NoPrice says that no answer has come yet, and that the price of a model is not
	// known: then nothing is known of the cost, not even that it is 0.
	NoPrice bool `json:"no_price,omitempty"`

	// Unreported counts the answers of a known price that came without a count of
	// their tokens. Their worst case is held, but their cost is not known either.
	Unreported int64 `json:"unreported,omitempty"`

	// Abandoned counts the calls that were given up in flight. Providers may
	// bill them, and never say how much.
	Abandoned int64 `json:"abandoned,omitempty"`

	// HeldUSD and HeldTokens are the worst case of the abandoned calls, and of
	// answers that came without a count. A budget takes them as spent.
	HeldUSD    float64 `json:"held_usd,omitempty"`
	HeldTokens int64   `json:"held_tokens,omitempty"`

	// Wasted counts the calls that came to nothing for the sake of speed: answers to
	// questions that were not asked in the end, and second calls for one answer.
	Wasted int64 `json:"wasted,omitempty"`
}

// Add returns the sum of what two parts of a run have used.
func (s Spent) Add(t Spent) Spent {
	return Spent{
		Calls:      plus(s.Calls, t.Calls),
		Tokens:     s.Tokens.Add(t.Tokens),
		USD:        AddUSD(s.USD, t.USD),
		Unpriced:   plus(s.Unpriced, t.Unpriced),
		NoPrice:    (s.NoPrice || t.NoPrice) && s.Tokens.Total()+t.Tokens.Total() == 0,
		Unreported: plus(s.Unreported, t.Unreported),
		Abandoned:  plus(s.Abandoned, t.Abandoned),
		HeldUSD:    AddUSD(s.HeldUSD, t.HeldUSD),
		HeldTokens: plus(s.HeldTokens, t.HeldTokens),
		Wasted:     plus(s.Wasted, t.Wasted),
	}
}

// plus adds two counts and stops at the largest.
func plus(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

// MaxUSD is where sums of money stop: more than anybody can spend.
const MaxUSD = 1e12

// AddUSD returns the sum of two amounts, between 0 and [MaxUSD], without the dust that
// adding binary fractions leaves: prices are whole picodollars. What is no number counts
// for nothing.
func AddUSD(a, b float64) float64 {
	const pico, exact = 1e12, 1e3 // beyond which picodollars are less than a float can tell apart
	sum := min(max(number(a)+number(b), 0), MaxUSD)
	if sum < exact {
		return math.Round(sum*pico) / pico
	}
	return sum
}

func number(usd float64) float64 {
	if math.IsNaN(usd) {
		return 0
	}
	return min(max(usd, -MaxUSD), MaxUSD)
}

// What no call comes to, whoever answers it.
const (
	maxTokens    = 1 << 31 // of one class
	dearestToken = 1       // dollar: no list of prices can name a higher price
	maxFee       = 10      // dollars beside the tokens, such as for a search
)

// Check says why no call can have used so many tokens or cost so much, and returns nil
// if one can. The cost is nil if it is not known.
func Check(t Tokens, costUSD *float64) error {
	for _, n := range [...]int64{t.Input, t.CacheRead, t.CacheWrite, t.Output, t.Reasoning} {
		switch {
		case n < 0:
			return fmt.Errorf("a count of tokens is negative")
		case n > maxTokens:
			return fmt.Errorf("%d tokens are more than any model reads or writes", n)
		}
	}
	switch {
	case costUSD == nil:
		return nil
	case !(*costUSD >= 0):
		return fmt.Errorf("a cost of %v dollars is no price", *costUSD)
	case *costUSD > maxFee+dearestToken*float64(t.Total()):
		return fmt.Errorf("a cost of %v dollars for %d tokens is above any price", *costUSD, t.Total())
	}
	return nil
}

// CostUSD is the cost if it is known, and nil if it is not.
func (s Spent) CostUSD() *float64 {
	nothing := s.Abandoned > 0 && s.Abandoned == s.Calls && s.HeldUSD == 0 // is known of any call
	if s.Unpriced+s.Unreported > 0 || s.NoPrice || nothing {
		return nil
	}
	return &s.USD
}
