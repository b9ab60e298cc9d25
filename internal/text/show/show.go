// Package show makes text that others wrote safe to show to a person: what is on the
// screen is what is in the text.
//
// Characters that command a terminal, that change the order of what is shown, or that
// cannot be seen are shown as escapes, such as \x1b and \u202e. So are bytes that are
// no text at all.
package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a text of several lines.
func Text(s string) string { return escape(s, prose) }

// Line is a text on one line.
func Line(s string) string {
	return escape(lineEnds.Replace(s), prose)
}

var lineEnds = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ", "\u2028", " ", "\u2029", " ", "\u0085", " ")

// Exact is a text every character of which counts, such as a command: a space that is
// none of the keyboard is an escape too, and many blanks in a row are counted.
func Exact(s string) string {
	return manyBlanks(escape(s, exact))
}

// ExactLine is such a text on one line.
func ExactLine(s string) string {
	return Exact(lineEnds.Replace(s))
}

// Call is the input of a call.
func Call(input json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, input, "", "  ") != nil {
		return Exact(string(input))
	}
	// What is escaped for the sake of web pages is easier to read as it is.
	return Exact(plainJSON.Replace(out.String()))
}

var plainJSON = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// Fold leaves out the middle of a long text: neither its beginning nor its end. note
// says so, and is given the numbers of characters that are missing and that there are.
func Fold(s string, head, tail int, note func(missing, all int) string) string {
	all := utf8.RuneCountInString(s)
	if all <= head+tail+head/4 { // a note takes room as well
		return s
	}
	runes := []rune(s)
	return string(runes[:head]) + "\n" + note(all-head-tail, all) + "\n" + string(runes[all-tail:])
}

// how a text is escaped.
type how int

const (
	prose how = iota
	exact
)

// mostMarks is how many marks in a row may be put on one character. More of them cover
// the lines around it.
const mostMarks = 6

func escape(s string, h how) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	marks, last := mostMarks, rune(0) // a mark at the beginning would be put on what is before the text
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
			i++
			continue
		}
		i += size
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		if marks > mostMarks || !shows(r, last, h) {
			b.WriteString(escaped(r))
		} else {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// isPlain reports whether a text has nothing to be escaped, as most have.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// shows reports whether a character is seen for what it is. last is the one before it.
func shows(r, last rune, h how) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case r == '\ufe0f': // shows a symbol as a picture
		return h == prose && unicode.Is(unicode.So, last)
	case unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return false
	case r == '\u2800' || r == '\u034f': // a blank pattern, and a joiner
		return false
	case unicode.Is(unicode.Zs, r):
		return h == prose || r == ' '
	}
	return unicode.IsPrint(r)
}

// escaped is a character that is not shown as it is.
func escaped(r rune) string {
	switch {
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// mostBlanks is how many blanks in a row are shown. Indentation of nested values has
// some.
const mostBlanks = 40

// manyBlanks counts blanks instead of showing them, where there are many in a row.
func manyBlanks(s string) string {
	var b strings.Builder
	for s != "" {
		start := strings.IndexAny(s, " \t")
		if start < 0 {
			break
		}
		rest := strings.TrimLeft(s[start:], " \t")
		n := len(s) - start - len(rest)
		b.WriteString(s[:start])
		if n > mostBlanks {
			b.WriteString("⟨" + strconv.Itoa(n) + " blanks⟩")
		} else {
			b.WriteString(s[start : start+n])
		}
		s = rest
	}
	return b.String() + s
}
