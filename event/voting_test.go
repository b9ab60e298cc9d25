package event_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/vote"
)

// TestVotingWith: what two pools said that gave no result, each answer and each red flag
// once, and nothing of either is changed.
func TestVotingWith(t *testing.T) {
	first := event.Voting{
		Strategy: vote.FirstToK, Samples: 4, RedFlagged: 1, Faults: 1, Votes: map[string]int{"0": 2, "1": 1}, Margin: 1,
		Answers:   []event.Candidate{{Answer: []byte("0"), Votes: 2}, {Answer: []byte("1"), Votes: 1}},
		Discarded: []event.Discarded{{Flag: "error", Count: 1, Reason: "r"}},
	}
	second := event.Voting{
		Strategy: vote.FirstToK, Samples: 5, RedFlagged: 2, Votes: map[string]int{"1": 1, "42": 2}, Margin: 1,
		Answers:   []event.Candidate{{Answer: []byte("42"), Votes: 2}, {Answer: []byte("1"), Votes: 1}},
		Discarded: []event.Discarded{{Flag: "length", Count: 1, Reason: "l"}, {Flag: "error", Count: 1, Reason: "r"}},
	}
	faulty := event.Voting{Strategy: vote.FirstToK, Faults: 2, Votes: map[string]int{}}
	want := event.Voting{
		Strategy: vote.FirstToK, Samples: 9, RedFlagged: 3, Faults: 3, Votes: map[string]int{"0": 2, "1": 2, "42": 2},
		Answers:   []event.Candidate{{Answer: []byte("0"), Votes: 2}, {Answer: []byte("1"), Votes: 2}, {Answer: []byte("42"), Votes: 2}},
		Discarded: []event.Discarded{{Flag: "error", Count: 2, Reason: "r"}, {Flag: "length", Count: 1, Reason: "l"}},
	}
	for range 2 {
		if diff := cmp.Diff(want, first.With(faulty).With(second)); diff != "" {
			t.Errorf("With(): -want +got\n%s", diff)
		}
	}
	if diff := cmp.Diff(first.Plus(faulty), faulty.With(first)); diff != "" {
		t.Errorf("With() of none: -want +got\n%s", diff)
	}
}

// TestAddDiscarded: each reason of a red flag is told with how often it was given, but for those of
// a flag that has many.
func TestAddDiscarded(t *testing.T) {
	var list []event.Discarded
	for _, d := range []event.Discarded{
		{Flag: "error", Count: 1, Reason: "no disk", Said: "a"}, {Flag: "error", Count: 2, Reason: "no src", Said: "b"},
		{Flag: "length", Count: 1, Reason: "800 tokens"}, {Flag: "error", Count: 1, Reason: "no disk", Said: "c"},
		{Flag: "error", Count: 1, Reason: "no way"}, {Flag: "error", Count: 1, Reason: "no time", Said: "d"},
		{Flag: "error", Count: 4, Reason: "no bread"}, {Flag: "error", Count: 1, Reason: "no src"}, {Flag: "length", Count: 1, Reason: "900 tokens"},
	} {
		list = event.AddDiscarded(list, d)
	}
	want := []event.Discarded{
		{Flag: "error", Count: 2, Reason: "no disk", Said: "a"}, {Flag: "error", Count: 3, Reason: "no src", Said: "b"},
		{Flag: "length", Count: 1, Reason: "800 tokens"}, {Flag: "error", Count: 1, Reason: "no way"},
		{Flag: "error", Count: 5, Reason: event.OtherReasons, Said: "d"}, {Flag: "length", Count: 1, Reason: "900 tokens"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
