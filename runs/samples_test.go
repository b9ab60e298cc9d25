package runs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
)

// Rivals are what was voted for, all written alike, so that they can be compared: not what
// somebody said around it.
func TestRivalsAreWhatWasVotedFor(t *testing.T) {
	hash, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	said := func(key, text string) runs.Sample {
		return runs.Sample{Outcome: runs.SampleVote, Voter: "m", Vote: key, Text: event.TextValue(text)}
	}
	of := func(question, answer string) runs.Sample {
		return runs.Sample{Outcome: runs.SampleVote, Voter: question, Question: question, Vote: `"` + answer + `"`, Text: event.TextValue(answer)}
	}
	called := func(key, path string) runs.Sample {
		return runs.Sample{Outcome: runs.SampleVote, Voter: "m", Vote: key, Intent: &event.Intent{Tool: "Write", Input: json.RawMessage(`{"file_path":"` + path + `"}`)}}
	}
	for name, c := range map[string]struct {
		voting  event.Voting
		output  string
		samples []runs.Sample
		want    []runs.Rival
	}{
		"keys that are answers": {
			voting: event.Voting{Votes: map[string]int{`{"n":1}`: 3, `{"n":2}`: 1}}, output: `{"n":1,"why":"so"}`,
			samples: []runs.Sample{said(`{"n":2}`, "I think n: 2")},
			want:    []runs.Rival{{Key: `{"n":1}`, Votes: 3, Won: true, Answer: json.RawMessage(`{"n":1,"why":"so"}`)}, {Key: `{"n":2}`, Votes: 1, Answer: json.RawMessage(`{"n":2}`), Voters: []string{"m"}}},
		},
		"hashes": {
			voting: event.Voting{Votes: map[string]int{hash: 3, other: 1}, Answers: []event.Candidate{{Answer: json.RawMessage(`{"n":2}`), Votes: 1}}}, output: `{"n":1}`,
			samples: []runs.Sample{said(other, "I think n: 2")},
			want:    []runs.Rival{{Key: hash, Votes: 3, Won: true, Answer: json.RawMessage(`{"n":1}`)}, {Key: other, Votes: 1, Answer: json.RawMessage(`{"n":2}`), Voters: []string{"m"}}},
		},
		"a hash of which only a sample tells": {
			voting: event.Voting{Votes: map[string]int{hash: 3, other: 1}}, output: `{"n":1}`, samples: []runs.Sample{said(other, "n: 2")},
			want: []runs.Rival{{Key: hash, Votes: 3, Won: true, Answer: json.RawMessage(`{"n":1}`)}, {Key: other, Votes: 1, Answer: json.RawMessage(`"n: 2"`), Voters: []string{"m"}}},
		},
		"a call on the way": {
			voting: event.Voting{Votes: map[string]int{`call Write {"file_path":"a"}`: 3, `call Write {"file_path":"b"}`: 1}}, output: `{"done":true}`,
			want: []runs.Rival{
				{Key: `call Write {"file_path":"a"}`, Votes: 3, Won: true, Answer: json.RawMessage(`{"tool":"Write","input":{"file_path":"a"}}`)},
				{Key: `call Write {"file_path":"b"}`, Votes: 1, Answer: json.RawMessage(`{"tool":"Write","input":{"file_path":"b"}}`)},
			},
		},
		"a call on the way of which only samples tell": {
			voting: event.Voting{Votes: map[string]int{hash: 3, other: 1}}, output: `{"done":true}`,
			samples: []runs.Sample{called(hash, "a"), called(other, "b")},
			want: []runs.Rival{
				{Key: hash, Votes: 3, Won: true, Answer: json.RawMessage(`{"tool":"Write","input":{"file_path":"a"}}`), Voters: []string{"m"}},
				{Key: other, Votes: 1, Answer: json.RawMessage(`{"tool":"Write","input":{"file_path":"b"}}`), Voters: []string{"m"}},
			},
		},
		"a call on the way that the log lists": {
			voting: event.Voting{Votes: map[string]int{hash: 3, other: 1}, Answers: []event.Candidate{{Answer: json.RawMessage(`{"tool":"Write","input":{"file_path":"a"}}`), Votes: 3}, {Answer: json.RawMessage(`{"n":2}`), Votes: 1}}},
			output: `{"done":true}`,
			want:   []runs.Rival{{Key: hash, Votes: 3, Won: true, Answer: json.RawMessage(`{"tool":"Write","input":{"file_path":"a"}}`)}, {Key: other, Votes: 1, Answer: json.RawMessage(`{"n":2}`)}},
		},
		"a call that is the output": {
			voting: event.Voting{Votes: map[string]int{`call Write {"file_path":"a"}`: 3}}, output: `{"tool":"Write","input":{"file_path":"a"},"id":"7"}`,
			want: []runs.Rival{{Key: `call Write {"file_path":"a"}`, Votes: 3, Won: true, Answer: json.RawMessage(`{"tool":"Write","input":{"file_path":"a"}}`)}},
		},
		"one of several questions": {
			voting: event.Voting{Votes: map[string]int{`"x"`: 2, `"y"`: 1}}, output: `{"a":"x","b":"y"}`,
			samples: []runs.Sample{of("a", "x"), of("b", "y"), of("a", "y"), of("b", "y"), of("a", "x")},
			want: []runs.Rival{
				{Key: `"x"`, Votes: 2, Won: true, Answer: json.RawMessage(`"x"`), Voters: []string{"a", "a"}},
				{Key: `"y"`, Votes: 1, Answer: json.RawMessage(`"y"`), Voters: []string{"a"}},
			},
		},
		"nobody won": {
			voting: event.Voting{Votes: map[string]int{"yes": 2, "no": 2}},
			want:   []runs.Rival{{Key: "no", Votes: 2, Answer: json.RawMessage(`"no"`)}, {Key: "yes", Votes: 2, Answer: json.RawMessage(`"yes"`)}},
		},
	} {
		got := runs.Rivals(c.voting, event.JSONValue(json.RawMessage(c.output)), c.samples)
		if c.output == "" {
			got = runs.Rivals(c.voting, event.Value{}, c.samples)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: Rivals differ (-want +got):\n%s", name, diff)
		}
	}
}
