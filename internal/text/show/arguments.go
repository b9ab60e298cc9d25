package show

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// An Argument of a call, every character of which can be seen.
type Argument struct{ Name, Value string }

// Arguments are those of a call in the order of their names, their values as JSON.
func Arguments(in map[string]json.RawMessage) []Argument {
	var list []Argument
	for _, name := range slices.Sorted(maps.Keys(in)) {
		var value any
		text := string(in[name])
		dec := json.NewDecoder(bytes.NewReader(in[name]))
		dec.UseNumber()
		if dec.Decode(&value) == nil {
			if plain, err := JSON(value); err == nil {
				text = plain
			}
		}
		list = append(list, Argument{Exact(name), Exact(text)})
	}
	return list
}

// JSON is a value as JSON on one line, without the escapes that only web pages need.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimRight(b.String(), "\n"), err
}
