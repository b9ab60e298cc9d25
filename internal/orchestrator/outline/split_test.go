package outline

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

// TestFailedSplitKeepsTheVote: a task whose parts came to nothing failed because of its own
// vote, which is what is told of it; the samples of its parts are counted, and what was
// discarded of them is listed.
func TestFailedSplitKeepsTheVote(t *testing.T) {
	rivals := map[string]int{"result 1": 2, "result 2": 2}
	flags := []event.Discarded{{Flag: "schema_invalid", Count: 2, Reason: "no plan"}}
	for _, test := range []struct {
		name    string
		parts   flow.Verdict
		want    string
		flagged []event.Discarded
	}{
		{"no result", flow.Verdict{Status: flow.Undecided, Reason: "part 1: no answer won"}, "no answer won; part 1: no answer won", flags},
		{"another result", flow.Verdict{Status: flow.Decided, Answer: []byte(`{"other":7}`)}, "what its parts came to is no result", nil},
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
				voting := event.Voting{Strategy: vote.FirstToK, Samples: 3, RedFlagged: 2, Votes: map[string]int{`{"part":1}`: 3}, Margin: 3, Discarded: test.flagged}
				return &flow.Outcome{Verdict: &parts, Voting: voting}, nil
			}
			if err := Run(w, planned(t, "- Count them."), c); err != nil {
				t.Fatal(err)
			}
			for _, e := range w.Events {
				failed, ok := e.(event.StepFailed)
				if !ok {
					continue
				}
				want := event.Voting{Strategy: vote.FirstToK, Samples: 7, RedFlagged: 2, Votes: rivals, Discarded: test.flagged}
				if diff := cmp.Diff(want, failed.Voting); diff != "" || failed.Status != string(flow.Undecided) || !strings.Contains(failed.Reason, test.want) {
					t.Errorf("it failed as %s: %s; the vote: -want +got\n%s", failed.Status, failed.Reason, diff)
				}
				return
			}
			t.Error("the task did not fail")
		})
	}
}

// TestSplitSeesWhatTheTaskSees: those who split a task, and those who do its parts, are told
// what the tasks before came to and what it refers to.
func TestSplitSeesWhatTheTaskSees(t *testing.T) {
	const parts = `reasoning: two steps
plan:
  - {step: 0, task_type: action_step, title: a, task_description: Do a., primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "", input_variables: [], output_variable: step_0_output, output_schema: "value: integer", next_step_sequence_number: 1}
  - {step: 1, task_type: action_step, title: b, task_description: Do b., primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "", input_variables: [step_0_output], output_variable: step_1_output, output_schema: "result: string", next_step_sequence_number: -1}
`
	w := newWorld(t, map[string]string{
		"task/2/round/0/attempt/1/attachment/0": `{"text":"twice means times two"}`,
		"task/2/round/0/attempt/1/attachment/1": `{"media_type":"image/png","data":"aW1hZ2U="}`,
	})
	w.quiet, w.nobody = true, true
	asked := map[string]*flow.Question{}
	readers := executor.Readers()
	maps.Copy(readers, planner.Readers())
	maps.Copy(readers, Readers())
	w.Flow = flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
		asked[key] = q
		text, ok := map[string]string{
			"task/1/round/0/attempt/1/move/0": `{"result":"3141","details":"by a table"}`, "task/2/round/0/attempt/1/split/plan": parts,
			"task/2/round/0/attempt/1/split/step/0/move/0": "value: 1", "task/2/round/0/attempt/1/split/step/1/move/0": "result: 6282",
		}[key]
		if !ok {
			return &flow.Verdict{Status: flow.Undecided, Reason: "no answer won", Voting: event.Voting{Strategy: vote.FirstToK, Samples: 4}}, nil
		}
		reader, err := readers.New(q.Answer.Reader, q.Answer.Params)
		if err != nil {
			return nil, err
		}
		a, flag := reader.Read(text)
		if flag != nil {
			t.Errorf("%s: %s", key, flag.Reason)
		}
		v := flowtest.Decided(q, string(a.Value))
		v.Voting.Strategy = vote.FirstToK
		return v, nil
	})
	w.OnObserve = func(key string, l flow.Look) (any, error) {
		if l.Kind == flow.LookCatalogue {
			return "- Write (mutate): Writes a file.\n", nil
		}
		return w.look(key, l)
	}
	c := runConfig()
	c.ReadAttachments = true
	c.Rule = vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4}
	c.Ladder = flow.Ladder{Order: []flow.Escalation{flow.Split}}
	c.Split = executor.NewSplit(
		executor.Config{Prompts: c.Prompts, Terms: c.Terms, Repair: c.Repair},
		planner.New(planner.Config{Prompts: c.Prompts, Terms: c.Terms, Repair: c.Repair}).Split,
	)
	if err := Run(w, planned(t, "- Compute pi in thousandths.\n\n# Doubling\n\n- Double it as ./how.txt and ./how.png say."), c); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		key  string
		want []string
	}{
		{"task/2/round/0/attempt/1/split/plan", []string{"Doubling\n\nDouble it as"}},
		{"task/2/round/0/attempt/1/split/step/0/move/0", nil},
		{"task/2/round/0/attempt/1/split/step/1/move/0", nil},
	} {
		q := asked[test.key]
		if q == nil {
			t.Fatalf("%s was not asked:\n%s", test.key, w.transcript.String())
		}
		for _, prompt := range q.Variants {
			for _, want := range append(test.want, "<context>\n", "3141", "# not voted on, one agent's words:\nby a table", "twice means times two", "number 1 of those shown") {
				if !strings.Contains(prompt, want) {
					t.Errorf("%s: the prompt is\n%s\nwant %q", test.key, prompt, want)
				}
			}
			if strings.Contains(prompt, "outputs below exist") || strings.Contains(prompt, "These outputs exist") {
				t.Errorf("%s: the prompt speaks of outputs that are not there:\n%s", test.key, prompt)
			}
		}
		if len(q.Images) != 1 {
			t.Errorf("%s shows %d images, want 1", test.key, len(q.Images))
		}
	}
}
