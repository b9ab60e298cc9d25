package yamlclean

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fragments are pieces of lines of which random texts are put together.
var fragments = []string{
	"a", "b", "key", "step", "title", "x y", "Note", "- ", "- ", ": ", ": ", ":", " ", "  ", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", "\n - ", "\n- ", "\n  - ", "\n\n",
	"\"", "'", "\"q\"", "'r'", "''", "\\\"", "\\n", "\\d", "#", " # c", "#12", "|", ">-", "|\n", "|+\n", "[", "]", "{", "}", ",", ", ", "[a, b]", "{a: 1}", "&x ", "*x", "!!str ", "!t ", "?", "? ",
	"1", "0x1", "1.5", "true", "null", "~", "no", "<<", "`", "@", "%", "“", "”", "\t", "---\n", "...\n", "```", "```yaml\n", "~~~", "é", "//", "/*", "Here is the plan:\n", "a: 1\n", "b: x: y\n", "  c: d\n", "e:\n",
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(25) {
		b.WriteString(fragments[r.IntN(len(fragments))])
	}
	return b.String()
}

func TestRandomTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 6000
	if raceDetector {
		rounds = 1500
	}
	loaded, repaired := 0, 0
	for range rounds {
		text := randomText(r)
		if data := decoded(t, text); isCollection(data) {
			loaded++
			checkFixes(t, text, data)
		}
		if checkClean(t, text).Repaired {
			repaired++
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("of %d texts %d loaded and %d were repaired", rounds, loaded, repaired)
	if loaded < rounds/50 || repaired < rounds/400 {
		t.Errorf("too few texts of %d loaded (%d) or were repaired (%d) to test anything", rounds, loaded, repaired)
	}
}

// Whatever encoding/json writes is read exactly.
func TestJSONSurvives(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 1500 {
		v := randomValue(r, 0)
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			var b bytes.Buffer
			if err := json.Indent(&b, text, "", "\t"); err != nil {
				t.Fatal(err)
			}
			text = b.Bytes()
		}
		got, err := JSON(string(text))
		if err != nil {
			t.Fatalf("JSON(%s) = %v", text, err)
		}
		if diff := cmp.Diff(exactly(t, text), exactly(t, got)); diff != "" {
			t.Fatalf("JSON(%s): -want +got\n%s", text, diff)
		}
	}
}

// exactly decodes JSON without rounding numbers.
func exactly(t *testing.T, data []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

func randomValue(r *rand.Rand, depth int) any {
	kind := r.IntN(9)
	if depth > 5 {
		kind = r.IntN(6)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return r.Int64() - math.MaxInt64/2
	case 3:
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0.1
		}
		return f
	case 4:
		digits := make([]byte, 1+r.IntN(60))
		for i := range digits {
			digits[i] = byte('0' + r.IntN(10))
		}
		n, _ := new(big.Int).SetString(string(digits), 10)
		return n
	case 5, 6:
		return randomString(r)
	case 7:
		list := []any{}
		for range r.IntN(5) {
			list = append(list, randomValue(r, depth+1))
		}
		return list
	}
	m := map[string]any{}
	for range r.IntN(5) {
		m[randomString(r)] = randomValue(r, depth+1)
	}
	return m
}

func randomString(r *rand.Rand) string {
	special := []rune("\x00\x07\b\t\n\r\x1b\"'\\/:#-?{}[],&*!|>%@`<~= \x7f\u0080\u0085\u00a0\u2028\u2029\ufeff\ufffd\ufffe\uffff😀é")
	var b strings.Builder
	length := r.IntN(12)
	if r.IntN(50) == 0 {
		length = 2000 // more than the library allows for a key
	}
	for range length {
		switch r.IntN(3) {
		case 0:
			b.WriteRune(special[r.IntN(len(special))])
		case 1:
			b.WriteRune(rune('a' + r.IntN(26)))
		default:
			b.WriteString(fragments[r.IntN(len(fragments))])
		}
	}
	return b.String()
}
