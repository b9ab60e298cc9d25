package yamlclean

import (
	"cmp"
	"slices"
	"strings"
)

// maxEdits is how many places one fix may correct. A text with more of them is
// not damaged YAML but something else.
const maxEdits = 1000

// An editor collects changes to lines of a document, which stays as it is.
type editor struct {
	from    document
	changes []change
}

// A change replaces lines, last included.
type change struct {
	first, last int
	texts       []string
}

// full reports whether the editor takes no more changes.
func (e *editor) full() bool { return len(e.changes) > maxEdits }

func (e *editor) replace(first, last int, texts ...string) {
	e.changes = append(e.changes, change{first, last, texts})
}

// setValue replaces the value of an entry that is on one line.
func (e *editor) setValue(n *entry, value string) {
	e.replace(n.first, n.first, e.from[n.first].text[:n.value]+value)
}

// result returns the changed document, nil if nothing changed or too much.
func (e *editor) result() document {
	if len(e.changes) == 0 || e.full() {
		return nil
	}
	slices.SortStableFunc(e.changes, func(a, b change) int { return cmp.Compare(a.first, b.first) })
	var to document
	next := 0
	for _, c := range e.changes {
		if c.first < next {
			continue // changed already
		}
		to = append(to, e.from[next:c.first]...)
		for i, t := range c.texts {
			to = append(to, line{t, e.from[min(c.first+i, c.last)].origin})
		}
		next = c.last + 1
	}
	return append(to, e.from[next:]...)
}

// singleQuoted writes a text of one line as a scalar in single quotes.
func singleQuoted(s string) string {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// cannotBe reports whether a value on one line cannot be YAML.
func cannotBe(value string) bool {
	_, p := load("k: " + value)
	return p != nil
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

// keyOf returns the key at the start of a line, "" if there is none.
func keyOf(t string) string {
	t = strings.TrimLeft(t, " ")
	if end, colon := keyEnd(t); colon >= 0 {
		return t[:end]
	}
	return ""
}
