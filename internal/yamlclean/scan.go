package yamlclean

import (
	"math"
	"strings"
)

// A document is the lines of a text under repair. Fixes may add lines; each
// remembers the line of the text that it comes from.
type document []line

type line struct {
	text   string
	origin int // from 1
}

func newDocument(text string) document {
	parts := strings.Split(text, "\n")
	d := make(document, len(parts))
	for i, p := range parts {
		d[i] = line{p, i + 1}
	}
	return d
}

func (d document) String() string {
	var b strings.Builder
	for i, l := range d {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.text)
	}
	return b.String()
}

// A style is how a value is written.
type style int

const (
	empty style = iota
	plain
	quote    // in single or double quotes
	flow     // in brackets or braces
	block    // after | or >
	explicit // a key after "? "
	other    // what no fix touches: aliases and markers of documents
)

// An entry is an item of a list, a member of a mapping, or what stands alone,
// with all the lines of a scalar or a flow collection that begins in it. Scanning
// is tolerant: it is right about YAML that parses, and makes the best of the rest.
type entry struct {
	first, last int // lines
	indent      int // of the first line
	dash        int // column of the last "- " before the value, -1 without one
	keyAt       int // column of the key, -1 without one
	key         string
	value       int // where the value begins on the first line
	style       style
	end         int // where a quoted or flow value ends on the last line, -1 if it does not
	parent      int // further lines of the value are indented more than this
}

// loose is the parent of a line that belongs to nothing. No line is indented more.
const loose = math.MaxInt

// isKey reports whether the entry is a member of a mapping.
func (e *entry) isKey() bool { return e.keyAt >= 0 }

// isItem reports whether the entry begins an item of a list.
func (e *entry) isItem() bool { return e.dash >= 0 }

// oneLine reports whether all of the value is on the first line.
func (e *entry) oneLine() bool { return e.first == e.last }

// text returns the value on the first line.
func (e *entry) text(d document) string {
	return strings.TrimRight(d[e.first].text[e.value:], " \t")
}

// all returns the first line without its indentation.
func (e *entry) all(d document) string {
	return strings.TrimSpace(d[e.first].text)
}

// rest returns what follows a quoted or flow value on its last line, without a
// comment.
func (e *entry) rest(d document) string {
	if e.end < 0 {
		return ""
	}
	rest := d[e.last].text[e.end:]
	if trimmed := strings.TrimLeft(rest, " \t"); trimmed != rest && strings.HasPrefix(trimmed, "#") {
		return ""
	}
	return strings.TrimSpace(rest)
}

// A scanner finds the entries of a document.
type scanner struct {
	doc    document
	budget int    // lines to look ahead, so that many open brackets take no square of time
	before *entry // the last entry
}

func newScanner(d document) *scanner {
	return &scanner{doc: d, budget: 8*len(d) + 100}
}

// scan returns the entries of a document. It returns none if the document has
// keys that are marked with "? ", which nobody writes by mistake.
func scan(d document) []*entry {
	s := newScanner(d)
	var entries []*entry
	for i := 0; i < len(d); {
		if noEntry(d[i].text) {
			i++
			continue
		}
		e := s.entry(i)
		if e.style == explicit {
			return nil
		}
		s.before = e
		entries = append(entries, e)
		i = e.last + 1
	}
	return entries
}

// noEntry reports whether a line is blank or a comment.
func noEntry(t string) bool {
	t = strings.TrimLeft(t, " ")
	return strings.TrimSpace(t) == "" || t[0] == '#'
}

func (s *scanner) entry(i int) *entry {
	t := s.doc[i].text
	e := &entry{first: i, last: i, indent: indentOf(t), dash: -1, keyAt: -1, end: -1}
	if e.indent == 0 && (marker(t, "---") || marker(t, "...") || t[0] == '%') {
		e.style, e.value = other, len(t)
		return e
	}
	at := e.indent
	for at < len(t) && t[at] == '-' && blankAt(t, at+1) {
		e.dash = at
		at = skipBlanks(t, at+1)
	}
	e.value = at
	if end, colon := keyEnd(t[at:]); colon >= 0 {
		e.keyAt, e.key = at, t[at:at+end]
		e.value = skipBlanks(t, at+colon+1)
	}
	switch {
	case e.isKey():
		e.parent = e.keyAt
	case e.isItem():
		e.parent = e.dash
	case s.before == nil || s.before.style == other && s.before.indent == 0:
		e.parent = -1
	case s.before.style == empty && e.indent > s.before.parent:
		e.parent = s.before.parent
	default:
		e.parent = loose
	}
	s.extend(e)
	return e
}

// extend finds the style of the value of an entry and where it ends.
func (s *scanner) extend(e *entry) {
	t := s.doc[e.first].text
	at := e.value
	for at < len(t) && (t[at] == '&' || t[at] == '!') { // an anchor or a tag
		for at < len(t) && !blankAt(t, at) {
			at++
		}
		at = skipBlanks(t, at)
	}
	v := t[at:]
	switch {
	case v == "" || v[0] == '#' && at > 0 && blankAt(t, at-1):
		e.style = empty
	case v[0] == '?' && blankAt(v, 1) && !e.isKey():
		e.style = explicit
	case v[0] == '*':
		e.style = other
	case v[0] == '"' || v[0] == '\'':
		e.style = quote
		s.extendQuote(e, at)
	case v[0] == '[' || v[0] == '{':
		e.style = flow
		s.extendFlow(e, at)
	case blockHeader(v):
		e.style = block
		s.extendBlock(e, v)
	default:
		e.style = plain
		s.extendPlain(e)
	}
}

