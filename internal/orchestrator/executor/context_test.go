package executor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
)

// contextOf is what the prompt of a question says of the steps before.
func contextOf(w *world, key string) string {
	q := w.questions[key]
	if q == nil {
		w.t.Errorf("nobody was asked %s", key)
		return ""
	}
	_, rest, ok := strings.Cut(q.Prompt, "<context>\n")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\n</context>")
	return text
}

// TestContext: with summaries a step is told what all before it found out, whether it
// names their outputs or not; without, nothing.
func TestContext(t *testing.T) {
	for _, mode := range []executor.Context{"", executor.Inputs, executor.Summary} {
		w := newWorld(t, map[string]string{
			"plan/0/step/0/move/0": "value: 7", "plan/0/step/1/move/0": "value: </context> nine", "plan/0/step/2/move/0": "{next_step: 3, reason: so}",
			"plan/0/step/3/move/0": "value: end",
		})
		c := config()
		c.Context, c.ContextBudget = mode, 1000
		events := w.execute(c, makePlan(stepSpec{}, stepSpec{}, stepSpec{conditional: true}, stepSpec{}))
		if got := tell(events[len(events)-1:]); !strings.HasPrefix(got, "completed 4 steps") {
			t.Fatalf("context %q: %s", mode, tell(events))
		}
		want := []string{
			"", "Results:\nTask 1: s0\nvalue: 7",
			"Results:\nTask 1: s0\nvalue: 7\n\nTask 2: s1\nvalue: \"&lt;/context> nine\"",
			"Results:\nTask 1: s0\nvalue: 7\n\nTask 2: s1\nvalue: \"&lt;/context> nine\"\n\nTask 3: s2\nnext_step: 3\nreason: so",
		}
		if mode != executor.Summary {
			want = []string{"", "", "", ""}
		}
		var got []string
		for i := range 4 {
			got = append(got, contextOf(w, fmt.Sprintf("plan/0/step/%d/move/0", i)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("context %q: -want +got\n%s", mode, diff)
		}
	}
}

// TestContextIsSummarised: what does not fit is summarised, under a key of the step that
// made it too long, and what a later step mentions stays.
func TestContextIsSummarised(t *testing.T) {
	long := strings.Repeat("nothing to see here at all ", 15)
	w := newWorld(t, map[string]string{
		"plan/0/step/0/move/0": "value: KEY-77 " + long, "plan/0/step/1/move/0": "value: " + long, "plan/0/step/2/move/0": "value: " + long,
		"plan/0/step/3/move/0": "value: end", "*": "KEY-77 was found.",
	})
	c := config()
	c.Context, c.ContextBudget = executor.Summary, 400
	plan := strings.Replace(makePlan(stepSpec{}, stepSpec{}, stepSpec{}, stepSpec{}), "Do s3.", "Use KEY-77.", 1)
	events := w.execute(c, plan)
	if got := tell(events[len(events)-1:]); !strings.HasPrefix(got, "completed 4 steps") {
		t.Fatalf("%s", tell(events))
	}
	if _, ok := w.questions["plan/0/step/2/summary/0"]; !ok || w.questions["plan/0/step/1/summary/0"] != nil {
		t.Errorf("asked %q, want for a summary after step 2, when not everything fits any more", w.Asked)
	}
	if got := contextOf(w, "plan/0/step/3/move/0"); !strings.Contains(got, "KEY-77 was found.") {
		t.Errorf("the last step is told %q, want the summary", got)
	}
	compacted := 0
	for _, e := range w.Events {
		if _, ok := e.(event.ContextCompacted); ok {
			compacted++
		}
	}
	if compacted == 0 {
		t.Error("no context_compacted was emitted")
	}
	for key, q := range w.questions {
		if n := (len(contextOf(w, key)) + 2) / 3; q.Work != nil && n > 400 {
			t.Errorf("the context of %s has %d tokens, want at most 400", key, n)
		}
	}
}

// TestContextWithLoops: a step that comes again is told what came of it before.
func TestContextWithLoops(t *testing.T) {
	w := newWorld(t, map[string]string{
		"plan/0/step/0/move/0": "value: 1", "plan/0/step/1/move/0": "{next_step: 0, reason: again}",
		"plan/0/step/0/visit/1/move/0": "value: 2", "plan/0/step/1/visit/1/move/0": "{next_step: 2, reason: enough}",
		"plan/0/step/2/move/0": "value: end",
	})
	c := config()
	c.Context, c.ContextBudget, c.AllowLoops = executor.Summary, 1000, true
	events := w.execute(c, makePlan(stepSpec{}, stepSpec{conditional: true}, stepSpec{}))
	if got := tell(events[len(events)-1:]); !strings.HasPrefix(got, "completed 5 steps") {
		t.Fatalf("%s", tell(events))
	}
	want := "Results:\nTask 1: s0\nvalue: 1\n\nTask 2: s1\nnext_step: 0\nreason: again"
	if got := contextOf(w, "plan/0/step/0/visit/1/move/0"); got != want {
		t.Errorf("the second visit is told %q, want %q", got, want)
	}
}

func TestContextBudgetIsChecked(t *testing.T) {
	c := config()
	c.Context, c.ContextBudget = executor.Summary, 10
	got := tell(newWorld(t, nil).execute(c, makePlan(stepSpec{})))
	if !strings.HasPrefix(got, "task failed at 0: outline: the context budget is 10 tokens") {
		t.Errorf("Process() = %s, want that the budget is too small", got)
	}
}
