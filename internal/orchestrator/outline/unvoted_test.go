package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/summary"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

// TestUnvoted: details that no vote was about are marked in the task and to the voters of
// those after it.
func TestUnvoted(t *testing.T) {
	for _, test := range []struct {
		name   string
		rule   vote.Strategy
		answer string
		want   []string
		told   string // after the title of the task
	}{
		{"details beside a result", vote.FirstToK, `{"result":"done","details":"bob@x.org"}`, []string{"details"}, "done\n\n# not voted on, one agent's words:\nbob@x.org"},
		{"no details", vote.FirstToK, `{"result":"done"}`, nil, "done"},
		{"no votes at all", vote.None, `{"result":"done","details":"bob@x.org"}`, nil, "done\n\nbob@x.org"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.quiet = true
			prompt := ""
			w.Flow = flowtest.New(func(_ string, q *flow.Question) (*flow.Verdict, error) {
				prompt = q.Prompt
				return &flow.Verdict{Status: flow.Decided, Answer: []byte(test.answer), Voting: event.Voting{Strategy: test.rule, Samples: 2}}, nil
			})
			w.OnObserve = w.look
			c := runConfig()
			c.Rule.Strategy = test.rule
			if err := Run(w, planned(t, "- Find the owner.\n- Write to them."), c); err != nil {
				t.Fatal(err)
			}
			for _, e := range w.Events {
				if done, ok := e.(event.StepCompleted); ok {
					if diff := cmp.Diff(test.want, done.Voting.Unvoted); diff != "" || strings.Contains(done.Output.Text(), "not voted") {
						t.Errorf("task %d came to %s; unvoted: -want +got\n%s", done.Step+1, done.Output.Text(), diff)
					}
				}
			}
			if told := "Task 1: Find the owner.\n" + test.told + "\n</context>"; !strings.Contains(prompt, told) {
				t.Errorf("the prompt of the next task is\n%s\nwant %q", prompt, told)
			}
		})
	}
}

// TestLeftOut: what there is no room for is named to the tasks after it, and in the log.
func TestLeftOut(t *testing.T) {
	w := newWorld(t, nil)
	w.quiet = true
	prompt, n := "", 0
	w.Flow = flowtest.New(func(_ string, q *flow.Question) (*flow.Verdict, error) {
		prompt = q.Prompt
		n++
		answer := fmt.Sprintf(`{"result":"%d-%s","details":"%s"}`, n, strings.Repeat("v", 350), strings.Repeat("It is long. ", 40))
		if q.Answer.Reader == summary.Reader {
			answer = `"It is long."`
		}
		return &flow.Verdict{Status: flow.Decided, Answer: []byte(answer)}, nil
	})
	w.OnObserve = w.look
	c := runConfig()
	c.Rule, c.Planner.ContextBudget = one, 400
	if err := Run(w, planned(t, strings.Repeat("- Make a widget.\n", 5)), c); err != nil {
		t.Fatal(err)
	}
	logged := ""
	for _, e := range w.Events {
		if e, ok := e.(event.ContextCompacted); ok && e.LeftOut != "" {
			logged = e.LeftOut
			if e.Before <= e.After {
				t.Errorf("the context had %d tokens before %s, %d after", e.Before, e.LeftOut, e.After)
			}
		}
	}
	if want := "Left out for lack of room: the results of tasks 1 to 2 word for word; all else about tasks 1 to 3."; logged != want || !strings.Contains(prompt, want) {
		t.Errorf("the log says %q, the last prompt is\n%s\nwant %q", logged, prompt, want)
	}
}
