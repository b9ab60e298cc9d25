package reader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/jsonpart"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// JSON reads a value that fits a JSON schema.
type JSON struct {
	// Schema is a JSON schema, draft 7 or 2020-12, without references to elsewhere.
	Schema json.RawMessage `json:"schema"`

	// VoteOn lists the fields that have to agree, Ignore those that need not, as in
	// [vote.KeyOptions]; so do the tolerances say when numbers agree.
	VoteOn            []string    `json:"vote_on,omitempty"`
	Ignore            []string    `json:"ignore,omitempty"`
	Tolerance         json.Number `json:"tolerance,omitempty"`
	RelativeTolerance json.Number `json:"relative_tolerance,omitempty"`
}

func (j JSON) keys() vote.KeyOptions {
	return vote.KeyOptions{VoteOn: j.VoteOn, Ignore: j.Ignore, Tolerance: j.Tolerance, RelativeTolerance: j.RelativeTolerance}
}

// Validate implements [Reader].
func (j JSON) Validate() error {
	if _, err := j.resolve(); err != nil {
		return err
	}
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(j.Schema, &root) == nil && len(root.Properties) > 0 {
		for _, path := range slices.Concat(j.VoteOn, j.Ignore) {
			first, _, _ := strings.Cut(path, ".")
			if _, ok := root.Properties[first]; !ok && first != "*" && !strings.Contains(first, `\`) {
				return fmt.Errorf("reader: the vote is to go by %q, but the schema has no field %q", path, first)
			}
		}
	}
	return j.keys().Validate()
}

func (j JSON) resolve() (resolved *jsonschema.Resolved, err error) {
	// The library reports some mistakes by panicking; a schema of a user is no reason
	// to end the program.
	defer func() {
		if r := recover(); r != nil {
			resolved, err = nil, fmt.Errorf("reader: the schema cannot be used: %v", r)
		}
	}()
	if len(bytes.TrimSpace(j.Schema)) == 0 {
		return nil, errors.New("reader: the schema is empty")
	}
	if _, err := vote.Canonical(j.Schema, vote.KeyOptions{KeepSpace: true}); err != nil {
		return nil, fmt.Errorf("reader: the schema is not JSON: %s", strings.TrimPrefix(err.Error(), "vote: "))
	}
	if err := checkTypes(j.Schema, ""); err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(j.Schema, &schema); err != nil {
		return nil, fmt.Errorf("reader: this is no JSON schema: %w", err)
	}
	if resolved, err = schema.Resolve(nil); err != nil {
		return nil, fmt.Errorf("reader: the schema cannot be used: %w", err)
	}
	return resolved, nil
}

// The types that JSON has, and the keywords of a schema whose values are schemas, or have
// some.
var (
	jsonTypes  = []string{"null", "boolean", "object", "array", "number", "integer", "string"}
	subSchemas = []string{"items", "prefixItems", "additionalProperties", "additionalItems", "contains", "not", "if", "then", "else", "allOf", "anyOf", "oneOf", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties"}
	namedSchemas = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// checkTypes finds a type that nothing has, so that no answer would ever fit. The library
// does not look at it.
func checkTypes(raw json.RawMessage, where string) error {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, schema := range list {
			if err := checkTypes(schema, where); err != nil {
				return err
			}
		}
		return nil
	}
	var schema map[string]json.RawMessage
	if json.Unmarshal(raw, &schema) != nil {
		return nil // true, or no schema at all
	}
	types := make([]string, 1)
	if json.Unmarshal(schema["type"], &types[0]) == nil || json.Unmarshal(schema["type"], &types) == nil {
		for _, name := range types {
			if !slices.Contains(jsonTypes, name) {
				return fmt.Errorf("reader: the schema says %stype %q, want one of %s", where, name, strings.Join(jsonTypes, ", "))
			}
		}
	}
	for _, keyword := range subSchemas {
		inner := where
		if keyword == "items" {
			inner = strings.TrimSuffix(where, ": ") + "items: "
		}
		if err := checkTypes(schema[keyword], inner); err != nil {
			return err
		}
	}
	for _, keyword := range namedSchemas {
		var named map[string]json.RawMessage
		_ = json.Unmarshal(schema[keyword], &named) // what is none the library tells
		for _, name := range slices.Sorted(maps.Keys(named)) {
			path := strings.TrimPrefix(strings.TrimSuffix(where, ": ")+"."+name, ".")
			if err := checkTypes(named[name], path+": "); err != nil {
				return err
			}
		}
	}
	return nil
}

// Format implements [Reader].
func (j JSON) Format() flow.Format { return format(nameJSON, j) }

// JSONSchema implements [Reader].
func (j JSON) JSONSchema() json.RawMessage { return j.Schema }

// Instruction implements [Reader].
func (j JSON) Instruction() string {
	var short bytes.Buffer
	if json.Compact(&short, j.Schema) != nil {
		short.Reset()
	}
	return "Answer with JSON and nothing else, so that it fits this JSON schema: " + short.String()
}

func (j JSON) open() (form, error) {
	resolved, err := j.resolve()
	if err != nil {
		return nil, err
	}
	clusters, err := vote.NewClusters(j.keys())
	if err != nil {
		return nil, err
	}
	d := &documents{keys: j.keys(), schema: resolved, clusters: clusters, wrapped: !isObject(j.Schema)}
	if len(j.VoteOn) == 0 && len(j.Ignore) == 0 {
		d.shape, d.shaped = shapeOf(j.Schema)
	}
	return d, nil
}

// documents reads those of one question.
type documents struct {
	keys     vote.KeyOptions
	schema   *jsonschema.Resolved
	clusters *vote.Clusters
	wrapped  bool // structured output has the value in an object

	shape  *shape // what the schema says, of answers that are plain
	shaped bool   // there is one, and the key is that of all of an answer
}

func (d *documents) again() form {
	clusters := d.clusters.Again()
	if clusters == d.clusters {
		return d // it keeps nothing
	}
	next := *d
	next.clusters = clusters
	return &next
}

func (d *documents) text(said string) (item, *redflag.Flag) {
	if it, ok := d.plain(said); ok {
		return it, nil
	}
	return fromParts(said, d.field)
}

// plain reads a text that is JSON, plain and fits the schema, as most answers are. Others are
// looked at more closely.
func (d *documents) plain(said string) (item, bool) {
	if !d.shaped {
		return item{}, false
	}
	key, ok := vote.Plain(said)
	if !ok || strings.HasPrefix(key, `{"`+answerField+`":`) || !d.shape.fits(key) {
		return item{}, false
	}
	// What is plain is its own key but for white space, which no log has either.
	return item{value: json.RawMessage(key), key: d.clusters.Key(key), isJSON: true}, true
}

// nearlyJSON finds what is JSON or was meant to be.
var nearlyJSON = regexp.MustCompile(`\{\s*["'\x60]|^\s*(?:\x60{3}\w*\s*)?[\[{]`)

// fromParts reads the value that a text holds: what it is as a whole, or the only JSON
// in it that can be read, and if there is none the YAML without fences and prose. What is
// nearly JSON is not read as YAML, to which it may mean something else.
func fromParts(said string, field func(json.RawMessage) (item, *redflag.Flag)) (item, *redflag.Flag) {
	if whole, ok := jsonpart.Whole(said); ok {
		return field(whole)
	}
	parts := jsonpart.All(said)
	if len(parts) == 0 && !nearlyJSON.MatchString(said) {
		for _, block := range blocks(said) {
			if read, err := yamlclean.Read(block); err == nil && len(read.Data) > 0 && strings.IndexByte("{[", read.Data[0]) >= 0 {
				parts = append(parts, read.Data)
			}
		}
	}
	why := unreadable("there is no JSON in %s", said)
	var all []item
	for _, part := range parts {
		it, flag := field(part)
		if flag == nil {
			all = append(all, it)
		} else {
			why = flag
		}
	}
	if it, found, flag := agree(all); found {
		return it, flag
	}
	return item{}, why
}

// blocks are the fenced blocks of a text, or all of it if there are not several.
func blocks(said string) []string {
	parts := strings.Split("\n"+said, "\n```")
	if len(parts) < 4 {
		return []string{said}
	}
	var all []string
	for i := 1; i < len(parts); i += 2 {
		all = append(all, "```"+parts[i]+"\n```")
	}
	return all
}

func (d *documents) field(raw json.RawMessage) (item, *redflag.Flag) {
	var wrapper map[string]json.RawMessage
	isWrapper := json.Unmarshal(raw, &wrapper) == nil && len(wrapper) == 1 && len(wrapper[answerField]) > 0
	if isWrapper && d.wrapped {
		raw, isWrapper = wrapper[answerField], false
	}
	key, flag := d.check(raw)
	if flag != nil && isWrapper {
		if inner, wrong := d.check(wrapper[answerField]); wrong == nil {
			key, flag, raw = inner, nil, wrapper[answerField]
		}
	}
	if flag != nil {
		return item{}, flag
	}
	if len(d.keys.VoteOn) > 0 || len(d.keys.Ignore) > 0 { // otherwise the key is that of all
		var err error
		if key, err = vote.Canonical(raw, d.keys); err != nil {
			return item{}, redflag.New(redflag.MissingField, "%s", strings.TrimPrefix(err.Error(), "vote: "))
		}
	}
	return item{value: raw, key: d.clusters.Key(key)}, nil
}

// check returns the key of all of a value, or says why it does not fit the schema.
func (d *documents) check(raw json.RawMessage) (string, *redflag.Flag) {
	key, err := vote.Canonical(raw, vote.KeyOptions{})
	if err != nil {
		return "", unreadable("%s", strings.TrimPrefix(err.Error(), "vote: "))
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", unreadable("%v", err)
	}
	if err := d.schema.Validate(value); err != nil {
		return "", unreadable("it does not fit the schema: %s", schemaProblem(err))
	}
	return key, nil
}

// schemaProblem is what a schema says, without the way to where it says so.
func schemaProblem(err error) string {
	text := strings.ReplaceAll(err.Error(), "<invalid reflect.Value>", "null")
	if i := strings.LastIndex(text, "validating "); i >= 0 {
		if where, what, ok := strings.Cut(text[i+len("validating "):], ": "); ok {
			where = strings.TrimPrefix(strings.TrimPrefix(strings.ReplaceAll(where, "/properties/", "."), "root"), ".")
			if where == "" {
				return what
			}
			return fmt.Sprintf("%s: %s", where, what)
		}
	}
	return text
}
