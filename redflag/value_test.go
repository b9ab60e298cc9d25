package redflag

import (
	"encoding/json"
	"strings"
	"testing"
)

type valueCase struct {
	value string // "" for none
	want  string // part of the reason, "" for no flag
}

func runValues(t *testing.T, c Config, name string, cases []valueCase) {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases {
		a := Answer{Text: "see value"}
		if tt.value != "" {
			a.Value = json.RawMessage(tt.value)
		}
		f := c.Check(&a)
		switch {
		case tt.want == "" && f != nil:
			t.Errorf("Check(%s) = %v, want nil", tt.value, *f)
		case tt.want != "" && (f == nil || f.Name != name || !strings.Contains(f.Reason, tt.want)):
			t.Errorf("Check(%s) = %v, want %s with %q", tt.value, f, name, tt.want)
		}
	}
}

func TestSchemaInvalid(t *testing.T) {
	runValues(t, Config{SchemaInvalid: SchemaCheck{On: true}}, SchemaInvalid, []valueCase{
		{"", ""}, {"1", ""}, {"null", ""}, {`{"a": [1, "b"]}`, ""}, {` "字" `, ""},
		{"{", "not JSON"}, {"{'a': 1}", "not JSON"}, {"1 2", "not JSON"}, {"NaN", "not JSON"}, {`{"a": 1,}`, "not JSON"},
	})
	c := Config{SchemaInvalid: SchemaCheck{On: true, Type: "object", Fields: []Field{
		{"name", "string"}, {"count", "integer"}, {"ratio", "number"}, {"done", "boolean"}, {"list", "array"}, {"meta", "object"},
		{"meta.id", "integer"}, {"list[].title", "string"}, {"名", "string"},
	}}}
	runValues(t, c, SchemaInvalid, []valueCase{
		{"", "no JSON value"},
		{"{}", ""},
		{`{"name": "x", "count": 3, "ratio": 0.5, "done": false, "list": [], "meta": {}}`, ""},
		{`{"other": null}`, ""},
		{`{"count": 1.0}`, ""}, {`{"count": 1e3}`, ""}, {`{"count": 9007199254740993}`, ""}, {`{"count": -0}`, ""}, {`{"count": 1e999999999999999999999}`, ""},
		{`{"ratio": 1}`, ""},
		{`{"list": [{"title": "a"}, {"title": "b"}, {}]}`, ""},
		{`{"meta": {"id": 7}}`, ""},
		{`{"名": "x"}`, ""},
		{"[]", "the value is array, want object"},
		{`"text"`, "the value is string, want object"},
		{"null", "the value is null, want object"},
		{`{"name": 5}`, `field "name" is number, want string`},
		{`{"name": null}`, `field "name" is null, want string`},
		{`{"count": "3"}`, `field "count" is string, want integer`},
		{`{"count": 1.5}`, `field "count" is number, want integer`},
		{`{"count": 1e-3}`, "want integer"}, {`{"count": 1e-999999999999999999999}`, "want integer"},
		{`{"ratio": true}`, "is boolean, want number"},
		{`{"done": "false"}`, "is string, want boolean"},
		{`{"list": {}}`, "is object, want array"},
		{`{"meta": []}`, "is array, want object"},
		{`{"meta": {"id": "x"}}`, `field "meta.id" is string`},
		{`{"list": [{"title": "a"}, {"title": 1}]}`, `field "list[].title" is number`},
		{`{"名": 1}`, "want string"},
	})
}

func TestIsInteger(t *testing.T) {
	for _, n := range []string{"0", "-0", "5", "-17", "1.0", "1.50e1", "1500e-2", "0.0e-5", "1E+2", "123456789012345678901234567890", "0e-99999999999999999999"} {
		if !isInteger(n) {
			t.Errorf("isInteger(%s) = false, want true", n)
		}
	}
	for _, n := range []string{"0.5", "-1.25", "1.55e1", "1550e-2", "1e-1", "10.01"} {
		if isInteger(n) {
			t.Errorf("isInteger(%s) = true, want false", n)
		}
	}
}

