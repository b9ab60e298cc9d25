package vote

import (
	"encoding/json"
	"errors"
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

// TestNearAtTheEdges: a relative tolerance is one of the larger number, whichever comes
// first, and includes its end; numbers of more than a thousand digits have none.
func TestNearAtTheEdges(t *testing.T) {
	clusters, err := NewClusters(KeyOptions{RelativeTolerance: "0.1"})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("1", maxTolerantDigits-1)
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"90", "100", true}, {"100", "90", true}, {"-90", "-100", true}, {"89.99", "100", false}, {"100", "89.99", false},
		{"1e1000", "1.01e1000", true}, {"1e1001", "1.01e1001", false}, {"1e-1000", "1.01e-998", false},
		{"1e-1000", "9e-1000", false}, {"10e-1000", "9e-1000", true}, {"10e-1001", "95e-1002", false},
		{long + "1", long + "2", true}, {long + "11", long + "12", false},
	} {
		first, second := mustDecimal(t, test.a), mustDecimal(t, test.b)
		x, y := first.rational(), second.rational()
		got := x != nil && y != nil && clusters.near(x, y)
		if got != test.want {
			t.Errorf("near(%.20s, %.20s) = %t, want %t", test.a, test.b, got, test.want)
		}
	}
}

// TestExponentsAtTheEdges: the largest and the smallest number that have a normal form.
func TestExponentsAtTheEdges(t *testing.T) {
	for text, want := range map[string]bool{
		"1e1000000000000000": true, "10e999999999999999": true, "1e1000000000000001": false,
		"1e-1000000000000000": true, "1e-1000000000000001": false, "0.1e-999999999999999": true,
	} {
		if _, err := parseDecimal(text); (err == nil) != want {
			t.Errorf("parseDecimal(%s) = %v, want a number: %t", text, err, want)
		}
	}
}

// TestMinKAtTheEdges: what voters that are wrong more often than not can reach.
func TestMinKAtTheEdges(t *testing.T) {
	for _, p := range []float64{0.3, 0.1, 1e-300, 0} {
		if k, err := MinK(p, 1, 0.5); !errors.Is(err, ErrNoMargin) {
			t.Errorf("MinK(%v, 1, 0.5) = %d, %v, want %v", p, k, err, ErrNoMargin)
		}
		if k, err := MinK(p, 1, p/2); p > 0 && (err != nil || k != 1) {
			t.Errorf("MinK(%v, 1, %v) = %d, %v, want 1", p, p/2, k, err)
		}
	}
}

// TestTiesKeepTheLeader: who came first to a number of votes leads until somebody has more.
func TestTiesKeepTheLeader(t *testing.T) {
	tally := NewTally(Rule{Strategy: Majority, N: 5, MaxSamples: 9})
	for _, key := range []string{"a", "b", "b", "a"} {
		tally.Vote(key)
	}
	if tally.leader != 1 || tally.Margin() != 0 {
		t.Errorf("after a, b, b, a the leader is %d by %d, want b by 0", tally.leader, tally.Margin())
	}
}
