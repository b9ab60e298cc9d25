package yamlclean

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// decoded returns the JSON of a text, nil if it does not load.
func decoded(t *testing.T, text string) json.RawMessage {
	t.Helper()
	data, err := JSON(text)
	if err != nil {
		checkError(t, text, err)
		return nil
	}
	if !json.Valid(data) {
		t.Fatalf("JSON(%q) = %s, want JSON", text, data)
	}
	return data
}

// checkError checks that an error has a place within the text.
func checkError(t *testing.T, text string, err error) {
	t.Helper()
	e, ok := err.(*ParseError)
	if !ok || e.Line < 1 || e.Column < 0 || e.Message == "" {
		t.Fatalf("the error for %q is %#v, want a ParseError with a place", text, err)
	}
	if lines := bytes.Count([]byte(unifyBreaks(text)), []byte("\n")) + 1; e.Line > lines {
		t.Fatalf("the error for %q is on line %d of %d: %v", text, e.Line, lines, err)
	}
}

func inTime(t *testing.T, text string, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if took := time.Since(start); took > patience {
		t.Errorf("%.100q... (%d bytes) took %v", text, len(text), took)
	}
}

func addSamples(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.text)
	}
	for _, s := range hostile(300) {
		f.Add(s)
	}
}

func FuzzLoad(f *testing.F) {
	addSamples(f)
	f.Fuzz(func(t *testing.T, text string) {
		inTime(t, text, func() {
			data := decoded(t, text)
			if data == nil {
				return
			}
			if again := decoded(t, string(data)); !bytes.Equal(data, again) {
				t.Errorf("Load(%q) = %s, and that loads as %s", text, data, again)
			}
		})
	})
}

func FuzzClean(f *testing.F) {
	addSamples(f)
	f.Fuzz(func(t *testing.T, text string) {
		inTime(t, text, func() { checkClean(t, text) })
	})
}

// checkClean checks what holds for every text.
func checkClean(t *testing.T, text string) Result {
	t.Helper()
	data := decoded(t, text)
	r, err := Clean(text)
	if err != nil {
		checkError(t, text, err)
		if isCollection(data) {
			t.Errorf("Clean(%q) = %v, but it loads as %s", text, err, data)
		}
		return Result{}
	}
	if again, err := Clean(text); describe(again, err) != describe(r, nil) {
		t.Errorf("Clean(%q) = %s, then %s, %v", text, r.Data, again.Data, err)
	}
	if data := decoded(t, r.Text); !bytes.Equal(data, r.Data) {
		t.Errorf("Clean(%q) = %s from %q, which loads as %s", text, r.Data, r.Text, data)
	}
	if !strings.Contains(words(text), words(r.Text)) {
		t.Errorf("Clean(%q) read %q, want the same letters and digits", text, r.Text)
	}
	// A scalar may have fences in it.
	again, err := Clean(r.Text)
	if !isCollection(r.Data) {
		return r
	}
	if err != nil || again.Repaired || !bytes.Equal(again.Data, r.Data) {
		t.Errorf("Clean(Clean(%q).Text) = %s, %v (repaired: %v), want %s", text, again.Data, err, again.Repaired, r.Data)
	}
	if r.Repaired != (len(r.Fixes) > 0) {
		t.Errorf("Clean(%q): repaired is %v with the fixes %q", text, r.Repaired, r.Fixes)
	}
	if isCollection(data) && r.Repaired && !saysOtherwise(r.Fixes) {
		t.Errorf("Clean(%q) repaired what loads as %s", text, data)
	}
	return r
}

// saysOtherwise reports whether fixes are those for a text that YAML does read, but not
// as it was meant.
func saysOtherwise(fixes []string) bool {
	return !slices.ContainsFunc(fixes, func(name string) bool { return name != "unquoted_hash" && name != "trailing_comma" })
}

// words are the letters and digits of a text.
func words(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

func FuzzFixes(f *testing.F) {
	addSamples(f)
	f.Fuzz(func(t *testing.T, text string) {
		if data := decoded(t, text); isCollection(data) {
			checkFixes(t, text, data)
		}
	})
}

// checkFixes checks that a repair changes nothing but the damage: a mapping that can
// be read says the same next to a value that cannot.
func checkFixes(t *testing.T, text string, data json.RawMessage) {
	t.Helper()
	const damage, mended = "zzz: a: b\n", `{"zzz":"a: b",`
	after, ok := bytes.CutPrefix(data, []byte("{"))
	if !ok || string(after) == "}" || strings.HasPrefix(strings.TrimLeft(text, "\n"), " ") {
		return
	}
	if got, err := Clean(damage + text); err == nil && slices.Equal(got.Fixes, []string{"unquoted_colon"}) && string(got.Data) != mended+string(after) {
		t.Errorf("Clean(%q) = %s, want %s%s", damage+text, got.Data, mended, after)
	}
}

// What is JSON already is the same value for the standard library.
// farExponent is one that may be beyond maxExponent.
var farExponent = regexp.MustCompile(`[0-9.][eE][-+]?[0-9]{3}`)

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e3,null,true],"":{}}`, `["\ud83d\ude00","\ud83d","\\ufffd\ufffd","\u2028\u0007\b"]`, "{\r\n\t\"a\" : 1e400 }", `{"a":1,"a":2}`, "[\"\uFFFD\"]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want, got any
		first := strings.TrimLeft(text, " \t\r\n")
		if first == "" || !strings.Contains(`{["`, first[:1]) || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		if farExponent.MatchString(text) {
			return // which makes a text of a number, in JSON as in YAML
		}
		data := decoded(t, text)
		if data == nil {
			return // a key that is there twice, half a character, too deep
		}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("JSON(%s) = %s, want JSON: %v", text, data, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("JSON(%s): -want +got\n%s", text, diff)
		}
	})
}
