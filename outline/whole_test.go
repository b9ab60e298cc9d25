package outline

import (
	"fmt"
	"slices"
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
		if n := EstimateTokens(got); n > 1200 {
			t.Fatalf("after task %d the context has %d tokens, want at most %d", task, n, 1200)
		}
	}
	if requests < 5 || !strings.HasPrefix(c.Context(), "Summary of tasks 1 to ") {
		t.Errorf("%d requests, and the context is %q, want a summary that says which tasks it is about", requests, c.Context())
	}
	// Only what does not fit at all is left out, and named.
	for task := 31; task <= 90; task++ {
		c.Add(task, "Count", value(task), "")
		fallBack(c)
	}
	got := c.Context() + "\n"
	if !strings.Contains(got, value(90)+"\n") || strings.Contains(got, value(1)+"\n") || !strings.Contains(got, "Left out for lack of room: the results of tasks 1 to ") {
		t.Errorf("Context() = %q, want the latest results, and the others named", got)
	}
	if n := EstimateTokens(got); n > 1200 {
		t.Errorf("the context has %d tokens, want at most %d", n, 1200)
	}
}

// As long as it fits into the budget at all, a result is there, whatever becomes of details
// and summaries: only as many of the oldest go as must, and exactly those are named. Nothing
// is summarised while everything fits.
func TestOnlyTheOldestResultsGo(t *testing.T) {
	for _, test := range []struct{ budget, length, details, tasks int }{
		{4000, 750, 1700, 12}, {4000, 750, 1700, 30}, {4000, 20, 1700, 60}, {MinBudget, 300, 500, 6}, {MinBudget, 300, 0, 9}, {MinBudget, 10, 900, 40}, {1200, 2000, 100, 8}, {1000, 1900, 3000, 5},
	} {
		c := newCompactor(t, test.budget)
		results := make([]string, test.tasks+1)
		for task := 1; task <= test.tasks; task++ {
			results[task] = fmt.Sprintf("Task %d: Make widget %d\nRES-%d-%s\n\n", task, task, task, strings.Repeat("v", test.length+task%3*test.length/4))
			_, result, _ := strings.Cut(strings.TrimSpace(results[task]), "\n")
			c.Add(task, fmt.Sprintf("Make widget %d", task), result, filler(test.details))
			fits := c.Size() <= test.budget
			if requests := fallBack(c); fits && requests > 0 {
				t.Fatalf("%+v: after task %d: %d requests, though everything fits", test, task, requests)
			}
			got := c.Context()
			first := task // the first result that fits together with those after it
			for ; first > 1; first-- {
				named := ""
				if first > 2 {
					named = leftOut(upTo(first-2), nil)
				}
				if EstimateTokens(strings.TrimSpace(resultsTitle+strings.Join(results[first-1:task+1], "")+named)) > test.budget {
					break
				}
			}
			for before := 1; before <= task; before++ {
				if has := strings.Contains(got+"\n\n", strings.TrimSpace(results[before])+"\n"); has != (before >= first) {
					t.Fatalf("%+v: after task %d the result of task %d is there: %t, want those from %d on: %q", test, task, before, has, first, got)
				}
			}
			if n := EstimateTokens(got); n > test.budget {
				t.Fatalf("%+v: after task %d the context has %d tokens", test, task, n)
			}
			var left []int // in no form
			for before := 1; before < first; before++ {
				if _, result, _ := strings.Cut(strings.TrimSpace(results[before]), "\n"); !strings.Contains(got+"\n", result+"\n") {
					left = append(left, before)
				}
			}
			without, _, _ := strings.Cut(got, "Left out for lack of room")
			want := strings.TrimSpace(without + leftOut(left, nil))
			if all := strings.TrimSpace(without + leftOut(left, c.gone)); EstimateTokens(all) <= test.budget {
				want = all
			}
			if got != want {
				t.Fatalf("%+v: after task %d: %q, want %q", test, task, got, want)
			}
			for before := 1; before <= task && test.details > 0; before++ { // details are there, summarised, or named
				if !slices.Contains(c.gone, before) && before < c.summary.first {
					t.Fatalf("%+v: after task %d nothing is said of the details of task %d: %q", test, task, before, got)
				}
			}
		}
	}
}

