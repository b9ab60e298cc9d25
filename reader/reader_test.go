package reader_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/reader"
)

var every = []reader.Reader{
	reader.OneOf{Options: []string{"yes", "no", "not sure"}},
	reader.Bool{},
	reader.Number{},
	reader.Number{Unit: "kg", Tolerance: "0.5"},
	reader.Number{Integer: true, RelativeTolerance: "0.01"},
	reader.Date{},
	reader.Date{Order: "dmy"},
	reader.Regexp{Pattern: `[a-z]+\d`},
	reader.JSON{Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}`), VoteOn: []string{"a"}},
	reader.JSON{Schema: json.RawMessage(`true`)},
	reader.List{Of: reader.Text{}},
	reader.List{Of: reader.Number{}, Unordered: true},
	reader.List{Of: reader.List{Of: reader.Bool{}}},
	reader.Object{Fields: []reader.Field{{Name: "a", Of: reader.Date{}}, {Name: "b", Of: reader.List{Of: reader.OneOf{Options: []string{"x", "y"}}}, Optional: true}, {Name: "c", Of: reader.Text{}, Prose: true, Description: "why"}}},
	reader.Text{},
}

func TestFormat(t *testing.T) {
	for _, r := range every {
		if err := r.Validate(); err != nil {
			t.Errorf("Validate(%+v) = %v", r, err)
		}
		data, err := json.Marshal(r.Format())
		if err != nil {
			t.Fatal(err)
		}
		var f flow.Format
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		again, err := reader.Of(f)
		if err != nil {
			t.Errorf("Of(%s) = %v", data, err)
			continue
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Errorf("Of(Format()) of %T: %s", r, diff)
		}
		if strings.TrimSpace(r.Instruction()) == "" {
			t.Errorf("%T has no instruction", r)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(reader.Output(r), &schema); err != nil {
			t.Errorf("Output(%+v) = %v", r, err)
		} else if _, err := schema.Resolve(nil); err != nil || schema.Type != "object" {
			t.Errorf("Output(%+v) is of the type %q (%v), want an object", r, schema.Type, err)
		}
	}
	if _, err := reader.Of(flow.Format{Reader: "other"}); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("Of(other) = %v", err)
	}
	if _, err := reader.Readers().New("read_one_of", json.RawMessage(`{"options":["a"]}`)); err == nil {
		t.Error("a reader with one option could be made from a log")
	}
}

func TestValidate(t *testing.T) {
	for want, r := range map[string]reader.Reader{
		"at least two":           reader.OneOf{Options: []string{"yes"}},
		"is there twice":         reader.OneOf{Options: []string{"yes", "no", "yes"}},
		"could not be told":      reader.OneOf{Options: []string{"yes", "Yes."}},
		"nothing to tell":        reader.OneOf{Options: []string{"yes", " "}},
		"more than one line":     reader.OneOf{Options: []string{"yes", "a\nb"}},
		"at most 1000":           reader.OneOf{Options: make([]string, 1001)},
		"negative":               reader.Number{Tolerance: "-1"},
		"less than 1":            reader.Number{RelativeTolerance: "1"},
		"not a number":           reader.Number{Tolerance: "x"},
		"no unit":                reader.Number{Unit: "5"},
		`bound "x" is not`:       reader.Number{Min: "x"},
		"no number is between":   reader.Number{Min: "2", Max: "1"},
		"want dmy or mdy":        reader.Date{Order: "ydm"},
		"missing closing":        reader.Regexp{Pattern: "[a"},
		"is empty":               reader.Regexp{},
		"matches an empty text":  reader.Regexp{Pattern: "a*"},
		"schema is empty":        reader.JSON{},
		"not JSON":               reader.JSON{Schema: json.RawMessage(`{"type"`)},
		"no JSON schema":         reader.JSON{Schema: json.RawMessage(`[1]`)},
		"cannot be used":         reader.JSON{Schema: json.RawMessage(`{"$ref":"https://example.com/s"}`)},
		`no field "b"`:           reader.JSON{Schema: json.RawMessage(`{"properties":{"a":{}}}`), VoteOn: []string{"b"}},
		"removes it":             reader.JSON{Schema: json.RawMessage(`{"properties":{"a":{}}}`), VoteOn: []string{"a"}, Ignore: []string{"a"}},
		"a list of what":         reader.List{},
		"schema is that of a li": reader.List{Of: reader.JSON{}},
		"without fields":         reader.Object{},
		"no field is voted on":   reader.Object{Fields: []reader.Field{{Name: "a", Of: reader.Text{}, Prose: true}}},
		`field "a": the order`:   reader.Object{Fields: []reader.Field{{Name: "a", Of: reader.Date{Order: "x"}}}},
		`"A_b" is there twice`:   reader.Object{Fields: []reader.Field{{Name: "ab", Of: reader.Text{}}, {Name: "A_b", Of: reader.Text{}}}},
	} {
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate(%+v) = %v, want an error with %q", r, err, want)
		}
	}
}

// Answers to one question that agree have one key, and others have not.
func TestAgreement(t *testing.T) {
	for _, test := range []struct {
		name string
		r    reader.Reader
		said []string
		same string // which of them have the key of the first
	}{
		{"one of", reader.OneOf{Options: []string{"yes", "no"}}, []string{"yes", "**Yes**.", "no", `{"answer":"yes"}`}, "1101"},
		{"number", reader.Number{}, []string{"7", "7.0", "The answer is 7.", "8"}, "1110"},
		{"units that nobody asked for", reader.Number{}, []string{"5", "5 km", "5 miles", "5 kilometers"}, "1101"},
		{"tolerance", reader.Number{Tolerance: "0.1"}, []string{"1.0", "1.1", "1.2", "1.05"}, "1101"},
		{"relative tolerance", reader.Number{RelativeTolerance: "0.01"}, []string{"100", "101", "102"}, "110"},
		{"date", reader.Date{}, []string{"2025-03-04", "March 4, 2025", "2025-03-05"}, "110"},
		{"text", reader.Text{}, []string{"Paris", "paris.", "London", `{"answer":"Paris"}`}, "1101"},
		{"list", reader.List{Of: reader.Text{}}, []string{"a, b", `["A","B"]`, "b, a", "- a\n- b"}, "1101"},
		{"unordered", reader.List{Of: reader.Text{}, Unordered: true}, []string{"a, b", "b, a", `["a"]`, "a, a, b"}, "1100"},
		{"list of numbers within", reader.List{Of: reader.Number{Tolerance: "1"}}, []string{"1, 10", "[2, 9]", "[3, 10]"}, "110"},
		{"fields", reader.JSON{Schema: json.RawMessage(`{"type":"object"}`), VoteOn: []string{"a"}}, []string{`{"a":1,"b":2}`, `{"a":1.0}`, `{"a":2,"b":2}`}, "110"},
		{"prose", reader.Object{Fields: []reader.Field{{Name: "a", Of: reader.Number{}}, {Name: "b", Of: reader.Text{}, Prose: true}}}, []string{`{"a":1,"b":"x"}`, `{"b":"y","a":"1"}`, `{"a":2,"b":"x"}`}, "110"},
	} {
		read, err := reader.New(test.r.Format())
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, text := range test.said {
			answer, flag := read.Read(text)
			if flag != nil {
				t.Errorf("%s: Read(%q) = %+v", test.name, text, flag)
			}
			keys = append(keys, answer.Key)
		}
		for i, key := range keys {
			if got, want := key == keys[0], test.same[i] == '1'; got != want {
				t.Errorf("%s: %q agrees with %q: %t, want %t (%s, %s)", test.name, test.said[i], test.said[0], got, want, key, keys[0])
			}
		}
	}
}

type priority string

func (priority) Options() []string { return []string{"low", "high"} }

type ticket struct {
	Label    string     `json:"label" enum:"billing, bug, other"`
	Priority priority   `json:"priority"`
	Hours    float64    `json:"hours" unit:"h" tolerance:"0.5" jsonschema:"how long it takes"`
	Count    *int       `json:"count"`
	Due      time.Time  `json:"due"`
	Closed   *time.Time `json:"closed,omitempty"`
	Tags     []string   `json:"tags" order:"any"`
	Code     string     `json:"code,omitempty" match:"[A-Z]+"`
	Why      string     `json:"why" vote:"-"`
	Skipped  int        `json:"-"`
}

func TestFor(t *testing.T) {
	r, err := reader.For[ticket]()
	if err != nil {
		t.Fatal(err)
	}
	want := reader.Object{Fields: []reader.Field{
		{Name: "label", Of: reader.OneOf{Options: []string{"billing", "bug", "other"}}},
		{Name: "priority", Of: reader.OneOf{Options: []string{"low", "high"}}},
		{Name: "hours", Of: reader.Number{Unit: "h", Min: "-1.797693134862315e308", Max: "1.797693134862315e308", Tolerance: "0.5"}, Description: "how long it takes"},
		{Name: "count", Of: reader.Number{Integer: true, Min: "-9223372036854775808", Max: "9223372036854775807"}, Optional: true},
		{Name: "due", Of: reader.Date{}},
		{Name: "closed", Of: reader.Date{}, Optional: true},
		{Name: "tags", Of: reader.List{Of: reader.Text{}, Unordered: true}},
		{Name: "code", Of: reader.Regexp{Pattern: "[A-Z]+"}, Optional: true},
		{Name: "why", Of: reader.Text{}, Prose: true},
	}}
	if diff := cmp.Diff(reader.Reader(want), r); diff != "" {
		t.Errorf("For[ticket](): %s", diff)
	}
	read, err := reader.New(r.Format())
	if err != nil {
		t.Fatal(err)
	}
	answer, flag := read.Read("```json\n" + `{"label":"Bug","priority":"HIGH","hours":"1.5 hours","count":2,"due":"March 4, 2025","closed":null,"tags":"a, b","why":"it crashes"}` + "\n```")
	if flag != nil {
		t.Fatalf("Read = %+v", flag)
	}
	got, err := reader.Decode[ticket](answer.Value)
	if err != nil {
		t.Fatal(err)
	}
	two := 2
	if diff := cmp.Diff(ticket{
		Label: "bug", Priority: "high", Hours: 1.5, Count: &two, Due: time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC), Tags: []string{"a", "b"}, Why: "it crashes",
	}, got); diff != "" {
		t.Errorf("Decode: %s", diff)
	}
}

func TestForSimple(t *testing.T) {
	type loop struct{ Next []loop }
	for _, test := range []struct {
		get  func() (reader.Reader, error)
		want reader.Reader
		err  string
	}{
		{reader.For[string], reader.Text{}, ""},
		{reader.For[priority], reader.OneOf{Options: []string{"low", "high"}}, ""},
		{reader.For[bool], reader.Bool{}, ""},
		{reader.For[int], reader.Number{Integer: true, Min: "-9223372036854775808", Max: "9223372036854775807"}, ""},
		{reader.For[float64], reader.Number{Min: "-1.797693134862315e308", Max: "1.797693134862315e308"}, ""},
		{reader.For[time.Time], reader.Date{}, ""},
		{reader.For[[]uint16], reader.List{Of: reader.Number{Integer: true, Min: "0", Max: "65535"}}, ""},
		{reader.For[any], nil, "does not follow"},
		{reader.For[map[string]int], nil, "does not follow"},
		{reader.For[[]byte], nil, "does not follow"},
		{reader.For[json.RawMessage], nil, "reads itself"},
		{reader.For[loop], nil, "contains itself"},
		{reader.For[struct{}], nil, "without fields"},
		{reader.For[struct {
			A int `enum:"a,b"`
		}], nil, "field A: the tag enum is for strings"},
		{reader.For[struct {
			A string `unit:"kg"`
		}], nil, "field A: the tag unit is for numbers"},
	} {
		got, err := test.get()
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("For = %v, %v, want an error with %q", got, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("For = %v: %s", err, diff)
		}
	}
	if _, err := reader.Decode[int](json.RawMessage(`"x"`)); err == nil {
		t.Error(`Decode[int]("x") did not fail`)
	}
	if day, err := reader.Decode[[]time.Time](json.RawMessage(`["2025-03-04"]`)); err != nil || day[0].Format(time.DateOnly) != "2025-03-04" {
		t.Errorf("Decode = %v, %v", day, err)
	}
}

// Whatever is read is stated by the text, is JSON with a key, and reading what was read
// gives the same again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"yes", "**No**.", "Answer: 1,234.5 kg", `{"answer": [1, 2]}`, "2025-03-04", "March 4, 2025", "- a\n- b", "```json\n{\"a\": 1}\n```", "<think>x</think> true",
		"3 to 5", "$5", "1 234", "a: 2025-01-01\nb: [x]\nc: y", "\\boxed{5}", "答案是 是", "5 ± 1 km/h", "x = −3e4", "not sure", "a1 b2", "[[true], [false]]",
		"12345 kg, because", "not yes", "It is a1.", "['a', 'b']", "a, b, and c", "- 5", "The answer is 2025-03-04.", "{\"value\": 5, \"unit\": \"kg\"}", "1 234 567", "USD 5 million", "~~no~~", "4 2025 March 4, 2025",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range every {
			read, err := reader.New(r.Format())
			if err != nil {
				t.Fatal(err)
			}
			answer, flag := read.Read(text)
			if flag != nil {
				if !strings.Contains(flag.Reason, "") || flag.Name == "" {
					t.Errorf("%+v: Read(%q) has a flag without a name", r, text)
				}
				continue
			}
			if !json.Valid(answer.Value) || !json.Valid([]byte(answer.Key)) {
				t.Errorf("%+v: Read(%q) = %s, key %s: not JSON", r, text, answer.Value, answer.Key)
			}
			if !stated(r, text, answer.Value) {
				t.Errorf("%+v: Read(%q) = %s, which is not what it says", r, text, answer.Value)
			}
			if _, ok := r.(reader.Regexp); ok {
				continue // what is quoted once more may be another text
			}
			again, flag := read.Read(`{"answer": ` + string(answer.Value) + `}`)
			if flag != nil || again.Key != answer.Key {
				t.Errorf("%+v: Read(%q) = %s, key %s; what was read is read as %s, key %s, %+v", r, text, answer.Value, answer.Key, again.Value, again.Key, flag)
			}
		}
	})
}

