package vote

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoMargin is in the chain of the error of [MinK] when no margin is enough.
var ErrNoMargin = errors.New("no margin is enough")

// maxMargin is far beyond any use, and an int everywhere.
const maxMargin = math.MaxInt32

// StepSuccess is the chance that a step voted with margin k is right:
//
//	1 / (1 + r^k), r = (1-p)/p
//
// With several rivals that share the chance 1-p it is a lower bound. It grows
// with k if p > 1/2, is 1/2 for every k if p = 1/2, and shrinks with k if
// p < 1/2: then voting makes things worse. It is 0 for p = 0 and 1 for p = 1.
func StepSuccess(p float64, k int) float64 {
	return 1 / (1 + odds(p, k))
}

// RunSuccess is the chance that all steps of a run are right, if each is voted
// with margin k:
//
//	(1 + r^k)^-steps, r = (1-p)/p
//
// It is 1 if there are no steps, whatever p is.
func RunSuccess(p float64, k, steps int) float64 {
	wrong := odds(p, k)
	switch {
	case steps < 0 || math.IsNaN(wrong):
		return math.NaN()
	case steps == 0:
		return 1
	}
	// The error of a step may be far below the spacing of floats around 1.
	return math.Exp(-float64(steps) * math.Log1p(wrong))
}

// StepError is 1 - [StepSuccess], computed such that a small error is not lost:
//
//	r^k / (1 + r^k), r = (1-p)/p
//
// It is 0 for p = 1 only: what is smaller than any float is the smallest float.
func StepError(p float64, k int) float64 {
	wrong := odds(p, k)
	if math.IsInf(wrong, 1) {
		return 1
	}
	return above0(wrong/(1+wrong), p)
}

// RunError is 1 - [RunSuccess], computed such that a small error is not lost. It is 0 for
// p = 1 and without steps only.
func RunError(p float64, k, steps int) float64 {
	wrong := odds(p, k)
	switch {
	case steps < 0 || math.IsNaN(wrong):
		return math.NaN()
	case steps == 0:
		return 0
	}
	return above0(-math.Expm1(-float64(steps)*math.Log1p(wrong)), p)
}

// above0 is an error that is not 0 unless p is 1.
func above0(wrong, p float64) float64 {
	if wrong == 0 && p < 1 {
		return math.SmallestNonzeroFloat64
	}
	return wrong
}

// odds is r^k: the odds that the rival wins a race.
func odds(p float64, k int) float64 {
	if !isChance(p) || k < 1 {
		return math.NaN()
	}
	return math.Pow((1-p)/math.Abs(p), float64(k)) // no negative zero
}

// MinK is the smallest margin with which all steps of a run are right with at
// least the chance target:
//
//	ceil(ln(target^(-1/steps) - 1) / ln r), r = (1-p)/p
//
// and at least 1, so it is 1 if there are no steps, if target is 0, and if
// p = 1. A target that a margin meets up to rounding counts as met.
//
// There is none, and the error wraps [ErrNoMargin], if p <= 1/2 (unless the
// margin 1 is enough, a larger one does not help), and if target is 1 but p is
// not: a vote never gives certainty.
func MinK(p float64, steps int, target float64) (int, error) {
	switch {
	case !isChance(p):
		return 0, fmt.Errorf("vote: p = %v is not a chance", p)
	case !isChance(target):
		return 0, fmt.Errorf("vote: target %v is not a chance", target)
	case steps < 0:
		return 0, fmt.Errorf("vote: a run of %d steps", steps)
	case steps == 0 || target == 0 || p == 1:
		return 1, nil
	case target == 1:
		return 0, fmt.Errorf("vote: %w for certainty unless p is 1; p is %v", ErrNoMargin, p)
	}

	// Both sides of k >= want/gain are logarithms of odds, so neither a target
	// near 1 nor a p near 1/2 or 1 loses digits.
	want := -math.Log(math.Expm1(-math.Log(target) / float64(steps)))
	gain := logOdds(p)
	const rounding = 1e-12

	if want <= gain+rounding*math.Abs(want) {
		return 1, nil
	}
	if gain <= 0 {
		return 0, fmt.Errorf("vote: %w: the right answer must be the likeliest, but p is %v", ErrNoMargin, p)
	}
	k := math.Ceil(want / gain * (1 - rounding))
	if k > maxMargin {
		return 0, fmt.Errorf("vote: %w in practice: p is %v and the margin would be %.3g", ErrNoMargin, p, k)
	}
	return int(k), nil
}

// ExpectedVotes is the mean number of valid votes of a race with margin k,
// whoever wins it and without a cap:
//
//	k (2 P - 1) / (2p - 1), P = StepSuccess(p, k)
//
// It is k for p = 0 and p = 1, and k*k, its largest value, for p = 1/2.
//
// Several rivals split the wrong votes. That makes errors rarer, but a race
// that one rival would have won soon then takes longer. For any number of
// rivals the mean is at most k / (2p - 1) if p > 1/2.
func ExpectedVotes(p float64, k int) float64 {
	if !isChance(p) || k < 1 {
		return math.NaN()
	}
	lead := 2*p - 1
	if lead == 0 {
		return float64(k) * float64(k)
	}
	// 2P - 1 is tanh(k atanh(2p-1)), which loses no digits around p = 1/2.
	return float64(k) * math.Tanh(float64(k)*math.Atanh(lead)) / lead
}

// ExpectedSamples is the mean number of samples of a race with margin k of
// which each is valid with chance v: ExpectedVotes(p, k) / v. It is +Inf for
// v = 0, since such a race never ends without a cap.
func ExpectedSamples(p, v float64, k int) float64 {
	if !isChance(v) {
		return math.NaN()
	}
	return ExpectedVotes(p, k) / math.Abs(v) // no negative zero
}

// logOdds is ln(p / (1-p)).
func logOdds(p float64) float64 {
	if p < 0.25 {
		return math.Log(math.Abs(p)) - math.Log1p(-p)
	}
	return 2 * math.Atanh(2*p-1)
}

func isChance(p float64) bool { return p >= 0 && p <= 1 }
