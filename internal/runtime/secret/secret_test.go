package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	s := NewSet("sk-12345678", `pass"word\9`, "short", "")
	for _, c := range []struct{ in, want string }{
		{"nothing here", "nothing here"},
		{"Bearer sk-12345678!", "Bearer [redacted]!"},
		{"sk-12345678sk-12345678", "[redacted][redacted]"},
		{"sk-1234567", "sk-1234567"},
		{"short is no secret", "short is no secret"},
		{`raw pass"word\9`, "raw [redacted]"},
		{`{"x":"pass\"word\\9"}`, `{"x":"[redacted]"}`},
		{`"{\"x\":\"pass\\\"word\\\\9\"}"`, `"{\"x\":\"[redacted]\"}"`},
		{"?key=sk%2d12345678&b=%20", "?key=[redacted]&b=%20"},
		{"100% sk-12345678 %", "100% [redacted] %"},
		{`sk-1234\u0035678`, "[redacted]"},
		{`%5Cu0073k-12345678`, "[redacted]"},
	} {
		if got := s.Redact(c.in); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// ways are the forms in which a key is found.
func ways(key string) map[string]string {
	lines := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 40) + key))
	percent, escaped := "", ""
	for _, b := range []byte(key) {
		percent += fmt.Sprintf("%%%02x", b)
	}
	for _, r := range key {
		escaped += fmt.Sprintf(`\u%04X`, r)
	}
	quoted, _ := json.Marshal(key) // a string can be encoded
	twice, _ := json.Marshal(string(quoted))
	list := map[string]string{
		"plain": key, "hex": hex.EncodeToString([]byte(key)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(key))),
		"percent": percent, "query": url.QueryEscape(key), "path": url.PathEscape(key), "percent twice": url.QueryEscape(percent),
		"escaped": escaped, "quoted": string(quoted), "quoted twice": string(twice),
		"base64 with breaks": lines[:64] + "\n" + lines[64:], "base64 with other breaks": lines[:64] + "\r\n" + lines[64:],
		"base64 with indented breaks": lines[:64] + "\n  " + lines[64:],
	}
	for name, e := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.URLEncoding, "raw std": base64.RawStdEncoding, "raw url": base64.RawURLEncoding} {
		for before := range 4 {
			list[fmt.Sprintf("%s %d", name, before)] = e.EncodeToString([]byte("abcd"[:before] + key))
			list[fmt.Sprintf("%s %d and more", name, before)] = e.EncodeToString([]byte("abcd"[:before] + key + "xyz"))
			list[fmt.Sprintf("%s %d percent", name, before)] = url.QueryEscape(e.EncodeToString([]byte("abcd"[:before] + key + "xyz")))
		}
	}
	return list
}

// TestForms: of a key in any form no more is left than its ends in base64, which
// depend on what is beside them.
func TestForms(t *testing.T) {
	for _, key := range []string{"sk-12345678", "sk-ant-api03-Zq9xW7vB4nT6yL1hQ2mK8", `p"a/s+s\w<o>r&d%é9!`, "12345678", "++++////????>>>>"} {
		s := NewSet("another-key-of-ours", key)
		for way, form := range ways(key) {
			got := s.Redact("before " + form + " after")
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, Shown) {
				t.Errorf("Redact(%q, %s) = %q, want it without the key", form, way, got)
			}
			if left := len(got) - len("before  after"+Shown); left > 16 && !strings.Contains(way, "breaks") {
				t.Errorf("Redact(%q, %s) = %q, want less of it left", form, way, got)
			}
			line, err := json.Marshal(map[string]any{"a": form, "b" + form: map[string]any{"c": []string{form}}})
			if err != nil {
				t.Fatal(err)
			}
			out := s.RedactBytes(line)
			var back map[string]any
			if err := json.Unmarshal(out, &back); err != nil || len(back) != 2 {
				t.Errorf("RedactBytes(%s) = %s, %v, want a document with two fields", line, out, err)
			}
			if n := strings.Count(string(out), Redacted); n < 3 {
				t.Errorf("RedactBytes(%s, %s) = %s, want the key out of a value, a name and a list", line, way, out)
			}
			if again := s.RedactBytes(out); string(again) != string(out) {
				t.Errorf("RedactBytes(%s) = %s, want it as it is", out, again)
			}
		}
	}
}

