package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
)

// Object reads an object, each of whose fields has a reader of its own. Other fields
// than these are left out.
type Object struct {
	Fields []Field
}

// A Field is one of an [Object].
type Field struct {
	Name string
	Of   Reader

	// Optional says that it may be missing, or null.
	Optional bool

	// Prose says that it is not voted on: an explanation, or a summary.
	Prose bool

	// Description tells the voters what it is.
	Description string
}

type fieldParams struct {
	Name        string      `json:"name"`
	Of          flow.Format `json:"of"`
	Optional    bool        `json:"optional,omitempty"`
	Prose       bool        `json:"prose,omitempty"`
	Description string      `json:"description,omitempty"`
}

type objectParams struct {
	Fields []fieldParams `json:"fields"`
}

// UnmarshalJSON reads what Format wrote.
func (o *Object) UnmarshalJSON(data []byte) error {
	var p objectParams
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	o.Fields = nil
	for _, f := range p.Fields {
		of, err := Of(f.Of)
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
		o.Fields = append(o.Fields, Field{f.Name, of, f.Optional, f.Prose, f.Description})
	}
	return nil
}

// Validate implements [Reader].
func (o Object) Validate() error {
	if len(o.Fields) == 0 {
		return errors.New("reader: an object without fields")
	}
	seen := map[string]bool{}
	votes := false
	for _, f := range o.Fields {
		switch {
		case strings.TrimSpace(f.Name) == "":
			return errors.New("reader: a field has no name")
		case seen[fieldName(f.Name)]:
			return fmt.Errorf("reader: the field %q is there twice", f.Name)
		case f.Of == nil:
			return fmt.Errorf("reader: the field %q has no reader", f.Name)
		}
		if err := f.Of.Validate(); err != nil {
			return fmt.Errorf("reader: field %q: %s", f.Name, strings.TrimPrefix(err.Error(), "reader: "))
		}
		seen[fieldName(f.Name)] = true
		votes = votes || !f.Prose
	}
	if !votes {
		return errors.New("reader: no field is voted on")
	}
	return nil
}

// Format implements [Reader].
func (o Object) Format() flow.Format {
	var p objectParams
	for _, f := range o.Fields {
		p.Fields = append(p.Fields, fieldParams{f.Name, f.Of.Format(), f.Optional, f.Prose, f.Description})
	}
	return format(nameObject, p)
}

// JSONSchema implements [Reader].
func (o Object) JSONSchema() json.RawMessage {
	properties, required := map[string]json.RawMessage{}, []string{}
	for _, f := range o.Fields {
		properties[f.Name] = f.schema()
		// Providers that are strict want all of them; one that may be missing may be
		// null.
		required = append(required, f.Name)
	}
	return encode(object(properties, required))
}

func (f Field) schema() json.RawMessage {
	schema := f.Of.JSONSchema()
	if f.Optional {
		schema = encode(map[string]any{"anyOf": []any{schema, map[string]string{"type": "null"}}})
	}
	if f.Description == "" {
		return schema
	}
	var fields map[string]any
	if json.Unmarshal(schema, &fields) != nil {
		return schema
	}
	fields["description"] = f.Description
	return encode(fields)
}

// Instruction implements [Reader].
func (o Object) Instruction() string {
	var b strings.Builder
	b.WriteString("Answer with a JSON object and nothing else. Its fields are:")
	for _, f := range o.Fields {
		fmt.Fprintf(&b, "\n- %s", f.Name)
		if f.Description != "" {
			fmt.Fprintf(&b, " (%s)", f.Description)
		}
		b.WriteString(": " + short(f.Of))
		if f.Optional {
			b.WriteString(", or null")
		}
	}
	return b.String()
}

// short says what a field is in a few words.
func short(r Reader) string {
	switch r := r.(type) {
	case OneOf:
		return "one of " + quoteAll(r.Options)
	case Bool:
		return "true or false"
	case Number:
		kind := "a number"
		if r.Integer {
			kind = "a whole number"
		}
		if r.Unit != "" {
			kind += " in " + r.Unit
		}
		return kind
	case Date:
		return "a date, YYYY-MM-DD"
	case Regexp:
		return "a text that matches " + r.Pattern
	case List:
		return "a list, each item being " + short(r.Of)
	case Object:
		names := make([]string, len(r.Fields))
		for i, f := range r.Fields {
			names[i] = fmt.Sprintf("%s (%s)", f.Name, short(f.Of))
		}
		return "an object with the fields " + strings.Join(names, ", ")
	case JSON:
		return "JSON that fits the schema " + string(r.Schema)
	default:
		return "a short text"
	}
}

func (o Object) open() (form, error) {
	all := &objects{fields: o.Fields}
	for _, f := range o.Fields {
		ready, err := f.Of.open()
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		all.forms = append(all.forms, ready)
	}
	return all, nil
}

type objects struct {
	fields []Field
	forms  []form // of the fields
}

func (o *objects) again() form {
	next := &objects{fields: o.fields}
	for _, f := range o.forms {
		next.forms = append(next.forms, f.again())
	}
	return next
}

func (o *objects) text(said string) (item, *redflag.Flag) { return fromParts(said, o.field) }

func (o *objects) field(raw json.RawMessage) (item, *redflag.Flag) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || given == nil {
		return item{}, unreadable("want an object, not %s", raw)
	}
	if inner, ok := given[answerField]; ok && len(given) == 1 && fieldName(o.fields[0].Name) != answerField {
		return o.field(inner)
	}
	var value, key strings.Builder
	for i, f := range o.fields {
		part, ok := pick(given, f.Name)
		if !ok || string(part) == "null" {
			if !f.Optional {
				return item{}, redflag.New(redflag.MissingField, "field %q is missing", f.Name)
			}
			continue
		}
		it, flag := o.forms[i].field(part)
		if flag != nil {
			return item{}, redflag.New(flag.Name, "field %q: %s", f.Name, flag.Reason)
		}
		fmt.Fprintf(&value, ",%s:%s", encode(f.Name), it.value)
		if !f.Prose {
			fmt.Fprintf(&key, ",%s:%s", encode(f.Name), it.key)
		}
	}
	return item{
		value: json.RawMessage("{" + strings.TrimPrefix(value.String(), ",") + "}"),
		key:   "{" + strings.TrimPrefix(key.String(), ",") + "}",
	}, nil
}

// fieldName is a name in the form that it shares with its other spellings.
func fieldName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// pick finds a field by its name, or by the only other spelling of it.
func pick(given map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	if value, ok := given[name]; ok {
		return value, true
	}
	var found json.RawMessage
	n := 0
	for other, value := range given {
		if fieldName(other) == fieldName(name) {
			found, n = value, n+1
		}
	}
	return found, n == 1
}
