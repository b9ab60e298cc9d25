package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// marks makes ballots of letters: R is right, a red flag is a dot, and all other
// letters are wrong answers.
func marks(letters string) []ballot {
	var all []ballot
	for _, l := range letters {
		all = append(all, ballot{key: string(l), valid: l != '.', right: l == 'R'})
	}
	return all
}

func TestPlurality(t *testing.T) {
	tests := []struct {
		ballots string
		want    bool
	}{
		{"RRRRR", true}, {"aRRbR", true}, {"aabRR", false}, {"RRaab", true}, {"abcRd", false},
		{".....", false}, {"....R", true}, {"..aR.", false}, {"R", true}, {"", false},
	}
	for _, test := range tests {
		if got := plurality(marks(test.ballots)); got != test.want {
			t.Errorf("plurality(%s) = %t, want %t", test.ballots, got, test.want)
		}
	}
}

func TestRace(t *testing.T) {
	tests := []struct {
		begin, pool string
		want        racing
	}{
		{"RRR", "a", racing{right: 1, samples: 3}},
		{"aaa", "R", racing{samples: 3}},
		{"R", "R", racing{right: 1, samples: 3}},
		{"a", "R", racing{right: 1, samples: 5}},
		{"R.", "R", racing{right: 1, samples: 4}},
		{"", ".", racing{undecided: 1, samples: 18}}, // three votes cannot come any more
	}
	for _, test := range tests {
		if got := race("id", marks(test.begin), marks(test.pool)); got != test.want {
			t.Errorf("race(%s, %s) = %+v, want %+v", test.begin, test.pool, got, test.want)
		}
	}
	// Against a fair coin a race is as often lost as won, and the same each time.
	fair := race("id", nil, marks("Ra"))
	if math.Abs(fair.right-(1-fair.undecided)/2) > 0.1 || fair != race("id", nil, marks("Ra")) {
		t.Errorf("race between equals = %+v, want half of the decided ones right, each time the same", fair)
	}
}

func TestCorrelation(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	// Items of chance p, drawn uniformly: the correlation is var(p)/(mean(1-mean)) = 1/3.
	var copies, coins, mixed [][]float64
	for n := range 20_000 {
		p := chance.Float64()
		copies = append(copies, []float64{float64(n % 2), float64(n % 2), float64(n % 2)})
		coins = append(coins, []float64{float64(chance.IntN(2)), float64(chance.IntN(2)), float64(chance.IntN(2))})
		mixed = append(mixed, []float64{truth(chance.Float64() < p), truth(chance.Float64() < p), truth(chance.Float64() < p)})
	}
	tests := []struct {
		name   string
		groups [][]float64
		want   float64
	}{
		{"copies", copies, 1}, {"coins", coins, 0}, {"mixed", mixed, 1.0 / 3},
		{"all alike", [][]float64{{1, 1}, {1, 1}}, math.NaN()},
		{"one group", [][]float64{{1, 0}}, math.NaN()},
		{"one member", [][]float64{{1}, {0}}, math.NaN()},
	}
	for _, test := range tests {
		got := correlation(test.groups)
		if math.IsNaN(got) != math.IsNaN(test.want) || math.Abs(got-test.want) > 0.02 {
			t.Errorf("correlation of %s = %.3f, want %.3f", test.name, got, test.want)
		}
	}
}

func TestSummarise(t *testing.T) {
	got := summarise([][]ballot{marks("RRRab"), marks("aaaRR"), marks("RR.cR"), marks("RRRRR")}, []bool{false, true, true, true})
	want := summary{items: 4, valid: 0.95, p: 0.65, below: 0.25, voted: 0.75, greedy: 0.75, distinct: 2, gain: 0, gainSE: math.Sqrt(2.0 / 3 / 4)}
	want.icc = got.icc // has its own test
	want.lift, want.liftSE = got.lift, got.liftSE
	if math.Abs(got.lift-0.1) > 1e-12 || math.Abs(got.liftSE-math.Sqrt(0.44/3/4)) > 1e-12 {
		t.Errorf("summarise: lift %v ± %v, want 0.1 ± %v", got.lift, got.liftSE, math.Sqrt(0.44/3/4))
	}
	if math.Abs(got.gainSE-want.gainSE) < 1e-12 {
		got.gainSE = want.gainSE
	}
	if got != want {
		t.Errorf("summarise = %+v, want %+v", got, want)
	}
	if math.IsNaN(got.icc) {
		t.Error("summarise has no correlation")
	}
}

func TestPoints(t *testing.T) {
	tests := []struct {
		gain, se float64
		want     string
	}{
		{0.05, 0.02, "**+5.0 ± 2.0**"}, {0.03, 0.02, "+3.0 ± 2.0"}, {-0.05, 0.02, "**-5.0 ± 2.0**"}, {0, 0, "+0.0 ± 0.0"},
	}
	for _, test := range tests {
		if got := points(test.gain, test.se); got != test.want {
			t.Errorf("points(%v, %v) = %s, want %s", test.gain, test.se, got, test.want)
		}
	}
}
