package redflag

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// checkValue makes the checks of the value, in the order of the package comment.
func (c *Config) checkValue(raw json.RawMessage) *Flag {
	if raw == nil {
		// Fields were asked for and there are none: passing would be silent.
		if c.SchemaInvalid.On && (c.SchemaInvalid.Type != "" || len(c.SchemaInvalid.Fields) > 0) {
			return New(SchemaInvalid, "the answer has no JSON value")
		}
		if c.MissingField.On && len(c.MissingField.Required) > 0 {
			return New(MissingField, "field %q is missing: the answer has no JSON value", c.MissingField.Required[0])
		}
		return nil
	}
	value, err := decode(raw)
	if err != nil {
		if c.SchemaInvalid.On {
			return New(SchemaInvalid, "not JSON: %v", err)
		}
		if c.MissingField.On && len(c.MissingField.Required) > 0 {
			return New(MissingField, "field %q is missing: the value is not JSON", c.MissingField.Required[0])
		}
		return nil
	}
	if c.SchemaInvalid.On {
		if f := c.SchemaInvalid.check(value); f != nil {
			return f
		}
	}
	if c.MissingField.On {
		if f := c.MissingField.check(value); f != nil {
			return f
		}
	}
	if c.LowConfidence.On {
		if f := c.LowConfidence.checkField(value); f != nil {
			return f
		}
	}
	if c.readsWords() {
		return c.checkStrings(value)
	}
	return nil
}

// decode keeps numbers as they were written: whether 1e400 or 2^53+1 is an
// integer must not depend on floating point.
func decode(raw json.RawMessage) (any, error) {
	var whole json.RawMessage // rejects what follows the value, unlike a Decoder
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	return value, err
}

// checkStrings makes the checks of words on every string, in the order of the
// sorted field names, so that the same value always gives the same flag.
func (c *Config) checkStrings(value any) *Flag {
	switch v := value.(type) {
	case string:
		return c.checkWords(v)
	case []any:
		for _, e := range v {
			if f := c.checkStrings(e); f != nil {
				return f
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if f := c.checkStrings(v[key]); f != nil {
				return f
			}
		}
	}
	return nil
}

func (s *SchemaCheck) check(value any) *Flag {
	if s.Type != "" && !hasType(value, s.Type) {
		return New(SchemaInvalid, "the value is %s, want %s", typeOf(value), s.Type)
	}
	for _, field := range s.Fields {
		var flag *Flag
		visit(value, field.Path, func(v any, found bool) bool {
			if found && !hasType(v, field.Type) {
				flag = New(SchemaInvalid, "field %q is %s, want %s", field.Path, typeOf(v), field.Type)
			}
			return flag == nil
		})
		if flag != nil {
			return flag
		}
	}
	return nil
}

func (m *MissingFieldCheck) check(value any) *Flag {
	for _, path := range m.Required {
		var flag *Flag
		visit(value, path, func(v any, found bool) bool {
			switch {
			case !found:
				flag = New(MissingField, "field %q is missing", path)
			case v == nil:
				flag = New(MissingField, "field %q is null", path)
			case m.NonEmpty && isEmpty(v):
				flag = New(MissingField, "field %q is an empty %s", path, typeOf(v))
			}
			return flag == nil
		})
		if flag != nil {
			return flag
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

// visit calls f for every value that path names, and once with false for every
// place where the path ends early, until f returns false.
func visit(value any, path string, f func(v any, found bool) bool) bool {
	name, rest, more := strings.Cut(path, ".")
	key, each := strings.CutSuffix(name, "[]")
	object, _ := value.(map[string]any)
	child, found := object[key]
	if !found {
		return f(nil, false)
	}
	children := []any{child}
	if each {
		if children, found = child.([]any); !found {
			return f(nil, false)
		}
	}
	for _, child := range children {
		if more && !visit(child, rest, f) || !more && !f(child, true) {
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
	shift, err := strconv.Atoi(exponent)
	if err != nil && exponent != "" {
		return !strings.HasPrefix(exponent, "-") // too large to read, and so for any fraction
	}
	if fraction != "" {
		return shift >= len(fraction)
	}
	return -shift <= len(whole)-len(strings.TrimRight(whole, "0"))
}

func (l *LowConfidenceCheck) checkField(value any) *Flag {
	field := l.Field
	if field == "" {
		field = "confidence"
	}
	least := l.Min
	if least == 0 {
		least = DefaultConfidence
	}
	var flag *Flag
	visit(value, field, func(v any, found bool) bool {
		if got, ok := confidence(v); found && ok && got < least {
			flag = New(LowConfidence, "%s is %.3g, want at least %.3g", field, got, least)
		}
		return flag == nil
	})
	return flag
}

// confidence reads a number from 0 to 1, or a percentage.
func confidence(value any) (float64, bool) {
	var text string
	percent := false
	switch v := value.(type) {
	case json.Number:
		text = string(v)
	case string:
		text, percent = strings.CutSuffix(strings.TrimSpace(v), "%")
		text = strings.TrimSpace(text)
	default:
		return 0, false
	}
	got, err := strconv.ParseFloat(text, 64)
	if err != nil || got != got || got > 100 {
		return 0, false
	}
	if percent || got > 1 {
		got /= 100
	}
	return got, true
}
