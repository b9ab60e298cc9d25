package sim

import (
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
)

// capitalScript asks for the same in two ways; what is captured is the problem.
const capitalScript = `
- match: '(?:capital|seat of government) of (?P<country>\w+)'
  right: {text: 'capital: that of ${country}'}
  wrong:
    - {text: 'capital: a large town in ${1}'}
    - {text: 'capital: the port of ${1}'}
    - {text: 'capital: none, as ${1} is an island', stop: refusal}
- match: 'Look at (\w+)'
  after: 0
  right: {tool_calls: [{name: Read, input: {path: '${1}'}}]}
  wrong: [{tool_calls: [{name: Read, input: {path: '${1}.old'}}]}]
- match: 'Look at (\w+)'
  match_result: '(?s).+'
  right: {text: 'seen: ${result.0|json}'}
`

// moves are the text and the calls of an answer.
func moves(r *model.Response) string {
	list := []string{r.Text}
	for _, c := range r.ToolCalls {
		list = append(list, c.Name+string(c.Input))
	}
	return strings.Join(list, " ")
}

// TestRightAndWrong checks how often which answer of a script is given.
func TestRightAndWrong(t *testing.T) {
	const n = 3000
	for _, test := range []struct {
		prompt, settings string
		right, malformed float64 // shares
		rivals           int     // wrong answers that come up, all equally often
	}{
		{"The capital of Peru?", "p=0.7", 0.7, 0, 1},
		{"The capital of Peru?", "p=0.4&rivals=2", 0.4, 0, 2},
		{"The capital of Peru?", "p=0.4&rivals=3", 0.4, 0, 3},
		{"The capital of Peru?", "p=0.4&rivals=300", 0.4, 0, 3},
		{"The capital of Peru?", "p=0.5&malformed=0.4", 0.3, 0.4, 1},
		{"The capital of Peru?", "hard=1:0.2", 0.2, 0, 1},
		{"The capital of Peru?", "p=0&overlong=1", 0, 0, 1},
		{"Look at it", "p=0.8&rivals=5", 0.8, 0, 1},
		{"Look at it", "p=0.8&malformed=0.5", 0.4, 0.5, 1},
	} {
		sure, m := scripted(t, capitalScript, "&p=1"), scripted(t, capitalScript, "&seed=1&"+test.settings)
		counts := map[string]int{}
		for range n {
			counts[moves(m.Answer(ask(test.prompt)))]++
		}
		want := moves(sure.Answer(ask(test.prompt)))
		if !within(counts[want], n, test.right) {
			t.Errorf("%s, %s: %d of %d answers are right, want a share of %v", test.prompt, test.settings, counts[want], n, test.right)
		}
		delete(counts, want)
		kinds := test.rivals
		if test.malformed > 0 {
			kinds += 3
		}
		if len(counts) != kinds {
			t.Errorf("%s, %s: %d kinds of other answers, want %d: %v", test.prompt, test.settings, len(counts), kinds, counts)
		}
		for text, count := range counts {
			if !within(count, n, (1-test.right-test.malformed)/float64(test.rivals)) && !within(count, n, test.malformed/3) {
				t.Errorf("%s, %s: %d of %d answers are %q, which is neither the share of a rival nor of a malformed answer", test.prompt, test.settings, count, n, text)
			}
		}
	}
}

// TestOddScripted checks that no malformed answer can be read as it stands, and that a
// long one can.
func TestOddScripted(t *testing.T) {
	for _, script := range []string{
		"[{right: {text: 'result: 5'}}]", "[{right: {text: \"a: [1, 2]\\nb: >-\\n  some text\\n\"}}]",
		`[{right: {text: '{"solution": "5", "confidence": 0.9}'}}]`, "[{right: {tool_calls: [{name: Read}]}}]",
	} {
		texts := map[string]bool{}
		m := scripted(t, script, "&malformed=1")
		for range 60 {
			r := m.Answer(ask("x"))
			texts[r.Text] = true
			if fieldsOf(r.Text) != nil || len(r.ToolCalls) > 0 {
				t.Errorf("%s: malformed answer %q is a mapping", script, r.Text)
			}
		}
		if len(texts) != 3 {
			t.Errorf("%s: malformed answers %v, want 3", script, texts)
		}
		r := scripted(t, script, "&p=1&overlong=1:50").Answer(ask("x"))
		if r.Usage.Output < 50 || fieldsOf(r.Text) == nil && len(r.ToolCalls) == 0 {
			t.Errorf("%s: long answer %q has %d tokens, want 50 at least and a mapping or a call", script, r.Text, r.Usage.Output)
		}
	}
}

