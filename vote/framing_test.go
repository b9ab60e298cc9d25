package vote_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/maker-mdap/maker/vote"
)

func TestWorse(t *testing.T) {
	for _, test := range []struct {
		name    string
		records []vote.Record
		want    int
	}{
		{"nothing", nil, -1},
		{"one alone", []vote.Record{{1000, 1000}}, -1},
		{"too few", []vote.Record{{19, 19}, {500, 0}}, -1},
		{"enough", []vote.Record{{20, 20}, {500, 0}}, 0},
		{"too few others", []vote.Record{{500, 500}, {19, 0}}, -1},
		{"all alike", []vote.Record{{100, 30}, {100, 30}, {100, 30}}, -1},
		{"a little worse", []vote.Record{{100, 10}, {100, 20}, {100, 10}}, -1},
		{"much worse", []vote.Record{{100, 10}, {100, 60}, {100, 10}}, 1},
		{"the worst of two", []vote.Record{{100, 2}, {100, 60}, {100, 95}, {100, 2}, {100, 2}}, 2},
		{"all bad", []vote.Record{{100, 100}, {100, 100}}, -1},
	} {
		if got := vote.Worse(test.records); got != test.want {
			t.Errorf("%s: Worse(%v) = %d, want %d", test.name, test.records, got, test.want)
		}
	}
}

// TestWorseIsSlowToJudge looks at framings after every sample: of those that are alike
// none is ever found to be worse, and one that is beyond the model soon is.
func TestWorseIsSlowToJudge(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	runs := 300
	if testing.Short() {
		runs = 50
	}
	false1, late := 0, 0
	for range runs {
		rate := random.Float64() * 0.6
		alike := make([]vote.Record, 5)
		for n := range 1000 {
			add(random, &alike[n%5], rate)
			if n%5 == 4 && vote.Worse(alike) >= 0 {
				false1++
				break
			}
		}
		one := make([]vote.Record, 5)
		found := false
		for n := 0; n < 500 && !found; n++ {
			p := 0.2
			if n%5 == 3 {
				p = 0.8
			}
			add(random, &one[n%5], p)
			found = vote.Worse(one) == 3
		}
		if !found {
			late++
		}
	}
	if false1 > runs/100 || late > runs/50 {
		t.Errorf("of %d runs %d retired a framing that is like the others, and %d missed one that is not in 500 samples", runs, false1, late)
	}
}

func add(random *rand.Rand, r *vote.Record, bad float64) {
	r.Samples++
	if random.Float64() < bad {
		r.Bad++
	}
}

func TestWilson(t *testing.T) {
	for _, test := range []struct {
		n, total  int
		low, high float64
	}{
		{0, 0, 0, 1}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {5, 10, 0.2366, 0.7634}, {50, 100, 0.4038, 0.5962},
	} {
		low, high := vote.Wilson(test.n, test.total, 1.96)
		if math.Abs(low-test.low) > 1e-4 || math.Abs(high-test.high) > 1e-4 {
			t.Errorf("Wilson(%d of %d) = %.4f to %.4f, want %.4f to %.4f", test.n, test.total, low, high, test.low, test.high)
		}
	}
}
