package sim

import (
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
)

// lastLine is where the answers to these tasks are.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

func TestArithmetic(t *testing.T) {
	m := newModel(t, "default?p=1")
	for _, test := range []struct{ prompt, want string }{
		{"Compute: 123 * 45 + 6", "answer = 5541"},
		{"What is 17 + 25?", "answer = 42"},
		{"Please help.\n  Compute: 2 * (3 + 4) - -1\nThank you.", "answer = 15"},
		{"Compute: 99999999999999999999 * 99999999999999999999", "answer = 9999999999999999999800000000000000000001"},
		{"Compute: 84 / 2", "answer = 42"},
		{"Compute: 1 / 3 + 1 / 6", "answer = 1/2"},
		{"What is 12 × 13 − 6 ÷ 2?", "answer = 153"},
		{"What is 7 =", "answer = 7"},
		{"Compute: 1 + 1\nCompute: 2 + 2", "answer = 4"},
		{"Compute: 1 + 1\nWhat is the result?", "answer = 2"},
		{"Compute: 1 / (2 - 2)", "This divides by zero, so there is no result."},
	} {
		r, err := m.Generate(t.Context(), ask(test.prompt))
		if err != nil {
			t.Fatal(err)
		}
		if got := lastLine(r.Text); got != test.want {
			t.Errorf("Generate(%q) ends with %q, want %q", test.prompt, got, test.want)
		}
	}
	for _, prompt := range []string{"", "Compute: 1 +", "Compute: (1", "Compute: 1)", "Compute: 1 2", "Compute: two", "Compute: 1 / 0 +",
		"Compute: " + strings.Repeat("(", 5000), "Compute: " + strings.Repeat("9", 10_001), "Sort: 1, 2", "Sort: [a]", "Sort: [1,]",
		"What is love?", "Say hello", "current state: [[1], [], []]"} {
		r, err := m.Generate(t.Context(), ask(prompt))
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != noScript || r.Stop != model.StopRefusal {
			t.Errorf("Generate(%.40q) = %q, stop %s, want %q as a refusal", prompt, r.Text, r.Stop, noScript)
		}
	}
}

func TestArithmeticRivals(t *testing.T) {
	const rivals = 12
	m := newModel(t, "default?p=0&rivals=12")
	for _, prompt := range []string{"Compute: 3 - 3", "Compute: 123 * 45", "Compute: 1 / 3", "What is 5 - 1000?"} {
		want := newModel(t, "default?p=1").Answer(ask(prompt)).Text
		got := map[string]bool{}
		for range 300 {
			text := lastLine(m.Answer(ask(prompt)).Text)
			if _, ok := new(big.Rat).SetString(strings.TrimPrefix(text, "answer = ")); !ok {
				t.Errorf("%s: wrong answer %q is not a number", prompt, text)
			}
			got[text] = true
		}
		if len(got) != rivals || got[lastLine(want)] {
			t.Errorf("%s: wrong answers %v, want %d without %q", prompt, got, rivals, want)
		}
	}
}

func TestSorting(t *testing.T) {
	m := newModel(t, "default?p=1")
	for _, test := range []struct{ prompt, want string }{
		{"Sort: [3, 1, 2]", "answer = [1, 2, 3]"},
		{"Sort: [5,-1, 5 ,0].", "answer = [-1, 0, 5, 5]"},
		{"Sort: []", "answer = []"},
	} {
		if got := lastLine(m.Answer(ask(test.prompt)).Text); got != test.want {
			t.Errorf("Answer(%q) ends with %q, want %q", test.prompt, got, test.want)
		}
	}
	for _, test := range []struct {
		prompt string
		rivals int // how many are possible
	}{{"Sort: [3, 1, 2]", 8}, {"Sort: [4, 4, 4]", 2}, {"Sort: [2, 1, 1]", 5}, {"Sort: [7]", 2}} {
		right := lastLine(m.Answer(ask(test.prompt)).Text)
		erring := newModel(t, "default?p=0&rivals=40")
		got := map[string]bool{}
		for range 1000 {
			got[lastLine(erring.Answer(ask(test.prompt)).Text)] = true
		}
		if len(got) != test.rivals || got[right] {
			t.Errorf("%s: wrong answers %v, want %d without %s", test.prompt, got, test.rivals, right)
		}
	}
	if got := lastLine(newModel(t, "default?p=0").Answer(ask("Sort: []")).Text); got != "answer = [0]" {
		t.Errorf("wrong order of an empty list ends with %q", got)
	}
}

