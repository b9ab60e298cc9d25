package outline

import (
	"fmt"
	"strings"
	"testing"
)

// fallBack has a compactor summarise whatever it wants to, by its own means.
func fallBack(c *Compactor) (requests int) {
	for c.Request() != nil {
		requests++
		c.Fallback()
	}
	return requests
}

// Details go first: every result stays as it is as long as all of them fit.
func TestResultsAreKeptWhole(t *testing.T) {
	c := newCompactor(t, 1200)
	value := func(task int) string { return fmt.Sprintf("count: %d\nfiles:\n  - a/%d.go\n  - b.go", task*7, task) }
	requests := 0
	for task := 1; task <= 30; task++ {
		c.Add(task, "Count", value(task), filler(500))
		requests += fallBack(c)
		got := c.Context() + "\n"
		for before := 1; before <= task; before++ {
			if want := fmt.Sprintf("Task %d: Count\n%s\n", before, value(before)); !strings.Contains(got, want) {
				t.Fatalf("after task %d the context has no %q: %q", task, want, got)
			}
		}
		if n := EstimateTokens(got); n > 1200*3/4 || n < c.Size()-leftOutTokens || n > c.Size()+titleTokens {
			t.Fatalf("after task %d the context has %d tokens, counted %d, want at most %d", task, n, c.Size(), 1200*3/4)
		}
	}
	if requests < 5 || !strings.HasPrefix(c.Context(), "Summary of tasks 1 to ") {
		t.Errorf("%d requests, and the context is %q, want a summary that says which tasks it is about", requests, c.Context())
	}
	// Only what does not fit at all is left out, and named.
	for task := 31; task <= 60; task++ {
		c.Add(task, "Count", value(task), "")
		fallBack(c)
	}
	got := c.Context() + "\n"
	if !strings.Contains(got, value(60)+"\n") || strings.Contains(got, value(1)+"\n") || !strings.Contains(got, "Left out for lack of room: the results of tasks 1 to ") {
		t.Errorf("Context() = %q, want the latest results, and the others named", got)
	}
	if n := EstimateTokens(got); n > 1200*3/4 {
		t.Errorf("the context has %d tokens, want at most %d", n, 1200*3/4)
	}
}

// What the last task found out is there as a whole or not at all.
func TestNewestIsNotCut(t *testing.T) {
	whole, none := 0, 0
	for size := 50; size < 6000; size += 37 {
		c := newCompactor(t, 1200)
		c.Add(1, "First", "1", filler(900))
		c.Add(2, "Second", "2", filler(900))
		fallBack(c)
		var lines []string
		for i := 0; len(strings.Join(lines, "\n")) < size; i++ {
			lines = append(lines, fmt.Sprintf("row %d is as it should be and so on", i))
		}
		c.Add(3, "Third", "3", strings.Join(lines, "\n"))
		fallBack(c)
		_, results, _ := strings.Cut(c.Context(), resultsTitle)
		found := 0
		for _, line := range lines {
			if strings.Contains(results+"\n", line+"\n") {
				found++
			}
		}
		switch found {
		case 0:
			none++
		case len(lines):
			whole++
		default:
			t.Fatalf("of %d lines of the last task %d are there: %q", len(lines), found, results)
		}
		if !strings.Contains(c.Context()+"\n", "Task 3: Third\n3\n") {
			t.Fatalf("the last result is not there: %q", c.Context())
		}
	}
	if whole < 20 || none < 20 {
		t.Errorf("%d times whole and %d times not, want both", whole, none)
	}
}

// A result that fits into no context is summarised, and named.
func TestResultThatDoesNotFit(t *testing.T) {
	c := newCompactor(t, MinBudget)
	c.Expect(3, "Use KEY-77.")
	c.Add(1, "Small", "KEY-1", "")
	c.Add(2, "Large", strings.Repeat("It is KEY-77 and no other key. ", 60), "")
	fallBack(c)
	got := c.Context() + "\n"
	for _, want := range []string{"Task 1: Small\nKEY-1\n", "KEY-77", "Left out for lack of room: the results of task 2 word for word."} {
		if !strings.Contains(got, want) {
			t.Errorf("Context() = %q, want %q in it", got, want)
		}
	}
	if n := EstimateTokens(got); n > MinBudget*3/4 {
		t.Errorf("the context has %d tokens, want at most %d", n, MinBudget*3/4)
	}
}

// Garbage is no summary.
func TestGarbageIsRejected(t *testing.T) {
	r := &SummaryRequest{Text: "The login page is ready. The session lasts an hour. The tests of the server passed twice.", MaxTokens: 200}
	for summary, good := range map[string]bool{
		"The login page is ready, and a session lasts an hour.": true,
		"Login done. Sessions: one hour. Server tests passed.":  true,
		"asdf":                              false,
		"OK":                                true, // too short to tell, and harmless
		"lorem ipsum dolor sit amet tempor": false,
		"Let me know if you need anything else from the login page.":                                false,
		"I'm sorry, but I can't help with that.":                                                    false,
		"Sure! Here is the summary of the login page.":                                              false,
		"<function_calls> The login page is ready.":                                                 false,
		strings.Repeat("The login page is ready and so is the session. ", 6):                        false,
		"Photosynthesis converts sunlight into chemical energy within chloroplasts of green plants": false,
		"登录页面已完成。":                                                                                  true, // in which no words can be told
	} {
		if flag := r.Check(summary); (flag == nil) != good {
			t.Errorf("Check(%q) = %v, want that it is good: %t", summary, flag, good)
		}
	}
}

func TestTaskList(t *testing.T) {
	for want, tasks := range map[string][]int{
		"task 3": {3}, "tasks 1 to 2": {1, 2}, "tasks 1, 3 to 5 and 9": {1, 3, 4, 5, 9}, "tasks 1, 3, 5 and others up to 11": {1, 3, 5, 7, 9, 11},
	} {
		if got := taskList(tasks); got != want {
			t.Errorf("taskList(%v) = %q, want %q", tasks, got, want)
		}
	}
}
