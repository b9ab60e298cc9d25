package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/vote"
)

func TestAside(t *testing.T) {
	for _, test := range []struct {
		schema string
		want   []string
	}{
		{"{count: integer, summary: string}", []string{"summary"}},
		{"count: integer, summary: string", []string{"summary"}},
		{"count: integer\nsummary: string, in one sentence", []string{"summary"}},
		{`{"count": "integer", "summary": "string"}`, []string{"summary"}},
		{"{count, summary: one paragraph}", nil}, // what has no type and no colon is no field: nothing would be left
		{"{count: integer, body: text}", []string{"body"}},
		{"'count: integer, body: text'", []string{"body"}},
		{"{count: integer, body: prose, verdict: text (at most ten words)}", []string{"body", "verdict"}},
		{"{count: integer, file: text file to write}", nil},
		{"{count: integer, paths: list of strings}", nil},
		{"{count: integer, lines: list of text}", []string{"lines"}},
		{"{count: integer, lines: list(text)}", []string{"lines"}},
		{"{count: integer, reason: one_of(late, lost)}", nil},
		{`{count: integer, reason: "late" | "lost"}`, nil},
		{"{count: integer, notes: list of strings}", nil},
		{"{count: integer, details: {name: string, comment: string}}", []string{"details.comment"}},
		{"{total: integer, items: [{name: string, description: string}]}", []string{"items.*.description"}},
		{"{total: integer, items: list of {name: string, description: string}}", []string{"items.*.description"}},
		{"total: integer\nitems:\n  - name: string\n    description: string\nwhy: string\n", []string{"items.*.description"}},
		{"total: integer\nitems:\n- name: string\n  description: string\nnotes: string\n", []string{"items.*.description", "notes"}},
		{"best:\n  name: string\n  reason: string\nnote: text\n", []string{"best.reason", "note"}},
		{`{"type": "object", "properties": {"count": {"type": "integer"}, "summary": {"type": "string", "description": "in short"}}}`, []string{"summary"}},
		{`{"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}}}}}`, []string{"rows.*.note"}},
		{"{type: string, count: integer, summary: string}", []string{"summary"}},
		{`{"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string", "enum": ["a", "b"]}}}}`, nil},
		{"type: object\nrequired: [n]\nproperties:\n  n:\n    type: integer\n  lines:\n    type: array\n    items: {type: text}\n", []string{"lines"}},
		// Fields that are called as in a JSON Schema do not make one.
		{"{type: string, description: one_of(A, B), items: [{id: integer, description: string}]}", []string{"items.*.description"}},
		{"{type: string, summary: string, count: integer, items: list of {id: integer, description: string}}", []string{"summary", "items.*.description"}},
		{"{n: integer, ticket: {type: string, description: string}}", []string{"ticket.description"}},
		{"{n: integer, detail: {type: string, format: string}}", nil},
		{"{n: integer, detail: {type: string}}", nil},
		{"{type: array, items: {id: integer, note: string}}", []string{"items.note"}},
		{"{type: object, properties: {id: integer, note: string}}", []string{"properties.note"}},
		{"{type: object, properties: {id: {type: integer}, note: {type: string}}, why: string}", nil},
		{"{count: integer, summary: {type: string, description: in short}}", []string{"summary.description"}},
		{"{count: integer, reason: {type: string, enum: [a, b]}}", nil},
		// Names in any letters, with spaces in quotes; optional marks and generic types.
		{"{größe: integer, summary: text}", []string{"summary"}},
		{"{count: integer, erklärung: text}", []string{"erklärung"}},
		{"{数: integer, 説明: text}", []string{"説明"}},
		{`{"file count": integer, summary: text}`, []string{"summary"}},
		{`{"2nd file": integer, 'why it is': text}`, []string{"why it is"}},
		{"{count, summary, ids}", []string{"summary"}},
		{"{total: integer, items: [{id, note?}]}", []string{"items.*.note"}},
		{"{summary, notes}", nil},
		{"{n: integer, best: {ids: Optional[List[int]], note: string, notes: string[]}}", []string{"best.note"}},
		{`{"n": "integer", "rows": "list of {id: integer, note: string}"}`, []string{"rows.*.note"}},
		{"{count: integer, summary?: string, ids: Array<number>}", []string{"summary"}},
		{"{count: integer, rows: Array<{id: number, note?: string}>}", []string{"rows.*.note"}},
		{"{count: integer, summary: Optional[str]}", []string{"summary"}},
		{"{count: integer, body: Optional[text], lines: list[text], more: Array<text>}", []string{"body", "lines", "more"}},
		{"{count: integer, note: Optional[int], reason: Union[str, int], comment: Optional<number>}", nil},
		{"{count: integer, notes: List[str], detail: Dict[str, int]}", nil},
		{"{count: integer, summary: string | null, reason: late | lost | null}", []string{"summary"}},
		{"{count: integer, reason: string, one of late or lost}", nil},
		{"- count (integer): how many\n- summary (string): what it is\n- note (optional): text\n", []string{"summary", "note"}},
		{"- `count` (integer): how many\n- **summary** (string, optional): what it is\n- note (integer): which\n- reason (late/lost): why\n", []string{"summary"}},
		{"map of path to {n: integer, summary: string}", []string{"*.summary"}},
		{"{total: integer, files: map of path to {n: integer, summary: string}}", []string{"files.*.summary"}},
		{"map: integer, best: {n: integer, summary: string}", []string{"best.summary"}},
		{`{"type": "object", "$schema": "https://x.y/z", "properties": {"note": {"type": "string", "description": "in short. Note: none"}, "n": {"type": "integer"}}}`, []string{"note"}},
		{`{"type":"object","properties":{"id":{"type":"integer"},"comment":{"type":["string","null"]}}}`, []string{"comment"}},
		{`{"type":"object","properties":{"id":{"type":"integer"},"comment":{"type":["null","string"]},"note":{"type":["integer","null"]}}}`, []string{"comment"}},
		{`{"type":"object","properties":{"id":{"type":"integer"},"comment":{"anyOf":[{"type":"string","maxLength":9},{"type":"null"}]}}}`, []string{"comment"}},
		{`{"type":"object","properties":{"id":{"type":"integer"},"comment":{"oneOf":[{"type":"null"},{"type":"string"}]},"note":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`, []string{"comment"}},
		{`{"properties":{"id":{"type":"integer"},"comment":{"type":"string"}}}`, []string{"comment"}},
		{"type: object\nproperties:\n  id: {type: integer}\n  comment: {type: [string, 'null']}\n", []string{"comment"}},
		{"text: string, the content of the file", nil},
		{"{summary: string}", nil}, // nothing would be left
		{"{summary: string, body: text}", nil},
		{"{Count: integer, Summary: string}", []string{"Summary"}},
		{"{url: string (such as http://a.b/c), summary: string}", []string{"summary"}},
		{"{next_step: integer, reason: string}", []string{"reason"}},
		{"value and unit and note", nil},
		{"", nil},
		{"}}]{[(", nil},
	} {
		if diff := cmp.Diff(test.want, Aside(test.schema)); diff != "" {
			t.Errorf("Aside(%q): -want +got\n%s", test.schema, diff)
		}
	}
}

