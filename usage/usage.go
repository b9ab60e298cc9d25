// Package usage is how MAKER counts tokens and money.
package usage

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
	return t.Input + t.CacheRead + t.CacheWrite + t.Output + t.Reasoning
}

// Add returns the sum of two counts.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{
		Input:      t.Input + u.Input,
		CacheRead:  t.CacheRead + u.CacheRead,
		CacheWrite: t.CacheWrite + u.CacheWrite,
		Output:     t.Output + u.Output,
		Reasoning:  t.Reasoning + u.Reasoning,
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
}

// Add returns the sum of what two parts of a run have used.
func (s Spent) Add(t Spent) Spent {
	return Spent{
		Calls:      s.Calls + t.Calls,
		Tokens:     s.Tokens.Add(t.Tokens),
		USD:        s.USD + t.USD,
		Unpriced:   s.Unpriced + t.Unpriced,
		Unreported: s.Unreported + t.Unreported,
		Abandoned:  s.Abandoned + t.Abandoned,
		HeldUSD:    s.HeldUSD + t.HeldUSD,
		HeldTokens: s.HeldTokens + t.HeldTokens,
	}
}

// CostUSD is the cost if it is known, and nil if it is not.
func (s Spent) CostUSD() *float64 {
	if s.Unpriced+s.Unreported > 0 {
		return nil
	}
	return &s.USD
}
