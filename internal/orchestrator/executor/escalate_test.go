package executor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/vote"
)

// escalating is a configuration with a ladder; the whole one if none is named.
func escalating(order ...flow.Escalation) executor.Config {
	if order == nil {
		order = []flow.Escalation{flow.Diversity, flow.Second, flow.Split, flow.Person}
	}
	c := config()
	c.Rule = vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4}
	c.Ladder = flow.Ladder{Order: order, Model: "expert"}
	makePlan := planner.New(planner.Config{Prompts: prompts.Default(), Terms: flow.Terms{Rule: one}, Panel: c.Rule})
	c.Split = executor.NewSplit(c, makePlan.Split)
	return c
}

// TestEscalation: what is done when the voters of a step do not agree, in its order, until
// something helps.
func TestEscalation(t *testing.T) {
	const step = "plan/0/step/0"
	parts := makePlan(stepSpec{}, stepSpec{inputs: []string{"step_0_output"}, schema: "value: what it is"})
	no := "undecided: no answer won"
	for _, test := range []struct {
		name    string
		spec    stepSpec
		answers map[string]string
		person  string
		want    string // how it ends
		tried   string // the rungs
		by      string
	}{
		{"diversity helps", stepSpec{}, map[string]string{step + "/diversity/move/0": "value: 7", "*": no}, "", `done 0 {"value":7}`, "diversity", ""},
		{"another model helps", stepSpec{}, map[string]string{step + "/model/move/0": "value: 7", "*": no}, "", `done 0 {"value":7}`, "diversity model", event.ByModel},
		{
			"splitting helps", stepSpec{}, map[string]string{
				step + "/split/plan": parts, step + "/split/step/0/move/0": "value: 3", step + "/split/step/1/move/0": "value: 7", "*": no,
			}, "", `done 0 {"value":7}`, "diversity model split", event.BySplit,
		},
		{
			"a part is escalated in turn", stepSpec{}, map[string]string{
				step + "/split/plan": parts, step + "/split/step/0/model/move/0": "value: 3", step + "/split/step/1/move/0": "value: 7", "*": no,
			}, "", `done 0 {"value":7}`, "diversity model split diversity model", event.BySplit,
		},
		{"a person helps", stepSpec{}, map[string]string{"*": no}, "value: 7", `done 0 {"value":7}`, "diversity model split person", event.ByPerson},
		{"a person gives the only field", stepSpec{schema: "value: integer"}, map[string]string{"*": no}, "7", `done 0 {"value":7}`, "diversity model split person", event.ByPerson},
		{"a person gives something else", stepSpec{schema: "{a: integer, b: integer}"}, map[string]string{"*": no}, "seven", "failed 0 undecided: no answer won; no answer won; what the person answered cannot be used: the answer is not a mapping", "diversity model split person", ""},
		{"a person gives another field", stepSpec{schema: "{count: integer}", extra: "vote_on: [count]"}, map[string]string{"*": no}, `{"other": 7}`, `failed 0 undecided: no answer won; no answer won; what the person answered cannot be used: vote: the answer has no field "count" (vote_on "count")`, "diversity model split person", ""},
		{"a person gives another field than the only one", stepSpec{schema: "{count: integer}"}, map[string]string{"*": no}, `{"other": 7}`, `failed 0 undecided: no answer won; no answer won; what the person answered cannot be used: there is no field "count"`, "diversity model split person", ""},
		{"a person gives no number", stepSpec{schema: "{count: integer}"}, map[string]string{"*": no}, `banana`, `failed 0 undecided: no answer won; no answer won; what the person answered cannot be used: count is a number`, "diversity model split person", ""},
		{"a person gives a text", stepSpec{schema: "answer: what it is"}, map[string]string{"*": no}, `so: it is`, `done 0 {"answer":"so: it is"}`, "diversity model split person", event.ByPerson},
		{"a person names a step that there is not", stepSpec{conditional: true, next: -2}, map[string]string{"*": no}, "7", "failed 0 undecided: no answer won; what the person answered cannot be used: next_step is 7, but the plan has steps 0 to 1: want one of them, or -1 to end", "diversity model person", ""},
		{"a decision", stepSpec{conditional: true, next: -2}, map[string]string{"*": no, "plan/0/step/1/move/0": "value: 1"}, "-1", `done 0 {"next_step":-1}`, "diversity model person", event.ByPerson},
		{"faults", stepSpec{}, map[string]string{"*": "failed: nobody is there"}, "value: 7", `done 0 {"value":7}`, "model person", event.ByPerson},
		{"one sample", stepSpec{extra: "voting: none"}, map[string]string{step + "/model/move/0": "value: 7", "*": "flagged_out: it was cut off"}, "", `done 0 {"value":7}`, "model", event.ByModel},
		{"after a call nothing is split", stepSpec{tools: []string{"Write"}}, map[string]string{step + "/move/0": `call Write {"a":1}`, "*": no}, "value: 7", `done 0 {"value":7}`, "diversity model person", event.ByPerson},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.answers)
			w.OnAsk = func(string, *flow.HumanQuestion) (*flow.Answer, error) {
				return &flow.Answer{Text: test.person, By: "test"}, nil
			}
			text := makePlan(test.spec, stepSpec{})
			if !test.spec.conditional {
				text = makePlan(test.spec)
			}
			events := w.execute(escalating(), text)
			var tried []string
			for _, e := range w.Events {
				if e, ok := e.(event.Escalated); ok {
					tried = append(tried, e.To)
				}
			}
			if got := strings.Join(tried, " "); got != test.tried {
				t.Errorf("tried %s, want %s", got, test.tried)
			}
			if got := strings.Split(tell(events), "\n")[1]; got != test.want {
				t.Errorf("it ended with %s, want %s", got, test.want)
			}
			for _, e := range events {
				if e, ok := e.(event.StepCompleted); ok && e.Step == 0 && e.By != test.by {
					t.Errorf("settled by %q, want %q", e.By, test.by)
				}
			}
		})
	}
}

