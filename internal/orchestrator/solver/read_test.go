package solver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/redflag"
)

func reader(t testing.TB, name string, params any) domain.Reader {
	t.Helper()
	readers, err := Readers(adapters)
	if err != nil {
		t.Fatal(err)
	}
	r, err := readers.New(name, encode(params))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readCase is an answer and what a reader makes of it: a key, or a flag.
type readCase struct{ text, key, flag string }

func checkReader(t *testing.T, r domain.Reader, tests []readCase) {
	t.Helper()
	for _, test := range tests {
		got, flag := r.Read(test.text)
		name := ""
		if flag != nil {
			name = flag.Name
		}
		if got.Key != test.key || name != test.flag || (flag == nil) != json.Valid(got.Value) {
			t.Errorf("Read(%s) = %q %s, flag %+v; want %q, flag %q", test.text, got.Key, got.Value, flag, test.key, test.flag)
		}
	}
}

func TestReadProposal(t *testing.T) {
	params := proposalParams{Problem: "Sort 3, 1 and 2.", Ancestors: []string{"Sort 3, 1, 2 and 0"}, MaxGrowth: 10}
	with := func(a, b, how string) string {
		return string(encode(Proposal{PartA: a, PartB: b, Compose: how, Rationale: "because"}))
	}
	both := `["Sort 3","Sort 1 and 2"]`
	tests := []readCase{
		{with("Sort 3", "Sort 1 and 2", "merge"), both, ""},
		{with(" Sort  3.", "Sort\n1 and 2", "merge them"), both, ""}, // neither space nor how they are composed
		{with("Sort 1 and 2", "Sort 3", "merge"), `["Sort 1 and 2","Sort 3"]`, ""},
		{with("sort 3", "Sort 1 and 2", "merge"), `["sort 3","Sort 1 and 2"]`, ""},
		{"```json\n" + with("Sort 3", "Sort 1 and 2", "merge") + "\n```", both, ""},
		{"```\n" + with("Sort 3", "Sort 1 and 2", "merge") + "\n```\n", both, ""},
		{atom(), "atomic", ""},

		{with("Sort 3, 1 and 2", "Sort 2", "merge"), "", FlagTautology},
		{with("Sort 2", "Sort  3, 1 and 2.", "merge"), "", FlagTautology},
		{with("Sort 2", "Sort 2.", "merge"), "", FlagTautology},
		{with("Sort 3, 1, 2 and 0.", "Sort 2", "merge"), "", FlagCycle},
		{with("", "Sort 2", "merge"), "", redflag.Empty},
		{with("Sort 2", " . ", "merge"), "", redflag.Empty},
		{with("Sort 2", strings.Repeat("x", 26), "merge"), "", FlagGrowth},
		{with("Sort 2", strings.Repeat("x", 25), "merge"), `["Sort 2","xxxxxxxxxxxxxxxxxxxxxxxxx"]`, ""},
		{with("Sort 2", strings.Repeat("长", 25), "merge"), `["Sort 2","长长长长长长长长长长长长长长长长长长长长长长长长长"]`, ""},
		{with("Sort 2", "Sort 3 and 1", ""), "", redflag.MissingField},
		{strings.Replace(atom(), `"subproblem_a":""`, `"subproblem_a":"Sort 2"`, 1), "", redflag.SelfContradiction},

		{"Here it is: " + atom(), "atomic", ""},
		{atom() + atom(), "", redflag.SchemaInvalid},
		{"[" + atom() + "]", "", redflag.SchemaInvalid},
		{"null", "", redflag.SchemaInvalid},
		{"", "", redflag.SchemaInvalid},
		{"```yaml\n" + atom() + "\n```", "atomic", ""},
		{strings.TrimSuffix(atom(), "}"), "", redflag.SchemaInvalid},
		{strings.TrimSuffix(atom(), "}") + `,"note":"x","more":{"a":[null]}}`, "atomic", ""}, // what nobody asked for is passed over
		{strings.TrimSuffix(atom(), "}") + `,"is_atomic":true}`, "", redflag.SchemaInvalid},
		{strings.Replace(atom(), "is_atomic", "IS_ATOMIC", 1), "", redflag.MissingField},
		{strings.Replace(atom(), "true", `"true"`, 1), "", redflag.SchemaInvalid},
		{strings.Replace(atom(), "true", "null", 1), "", redflag.MissingField},
		{`{"is_atomic":true}`, "", redflag.MissingField},
	}
	checkReader(t, reader(t, ReadProposal, params), tests)

	params.MustSplit = true
	checkReader(t, reader(t, ReadProposal, params), []readCase{
		{atom(), "", redflag.SchemaInvalid}, {with("Sort 3", "Sort 1 and 2", "merge"), both, ""},
	})
	params.Compose = true
	checkReader(t, reader(t, ReadProposal, params), []readCase{
		{with("Sort 3", "Sort 1 and 2", "merge."), `["Sort 3","Sort 1 and 2","merge"]`, ""},
	})
}

func TestReadSolution(t *testing.T) {
	r := reader(t, ReadSolution, solutionParams{Domain: "sums", Problem: "1+2"})
	say := func(text string) string { return solution(text) }
	checkReader(t, r, []readCase{
		{say("03"), "03", ""}, // the first of its kind gives the key
		{say("3"), "03", ""},
		{say(" 3 "), "03", ""},
		{say("4"), "4", ""}, // wrong, but valid: a vote decides
		{say("004"), "4", ""},
		{say("three"), "three", ""},
		{say("03"), "03", ""},
		{say(""), "", redflag.Empty},
		{say(" \n"), "", redflag.Empty},
		{say("n/a"), "", FlagPattern},
		{`{"solution":3,"confidence":0.9,"work_shown":""}`, "", redflag.SchemaInvalid},
		{`{"solution":"3","confidence":"high","work_shown":""}`, "", redflag.SchemaInvalid},
		{`{"solution":"3","confidence":90,"work_shown":""}`, "", redflag.SchemaInvalid},
		{`{"solution":"3","confidence":-0.1,"work_shown":""}`, "", redflag.SchemaInvalid},
		{`{"solution":"3","confidence":1e999,"work_shown":""}`, "", redflag.SchemaInvalid},
		{`{"solution":"3","confidence":0.1,"work_shown":""}`, "03", ""}, // the check for low confidence is a flag of its own
		{`{"solution":"3","work_shown":""}`, "", redflag.MissingField},
		{"3", "", redflag.SchemaInvalid},
	})
	checkReader(t, reader(t, ReadSolution, solutionParams{Domain: "sums", Problem: "1+2", Work: true, Verify: true}), []readCase{
		{say("4"), "", FlagWrong},
		{say("3"), "3", ""},
		{`{"solution":"3","confidence":0.9,"work_shown":" "}`, "", redflag.MissingField},
	})
}

// near is an equivalence that is not transitive.
type near struct{ anything }

func (near) Equivalent(a, b string) bool { d := len(a) - len(b); return d*d <= 1 }

// TestGroups: a vote counts for an answer only if it is equivalent to that answer
// itself, not by way of others.
func TestGroups(t *testing.T) {
	g := groups{adapter: near{}}
	for _, test := range []struct{ text, want string }{
		{"aa", "aa"}, {"aaa", "aa"}, {"aaaa", "aaaa"}, {"a", "aa"}, {"aaa", "aa"}, {"aaaaa", "aaaa"},
	} {
		if got := g.key(test.text); got != test.want {
			t.Errorf("key(%s) = %s, want %s", test.text, got, test.want)
		}
	}
}

func TestReadAnswer(t *testing.T) {
	r := reader(t, ReadAnswer, solutionParams{Domain: "sums", Problem: "1+2"})
	checkReader(t, r, []readCase{
		{answer("3"), "3", ""},
		{strings.Replace(answer("03"), "so it is", "for another reason", 1), "3", ""},
		{answer(""), "", redflag.Empty},
		{`{"answer":"3","confidence":0.9,"support":{"summary":"s","equations":[]}}`, "3", ""},
		{`{"answer":"3","confidence":0.9,"support":{"summary":"s","equations":[1],"points":[]}}`, "3", ""},
		{`{"answer":"3","confidence":0.9,"support":{"points":[{"label":"P1","values":{"x":1}}]}}`, "3", ""},
		{`{"answer":"3","confidence":0.9,"support":null}`, "3", ""},
		{`{"answer":"3","confidence":0.9,"support":"s"}`, "3", ""},
		{`{"answer":"3","confidence":0.9,"support":[]}`, "3", ""},
		{`{"answer":"3","confidence":0.9}`, "3", ""},
		{`{"answer":"3"}`, "", redflag.MissingField},
		{solution("3"), "", redflag.MissingField},
	})
	for text, want := range map[string]Support{
		`{"answer":"3","confidence":0.9,"support":"s"}`:                                                                     {"s", list{}, list{}},
		`{"answer":"3","confidence":0.9,"support":[]}`:                                                                      {"", list{}, list{}},
		`{"answer":"3","confidence":0.9,"support":{"summary":"s","equations":[1],"points":[{"label":"a","values":[1,2]}]}}`: {"s", list{}, list{"a: 1, 2"}},
		`{"answer":"3","confidence":0.9}`:                                                                                   {"", list{}, list{}},
		`{"answer":"3","confidence":0.9,"support":{"summary":"s"},"more":[1]}`:                                              {"s", list{}, list{}},
		`{"answer":"3","confidence":0.9,"support":{"points":[{"label":"P1","values":{"y":3,"x":-1.50}},"(1, 2)",{"values":{"x":"1/2"}},{"label":"P2"}]}}`: {
			"", list{}, list{"P1: x = -1.50, y = 3", "(1, 2)", "x = 1/2", "P2"},
		},
	} {
		got, flag := r.Read(text)
		if flag != nil {
			t.Errorf("Read(%s) = %v, want an answer", text, *flag)
			continue
		}
		if diff := cmp.Diff(want, mustDecode[Conclusion](t, got.Value).Support); diff != "" {
			t.Errorf("Read(%s): -want +got\n%s", text, diff)
		}
	}
	got, _ := r.Read(`{"answer":"1, \"2\"\n三","confidence":1,"support":{"summary":"s","equations":["a = b, c"],"points":["(1, 2)"]}}`)
	want := Conclusion{Answer: "1, \"2\"\n三", Confidence: 1, Support: Support{"s", []string{"a = b, c"}, []string{"(1, 2)"}}}
	if diff := cmp.Diff(want, mustDecode[Conclusion](t, got.Value)); diff != "" {
		t.Errorf("Read(answer): -want +got\n%s", diff)
	}
}

func TestReadPick(t *testing.T) {
	checkReader(t, reader(t, ReadPick, pickParams{[]string{"KRTM", "BZQW"}}), []readCase{
		{picked("KRTM"), "KRTM", ""},
		{picked("BZQW"), "BZQW", ""},
		{picked("krtm"), "", redflag.SchemaInvalid},
		{picked("1"), "", redflag.SchemaInvalid},
		{picked(""), "", redflag.SchemaInvalid},
		{`{"pick":"KRTM"}`, "", redflag.MissingField},
		{"KRTM", "", redflag.SchemaInvalid},
	})
}

func TestReadCheck(t *testing.T) {
	one := func(status string, complete bool, missing ...string) string {
		return string(encode(map[string]any{
			"requirements": []map[string]string{{"requirement": "all", "status": status, "reason": "r"}},
			"complete":     complete, "missing_work": append([]string{}, missing...),
		}))
	}
	checkReader(t, reader(t, ReadCheck, checkParams{Problem: "Do it all", MaxGrowth: 10}), []readCase{
		{one(Addressed, true), "complete", ""},
		{one(Missing, false, "the rest"), "incomplete", ""},
		{one(Missing, false, "another rest", "and more"), "incomplete", ""},
		{one(Missing, true), "", redflag.SelfContradiction},
		{one(Addressed, true, "the rest"), "", redflag.SelfContradiction},
		{one(Addressed, false, "the rest"), "", redflag.SelfContradiction},
		{one(Missing, false), "", redflag.SelfContradiction},
		{one("addressed", true), "", redflag.SchemaInvalid},
		{one(Missing, false, "a", "b", "c", "d", "e", "f", "g"), "incomplete", ""},
		{one(Missing, false, " "), "", redflag.Empty},
		{one(Missing, false, "Do  it all."), "", FlagTautology},
		{one(Missing, false, strings.Repeat("x", 20)), "", FlagGrowth},
		{`{"requirements":[],"complete":true,"missing_work":[]}`, "", redflag.MissingField},
		{`{"requirements":[{"requirement":"","status":"ADDRESSED","reason":""}],"complete":true,"missing_work":[]}`, "", redflag.Empty},
		{`{"requirements":[{"requirement":"x","status":"ADDRESSED"}],"complete":true,"missing_work":[]}`, "", redflag.MissingField},
		{`{"requirements":[{"requirement":"x","status":"ADDRESSED","reason":""}],"complete":true,"missing_work":null}`, "", redflag.MissingField},
		{"yes", "", redflag.SchemaInvalid},
	})
}

// patterned has a pattern that is none.
type patterned struct{ anything }

func (patterned) FlagPatterns() []string { return []string{"("} }

func TestReadersErrors(t *testing.T) {
	if _, err := Readers(map[string]domain.Adapter{"odd": patterned{}}); err == nil || !strings.Contains(err.Error(), "odd") {
		t.Errorf("Readers(broken pattern) = %v, want an error that names the domain", err)
	}
	readers, err := Readers(adapters)
	if err != nil {
		t.Fatal(err)
	}
	for name := range readers {
		if _, err := readers.New(name, json.RawMessage(`[`)); err == nil {
			t.Errorf("New(%s, broken parameters) = nil, want an error", name)
		}
	}
	for _, name := range []string{ReadSolution, ReadAnswer} {
		if r, err := readers.New(name, json.RawMessage(`{"domain":"magic"}`)); err == nil || !strings.Contains(err.Error(), "magic") || r != nil {
			t.Errorf("New(%s, unknown domain) = %v, %v, want an error that names it", name, r, err)
		}
	}
}

func TestNormal(t *testing.T) {
	for _, test := range []struct{ a, b string }{
		{"Sort  3,\n1", "Sort 3, 1"}, {" x. ", "x"}, {"x...", "x"}, {"e\u0301", "é"}, {"求和。", "求和"}, {"", " . "},
	} {
		if Normal(test.a) != Normal(test.b) {
			t.Errorf("Normal(%q) = %q, Normal(%q) = %q, want the same", test.a, Normal(test.a), test.b, Normal(test.b))
		}
	}
	for _, test := range []struct{ a, b string }{
		{"5!", "5"}, {"X", "x"}, {"1, 2", "1 2"}, {"x?", "x"}, {"-1", "1"}, {"a", "b"},
	} {
		if Normal(test.a) == Normal(test.b) {
			t.Errorf("Normal(%q) = Normal(%q) = %q, want them to differ", test.a, test.b, Normal(test.a))
		}
	}
}

// TestSchemas holds the schemas against the readers: what fits the schema by its
// example is read, and all fields of it are required.
func TestSchemas(t *testing.T) {
	for _, test := range []struct{ schema, example string }{
		{proposalSchema, parts("a", "b")}, {pickSchema([]string{"X", "Y"}), picked("X")}, {solutionSchema, solution("3")},
		{answerSchema, answer("3")}, {checkSchema, complete()},
	} {
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if err := json.Unmarshal([]byte(test.schema), &schema); err != nil {
			t.Fatalf("%s: %v", test.schema, err)
		}
		var example map[string]json.RawMessage
		if err := json.Unmarshal([]byte(test.example), &example); err != nil {
			t.Fatal(err)
		}
		if len(schema.Required) != len(schema.Properties) || len(example) != len(schema.Properties) {
			t.Errorf("%s: %d required of %d properties, the example has %d", test.schema, len(schema.Required), len(schema.Properties), len(example))
		}
		for name := range example {
			if schema.Properties[name] == nil {
				t.Errorf("%s has no property %s", test.schema, name)
			}
		}
	}
}

// TestSchemasAreTight: what a reader would discard does not fit.
func TestSchemasAreTight(t *testing.T) {
	long := strings.Repeat("x", 601)
	for _, test := range []struct{ schema, right, wrong string }{
		{pickSchema([]string{"X", "Y"}), picked("Y"), picked("Z")},
		{solutionSchema, solution("3"), solution("")},
		{solutionSchema, solution("3"), `{"solution":"3","confidence":1.5,"work_shown":""}`},
		{solutionSchema, solution("3"), `{"solution":"3","confidence":1,"work_shown":"` + long + `"}`},
		{solutionSchema, solution("3"), `{"solution":"3","confidence":1,"work_shown":"","more":1}`},
		{answerSchema, answer("3"), answer("")},
		{proposalSchema, parts("a", "b"), `{"subproblem_a":"a","subproblem_b":"b"}`},
		{checkSchema, complete(), `{"requirements":[],"complete":true,"missing_work":[]}`},
		{checkSchema, incomplete("x"), `{"requirements":[{"requirement":"a","status":"MAYBE","reason":""}],"complete":false,"missing_work":["x"]}`},
		{checkSchema, incomplete("x"), `{"requirements":[{"requirement":"a","status":"MISSING","reason":""}],"complete":false,"missing_work":["` + strings.Join(strings.Split(strings.Repeat("1", 21), ""), `","`) + `"]}`},
	} {
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(test.schema), &s); err != nil {
			t.Fatalf("%s: %v", test.schema, err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", test.schema, err)
		}
		for text, want := range map[string]bool{test.right: true, test.wrong: false} {
			var value any
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(value); (err == nil) != want {
				t.Errorf("Validate(%.200s) = %v by %s, want that it fits: %t", text, err, test.schema, want)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		parts("a", "b"), atom(), picked("KRTM"), solution("3"), answer("3"), complete(), incomplete("x"),
		"```json\n{}\n```", `{"solution":"\ud800"}`, `{"a":1,"a":2}`, "", "{", "\xff",
	} {
		f.Add(seed)
	}
	var all []domain.Reader
	for name, params := range map[string]any{
		ReadProposal: proposalParams{Problem: "p", MaxGrowth: 100}, ReadPick: pickParams{[]string{"KRTM"}},
		ReadSolution: solutionParams{Domain: "sums", Problem: "1+2"}, ReadAnswer: solutionParams{Domain: "sums", Problem: "1+2"},
		ReadCheck: checkParams{Problem: "p", MaxGrowth: 100},
	} {
		all = append(all, reader(f, name, params))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range all {
			got, flag := r.Read(text)
			if flag != nil {
				if got.Value != nil || got.Key != "" || flag.Name == "" {
					t.Errorf("Read(%q) = %+v with the flag %+v", text, got, flag)
				}
				continue
			}
			again, flag := r.Read(string(got.Value))
			if flag != nil || again.Key != got.Key {
				t.Errorf("Read(%q) = %s, which reads as %q, %+v, want %q", text, got.Value, again.Key, flag, got.Key)
			}
		}
	})
}