// TestScriptedMoves checks that what a tool returned gets into the answer, and that a
// rule without wrong answers gives none.
func TestScriptedMoves(t *testing.T) {
	m := scripted(t, capitalScript, "&p=0.5&seed=2")
	req := ask("Look at it")
	first := m.Answer(req)
	req.Messages = append(req.Messages, turn(first, "one: \"1\"\ntwo\n")...)
	for range 20 {
		if got, want := m.Answer(req).Text, `seen: "one: \"1\"\ntwo\n"`; got != want {
			t.Fatalf("second move = %q, want %q", got, want)
		}
	}
}

func TestFilters(t *testing.T) {
	const yaml = "counts:\n  - a: 1\n  - b\ntotal: 2\nnote: |\n  x\n  y\nnone:\ndeep: {er: [1, 2]}\n"
	for _, test := range []struct{ text, filters, want string }{
		{"a\nb", "", "a\nb"},
		{"a \"b\" <c>\n", "|json", `"a \"b\" <c>\n"`},
		{"a\nb\n\n", "|lines", `["a","b"]`},
		{"", "|lines", `[]`},
		{"a\nb\n", "|count", "2"},
		{"", "|count", "0"},
		{yaml, "|field total", "2"},
		{yaml, "|field counts", "a: 1\nb"},
		{yaml, "|field counts|count", "2"},
		{yaml, "| field note | lines", `["x","y"]`},
		{yaml, "|field deep.er|lines", `["1","2"]`},
		{yaml, "|field none", ""},
		{yaml, "|field nothing.there", ""},
		{"[", "|field x", ""},
	} {
		if got, err := filtered(test.text, test.filters); got != test.want || err != nil {
			t.Errorf("filtered(%q, %q) = %q, %v, want %q", test.text, test.filters, got, err, test.want)
		}
	}
}

func TestParseRight(t *testing.T) {
	for _, test := range []struct{ rule, want string }{
		{"{wrong: [{text: a}]}", "no right one"},
		{"{right: {text: a}, answers: [{text: a}]}", "do not go with right"},
		{"{right: {text: a}, sequence: true}", "do not go with right"},
		{"{right: {text: a, weight: 2}}", "weight does not go"},
		{"{right: {text: a}, wrong: [{text: b, weight: 2}]}", "weight does not go"},
		{"{right: {text: '${1}'}}", "right: the pattern captures no group ${1}"},
		{"{right: {text: a}, wrong: [{text: a}, {text: '${result.0}'}]}", "wrong answer 2: the pattern captures no group"},
		{"{right: {text: a}, wrong: [{tool_calls: [{}]}]}", "wrong answer 1: tool call 1: the name is missing"},
		{"{right: {text: '${0|upper}'}}", `there is no filter "upper"; there are json`},
		{"{right: {text: '${0|}'}}", `there is no filter ""`},
		{"{right: {text: '${0|field}'}}", "the filter field takes the path of a field"},
		{"{right: {text: '${0|json x}'}}", "the filter json takes nothing"},
	} {
		if _, err := parseScript([]byte("[" + test.rule + "]")); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("parseScript(%s) = %v, want an error with %q", test.rule, err, test.want)
		}
	}
}

// TestShipped checks that the scripts for the examples of the documentation are sound and
// come after those of one's own; cmd/maker runs the examples.
func TestShipped(t *testing.T) {
	const task = "# Task\n\nCompute: (12 + 3) * 4. Then sort: [3, 1, 2].\n"
	if got := newModel(t, "default?p=1").Answer(ask(task)).Text; !strings.HasPrefix(got, "reasoning: ") {
		t.Errorf("Answer(%q) = %q, want the plan that ships", task, got)
	}
	own := scripted(t, "[{match: 'Then sort', right: {text: mine}}]", "")
	if got := own.Answer(ask(task)).Text; got != "mine" {
		t.Errorf("Answer(%q) with a script = %q, want mine", task, got)
	}
	for i := range shipped().rules {
		r := &shipped().rules[i]
		ours := strings.Contains(r.Match, "# ") || strings.HasPrefix(r.Match, `"ask":"solve"`) || strings.HasPrefix(r.Match, `Which queue\? (`) // of a ticket of ours
		if r.Right == nil || !ours {
			t.Errorf("the rule for %q has no right answer, or fits more than a prompt of ours", r.Match)
		}
	}
}
