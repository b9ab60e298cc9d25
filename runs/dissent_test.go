package runs_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
)

func TestDescribeVotes(t *testing.T) {
	answer := func(text string, votes int) event.Candidate {
		return event.Candidate{Answer: json.RawMessage(text), Votes: votes}
	}
	tests := []struct {
		name   string
		voting event.Voting
		won    bool
		output string
		want   []string
	}{
		{"unanimous", event.Voting{Votes: map[string]int{`{"a":1}`: 3}}, true, "", nil},
		{"keys", event.Voting{Votes: map[string]int{`{"a":1}`: 3, `{"a":2}`: 1}}, true, "", []string{"1 vote for a: 2 instead of 1"}},
		{"keys that are no JSON", event.Voting{Votes: map[string]int{"yes": 3, "no": 2}}, true, "", []string{`2 votes for "no" instead of "yes"`}},
		{"answers", event.Voting{Votes: map[string]int{"sha256:0": 2, "sha256:1": 1}, Answers: []event.Candidate{answer(`"yes, it is"`, 2), answer(`"no"`, 1)}}, true, "",
			[]string{`1 vote for "no" instead of "yes, it is"`}},
		{"the winner is the output", event.Voting{Votes: map[string]int{"sha256:0": 2, "sha256:1": 1}, Answers: []event.Candidate{answer(`{"total":15}`, 1)}}, true, `{"total":14}`,
			[]string{"1 vote for total: 15 instead of 14"}},
		{"a call against an answer", event.Voting{Answers: []event.Candidate{answer(`{"tool":"Bash","input":{"command":"ls"}}`, 2), answer(`{"done":true}`, 1)}}, false, "",
			[]string{`2 votes for call Bash {"command":"ls"}`, `1 vote for {"done":true}`}},
		{"nothing but flags", event.Voting{Discarded: []event.Discarded{{Flag: "refusal", Count: 3, Reason: "it refuses", Said: "I cannot."}}}, false, "",
			[]string{"3 answers discarded as refusal: it refuses; the first one said: I cannot."}},
		{"control characters", event.Voting{Votes: map[string]int{"\x1b[2J": 1}}, false, "", []string{`1 vote for \x1b[2J`}},
		{"none", event.Voting{}, false, "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := runs.DescribeVotes(test.voting)
			if test.won {
				got = runs.DescribeDissent(test.voting, event.JSONValue(json.RawMessage(test.output)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