func TestMalformedTasks(t *testing.T) {
	m := newModel(t, "default?malformed=1")
	for _, test := range []struct {
		prompt string
		right  string
	}{{"Compute: 20 + 22", "answer = 42"}, {"Sort: [2, 1]", "answer = [1, 2]"}} {
		var got []string
		for range 100 {
			if text := m.Answer(ask(test.prompt)).Text; !slices.Contains(got, text) {
				got = append(got, text)
			}
		}
		if len(got) != 3 {
			t.Errorf("%s: malformed answers %q, want 3", test.prompt, got)
		}
		for _, text := range got {
			if lastLine(text) == test.right {
				t.Errorf("%s: malformed answer %q is well-formed", test.prompt, text)
			}
		}
	}
}

const testScript = `
- match: 'capital of (?P<country>\w+)'
  answers:
    - {text: 'It is the capital of ${country}, ${1}. It costs $5.', weight: 3}
    - {text: 'No.', weight: 1, stop: refusal, tokens: 77}
    - {text: 'Never.', weight: 0}
- match: 'step \d'
  sequence: true
  answers: [{text: 'one'}, {text: 'two', stop: length}]
`

func TestScript(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a script & more.yaml")
	if err := os.WriteFile(file, []byte(testScript), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Default()
	s.Script = file
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for range 4000 {
		r := m.Answer(ask("What is the capital of France?"))
		counts[r.Text]++
		if r.Text == "No." && (r.Stop != model.StopRefusal || r.Usage.Output != 77) {
			t.Fatalf("refusal = %+v, want stop refusal and 77 tokens", r)
		}
	}
	// 3000 expected; 5 standard deviations are 137.
	if n := counts["It is the capital of France, France. It costs $5."]; n < 2863 || n > 3137 || len(counts) != 2 {
		t.Errorf("answers %v, want about 3000 and 1000", counts)
	}
	zero := 0.0
	for _, prompt := range []string{"step 1", "step 2"} {
		var got []string
		for i := range 3 {
			req := ask(prompt)
			if i == 0 {
				req.Temperature = &zero // a greedy sample has its turn like others
			}
			r := m.Answer(req)
			got = append(got, r.Text+" "+string(r.Stop))
		}
		if want := []string{"one end", "two length", "two length"}; !slices.Equal(got, want) {
			t.Errorf("%s: answers %q, want %q", prompt, got, want)
		}
	}
	if got := lastLine(m.Answer(ask("Sort: [1]")).Text); got != "answer = [1]" {
		t.Errorf("a prompt that no rule matches gets %q, want the built-in skill", got)
	}
}

func TestParseScript(t *testing.T) {
	if _, err := parseScript([]byte("[\n\t{\"match\": \"x\", \"answers\": [{\"text\": \"y\"}]}\n]")); err != nil {
		t.Errorf("parseScript of JSON: %v", err)
	}
	for _, test := range []struct{ script, want string }{
		{"[]", "no rules"},
		{"- match: '('\n  answers: [{text: a}]", "rule 1: match"},
		{"- match: a", "rule 1: there are no answers"},
		{"- match: a\n  answers: [{text: '${1}'}]", "captures no group ${1}"},
		{"- match: a\n  answers: [{text: a, stop: maybe}]", `stop "maybe"`},
		{"- match: a\n  answers: [{text: a, weight: -1}]", "weight -1"},
		{"- match: a\n  answers: [{text: a, weight: 0}]", "all weights are 0"},
		{"- match: a\n  answers: [{text: a, tokens: -1}]", "tokens is negative"},
		{"- match: a\n  answer: [{text: a}]", "answer"},
		{`[{"match": "a", "answer": []}]`, "answer"},
		{strings.Repeat("#", maxScript+1), "larger than"},
	} {
		if _, err := parseScript([]byte(test.script)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("parseScript(%.40q) = %v, want an error with %q", test.script, err, test.want)
		}
	}
	s := Default()
	s.Script = filepath.Join(t.TempDir(), "none.yaml")
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("New with a missing script = %v, want an error that names the file", err)
	}
}
