package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newCompactor(t testing.TB, budget int) *Compactor {
	t.Helper()
	c, err := NewCompactor(budget)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// filler is prose of about n bytes without an identifier.
func filler(n int) string {
	return strings.Repeat("it went well and all of it was as it should be. ", n/48+1)[:n]
}

func TestResultsStayVerbatimWhileTheyFit(t *testing.T) {
	c := newCompactor(t, 2000)
	c.Add(1, "Add login", "", "Login is in src/login.go.\n\n  indented")
	c.Decided(2, Answer{Question: "Which port?", Answer: "8080", By: "Ada"})
	c.Add(2, "Add\nlogout", "", "")
	if r := c.Request(); r != nil {
		t.Errorf("Request() = %+v, want nil: everything fits", r)
	}
	want := `Decisions:
- Task 2: Which port? Decided by Ada: 8080
Results:
Task 1: Add login
Login is in src/login.go.

  indented

Task 2: Add logout
(no result)`
	if diff := cmp.Diff(want, c.Context()); diff != "" {
		t.Errorf("Context(): -want +got\n%s", diff)
	}
	if err := c.Accept("anything"); err == nil {
		t.Errorf("Accept() = nil, want an error: nothing was asked for")
	}
	before := c.Context()
	if c.Fallback(); c.Context() != before {
		t.Errorf("Fallback() changed the context to %q: nothing was asked for", c.Context())
	}
	if got := newCompactor(t, MinBudget).Context(); got != "" {
		t.Errorf("Context() of an empty compactor = %q, want none", got)
	}
}

// crowded returns a compactor that has to summarise. Task 1 found three things;
// later tasks mention two of them.
func crowded(t *testing.T) *Compactor {
	c := newCompactor(t, 1200)
	c.Expect(1, "Set up the server")
	c.Expect(7, "Restart heliotrope-9 on port 8443")
	c.Expect(8, "Tell lovelace")
	c.Add(1, "Set up the server", "", "The host is heliotrope-9 and listens on 8443. We asked Ada Lovelace about ORD-1. See /srv/app/config.yml and https://a.b/c.")
	for task := 2; task <= 6; task++ {
		c.Add(task, "Do more", "", filler(800))
	}
	return c
}

func TestRequest(t *testing.T) {
	c := crowded(t)
	r := c.Request()
	if r == nil {
		t.Fatal("Request() = nil, want one")
	}
	if q := c.request; q.first != 1 || q.last < 3 || q.last > 5 || !strings.HasPrefix(r.Text, "Task 1: Set up the server\nThe host is heliotrope-9") || strings.Contains(r.Text, "Task 6") {
		t.Errorf("Request() = %+v, want the oldest results", r)
	}
	if want := []Needed{{"heliotrope-9", false}, {"8443", true}, {"Lovelace", false}}; cmp.Diff(want, r.Must) != "" {
		t.Errorf("Request().Must = %v, want %v: what later tasks mention", r.Must, want)
	}
	if again := c.Request(); cmp.Diff(r, again) != "" {
		t.Errorf("Request() changed without a summary")
	}
	c.Add(7, "Late", "", "a result that comes while the summary is made")
	if again := c.Request(); cmp.Diff(r, again) != "" {
		t.Errorf("Request() changed when a result was added")
	}
	if err := c.Accept("The host heliotrope-9 listens on 8443; LOVELACE knows. See https://a.b/c."); err != nil {
		t.Fatal(err)
	}
	if r := c.Request(); r != nil {
		t.Errorf("Request() = %+v after a summary, want nil", r)
	}
	text := c.Context()
	if !strings.HasPrefix(text, "Summary of tasks 1 to 4:\nThe host heliotrope-9") || !strings.Contains(text, "while the summary is made") || EstimateTokens(text) > 1200 {
		t.Errorf("Context() = %q, want the summary and the latest results", text)
	}
}

func TestSummariesAreRejected(t *testing.T) {
	tests := []struct {
		name, summary string
		want          string // the reason has it
	}{
		{"drops a name", "Port 8443, Lovelace.", `drops "heliotrope-9"`},
		{"drops all", "All went well.", `drops "heliotrope-9"`},
		{"only a part of the number", "heliotrope-9 at 84431, Lovelace", `drops "8443"`},
		{"only a part of the name", "heliotrope-91 at 8443, Lovelace", `drops "heliotrope-9"`},
		{"a decimal", "heliotrope-9 at 8443.5, Lovelace", `drops "8443"`},
		{"empty", " \n", "is empty"},
		{"too long", "heliotrope-9 8443 Lovelace " + filler(900), "has 309 tokens, want at most 281"},
		{"makes up an address", "heliotrope-9 at 8443, Lovelace, https://a.b/d", `"https://a.b/d", which is not in the text`},
		{"makes up a path", "heliotrope-9 at 8443, Lovelace, /etc/app/config.yml", `"/etc/app/config.yml", which is not in the text`},
	}
	for _, test := range tests {
		c := crowded(t)
		r := c.Request()
		if err := c.Accept(test.summary); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Accept(%q) = %v, want an error with %q", test.name, test.summary, err, test.want)
		}
		if again := c.Request(); cmp.Diff(r, again) != "" {
			t.Errorf("%s: a rejected summary changed the request", test.name)
		}
	}
}

