package learn

import (
	"encoding/json"
	"strings"
)

// bounds are the keywords of JSON schema that some providers do not take: they only narrow
// what a type says.
var bounds = []string{
	"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems", "uniqueItems", "prefixItems", "minProperties", "maxProperties",
}

// Loosen is a schema without bounds: the types, fields and choices alone. It is false if
// there are none in it. A list whose places have schemas of their own becomes one of
// whatever their first has for a type.
func Loosen(schema json.RawMessage) (json.RawMessage, bool) {
	var value any
	if json.Unmarshal(schema, &value) != nil {
		return schema, false
	}
	if !loosen(value) {
		return schema, false
	}
	loose, err := json.Marshal(value)
	if err != nil { // it came from JSON
		return schema, false
	}
	return loose, true
}

// loosen takes the bounds out of a schema and of those within it.
func loosen(schema any) (changed bool) {
	m, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	if places, ok := m["prefixItems"].([]any); ok && len(places) > 0 && m["items"] == nil {
		m["items"] = places[0]
	}
	for _, name := range bounds {
		if _, ok := m[name]; ok {
			delete(m, name)
			changed = true
		}
	}
	for _, name := range []string{"items", "additionalProperties", "not"} {
		changed = loosen(m[name]) || changed
	}
	for _, name := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := m[name].([]any)
		for _, part := range list {
			changed = loosen(part) || changed
		}
	}
	for _, name := range []string{"properties", "$defs", "definitions"} { // in which names are no keywords
		parts, _ := m[name].(map[string]any)
		for _, part := range parts {
			changed = loosen(part) || changed
		}
	}
	return changed
}

// OfBounds reports whether a complaint about a schema names one of the bounds.
func (c Complaint) OfBounds() bool {
	for _, name := range bounds {
		if c.About(strings.ToLower(name)) {
			return true
		}
	}
	return false
}
