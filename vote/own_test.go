package vote

import "testing"

// TestOwn: a decider decides, within the cap, and a race that is over stays over.
func TestOwn(t *testing.T) {
	rule := Rule{Strategy: Own, K: 2, MaxSamples: 4}
	second := func(r Rule, t *Tally) Decision { // the second answer that is named wins
		if counts := t.Counts(); len(counts) >= r.K {
			return Decision{Outcome: Won, Key: counts[1].Key}
		}
		return Decision{} // open; a need of 0 makes no sense
	}
	tally := NewTallyBy(rule, second)
	if d := tally.Decision(); d != (Decision{Outcome: Open, Need: 1}) {
		t.Errorf("at first: %+v", d)
	}
	tally.Vote("a")
	tally.Vote("b")
	tally.Vote("c") // too late
	if d := tally.Decision(); d.Outcome != Won || d.Key != "b" || tally.Votes() != 2 {
		t.Errorf("after two answers: %+v and %d votes, want b", d, tally.Votes())
	}
	tally = NewTallyBy(rule, second)
	for range 9 {
		tally.Vote("a")
	}
	if d := tally.Decision(); d.Outcome != Stuck || tally.Votes() != 4 {
		t.Errorf("at the cap: %+v and %d votes, want it stuck at 4", d, tally.Votes())
	}
	// What nobody voted for cannot win.
	tally = NewTallyBy(rule, func(Rule, *Tally) Decision { return Decision{Outcome: Won, Key: "z"} })
	for n := range 4 {
		if d := tally.Decision(); d != (Decision{Outcome: Open, Need: 1}) {
			t.Errorf("after %d votes for other answers: %+v, want it open", n, d)
		}
		tally.Vote("a")
	}
	if d := tally.Decision(); d.Outcome != Stuck {
		t.Errorf("at the cap: %+v, want it stuck", d)
	}
	// Without a decider nobody wins, and other rules do not ask one.
	tally = NewTally(rule)
	tally.Vote("a")
	if d := tally.Decision(); d != (Decision{Outcome: Open, Need: 1}) {
		t.Errorf("without a decider: %+v", d)
	}
	tally = NewTallyBy(Rule{Strategy: None, MaxSamples: 4}, second)
	tally.Vote("a")
	if d := tally.Decision(); d.Outcome != Won {
		t.Errorf("by another rule: %+v, want a", d)
	}
}

// TestBegin: a tally that is used again knows nothing of the race before.
func TestBegin(t *testing.T) {
	decider := func(Rule, *Tally) Decision { return Decision{Outcome: Won, Key: "mine"} }
	tally := NewTallyBy(Rule{Strategy: Own, MaxSamples: 4}, decider)
	rule := Rule{Strategy: FirstToK, K: 1, MaxSamples: 3}
	for _, key := range []string{"a", "b"} {
		tally.Begin(rule, decider)
		if d := tally.Decision(); d != (Decision{Outcome: Open, Need: 1}) || len(tally.Counts()) != 0 {
			t.Errorf("at first: %+v, %v", d, tally.Counts())
		}
		tally.Flag()
		tally.Vote(key)
		if d := tally.Decision(); d != (Decision{Outcome: Won, Key: key}) || tally.Samples() != 2 || tally.Margin() != 1 {
			t.Errorf("after a vote for %s: %+v, %d samples, a margin of %d", key, d, tally.Samples(), tally.Margin())
		}
	}
}
