package vote

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The simulations are seeded, so they pass or fail for good. A deviation of
// four standard errors happens by chance in one of 16,000 checks.
const standardErrors = 4

var (
	simulatedP = []float64{.6, .7, .8, .9, .95, .99}
	simulatedK = []int{1, 2, 3, 5, 8}
)

func racesPerCell() int {
	if raceDetector || testing.Short() {
		return 100_000
	}
	return 1_000_000
}

// mean collects numbers and knows how far their mean may be off.
type mean struct{ n, sum, squares float64 }

func (m *mean) add(x int) {
	m.n++
	m.sum += float64(x)
	m.squares += float64(x) * float64(x)
}

func (m *mean) value() float64 { return m.sum / m.n }

// slack is how far the mean may be off: by chance, and by rounding.
func (m *mean) slack() float64 {
	variance := m.squares/m.n - m.value()*m.value()
	return standardErrors*math.Sqrt(max(variance, 0)/m.n) + 1e-9
}

type simulated struct {
	races, errors  int
	votes, samples mean
}

// simulate runs races on the real tally. A sample is valid with chance v, and
// then right with chance p; otherwise it names one of the rivals.
func simulate(source *rand.PCG, p, v float64, k, rivals, races int) simulated {
	wrong := make([]string, rivals)
	for i := range wrong {
		wrong[i] = fmt.Sprint("wrong ", i)
	}
	result := simulated{races: races}
	tally := NewTally(firstToK(k, math.MaxInt32))
	for range races {
		*tally = Tally{rule: tally.rule, counts: tally.counts[:0]} // saves two allocations
		decision := tally.Decision()
		for ; decision.Outcome == Open; decision = tally.Decision() {
			draw := source.Uint64()
			switch chance := float64(draw>>11) / (1 << 53); {
			case chance < v*p:
				tally.Vote("right")
			case chance < v:
				tally.Vote(wrong[int(draw&(1<<11-1))*rivals>>11]) // the bits that chance does not use
			default:
				tally.Flag()
			}
		}
		if decision.Key != "right" {
			result.errors++
		}
		result.votes.add(tally.Votes())
		result.samples.add(tally.Samples())
	}
	return result
}

// tooMany and tooFew say whether a count of rare events is beyond what chance
// explains if lambda of them are expected.
func tooMany(count int, lambda float64) bool {
	if lambda > 100 {
		return float64(count) > lambda+standardErrors*math.Sqrt(lambda)
	}
	return 1-poissonBelow(count, lambda) < oneTail
}

func tooFew(count int, lambda float64) bool {
	if lambda > 100 {
		return float64(count) < lambda-standardErrors*math.Sqrt(lambda)
	}
	return poissonBelow(count+1, lambda) < oneTail
}

// oneTail is the chance to be more than four standard errors above the mean.
const oneTail = 3.2e-5

// poissonBelow is the chance of fewer than n events.
func poissonBelow(n int, lambda float64) float64 {
	sum, term := 0.0, math.Exp(-lambda)
	for i := range n {
		sum += term
		term *= lambda / float64(i+1)
	}
	return sum
}

func forEachCell(t *testing.T, f func(t *testing.T, p float64, k int, source *rand.PCG)) {
	for i, p := range simulatedP {
		for _, k := range simulatedK {
			t.Run(fmt.Sprintf("p=%v,k=%d", p, k), func(t *testing.T) {
				f(t, p, k, rand.NewPCG(uint64(i), uint64(k)))
			})
		}
	}
}

// TestSimulationOneRival: the formulas are exact.
func TestSimulationOneRival(t *testing.T) {
	const v = .95
	forEachCell(t, func(t *testing.T, p float64, k int, source *rand.PCG) {
		got := simulate(source, p, v, k, 1, racesPerCell())
		// 1 - StepSuccess would lose its digits; this is the chance of the rival.
		expected := float64(got.races) * StepSuccess(1-p, k)
		if tooMany(got.errors, expected) || tooFew(got.errors, expected) {
			t.Errorf("%d errors in %d races, want about %.4g", got.errors, got.races, expected)
		}
		if want := ExpectedVotes(p, k); math.Abs(got.votes.value()-want) > got.votes.slack() {
			t.Errorf("mean votes = %v, want %v within %.2g", got.votes.value(), want, got.votes.slack())
		}
		if want := ExpectedSamples(p, v, k); math.Abs(got.samples.value()-want) > got.samples.slack() {
			t.Errorf("mean samples = %v, want %v within %.2g", got.samples.value(), want, got.samples.slack())
		}
	})
}

// TestSimulationManyRivals: the formula for errors is a bound. That for votes
// is not, because a race that one rival would have won soon goes on; the bound
// is the time in which the right answer gets k ahead of all others together.
func TestSimulationManyRivals(t *testing.T) {
	const v, rivals = .95, 10
	forEachCell(t, func(t *testing.T, p float64, k int, source *rand.PCG) {
		got := simulate(source, p, v, k, rivals, racesPerCell())
		if atMost := float64(got.races) * StepSuccess(1-p, k); tooMany(got.errors, atMost) {
			t.Errorf("%d errors in %d races, want at most about %.4g", got.errors, got.races, atMost)
		}
		atMost := float64(k) / (2*p - 1)
		if got.votes.value() > atMost+got.votes.slack() {
			t.Errorf("mean votes = %v, want at most %v", got.votes.value(), atMost)
		}
		if got.samples.value() > atMost/v+got.samples.slack() {
			t.Errorf("mean samples = %v, want at most %v", got.samples.value(), atMost/v)
		}
	})
}

// TestSimulationFirstToKWithoutMargin shows what the margin is good for: the
// rule that stops at k votes, whatever the rival has, errs six times as often.
func TestSimulationFirstToKWithoutMargin(t *testing.T) {
	const p, k = .9, 3
	source := rand.NewPCG(11, 12)
	rng := rand.New(source)
	races := racesPerCell()
	errors := 0
	for range races {
		right, wrong := 0, 0
		for right < k && wrong < k {
			if rng.Float64() < p {
				right++
			} else {
				wrong++
			}
		}
		if wrong == k {
			errors++
		}
	}
	margin := simulate(source, p, 1, k, 1, races)
	ratio := float64(errors) / float64(margin.errors)
	if ratio < 5 || ratio > 7.5 { // exactly 6.25; the bounds leave room for 100,000 races
		t.Errorf("without a margin %d errors, with it %d: ratio %.2f, want about 6.25", errors, margin.errors, ratio)
	}
}
