package learn

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoosen(t *testing.T) {
	for _, test := range []struct {
		name, schema, want string // "" if there is nothing to loosen
	}{
		{"nothing", `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}},"required":["a"],"additionalProperties":false}`, ""},
		{"ranges and lengths", `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":2},"b":{"type":"string","maxLength":9,"minLength":1}}}`,
			`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}}}`},
		{"places", `{"type":"array","prefixItems":[{"type":"integer","minimum":1},{"type":"integer"}],"minItems":2,"maxItems":2}`,
			`{"type":"array","items":{"type":"integer"}}`},
		{"lists", `{"type":"array","items":{"type":"array","items":{"type":"integer","maximum":3},"maxItems":3}}`,
			`{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`},
		{"choices", `{"anyOf":[{"type":"string","pattern":"a"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
		{"fields that are called like bounds", `{"type":"object","properties":{"pattern":{"type":"string"},"minimum":{"type":"number","minimum":1}}}`,
			`{"type":"object","properties":{"minimum":{"type":"number"},"pattern":{"type":"string"}}}`},
		{"no JSON", `{`, ""},
		{"no object", `true`, ""},
	} {
		got, changed := Loosen(json.RawMessage(test.schema))
		want := test.want
		if want == "" {
			want = test.schema
		}
		var a, b any
		if json.Unmarshal([]byte(want), &a) != nil || json.Unmarshal(got, &b) != nil {
			a, b = want, string(got)
		}
		if diff := cmp.Diff(a, b); diff != "" || changed != (test.want != "") {
			t.Errorf("%s: Loosen() = %s, %t (-want +got):\n%s", test.name, got, changed, diff)
		}
	}
}

func TestOfBounds(t *testing.T) {
	for text, want := range map[string]bool{
		"output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported": true,
		"In context=('properties', 'move'), 'minItems' is not permitted.":                                true,
		"'additionalProperties' is required to be supplied and to be false":                              false,
		"invalid value: `json_schema`":                                                                   false,
	} {
		if got := (Complaint{Text: text}).OfBounds(); got != want {
			t.Errorf("OfBounds(%q) = %t, want %t", text, got, want)
		}
	}
}
