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
