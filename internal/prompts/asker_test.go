package prompts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/flow"
)

// TestAsker: an asker puts questions into the words of the templates, whatever these are.
func TestAsker(t *testing.T) {
	long := strings.Repeat("Mind the gap. ", 400)
	for _, test := range []struct {
		name     string
		replace  map[string]string
		framings int
		once     bool // templates are rendered once
	}{
		{"built in", nil, MaxFramings, true},
		{"one framing", nil, 1, true},
		{"of a person", map[string]string{"ask": "{{/* mine */}} Q: {{.Question}}, once more: {{.Question}}\n{{.Instruction}} "}, MaxFramings, true},
		{"the question is not there", map[string]string{"ask": "{{.Instruction 1}}"}, 1, true},
		{"it is looked at", map[string]string{"ask": `{{if eq .Question "a"}}A{{else}}{{.Question}}{{end}}`}, 1, false},
		{"it is changed", map[string]string{"ask": `{{printf "%.3s" .Question}}`}, 1, false},
		{"it goes through a variable", map[string]string{"ask": `{{$q := .Question}}{{len $q}}{{.Question}}`}, 1, false},
		{"all of it", map[string]string{"ask": `{{.}}`}, 1, false},
		{"within", map[string]string{"ask": `{{with .Question}}{{.}}{{end}}`}, 1, false},
		{"nothing shown", map[string]string{"ask": `{{range .Shown}}x{{else}}{{$.Question}}{{end}}`}, 1, false},
		{"something shared", map[string]string{"outline_data": long}, 2, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, err := New(test.replace)
			if err != nil {
				t.Fatal(err)
			}
			set = set.Limited(test.framings)
			instructions := []string{"Answer with a word.", "A word is what is wanted."}
			a, err := set.Asker(instructions)
			if err != nil {
				t.Fatal(err)
			}
			if once := a.frames != nil; once != test.once {
				t.Errorf("templates are rendered once: %t, want %t", once, test.once)
			}
			for _, question := range []string{"a", "What is it?", " \n spaced \n", "{{.Question}}", "x\x00y", "é", " "} {
				got, want := &flow.Question{Variants: []string{"old"}}, &flow.Question{}
				if err := a.Put(got, question); err != nil {
					t.Fatal(err)
				}
				if err := set.Put(want, Ask{Question: question, Instructions: instructions}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("Put(%q): %s", question, diff)
				}
			}
		})
	}
}
