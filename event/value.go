package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
)

// A Value is a JSON value that may be large. In the log it stands either as
// itself or, when the log stored it beside, as a reference by content:
//
//	{"$sha256":"9f86d0...","bytes":123456}
//
// A value that could be taken for one of these forms stands as {"$value":...}.
type Value struct {
	JSON json.RawMessage // nil if the value is absent or stored elsewhere
	Ref  *Ref
}

// A Ref names a stored value by its content.
type Ref struct {
	SHA256 string `json:"$sha256"`
	Bytes  int64  `json:"bytes"`
}

var (
	refPrefix    = []byte(`{"$sha256":`)
	quotedPrefix = []byte(`{"$value":`)
)

// JSONValue returns a value that holds raw.
func JSONValue(raw json.RawMessage) Value { return Value{JSON: raw} }

// TextValue returns a value that holds s as a JSON string.
func TextValue(s string) Value { return Value{JSON: appendString(nil, s)} }

// Text returns the string that the value holds, or its JSON if it is not one.
func (v Value) Text() string {
	var s string
	if json.Unmarshal(v.JSON, &s) == nil {
		return s
	}
	return string(v.JSON)
}

// IsZero reports whether there is no value.
func (v Value) IsZero() bool { return v.JSON == nil && v.Ref == nil }

// Compact returns the JSON of the value on one line, without the escapes that logs
// have for the sake of web pages.
func (v Value) Compact() string {
	data, err := unescaped(v.JSON)
	if err != nil {
		return string(v.JSON)
	}
	return string(data)
}

// unescaped writes JSON anew, fields sorted, on one line and without escapes for web
// pages; numbers keep their digits.
func unescaped(raw json.RawMessage) (json.RawMessage, error) {
	var data any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&data); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Decoders give up at 10,000 levels, so that a value which can just be read by itself
// cannot be read within an event. Nothing that is meant to be read is nested like that.
const (
	maxDepth      = 1024
	tooDeepToRead = 10_000 // bytes: what is shorter has fewer levels
)

// TooDeep reports whether JSON is nested more deeply than a log line can hold.
func TooDeep(raw []byte) bool {
	if len(raw) <= maxDepth {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// MarshalJSON writes the value or its reference.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case v.Ref != nil:
		return json.Marshal(v.Ref)
	case len(v.JSON) == 0:
		return []byte("null"), nil
	case looksStored(v.JSON):
		return append(append(append([]byte(nil), quotedPrefix...), v.JSON...), '}'), nil
	default:
		return v.JSON, nil
	}
}

// looksStored reports whether a value, however it is spaced, could be taken for
// a reference or a quoted value.
func looksStored(raw []byte) bool {
	const space = " \t\r\n"
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(raw, space), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, space), []byte(`"$`))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(data []byte) error {
	*v = Value{}
	if bytes.HasPrefix(data, refPrefix) {
		v.Ref = new(Ref)
		if err := json.Unmarshal(data, v.Ref); err != nil {
			return fmt.Errorf("reference: %w", err)
		}
		return nil
	}
	if inner, ok := bytes.CutPrefix(data, quotedPrefix); ok {
		data = bytes.TrimSuffix(inner, []byte("}"))
	}
	if !bytes.Equal(data, []byte("null")) {
		v.JSON = append(json.RawMessage(nil), data...)
	}
	return nil
}

// Largest is the size of an event's largest value, in bytes of JSON; 0 if it has none.
func Largest(e Event) int {
	switch e := e.(type) { // of which long runs have a million
	case StepCompleted:
		return len(e.Output.JSON)
	case VoteCompleted:
		return len(e.Answer.JSON)
	}
	largest := 0
	for v := range values(reflect.ValueOf(e)) {
		largest = max(largest, v.FieldByName("JSON").Len())
	}
	return largest
}

// HasRefs reports whether an encoded event may have values that are stored elsewhere: without any
// it is all there is.
func HasRefs(line []byte) bool { return bytes.Contains(line, refPrefix) }

// WithValues returns a copy of an event in which f replaced each value that is there.
func WithValues(e Event, f func(Value) (Value, error)) (Event, error) {
	out := reflect.New(reflect.TypeOf(e)).Elem()
	out.Set(reflect.ValueOf(e))
	for i := range out.NumField() { // whose lists are not to be changed
		if list, ok := out.Field(i).Interface().([]Value); ok {
			out.Field(i).Set(reflect.ValueOf(slices.Clone(list)))
		}
	}
	for v := range values(out) {
		value := v.Addr().Interface().(*Value)
		if value.IsZero() {
			continue
		}
		replaced, err := f(*value)
		if err != nil {
			return e, err
		}
		*value = replaced
	}
	return out.Interface().(Event), nil
}

// values yields the fields of an event that a log may store beside itself.
func values(e reflect.Value) iter.Seq[reflect.Value] {
	return func(yield func(reflect.Value) bool) {
		if e.Kind() != reflect.Struct {
			return
		}
		for i := range e.NumField() {
			v := e.Field(i)
			switch v.Type() {
			case reflect.TypeFor[Value]():
				if !yield(v) {
					return
				}
			case reflect.TypeFor[[]Value]():
				for j := range v.Len() {
					if !yield(v.Index(j)) {
						return
					}
				}
			}
		}
	}
}
