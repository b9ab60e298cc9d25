package sim

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/model"
)

// The tests of the parts that models play in maker solve render their prompts with the
// real templates: if one of those changes so that the simulator does not understand it
// any more, a test here fails.

// templates parses them once.
var templates = sync.OnceValue(prompts.Default)

func render(t testing.TB, d prompts.Data) string {
	t.Helper()
	text, err := templates().Render(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// reply is the answer of a model to a prompt.
func reply(t testing.TB, m *Model, d prompts.Data) *model.Response {
	t.Helper()
	return m.Answer(ask(render(t, d)))
}

// fieldsOf reads an answer that is a YAML mapping; nil if it is none.
func fieldsOf(text string) map[string]json.RawMessage {
	read, err := yamlclean.Read(text)
	if err != nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(read.Data, &fields) != nil {
		return nil
	}
	return fields
}

// TestEveryPart asks every kind of question.
func TestEveryPart(t *testing.T) {
	part := prompts.SolvePart{Problem: "Compute: 1 + 1", Solution: "2"}
	data := []prompts.Data{
		prompts.SolveDecompose{Problem: "Compute: 1 + 1"}, prompts.SolvePick{Problem: "x", Options: []prompts.SolveOption{{Label: "A"}, {Label: "B"}}},
		prompts.SolveAtom{Problem: "Compute: 1 + 1"}, prompts.SolveCompose{Problem: "x", A: part, B: part},
		prompts.SolveAnswer{Problem: "x", A: part, B: part}, prompts.SolveCheck{Problem: "x", Answer: "y"},
	}
	asked := 1 // solve_input, which is a part of others
	for _, d := range data {
		framed, err := templates().Framings(d)
		if err != nil {
			t.Fatal(err)
		}
		asked += len(framed.Texts)
		for i, text := range framed.Texts {
			for _, name := range []string{"default?p=1", "default?p=1&overlong=1:30"} {
				r := newModel(t, name).Answer(ask(text))
				if fieldsOf(r.Text) == nil || fieldsOf(r.Text)["error"] != nil {
					t.Errorf("%s: framing %d of %s is answered with %q, want a mapping", name, i+1, d.Prompt(), r.Text)
				}
				if long := r.Usage.Output >= 30; name != "default?p=1" && !long {
					t.Errorf("%s: framing %d of %s is answered in %d tokens, want 30 at least", name, i+1, d.Prompt(), r.Usage.Output)
				}
			}
		}
	}
	names := slices.DeleteFunc(templates().Names(), func(name string) bool { return !strings.HasPrefix(name, "solve_") })
	if len(names) != asked {
		t.Errorf("%d templates are asked, want those of all of %q", asked, names)
	}
}

// TestPartRates checks for each part how often it is right and well-formed.
func TestPartRates(t *testing.T) {
	const n = 1000
	part := func(problem, solution string) prompts.SolvePart {
		return prompts.SolvePart{Problem: problem, Solution: solution}
	}
	for _, d := range []prompts.Data{
		prompts.SolveDecompose{Problem: "Compute: 12345 * 678"},
		prompts.SolveAtom{Problem: "Compute: 12345 * 7"},
		prompts.SolveCompose{Problem: "Compute: 10 * 34", Compose: "a + b", A: part("Compute: 10 * 30", "300"), B: part("Compute: 10 * 4", "40")},
		prompts.SolveAnswer{Problem: "Compute: 10 * 34", Compose: "a + b", A: part("Compute: 10 * 30", "300"), B: part("Compute: 10 * 4", "40")},
		prompts.SolveCheck{Problem: "Compute: 10 * 34", Answer: "340"},
	} {
		want := reply(t, newModel(t, "default?p=1"), d).Text
		m := newModel(t, "default?p=0.7&malformed=0.1&rivals=2&seed=3")
		req := ask(render(t, d))
		counts := map[string]int{}
		for range n {
			counts[m.Answer(req).Text]++
		}
		if !within(counts[want], n, 0.7*0.9) {
			t.Errorf("%s: %d of %d answers are right, want a share of 0.63", d.Prompt(), counts[want], n)
		}
		// Three malformed answers and two rivals, each as likely as its like. A check
		// has one rival only.
		rivals := 2
		if d.Prompt() == "solve_check" {
			rivals = 1
		}
		if len(counts) != 1+3+rivals {
			t.Errorf("%s: %d different answers, want %d: %v", d.Prompt(), len(counts), 1+3+rivals, counts)
		}
		delete(counts, want)
		for text, got := range counts {
			if !within(got, n, 0.1/3) && !within(got, n, 0.9*0.3/float64(rivals)) {
				t.Errorf("%s: %d of %d answers are %q, which is neither the share of a rival nor of a malformed answer", d.Prompt(), got, n, text)
			}
		}
	}
}
