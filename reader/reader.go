// Package reader describes how an answer is read and compared: as one of a list, a
// number, a date, ... A reader is plain data, kept in the log of a run; everything else
// follows from it: what the voters are told, the schema for providers that can keep to
// one, and which answers agree.
//
// Reading forgives shape and never guesses at meaning. Prose, fences and emphasis around
// an answer do not matter, nor does JSON where text was asked for or text where it was
// JSON. An answer that names two things without saying which one is meant is a red flag:
// it costs a sample, while a guess would be a vote for something that nobody said.
package reader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/jsonpart"
	"github.com/maker-mdap/maker/redflag"
)

// A Reader says how an answer is read: [OneOf], [Bool], [Number], [Date], [Regexp],
// [List], [Object], [JSON] or [Text].
type Reader interface {
	// Validate reports what makes the reader meaningless.
	Validate() error

	// Format is the reader as a question names it. It is of a valid reader.
	Format() flow.Format

	// JSONSchema is that of the value that is read. That of structured output
	// is [Output].
	JSONSchema() json.RawMessage

	// Instruction tells a voter in one sentence how to answer.
	Instruction() string

	open() (form, error) // ready to read the answers to one question
}

// A form is a reader that is ready to read.
type form interface {
	// text reads all that was said.
	text(said string) (item, *redflag.Flag)

	// field reads a value that is JSON already.
	field(raw json.RawMessage) (item, *redflag.Flag)

	// again is the same for the answers to another question.
	again() form
}

// An item is a value that was read, and its key: JSON as well, so that the keys of
// several make one.
type item struct {
	value  json.RawMessage
	key    string
	isJSON bool // value was read to its end
}

// The names of the readers in a [flow.Format].
const (
	nameOneOf  = "read_one_of"
	nameBool   = "read_bool"
	nameNumber = "read_number"
	nameDate   = "read_date"
	nameRegexp = "read_regexp"
	nameJSON   = "read_json"
	nameObject = "read_object"
	nameList   = "read_list"
	nameText   = "read_text"
)

// blanks makes an empty reader of each name.
var blanks = map[string]func(params json.RawMessage) (Reader, error){
	nameOneOf:  parse[OneOf],
	nameBool:   parse[Bool],
	nameNumber: parse[Number],
	nameDate:   parse[Date],
	nameRegexp: parse[Regexp],
	nameJSON:   parse[JSON],
	nameText:   parse[Text],
}

func init() { // these two hold others, which are found here
	blanks[nameList] = parse[List]
	blanks[nameObject] = parse[Object]
}

func parse[R Reader](params json.RawMessage) (Reader, error) {
	var r R
	if len(params) > 0 {
		if err := json.Unmarshal(params, &r); err != nil {
			return nil, err
		}
	}
	return r, r.Validate()
}

// Of returns the reader that a format names.
func Of(f flow.Format) (Reader, error) {
	blank, ok := blanks[f.Reader]
	if !ok {
		return nil, fmt.Errorf("reader: no reader is called %q", f.Reader)
	}
	return blank(f.Params)
}

// Readers are those of this package, for the runs that know them by name.
func Readers() domain.Readers {
	all := domain.Readers{}
	for name := range blanks {
		all[name] = func(params json.RawMessage) (domain.Reader, error) {
			return New(flow.Format{Reader: name, Params: params})
		}
	}
	return all
}

// New returns what reads the answers to one question.
func New(f flow.Format) (domain.Reader, error) {
	r, err := Of(f)
	if err != nil {
		return nil, err
	}
	ready, err := r.open()
	if err != nil {
		return nil, err
	}
	return answers{ready}, nil
}

// answers are those to one question.
type answers struct{ form form }

// Read implements [domain.Reader].
func (a answers) Read(text string) (domain.Answer, *redflag.Flag) {
	said, flag := spoken(text)
	if flag != nil {
		return domain.Answer{}, flag
	}
	it, flag := a.form.text(said)
	if flag != nil {
		return domain.Answer{}, flag
	}
	return domain.Answer{Value: it.value, Key: it.key, IsJSON: it.isJSON}, nil
}

// Again implements [domain.Repeatable].
func (a answers) Again() domain.Reader { return answers{a.form.again()} }

