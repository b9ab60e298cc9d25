package reader

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/maker-mdap/maker/vote"
)

var shapes = []string{
	`{}`,
	`{"type":"object","required":["move","next_state"],"additionalProperties":false,"properties":{"move":{"type":"array","items":{"type":"integer"}},"next_state":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}}}`,
	`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["number","null"]}},"required":["b","a","b"]}`,
	`{"type":"array","items":{"type":"boolean"}}`,
	`{"properties":{"a":{"properties":{"a":{"type":"null"}}}},"additionalProperties":true}`,
	`{"required":["a"],"items":{"type":"string"},"title":"x","description":"y"}`,
	`{"type":["integer","object"],"additionalProperties":false}`,
}

var shapeValues = []string{
	`{}`, `[]`, `1`, `"a"`, `null`, `true`, `false`, `-7`, `[[]]`, `[1]`, `["a","b"]`, `[true,false]`, `[true,1]`,
	`{"move":[1,0,2],"next_state":[[2,1],[],[]]}`, `{"move":[1],"next_state":[["a"]]}`, `{"move":[]}`, `{"move":[],"next_state":[],"x":1}`,
	`{"a":"x","b":1}`, `{"a":"x","b":null}`, `{"a":"x","b":"y"}`, `{"a":"x"}`, `{"b":1}`, `{"a":{"a":null}}`, `{"a":{"a":1}}`, `{"a":1,"c":{"d":[1]}}`, `{"answer":1}`,
}

// TestShape: what fits a shape fits the schema, and of what does not the schema decides.
func TestShape(t *testing.T) {
	for _, schema := range shapes {
		d := open(t, schema)
		if !d.shaped {
			t.Errorf("shapeOf(%s) = false", schema)
			continue
		}
		for _, value := range shapeValues {
			_, flag := d.check(json.RawMessage(value))
			if got, want := d.shape.fits(value), flag == nil; got != want {
				t.Errorf("fits(%s) of %s = %t, the schema says %v", value, schema, got, flag)
			}
		}
	}
	for _, schema := range []string{
		`true`, `{"type":"array","items":false}`, `{"enum":["a"]}`, `{"type":"object","additionalProperties":{"type":"string"}}`, `{"properties":{"a":{"minimum":1}}}`,
		`{"allOf":[{"type":"object"}]}`, `{"type":"array","items":{"type":"integer","maximum":3}}`, `{"type":"array","prefixItems":[{"type":"integer"}]}`,
	} {
		if _, ok := shapeOf(json.RawMessage(schema)); ok {
			t.Errorf("shapeOf(%s) = true, want that it says more than a shape", schema)
		}
	}
}

// FuzzPlainAnswer: an answer that is read as a plain one is read alike by other means.
func FuzzPlainAnswer(f *testing.F) {
	for i := range shapes {
		for _, value := range shapeValues {
			f.Add(i, value)
		}
	}
	f.Add(1, " {\"move\": [1, 0, 2],\n \"next_state\": [[2, 1], [], []]}")
	f.Fuzz(func(t *testing.T, i int, said string) {
		d := open(t, shapes[uint(i)%uint(len(shapes))])
		said, flag := spoken(said)
		if flag != nil {
			return
		}
		got, ok := d.plain(said)
		if !ok {
			return
		}
		want, flag := fromParts(said, d.field)
		if flag != nil {
			t.Fatalf("plain(%q) = %s, and the schema says %v", said, got.value, flag)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, want.value); err != nil {
			t.Fatal(err)
		}
		if string(got.value) != compact.String() || got.key != want.key {
			t.Errorf("plain(%q) = %s with key %s, want %s with key %s", said, got.value, got.key, &compact, want.key)
		}
		if key, ok := vote.Plain(got.key); !ok || key != got.key {
			t.Errorf("the key %q is not plain", got.key)
		}
	})
}

func open(t *testing.T, schema string) *documents {
	t.Helper()
	form, err := JSON{Schema: json.RawMessage(schema)}.open()
	if err != nil {
		t.Fatal(err)
	}
	return form.(*documents)
}
