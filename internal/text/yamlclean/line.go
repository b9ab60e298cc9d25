package yamlclean

import "strings"

// A head is how a line begins that is no part of a text: with dashes, a key, or
// both. Columns are counted from 0.
type head struct {
	indent int
	dash   int // column of the last "- ", -1 without one
	keyAt  int // column of the key, -1 without one
	key    string
	value  int // where the value begins
}

func headOf(t string) head {
	h := head{indent: indentOf(t), dash: -1, keyAt: -1}
	at := h.indent
	for at < len(t) && t[at] == '-' && blankAt(t, at+1) {
		h.dash = at
		at = skipBlanks(t, at+1)
	}
	h.value = at
	if end, colon := keyEnd(t[at:]); colon >= 0 {
		h.keyAt, h.key = at, t[at:at+end]
		h.value = skipBlanks(t, at+colon+1)
	}
	return h
}

// parent returns the column that further lines of the value are indented more
// than, -1 if the line has neither a key nor a dash.
func (h head) parent() int { return max(h.keyAt, h.dash) }

// keyEnd returns where the key at the start of s ends, and where its colon is; -1
// if there is no key.
func keyEnd(s string) (end, colon int) {
	if s == "" {
		return -1, -1
	}
	if q := s[0]; q == '"' || q == '\'' {
		if end = closingQuote(s); end < 0 {
			return -1, -1
		}
		colon = skipBlanks(s, end)
		if colon < len(s) && s[colon] == ':' && blankAt(s, colon+1) {
			return end, colon
		}
		return -1, -1
	}
	if strings.IndexByte("[]{},#&*!|>%@`", s[0]) >= 0 || s[0] == '?' && blankAt(s, 1) || s[0] == ':' && blankAt(s, 1) {
		return -1, -1
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == ':' && blankAt(s, i+1):
			return len(strings.TrimRight(s[:i], " \t")), i
		case s[i] == '#' && i > 0 && blankAt(s, i-1):
			return -1, -1
		}
	}
	return -1, -1
}

// closingQuote returns where the quoted text ends that s begins with, -1 if it
// does not end in s.
func closingQuote(s string) int {
	q := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case q == '"' && s[i] == '\\':
			i++
		case q == '\'' && s[i] == q && i+1 < len(s) && s[i+1] == q:
			i++
		case s[i] == q:
			return i + 1
		}
	}
	return -1
}

// nameLike reports whether a key is written as names are, or in quotes. A text
// that merely contains a colon seldom is.
func nameLike(key string) bool {
	if key == "" {
		return false
	}
	if key[0] == '"' || key[0] == '\'' {
		return true
	}
	for i, c := range key {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_':
		case i > 0 && ('0' <= c && c <= '9' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return true
}

// maybeComment reports whether a value has a part that may be a comment. What
// follows the # without a blank, as in "issue #12", is not one.
func maybeComment(v string) bool {
	for i := 1; i < len(v); i++ {
		if v[i] == '#' && blankAt(v, i-1) && blankAt(v, i+1) {
			return true
		}
	}
	return false
}

// blockHeader reports whether a value is the marker of a block scalar.
func blockHeader(v string) bool {
	if v == "" || v[0] != '|' && v[0] != '>' {
		return false
	}
	rest := strings.TrimLeft(v[1:], "+-123456789")
	after := strings.TrimLeft(rest, " \t")
	return len(v)-len(rest) <= 3 && (after == "" || after[0] == '#') // the library wants no blank before it
}

// singleQuoted writes a text of one line as a scalar in single quotes.
func singleQuoted(s string) string {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func isBlank(t string) bool { return strings.TrimSpace(t) == "" }

func indentOf(t string) int {
	return len(t) - len(strings.TrimLeft(t, " "))
}

// marker reports whether a line is the start or end marker of a document.
func marker(t, m string) bool {
	return strings.HasPrefix(t, m) && blankAt(t, len(m))
}

// blankAt reports whether a blank or the end of the line is at i.
func blankAt(t string, i int) bool {
	return i >= len(t) || t[i] == ' ' || t[i] == '\t'
}

func skipBlanks(t string, i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	return i
}
