package stats

import (
	"math"
	"slices"

	"github.com/maker-mdap/maker/vote"
)

// A Cell counts the items of which so many of so many samples were right.
type Cell struct {
	Right int `json:"right"`
	Valid int `json:"valid"`
	Items int `json:"items"`
}

// A Mixture is how p is distributed over the items: weights of fixed values of p, the
// likeliest ones for what was seen.
type Mixture struct {
	weights []float64
	fit     fit
	best    float64 // the logarithm of the likelihood
}

// atoms are the values of p: none is one half, which a vote neither mends nor spoils.
var atoms = func() []float64 {
	const step, widest = 0.4, 9.0 // of the logarithm of the odds
	var list []float64
	for x := -widest; x <= widest+step/2; x += step {
		list = append(list, 1/(1+math.Exp(-x)))
	}
	return list
}()

// lessLikely is how far the logarithm of the likelihood of a distribution may be below
// that of the best one: 20 times less likely. Then 0 of n bounds a share by 3/n.
const lessLikely = 3

// rounds of expectation and maximisation; more move no figure that is printed.
const rounds = 200

// Fit is the distribution that makes what was seen likeliest. It is of no use without
// items.
func Fit(cells []Cell) *Mixture {
	m := &Mixture{}
	for _, c := range cells {
		if c.Items <= 0 || c.Valid <= 0 {
			continue
		}
		row := make([]float64, len(atoms))
		most := math.Inf(-1)
		for j, p := range atoms {
			row[j] = float64(c.Right)*math.Log(p) + float64(c.Valid-c.Right)*math.Log1p(-p)
			most = max(most, row[j])
		}
		for j := range row { // its scale does not matter
			row[j] = math.Exp(row[j] - most)
		}
		m.fit = append(m.fit, seen{c, row})
	}
	m.weights, m.best = m.fit.maximise(nil, 0)
	return m
}

// fit is what a distribution is fitted to.
type fit []seen

type seen struct {
	Cell
	likely []float64 // how likely it is for each atom
}

// maximise finds the weights with the largest sum of the logarithm of the likelihood and
// tilt times the mean of worth, and returns the former with them.
func (f fit) maximise(worth []float64, tilt float64) (weights []float64, likelihood float64) {
	weights = make([]float64, len(atoms))
	for j := range weights {
		weights[j] = 1 / float64(len(atoms))
	}
	expected := make([]float64, len(atoms))
	for range rounds {
		clear(expected)
		likelihood = 0
		for _, s := range f {
			total := 0.0
			for j, w := range weights {
				total += w * s.likely[j]
			}
			likelihood += float64(s.Items) * math.Log(total)
			scale := float64(s.Items) / total
			for j, w := range weights {
				expected[j] += scale * w * s.likely[j]
			}
		}
		distribute(weights, expected, worth, tilt)
	}
	return weights, likelihood
}

// distribute sets the weights that maximise the sum of expected times their logarithm,
// and tilt times the mean of worth: expected / (level - tilt worth), where the level
// makes their sum 1.
func distribute(weights, expected, worth []float64, tilt float64) {
	items, level := 0.0, math.Inf(-1)
	for j, e := range expected {
		if e < 1e-12 { // which would be lost beside the others
			expected[j] = 0
		} else if items += e; tilt != 0 {
			level = max(level, tilt*worth[j]+max(e, 1e-9))
		}
	}
	if items == 0 {
		return
	}
	if tilt == 0 {
		for j, e := range expected {
			weights[j] = e / items
		}
		return
	}
	// Where one weight alone would be 1 the sum is too large; from there Newton's steps
	// never go beyond the root, because the sum is convex.
	for range 30 {
		sum, slope := 0.0, 0.0
		for j, e := range expected {
			if e > 0 {
				w := e / (level - tilt*worth[j])
				sum += w
				slope += w / (level - tilt*worth[j])
			}
		}
		if sum-1 < 1e-10 {
			break
		}
		level += (sum - 1) / slope
	}
	sum := 0.0
	for j, e := range expected {
		if weights[j] = 0; e > 0 {
			weights[j] = e / (level - tilt*worth[j])
			sum += weights[j]
		}
	}
	for j := range weights {
		weights[j] /= sum
	}
}

// Mean is the mean of something that depends on the p of an item, and its bounds over all
// distributions that are not much less likely than the best.
func (m *Mixture) Mean(of func(p float64) float64) Interval {
	worth := make([]float64, len(atoms))
	least, most := math.Inf(1), math.Inf(-1)
	for j, p := range atoms {
		worth[j] = of(p)
		least, most = min(least, worth[j]), max(most, worth[j])
	}
	i := Interval{Value: mean(m.weights, worth)}
	if len(m.fit) == 0 || most == least {
		i.Low, i.High = least, most
		return i
	}
	i.Low, i.High = min(i.Value, m.end(worth, -1/(most-least))), max(i.Value, m.end(worth, 1/(most-least)))
	return i
}

