// Package domain says what a family of tasks brings along: how to ask, how to
// read an answer, and how to tell whether it can be right.
//
// The engine knows no task. It finds the reader of a question by the name in
// its [flow.Format], so that a question stays plain data.
package domain

import (
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/redflag"
)

// An Answer is what a reader made of a text.
type Answer struct {
	// Value is the answer as JSON. It becomes the output of the step if it wins.
	Value json.RawMessage

	// Key decides with which other answers this one agrees.
	Key string

	// IsJSON says that code has written Value, or read it to its end, so that nobody needs
	// to look whether it is JSON.
	IsJSON bool
}

// A Reader turns the text of one answer into a vote, or says why it is none.
// It is used by one question, by one goroutine at a time.
type Reader interface {
	Read(text string) (Answer, *redflag.Flag)
}

// Repeatable is a reader that can be had for another question of the same format, for less
// than making it takes.
type Repeatable interface {
	Reader
	Again() Reader
}

// NewReader makes the reader of one question from the parameters of its format.
type NewReader func(params json.RawMessage) (Reader, error)

// Readers finds readers by name.
type Readers map[string]NewReader

// New makes the reader called name.
func (r Readers) New(name string, params json.RawMessage) (Reader, error) {
	f, ok := r[name]
	if !ok {
		return nil, fmt.Errorf("domain: no reader is called %q", name)
	}
	reader, err := f(params)
	if err != nil {
		return nil, fmt.Errorf("domain: reader %s: %w", name, err)
	}
	return reader, nil
}