// What a later task mentions is there when it comes, however many results there are by
// then.
func TestResultsLeaveRoomForWhatIsNeeded(t *testing.T) {
	const budget, tasks, keys = 1200, 300, 5
	c := newCompactor(t, budget)
	key := func(i int) string { return fmt.Sprintf("VAULT-%d", 100+i) }
	for i := 1; i <= keys; i++ {
		c.Expect(tasks+i, "Open "+key(i)+".")
	}
	for task := 1; task <= tasks; task++ {
		details := strings.Repeat("Nothing of note was seen. ", 8)
		if task <= keys {
			details = "The door is " + key(task) + ". " + details
		}
		c.Add(task, "Count", fmt.Sprintf("count: %d", task), details)
		fallBack(c)
		if n := c.Size(); n > budget {
			t.Fatalf("after task %d the context has %d tokens, want at most %d", task, n, budget)
		}
	}
	got := c.Context()
	for i := 1; i <= keys; i++ {
		if !strings.Contains(got, "The door is "+key(i)) {
			t.Errorf("Context() = %q, want %s in it", got, key(i))
		}
	}
	if !strings.Contains(got, "count: 300") || !strings.Contains(got, "count: 270\n") {
		t.Errorf("Context() = %q, want the latest results in it", got)
	}
}

func upTo(n int) (tasks []int) {
	for task := 1; task <= n; task++ {
		tasks = append(tasks, task)
	}
	return tasks
}

// A result that the summary quotes is not named as left out, for as long as it is quoted.
func TestQuotedResultIsNotLeftOut(t *testing.T) {
	c := newCompactor(t, MinBudget)
	c.Add(1, "Count", "KEY-42", "")
	c.Add(2, "List", strings.Repeat("w", 800), "")
	c.Add(3, "List", strings.Repeat("x", 800), "")
	fallBack(c)
	if got := c.Context(); !strings.Contains(got, "- Task 1: KEY-42\n") || !strings.HasSuffix(got, "the results of task 2 word for word.") {
		t.Errorf("Context() = %q, want the result of task 1 in the summary, and only that of task 2 left out", got)
	}
	c.Add(4, "List", strings.Repeat("y", 1030), "")
	fallBack(c)
	if got := c.Context(); strings.Contains(got, "KEY-42") || !strings.HasSuffix(got, "the results of tasks 1 to 3 word for word; all else about tasks 1 to 3.") {
		t.Errorf("Context() = %q, want the results of tasks 1 to 3 left out", got)
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
	if n := EstimateTokens(got); n > MinBudget {
		t.Errorf("the context has %d tokens, want at most %d", n, MinBudget)
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
		"task 3": {3}, "tasks 1 to 2": {1, 2}, "tasks 1, 3 to 5 and 9": {1, 3, 4, 5, 9}, "tasks 1, 3, 5, 7, 9, 11, 13, 15 and others up to 19": {1, 3, 5, 7, 9, 11, 13, 15, 17, 19},
	} {
		if got := taskList(tasks); got != want {
			t.Errorf("taskList(%v) = %q, want %q", tasks, got, want)
		}
	}
}

// Details that are kept in several parts are one text, in a context and in a request.
func TestNoHeadingInTheMiddle(t *testing.T) {
	details := strings.TrimSpace(filler(700))
	c := newCompactor(t, MinBudget)
	c.Add(1, "Write", "KEY-1", details)
	if got := c.Context(); len(c.notes) < 3 || !strings.HasSuffix(got, "Task 1: Write\nKEY-1\n\n"+details) {
		t.Errorf("Context() of %d notes = %q, want the details as they are", len(c.notes), got)
	}
	c.Add(2, "Write", "KEY-2", details)
	if r := c.Request(); r == nil || !strings.Contains(r.Text, "Task 1, details:\n"+details) {
		t.Errorf("Request() = %+v, want the details as they are", r)
	}
}