// TestPersonIsAskedAgain: with what is wrong with what was answered.
func TestPersonIsAskedAgain(t *testing.T) {
	w := newWorld(t, map[string]string{"*": "undecided: no answer won"})
	answers := []string{`{"other": 7}`, "banana", "7"}
	var keys, texts []string
	w.OnAsk = func(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
		keys, texts = append(keys, key), append(texts, q.Text)
		return &flow.Answer{Text: answers[len(keys)-1]}, nil
	}
	events := w.execute(escalating(flow.Person), makePlan(stepSpec{schema: "{count: integer}"}))
	if got := tell(events); !strings.Contains(got, `done 0 {"count":7}`) {
		t.Errorf("it ended with %s", got)
	}
	const key = "plan/0/step/0/person"
	if want := []string{key, key + "/again/1", key + "/again/2"}; !slices.Equal(keys, want) {
		t.Fatalf("asked under %q, want %q", keys, want)
	}
	for i, want := range []string{"The voters do not agree", `{"other": 7} cannot be used: there is no field "count". The voters`, "banana cannot be used: count is a number. The voters"} {
		if !strings.HasPrefix(texts[i], want) {
			t.Errorf("question %d is %q, want one that begins with %q", i, texts[i], want)
		}
	}
}

// TestSplitGivesTheFields: what the parts of a step came to is its result only if it is
// read as an answer to the step is, and has the fields that were asked for.
func TestSplitGivesTheFields(t *testing.T) {
	const step = "plan/0/step/0"
	for _, test := range []struct {
		name   string
		spec   stepSpec
		answer string // of the last part
		want   string
	}{
		{"the only field", stepSpec{schema: "{count: integer}", extra: "vote_on: [count]"}, "{count: 7}", `done 0 {"count":7}`},
		{"another one instead of that to vote on", stepSpec{schema: "{count: integer}", extra: "vote_on: [count]"}, "{other: 7}", "count"},
		{"another one instead of the only one", stepSpec{schema: "{count: number}"}, "{other: 7}", `there is no field "count"`},
		{"another one instead of a free one", stepSpec{schema: "count: how many"}, "{other: 7}", `there is no field "count"`},
		{"one of two numbers", stepSpec{schema: "{a: number, b: number}"}, "{a: 7}", `there is no field "b"`},
		{"a value of another kind", stepSpec{schema: "{count: number}"}, "{count: many}", `field "count"`},
		{"more than was asked for", stepSpec{schema: "{count: number}"}, "{count: 7, other: 8}", `done 0 {"count":7,"other":8}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				step + "/split/plan":          makePlan(stepSpec{}, stepSpec{schema: "other: what it is"}),
				step + "/split/step/0/move/0": "value: 3", step + "/split/step/1/move/0": test.answer, "*": "undecided: no answer won",
			})
			got := strings.Split(tell(w.execute(escalating(flow.Split), makePlan(test.spec))), "\n")[1]
			if done := strings.HasPrefix(test.want, "done"); done && got != test.want ||
				!done && !(strings.HasPrefix(got, "failed 0 undecided: ") && strings.Contains(got, "is not the result that was asked for") && strings.Contains(got, test.want)) {
				t.Errorf("it ended with %s, want %s", got, test.want)
			}
		})
	}
}

// TestEscalatedQuestions: who is asked how.
func TestEscalatedQuestions(t *testing.T) {
	w := newWorld(t, map[string]string{"*": "undecided: no answer won"})
	w.onDecide = func(_ string, _ *flow.Question, v *flow.Verdict) {
		v.Voting.Samples, v.Voting.Shares = 4, []event.Share{{Voter: "m", Framing: 1, Votes: 1}, {Voter: "m", Framing: 3, Votes: 3}}
		v.Voting.Answers = []event.Candidate{{Answer: []byte(`{"value":1}`), Votes: 2}, {Answer: []byte(`{"value":2}`), Votes: 2}}
	}
	var asked *flow.HumanQuestion
	w.OnAsk = func(_ string, q *flow.HumanQuestion) (*flow.Answer, error) {
		asked = q
		return &flow.Answer{Text: q.Options[1]}, nil
	}
	events := w.execute(escalating(), makePlan(stepSpec{inputs: nil}))
	q := w.questions["plan/0/step/0/diversity/move/0"]
	if q == nil || !slices.Equal(q.Asked["m"], []int{1, 3}) || *q.Temperature != 0.7 || *q.FirstTemperature != 0.7 {
		t.Errorf("the diverse question is %+v, want one that knows the framings of those before, at 0.7", q)
	}
	if q := w.questions["plan/0/step/0/model/move/0"]; q == nil || q.Model != "expert" || q.Asked != nil {
		t.Errorf("the question of another model is %+v, want one for the expert", q)
	}
	if q := w.questions["plan/0/step/0/split/plan"]; q == nil || q.Rule.Strategy != vote.FirstToK || q.Scope != "plan/0/step/0" || !strings.Contains(q.Prompt, "The last step returns these fields") {
		t.Errorf("the question about a plan is %+v, want a voted one", q)
	}
	if want := []string{`{"value":1}`, `{"value":2}`}; asked == nil || !slices.Equal(asked.Options, want) {
		t.Errorf("the person was asked %+v, want the options %q", asked, want)
	}
	if got := tell(events); !strings.Contains(got, `done 0 {"value":2}`) {
		t.Errorf("it ended with %s", got)
	}
}

// TestSplitTakesInputs: the parts of a step are given what it was given, under names of
// their own, and what failed is asked again by a resume.
func TestSplitTakesInputs(t *testing.T) {
	c := escalating(flow.Split)
	const step = "plan/0/step/1"
	parts := makePlan(stepSpec{inputs: []string{"done_0_output.value"}}, stepSpec{})
	w := newWorld(t, map[string]string{"plan/0/step/0/move/0": "value: 41", step + "/split/plan": parts, step + "/split/step/0/move/0": "value: 42", "*": "undecided: no answer won"})
	w.onDecide = func(key string, _ *flow.Question, v *flow.Verdict) {
		if key == step+"/split/step/1/move/0" {
			v.Voting.Answers = []event.Candidate{{Answer: []byte(`{"value":1}`), Votes: 2}, {Answer: []byte(`{"value":2}`), Votes: 1}}
		}
	}
	events := w.execute(c, makePlan(stepSpec{}, stepSpec{inputs: []string{"step_0_output.value"}}))
	if q := w.questions[step+"/split/plan"]; q == nil || !strings.Contains(q.Prompt, `<output name="done_0_output">`) || !strings.Contains(q.Prompt, "value: 41") {
		t.Errorf("the planner is asked %+v, want the output of the step before", q)
	}
	if q := w.questions[step+"/split/step/0/move/0"]; q == nil || !strings.Contains(q.Prompt, "value: 41") || q.Step != 1 || q.Scope != step {
		t.Errorf("the first part is %+v, want the input, the step and its scope", q)
	}
	end, ok := events[len(events)-1].(event.TaskFailed)
	if !ok || end.Status != event.StatusUndecided || !strings.Contains(end.Reason, "it was split into 2 steps; step 1 (s1): no answer won (2 for {\"value\":1}, 1 for {\"value\":2})") {
		t.Fatalf("it ended with %s", tell(events))
	}
	for _, key := range []string{step + "/move/0", step + "/split/plan", step + "/split/step/1/move/0"} {
		if !slices.Contains(end.Reopen, key) {
			t.Errorf("a resume forgets %q, want %s too", end.Reopen, key)
		}
	}
	if diff := cmp.Diff([]string{"plan/0/step/0/move/0", step + "/move/0", step + "/split/plan", step + "/split/step/0/move/0", step + "/split/step/1/move/0"}, w.Asked); diff != "" {
		t.Errorf("asked: -want +got\n%s", diff)
	}
}

// TestSplitTakesContext: where steps are told of those before them, so are the parts of one
// and who makes them.
func TestSplitTakesContext(t *testing.T) {
	c := escalating(flow.Split)
	c.Context, c.ContextBudget = executor.Summary, 1000
	const step = "plan/0/step/1"
	w := newWorld(t, map[string]string{
		"plan/0/step/0/move/0": "value: 41", step + "/split/plan": makePlan(stepSpec{}, stepSpec{}), step + "/split/step/0/move/0": "value: 42", step + "/split/step/1/move/0": "value: 43",
		"*": "undecided: no answer won",
	})
	w.execute(c, makePlan(stepSpec{}, stepSpec{}))
	for _, key := range []string{step + "/split/plan", step + "/split/step/0/move/0", step + "/split/step/1/move/0"} {
		if q := w.questions[key]; q == nil || !strings.Contains(q.Prompt, "<context>\nResults:\nTask 1: s0\nvalue: 41\n") {
			t.Errorf("%s is asked %+v, want what the step before came to", key, q)
		}
	}
}
