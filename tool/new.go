package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// An InputError is an input that a tool does not take. Its text names the field.
type InputError struct {
	Tool string
	Err  error
}

func (e *InputError) Error() string { return fmt.Sprintf("input of %s: %v", e.Tool, e.Err) }
func (e *InputError) Unwrap() error { return e.Err }

// A Checker is an input type with rules that a schema cannot state.
type Checker interface{ Check() error }

// New returns t with a Run func that takes its input as a Go struct. The schema
// is derived from the struct:
//
//   - a field is required unless its json tag says omitempty;
//   - the tag jsonschema describes it;
//   - the tag enum lists the words that it may be ("a,b,c");
//   - the tag minimum is the least number that it may be;
//   - the tag vote:"-" marks prose, which is no part of an intent: two calls that
//     differ in it only are the same call;
//   - other fields than those of the struct are refused.
//
// An input that does not fit is answered with an error result that names the
// field, and run is not called. A panic in run is an error, not the end of the
// program. For a human tool run is nil.
func New[In any](t Tool, run func(ctx context.Context, in In) (Result, error)) (Tool, error) {
	schema, err := schemaOf[In]()
	if err != nil {
		return Tool{}, fmt.Errorf("tool: %s: %w", t.Name, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return Tool{}, fmt.Errorf("tool: %s: %w", t.Name, err)
	}
	if t.Schema, err = json.Marshal(schema); err != nil {
		return Tool{}, fmt.Errorf("tool: %s: %w", t.Name, err)
	}
	read := func(input json.RawMessage) (in In, err error) {
		canonical, err := validate(resolved, input)
		if err == nil {
			err = json.Unmarshal(canonical, &in)
		}
		if c, ok := any(in).(Checker); ok && err == nil {
			err = c.Check()
		}
		if err != nil {
			return in, &InputError{t.Name, err}
		}
		return in, nil
	}
	t.check = func(input json.RawMessage) error {
		_, err := read(input)
		return err
	}
	t.normal = func(input json.RawMessage) (json.RawMessage, error) {
		in, err := read(input)
		if err != nil {
			return nil, err
		}
		clearProse(reflect.ValueOf(&in).Elem())
		return json.Marshal(in)
	}
	if run == nil {
		return t, nil
	}
	t.Run = func(ctx context.Context, input json.RawMessage) (result Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("tool: %s panicked: %v", t.Name, p)
			}
		}()
		in, err := read(input)
		if err != nil {
			return Failed("%v", err), nil
		}
		return run(ctx, in)
	}
	return t, nil
}

// Intent returns the intent to call the tool with input, which has to be valid:
// nobody should vote on a call that cannot work. Of a tool made by [New], fields
// that say what holds anyway ("replace_all": false) and prose are left out, so
// that calls that do the same agree.
func (t Tool) Intent(input json.RawMessage) (Intent, error) {
	if t.normal != nil {
		var err error
		if input, err = t.normal(input); err != nil {
			return Intent{}, err
		}
	} else if err := t.Validate(input); err != nil {
		return Intent{}, err
	}
	return NewIntent(t.Name, input)
}

func clearProse(in reflect.Value) {
	for i := range in.NumField() {
		if in.Type().Field(i).Tag.Get("vote") == "-" {
			in.Field(i).SetZero()
		}
	}
}

// Validate reports whether the tool takes input, without running it. The error
// is an [*InputError]. A schema that only its server understands accepts any
// object: the server will judge.
func (t Tool) Validate(input json.RawMessage) error {
	if t.check != nil {
		return t.check(input)
	}
	var resolved *jsonschema.Resolved
	var schema jsonschema.Schema
	if json.Unmarshal(t.Schema, &schema) == nil {
		resolved, _ = schema.Resolve(nil)
	}
	if _, err := validate(resolved, input); err != nil {
		return &InputError{t.Name, err}
	}
	return nil
}

// validate returns input in canonical form if it is an object that fits the
// schema.
func validate(schema *jsonschema.Resolved, input json.RawMessage) (json.RawMessage, error) {
	canonical, err := canonicalInput(input)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if json.Unmarshal(canonical, &object) != nil || object == nil {
		return nil, errors.New("want a JSON object")
	}
	if schema == nil {
		return canonical, nil
	}
	if err := schema.Validate(object); err != nil {
		return nil, errors.New(plain(err.Error()))
	}
	return canonical, nil
}

var (
	schemaPath = regexp.MustCompile(`validating (root|/[^ ]*): `)
	tooLittle  = regexp.MustCompile(`minimum: (-?[0-9]+)/1 is less than (-?[0-9]+)\.0+`)
)

// plain turns the library's report into one for a reader who knows fields, not
// places in a schema.
func plain(report string) string {
	field := ""
	for _, m := range schemaPath.FindAllStringSubmatch(report, -1) {
		if m[1] != "root" {
			field = strings.ReplaceAll(strings.TrimPrefix(m[1], "/properties/"), "/properties/", ".") + ": "
		}
	}
	report = field + strings.TrimPrefix(schemaPath.ReplaceAllString(report, ""), "required: ")
	report = tooLittle.ReplaceAllString(report, "$1 is less than $2")
	return clip.Text(report, 300) // a wrong value is repeated in it, however long
}

func schemaOf[In any]() (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, err
	}
	structure := reflect.TypeFor[In]()
	if structure.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is no struct", structure)
	}
	for i := range structure.NumField() {
		field := structure.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if words, ok := field.Tag.Lookup("enum"); ok && property != nil {
			for word := range strings.SplitSeq(words, ",") {
				property.Enum = append(property.Enum, word)
			}
		}
		if least, ok := field.Tag.Lookup("minimum"); ok && property != nil {
			n, err := strconv.ParseFloat(least, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: minimum %q is no number", field.Name, least)
			}
			property.Minimum = &n
		}
		if property != nil && slices.Contains(property.Types, "null") && property.Type == "" {
			// A slice may be null in Go. A model that has nothing leaves it out.
			property.Types = slices.DeleteFunc(property.Types, func(t string) bool { return t == "null" })
			if len(property.Types) == 1 {
				property.Type, property.Types = property.Types[0], nil
			}
		}
	}
	return schema, nil
}