func TestMissingField(t *testing.T) {
	c := Config{MissingField: MissingFieldCheck{On: true, Required: []string{"answer", "meta.id", "steps[].title"}}}
	runValues(t, c, MissingField, []valueCase{
		{"", `field "answer" is missing: the answer has no JSON value`},
		{"{", `field "answer" is missing: the value is not JSON`},
		{`{"answer": 1, "meta": {"id": 0}, "steps": [{"title": "a"}, {"title": "b"}]}`, ""},
		{`{"answer": "", "meta": {"id": false}, "steps": []}`, ""},
		{`{"meta": {"id": 1}, "steps": []}`, `field "answer" is missing`},
		{`{"Answer": 1, "meta": {"id": 1}, "steps": []}`, `field "answer" is missing`},
		{`{"answer": null, "meta": {"id": 1}, "steps": []}`, `field "answer" is null`},
		{`{"answer": 1, "meta": {}, "steps": []}`, `field "meta.id" is missing`},
		{`{"answer": 1, "meta": 3, "steps": []}`, `field "meta.id" is missing`},
		{`{"answer": 1, "meta": {"id": 1}}`, `field "steps[].title" is missing`},
		{`{"answer": 1, "meta": {"id": 1}, "steps": {"title": "a"}}`, `field "steps[].title" is missing`},
		{`{"answer": 1, "meta": {"id": 1}, "steps": [{"title": "a"}, {}]}`, `field "steps[].title" is missing`},
		{"[1]", `field "answer" is missing`},
	})
	c = Config{MissingField: MissingFieldCheck{On: true, Required: []string{"a"}, NonEmpty: true}}
	runValues(t, c, MissingField, []valueCase{
		{`{"a": ""}`, "empty string"}, {`{"a": " \u200b"}`, "empty string"}, {`{"a": []}`, "empty array"}, {`{"a": {}}`, "empty object"},
		{`{"a": 0}`, ""}, {`{"a": false}`, ""}, {`{"a": "0"}`, ""}, {`{"a": [null]}`, ""},
	})
	runValues(t, Config{MissingField: MissingFieldCheck{On: true}}, MissingField, []valueCase{{"", ""}, {"{}", ""}, {"{", ""}})
}

func TestLowConfidence(t *testing.T) {
	runValues(t, Config{LowConfidence: LowConfidenceCheck{On: true}}, LowConfidence, []valueCase{
		{`{"confidence": 0.29}`, "confidence is 0.29, want at least 0.3"},
		{`{"confidence": 0}`, "confidence is 0"},
		{`{"confidence": -1}`, "confidence is -1"},
		{`{"confidence": 2}`, "confidence is 0.02"},
		{`{"confidence": 29}`, "confidence is 0.29"},
		{`{"confidence": "29%"}`, "0.29"}, {`{"confidence": " 5 % "}`, "0.05"}, {`{"confidence": "1%"}`, "0.01"}, {`{"confidence": "0.1"}`, "0.1"},
		{`{"confidence": 1e-30}`, "1e-30"},
		{"", ""}, {"{}", ""}, {"{", ""}, {"0.1", ""}, {"[0.1]", ""},
		{`{"confidence": 0.3}`, ""}, {`{"confidence": 1}`, ""}, {`{"confidence": 1.0}`, ""}, {`{"confidence": 30}`, ""}, {`{"confidence": 100}`, ""},
		{`{"confidence": "85 %"}`, ""}, {`{"confidence": "30%"}`, ""}, {`{"confidence": "0.9"}`, ""},
		{`{"confidence": "high"}`, ""}, {`{"confidence": "NaN"}`, ""}, {`{"confidence": null}`, ""}, {`{"confidence": [0.1]}`, ""}, {`{"confidence": 1e400}`, ""},
		{`{"confidence": "hoch"}`, ""}, {`{"置信度": 0.1}`, ""}, {`{"text": "confidence: 0.1"}`, ""},
	})
	runValues(t, Config{LowConfidence: LowConfidenceCheck{On: true, Min: 0.8, Field: "parts[].sure"}}, LowConfidence, []valueCase{
		{`{"parts": [{"sure": 0.9}, {"sure": 0.7}]}`, "parts[].sure is 0.7, want at least 0.8"},
		{`{"parts": [{"sure": 0.9}, {}]}`, ""},
		{`{"confidence": 0.1}`, ""},
	})
}

func TestWordsAreLookedForWhereThereAreTexts(t *testing.T) {
	for value, want := range map[string]bool{
		`1`: false, `[]`: false, `{"a":1}`: false, `{ "a" : [1, {"b\"" : null}] }`: false, `{"a\\":{"b":true}}`: false,
		`"a"`: true, `["a"]`: true, `{"a":"b"}`: true, `{"a":1,"b":["c:"]}`: true, `{"a":{"b":""}}`: true,
	} {
		if got := hasTexts(json.RawMessage(value)); got != want {
			t.Errorf("hasTexts(%s) = %t, want %t", value, got, want)
		}
	}
	c := Config{Refusal: RefusalCheck{On: true, Words: true}}
	if f := c.CheckValue(&Answer{Value: json.RawMessage(`{"a": [1], "b": {"c": "I cannot help with that."}}`)}); f == nil {
		t.Error("a refusal in a field is not seen")
	}
}
