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
