package outline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/text/tasks"
)

// things are identifiers of every kind.
var things = []string{
	"Heliotrope", "Ada Lovelace", "ORD-48213", "billing-api", "getUserName", "8443", "99.5%", "42", "/srv/app/config.yml", "src/main.go",
	"https://a.b/c?d=e", "`make test`", "\"so be it\"", "2024-01-02", "v1.2.3", "ops@example.com", "#77", "$12.50", "MAX_SIZE", "node.js", "Zürich",
}

// sentence makes one that mentions some things.
func sentence(rng *rand.Rand) string {
	words := strings.Fields("the work went well and it was as good as before so we went on with more of that")
	for range 1 + rng.IntN(3) {
		i := rng.IntN(len(words))
		words[i] = things[rng.IntN(len(things))]
	}
	if rng.IntN(4) == 0 {
		words[0] = fmt.Sprintf("X-%d", rng.IntN(30))
	}
	text := strings.Join(words[:3+rng.IntN(len(words)-3)], " ")
	return text + []string{". ", "! ", "\n", ", ", ": ", ".\n\n"}[rng.IntN(6)]
}

func paragraphOf(rng *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(sentence(rng))
	}
	return b.String()
}

// longRun plays a run of random results and tasks and holds the compactor to its
// promises: whatever a task mentions and an earlier result named is in the
// task's context, and the budget is kept.
func longRun(t *testing.T, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	budget := 8*MinBudget + rng.IntN(1500) // so that a summary can hold all things
	c := newCompactor(t, budget)
	texts := make([]string, 1+rng.IntN(60))
	for i := range texts {
		texts[i] = paragraphOf(rng, 1+rng.IntN(60))
		c.Expect(i+1, texts[i])
	}
	named := map[string]bool{}
	whole := map[int]string{} // results
	for i, text := range texts {
		task := i + 1
		got := c.Context()
		if n := EstimateTokens(got); n > budget {
			t.Fatalf("seed %d: task %d: the context has %d tokens, want at most %d", seed, task, n, budget)
		}
		for of, result := range whole {
			if left := slices.Contains(c.results, of); !left && !strings.Contains(got+"\n", result+"\n") || left && (of == i || !strings.Contains(got, "Left out for lack of room: the results of task")) {
				t.Fatalf("seed %d: task %d: the result of task %d, left out: %t, want it whole or named: %q", seed, task, of, left, got)
			}
		}
		have := tasks.IndexOf(got)
		for word := range tasks.Words(text) {
			if named[strings.ToLower(word)] && !have.Has(word, false) {
				t.Fatalf("seed %d: task %d mentions %q, which was named before, but its context does not: %q", seed, task, word, got)
			}
		}
		if rng.IntN(10) == 0 {
			continue // it failed
		}
		if rng.IntN(8) == 0 {
			c.Decided(task, Answer{Question: sentence(rng), Answer: sentence(rng), By: "user"})
		}
		result := paragraphOf(rng, 1+rng.IntN(1500))
		for word, kind := range tasks.Words(result) {
			if kind != "" {
				named[strings.ToLower(word)] = true
			}
		}
		value := ""
		if rng.IntN(3) > 0 {
			value = paragraphOf(rng, 1+rng.IntN(200))
			whole[task] = strings.TrimSpace(value)
			for word, kind := range tasks.Words(value) {
				if kind != "" {
					named[strings.ToLower(word)] = true
				}
			}
		}
		c.Add(task, text, value, result)
		compactAll(t, c, func(r *SummaryRequest) string {
			switch rng.IntN(4) {
			case 0:
				return "All went well."
			case 1:
				return names(r) + " /invented/path.txt"
			default:
				return "The work went well with " + names(r)
			}
		})
	}
}

func TestAnyRun(t *testing.T) {
	for seed := range uint64(25) {
		longRun(t, seed)
	}
}

func FuzzCompactor(f *testing.F) {
	f.Add(uint64(7))
	f.Fuzz(longRun)
}

// FuzzResults adds any text as a result. Nothing of it is lost before it is
// summarised, and the budget is kept.
func FuzzResults(f *testing.F) {
	f.Add(fuzzOutline, fuzzOutline)
	f.Add("# H\n\nSee [x](a.txt), \"so be it\" and `make`:\n\n```sh\nmake ORD-7\n```\n", "Look at a.txt. Then run `make`.")
	f.Add(strings.Repeat("界", 3000), "x")
	f.Add(strings.Repeat("a", 5000)+"\xff ORD-1", "ORD-1 in /srv/a.txt")
	f.Fuzz(func(t *testing.T, result, later string) {
		c := newCompactor(t, MinBudget)
		c.Expect(2, later)
		c.Add(1, result, "", result)
		var whole strings.Builder
		for _, n := range c.notes {
			_, text, _ := strings.Cut(n.text, "\n")
			whole.WriteString(strings.TrimSuffix(text, "\n\n"))
			if n.tokens > c.maxNote() {
				t.Errorf("Add(%q): a note has %d tokens, want at most %d", result, n.tokens, c.maxNote())
			}
		}
		if want := strings.TrimSpace(valid(result)); want != "" && whole.String() != want {
			t.Errorf("Add(%q) keeps %q", result, whole.String())
		}
		compactAll(t, c, nil)
		if n := EstimateTokens(c.Context()); n > MinBudget {
			t.Errorf("Add(%q): Context() has %d tokens, want at most %d", result, n, MinBudget)
		}
	})
}