// names are what a summary has to have.
func names(r *SummaryRequest) string {
	var out []string
	for _, m := range r.Must {
		out = append(out, m.Text)
	}
	return strings.Join(out, ", ")
}

func TestFallback(t *testing.T) {
	c := crowded(t)
	r := c.Request()
	c.Fallback()
	text := c.Context()
	for _, want := range []string{"- Task 1: The host is heliotrope-9 and listens on 8443.", "We asked Ada Lovelace about ORD-1.", "/srv/app/config.yml"} {
		if !strings.Contains(text, want) {
			t.Errorf("Context() after Fallback() = %q, want %q in it", text, want)
		}
	}
	if n := EstimateTokens(strings.TrimSpace(c.summary.text)); n > r.MaxTokens {
		t.Errorf("the fallback has %d tokens, want at most %d", n, r.MaxTokens)
	}

	// What finds no room for its sentence is named.
	c = newCompactor(t, MinBudget)
	c.Expect(9, "Look at ZEBRA-1 and ZEBRA-2")
	c.Add(1, "x", "", strings.Repeat("word ", 50)+"ZEBRA-1 "+strings.Repeat("word ", 50)+"ZEBRA-2")
	c.Add(2, "x", "", filler(300))
	c.Add(3, "x", "", filler(300))
	c.Add(4, "x", "", filler(300))
	for c.Request() != nil {
		c.Fallback()
	}
	if text := c.Context(); !strings.Contains(text, "ZEBRA-1") || !strings.Contains(text, "ZEBRA-2") {
		t.Errorf("Context() = %q, want both identifiers", text)
	}

	// Nothing to name.
	c = newCompactor(t, MinBudget)
	for task := 1; task < 5; task++ {
		c.Add(task, "x", "", filler(300))
	}
	if c.Request() == nil {
		t.Fatal("Request() = nil, want one")
	}
	c.Fallback()
	if text := c.Context(); !strings.HasPrefix(text, "Summary of tasks 1 to 2:\nDone: tasks 1 to ") {
		t.Errorf("Context() = %q, want a word about the tasks", text)
	}
}

