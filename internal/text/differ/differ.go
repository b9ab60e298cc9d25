// Package differ says in a line how two answers differ.
package differ

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/clip"
)

const (
	most    = 4  // differences that are told
	longest = 80 // characters of a value
	short   = 24 // bytes of a list that is shown as a whole
	around  = 20 // characters that are shown before and behind a place in a text
)

// Between tells in which places b differs from a, such as "total: 15 instead of 14".
// Both are JSON, or texts. It is empty if they do not differ.
func Between(a, b string) string {
	var list []string
	collect(&list, "", value(a), value(b))
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(list, "; ")
}

// value is what a text says: what its JSON is, or the text.
func value(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return text
	}
	return v
}

func collect(list *[]string, path string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			collectFields(list, path, a, b)
			return
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) && (len(text(a)) > short || len(text(b)) > short) {
			for i := range a {
				collect(list, fmt.Sprintf("%s[%d]", path, i), a[i], b[i])
			}
			return
		}
	case string:
		if b, ok := b.(string); ok && a != b {
			a, b = apart(a, b)
			tell(list, path, fmt.Sprintf("%q instead of %q", b, a))
			return
		}
	}
	if left, right := text(a), text(b); left != right {
		tell(list, path, fmt.Sprintf("%s instead of %s", clip.Line(right, longest), clip.Line(left, longest)))
	}
}

func collectFields(list *[]string, path string, a, b map[string]any) {
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		inside := name
		if path != "" {
			inside = path + "." + name
		}
		left, hasLeft := a[name]
		right, hasRight := b[name]
		switch {
		case !hasRight:
			tell(list, inside, "missing")
		case !hasLeft:
			tell(list, inside, clip.Line(text(right), longest)+" instead of nothing")
		default:
			collect(list, inside, left, right)
		}
	}
}

func tell(list *[]string, path, what string) {
	if path != "" {
		what = clip.Line(path, longest) + ": " + what
	}
	*list = append(*list, what)
}

// text is a value as JSON.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // never: it was JSON
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// apart cuts two different texts down to where they differ, with a few characters around
// it, unless they are short.
func apart(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	if len(x) <= longest && len(y) <= longest {
		return a, b
	}
	start := 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		start++
	}
	end := 0
	for end < len(x)-start && end < len(y)-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	return cut(x, start, end), cut(y, start, end)
}

// cut is a text from a little before start to a little behind the place that is end
// before its end.
func cut(r []rune, start, end int) string {
	from, to := wordAt(r, max(0, start-around), start), min(len(r), len(r)-end+around)
	s := clip.Line(string(r[from:to]), longest)
	if from > 0 {
		s = "…" + s
	}
	if to < len(r) && !strings.HasSuffix(s, "…") {
		s += "…"
	}
	return s
}

// wordAt is the beginning of the first word from a place on, before another.
func wordAt(r []rune, from, before int) int {
	for i := from; 0 < i && i < before; i++ {
		if unicode.IsSpace(r[i-1]) {
			return i
		}
	}
	return from
}

// Worth reports whether a difference tells more shortly what an answer is than itself.
func Worth(difference, answer string) bool {
	return difference != "" && utf8.RuneCountInString(difference) < utf8.RuneCountInString(answer)
}
