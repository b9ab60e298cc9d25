package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCorrelations: samples that repeat a common draw with chance rho have the correlation
// rho squared, those with a draw of another framing or voter have none, and that one
// framing is worse than another is no correlation.
func TestCorrelations(t *testing.T) {
	const items, rho = 3000, 0.6
	r := rand.New(rand.NewPCG(3, 3))
	quality := []float64{0.9, 0.6} // of the framings
	var samples []Sample
	for item := range items {
		var common [2][2]bool // by framing and voter
		for f := range common {
			for v := range common[f] {
				common[f][v] = r.Float64() < quality[f]
			}
		}
		for n := range 8 {
			s := Sample{Item: item, Framing: n % 2, Voter: n / 2 % 2}
			if s.Right = r.Float64() < quality[s.Framing]; r.Float64() < rho {
				s.Right = common[s.Framing][s.Voter]
			}
			samples = append(samples, s)
		}
	}
	got := Correlations(samples)
	for relation, want := range [...]float64{SameFraming: rho * rho, OtherFraming: 0, OtherVoter: 0} {
		i := got[relation]
		if i == nil || math.Abs(i.Value-want) > 0.04 || i.Low > want || i.High < want {
			t.Errorf("relation %d: %+v, want %v", relation, i, want)
		}
	}
	for i := range samples {
		samples[i].Right = true
	}
	if got := Correlations(samples); got[SameFraming] != nil {
		t.Errorf("without an error: %+v, want nothing", got[SameFraming])
	}
	if got := Correlations(nil); got[SameFraming] != nil {
		t.Errorf("without samples: %+v, want nothing", got[SameFraming])
	}
}

func TestErrTogether(t *testing.T) {
	sample := func(item, voter int, answer string) Sample {
		return Sample{Item: item, Voter: voter, Right: answer == "right", Answer: answer}
	}
	got := ErrTogether([]Sample{
		sample(0, 0, "right"), sample(0, 1, "right"), sample(1, 0, "a"), sample(1, 1, "a"),
		sample(2, 0, "a"), sample(2, 1, "b"), sample(3, 0, "right"), sample(3, 1, "a"),
	}, 2)
	if len(got) != 1 || got[0].A != 0 || got[0].B != 1 || got[0].Pairs != 4 || got[0].Both.Value != 0.5 || got[0].Alike != 0.5 || got[0].Chance != 0.375 {
		t.Errorf("ErrTogether() = %+v, want both wrong on half, half of these alike", got)
	}
}

// TestMinK: the margin is enough at the bad end, or the best there is.
func TestMinK(t *testing.T) {
	for _, c := range []struct {
		name      string
		cells     []Cell
		steps     int
		target    float64
		k, atMost int
		ok        bool
	}{
		{"many right", []Cell{{5, 5, 2000}}, 1, 0.01, 1, 1, true},
		{"few items cannot show it", []Cell{{5, 5, 50}}, 1, 0.01, 1, 3, false},
		{"independent errors", []Cell{{5, 5, 1181}, {4, 5, 656}, {3, 5, 146}, {2, 5, 16}, {1, 5, 1}}, 1, 0.05, 2, 3, true},
		{"a bias", []Cell{{5, 5, 100}, {0, 5, 100}}, 1, 0.01, 1, 2, false},
	} {
		k, ok := Fit(c.cells).MinK(c.steps, c.target, 10)
		if ok != c.ok || k < c.k || k > c.atMost {
			t.Errorf("%s: MinK() = %d, %v, want %d to %d, %v", c.name, k, ok, c.k, c.atMost, c.ok)
		}
	}
}
