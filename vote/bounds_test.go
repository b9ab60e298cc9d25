package vote

import (
	"encoding/json"
	"strings"
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

// TestTimes: products are exact and in normal form.
func TestTimes(t *testing.T) {
	for _, test := range [][3]string{
		{"2.5", "4", "10"}, {"-2.5", "4", "-10"}, {"-2.5", "-4", "10"}, {"0.5", "20", "10"}, {"0", "7", "0"}, {"7", "0", "0"},
		{"1e300", "1e-300", "1"}, {"125", "8", "1000"}, {"0.125", "0.8", "0.1"}, {"3", "7", "21"}, {"1.1", "1.1", "1.21"},
	} {
		if got, want := mustDecimal(t, test[0]).times(mustDecimal(t, test[1])), mustDecimal(t, test[2]); got != want {
			t.Errorf("%s times %s = %s, want %s", test[0], test[1], got, want)
		}
	}
}

// TestClip: a message shows the beginning of a long text.
func TestClip(t *testing.T) {
	for n, want := range map[int]int{0: 0, 39: 39, 40: 40, 41: 43, 1000: 43} {
		if got := clip(strings.Repeat("x", n)); len(got) != want || n > 40 && !strings.HasSuffix(got, "...") {
			t.Errorf("clip(%d bytes) = %q, want %d bytes", n, got, want)
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
