package vote

import "fmt"

// Strategy names a stopping rule.
type Strategy string

// The strategies.
const (
	None     Strategy = "none"       // one valid sample decides
	Majority Strategy = "majority"   // n valid votes, then more than half of them
	FirstToK Strategy = "first_to_k" // the leader is k ahead of the runner-up
	Own      Strategy = "own"        // a [Decider] of the program that runs the vote
	Adaptive Strategy = "adaptive"   // the leader is as far ahead as package adaptive asks for
)

// MostSamples is the largest number that a rule may have: more than anybody asks
// for, and far from where sums overflow.
const MostSamples = 1<<31 - 1

// A Rule says when a question is decided. It is plain data and part of the
// question, so it travels with it to the log and to other machines.
type Rule struct {
	Strategy Strategy `json:"strategy"`

	// N is the quorum of [Majority].
	N int `json:"n,omitempty"`

	// K is the margin of [FirstToK].
	K int `json:"k,omitempty"`

	// MinVotes is how many valid votes there are before [Majority] or [FirstToK] decides
	// anything, however clear it is. 0 leaves that to the rule.
	MinVotes int `json:"min_votes,omitempty"`
	// Target is the chance with which some answer of the whole run may not be the
	// likeliest one, under [Adaptive]. The margins that follow are not part of the rule:
	// they change as the run goes on.
	Target float64 `json:"target_error,omitempty"`

	// MaxSamples caps votes plus red flags. Faults do not count: they say
	// nothing about the question. 0 is for [Adaptive] only: it then follows from the
	// target and the number of steps, and must be known before anything is counted.
	MaxSamples int `json:"max_samples"`
}

// Least is how many votes decide if all agree; what [Adaptive] and [Own] take is not part of the
// rule, and at least one.
func (r Rule) Least() int {
	switch r.Strategy {
	case Majority:
		return max(r.N/2+1, r.MinVotes)
	case FirstToK:
		return max(r.K, r.MinVotes)
	}
	return 1
}

// Validate reports what makes the rule meaningless.
func (r Rule) Validate() error {
	if r.MaxSamples < 0 || r.MaxSamples == 0 && r.Strategy != Adaptive {
		return fmt.Errorf("vote: max samples is %d, want at least 1", r.MaxSamples)
	}
	switch {
	case r.MaxSamples > MostSamples:
		return fmt.Errorf("vote: max samples is %d, want at most %d", r.MaxSamples, MostSamples)
	case r.N > MostSamples:
		return fmt.Errorf("vote: n = %d, want at most %d", r.N, MostSamples)
	case r.K > MostSamples:
		return fmt.Errorf("vote: k = %d, want at most %d", r.K, MostSamples)
	}
	switch {
	case r.MinVotes < 0:
		return fmt.Errorf("vote: min votes is %d, want at least 0", r.MinVotes)
	case r.MinVotes > r.MaxSamples:
		return fmt.Errorf("vote: min votes is %d, but max samples is %d", r.MinVotes, r.MaxSamples)
	}
	switch r.Strategy {
	case None, Own:
		return nil
	case Majority:
		if r.N < 1 {
			return fmt.Errorf("vote: majority of n = %d samples, want at least 1", r.N)
		}
		if need := r.N/2 + 1; need > r.MaxSamples {
			return fmt.Errorf("vote: a majority of %d needs %d votes, but max samples is %d", r.N, need, r.MaxSamples)
		}
		return nil
	case FirstToK:
		if r.K < 1 {
			return fmt.Errorf("vote: margin k = %d, want at least 1", r.K)
		}
		if r.K > r.MaxSamples {
			return fmt.Errorf("vote: a margin of %d needs as many votes, but max samples is %d", r.K, r.MaxSamples)
		}
		return nil
	case Adaptive:
		if !(r.Target > 0 && r.Target < 1) {
			return fmt.Errorf("vote: a target error of %v, want more than 0 and less than 1", r.Target)
		}
		return nil
	default:
		return fmt.Errorf("vote: unknown strategy %q, want %q, %q, %q or %q", r.Strategy, None, Majority, FirstToK, Adaptive)
	}
}