func TestRedactJSON(t *testing.T) {
	s := NewSet("sk-12345678", `pass"word\9`, "60000000000", "timestamp", "nextlines").Keep([]string{"timestamp"})
	for _, c := range []struct{ in, want string }{
		{`{"x":"nothing"}`, `{"x":"nothing"}`},
		{`{"x":"a sk-12345678 b","y":["sk-12345678"]}`, `{"x":"a [R] b","y":["[R]"]}`},
		{`{"x":"pass\"word\\9"}`, `{"x":"[R]"}`},
		{`{"n":60000000000,"s":"60000000000"}`, `{"n":60000000000,"s":"[R]"}`},
		{`{"timestamp":"timestamp", "b" : 1}`, `{"timestamp":"[R]", "b" : 1}`},
		{`{"timestamps":1}`, `{"[R]s":1}`},
		{`{"x":"\\","y":"sk-12345678"}`, `{"x":"\\","y":"[R]"}`},
		{`"sk-12345678`, `"[R]`},
		{`{"votes":{"\"sk-12345678\"":3,"b":1}}`, `{"votes":{"\"[R]\"":3,"b":1}}`},
		{`{"sk-12345678" : 1, "60000000000":2}`, `{"[R]" : 1, "[R] (2)":2}`},
		{`{"[redacted by maker]":0,"sk-12345678":1,"60000000000":2}`, `{"[R]":0,"[R] (2)":1,"[R] (3)":2}`},
		{`{"sk-12345678":1,"[redacted by maker]":0}`, `{"[R] (2)":1,"[R]":0}`},
		{`[{"sk-12345678":1},{"60000000000":{"sk-12345678":2}}]`, `[{"[R]":1},{"[R]":{"[R]":2}}]`},
		{`{"x":"one\nextlines"}`, `{"x":"one\nextlines"}`}, // the n is part of the line break
		{`{"x":"one\n\nnextlines \u003c"}`, `{"x":"one\n\n[R] \u003c"}`},
		{`{"x":"a \"{\" sk-12345678","y":"}"}`, `{"x":"a \"{\" [R]","y":"}"}`},
	} {
		want := strings.ReplaceAll(c.want, "[R]", Redacted)
		if got := string(s.RedactBytes([]byte(c.in))); got != want {
			t.Errorf("RedactBytes(%s) = %s, want %s", c.in, got, want)
		}
	}
}

// TestLongTexts: a key is found wherever it is in a long text, also across the pieces
// in which it is looked at.
func TestLongTexts(t *testing.T) {
	s := NewSet("sk-12345678")
	for _, form := range []string{"sk-12345678", "sk%2D1234%35678", `\u0073k-12345678`} {
		for _, before := range []int{piece - 200, piece - 13, piece - 5, piece, piece + 3, 2*piece - 7, 3 * piece} {
			text := strings.Repeat(".", before) + form + strings.Repeat(".", piece)
			want := strings.Repeat(".", before) + Shown + strings.Repeat(".", piece)
			if got := s.Redact(text); got != want {
				t.Errorf("Redact(%s after %d bytes) = %d bytes, want %d", form, before, len(got), len(want))
			}
		}
	}
}

