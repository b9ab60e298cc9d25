package ballot

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// sampled is an earlier vote, or a red flag if it is malformed.
func sampled(n int, text string) Earlier {
	cost := 0.25
	e := Earlier{N: n, Voter: "m", Text: text, Vote: text, Tokens: usage.Tokens{Output: 1}, CostUSD: &cost}
	if text[0] == '!' {
		e.Vote, e.Flag = "", redflag.New(redflag.SchemaInvalid, "malformed")
	}
	return e
}

// TestEarlierSamplesCount: a vote that was interrupted goes on where it was, with the
// samples that are missing and no others.
func TestEarlierSamplesCount(t *testing.T) {
	other := sampled(0, "a")
	other.Vote = "b" // it was read differently then
	for _, test := range []struct {
		name    string
		rule    vote.Rule
		earlier []Earlier
		replies []string
		counted []int
		calls   int
		temps   []float64
		status  flow.Status
		answer  string
		votes   map[string]int
		flags   int
		cost    float64
	}{
		{
			"two of three", firstToK(3, 9), []Earlier{sampled(1, "a"), sampled(0, "a")}, []string{"a"},
			[]int{1, 0}, 1, []float64{0.1}, flow.Decided, `"a"`, map[string]int{"a": 3}, 0, 1,
		},
		{
			"the greedy one is missing", firstToK(2, 9), []Earlier{sampled(1, "a")}, []string{"a"},
			[]int{1}, 1, []float64{0}, flow.Decided, `"a"`, map[string]int{"a": 2}, 0, 0.75,
		},
		{
			"decided already", firstToK(2, 9), []Earlier{sampled(0, "a"), sampled(1, "a"), sampled(2, "b")}, nil,
			[]int{0, 1}, 0, nil, flow.Decided, `"a"`, map[string]int{"a": 2}, 0, 0.5,
		},
		{
			"stuck already", firstToK(3, 3), []Earlier{sampled(0, "a"), sampled(1, "b"), sampled(2, "a")}, nil,
			[]int{0, 1}, 0, nil, flow.Undecided, "", map[string]int{"a": 1, "b": 1}, 0, 0.5,
		},
		{
			"with a red flag and a dissenter", firstToK(2, 9), []Earlier{sampled(0, "!"), sampled(2, "b"), sampled(1, "a")}, []string{"a", "a"},
			[]int{0, 2, 1}, 2, []float64{0.1, 0.1}, flow.Decided, `"a"`, map[string]int{"a": 3, "b": 1}, 1, 1.75,
		},
		{
			"one that is read differently now is asked again", firstToK(2, 9), []Earlier{other, sampled(1, "a")}, []string{"a"},
			[]int{1}, 1, []float64{0}, flow.Decided, `"a"`, map[string]int{"a": 2}, 0, 0.75,
		},
		{
			"one that is there twice counts once", firstToK(2, 9), []Earlier{sampled(0, "a"), sampled(0, "a")}, []string{"a"},
			[]int{0}, 1, []float64{0.1}, flow.Decided, `"a"`, map[string]int{"a": 2}, 0, 0.75,
		},
		{
			"a number that cannot be", firstToK(2, 9), []Earlier{sampled(1<<40, "a"), sampled(-1, "a")}, []string{"a", "a"},
			[]int{}, 2, []float64{0, 0.1}, flow.Decided, `"a"`, map[string]int{"a": 2}, 0, 1,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &script{replies: texts(test.replies...)}
			b := New(only(m), readers, nil)
			defer b.Close()
			var counted []int
			v, err := b.Decide(t.Context(), question(test.rule), Watch{
				Earlier: test.earlier, EarlierFaults: 2, Resumed: func(n []int) { counted = n },
			})
			if err != nil {
				t.Fatalf("%s: Decide() = %v", test.name, err)
			}
			slices.Sort(m.temps)
			if !slices.Equal(counted, test.counted) || m.calls != test.calls || !slices.Equal(m.temps, test.temps) {
				t.Errorf("%s: the earlier samples %v count and %d calls are made at %v, want %v and %d at %v",
					test.name, counted, m.calls, m.temps, test.counted, test.calls, test.temps)
			}
			if v.Status != test.status || string(v.Answer) != test.answer || v.Voting.RedFlagged != test.flags || *v.CostUSD != test.cost || v.Voting.Faults != 2 {
				t.Errorf("%s: Decide() = %+v for $%v, want %s %s with %d red flags for $%v and 2 faults", test.name, v, *v.CostUSD, test.status, test.answer, test.flags, test.cost)
			}
			for key, n := range test.votes {
				if v.Voting.Votes[key] != n || len(v.Voting.Votes) != len(test.votes) {
					t.Errorf("%s: votes %v, want %v", test.name, v.Voting.Votes, test.votes)
				}
			}
		})
	}
}

// TestEarlierWorkCounts: calls that agents proposed, answers that had to be repaired
// and those that were read as data count as they did.
func TestEarlierWorkCounts(t *testing.T) {
	intent := &tool.Intent{Tool: "Write", Input: json.RawMessage(`{"x":"a"}`)}
	for name, test := range map[string]struct {
		earlier  Earlier
		result   agent.Result
		intent   bool
		answer   string
		repaired bool
	}{
		"a call":           {Earlier{Voter: "m", Text: "I will", Intent: intent, Vote: `call Write {"x":"a"}`}, wants("Write", `{"x":"a"}`), true, "", false},
		"repaired":         {Earlier{Voter: "m", Text: "a: [1", Read: json.RawMessage(`{"a":[1]}`), Vote: `{"a":[1]}`}, agent.Result{Text: "a: [1]", Output: json.RawMessage(`{"a":[1]}`)}, false, `"{\"a\":[1]}"`, true},
		"read as data":     {Earlier{Voter: "m", Text: "a: [1]", Vote: `{"a":[1]}`}, agent.Result{Text: "a: [1]", Output: json.RawMessage(`{"a":[1]}`)}, false, `"{\"a\":[1]}"`, false},
		"with text beside": {Earlier{Voter: "m", Text: "```yaml\na: [1]\n```", Vote: `{"a":[1]}`}, agent.Result{Text: "a: [1]", Output: json.RawMessage(`{"a":[1]}`)}, false, `"{\"a\":[1]}"`, false},
	} {
		w := &workers{results: []agent.Result{test.result}}
		b := New([]Voter{{Name: "m", Agent: w}}, readers, &Options{Tools: registry(t)})
		q := question(firstToK(2, 5))
		q.Work = &flow.Work{Tools: []string{"Write"}, Repair: flow.RepairLLM}
		v, err := b.Decide(t.Context(), q, Watch{Earlier: []Earlier{test.earlier}})
		b.Close()
		if err != nil || v.Status != flow.Decided || (v.Intent != nil) != test.intent || string(v.Answer) != test.answer || v.Repaired != test.repaired || len(w.tasks) != 1 {
			t.Errorf("%s: Decide() = %+v, %v after %d attempts, want it decided by one more", name, v, err, len(w.tasks))
		}
	}
}
