package runs_test

import (
	"encoding/json"
	"strings"
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
			[]string{`2 votes for call Bash $ ls`, `1 vote for {"done":true}`}},
		{"a call against a long answer", event.Voting{Answers: []event.Candidate{answer(`{"tool":"Bash","input":{"command":"ls"}}`, 2), answer(`"`+strings.Repeat("x", 150)+`"`, 1)}}, false, "",
			[]string{`2 votes for call Bash $ ls`, `1 vote for ` + strings.Repeat("x", 150)}},
		{"calls of two tools", event.Voting{Votes: map[string]int{`call Write {"file_path":"a.txt","content":"hello\n"}`: 4, `call Bash {"command":"echo \"bye\" > a.txt"}`: 2, `call mcp__shop__order {"item":"tea","n":2}`: 1}}, true, "",
			[]string{`2 votes for call Bash $ echo "bye" > a.txt instead of call Write a.txt (6 bytes)`, `1 vote for call mcp__shop__order item: "tea", n: 2 instead of call Write a.txt (6 bytes)`}},
		{"an answer instead of a call", event.Voting{Votes: map[string]int{`call Bash {"command":"ls"}`: 4, "done": 2, `{"done":true}`: 1}}, true, "",
			[]string{`2 votes for "done" instead of call Bash $ ls`, `1 vote for {"done":true} instead of call Bash $ ls`}},
		{"control characters in a call", event.Voting{Votes: map[string]int{`call Bash {"command":"\u001b[2J"}`: 2, "done": 1}}, false, "", []string{`2 votes for call Bash $ \x1b[2J`, "1 vote for done"}},
		{"calls by their keys", event.Voting{Votes: map[string]int{`call Pay {"to":"a<b"}`: 5, `call Pay {"to":"c"}`: 2, "call Pay": 1}}, true, "",
			[]string{`2 votes for to: "c" instead of "a<b"`, `1 vote for "call Pay" instead of call Pay to: "a<b"`}},
		{"nothing but flags", event.Voting{Discarded: []event.Discarded{{Flag: "refusal", Count: 3, Reason: "it refuses", Said: "I cannot."}}}, false, "",
			[]string{"3 answers discarded as refusal: it refuses; the first one said: I cannot."}},
		{"flags of votes that were decided on the way", event.Voting{RedFlagged: 5, Discarded: []event.Discarded{{Flag: "refusal", Count: 3, Reason: "it refuses"}}}, false, "",
			[]string{"3 answers discarded as refusal: it refuses", "2 other answers discarded on the way"}},
		{"more rivals than are listed", event.Voting{Votes: map[string]int{"1": 2, "2": 1, "3": 1, "4": 2}, Answers: []event.Candidate{answer("1", 2), answer("2", 1)}}, false, "",
			[]string{"2 votes for 1", "1 vote for 2", "3 votes for other answers"}},
		{"more dissent than is listed", event.Voting{Votes: map[string]int{"sha256:0": 4, "sha256:1": 1, "sha256:2": 1}, Answers: []event.Candidate{answer("2", 1)}}, true, "1",
			[]string{"1 vote for 2 instead of 1", "1 vote for another answer"}},
		{"calls that look the same", event.Voting{Votes: map[string]int{`call Write {"content":"3\n","file_path":"out.txt"}`: 3, `call Write {"content":"4\n","file_path":"out.txt"}`: 2, `call Write {"content":"5\n","file_path":"out.txt"}`: 1}}, false, "",
			[]string{`3 votes for call Write out.txt (2 bytes)`, `2 votes for the same, but content: "4\n" instead of "3\n"`, `1 vote for the same, but content: "5\n" instead of "3\n"`}},
		{"long answers that begin the same", event.Voting{Answers: []event.Candidate{answer(`"`+strings.Repeat("x", 300)+`1"`, 2), answer(`"`+strings.Repeat("x", 300)+`2"`, 1)}}, false, "",
			[]string{`2 votes for ` + strings.Repeat("x", 199) + "…", `1 vote for the same, but "…` + strings.Repeat("x", 20) + `2" instead of "…` + strings.Repeat("x", 20) + `1"`}},
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

