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
// Run itself means that the tool could not be run at all.
package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/vote"
)

// Effect is what running a tool does to the world.
type Effect string

// The effect classes.
const (
	Pure    Effect = "pure"    // reads what the run owns: files of the workspace
	Observe Effect = "observe" // looks at the world outside and changes nothing
	Mutate  Effect = "mutate"  // changes something
	Human   Effect = "human"   // asks the person
)

// BySample reports whether a sample may run such a tool itself.
func (e Effect) BySample() bool { return e == Pure || e == Observe }

// A Tool is something that a model may ask to have done.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the input, an object
	Effect      Effect
	Source      string // "builtin", or the name of an MCP server

	// Idempotent says that running it again with the same input changes nothing
	// further, so that a call of unknown outcome may be repeated.
	Idempotent bool

	// Run executes the tool. It is safe for concurrent use and returns promptly
	// when ctx ends, leaving nothing running.
	Run func(ctx context.Context, input json.RawMessage) (Result, error)
}

// A Result is what came of a call. It is what the model reads.
type Result struct {
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
}

// Failed is the result of a call that did not work, for reasons that the model
// can read.
func Failed(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// An Intent is a call of a mutating tool that somebody proposes.
type Intent struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"` // canonical: see NewIntent
}

// NewIntent returns the intent to call tool with input in canonical form, in
// which equal calls are equal bytes. White space inside strings counts: files
// and programs are made of it.
func NewIntent(tool string, input json.RawMessage) (Intent, error) {
	canonical, err := vote.Canonical(input, vote.KeyOptions{KeepSpace: true})
	if err != nil {
		return Intent{}, fmt.Errorf("tool: input of %s: %w", tool, err)
	}
	return Intent{Tool: tool, Input: json.RawMessage(canonical)}, nil
}

// Key decides which intents agree.
func (i Intent) Key() string { return i.Tool + " " + string(i.Input) }