func TestNoSecrets(t *testing.T) {
	for _, s := range []*Set{nil, NewSet(), NewSet("", "abc"), NewSet("abc").Keep([]string{"x"})} {
		if got := s.Redact("abc"); got != "abc" {
			t.Errorf("Redact(abc) = %q", got)
		}
		if got := s.RedactBytes([]byte("abc")); string(got) != "abc" {
			t.Errorf("RedactBytes(abc) = %q", got)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("sk-12345678", "x sk-12345678 y")
	f.Add("sk-12345678", `x sk%2d1234\u0035678 y`)
	f.Fuzz(func(t *testing.T, value, text string) {
		got := NewSet(value).Redact(text)
		if len(value) >= shortest && !strings.Contains(Shown, value) && strings.Contains(got, value) &&
			!strings.Contains(value, "[") && !strings.Contains(value, "]") {
			t.Errorf("Redact(%q) with the secret %q = %q", text, value, got)
		}
	})
}

// FuzzRedactBytes: what is JSON stays JSON with as many fields, and has no secret in
// its strings.
func FuzzRedactBytes(f *testing.F) {
	f.Add("sk-12345678", "a sk-12345678", "sk-12345678 b")
	f.Add("nextlines", "\nextlines", `\nextlines`)
	f.Add(`a"b\c/d+e`, `a\"b\\c\/d+e`, "YSJiXGMvZCtl")
	f.Add(`pass\uword`, "name", "text") // a backslash before what could be an escape
	f.Fuzz(func(t *testing.T, value, name, text string) {
		value, name, text = strings.ToValidUTF8(value, "?"), strings.ToValidUTF8(name, "?"), strings.ToValidUTF8(text, "?")
		doc := map[string]any{name: []string{text, "\n" + value}, name + value: text + "\\" + value, "x": 1.5}
		line, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		out := NewSet(value).RedactBytes(line)
		var back map[string]any
		if err := json.Unmarshal(out, &back); err != nil || len(back) != len(doc) {
			t.Fatalf("RedactBytes(%s) = %s, %v, want %d fields", line, out, err, len(doc))
		}
		if len(value) < shortest || strings.ContainsAny(value, "[]() ") || strings.Contains(Redacted, value) {
			return
		}
		for field, v := range back {
			if _, number := v.(float64); strings.Contains(field, value) || !number && strings.Contains(fmt.Sprint(v), value) {
				t.Errorf("RedactBytes(%s) = %s, which has the secret %q", line, out, value)
			}
		}
	})
}

// TestCharactersOfTwoEscapes: a character that JSON writes as two escapes is found
// wherever it is, also at the very end.
func TestCharactersOfTwoEscapes(t *testing.T) {
	s := NewSet("pass😀word😀")
	for in, want := range map[string]string{
		`pass\ud83d\ude00word\ud83d\ude00`:       Shown,
		`pass\uD83D\uDE00word\uD83D\uDE00.`:      Shown + ".",
		`pass😀word\ud83d\ude00`:                  Shown,
		`pass\\ud83d\\ude00word\\ud83d\\ude00"`:  Shown + `"`,
		`pass\ud83d\ude00word\ud83d\ude0`:        `pass\ud83d\ude00word\ud83d\ude0`,
		`pass\ud83d\ude00word\ud83d`:             `pass\ud83d\ude00word\ud83d`,
		`pass\ud83dx\ude00word\ud83d\ude00`:      `pass\ud83dx\ude00word\ud83d\ude00`,
		`pass\ud83d\ude00word\ud83d\u0041 ended`: `pass\ud83d\ude00word\ud83d\u0041 ended`,
	} {
		if got := s.Redact(in); got != want {
			t.Errorf("Redact(%s) = %s, want %s", in, got, want)
		}
	}
}

// TestOneKeyAlone: escapes are seen through whatever the key consists of.
func TestOneKeyAlone(t *testing.T) {
	s := NewSet("sk-12345678")
	for in, want := range map[string]string{
		`%5Cu0073k-12345678`:    Shown,
		`\u005cu0073k-12345678`: Shown,
		`%2573k-12345678`:       Shown,
		`\u4e2d sk-12345678`:    `\u4e2d ` + Shown,
		`\u4e2d \u0080 nothing`: `\u4e2d \u0080 nothing`,
		`sk-1234567\`:           `sk-1234567\`,
	} {
		if got := s.Redact(in); got != want {
			t.Errorf("Redact(%s) = %s, want %s", in, got, want)
		}
	}
	if got := NewSet(`password"`).Redact(`password\"`); got != Shown {
		t.Errorf("Redact(an escape at the end) = %s, want %s", got, Shown)
	}
}

// TestNesting: what is encoded several times is found, up to a depth that bounds the
// work of looking for it.
func TestNesting(t *testing.T) {
	s := NewSet("sk-12345678")
	percent, escaped := "%73k-12345678", `\u0073k-12345678`
	for depth := 1; depth <= nesting+1; depth++ {
		for _, in := range []string{percent, escaped} {
			want := Shown
			if depth > nesting {
				want = in
			}
			if got := s.Redact(in); got != want {
				t.Errorf("Redact(%s), encoded %d times, = %s, want %s", in, depth, got, want)
			}
		}
		percent, escaped = strings.ReplaceAll(percent, "%", "%25"), strings.ReplaceAll(escaped, `\`, `\\`)
	}
}

// TestDocumentsThatAreCut: a document that is broken off keeps no key either.
func TestDocumentsThatAreCut(t *testing.T) {
	s := NewSet("sk-12345678")
	for in, want := range map[string]string{
		`"sk-12345678": 1`:                        `"[R]": 1`,
		`["sk-12345678"`:                          `["[R]"`,
		`{"sk-12345678"`:                          `{"[R]"`,
		`{"a":"sk-12345678`:                       `{"a":"[R]`,
		`]"sk-12345678"`:                          `]"[R]"`,
		`{"x":"sk-12345678","y":"sk-12345678"}`:   `{"x":"[R]","y":"[R]"}`,
		`["sk-12345678","sk-12345678",{"a":"b"}]`: `["[R]","[R]",{"a":"b"}]`,
	} {
		want = strings.ReplaceAll(want, "[R]", Redacted)
		if got := string(s.RedactBytes([]byte(in))); got != want {
			t.Errorf("RedactBytes(%s) = %s, want %s", in, got, want)
		}
	}
}

// TestBrokenLines: a line of base64 that is long enough goes on in the next one; prose
// that happens to spell a key across two lines is none.
func TestBrokenLines(t *testing.T) {
	const key = "sk-12345678-abcdefgh"
	s := NewSet(key)
	text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 30) + key + "yy"))
	for in, want := range map[string]bool{
		text[:shortestLine] + "\n" + text[shortestLine:]:                              true,
		"." + text[:shortestLine] + "\n" + text[shortestLine:]:                        true,
		text[:shortestLine-1] + "\n" + text[shortestLine-1:]:                          false,
		"." + text[:shortestLine-1] + "\n" + text[shortestLine-1:]:                    false,
		"this is a line of prose that is long enough for that sk-12345678-\nabcdefgh": false,
	} {
		if got := s.Redact(in) != in; got != want {
			t.Errorf("Redact(%q) finds it: %t, want %t", in, got, want)
		}
	}
}
