package yamlclean

import (
	"slices"
	"strings"
)

// maxEdits is how many places one fix may correct. A text with more of them is
// not damaged YAML but something else.
const maxEdits = 1000

// An editor changes lines of a document and leaves the document itself alone.
type editor struct {
	from  document
	to    document // a copy, once something changes
	edits int
}

// full reports whether the editor takes no more changes.
func (e *editor) full() bool { return e.edits > maxEdits }

func (e *editor) set(i int, text string) {
	if e.to == nil {
		e.to = slices.Clone(e.from)
	}
	e.to[i].text = text
	e.edits++
}

// setValue replaces the value of an entry that is on one line.
func (e *editor) setValue(n *entry, value string) {
	e.set(n.first, e.from[n.first].text[:n.value]+value)
}

// result returns the changed document, nil if nothing changed or too much.
func (e *editor) result() document {
	if e.full() {
		return nil
	}
	return e.to
}

// replaceLines returns a document in which lines, last included, are replaced.
func (d document) replaceLines(first, last int, texts []string) document {
	lines := make(document, len(texts))
	for i, t := range texts {
		lines[i] = line{t, d[min(first+i, last)].origin}
	}
	return slices.Concat(d[:first], lines, d[last+1:])
}

// singleQuoted writes a text of one line as a scalar in single quotes.
func singleQuoted(s string) string {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// readsAs reports whether a value on one line is read as this text.
func readsAs(value, text string) bool {
	root, p := load("k: " + value)
	return p == nil && len(root.Content) == 2 && root.Content[1].Tag == tagStr && root.Content[1].Value == text
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
