package certificate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/vote/adaptive"
)

func options(steps int) adaptive.Options {
	return adaptive.Options{Target: adaptive.DefaultTarget, Steps: steps}
}

// runOf is the evidence of a run with a fixed margin over steps of which some are hard, and
// whether each answer is the likeliest one.
func runOf(rng *rand.Rand, steps, k int, hard, p, q float64) (*Evidence, bool) {
	e, right := New(options(steps)), true
	for step := range steps {
		chance := p
		if rng.Float64() < hard {
			chance = q
		}
		a, b := 0, 0
		for max(a-b, b-a) < k {
			if rng.Float64() < chance {
				a++
			} else {
				b++
			}
		}
		right = right && a > b
		e.Add(Race{Step: step, Cell: adaptive.Cell{Lead: max(a, b), Second: min(a, b)}, Decided: true})
	}
	return e, right
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTwins: runs with the same votes and another truth have the same vote part, to the
// byte, and what becomes known of the truth changes the truth part only.
func TestTwins(t *testing.T) {
	certify := func(truth Truth) (votes string, c *Certificate) {
		e, _ := runOf(rand.New(rand.NewPCG(1, 2)), 1000, 4, .01, .99, .7)
		c = e.Certify(truth)
		other := *c
		other.Truth, other.Says = Truth{}, c.Votes.words()
		return marshal(t, other), c
	}
	unknown, _ := certify(Truth{Basis: BasisNone})
	right, clean := certify(Gold(0, 100))
	wrong, failed := certify(Gold(1, 100))
	checked, _ := certify(Truth{Basis: BasisCheck, Checked: 1000, Wrong: 1})
	if unknown != right || unknown != wrong || unknown != checked {
		t.Errorf("the same votes give\n%s\n%s\n%s\n%s", unknown, right, wrong, checked)
	}
	if clean.Truth.Most >= failed.Truth.Most || cmp.Equal(clean.Says, failed.Says) {
		t.Errorf("a known answer that failed changes nothing: %+v, %+v", clean.Truth, failed.Truth)
	}
}

// TestFixedMarginsAreCertifiedHonestly: the claim holds for votes that another rule ended,
// even where the usual forecast is far off.
func TestFixedMarginsAreCertifiedHonestly(t *testing.T) {
	for _, c := range []struct {
		name       string
		k          int
		hard, p, q float64
	}{
		{"k = 3, 1 % at .7", 3, .01, .99, .7}, {"k = 6, 1 % at .7", 6, .01, .99, .7}, {"k = 4, .99", 4, 0, .99, 0}, {"k = 8, .9", 8, 0, .9, 0},
		{"k = 5, .3 % at .6", 5, .003, .995, .6},
	} {
		const runs = 100
		rng := rand.New(rand.NewPCG(3, 4))
		claimed, observed := 0.0, 0.0
		for range runs {
			e, right := runOf(rng, 1000, c.k, c.hard, c.p, c.q)
			claimed += e.Votes().Bound / runs
			if right {
				observed += 1. / runs
			}
		}
		t.Logf("%s: claimed %.3f, observed %.3f", c.name, claimed, observed)
		if observed < claimed-3*math.Sqrt(claimed*(1-claimed)/runs) {
			t.Errorf("%s: %.3f of the runs took the likeliest answer everywhere, claimed %.3f", c.name, observed, claimed)
		}
	}
}

func TestWords(t *testing.T) {
	single := New(options(0))
	for step := range 3 {
		single.Add(Race{Step: step, Cell: adaptive.Cell{Lead: 1}, Decided: true})
	}
	open := New(options(0))
	open.Add(Race{Cell: adaptive.Cell{Lead: 40, Second: 38}})
	voted, _ := runOf(rand.New(rand.NewPCG(5, 6)), 300, 7, 0, .99, 0)
	split := New(options(0))
	for range 30 {
		split.Add(Race{Cell: adaptive.Cell{Lead: 40, Second: 38}, Decided: true})
	}
	for _, c := range []struct {
		name  string
		e     *Evidence
		truth Truth
		want  []string
	}{
		{"nothing", New(options(0)), Truth{Basis: BasisNone}, []string{"Votes: there are none, so", "Truth: not assessed"}},
		{"single samples", single, Truth{Basis: BasisNone}, []string{"3 answers were taken from a single sample"}},
		{"undecided", open, Truth{Basis: BasisNone}, []string{"no question was decided", "1 question ended without a winner"}},
		{"voted", voted, Truth{Basis: BasisCheck, Checked: 300}, []string{"at least 98.", "each of the 300 voted answers", "checked each of the 300 committed steps and found none wrong"}},
		{"split", split, Truth{Basis: BasisCheck, Last: true}, []string{"do not prove", "near tie", "code looked at the last output"}},
		{"wrong", voted, Truth{Basis: BasisCheck, Wrong: 1}, []string{"what was committed is wrong"}},
		{"gold", voted, Gold(2, 50), []string{"of 50 questions with known answers 2 were answered wrongly", "at most 12.07 %"}},
	} {
		says := strings.Join(c.e.Certify(c.truth).Says, "\n")
		for _, want := range c.want {
			if !strings.Contains(says, want) {
				t.Errorf("%s: the certificate says %q, want %q in it", c.name, says, want)
			}
		}
	}
	if v := single.Votes(); v.Bound != 0 || v.Unvoted != 3 || v.Races != 0 {
		t.Errorf("single samples are votes: %+v", v)
	}
}

// TestCallsAddUp: the answers that are expected to be wrong are those of the calls, also
// where questions became harder on the way.
func TestCallsAddUp(t *testing.T) {
	e := New(options(2000))
	for step := range 2000 {
		cell := adaptive.Cell{Lead: 5}
		if step >= 1500 && step%5 == 0 {
			cell = adaptive.Cell{Lead: 20, Second: 9}
		}
		e.Add(Race{Step: step, Cell: cell, Decided: true})
	}
	e.Add(Race{Cell: adaptive.Cell{Lead: 20, Second: 19}})
	c := e.Certify(Truth{Basis: BasisNone})
	sum := 0.0
	for _, k := range c.ClosestCalls {
		sum += float64(k.Races) * k.Wrong
	}
	if len(c.Classes[0].Drifts) == 0 || math.Abs(sum-c.Votes.ExpectedWrong) > 1e-9 {
		t.Errorf("%.4g answers are expected to be wrong, and %.4g of the calls %+v, after the drifts %v", c.Votes.ExpectedWrong, sum, c.ClosestCalls, c.Classes[0].Drifts)
	}
}

func TestPercentNeverRoundsUp(t *testing.T) {
	for _, c := range []struct {
		chance   float64
		down, up string
	}{{.99999, "99.99 %", "100 %"}, {.97, "97 %", "97 %"}, {1, "100 %", "100 %"}, {.123456, "12.34 %", "12.35 %"}} {
		if down, up := Percent(c.chance), percentUp(c.chance); down != c.down || up != c.up {
			t.Errorf("%v is %s to %s, want %s to %s", c.chance, down, up, c.down, c.up)
		}
	}
}