// TestTurnDissent: turns of a conversation differ by their calls, not by the ids of these, by
// their order or by what was said beside them.
func TestTurnDissent(t *testing.T) {
	turn := func(text string, calls ...string) json.RawMessage {
		return json.RawMessage(`{"text":"` + text + `","calls":[` + strings.Join(calls, ",") + `]}`)
	}
	call := func(id, path string) string {
		return `{"id":"` + id + `","name":"remove","input":{"path":"` + path + `"}}`
	}
	for _, test := range []struct {
		name      string
		won, lost json.RawMessage
		want      []string
	}{
		{"one call", turn("I will.", call("c1", "tmp")), turn("Gladly.", call("c2", "home")), []string{`1 vote for path: "home" instead of "tmp"`}},
		{"a call more", turn("", call("c1", "a")), turn("", call("c3", "b"), call("c2", "a")), []string{`1 vote for call remove path: "a" and call remove path: "b" instead of call remove path: "a"`}},
	} {
		v := event.Voting{Samples: 4, Votes: map[string]int{"sha256:0": 3, "sha256:1": 1}, Answers: []event.Candidate{{Answer: test.lost, Votes: 1}}}
		if diff := cmp.Diff(test.want, runs.DescribeDissent(v, event.JSONValue(test.won))); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

// TestCallDissent: a call tells what its voters wanted of one that a person changed, and what
// lost, as a difference to what they wanted.
func TestCallDissent(t *testing.T) {
	input := func(to string) event.Value { return event.JSONValue(json.RawMessage(`{"to":"` + to + `"}`)) }
	voting := event.Voting{Samples: 7, Votes: map[string]int{`call Pay {"to":"a"}`: 5, `call Pay {"to":"b"}`: 2}}
	hashed := event.Voting{Samples: 7, Votes: map[string]int{"sha256:0": 5, "sha256:1": 2}, Answers: []event.Candidate{{Answer: json.RawMessage(`{"tool":"Pay","input":{"to":"b"}}`), Votes: 2}}}
	stored := event.Value{Ref: &event.Ref{Bytes: 20000}}
	for name, test := range map[string]struct {
		effect runs.EffectResult
		want   []string
	}{
		"of an early log":    {runs.EffectResult{Tool: "Pay", Input: input("a")}, nil},
		"refused":            {runs.EffectResult{Tool: "Pay", Input: input("a"), Voting: voting}, []string{`dissent: 2 votes for to: "b" instead of "a"`}},
		"keys are hashes":    {runs.EffectResult{Tool: "Pay", Input: input("a"), Voting: hashed}, []string{`dissent: 2 votes for to: "b" instead of "a"`}},
		"changed":            {runs.EffectResult{Tool: "Pay", Input: input("c"), Voted: input("a"), Voting: hashed}, []string{`voters wanted to: "a" instead of "c"`, `dissent: 2 votes for to: "b" instead of "a"`}},
		"changed and stored": {runs.EffectResult{Tool: "Pay", Input: input("c"), Voted: stored}, []string{"voters wanted (20000 bytes, stored beside the log)"}},
		"changed, stored":    {runs.EffectResult{Tool: "Pay", Input: stored, Voted: input("a")}, []string{"voters wanted to: a"}},
	} {
		if diff := cmp.Diff(test.want, runs.CallDissent(&test.effect)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestDissentBefore: what was voted for before a person or a split settled a step is told as a
// difference to what they came to, and is no dissent if it is the same.
func TestDissentBefore(t *testing.T) {
	before := func(answers ...string) *event.Voting {
		v := event.Voting{Samples: len(answers), Votes: map[string]int{}}
		for _, a := range answers {
			v.Votes[a] = 1
			v.Answers = append(v.Answers, event.Candidate{Answer: json.RawMessage(a), Votes: 1})
		}
		return &v
	}
	for _, test := range []struct {
		name   string
		output event.Value
		first  *event.Voting
		want   []string
	}{
		{"one was right", event.JSONValue(json.RawMessage(`{"x":4,"s":"a"}`)), before(`{"x":33,"s":"a"}`, `{"s":"a","x":4}`, `{"x":5,"s":"a"}`),
			[]string{"before: 1 vote for x: 33 instead of 4", "before: 1 vote for x: 5 instead of 4"}},
		{"all were right", event.JSONValue(json.RawMessage(`{"x":4}`)), before(`{"x":4}`), nil},
		{"a task of an outline", event.TextValue("4"), before(`{"result":"4","details":"so"}`, `{"result":"5","details":"so"}`), []string{"before: 1 vote for 5 instead of 4"}},
		{"a task with details", event.TextValue("the fourth\n\nBecause of the third."), before(`{"result":"the fourth"}`), nil},
		{"a call", event.JSONValue(json.RawMessage(`{"x":4}`)), before(`{"tool":"Read","input":{"a":1}}`), []string{`before: 1 vote for call Read a: 1 instead of {"x":4}`}},
		{"stored elsewhere", event.Value{Ref: &event.Ref{Bytes: 20000}}, before(`{"x":4}`), []string{`before: 1 vote for {"x":4}`}},
	} {
		s := runs.StepResult{Output: test.output, By: event.ByPerson, First: test.first}
		if diff := cmp.Diff(test.want, s.Dissent()); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}
