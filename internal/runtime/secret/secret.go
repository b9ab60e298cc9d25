// Package secret keeps keys out of what a run writes: whatever equals a known secret
// is replaced before it is written anywhere.
//
// # Forms
//
// A key is found as it is, in base64 (of either alphabet, padded or not, wherever it
// begins in what is encoded, and over line breaks), in hexadecimal, percent-encoded
// in whole or in part, and with the escapes of JSON; the last two also around the
// others and around each other. Whoever has the key can hide it in other ways. This is
// against those who repeat it, not against those who smuggle it out.
package secret

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// Shown stands where a secret was in a text that is shown.
const Shown = "[redacted]"

// Redacted stands where a secret was in a log. It is a text that nobody writes by
// chance: a run that goes on from its log has to tell what lost a secret there from
// what somebody wrote.
const Redacted = "[redacted by maker]"

// shortest is the length below which a value is not taken for a secret: blanking
// every "test" or "none" out of a log would spoil it and protect nothing.
const shortest = 8

// A Set holds the secrets of a run. A nil set holds none. It does not change
// once it is made, so any number of goroutines may use it.
type Set struct {
	matcher *matcher
	keep    map[string]bool // names of fields that stay as they are
}

// NewSet returns a set of the given values.
func NewSet(values ...string) *Set {
	m := newMatcher(values)
	if m == nil {
		return nil
	}
	return &Set{matcher: m}
}

// Keep returns a set that leaves the fields of these names alone: a log whose own
// fields have other names cannot be read, and a key that happens to be such a word
// must not cost the log.
func (s *Set) Keep(names []string) *Set {
	if s == nil {
		return nil
	}
	kept := map[string]bool{}
	for _, name := range names {
		kept[name] = true
	}
	return &Set{matcher: s.matcher, keep: kept}
}

// Redact returns text without the secrets.
func (s *Set) Redact(text string) string {
	if s == nil || !s.matcher.mayHold([]byte(text)) {
		return text
	}
	spans := s.matcher.find([]byte(text))
	if len(spans) == 0 {
		return text
	}
	var out []byte
	at := 0
	for _, span := range spans {
		out = append(append(out, text[at:span.start]...), Shown...)
		at = span.end
	}
	return string(append(out, text[at:]...))
}

// RedactBytes returns a JSON document without the secrets in its strings and in the
// names of its fields; data itself if it holds none. Numbers and what holds the
// document together stay as they are.
func (s *Set) RedactBytes(data []byte) []byte {
	if s == nil || !s.matcher.mayHold(data) {
		return data
	}
	tokens := s.tokens(data)
	if !slices.ContainsFunc(tokens, func(t token) bool { return t.changed }) {
		return data
	}
	s.tellApart(tokens)
	out := make([]byte, 0, len(data)+len(Redacted))
	at := 0
	for _, t := range tokens {
		if t.changed {
			out = append(append(out, data[at:t.start]...), t.inner...)
			at = t.end
		}
	}
	return append(out, data[at:]...)
}

// A token is a string of a document, without its quotes.
type token struct {
	start, end int
	object     int    // that it names a field of, from 1; 0 if it is a value
	inner      []byte // as it is to be written
	changed    bool
}

// tokens finds the strings of a document that may have to change: those with a
// secret in them, and the names beside them.
func (s *Set) tokens(data []byte) []token {
	var list []token
	var open []int // the objects and, as 0, the arrays around the present place
	objects := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{':
			objects++
			open = append(open, objects)
		case '[':
			open = append(open, 0)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case '"':
			t := token{start: i + 1, end: endOfString(data, i+1)}
			if len(open) > 0 && isName(data, t.end) {
				t.object = open[len(open)-1]
			}
			t.inner = data[t.start:t.end]
			if inner, ok := s.redactInner(t.inner, t.object > 0); ok {
				t.inner, t.changed = inner, true
			}
			if t.changed || t.object > 0 {
				list = append(list, t)
			}
			i = t.end
		}
	}
	return list
}

// endOfString is where the quote is that ends a string, or the end of the data.
func endOfString(data []byte, i int) int {
	for i < len(data) && data[i] != '"' {
		if data[i] == '\\' {
			i++
		}
		i++
	}
	return min(i, len(data))
}

// isName reports whether the string that ends at a place is the name of a field.
func isName(data []byte, end int) bool {
	rest := bytes.TrimLeft(data[min(end+1, len(data)):], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// redactInner returns a string as it is encoded without the secrets in it, and whether
// there were any.
func (s *Set) redactInner(inner []byte, name bool) ([]byte, bool) {
	if !s.matcher.mayHold(inner) {
		return nil, false
	}
	text := decoded(inner)
	if name && s.keep[text] {
		return nil, false
	}
	spans := s.matcher.find([]byte(text))
	if len(spans) == 0 {
		return nil, false
	}
	var out []byte
	at := 0
	for _, span := range spans {
		out = append(append(out, encoded(text[at:span.start])...), Redacted...)
		at = span.end
	}
	return append(out, encoded(text[at:])...), true
}

// decoded is the text of a string, without its quotes.
func decoded(inner []byte) string {
	var text string
	if json.Unmarshal(slices.Concat([]byte{'"'}, inner, []byte{'"'}), &text) != nil {
		return string(inner) // it is cut off
	}
	return text
}

func encoded(text string) []byte {
	data, err := json.Marshal(text)
	if err != nil {
		return nil // a string can always be encoded
	}
	return data[1 : len(data)-1]
}

// tellApart gives fields that would now have one name different ones: both count.
func (s *Set) tellApart(tokens []token) {
	taken := map[int]map[string]bool{} // of the objects in which a name changed
	for _, t := range tokens {
		if t.changed && t.object > 0 {
			taken[t.object] = map[string]bool{}
		}
	}
	for _, t := range tokens {
		if names := taken[t.object]; names != nil && !t.changed {
			names[decoded(t.inner)] = true
		}
	}
	for i := range tokens {
		t := &tokens[i]
		names := taken[t.object]
		if names == nil || !t.changed {
			continue
		}
		name := decoded(t.inner)
		for n := 2; names[name]; n++ {
			name = decoded(t.inner) + " (" + strconv.Itoa(n) + ")"
		}
		names[name] = true
		t.inner = encoded(name)
	}
}