// No text takes long, however often it says the same. What is quadratic in it would not
// end here.
func TestReadLong(t *testing.T) {
	for _, unit := range []string{"1, ", "yes ", "[", "{\"a\":", "- a\n", "answer: ", "2025-01-01 ", "<think>", "$1$ ", "a: b\n", "```\n", "1,000 kg or ", "\\boxed{"} {
		for _, r := range every {
			read, err := reader.New(r.Format())
			if err != nil {
				t.Fatal(err)
			}
			read.Read(strings.Repeat(unit, 4_000/len(unit)))
		}
	}
}

// TestInstructions: the options of a choice stand in another order each time; all else is
// said in one way.
func TestInstructions(t *testing.T) {
	for _, test := range []struct {
		r    reader.Reader
		want []string // the first option of each
	}{
		{reader.OneOf{Options: []string{"a", "b", "c"}}, []string{"a, b, c", "b, c, a", "c, a, b"}},
		{reader.OneOf{Options: []string{"a", "b"}}, []string{"a, b", "b, a"}},
		{reader.OneOf{Options: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}}, []string{"a, b", "c, d", "e, f", "g, h", "i, j"}},
		{reader.Bool{}, []string{"true or false"}},
	} {
		got := reader.Instructions(test.r, 5)
		if len(got) != len(test.want) {
			t.Fatalf("Instructions(%+v) = %q, want %d", test.r, got, len(test.want))
		}
		for i, want := range test.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("instruction %d of %+v is %q, want %q in it", i+1, test.r, got[i], want)
			}
		}
	}
}
