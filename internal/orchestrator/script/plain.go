package script

import (
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// Most data of scripts is plain: texts without escapes, small numbers, lists and mappings of
// them. It is written and read here; for all else there is the library.

const (
	maxPlain      = 64 << 10 // bytes of plain data
	maxPlainDepth = 20
)

// appendPlain appends a value as JSON, as the library writes it. It reports whether it is
// plain.
func appendPlain(b []byte, v starlark.Value, depth int) ([]byte, bool) {
	if depth > maxPlainDepth || len(b) > maxPlain {
		return b, false
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return append(b, "null"...), true
	case starlark.Bool:
		return strconv.AppendBool(b, bool(v)), true
	case starlark.Int:
		n, small := v.Int64()
		if !small {
			return b, false
		}
		return strconv.AppendInt(b, n, 10), true
	case starlark.String:
		return appendPlainText(b, string(v))
	case *starlark.List:
		return appendElements(b, v, depth)
	case starlark.Tuple:
		return appendElements(b, v, depth)
	case *starlark.Dict:
		return appendFields(b, v, depth)
	}
	return b, false
}

func appendPlainText(b []byte, s string) ([]byte, bool) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return b, false
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"'), true
}

func appendElements(b []byte, list starlark.Indexable, depth int) (_ []byte, ok bool) {
	b = append(b, '[')
	for i := range list.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = appendPlain(b, list.Index(i), depth+1); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}

// A field is one of a mapping.
type field struct {
	name  string
	value starlark.Value
}

func appendFields(b []byte, d *starlark.Dict, depth int) (_ []byte, ok bool) {
	var room [8]field // on the stack: most have few
	fields := room[:0]
	for k, v := range d.Entries() {
		name, ok := k.(starlark.String)
		if !ok {
			return b, false
		}
		fields = append(fields, field{string(name), v})
	}
	if len(fields) <= len(room) { // in order as a rule
		for i := 1; i < len(fields); i++ {
			for j := i; j > 0 && fields[j].name < fields[j-1].name; j-- {
				fields[j], fields[j-1] = fields[j-1], fields[j]
			}
		}
	} else {
		slices.SortFunc(fields, func(x, y field) int { return strings.Compare(x.name, y.name) })
	}
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = appendPlainText(b, f.name); !ok {
			return b, false
		}
		b = append(b, ':')
		if b, ok = appendPlain(b, f.value, depth+1); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

// A plainReader makes values of JSON, as the library does. Its methods report whether it is
// plain.
type plainReader struct {
	in string
	at int
}

// readPlain is plain JSON as a value.
func readPlain(in string) (starlark.Value, bool) {
	r := plainReader{in: in}
	v, ok := r.value(0)
	if !ok {
		return nil, false
	}
	r.space()
	return v, r.at == len(in)
}

func (r *plainReader) space() {
	for r.at < len(r.in) && (r.in[r.at] == ' ' || r.in[r.at] == '\n' || r.in[r.at] == '\t' || r.in[r.at] == '\r') {
		r.at++
	}
}

// take takes a character if it comes next, white space aside.
func (r *plainReader) take(c byte) bool {
	r.space()
	if r.at < len(r.in) && r.in[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *plainReader) value(depth int) (starlark.Value, bool) {
	if r.space(); r.at == len(r.in) || depth > maxPlainDepth {
		return nil, false
	}
	switch c := r.in[r.at]; {
	case c == '{':
		return r.dict(depth)
	case c == '[':
		return r.list(depth)
	case c == '"':
		s, ok := r.text()
		return starlark.String(s), ok
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for i := range literals {
		if l := &literals[i]; strings.HasPrefix(r.in[r.at:], l.word) {
			r.at += len(l.word)
			return l.value, true
		}
	}
	return nil, false
}

var literals = [...]struct {
	word  string
	value starlark.Value
}{{"null", starlark.None}, {"true", starlark.True}, {"false", starlark.False}}

func (r *plainReader) text() (string, bool) {
	if r.at == len(r.in) || r.in[r.at] != '"' {
		return "", false
	}
	from := r.at + 1
	for i := from; i < len(r.in); i++ {
		switch c := r.in[i]; {
		case c == '"':
			r.at = i + 1
			return r.in[from:i], true
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		}
	}
	return "", false
}

// maxPlainDigits are so few that a number of them is small.
const maxPlainDigits = 18

func (r *plainReader) number() (starlark.Value, bool) {
	from := r.at
	if r.in[r.at] == '-' {
		r.at++
	}
	first, n := r.at, int64(0)
	for ; r.at < len(r.in) && r.in[r.at] >= '0' && r.in[r.at] <= '9'; r.at++ {
		if r.at-first == maxPlainDigits {
			return nil, false
		}
		n = 10*n + int64(r.in[r.at]-'0')
	}
	if r.at == first || r.in[first] == '0' && r.at > first+1 {
		return nil, false
	}
	if r.at < len(r.in) {
		switch r.in[r.at] {
		case '.', 'e', 'E', '+', '-': // it is another number
			return nil, false
		}
	}
	if first > from {
		n = -n
	}
	return starlark.MakeInt64(n), true
}

func (r *plainReader) list(depth int) (starlark.Value, bool) {
	r.at++
	if r.take(']') {
		return starlark.NewList(nil), true
	}
	elements := make([]starlark.Value, 0, r.elements())
	for {
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		if elements = append(elements, v); r.take(']') {
			return starlark.NewList(elements), true
		}
		if !r.take(',') {
			return nil, false
		}
	}
}

// elements is how many of them the list has in which the reader is, if they are not many, and
// about how many otherwise.
func (r *plainReader) elements() int {
	const most = 64
	n, depth := 1, 0
	for i := r.at; i < len(r.in) && depth >= 0 && n < most; i++ {
		switch r.in[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n
}

func (r *plainReader) dict(depth int) (starlark.Value, bool) {
	r.at++
	d := new(starlark.Dict)
	if r.take('}') {
		return d, true
	}
	for {
		r.space()
		name, ok := r.text()
		if !ok || !r.take(':') {
			return nil, false
		}
		v, ok := r.value(depth + 1)
		if !ok || d.SetKey(starlark.String(name), v) != nil {
			return nil, false
		}
		if r.take('}') {
			return d, true
		}
		if !r.take(',') {
			return nil, false
		}
	}
}