// end is the bound into one direction.
func (m *Mixture) end(worth []float64, direction float64) float64 {
	at := mean(m.weights, worth)
	items := 0
	for _, s := range m.fit {
		items += s.Items
	}
	low, high := math.Log(0.02*float64(items)), math.Log(1e7*float64(items)) // of the tilt
	for range 14 {
		middle := (low + high) / 2
		weights, likelihood := m.fit.maximise(worth, direction*math.Exp(middle))
		if m.best-likelihood > lessLikely {
			high = middle
		} else {
			low, at = middle, mean(weights, worth)
		}
	}
	return at
}

func mean(weights, values []float64) float64 {
	sum := 0.0
	for j, w := range weights {
		sum += w * values[j]
	}
	return sum
}

// Between is the share of items whose p is at least low and below high.
func (m *Mixture) Between(low, high float64) Interval {
	return m.Mean(func(p float64) float64 {
		if p >= low && p < high {
			return 1
		}
		return 0
	})
}

// Posterior is the mean of something for an item of which so many of so many samples
// were right.
func (m *Mixture) Posterior(right, valid int, of func(p float64) float64) float64 {
	total, sum := 0.0, 0.0
	for j, p := range atoms {
		w := m.weights[j] * math.Pow(p, float64(right)) * math.Pow(1-p, float64(valid-right))
		total += w
		sum += w * of(p)
	}
	return sum / total
}

// StepError is the chance that a vote with margin k on an item comes out wrong.
func (m *Mixture) StepError(k int) Interval {
	return m.Mean(func(p float64) float64 { return vote.StepError(p, k) })
}

// Gain is how much more often a vote with margin k is right than one of its samples.
func (m *Mixture) Gain(k int) Interval {
	return m.Mean(func(p float64) float64 { return vote.StepSuccess(p, k) - p })
}

// Votes are those that a vote with margin k takes on average.
func (m *Mixture) Votes(k int) float64 {
	sum := 0.0
	for j, p := range atoms {
		sum += m.weights[j] * vote.ExpectedVotes(p, k)
	}
	return sum
}

// A Forecast is what a run of voted steps will come to.
type Forecast struct {
	K, Steps  int
	StepError Interval // of one step
	RunError  Interval // that any step is wrong
	Votes     float64  // for one step

	// Wrong is how many steps will be wrong: the mean, and what a single run keeps to.
	Wrong Interval
}

// Forecast says what a run of so many steps with margin k will come to.
func (m *Mixture) Forecast(k, steps int) Forecast {
	f := Forecast{K: k, Steps: steps, StepError: m.StepError(k), Votes: m.Votes(k)}
	f.RunError = Interval{AnyWrong(f.StepError.Value, steps), AnyWrong(f.StepError.Low, steps), AnyWrong(f.StepError.High, steps)}
	f.Wrong = Interval{
		Value: f.StepError.Value * float64(steps),
		Low:   float64(binomialQuantile(tail, steps, f.StepError.Low)),
		High:  float64(binomialQuantile(1-tail, steps, f.StepError.High)),
	}
	return f
}

// AnyWrong is the chance that any of so many steps is wrong, of which each is with a
// given chance. A small one is not lost.
func AnyWrong(chance float64, steps int) float64 {
	if chance >= 1 && steps > 0 {
		return 1
	}
	return -math.Expm1(float64(steps) * math.Log1p(-chance))
}

// AllRight is the chance that none of them is.
func AllRight(chance float64, steps int) float64 {
	return math.Exp(float64(steps) * math.Log1p(-chance))
}

// MinK is the smallest margin up to most for which the chance that any of so many steps is
// wrong is at most target, even at the bad end of what was measured. If there is none it
// is false, and the margin is the smallest one that does as well as can be hoped: more
// would lower the error hardly at all, neither the likeliest one, unless that is within
// the target, nor that at the bad end.
func (m *Mixture) MinK(steps int, target float64, most int) (k int, ok bool) {
	var likely, bad []float64
	steps = max(steps, 1)
	for k := 1; k <= most; k++ {
		e := m.StepError(k)
		if AnyWrong(e.High, steps) <= target {
			return k, true
		}
		likely, bad = append(likely, e.Value), append(bad, e.High)
		if k > 2 && settled(bad) && (settled(likely) || AnyWrong(e.Value, steps) <= target) {
			break // what is left is not a matter of the margin
		}
	}
	const hardly = 1.1
	leastLikely, leastBad := slices.Min(likely), slices.Min(bad)
	for i := range bad {
		if bad[i] <= hardly*leastBad && (likely[i] <= hardly*leastLikely || AnyWrong(likely[i], steps) <= target) {
			return i + 1, false
		}
	}
	return most, false // the two are at odds
}

// settled reports whether a larger margin changes an error no more.
func settled(errors []float64) bool {
	const negligible = 0.002
	n := len(errors)
	return math.Abs(errors[n-3]-errors[n-1]) < negligible*errors[n-1]
}
