package calibrate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
)

// TestBaselineOfVoters: a vote is held against the best voter alone, whoever is named first.
func TestBaselineOfVoters(t *testing.T) {
	var first *event.Measured
	for _, voters := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}} {
		c := itemsOf(80, 1, voters...)
		greedy := map[string]int{}
		got, err := RunItems(answering(c, 1, func(a asked) string {
			if a.greedy {
				greedy[a.voter]++
			}
			if a.voter == "c" || a.voter == "b" && a.greedy && a.item%8 == 0 {
				return "wrong"
			}
			return "right"
		}), c)
		if err != nil {
			t.Fatal(err)
		}
		m := got.Measured
		if greedy["a"] != 80 || greedy["b"] != 80 || greedy["c"] != 80 {
			t.Errorf("%v: %v greedy samples, want 80 of each voter", voters, greedy)
		}
		for i, want := range map[string]float64{"a": 1, "b": 0.875, "c": 0} {
			v := m.Voters[slices.Index(voters, i)]
			if v.Name != "voter "+i || v.Greedy == nil || v.Greedy.Value != want {
				t.Errorf("%v: %+v, want %v of the greedy samples right", voters, v, want)
			}
		}
		if m.Greedy.Value != 1 || m.GreedyBy != "voter a" || m.Gain == Gains {
			t.Errorf("%v: greedy %+v by %q, gain %s (%q), want the best voter and no gain over it", voters, m.Greedy, m.GreedyBy, m.Gain, m.Says)
		}
		if advice := strings.Join(m.Says, "\n"); !strings.Contains(advice, "voter c is clearly worse than the others: leave it out") ||
			!strings.Contains(advice, "over one greedy sample of voter a, the best alone") {
			t.Errorf("%v: it says %q", voters, advice)
		}
		if first == nil {
			first = m
		} else if math.Abs(m.GainOverGreedy.Value-first.GainOverGreedy.Value) > 0.001 || *m.Greedy != *first.Greedy {
			t.Errorf("%v: greedy %+v, gain over it %+v, want %+v and %+v in any order", voters, m.Greedy, m.GainOverGreedy, first.Greedy, first.GainOverGreedy)
		}
	}
}

// TestErrorsApart: what voters have in common is said of those who err.
func TestErrorsApart(t *testing.T) {
	for _, test := range []struct {
		name      string
		say       func(asked) string
		want, not string
	}{
		{"no errors", func(asked) string { return "right" }, "code can check", "both wrong"},
		{"one of them never errs", func(a asked) string {
			if a.voter == "a" && a.item%2 == 0 {
				return "wrong"
			}
			return "right"
		}, "code can check", "share their errors"},
		{"nothing but errors", func(asked) string { return "wrong" }, "None of the voters was right once", "share their errors"},
		{"the same errors", func(a asked) string {
			if a.item%4 == 0 {
				return "wrong"
			}
			return "right"
		}, "share their errors", "err apart"},
		{"one says nothing that can be read", func(a asked) string {
			if a.voter == "b" {
				return "I cannot say"
			}
			return "right"
		}, "code can check", "both wrong"},
	} {
		c := itemsOf(80, 1, "a", "b")
		got, err := RunItems(answering(c, 1, test.say), c)
		if err != nil {
			t.Fatal(err)
		}
		if advice := strings.Join(got.Measured.Says, "\n"); !strings.Contains(advice, test.want) || strings.Contains(advice, test.not) {
			t.Errorf("%s: it says %q, want %q and not %q", test.name, advice, test.want, test.not)
		}
	}
}

// TestNothingMeasured: what no answer tells is null and no figure.
func TestNothingMeasured(t *testing.T) {
	c := itemsOf(60, 1, "a", "b")
	got, err := RunItems(answering(c, 1, func(a asked) string {
		if a.voter == "b" {
			return "I cannot say"
		}
		return "right"
	}), c)
	if err != nil {
		t.Fatal(err)
	}
	m := got.Measured
	if m.Voters[0].P == nil || m.Voters[0].P.Value != 1 || m.Voters[1].P != nil || m.Voters[1].V.Value != 0 {
		t.Errorf("voters %+v, want p of the first alone", m.Voters)
	}
	for _, x := range m.Together {
		if x.SameAnswer != nil {
			t.Errorf("%+v: want no share of the same wrong answer where nobody is wrong", x)
		}
	}
}
