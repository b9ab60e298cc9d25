package vote

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"
)

// near reports whether two floats agree to a relative error, NaN with NaN.
func near(got, want, relative float64) bool {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return true
	}
	return math.Abs(got-want) <= relative*math.Abs(want)
}

func TestPaperTables(t *testing.T) {
	steps := []int{1e3, 1e4, 1e5, 1e6}
	tests := []struct {
		p    float64
		k    [4]int
		mean [4]float64
	}{
		{.70, [4]int{12, 15, 18, 20}, [4]float64{30, 37.5, 45, 50}},
		{.80, [4]int{8, 9, 11, 13}, [4]float64{13.3, 15, 18.3, 21.7}},
		{.90, [4]int{5, 6, 7, 8}, [4]float64{6.3, 7.5, 8.8, 10}},
		{.95, [4]int{4, 5, 5, 6}, [4]float64{4.4, 5.6, 5.6, 6.7}},
		{.99, [4]int{3, 3, 4, 4}, [4]float64{3.1, 3.1, 4.1, 4.1}},
		{.998, [4]int{2, 2, 3, 3}, [4]float64{2.0, 2.0, 3.0, 3.0}},
	}
	for _, test := range tests {
		for i, s := range steps {
			k, err := MinK(test.p, s, .95)
			if err != nil || k != test.k[i] {
				t.Errorf("MinK(%v, %d, .95) = %d, %v, want %d", test.p, s, k, err, test.k[i])
			}
			// The table has k/(2p-1), with one digit after the point.
			if got := ExpectedVotes(test.p, k); math.Abs(got-test.mean[i]) > .051 {
				t.Errorf("ExpectedVotes(%v, %d) = %v, want %v", test.p, k, got, test.mean[i])
			}
		}
	}
}

func TestPaperModels(t *testing.T) {
	const disks20 = 1<<20 - 1
	tests := []struct {
		model string
		wrong float64 // per step
		want  int
	}{
		{"gpt-4.1-nano", .3571, 29},
		{"gpt-4.1-mini", .0022, 3},
		{"o3-mini", .0018, 3},
		{"haiku-4.5", .1839, 12},
		{"gpt-oss-20B", .0358, 6},
		{"qwen-3 235B", .2342, 15},
		{"deepseek-v3.1", .0569, 6},
		{"kimi-k2", .0393, 6},
	}
	for _, test := range tests {
		got, err := MinK(1-test.wrong, disks20, .95)
		if err != nil || got != test.want {
			t.Errorf("%s: MinK(1-%v, %d, .95) = %d, %v, want %d", test.model, test.wrong, disks20, got, err, test.want)
		}
	}
}

// TestPaperHardSteps is the paper's warning about one global margin: a
// thousandth of the steps at p = .7 ruins a run that is otherwise safe.
func TestPaperHardSteps(t *testing.T) {
	global := RunSuccess(.998, 3, 999_000) * RunSuccess(.7, 3, 1_000)
	if global > 1e-20 {
		t.Errorf("success with one margin = %v, want about 0", global)
	}
	perClass := RunSuccess(.998, 3, 999_000) * RunSuccess(.7, 15, 1_000)
	if math.Abs(perClass-.989) > .0006 {
		t.Errorf("success with a margin per class = %v, want .989", perClass)
	}
}

func TestStepSuccess(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		p    float64
		k    int
		want float64
	}{
		{.9, 1, .9},
		{.9, 3, 729. / 730},
		{.3, 1, .3},
		{.3, 2, .09 / .58}, // worse than one sample
		{.5, 1, .5},
		{.5, 1000, .5},
		{0, 1, 0},
		{math.Copysign(0, -1), 3, 0},
		{0, 1e6, 0},
		{1, 1, 1},
		{1, 1e6, 1},
		{1e-300, 5, 0},
		{.9, 0, nan},
		{.9, -1, nan},
		{-.1, 3, nan},
		{1.1, 3, nan},
		{inf, 3, nan},
		{nan, 3, nan},
	}
	for _, test := range tests {
		if got := StepSuccess(test.p, test.k); !near(got, test.want, 1e-14) {
			t.Errorf("StepSuccess(%v, %d) = %v, want %v", test.p, test.k, got, test.want)
		}
	}
}

// trillion is not a constant, so that this compiles where an int has 32 bits.
func trillion() int {
	n := int64(1e12)
	return int(n)
}

// exactRunSuccess computes (1+r^k)^-s with 300 bits, by repeated squaring.
func exactRunSuccess(p float64, k, s int) float64 {
	number := func(f float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(f) }
	power := func(base *big.Float, n int) *big.Float {
		result := number(1)
		for base = number(0).Set(base); n > 0; n >>= 1 {
			if n&1 == 1 {
				result.Mul(result, base)
			}
			base.Mul(base, base)
		}
		return result
	}
	one, exactP := number(1), number(p)
	r := number(0).Sub(one, exactP)
	r.Quo(r, exactP)
	base := number(0).Add(one, power(r, k))
	result, _ := number(0).Quo(one, power(base, s)).Float64()
	return result
}

