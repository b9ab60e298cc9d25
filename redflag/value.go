package redflag

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// CheckValue makes the checks that look at the parsed value. Without a value,
// fields that were asked for are missing, and the other checks pass.
func (c *Config) CheckValue(a *Answer) *Flag {
	if c == nil || !c.SchemaInvalid.On && !c.MissingField.On && !c.LowConfidence.On && !c.readsWords() {
		return nil
	}
	if !c.SchemaInvalid.On && !c.MissingField.On && !c.LowConfidence.On && !hasTexts(a.Value) {
		return nil // there are no words to look at
	}
	value, err := decode(a.Value)
	required := c.MissingField.On && len(c.MissingField.Required) > 0
	switch {
	case a.Value == nil && c.SchemaInvalid.On && (c.SchemaInvalid.Type != "" || len(c.SchemaInvalid.Fields) > 0):
		return New(SchemaInvalid, "the answer has no JSON value")
	case a.Value == nil && required:
		return New(MissingField, "field %q is missing: the answer has no JSON value", c.MissingField.Required[0])
	case a.Value == nil:
		return nil
	case err != nil && c.SchemaInvalid.On:
		return New(SchemaInvalid, "not JSON: %v", err)
	case err != nil && required:
		return New(MissingField, "field %q is missing: the value is not JSON", c.MissingField.Required[0])
	case err != nil:
		return nil
	}
	for _, check := range []func(value any) *Flag{c.SchemaInvalid.check, c.MissingField.check, c.LowConfidence.checkField} {
		if f := check(value); f != nil {
			return f
		}
	}
	return c.checkStrings(value, a.Asked, "")
}

// decode keeps numbers as they were written: whether 1e400 or 2^53+1 is an
// integer must not depend on floating point.
func decode(raw json.RawMessage) (value any, err error) {
	var whole json.RawMessage // rejects what follows the value, unlike a Decoder
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// hasTexts reports whether a string is among the values of a JSON value. What is not JSON may
// have some or none.
func hasTexts(raw json.RawMessage) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		for i++; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
		// The name of a field is followed by a colon.
		for i++; i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r'); i++ {
		}
		if i >= len(raw) || raw[i] != ':' {
			return true
		}
	}
	return false
}

// checkStrings makes the checks of words on every string of the value at a path, in the
// order of the sorted field names, so that the same value always gives the same flag.
func (c *Config) checkStrings(value any, asked, path string) *Flag {
	switch v := value.(type) {
	case string:
		return c.checkWords(v, asked, len(c.AnswerFields) == 0 || slices.Contains(c.AnswerFields, path))
	case []any:
		for _, e := range v {
			if f := c.checkStrings(e, asked, path+"[]"); f != nil {
				return f
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if f := c.checkStrings(v[key], asked, strings.TrimPrefix(path+"."+key, ".")); f != nil {
				return f
			}
		}
	}
	return nil
}

func (s *SchemaCheck) check(value any) *Flag {
	if !s.On {
		return nil
	}
	if s.Type != "" && !hasType(value, s.Type) {
		return New(SchemaInvalid, "the value is %s, want %s", typeOf(value), s.Type)
	}
	for _, field := range s.Fields {
		for v, found := range fields(value, field.Path) {
			if found && !hasType(v, field.Type) {
				return New(SchemaInvalid, "field %q is %s, want %s", field.Path, typeOf(v), field.Type)
			}
		}
	}
	return nil
}

func (m *MissingFieldCheck) check(value any) *Flag {
	if !m.On {
		return nil
	}
	for _, path := range m.Required {
		for v, found := range fields(value, path) {
			switch {
			case !found:
				return New(MissingField, "field %q is missing", path)
			case v == nil:
				return New(MissingField, "field %q is null", path)
			case m.NonEmpty && isEmpty(v):
				return New(MissingField, "field %q is an empty %s", path, typeOf(v))
			}
		}
	}
	return nil
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case string:
		return !strings.ContainsFunc(v, visible)
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// fields yields every value that path names, and false for every place where the
// path ends early.
func fields(value any, path string) iter.Seq2[any, bool] {
	return func(yield func(any, bool) bool) { visit(value, path, yield) }
}

func visit(value any, path string, yield func(v any, found bool) bool) bool {
	name, rest, more := strings.Cut(path, ".")
	key, each := strings.CutSuffix(name, "[]")
	object, _ := value.(map[string]any)
	child, found := object[key]
	children := []any{child}
	if each && found {
		children, found = child.([]any)
	}
	if !found {
		return yield(nil, false)
	}
	for _, child := range children {
		if more && !visit(child, rest, yield) || !more && !yield(child, true) {
			return false
		}
	}
	return true
}

func typeOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}

func hasType(value any, want string) bool {
	if n, ok := value.(json.Number); ok && want == "integer" {
		return isInteger(string(n))
	}
	return typeOf(value) == want
}

// isInteger reports whether a JSON number has no fraction, however it is
// written. It counts digits, because 1e999999999 must not be computed.
func isInteger(number string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	fraction = strings.TrimRight(fraction, "0")
	if strings.Trim(whole+fraction, "0") == "" {
		return true // zero
	}
	shift, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if err != nil {
		return !strings.HasPrefix(exponent, "-") // too large to read, and so for any fraction
	}
	if fraction != "" {
		return shift >= len(fraction)
	}
	return -shift <= len(whole)-len(strings.TrimRight(whole, "0"))
}

func (l *LowConfidenceCheck) checkField(value any) *Flag {
	if !l.On {
		return nil
	}
	field, least := cmp.Or(l.Field, "confidence"), cmp.Or(l.Min, DefaultConfidence)
	for v, found := range fields(value, field) {
		if got, ok := confidence(v); found && ok && got < least {
			return New(LowConfidence, "%s is %.3g, want at least %.3g", field, got, least)
		}
	}
	return nil
}

// confidence reads a number from 0 to 1, or a percentage.
func confidence(value any) (float64, bool) {
	text, percent := "", false
	switch v := value.(type) {
	case json.Number:
		text = string(v)
	case string:
		text, percent = strings.CutSuffix(strings.TrimSpace(v), "%")
	}
	got, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || got != got || got > 100 {
		return 0, false
	}
	if percent || got > 1 {
		got /= 100
	}
	return got, true
}
