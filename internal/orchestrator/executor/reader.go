package executor

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/internal/text/summary"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// MappingReader is the reader of answers that are mappings, such as those of the
// steps of a plan.
const MappingReader = "mapping"

// FlagError is the red flag of an answer that says that the step cannot be done.
const FlagError = "error"

// A MappingFormat is the parameters of a [MappingReader].
type MappingFormat struct {
	Key vote.KeyOptions `json:"key"`

	// Errors says that the answer may have a field called error beside others, since
	// it was asked for. Otherwise such a field says that the step cannot be done.
	Errors bool `json:"errors,omitempty"`

	// Decision says that the answer chooses the next step: that choice is all that
	// voters have to agree on. An answer that chooses none is still an answer, and
	// fails the step.
	Decision bool `json:"decision,omitempty"`

	// Schema is the output schema if it could be taken for an answer. One that only
	// repeats it is none.
	Schema string `json:"schema,omitempty"`

	// Fields are those that the output schema says how to read, if they are there.
	Fields []plan.FieldReader `json:"fields,omitempty"`
}

const (
	nextStepField = "next_step"
	reasonField   = "reason"
)

// errorField finds the field error in an output schema.
var errorField = regexp.MustCompile(`(?i)\berror\b`)

// Readers are the readers that the executor's questions name.
func Readers() domain.Readers {
	readers := summary.Readers()
	readers[MappingReader] = func(params json.RawMessage) (domain.Reader, error) {
		var format MappingFormat
		if len(params) > 0 {
			if err := json.Unmarshal(params, &format); err != nil {
				return nil, err
			}
		}
		if err := format.Key.Validate(); err != nil {
			return nil, err
		}
		r := mappingReader{format: format, form: formOf(format.Schema)}
		for _, f := range format.Fields {
			read, err := reader.ReadField(f.Of)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
			r.fields = append(r.fields, read)
		}
		return r, nil
	}
	return readers
}

type mappingReader struct {
	format MappingFormat
	form   string                                                           // the key of an answer that repeats the schema; "" if none does
	fields []func(json.RawMessage) (json.RawMessage, string, *redflag.Flag) // of format.Fields
}

// Read implements [domain.Reader].
func (r mappingReader) Read(text string) (domain.Answer, *redflag.Flag) {
	value, err := readMapping(text)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil || fields == nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the answer is not a mapping")
	}
	if why, said := fields["error"]; said && !empty(why) && !(r.format.Errors && len(fields) > 1) {
		return domain.Answer{}, redflag.New(FlagError, "the answer is an error: %s", why)
	}
	if all, err := vote.Canonical(value, vote.KeyOptions{}); r.form != "" && err == nil && all == r.form {
		return domain.Answer{}, redflag.New(redflag.Placeholder, "the answer repeats the fields that were asked for, with no values")
	}
	value, keyed, flag := r.readFields(value, fields)
	if flag != nil {
		return domain.Answer{}, flag
	}
	key, err := vote.Canonical(keyed, r.format.compared(keyed, fields))
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.MissingField, "%v", err)
	}
	return domain.Answer{Value: value, Key: key}, nil
}

// typeName begins what a schema says instead of a value.
var typeName = regexp.MustCompile(`(?i)^(?:an? )?(?:string|text|number|integer|int|float|boolean|bool|date|list|array|object|mapping)\b`)

// formOf is the key of a schema that is read as an answer: small models are fond of
// repeating it. A schema that names no types may be an example of an answer.
func formOf(schema string) string {
	value, err := readMapping(schema)
	if err != nil {
		return ""
	}
	var fields map[string]any
	if json.Unmarshal(value, &fields) != nil {
		return ""
	}
	for _, v := range fields {
		if text, ok := v.(string); ok && typeName.MatchString(text) {
			key, _ := vote.Canonical(value, vote.KeyOptions{}) // "" if it is none
			return key
		}
	}
	return ""
}

// readFields reads the fields that have a reader. It returns the mapping with their
// values, and the one with their keys.
func (r mappingReader) readFields(value json.RawMessage, fields map[string]json.RawMessage) (read, keyed json.RawMessage, flag *redflag.Flag) {
	if len(r.fields) == 0 {
		return value, value, nil
	}
	keys := maps.Clone(fields)
	for i, f := range r.format.Fields {
		raw, ok := fields[f.Name]
		if !ok {
			continue // a schema is a hint: whether it has to be there is for vote_on to say
		}
		v, key, flag := r.fields[i](raw)
		if flag != nil {
			return nil, nil, redflag.New(flag.Name, "field %q: %s", f.Name, flag.Reason)
		}
		fields[f.Name], keys[f.Name] = v, json.RawMessage(key)
	}
	read, err := json.Marshal(fields)
	if err == nil {
		keyed, err = json.Marshal(keys)
	}
	if err != nil {
		return nil, nil, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return read, keyed, nil
}

// compared says what of an answer counts. An answer of which nothing would count is
// compared as a whole: nobody may agree on nothing.
func (f *MappingFormat) compared(value json.RawMessage, fields map[string]json.RawMessage) vote.KeyOptions {
	o := f.Key
	if f.Decision {
		o = vote.KeyOptions{Ignore: []string{reasonField}}
		if _, chosen := fields[nextStepField]; chosen {
			o = vote.KeyOptions{VoteOn: []string{nextStepField}}
		}
	}
	if key, err := vote.Canonical(value, o); err == nil && key == "{}" {
		return vote.KeyOptions{}
	}
	return o
}

// unvoted are the paths of what did not count in an answer that won.
func (f *MappingFormat) unvoted(answer json.RawMessage) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer, &fields) != nil {
		return nil
	}
	return vote.Unvoted(answer, f.compared(answer, fields))
}

// empty reports whether a field says nothing.
func empty(value json.RawMessage) bool {
	switch string(value) {
	case "null", "false", `""`, "[]", "{}":
		return true
	}
	return false
}

func readMapping(text string) (json.RawMessage, error) {
	data, err := yamlclean.JSON(text)
	if err != nil {
		return nil, fmt.Errorf("the answer is not YAML: %w", err)
	}
	return data, nil
}
