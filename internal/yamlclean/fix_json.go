package yamlclean

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// The names of what is wrong with nearly JSON.
const (
	jsonCommas       = "trailing_commas"
	jsonNoCommas     = "missing_commas"
	jsonSingleQuotes = "single_quotes"
	jsonSmartQuotes  = "smart_quotes"
	jsonPython       = "python_literals"
	jsonComments     = "comments"
	jsonInnerQuotes  = "inner_quotes"
	jsonEscapes      = "bad_escapes"
	jsonBreaks       = "line_breaks_in_strings"
	jsonBareKeys     = "unquoted_keys"
)

// jsonNames is the order in which the names are given.
var jsonNames = []string{
	jsonComments, jsonSmartQuotes, jsonSingleQuotes, jsonPython, jsonBareKeys,
	jsonCommas, jsonNoCommas, jsonInnerQuotes, jsonEscapes, jsonBreaks,
}

// fixJSON writes flow collections that are nearly JSON as JSON. One must be so as
// a whole, down to its last bracket: a bare word in it, or a bracket that is
// missing, is not corrected.
func fixJSON(d document) []variant {
	const mostLost = 8
	edit := editor{from: d}
	done, lost := -1, 0
	found := map[string]bool{}
	for _, e := range scan(d) {
		if e.style != flow || e.first <= done || edit.full() || strings.IndexByte("{[", d[e.first].text[e.value]) < 0 {
			continue
		}
		last := e.last
		closed := e.end >= 0 && e.rest(d) == ""
		if !closed {
			last = len(d) - 1 // who knows where it ends
			if lost++; lost > mostLost {
				continue
			}
		}
		text := d[e.first : last+1].String()[e.value:]
		r := relaxed{text: text, found: map[string]bool{}}
		n, ok := r.parse(e.isKey() || e.isItem())
		if !ok || len(r.found) == 0 || closed && !cannotBe(text) {
			continue
		}
		done = e.first + strings.Count(text[:n], "\n")
		edit.replace(e.first, done, strings.Split(d[e.first].text[:e.value]+string(r.out), "\n")...)
		maps.Copy(found, r.found)
	}
	fixed := edit.result()
	if fixed == nil {
		return nil
	}
	names := slices.DeleteFunc(slices.Clone(jsonNames), func(n string) bool { return !found[n] })
	return []variant{{doc: fixed, names: names}}
}

// A relaxed reads nearly JSON and writes JSON.
type relaxed struct {
	text  string
	at    int
	out   []byte
	found map[string]bool
}

// parse reads a value that is all of the text, or if it is nested, all up to the
// end of its last line. It returns how much it read.
func (r *relaxed) parse(nested bool) (int, bool) {
	if !r.value(1) {
		return 0, false
	}
	if i := skipBlanks(r.text, r.at); i < len(r.text) && r.text[i] == ',' {
		r.at = i + 1
		r.found[jsonCommas] = true
	}
	rest := r.text[r.at:]
	if nested {
		rest, _, _ = strings.Cut(rest, "\n")
	}
	if strings.TrimSpace(rest) != "" {
		return 0, false
	}
	return r.at + len(rest), true
}

// space copies white space, leaves out comments, and returns the byte after them,
// 0 at the end.
func (r *relaxed) space() byte {
	for r.at < len(r.text) {
		switch rest := r.text[r.at:]; {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n':
			r.out = append(r.out, rest[0])
			r.at++
		case strings.HasPrefix(rest, "//") || rest[0] == '#':
			r.found[jsonComments] = true
			r.at = lineEnd(r.text, r.at)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				return 0
			}
			r.found[jsonComments] = true
			r.at += n + 2
		default:
			return rest[0]
		}
	}
	return 0
}

func (r *relaxed) value(depth int) bool {
	if depth > MaxDepth {
		return false
	}
	switch c := r.space(); {
	case c == '{' || c == '[':
		return r.collection(depth, c == '{')
	case r.closer() != "":
		return r.string(inArray)
	}
	return r.word()
}

// collection reads the members of an object or the elements of an array.
func (r *relaxed) collection(depth int, object bool) bool {
	end := byte(']')
	if object {
		end = '}'
	}
	r.out = append(r.out, r.text[r.at])
	r.at++
	for first := true; ; first = false {
		before := len(r.out)
		c := r.space()
		if !first && c != end {
			if c = r.comma(before, end); c == 0 {
				return false
			}
		}
		if c == end {
			break
		}
		if object && !r.key() || !r.member(depth+1, object) {
			return false
		}
	}
	r.out = append(r.out, end)
	r.at++
	return true
}

// member reads what an object or array contains.
func (r *relaxed) member(depth int, object bool) bool {
	if r.space(); object && r.closer() != "" {
		return r.string(inObject)
	}
	return r.value(depth)
}

// comma reads what separates two members, of which the white space from before
// on is read already. It returns the byte after it, 0 if it is not right.
func (r *relaxed) comma(before int, end byte) byte {
	if r.text[r.at:] == "" {
		return 0
	}
	if r.text[r.at] == ',' {
		r.at++
		at := len(r.out)
		r.out = append(r.out, ',')
		c := r.space()
		if c == end {
			r.found[jsonCommas] = true
			r.out = slices.Delete(r.out, at, at+1)
		}
		return c
	}
	c := r.text[r.at]
	if !bytes.ContainsRune(r.out[before:], '\n') || r.closer() == "" && c != '{' && c != '[' {
		return 0
	}
	// There is a line break where a comma should be.
	r.found[jsonNoCommas] = true
	r.out = slices.Insert(r.out, before, ',')
	return c
}

