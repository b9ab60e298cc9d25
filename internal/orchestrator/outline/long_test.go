package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/outline"
)

// TestBudgetOfPrompts runs many tasks with long results: no prompt is longer than
// its own text and the budget, and the identifiers of early results are there when a
// late task needs them.
func TestBudgetOfPrompts(t *testing.T) {
	const tasks, budget = 120, 1000
	var text strings.Builder
	for i := 1; i <= tasks; i++ {
		fmt.Fprintf(&text, "- Report part %d.\n", i)
		if i%20 == 0 {
			fmt.Fprintf(&text, "- Compare KEY-%d with the rest.\n", i-15)
		}
	}
	longest, compared := 0, 0
	o := newOffice(t, func(prompt string, _, _ int) model.Response {
		longest = max(longest, outline.EstimateTokens(prompt))
		before, task, isTask := strings.Cut(prompt, "# Task\n\n")
		if !isTask {
			_, must, _ := strings.Cut(prompt, "spelt exactly like this:\n")
			must, _, _ = strings.Cut(must, "\n\n")
			return says("So far there are " + strings.ReplaceAll(must, "\n- ", ", ") + " and others.")
		}
		var key string
		if n, _ := fmt.Sscanf(task, "Compare %s with", &key); n == 1 {
			if !strings.Contains(before, key) {
				t.Errorf("%s is not in the context of the task that mentions it:\n%s", key, before)
			}
			compared++
			return says("result: the same")
		}
		var part int
		if _, err := fmt.Sscanf(task, "Report part %d", &part); err != nil {
			t.Errorf("the task %q: %v", task, err)
		}
		return says(fmt.Sprintf("result: KEY-%d\ndetails: |\n  %s", part, strings.Repeat("Nothing of note was seen in this part of it. ", 45)))
	})
	c := officeConfig()
	c.Rule, c.Planner.ContextBudget = one, budget
	if err := o.session(text.String(), c, nil); err != nil {
		t.Fatal(err)
	}
	if want := tasks / 20; compared != want {
		t.Errorf("%d tasks compared, want %d", compared, want)
	}
	if most := budget + 400; longest > most || longest < budget/2 {
		t.Errorf("the longest prompt has %d tokens, want at most %d and not much less", longest, most)
	}
	story := o.story()
	for i := range tasks {
		if i < 20 && story[fmt.Sprintf("done %d: KEY-%d\n\n%s", i, i+1, strings.TrimSpace(strings.Repeat("Nothing of note was seen in this part of it. ", 45)))] != 1 {
			t.Errorf("task %d is not completed once", i+1)
		}
	}
}
