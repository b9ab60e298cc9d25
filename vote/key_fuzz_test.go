package vote

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// shuffled writes a JSON value with its fields in another order, more space
// between tokens and all text escaped. Numbers stay as they are.
func shuffled(b *bytes.Buffer, v any, rng *rand.Rand) {
	space := func() { b.WriteString([]string{"", " ", "\n\t"}[rng.IntN(3)]) }
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		b.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			shuffled(b, name, rng)
			space()
			b.WriteByte(':')
			shuffled(b, v[name], rng)
			space()
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			shuffled(b, element, rng)
		}
		space()
		b.WriteByte(']')
	default:
		text, err := json.Marshal(v) // escapes more than we do
		if err != nil {
			panic(err)
		}
		b.Write(text)
	}
}

func decodeNumbers(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	err := decoder.Decode(&v)
	return v, err
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,1.0,{"d":"x","c":null}],"a":" two  words "}`,
		`"e\u0301 \ud83d\ude00"`,
		`[1e999999999,-0,0.1e-5,123456789012345678901234567890]`,
		"\"\xff\"", `"\ud800"`, `{"a":1,"a":2}`, `[[[[]]]]`, `"` + strings.Repeat("\u0301", 40) + `"`,
		"\" \u0344\u0345\"", `"\u2000\u2001"`, `"\u0958\u1100\u1161\u11a8"`,
	} {
		f.Add([]byte(seed), false, uint64(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, keepSpace bool, seed uint64) {
		o := KeyOptions{KeepSpace: keepSpace}
		key, err := Canonical(raw, o)
		if err != nil {
			if key != "" {
				t.Errorf("Canonical(%q) = %q, %v, want no key with an error", raw, key, err)
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("Canonical(%q) = %s, want an error", raw, key)
		}
		if !json.Valid([]byte(key)) || !utf8.ValidString(key) {
			t.Fatalf("Canonical(%q) = %q, want valid JSON", raw, key)
		}
		if again, err := Canonical(json.RawMessage(key), o); err != nil || again != key {
			t.Fatalf("Canonical(%q) = %q, %v, want no change", key, again, err)
		}

		v, err := decodeNumbers(raw)
		if err != nil {
			t.Fatalf("Canonical(%q) = %s, but the standard library says %v", raw, key, err)
		}
		var other bytes.Buffer
		shuffled(&other, v, rand.New(rand.NewPCG(seed, 0)))
		if other.Len() > MaxKeyBytes {
			return
		}
		if got, err := Canonical(other.Bytes(), o); err != nil || got != key {
			t.Fatalf("Canonical(%q) = %q, %v, want %q as for %q", other.Bytes(), got, err, key, raw)
		}
	})
}

// FuzzKeyPaths checks that a key stays the same under its own options.
func FuzzKeyPaths(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1,"c":2},"d":[{"b":1}]}`), "a", "a.c")
	f.Add([]byte(`{"a":{"b":1,"c":2},"d":[{"b":1}]}`), "d.*.b", "d.*")
	f.Add([]byte(`{"a":{"b":{"x":1},"c":{"x":2}}}`), "a.*.x", "a.b")
	f.Add([]byte(`{"a.b":1,"*":2}`), `a\.b`, `\*`)
	f.Fuzz(func(t *testing.T, raw []byte, voteOn, ignore string) {
		o := KeyOptions{VoteOn: []string{voteOn}, Ignore: []string{ignore}}
		if o.Validate() != nil {
			return
		}
		key, err := Canonical(raw, o)
		if err != nil {
			return
		}
		if again, err := Canonical(json.RawMessage(key), o); err != nil || again != key {
			t.Fatalf("Canonical(%q, %+v) = %q, %v, want no change", key, o, again, err)
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	step := json.RawMessage(`{"move":[1,0,2],"next_state":[[20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3],[2],[1]]}`)
	prose := json.RawMessage(`{"why":"` + strings.Repeat("because it is so, ", 40) + `","answer":{"total":12.50,"items":["a","b"]}}`)
	for _, bench := range []struct {
		name string
		raw  json.RawMessage
		o    KeyOptions
	}{
		{"step", step, KeyOptions{}},
		{"vote_on", prose, KeyOptions{VoteOn: []string{"answer.total"}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bench.raw)))
			for b.Loop() {
				if _, err := Canonical(bench.raw, bench.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkShortKey(b *testing.B) {
	b.ReportAllocs()
	key := strings.Repeat("k", 120)
	for b.Loop() {
		ShortKey(key)
	}
}
