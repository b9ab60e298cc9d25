// Package tool is the vocabulary for what an agent can do besides answering.
//
// # Effects
//
// Every tool has an effect class, and the class decides who may run it. A sample
// runs pure and observing tools itself, as often as it likes. A mutating tool is
// never run by a sample: the call is an [Intent], which ends the attempt, is
// voted on like an answer, and is executed once if it wins. So k voters who all
// want to append a line append it once.
//
// # Errors
//
// A tool that fails in a way that its caller can understand ("no such file")
// returns a [Result] with IsError: the model reads it and goes on. An error from
// Run itself means that the tool could not be run at all, or, if it is
// [ErrUnknownOutcome], that nobody knows whether it was.
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// A Class is what running a tool does to the world.
type Class string

// The effect classes.
const (
	Pure    Class = "pure"    // reads what the run owns: files of the workspace
	Observe Class = "observe" // looks at the world outside and changes nothing
	Mutate  Class = "mutate"  // changes something
	Human   Class = "human"   // asks the person
)

// BySample reports whether a sample may run such a tool itself.
func (c Class) BySample() bool { return c == Pure || c == Observe }

// A Tool is something that a model may ask to have done.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the input, an object
	Class       Class
	Source      string // "builtin", or the name of an MCP server

	// Idempotent says that running it again with the same input changes nothing
	// further, so that a call of unknown outcome may be repeated.
	Idempotent bool

	// Unavailable says why the tool cannot be used here, such as a search without
	// a back end; empty if it can. (A whole server is marked in the [Registry].)
	Unavailable string

	// Run executes the tool. It is safe for concurrent use and returns promptly
	// when ctx ends, leaving nothing running. It is nil for human tools, whose
	// question is asked by somebody else.
	Run func(ctx context.Context, input json.RawMessage) (Result, error)

	// check reports what is wrong with an input; see New.
	check func(input json.RawMessage) error

	// normal returns a valid input as voters should see it; see Intent.
	normal func(input json.RawMessage) (json.RawMessage, error)
}

// A Result is what came of a call. It is what the model reads.
type Result = flow.Result

// ErrUnknownOutcome is what a tool's error wraps if the call was made and whether
// it took effect is not known.
var ErrUnknownOutcome = errors.New("whether the call took effect is not known")

// Failed is the result of a call that did not work, for reasons that the model
// can read.
func Failed(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// An Intent is a call of a mutating tool that somebody proposes, in canonical
// form: see [NewIntent].
type Intent = event.Intent

// NewIntent returns the intent to call tool with input in canonical form, in
// which equal calls are equal bytes: fields sorted, no space between them, and
// numbers in normal form. Strings stay exactly as they are, because files and
// programs are made of them: neither white space nor the Unicode form may change
// between the vote and the execution.
func NewIntent(tool string, input json.RawMessage) (Intent, error) {
	canonical, err := canonicalInput(input)
	if err != nil {
		return Intent{}, fmt.Errorf("tool: input of %s: %w", tool, err)
	}
	return Intent{Tool: tool, Input: canonical}, nil
}

// canonicalInput leaves the judgement of what is one clear JSON value to package
// vote: no field twice, no broken text, no excessive size or depth.
func canonicalInput(input json.RawMessage) (json.RawMessage, error) {
	if _, err := vote.Canonical(input, vote.KeyOptions{KeepSpace: true}); err != nil {
		return nil, err
	}
	value, err := decode(input)
	if err != nil {
		return nil, err
	}
	if value, err = normalNumbers(value); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// decode reads JSON without rounding numbers.
func decode(input json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	return value, err
}

// normalNumbers replaces every number by its normal form: 1.0 and 1e0 by 1.
func normalNumbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		normal, err := vote.Canonical(json.RawMessage(v), vote.KeyOptions{})
		return json.Number(normal), err
	case []any:
		for i := range v {
			if v[i], err = normalNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], err = normalNumbers(v[name]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
