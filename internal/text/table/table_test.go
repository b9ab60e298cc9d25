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
				{Line: 1, Values: map[string]any{"question": "a?", "answer": json.Number("1.50")}},
				{Line: 3, Values: map[string]any{"question": "b?", "answer": []any{true}}},
			},
		},
		"csv": {
			text: "\uFEFFquestion, answer\na?,1\n\"b,\nc?\",2\nd?,3\n",
			want: []Record{
				{Line: 2, Values: map[string]any{"question": "a?", "answer": "1"}},
				{Line: 3, Values: map[string]any{"question": "b,\nc?", "answer": "2"}},
				{Line: 5, Values: map[string]any{"question": "d?", "answer": "3"}},
			},
		},
		"bad lines": {
			text: "{\"a\":1}\n{\"a\":\n{\"a\":1} 2\nnull\n[1]\n",
			want: []Record{{Line: 1, Values: map[string]any{"a": json.Number("1")}}},
			bad:  []string{"line 2: ", "line 3: something follows", "line 4: null", "line 5: array, want a JSON object"},
		},
		"same key": {
			text: "{\"a\":1,\"b\":{\"a\":1}}\n{\"a\":1,\"b\":[{\"a\":1},2],\"a\":2}\n{\"b\":{\"c\":1,\"c\":1}}\n",
			want: []Record{{Line: 1, Values: map[string]any{"a": json.Number("1"), "b": map[string]any{"a": json.Number("1")}}}},
			bad:  []string{`line 2: the key "a" is there twice`, `line 3: the key "c" is there twice`},
		},
		"bad fields": {
			text: "a,b\n1,2\n1\n1,2,3\n",
			want: []Record{{Line: 2, Values: map[string]any{"a": "1", "b": "2"}}},
			bad:  []string{"line 3: 1 fields, and there are 2 columns", `line 4: 3 fields, and there are 2 columns: "3" is too much`},
		},
		"bare quotes": {
			text: "id,b\n1\",5\" pipe, 6\" valve\n2,\"a 5\" pipe\"\n3,\"multi\nline\"\n4,x\n",
			want: []Record{
				{Line: 3, Values: map[string]any{"id": "2", "b": `a 5" pipe`}},
				{Line: 4, Values: map[string]any{"id": "3", "b": "multi\nline"}},
				{Line: 6, Values: map[string]any{"id": "4", "b": "x"}},
			},
			bad: []string{"line 2: 3 fields"},
		},
		"a quote that a bare one hides": {text: "a,b\n5\" pipe,\"x\ny\"\n1,2\n", bad: []string{"line 2: bare"}},
		"tabs": {
			text: "id\tb\n1\t5\" pipe, old\n",
			want: []Record{{Line: 2, Values: map[string]any{"id": "1", "b": `5" pipe, old`}}},
		},
		"large number": {
			text: "{\"a\":\"x\",\"f\":1e400}\n",
			want: []Record{{Line: 1, Values: map[string]any{"a": "x", "f": json.Number("1e400")}}},
		},
		"open quote":  {text: "a,b\n1,2\n\"x,3\n", want: []Record{{Line: 2, Values: map[string]any{"a": "1", "b": "2"}}}, bad: []string{"line 3: "}},
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
			for i := range got {
				got[i].Columns = nil
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Read(): -want +got\n%s", diff)
			}
		})
	}
}

func TestScan(t *testing.T) {
	read := func(text string, comma rune) (columns [][]string, bad []string) {
		for r, err := range Scan(strings.NewReader(text), comma) {
			if err != nil {
				bad = append(bad, err.Error())
				continue
			}
			columns = append(columns, r.Columns)
		}
		return columns, bad
	}
	columns, bad := read("b\ta\n1\t2, x\n3\n4\t5\n", '\t')
	if diff := cmp.Diff([][]string{{"b", "a"}, {"b", "a"}}, columns); diff != "" || len(bad) != 1 {
		t.Errorf("Scan(tabs): %q, -want +got\n%s", bad, diff)
	}
	columns, bad = read("{\"z\":1,\"a\":{\"x\":2}}\n{\"a\":\n{\"a\":3,\"z\":4}\n"+strings.Repeat("x", maxRecord+1)+"\n{\"b\":1}\n", ',')
	if diff := cmp.Diff([][]string{{"z", "a"}, {"a", "z"}, {"b"}}, columns); diff != "" {
		t.Errorf("Scan(lines): -want +got\n%s", diff)
	}
	if len(bad) != 2 || !strings.HasPrefix(bad[0], "line 2: ") || bad[1] != "line 4: it has more than 16 MB" {
		t.Errorf("Scan(lines) = errors %q, want those of lines 2 and 4", bad)
	}
}

func FuzzScan(f *testing.F) {
	f.Add("a,b\n1,\"2\n", false)
	f.Add("{\"a\":1}\n{}\n\n[", true)
	f.Add("a,b\n5\",\"6\" x\"\n\n1\",2\n", false)
	f.Fuzz(func(t *testing.T, text string, tabs bool) {
		comma := ','
		if tabs {
			comma = '\t'
		}
		line := 0
		for r, err := range Scan(strings.NewReader(text), comma) {
			if err != nil {
				continue
			}
			if r.Line < line || len(r.Columns) < len(r.Values) {
				t.Fatalf("Scan(%q): line %d after %d, columns %q, values %v", text, r.Line, line, r.Columns, r.Values)
			}
			line = r.Line
		}
	})
}

func TestPrompt(t *testing.T) {
	record := Record{Line: 7, Values: map[string]any{"mail": "It crashes.", "answer": "yes", "tags": []any{"a", "b"}, "n": json.Number("3")}}
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
		"{{.answer}}":  `line 7: the column "answer" has the known answers, which are kept from voters`,
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