func TestCompared(t *testing.T) {
	const schema = "{count: integer, summary: string}"
	for _, test := range []struct {
		step Step
		want vote.KeyOptions
	}{
		{Step{OutputSchema: schema}, vote.KeyOptions{Ignore: []string{"summary"}}},
		{Step{OutputSchema: schema, VoteOn: []string{"*"}}, vote.KeyOptions{VoteOn: []string{"*"}}},
		{Step{OutputSchema: schema, Ignore: []string{}}, vote.KeyOptions{Ignore: []string{}}},
		{Step{OutputSchema: schema, Ignore: []string{"count"}}, vote.KeyOptions{Ignore: []string{"count"}}},
	} {
		if diff := cmp.Diff(test.want, test.step.Compared(false)); diff != "" {
			t.Errorf("Compared(%+v): -want +got\n%s", test.step, diff)
		}
	}
}

func TestByMeaning(t *testing.T) {
	for _, test := range []struct {
		step Step
		run  bool
		want []string
		ok   bool
	}{
		{Step{OutputSchema: "body: text"}, false, nil, false},
		{Step{OutputSchema: "body: text"}, true, []string{"body"}, true},
		{Step{OutputSchema: "body: text", Compare: CompareExactly}, true, nil, false},
		{Step{OutputSchema: "{path: string}"}, true, nil, false}, // no prose
		{Step{OutputSchema: "{path: string}", Compare: CompareMeaning}, false, nil, true},
		{Step{OutputSchema: "{count: integer, summary: string}", Compare: CompareMeaning}, false, []string{"summary"}, true},
	} {
		paths, ok := test.step.ByMeaning(test.run)
		if diff := cmp.Diff(test.want, paths); diff != "" || ok != test.ok {
			t.Errorf("ByMeaning(%+v, %t) = %q, %t, want %q, %t", test.step, test.run, paths, ok, test.want, test.ok)
		}
		if o := test.step.Compared(test.run); test.ok && len(o.Ignore) > 0 {
			t.Errorf("Compared(%+v, %t) = %+v, want that everything counts", test.step, test.run, o)
		}
	}
}

// FuzzAside: whatever a schema is, what is left aside are paths that a vote can take.
func FuzzAside(f *testing.F) {
	f.Add("{total: integer, items: [{name: string, description: string}]}")
	f.Add("total: integer\nitems:\n- name: string\n  description: text\n")
	f.Add(`{"type": "object", "properties": {"a": {"type": "string"}}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		paths := Aside(schema)
		if err := (vote.KeyOptions{Ignore: paths}).Validate(); err != nil {
			t.Errorf("Aside(%q) = %q: %v", schema, paths, err)
		}
		for _, p := range paths {
			for name := range strings.SplitSeq(p, ".") {
				if name != "*" && !strings.Contains(schema, name) {
					t.Errorf("Aside(%q) = %q: it does not name %s", schema, paths, name)
				}
			}
		}
	})
}
