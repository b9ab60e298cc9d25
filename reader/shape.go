package reader

import (
	"encoding/json"
	"slices"
	"strings"
)

// A shape is a schema that says nothing but of what types values are and which fields they
// have, as most do. It is for answers that [vote.Plain] takes, and looks only for those that
// fit: why another one does not, and whether it is right after all, the schema says. A nil
// shape fits everything.
type shape struct {
	types    []string // empty for all
	fields   map[string]*shape
	required []string // sorted
	closed   bool     // there are no other fields
	items    *shape
}

// shapeOf is the shape of a schema; false if it says more than a shape can.
func shapeOf(schema json.RawMessage) (*shape, bool) {
	var keywords map[string]json.RawMessage
	if json.Unmarshal(schema, &keywords) != nil || keywords == nil {
		return nil, false
	}
	s := &shape{fields: map[string]*shape{}}
	for keyword, raw := range keywords {
		ok := true
		switch keyword {
		case "title", "description":
		case "type":
			var one string
			if ok = json.Unmarshal(raw, &one) == nil && one != ""; ok {
				s.types = []string{one}
			} else {
				ok = json.Unmarshal(raw, &s.types) == nil && len(s.types) > 0
			}
		case "required":
			ok = json.Unmarshal(raw, &s.required) == nil
			slices.Sort(s.required)
			s.required = slices.Compact(s.required)
		case "additionalProperties":
			var open *bool
			ok = json.Unmarshal(raw, &open) == nil && open != nil
			s.closed = ok && !*open
		case "items":
			s.items, ok = shapeOf(raw)
		case "properties":
			var fields map[string]json.RawMessage
			ok = json.Unmarshal(raw, &fields) == nil
			for name, inner := range fields {
				field, known := shapeOf(inner)
				s.fields[name], ok = field, ok && known
			}
		default:
			return nil, false
		}
		if !ok {
			return nil, false
		}
	}
	return s, true
}

// fits reports whether a plain value has the shape.
func (s *shape) fits(key string) bool {
	_, ok := s.value(key, 0)
	return ok
}

// value returns the end of the value that is at a place of a key.
func (s *shape) value(key string, at int) (end int, ok bool) {
	switch c := key[at]; c {
	case '{':
		return s.object(key, at)
	case '[':
		return s.array(key, at)
	case '"':
		return textEnd(key, at), s.allows("string")
	case 't':
		return at + len("true"), s.allows("boolean")
	case 'f':
		return at + len("false"), s.allows("boolean")
	case 'n':
		return at + len("null"), s.allows("null")
	default: // plain numbers are whole
		for end = at; end < len(key) && (key[end] == '-' || key[end] >= '0' && key[end] <= '9'); end++ {
		}
		return end, s.allows("integer") || s.allows("number")
	}
}

func (s *shape) allows(name string) bool {
	return s == nil || len(s.types) == 0 || slices.Contains(s.types, name)
}

// textEnd is the end of a string without escapes.
func textEnd(key string, at int) int { return at + 2 + strings.IndexByte(key[at+1:], '"') }

func (s *shape) object(key string, at int) (end int, ok bool) {
	if !s.allows("object") {
		return 0, false
	}
	var required []string // that are still to come, in the order of the fields
	if s != nil {
		required = s.required
	}
	for at++; key[at] != '}'; {
		if key[at] == ',' {
			at++
		}
		nameEnd := textEnd(key, at)
		name := key[at+1 : nameEnd-1]
		if len(required) > 0 && required[0] == name {
			required = required[1:]
		}
		var field *shape
		if s != nil {
			known := false
			if field, known = s.fields[name]; !known && s.closed {
				return 0, false
			}
		}
		if at, ok = field.value(key, nameEnd+1); !ok {
			return 0, false
		}
	}
	return at + 1, len(required) == 0
}

func (s *shape) array(key string, at int) (end int, ok bool) {
	if !s.allows("array") {
		return 0, false
	}
	var items *shape
	if s != nil {
		items = s.items
	}
	for at++; key[at] != ']'; {
		if key[at] == ',' {
			at++
		}
		if at, ok = items.value(key, at); !ok {
			return 0, false
		}
	}
	return at + 1, true
}