func TestRunSuccessMatchesExactArithmetic(t *testing.T) {
	for _, p := range []float64{.3, .5, .500001, .6, .9, .998, 1 - 1e-9, 1 - 1e-15} {
		for _, k := range []int{1, 2, 3, 7, 20} {
			for _, s := range []int{1, 2, 1000, 1e6, trillion()} {
				want := exactRunSuccess(p, k, s)
				if want < 1e-300 {
					want = 0
				}
				got := RunSuccess(p, k, s)
				// The error of an exponential is that of its argument.
				bound := 1e-14 * (1 - math.Log(max(want, 1e-300)))
				if !near(got, want, bound) && got > 1e-300 {
					t.Errorf("RunSuccess(%v, %d, %d) = %v, want %v", p, k, s, got, want)
				}
			}
		}
	}
}

func TestRunSuccessEdges(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		p        float64
		k, steps int
		want     float64
	}{
		{.9, 3, 0, 1},
		{0, 3, 0, 1},
		{1, 1, trillion(), 1},
		{0, 1, 1, 0},
		{.5, 4, 1, .5},
		{.5, 4, 10, 1. / 1024},
		{.9, 3, -1, nan},
		{.9, 0, 5, nan},
		{.9, 0, 0, nan},
		{2, 3, 5, nan},
		{nan, 3, 0, nan},
	}
	for _, test := range tests {
		if got := RunSuccess(test.p, test.k, test.steps); !near(got, test.want, 1e-12) {
			t.Errorf("RunSuccess(%v, %d, %d) = %v, want %v", test.p, test.k, test.steps, got, test.want)
		}
	}
}

func TestMinKEdges(t *testing.T) {
	tests := []struct {
		p      float64
		steps  int
		target float64
		want   int // 0 if no margin is enough
	}{
		{.9, 1, .9, 1}, // met up to rounding
		{.7, 1, .7, 1},
		{.9, 1, 729. / 730, 3},
		{.9, 0, .99, 1},
		{.9, 0, 1, 1},
		{.2, 0, 1, 1},
		{.9, 1e6, 0, 1},
		{0, 1e6, 0, 1},
		{1, trillion(), 1, 1},
		{1, 1, .5, 1},
		{.9, 1, 1, 0},
		{1 - 1e-15, 1, 1, 0},
		{.5, 1, .5, 1},
		{.5, 1, .51, 0},
		{.3, 1, .2, 1},
		{.3, 1, .3, 1},
		{.3, 1, .31, 0},
		{.3, 10, .5, 0},
		{0, 1, 1e-9, 0},
		{0, 1, 5e-324, 0},
		{1e-20, 1, 1e-21, 1},
		{.3, 1, 5e-324, 1},
		{math.Nextafter(.5, 1), 1000, .99, 0}, // some 10^16
		{.500001, 1, .75, 274654},
		{1 - 1e-15, trillion(), .95, 1},
		{1 - 1e-15, trillion(), .9999, 2},
	}
	for _, test := range tests {
		got, err := MinK(test.p, test.steps, test.target)
		call := fmt.Sprintf("MinK(%v, %d, %v)", test.p, test.steps, test.target)
		switch {
		case test.want > 0 && (err != nil || got != test.want):
			t.Errorf("%s = %d, %v, want %d", call, got, err, test.want)
		case test.want == 0 && !errors.Is(err, ErrNoMargin):
			t.Errorf("%s = %d, %v, want ErrNoMargin", call, got, err)
		}
	}
	for _, bad := range []struct {
		p      float64
		steps  int
		target float64
	}{{-1, 1, .5}, {2, 1, .5}, {math.NaN(), 1, .5}, {.9, -1, .5}, {.9, 1, -1}, {.9, 1, 1.5}, {.9, 1, math.NaN()}} {
		if got, err := MinK(bad.p, bad.steps, bad.target); err == nil || errors.Is(err, ErrNoMargin) {
			t.Errorf("MinK(%v, %d, %v) = %d, %v, want an error about the argument", bad.p, bad.steps, bad.target, got, err)
		}
	}
}

// TestMinKIsTheSmallest checks the definition, away from the point where
// rounding decides.
func TestMinKIsTheSmallest(t *testing.T) {
	const slack = 1e-9
	for _, p := range []float64{.51, .6, .75, .9, .99, .9978, 1 - 1e-6, 1 - 1e-12, 1 - 1e-15} {
		for _, steps := range []int{1, 10, 1e6, 1e9, trillion()} {
			for _, target := range []float64{1e-6, .01, .5, .9, .95, .999, 1 - 1e-9} {
				k, err := MinK(p, steps, target)
				if err != nil {
					t.Errorf("MinK(%v, %d, %v) = %v, want a margin", p, steps, target, err)
					continue
				}
				// Chances of failure, which do not lose digits near 0.
				failure := func(k int) float64 { return -math.Expm1(-float64(steps) * math.Log1p(odds(p, k))) }
				if got := failure(k); got > (1-target)*(1+slack) {
					t.Errorf("MinK(%v, %d, %v) = %d with failure %v, want at most %v", p, steps, target, k, got, 1-target)
				}
				if got := failure(max(k-1, 1)); k > 1 && got < (1-target)*(1-slack) {
					t.Errorf("MinK(%v, %d, %v) = %d, but %d has failure %v", p, steps, target, k, k-1, got)
				}
			}
		}
	}
}

