package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/reader"
)

// A FieldReader is a field of a step's output whose schema says how it is read.
type FieldReader struct {
	Name string
	Of   reader.Reader
}

// fieldFormat is a field as plain data.
type fieldFormat struct {
	Name string      `json:"name"`
	Of   flow.Format `json:"of"`
}

// An output schema is free text, a hint. But for these words, each as the whole type of a
// field:
//
//	one_of(a, b, c)   number   number(kg)   date   date(dmy)   boolean   list(number)
const (
	scalarType = `(?:one_of\([^()\n]*\)|number(?:\([^()\n]*\))?|date(?:\([^()\n]*\))?|boolean|bool)`
	fieldStart = `(?:^|[\s,{])["']?([A-Za-z_][A-Za-z0-9_-]*)["']?\s*:\s*["']?`
)

var (
	typedField = regexp.MustCompile(fieldStart + `(` + scalarType + `|list\(\s*` + scalarType + `\s*\))["']?\s*(?:[,}\n#]|$)`)
	anyOneOf   = regexp.MustCompile(fieldStart + `(?:list\(\s*)?(one_of)\b`)
	typeWord   = regexp.MustCompile(`^(one_of|number|date|boolean|bool|list)(?:\((.*)\))?$`)
)

// FieldReaders are the fields of an output schema that have a reader, at its top level. An
// error names the field.
func FieldReaders(schema string) ([]FieldReader, error) {
	var all []FieldReader
	starts := map[int]bool{}
	seen := map[string]bool{}
	for at := 0; at < len(schema); {
		m := typedField.FindStringSubmatchIndex(schema[at:])
		if m == nil {
			break
		}
		name, text := schema[at+m[2]:at+m[3]], schema[at+m[4]:at+m[5]]
		starts[at+m[2]] = true
		if depth(schema[:at+m[2]]) <= 1 && !seen[name] {
			r, err := namedReader(text)
			if err != nil {
				return nil, fmt.Errorf("field %q: %s", name, strings.TrimPrefix(err.Error(), "reader: "))
			}
			seen[name] = true
			all = append(all, FieldReader{name, r})
		}
		at += m[5] // what ends this field begins the next one
	}
	// What is nearly one is a slip, not a hint.
	for _, m := range anyOneOf.FindAllStringSubmatchIndex(schema, -1) {
		if !starts[m[2]] {
			return nil, fmt.Errorf("field %q: %s: want one_of(a, b, c)", schema[m[2]:m[3]], clip.Short(schema[m[4]:]))
		}
	}
	return all, nil
}

// depth is how many brackets of objects and lists are open at the end of a text.
func depth(text string) int {
	return strings.Count(text, "{") + strings.Count(text, "[") - strings.Count(text, "}") - strings.Count(text, "]")
}

// namedReader is the reader that a type names.
func namedReader(text string) (reader.Reader, error) {
	m := typeWord.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil, fmt.Errorf("%s is no type", clip.Short(text))
	}
	var r reader.Reader
	switch word, inner := m[1], strings.TrimSpace(m[2]); word {
	case "one_of":
		options := strings.Split(inner, ",")
		for i := range options {
			options[i] = strings.Trim(strings.TrimSpace(options[i]), `"'`)
		}
		r = reader.OneOf{Options: options}
	case "number":
		r = reader.Number{Unit: inner}
	case "date":
		r = reader.Date{Order: inner}
	case "list":
		of, err := namedReader(inner)
		if err != nil {
			return nil, err
		}
		r = reader.List{Of: of}
	default:
		r = reader.Bool{}
	}
	return r, r.Validate()
}

// MarshalJSON writes the field as a question keeps it.
func (f FieldReader) MarshalJSON() ([]byte, error) {
	return json.Marshal(fieldFormat{f.Name, f.Of.Format()})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *FieldReader) UnmarshalJSON(data []byte) error {
	var kept fieldFormat
	if err := json.Unmarshal(data, &kept); err != nil {
		return err
	}
	of, err := reader.Of(kept.Of)
	*f = FieldReader{kept.Name, of}
	return err
}
