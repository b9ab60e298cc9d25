package vote

import (
	"encoding/json"
	"testing"
)

// TestSpaceAtTheEdges: white space at either end of a text and runs of it inside do not
// count, one by one.
func TestSpaceAtTheEdges(t *testing.T) {
	for in, want := range map[string]string{
		"a":            "a",
		"a b":          "a b",
		"a ":           "a",
		" a":           "a",
		" ":            "",
		"":             "",
		"a  b":         "a b",
		"a b ":         "a b",
		"a\tb":         "a b",
		"a\n":          "a",
		"\u00a0a":      "a",
		"a\u2003b":     "a b",
		"é x":          "é x",
		"é\u3000":      "é",
		"!\u0085~":     "! ~",
		"a b  c d":     "a b c d",
		"\u007f\u0080": "\u007f\u0080",
	} {
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := parse(string(raw), true)
		if err != nil {
			t.Fatal(err)
		}
		wanted.text = want
		if got, err := Canonical(raw, KeyOptions{}); err != nil || got != string(wanted.appendTo(nil)) {
			t.Errorf("Canonical(%s) = %s, %v, want %q", raw, got, err, want)
		}
	}
}

// TestEscapesInAnyCase: the digits of an escape may be written large or small.
func TestEscapesInAnyCase(t *testing.T) {
	for in, want := range map[string]string{
		`"\u00e9"`: `"é"`, `"\u00E9"`: `"é"`, `"\uABCD"`: `"ꯍ"`, `"\uabcd"`: `"ꯍ"`, `"\uFFFD"`: `"�"`, `"\uD83D\uDE00"`: `"😀"`,
		`"\u004A"`: `"J"`, `"\u004F"`: `"O"`, `"\u004f"`: `"O"`, `"\u0049"`: `"I"`, `"\u0040"`: `"@"`,
	} {
		if got, err := Canonical(json.RawMessage(in), KeyOptions{}); err != nil || got != want {
			t.Errorf("Canonical(%s) = %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{`"\u004G"`, `"\u004g"`, `"\u004@"`, "\"\\u004`\"", `"\u004/"`, `"\u004:"`} {
		if got, err := Canonical(json.RawMessage(in), KeyOptions{}); err == nil {
			t.Errorf("Canonical(%s) = %s, want an error", in, got)
		}
	}
}

// TestTheLargestRule: the largest numbers that a rule may have are allowed, and no larger
// ones.
func TestTheLargestRule(t *testing.T) {
	for _, test := range []struct {
		rule Rule
		ok   bool
	}{
		{Rule{Strategy: FirstToK, K: MostSamples, MaxSamples: MostSamples}, true},
		{Rule{Strategy: Majority, N: MostSamples, MaxSamples: MostSamples}, true},
		{Rule{Strategy: None, MaxSamples: MostSamples}, true},
		{Rule{Strategy: None, MaxSamples: MostSamples, K: MostSamples + 1}, false},
		{Rule{Strategy: None, MaxSamples: MostSamples, N: MostSamples + 1}, false},
		{Rule{Strategy: None, MaxSamples: MostSamples + 1}, false},
		{Rule{Strategy: None, MaxSamples: 1}, true},
		{Rule{Strategy: None}, false},
		{Rule{Strategy: Majority, N: 1, MaxSamples: 1}, true},
		{Rule{Strategy: Majority, N: 4, MaxSamples: 3}, true},
		{Rule{Strategy: Majority, N: 4, MaxSamples: 2}, false},
		{Rule{Strategy: FirstToK, K: 3, MaxSamples: 3}, true},
		{Rule{Strategy: FirstToK, K: 4, MaxSamples: 3}, false},
	} {
		if err := test.rule.Validate(); (err == nil) != test.ok {
			t.Errorf("%+v.Validate() = %v, want it valid: %t", test.rule, err, test.ok)
		}
	}
}
