package secret

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// nesting is how often something is decoded: JSON in JSON, in an address.
const nesting = 4

// A span is a part of a text.
type span struct{ start, end int }

// piece is how much of a text is looked at at once, so that a long one takes no more
// memory than a short one.
const piece = 64 << 10

// find returns where secrets are in a text, in order and without overlaps.
func (m *matcher) find(text []byte) []span {
	var spans []span
	overlap := 8 * len(slices.MaxFunc(m.patterns, func(a, b string) int { return cmp.Compare(len(a), len(b)) }))
	for at := 0; ; at += piece {
		end := min(at+piece+overlap, len(text))
		for _, s := range m.explore(nil, &view{data: text[at:end]}, nesting) {
			spans = append(spans, span{at + s.start, at + s.end})
		}
		if end == len(text) {
			break
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	merged := spans[:0]
	for _, s := range spans {
		if n := len(merged); n > 0 && s.start < merged[n-1].end {
			merged[n-1].end = max(merged[n-1].end, s.end)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// explore adds the places of the secrets that a view shows, and what can be decoded
// of it.
func (m *matcher) explore(spans []span, v *view, depth int) []span {
	spans = m.collect(spans, v)
	if joined, ok := v.decode('\n', lineBreak); ok {
		joined, _ = joined.decode('\r', lineBreak)
		spans = m.collect(spans, &joined)
	}
	if depth == 0 || !m.hidden(v.data) {
		return spans
	}
	if inner, ok := v.decode('%', percent); ok {
		spans = m.explore(spans, &inner, depth-1)
	}
	if inner, ok := v.decode('\\', escape); ok {
		spans = m.explore(spans, &inner, depth-1)
	}
	return spans
}

// collect adds the places of the secrets that a view shows.
func (m *matcher) collect(spans []span, v *view) []span {
	for at := 0; ; {
		start, end := m.next(v.data, at)
		if end < 0 {
			return spans
		}
		spans = append(spans, span{int(v.place(start).start), int(v.place(end - 1).end)})
		at = end
	}
}

// A view is a text with something decoded, and where its bytes were before.
type view struct {
	data   []byte
	places []place // of each byte; nil if nothing is decoded
}

type place struct{ start, end int32 }

func (v *view) place(i int) place {
	if v.places == nil {
		return place{int32(i), int32(i + 1)}
	}
	return v.places[i]
}

// decode returns a view in which what begins with a mark is decoded, and whether there
// was anything to decode.
func (v *view) decode(mark byte, read func(rest []byte) (text []byte, size int)) (view, bool) {
	var out view
	found := false
	for i := 0; i < len(v.data); {
		text, size := v.data[i:i+1], 1
		if v.data[i] == mark {
			if inner, n := read(v.data[i:]); n > 0 {
				text, size, found = inner, n, true
			}
		}
		at := place{v.place(i).start, v.place(i + size - 1).end}
		for range text {
			out.places = append(out.places, at)
		}
		out.data = append(out.data, text...)
		i += size
	}
	return out, found
}

// lineBreak leaves a line break out, and the indentation of the next line.
func lineBreak(rest []byte) ([]byte, int) {
	return nil, len(rest) - len(bytes.TrimLeft(rest[1:], " \t"))
}

// percent reads %2F.
func percent(rest []byte) ([]byte, int) {
	n, ok := hexNumber(rest, 1, 2)
	if !ok {
		return nil, 0
	}
	return []byte{byte(n)}, 3
}

// plainEscapes are those of one character, and what they stand for.
const (
	plainEscapes = `"\/bfnrt`
	plainMeaning = "\"\\/\b\f\n\r\t"
)

// escape reads an escape of JSON.
func escape(rest []byte) ([]byte, int) {
	if len(rest) < 2 {
		return nil, 0
	}
	if i := strings.IndexByte(plainEscapes, rest[1]); i >= 0 {
		return []byte{plainMeaning[i]}, 2
	}
	r, ok := unicodeEscape(rest, 1)
	if !ok {
		return nil, 0
	}
	size := len(`\u0000`)
	if utf16.IsSurrogate(r) && len(rest) >= 2*size && rest[size] == '\\' {
		if low, ok := unicodeEscape(rest, size+1); ok {
			if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
				r, size = whole, 2*size
			}
		}
	}
	return utf8.AppendRune(nil, r), size
}

// unicodeEscape reads u0000 at a place.
func unicodeEscape(text []byte, at int) (rune, bool) {
	if at >= len(text) || text[at] != 'u' {
		return 0, false
	}
	n, ok := hexNumber(text, at+1, 4)
	return rune(n), ok
}

// hexNumber reads a number of digits at a place.
func hexNumber(text []byte, at, digits int) (int, bool) {
	if at+digits > len(text) {
		return 0, false
	}
	n := 0
	for i := at; i < at+digits; i++ {
		c := text[i]
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | int(c-'0')
		case 'a' <= c && c <= 'f':
			n = n<<4 | int(c-'a'+10)
		case 'A' <= c && c <= 'F':
			n = n<<4 | int(c-'A'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// hidden reports whether data has escapes that stand for what secrets consist of, or
// lines that may be broken in the middle of one. All other escapes only separate.
func (m *matcher) hidden(data []byte) bool {
	for i := range places(data, '%') {
		if n, ok := hexNumber(data, i+1, 2); ok && m.partOf(rune(n)) {
			return true
		}
	}
	for i := range places(data, '\n') {
		if isWrapped(data[:i]) {
			return true
		}
	}
	for i := 0; ; {
		n := bytes.IndexByte(data[i:], '\\')
		if n < 0 {
			return false
		}
		before := data[:i+n]
		for i += n + 1; i < len(data) && data[i] == '\\'; i++ { // however often it was escaped itself
		}
		if m.holds['\\'] {
			return true
		}
		if i == len(data) {
			return false
		}
		switch c := data[i]; {
		case c == 'u':
			if r, ok := unicodeEscape(data, i); ok && m.partOf(r) {
				return true
			}
		case m.escapes[c], (c == 'n' || c == 'r') && isWrapped(before):
			return true
		}
	}
}

// places yields where a byte is in data.
func places(data []byte, b byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; ; i++ {
			n := bytes.IndexByte(data[i:], b)
			if n < 0 || !yield(i+n) {
				return
			}
			i += n
		}
	}
}

// shortestLine is what a program that breaks lines of base64 leaves on one at least.
const shortestLine = 48

// isWrapped reports whether a line ends like one of base64 that goes on.
func isWrapped(before []byte) bool {
	before = bytes.TrimSuffix(before, []byte("\r"))
	if len(before) < shortestLine {
		return false
	}
	for i := len(before) - 1; i >= len(before)-shortestLine; i-- {
		if !inAlphabet[before[i]] {
			return false
		}
	}
	return true
}

// inAlphabet are the characters of base64.
var inAlphabet = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		set[c] = true
	}
	return set
}()

// partOf reports whether a character can be a part of a secret, or of an escape.
func (m *matcher) partOf(r rune) bool {
	return r >= utf8.RuneSelf || m.holds[r] || r == '\\' || r == '%'
}
