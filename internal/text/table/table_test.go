package table

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Record
		bad  []string // parts of the error
	}{
		"lines": {
			text: "{\"question\":\"a?\",\"answer\":1.50}\n\n{\"question\":\"b?\",\"answer\":[true]}",
			want: []Record{
				{1, map[string]any{"question": "a?", "answer": json.Number("1.50")}},
				{3, map[string]any{"question": "b?", "answer": []any{true}}},
			},
		},
		"csv": {
			text: "\uFEFFquestion, answer\na?,1\n\"b,\nc?\",2\nd?,3\n",
			want: []Record{
				{2, map[string]any{"question": "a?", "answer": "1"}},
				{3, map[string]any{"question": "b,\nc?", "answer": "2"}},
				{5, map[string]any{"question": "d?", "answer": "3"}},
			},
		},
		"bad lines": {
			text: "{\"a\":1}\n{\"a\":\n{\"a\":1} 2\nnull\n",
			want: []Record{{1, map[string]any{"a": json.Number("1")}}},
			bad:  []string{"line 2: ", "line 3: something follows", "line 4: null"},
		},
		"same key": {
			text: "{\"a\":1,\"b\":{\"a\":1}}\n{\"a\":1,\"b\":[{\"a\":1},2],\"a\":2}\n{\"b\":{\"c\":1,\"c\":1}}\n",
			want: []Record{{1, map[string]any{"a": json.Number("1"), "b": map[string]any{"a": json.Number("1")}}}},
			bad:  []string{`line 2: the key "a" is there twice`, `line 3: the key "c" is there twice`},
		},
		"bad fields": {
			text: "a,b\n1,2\n1\n1,2,3\n",
			want: []Record{{2, map[string]any{"a": "1", "b": "2"}}},
			bad:  []string{"line 3: 1 fields, and there are 2 columns", "line 4: 3 fields"},
		},
		"open quote":  {text: "a,b\n1,2\n\"x,3\n", want: []Record{{2, map[string]any{"a": "1", "b": "2"}}}, bad: []string{"line 3: "}},
		"JSON list":   {text: "[\n  {\"question\": \"a?\", \"answer\": 1},\n]", bad: []string{"a JSON list; want one JSON object on each line"}},
		"same column": {text: "a,a\n1,2\n", bad: []string{`line 1: column 2 is called "a"`}},
		"nothing":     {text: " \n", bad: []string{"no records"}},
		"only names":  {text: "a,b\n", bad: []string{"no records"}},
		"many":        {text: "a\n" + strings.Repeat("1,2\n", 30), bad: []string{"line 11: ", "and 20 more"}},
		"bytes":       {text: "a\n\xff\n", bad: []string{"not UTF-8"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(c.text))
			if (err != nil) != (c.bad != nil) {
				t.Fatalf("Read() error %v, want one with %q", err, c.bad)
			}
			for _, part := range c.bad {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Read() error %q, want %q in it", err, part)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Read(): -want +got\n%s", diff)
			}
		})
	}
}

func TestPrompt(t *testing.T) {
	record := Record{7, map[string]any{"mail": "It crashes.", "answer": "yes", "tags": []any{"a", "b"}, "n": json.Number("3")}}
	for text, want := range map[string]string{
		"Bug?\n{{.mail}}":                  "Bug?\nIt crashes.",
		"{{range .tags}}<{{.}}>{{end}}":    "<a><b>",
		"{{.n}} x {{.mail | printf `%q`}}": `3 x "It crashes."`,
	} {
		p, err := NewPrompt(text, "answer")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Render(record); err != nil || got != want {
			t.Errorf("Render(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"{{.subject}}": `line 7: prompt:1:2: executing "prompt" at <.subject>: map has no entry for key "subject"`,
		"{{.answer}}":  `map has no entry for key "answer"`,
		"  ":           "line 7: the question is empty",
	} {
		p, err := NewPrompt(text, "answer")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Render(record); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Render(%q): error %v, want %q", text, err, want)
		}
	}
	if _, err := NewPrompt("{{.a"); err == nil {
		t.Error("NewPrompt takes a template that is none")
	}
}