// TestSummaryKeepsItsMarks: a name that the first summary carried at the start of
// a sentence, where it looks like any word, is not lost in the second.
func TestSummaryKeepsItsMarks(t *testing.T) {
	c := newCompactor(t, MinBudget)
	c.Expect(90, "Call heliotrope")
	c.Add(1, "x", "", "The host is called Heliotrope by all.")
	for task := 2; task < 20; task++ {
		c.Add(task, "x", "", filler(300))
		for r := c.Request(); r != nil; r = c.Request() {
			if len(r.Must) != 1 || !strings.EqualFold(r.Must[0].Text, "heliotrope") {
				t.Fatalf("task %d: Request().Must = %v, want the host", task, r.Must)
			}
			if err := c.Accept("Heliotrope is a host."); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestManyNeeds: of more things than a summary can hold it has to have those that are
// needed first.
func TestManyNeeds(t *testing.T) {
	const records = 400
	c := newCompactor(t, 1000)
	var list strings.Builder
	for n := range records {
		fmt.Fprintf(&list, "REC-%04d lives at /data/%04d.csv\n", n, n)
		c.Expect(records+1-n, fmt.Sprintf("Process REC-%04d", n)) // the last comes first
	}
	c.Add(1, "List the records", "", list.String())
	for r := c.Request(); r != nil; r = c.Request() {
		if n := len(r.Must); n > maxMust || EstimateTokens(names(r)) > r.MaxTokens/2 {
			t.Fatalf("Request().Must has %d names, more than a summary can hold", n)
		}
		c.Fallback()
	}
	if text := c.Context(); !strings.Contains(text, "REC-0399") || EstimateTokens(text) > 1000 {
		t.Errorf("Context() has %d tokens, want at most 1000 and what is needed first: %q", EstimateTokens(text), text)
	}
}

func TestDecisionsStay(t *testing.T) {
	c := newCompactor(t, 1200)
	c.Decided(1, Answer{Question: "Which colour?", Answer: "blue", By: "user"})
	for task := 1; task < 50; task++ {
		c.Add(task, "x", "", filler(400))
		compactAll(t, c, nil)
	}
	if text := c.Context(); !strings.Contains(text, "- Task 1: Which colour? Decided by user: blue") {
		t.Errorf("Context() = %q, want the decision", text)
	}
	// Too many of them are summarised like the rest, the oldest first.
	for task := 50; task < 200; task++ {
		c.Decided(task, Answer{Question: "Which one?", Answer: fmt.Sprintf("number %d", task), By: "user"})
		compactAll(t, c, nil)
	}
	text := c.Context()
	if !strings.Contains(text, "Decided by user: number 199") || EstimateTokens(text) > 1200 {
		t.Errorf("Context() = %q, want the latest decisions within the budget", text)
	}
	// A very long one is a result.
	c.Decided(200, Answer{Question: "What?", Answer: filler(3000), By: "user"})
	compactAll(t, c, nil)
	if n := EstimateTokens(c.Context()); n > 1200 {
		t.Errorf("Context() has %d tokens, want at most 1200", n)
	}
}

// compactAll answers all requests: by summarise, or by the fallback if it is nil
// or its summary is rejected.
func compactAll(t testing.TB, c *Compactor, summarise func(*SummaryRequest) string) (requests int) {
	t.Helper()
	for r := c.Request(); r != nil; r = c.Request() {
		if requests++; requests > 1000 {
			t.Fatal("the requests do not come to an end")
		}
		if n := EstimateTokens(r.Text); n > c.budget {
			t.Fatalf("a request has %d tokens, want at most %d", n, c.budget)
		}
		if summarise != nil {
			if err := c.Accept(summarise(r)); err == nil {
				continue
			}
		}
		c.Fallback()
		for _, name := range r.Must {
			if !strings.Contains(strings.ToLower(c.summary.text), strings.ToLower(name.Text)) {
				t.Fatalf("the fallback drops %q: %q", name.Text, c.summary.text)
			}
		}
		if n := EstimateTokens(strings.TrimSpace(c.summary.text)); n > r.MaxTokens {
			t.Fatalf("the fallback has %d tokens, want at most %d", n, r.MaxTokens)
		}
	}
	return requests
}

func TestBudgets(t *testing.T) {
	if _, err := NewCompactor(MinBudget - 1); err == nil || !strings.Contains(err.Error(), "399") {
		t.Errorf("NewCompactor(%d) = %v, want an error that names the budget", MinBudget-1, err)
	}
}