func (r *relaxed) key() bool {
	if r.closer() != "" {
		if !r.string(asKey) {
			return false
		}
	} else {
		n := strings.IndexFunc(r.text[r.at:], func(c rune) bool { return !wordy(c) && c != '_' && c != '-' && c != '$' })
		if n <= 0 {
			return false
		}
		r.found[jsonBareKeys] = true
		r.out = fmt.Appendf(r.out, "%q", r.text[r.at:r.at+n])
		r.at += n
	}
	if r.space() != ':' {
		return false
	}
	r.out = append(r.out, ':')
	r.at++
	return true
}

// word reads a number or one of the literals of JSON and Python.
func (r *relaxed) word() bool {
	n := strings.IndexAny(r.text[r.at:], " \t\n,]}:/#")
	if n <= 0 {
		return false
	}
	w := r.text[r.at : r.at+n]
	r.at += n
	switch w {
	case "true", "false", "null":
		r.out = append(r.out, w...)
		return true
	case "True", "False":
		r.found[jsonPython] = true
		r.out = append(r.out, strings.ToLower(w)...)
		return true
	case "None":
		r.found[jsonPython] = true
		r.out = append(r.out, "null"...)
		return true
	}
	literal, form := number(w)
	r.out = append(r.out, literal...)
	return form != noNumber
}

// closer returns the quote that closes a string that begins here, "" if none
// does.
func (r *relaxed) closer() string {
	rest := r.text[r.at:]
	for _, pair := range [][2]string{{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"”", "”"}} {
		if strings.HasPrefix(rest, pair[0]) {
			return pair[1]
		}
	}
	return ""
}

// A role is what a string is, which says what can follow it.
type role int

const (
	asKey role = iota
	inObject
	inArray
)

// string reads a string in any quotes. A quote ends it if something follows that
// can follow a string; if not, it belongs to the text.
func (r *relaxed) string(as role) bool {
	closer := r.closer()
	_, width := utf8.DecodeRuneInString(r.text[r.at:])
	start := r.at + width
	inner, breaks := false, false
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '\\':
			if i++; i < len(r.text) && r.text[i] == '\n' {
				return false
			}
		case c == '\n' || c == '\t':
			breaks = true
		case c == closer[0] && strings.HasPrefix(r.text[i:], closer):
			if !r.ends(i+len(closer), as) {
				inner = true
				continue
			}
			r.at = i + len(closer)
			return r.writeString(r.text[start:i], closer, inner, breaks)
		}
	}
	return false
}

// ends reports whether a string can end before i.
func (r *relaxed) ends(i int, as role) bool {
	next := skipSpace(r.text, i)
	if next == len(r.text) {
		return as != asKey
	}
	switch c := r.text[next]; {
	case c == ':':
		return as == asKey
	case as == asKey:
		return false
	case c == '}' || c == ']' || c == '#' || strings.HasPrefix(r.text[next:], "//") || strings.HasPrefix(r.text[next:], "/*"):
		return true
	case c == ',':
		return r.goesOn(skipSpace(r.text, next+1), as)
	}
	ahead := relaxed{text: r.text, at: next}
	return ahead.closer() != "" && strings.Contains(r.text[i:next], "\n")
}

// goesOn reports whether another member can begin at i, after a comma.
func (r *relaxed) goesOn(i int, as role) bool {
	if i == len(r.text) {
		return true
	}
	ahead := relaxed{text: r.text, at: i, found: map[string]bool{}}
	c := r.text[i]
	if ahead.closer() != "" || c == '}' || c == ']' || c == '#' || c == '/' {
		return true
	}
	if as == inObject {
		return ahead.key()
	}
	return c == '{' || c == '[' || ahead.word()
}

// writeString writes the body of a string as JSON.
func (r *relaxed) writeString(body, closer string, inner, breaks bool) bool {
	switch closer {
	case `"`:
	case "'":
		r.found[jsonSingleQuotes] = true
		if strings.Contains(body, "''") {
			return false // an escape of YAML, or an empty string within
		}
	default:
		r.found[jsonSmartQuotes] = true
		if inner {
			return false
		}
	}
	fixed, ok := correctEscapes(body)
	if !ok {
		return false
	}
	if closer == `"` {
		if fixed != body {
			r.found[jsonEscapes] = true
		}
	} else {
		fixed = escapeDouble(fixed)
	}
	if inner {
		r.found[jsonInnerQuotes] = true
		marks, ok := quoteMarks(body, closer[0])
		if !ok || !alternate(marks, opening) {
			return false
		}
		if closer == `"` {
			fixed = escapeDouble(fixed)
		}
	}
	if breaks {
		r.found[jsonBreaks] = true
		fixed = strings.ReplaceAll(strings.ReplaceAll(fixed, "\n", `\n`), "\t", `\t`)
	}
	r.out = append(r.out, '"')
	r.out = append(r.out, fixed...)
	r.out = append(r.out, '"')
	return true
}

// escapeDouble escapes the double quotes in a text that are not escaped.
func escapeDouble(s string) string {
	marks := []mark{}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			marks = append(marks, mark{at: i})
		}
	}
	return escapeMarks(s, marks, `\"`)
}

func skipSpace(t string, i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t' || t[i] == '\n') {
		i++
	}
	return i
}