// extendQuote finds the closing quote. One on a later line closes the value only
// if nothing follows it.
func (s *scanner) extendQuote(e *entry, at int) {
	q := s.doc[e.first].text[at]
	from := at + 1
	for i := e.first; i < len(s.doc); i++ {
		t := s.doc[i].text
		if end := closingQuote(t, from, q); end >= 0 {
			after := strings.TrimLeft(t[end+1:], " \t")
			if i == e.first || after == "" || after[0] == '#' {
				e.last, e.end = i, end+1
			}
			return
		}
		from = 0
		if s.budget--; s.budget < 0 {
			return
		}
	}
}

// closingQuote returns the position of the quote that closes a string, -1 if it
// is not on this line.
func closingQuote(t string, from int, q byte) int {
	for i := from; i < len(t); i++ {
		switch {
		case q == '"' && t[i] == '\\':
			i++
		case q == '\'' && t[i] == q && i+1 < len(t) && t[i+1] == q:
			i++
		case t[i] == q:
			return i
		}
	}
	return -1
}

// extendFlow finds the bracket that closes a flow collection.
func (s *scanner) extendFlow(e *entry, at int) {
	var f flowState
	for i := e.first; i < len(s.doc); i++ {
		if end := f.scan(s.doc[i].text, at); end >= 0 {
			e.last, e.end = i, end
			return
		}
		at = 0
		if s.budget--; s.budget < 0 {
			return
		}
	}
}

// A flowState is where in a flow collection a line begins.
type flowState struct {
	depth int
	quote byte // of the string that is open
	word  bool // within a plain scalar
}

// scan goes through a line. It returns where the collection ends, -1 if it does
// not end on this line.
func (f *flowState) scan(t string, at int) int {
	for i := at; i < len(t); i++ {
		c := t[i]
		if f.quote != 0 {
			end := closingQuote(t, i, f.quote)
			if end < 0 {
				return -1
			}
			i, f.quote = end, 0
			continue
		}
		switch c {
		case '[', '{':
			f.depth, f.word = f.depth+1, false
		case ']', '}':
			if f.depth, f.word = f.depth-1, false; f.depth == 0 {
				return i + 1
			}
		case ',', ':':
			f.word = false
		case '"', '\'':
			if !f.word {
				f.quote = c
			}
		case '#':
			if i == 0 || blankAt(t, i-1) {
				return -1
			}
		case ' ', '\t':
		default:
			f.word = true
		}
	}
	return -1
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

// extendBlock takes the lines of a block scalar.
func (s *scanner) extendBlock(e *entry, header string) {
	indent := -1
	for _, c := range header[1:min(len(header), 3)] {
		if '1' <= c && c <= '9' {
			indent = max(e.parent, 0) + int(c-'0')
		}
	}
	for i := e.first + 1; i < len(s.doc); i++ {
		t := s.doc[i].text
		if strings.Trim(t, " ") == "" {
			continue
		}
		n := indentOf(t)
		if indent < 0 {
			indent = max(n, e.parent+1)
		}
		if n < indent {
			return
		}
		e.last = i
	}
}

// extendPlain takes the further lines of a plain scalar.
func (s *scanner) extendPlain(e *entry) {
	if comment(s.doc[e.first].text[e.value:]) >= 0 {
		// The comment ends the scalar. If more lines follow that could belong to
		// it, it was not meant as one.
		if next := s.nextText(e.first); next < 0 || indentOf(s.doc[next].text) <= e.parent {
			return
		}
	}
	for i := s.nextText(e.first); i >= 0; i = s.nextText(i) {
		t := s.doc[i].text
		n := indentOf(t)
		if n <= e.parent || t[n] == '#' || n == 0 && (marker(t, "---") || marker(t, "...")) {
			return
		}
		e.last = i
	}
}

// nextText returns the next line that is not blank, -1 if there is none.
func (s *scanner) nextText(i int) int {
	for i++; i < len(s.doc); i++ {
		if strings.TrimSpace(s.doc[i].text) != "" {
			return i
		}
	}
	return -1
}

// keyEnd returns where the key at the start of s ends, and where its colon is; -1
// if there is no key.
func keyEnd(s string) (end, colon int) {
	if s == "" {
		return -1, -1
	}
	if q := s[0]; q == '"' || q == '\'' {
		if end = closingQuote(s, 1, q); end < 0 {
			return -1, -1
		}
		colon = skipBlanks(s, end+1)
		if colon < len(s) && s[colon] == ':' && blankAt(s, colon+1) {
			return end + 1, colon
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

// comment returns where the comment after a plain scalar begins, -1 if there is
// none.
func comment(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '#' && blankAt(s, i-1) {
			return i
		}
	}
	return -1
}

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