// racesByMatrix computes the mean length of a race by following the
// distribution of the lead until next to nothing is left of it.
func racesByMatrix(p float64, k int) (votes float64) {
	lead := make([]float64, 2*k+1)
	lead[k] = 1
	for left := 1.0; left > 1e-15; {
		next := make([]float64, len(lead))
		for i := 1; i < len(lead)-1; i++ {
			votes += lead[i]
			next[i+1] += lead[i] * p
			next[i-1] += lead[i] * (1 - p)
		}
		lead = next
		left = 0
		for i := 1; i < len(lead)-1; i++ {
			left += lead[i]
		}
	}
	return votes
}

func TestExpectedVotes(t *testing.T) {
	for _, p := range []float64{.1, .45, .5, .500001, .55, .6, .9, .99} {
		for _, k := range []int{1, 2, 3, 5, 8} {
			if got, want := ExpectedVotes(p, k), racesByMatrix(p, k); !near(got, want, 1e-9) {
				t.Errorf("ExpectedVotes(%v, %d) = %v, want %v", p, k, got, want)
			}
		}
	}
	nan := math.NaN()
	tests := []struct {
		p    float64
		k    int
		want float64
	}{
		{1, 7, 7},
		{0, 7, 7},
		{.5, 7, 49},
		{math.Nextafter(.5, 1), 7, 49},
		{math.Nextafter(.5, 0), 7, 49},
		{.9, 1, 1},
		{.9, 0, nan},
		{1.5, 3, nan},
		{nan, 3, nan},
	}
	for _, test := range tests {
		if got := ExpectedVotes(test.p, test.k); !near(got, test.want, 1e-14) {
			t.Errorf("ExpectedVotes(%v, %d) = %v, want %v", test.p, test.k, got, test.want)
		}
	}
}

func TestExpectedSamples(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		p, v float64
		k    int
		want float64
	}{
		{1, .5, 3, 6},
		{.9, 1, 3, ExpectedVotes(.9, 3)},
		{.9978, .968, 3, 3 * (2*StepSuccess(.9978, 3) - 1) / (2*.9978 - 1) / .968},
		{.9, 0, 3, inf},
		{.9, math.Copysign(0, -1), 3, inf},
		{.9, 0, 0, nan},
		{.9, -.5, 3, nan},
		{.9, 1.5, 3, nan},
		{.9, nan, 3, nan},
		{nan, .5, 3, nan},
	}
	for _, test := range tests {
		if got := ExpectedSamples(test.p, test.v, test.k); !near(got, test.want, 1e-13) {
			t.Errorf("ExpectedSamples(%v, %v, %d) = %v, want %v", test.p, test.v, test.k, got, test.want)
		}
	}
}

// TestSmallErrors: the error of a step or a run is not lost beside 1, and never 0.
func TestSmallErrors(t *testing.T) {
	for _, p := range []float64{0.01, 0.5, 0.6, 0.9, 0.99, 0.9999, 1 - 1e-9, 1 - 1e-15} {
		for k := 1; k <= 20; k++ {
			got := StepError(p, k)
			if sum := got + StepSuccess(p, k); !(got > 0) || math.Abs(sum-1) > 1e-12 {
				t.Errorf("StepError(%v, %d) = %v, with StepSuccess %v", p, k, got, sum)
			}
			if run := RunError(p, k, 1000); !(run >= got) || math.Abs(run+RunSuccess(p, k, 1000)-1) > 1e-12 {
				t.Errorf("RunError(%v, %d, 1000) = %v, of a step %v", p, k, run, got)
			}
		}
	}
	for _, c := range []struct{ got, want float64 }{
		{StepError(0.9999, 6), 1.0006e-24}, {RunError(0.9999, 6, 10), 1.0006e-23}, {StepError(0.999, 1000), math.SmallestNonzeroFloat64},
		{StepError(1, 3), 0}, {StepError(0, 3), 1}, {RunError(0.9, 3, 0), 0}, {RunError(1, 3, 5), 0}, {RunError(0, 3, 5), 1},
	} {
		if math.Abs(c.got-c.want) > 1e-3*c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if !math.IsNaN(StepError(2, 3)) || !math.IsNaN(RunError(0.9, 0, 3)) || !math.IsNaN(RunError(0.9, 3, -1)) {
		t.Error("arguments that mean nothing give an error")
	}
}
