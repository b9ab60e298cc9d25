package outline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// retained is how many bytes a compactor keeps of what was added.
func (c *Compactor) retained() int {
	n := len(c.summary.text)
	for _, note := range c.notes {
		n += len(note.text)
	}
	return n
}

// TestLongRun: 2,000 tasks with results of 2 KB. The context stays within its
// budget, memory flat, the work linear, and what early results named is there
// when a late task asks for it.
func TestLongRun(t *testing.T) {
	const (
		budget = 4000
		every  = 50 // tasks whose result names something that is needed later
	)
	named := func(task int) string { return fmt.Sprintf("Process record R%04d.", task) }
	listing := func(r *SummaryRequest) string {
		return "The tasks went well. Still needed: " + names(r) + "."
	}
	forgetful := func(r *SummaryRequest) string { return "The tasks went well." }
	for _, test := range []struct {
		name      string
		summarise func(*SummaryRequest) string
		tasks     int
	}{
		{"good summaries", listing, 2000},
		{"no summaries", nil, 600},
		{"forgetful summaries", forgetful, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			tasks, later := test.tasks, test.tasks*9/20
			c := newCompactor(t, budget)
			asked := 0 // bytes of all requests
			summarise := test.summarise
			count := func(r *SummaryRequest) string {
				asked += len(r.Text)
				if summarise == nil {
					return ""
				}
				return summarise(r)
			}
			text := func(task int) string {
				if planted := task - later; planted > 0 && planted%every == 0 {
					return fmt.Sprintf("Use the token of VAULT-%04d.", planted)
				}
				return named(task)
			}
			for task := 1; task <= tasks; task++ {
				c.Expect(task, text(task))
			}
			rng := rand.New(rand.NewPCG(3, 4))
			requests, most := 0, 0
			var half, quarter int
			for task := 1; task <= tasks; task++ {
				got := c.Context()
				if n := EstimateTokens(got); n > budget {
					t.Fatalf("task %d: the context has %d tokens, want at most %d", task, n, budget)
				}
				if planted := task - later; planted > 0 && planted%every == 0 {
					if want := fmt.Sprintf("VAULT-%04d", planted); !strings.Contains(got, want) {
						t.Errorf("task %d: the context does not have %s: %q", task, want, got)
					}
					if want := fmt.Sprintf("VAULT-%04d has the token t%dx.", planted, planted*7); test.summarise == nil && !strings.Contains(got, want) {
						t.Errorf("task %d: the context does not have %q: %q", task, want, got)
					}
				}
				result := noise(rng, 2000)
				if task%every == 0 {
					result = fmt.Sprintf("%s The box VAULT-%04d has the token t%dx. %s", result[:1000], task, task*7, result[1000:])
				}
				c.Add(task, text(task), "", result)
				requests += compactAll(t, c, count)
				most = max(most, c.retained())
				switch task {
				case tasks / 4:
					quarter = asked
				case tasks / 2:
					half = asked
				}
			}
			first, second := half-quarter, (asked-half)/2
			t.Logf("%d requests of %d bytes; second half to second quarter, a task each: %.2f; at most %d bytes kept", requests, asked, float64(second)/float64(first), most)
			if second > first*5/4 {
				t.Errorf("the second half asks for summaries of %d bytes, the quarter before it %d: not linear", second, first)
			}
			if asked > 3*tasks*2000 {
				t.Errorf("summaries of %d bytes were asked for, of %d bytes of results", asked, tasks*2000)
			}
			if requests > tasks/2 {
				t.Errorf("%d requests for %d tasks, want a batch at a time", requests, tasks)
			}
			if most > 6*budget {
				t.Errorf("%d bytes were kept, want at most %d", most, 6*budget)
			}
		})
	}
}

// noise is n bytes of prose with identifiers in it that nobody needs.
func noise(rng *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch rng.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "The file src/part%d.go has %d lines. ", rng.IntN(5000), 10+rng.IntN(900))
		case 1:
			fmt.Fprintf(&b, "We saw Error%d in Module%d.\n", rng.IntN(100), rng.IntN(100))
		default:
			b.WriteString("It went well and all of it was as it should be. ")
		}
	}
	return b.String()[:n]
}
