package vote

import (
	"testing"
)

func TestAdaptiveTally(t *testing.T) {
	rule := Rule{Strategy: Adaptive, Target: .05, MaxSamples: 12}
	for _, c := range []struct {
		name    string
		votes   string // one letter each; ! is a flag
		outcome Outcome
		need    int
	}{
		{"nothing yet", "", Open, 3},
		{"one vote", "a", Open, 2},
		{"unanimous", "aaa", Won, 0},
		{"dissent asks for more", "aab", Open, 4},
		{"and more", "abb", Open, 4},
		{"a third answer is no more dissent", "aabc", Open, 4},
		{"won with dissent", "aabaaaa", Won, 0},
		{"two against", "aabbaa", Open, 5},
		{"two against, won", "aabbaaaaaaa", Won, 0},
		{"no room for what it needs", "aabbb!!", Stuck, 6},
		{"beyond the margins the last one holds", "abababab", Stuck, 7},
	} {
		tally := NewTally(rule, 3, 5, 7)
		for _, v := range c.votes {
			if v == '!' {
				tally.Flag()
			} else {
				tally.Vote(string(v))
			}
		}
		if d := tally.Decision(); d.Outcome != c.outcome || d.Need != c.need && d.Outcome != Won {
			t.Errorf("%s: Decision(%q) = %s, %d more, want %s, %d", c.name, c.votes, d.Outcome, d.Need, c.outcome, c.need)
		}
	}
}

func TestAdaptiveRules(t *testing.T) {
	for _, c := range []struct {
		rule  Rule
		valid bool
	}{
		{Rule{Strategy: Adaptive, Target: .05}, true},
		{Rule{Strategy: Adaptive, Target: .05, MaxSamples: 10}, true},
		{Rule{Strategy: Adaptive}, false},
		{Rule{Strategy: Adaptive, Target: 1}, false},
		{Rule{Strategy: Adaptive, Target: -.1}, false},
		{Rule{Strategy: Adaptive, Target: .05, MaxSamples: -1}, false},
		{Rule{Strategy: FirstToK, K: 2}, false},
	} {
		if err := c.rule.Validate(); (err == nil) != c.valid {
			t.Errorf("Validate(%+v) = %v, want valid %t", c.rule, err, c.valid)
		}
	}
	for _, margins := range [][]int{nil, {0, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewTally(adaptive, %v): no panic", margins)
				}
			}()
			NewTally(Rule{Strategy: Adaptive, Target: .05, MaxSamples: 10}, margins...)
		}()
	}
}

// TestGiveUp: a race is left to others with the leads that are named, by the votes of the
// runner-up, and never once it is won.
func TestGiveUp(t *testing.T) {
	rule := Rule{Strategy: Adaptive, Target: .05, MaxSamples: 100}
	leads := []Leads{{0, -1}, {2, 3}, {0, 9}}
	for _, c := range []struct {
		votes   string
		outcome Outcome
		givenUp bool
	}{
		{"", Open, false},
		{"aaa", Open, false},
		{"aab", Open, false},  // a lead of 1
		{"aaab", Stuck, true}, // of 2
		{"aaaab", Won, false},
		{"aaaaab", Won, false},
		{"baaaa", Stuck, true}, // it was given up when a led by 2
		{"abab", Stuck, true},  // two votes for the runner-up
		{"aaaaa", Won, false},
	} {
		tally := NewTally(rule, 4, 4, 10)
		tally.GiveUpAt(leads)
		for _, key := range c.votes {
			tally.Vote(string(key))
		}
		if got := tally.Decision().Outcome; got != c.outcome || tally.GivenUp() != c.givenUp {
			t.Errorf("%s: %v, given up %t, want %v, %t", c.votes, got, tally.GivenUp(), c.outcome, c.givenUp)
		}
	}
	fixed := NewTally(Rule{Strategy: FirstToK, K: 3, MaxSamples: 9})
	fixed.GiveUpAt([]Leads{{0, 9}})
	if fixed.Vote("a"); fixed.GivenUp() {
		t.Error("a race to a fixed margin is given up")
	}
}