// ReadField reads a value that is a part of an answer which somebody else has read: the
// field of a mapping. It returns the value in its normal form and its key.
func ReadField(r Reader) (func(raw json.RawMessage) (value json.RawMessage, key string, flag *redflag.Flag), error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	ready, err := r.open()
	if err != nil {
		return nil, err
	}
	return func(raw json.RawMessage) (json.RawMessage, string, *redflag.Flag) {
		it, flag := ready.field(raw)
		return it.value, it.key, flag
	}, nil
}

// answerField is the field of structured output that holds the answer.
const answerField = "answer"

// Output is the schema of structured output. Providers want an object: what is none is
// the field answer of one.
func Output(r Reader) json.RawMessage {
	schema := r.JSONSchema()
	if isObject(schema) {
		return schema
	}
	return encode(object(map[string]json.RawMessage{answerField: schema}, []string{answerField}))
}

// isObject reports whether a schema says that a value is an object.
func isObject(schema json.RawMessage) bool {
	var root struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &root) == nil && root.Type == "object"
}

// Put makes a question one that is answered as the reader says. For a text there is no
// use in a schema.
func Put(q *flow.Question, r Reader) {
	q.Answer = r.Format()
	if _, ok := r.(Text); !ok {
		q.Schema = Output(r)
	}
}

// object is the schema of an object with these fields and no others.
func object(properties map[string]json.RawMessage, required []string) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// format is a format whose parameters are plain data.
func format(name string, params any) flow.Format {
	raw := encode(params)
	if string(raw) == "{}" {
		raw = nil
	}
	return flow.Format{Reader: name, Params: raw}
}

// encode writes plain data; what a user gave that is no JSON becomes null, which no
// reader takes.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read it, too
	if e.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

func unreadable(format string, args ...any) *redflag.Flag {
	return redflag.New(redflag.SchemaInvalid, format, args...)
}

// answerNames are what models call the field with the answer, explainNames those that
// may stand beside it: what else does may change what it means.
var (
	answerNames  = []string{answerField, "final_answer", "finalanswer", "final answer", "result", "value", "label", "choice", "category", "classification", "verdict"}
	explainNames = []string{"reason", "reasons", "reasoning", "explanation", "rationale", "justification", "why", "because", "thought", "thoughts", "thinking", "analysis",
		"steps", "work", "work_shown", "evidence", "confidence", "question", "note", "notes", "comment", "source"}
)

// unwrap takes the answer out of an object that is not it: its only field, or the one
// that is called so beside those that explain it.
func unwrap(raw json.RawMessage) (json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	var answer json.RawMessage
	for field, value := range fields {
		isAnswer := len(fields) == 1 || slices.Contains(answerNames, strings.ToLower(field))
		switch {
		case isAnswer && answer == nil:
			answer = value
		case isAnswer || !slices.Contains(explainNames, strings.ToLower(field)):
			return nil, false
		}
	}
	return answer, answer != nil
}

// readText reads a text whose answer has no parts: in JSON, if all of it is that or
// objects in it have an answer, and else in words.
func readText(said, want string, m matcher, field func(json.RawMessage) (item, *redflag.Flag)) (item, *redflag.Flag) {
	if whole, ok := jsonpart.Whole(said); ok && strings.IndexByte(`{["`, whole[0]) >= 0 {
		return field(whole)
	}
	var all []item
	for _, part := range jsonpart.All(said) {
		if part[0] != '{' {
			continue
		}
		if it, flag := field(part); flag == nil {
			all = append(all, it)
		}
	}
	if it, found, flag := agree(all); found {
		return it, flag
	}
	return find(said, want, m)
}

// scalar reads a JSON value that stands for something without parts: a text, or what
// is in an object.
func scalar(raw json.RawMessage, depth int, read func(text string) (item, *redflag.Flag)) (item, *redflag.Flag) {
	raw = json.RawMessage(strings.TrimSpace(string(raw)))
	if len(raw) == 0 || string(raw) == "null" {
		return item{}, redflag.New(redflag.Empty, "the answer is null")
	}
	const deepest = 3
	switch raw[0] {
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return item{}, unreadable("%v", err)
		}
		return read(text)
	case '{':
		if inner, ok := unwrap(raw); ok && depth < deepest {
			return scalar(inner, depth+1, read)
		}
		return item{}, unreadable("an object, and none of its fields is the answer: %s", raw)
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil && len(items) == 1 && depth < deepest {
			return scalar(items[0], depth+1, read)
		}
		return item{}, unreadable("a list, want a single value: %s", raw)
	default: // a number or a truth value, as it is written
		return read(string(raw))
	}
}
