package outline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

// TestFailedSplitKeepsTheVote: a task whose parts came to nothing failed because of its own
// vote, which is what is told of it; the samples of its parts are counted.
func TestFailedSplitKeepsTheVote(t *testing.T) {
	rivals := map[string]int{"result 1": 2, "result 2": 2}
	for _, test := range []struct {
		name  string
		parts flow.Verdict
		want  string
	}{
		{"no result", flow.Verdict{Status: flow.Undecided, Reason: "part 1: no answer won"}, "no answer won; part 1: no answer won"},
		{"another result", flow.Verdict{Status: flow.Decided, Answer: []byte(`{"other":7}`)}, "what its parts came to is no result"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.quiet, w.nobody = true, true
			w.Flow = flowtest.New(func(string, *flow.Question) (*flow.Verdict, error) {
				return &flow.Verdict{Status: flow.Undecided, Reason: "no answer won", Voting: event.Voting{Strategy: vote.FirstToK, Samples: 4, Votes: rivals}}, nil
			})
			w.OnObserve = w.look
			c := runConfig()
			c.Rule = vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4}
			c.Ladder = flow.Ladder{Order: []flow.Escalation{flow.Split}}
			c.Split = func(flow.Flow, string, flow.Whole) (*flow.Outcome, error) {
				parts := test.parts
				return &flow.Outcome{Verdict: &parts, Voting: event.Voting{Strategy: vote.FirstToK, Samples: 3, Votes: map[string]int{`{"part":1}`: 3}, Margin: 3}}, nil
			}
			if err := Run(w, planned(t, "- Count them."), c); err != nil {
				t.Fatal(err)
			}
			for _, e := range w.Events {
				failed, ok := e.(event.StepFailed)
				if !ok {
					continue
				}
				want := event.Voting{Strategy: vote.FirstToK, Samples: 7, Votes: rivals}
				if diff := cmp.Diff(want, failed.Voting); diff != "" || failed.Status != string(flow.Undecided) || !strings.Contains(failed.Reason, test.want) {
					t.Errorf("it failed as %s: %s; the vote: -want +got\n%s", failed.Status, failed.Reason, diff)
				}
				return
			}
			t.Error("the task did not fail")
		})
	}
}
