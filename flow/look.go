package flow

import (
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/vote"
)

// A Look is a look at the world: plain data that names a kind of look which the
// runtime knows, with its parameters.
type Look struct {
	Kind   string          `json:"kind"`
	Params json.RawMessage `json:"params,omitempty"`
}

// The kinds of looks. Each has a function in this package that asks for it.
const (
	LookTools      = "tools"      // see [Tools]
	LookCatalogue  = "catalogue"  // see [Catalogue]
	LookUsable     = "usable"     // see [Usable]
	LookAttachment = "attachment" // see [ReadAttachment]
	LookFile       = "file"       // see [ReadFile]
	LookVerify     = "verify"     // see [Verify]
	LookSame       = "same"       // see [Same]
)

// A ToolInfo is what an orchestrator knows about a tool.
type ToolInfo struct {
	Name string `json:"name"`

	// Safe says that samples may call it themselves: it changes nothing. Human says
	// that it asks the person.
	Safe  bool `json:"safe,omitempty"`
	Human bool `json:"human,omitempty"`

	// Unavailable says why it cannot be used just now.
	Unavailable string `json:"unavailable,omitempty"`
}

// Tools looks which tools there are.
func Tools(f Flow, key string) ([]ToolInfo, error) {
	return observe[[]ToolInfo](f, key, LookTools, nil)
}

// Catalogue looks which tools there are, as a text for those who plan.
func Catalogue(f Flow, key string) (string, error) {
	return observe[string](f, key, LookCatalogue, nil)
}

// Wanted are tools and models that somebody wants to use, by name.
type Wanted struct {
	Tools  []string `json:"tools,omitempty"`
	Models []string `json:"models,omitempty"`
}

// Usability is what stands in the way of using tools and models, by name; those that
// can be used are not in it. Rule is the voting rule that is in force.
type Usability struct {
	Tools  map[string]string `json:"tools,omitempty"`
	Models map[string]string `json:"models,omitempty"`
	Rule   vote.Rule         `json:"rule"`
}

// Usable looks whether tools and models can be used.
func Usable(f Flow, key string, w Wanted) (Usability, error) {
	return observe[Usability](f, key, LookUsable, w)
}

// A Reference is to something that a task is about: a file, an image or an address.
type Reference struct {
	Kind string `json:"kind"`
	Ref  string `json:"ref"`
}

// Attached is what a reference leads to.
type Attached struct {
	MediaType string `json:"media_type,omitempty"`
	Text      string `json:"text,omitempty"` // of a text file
	Data      []byte `json:"data,omitempty"` // of an image

	// Problem says why there is nothing.
	Problem string `json:"problem,omitempty"`

	// TooLarge is how many bytes a file has at least, if that is why.
	TooLarge int64 `json:"too_large,omitempty"`
}

// ReadAttachment looks at what a reference leads to.
func ReadAttachment(f Flow, key string, r Reference) (Attached, error) {
	return observe[Attached](f, key, LookAttachment, r)
}

// A File is one of the workspace that a program reads.
type File struct {
	Path string `json:"path"`
	Most int64  `json:"most"` // bytes that it may have
}

// ReadFile looks at a file. Unlike [ReadAttachment] it is for code, not for a model, and so may
// be large.
func ReadFile(f Flow, key string, file File) (Attached, error) {
	return observe[Attached](f, key, LookFile, file)
}

// A Claim is a solution of a problem of some domain.
type Claim struct {
	Domain   string `json:"domain"`
	Problem  string `json:"problem"`
	Solution string `json:"solution"`
}

// Verify asks the domain what is known to be wrong with a solution; it is empty if
// nothing is. A domain is part of the world: it may ask a computer algebra system.
func Verify(f Flow, key string, c Claim) (wrong string, err error) {
	return observe[string](f, key, LookVerify, c)
}

// A Comparison are solutions of one problem to be held against each other.
type Comparison struct {
	Domain    string   `json:"domain"`
	Solutions []string `json:"solutions"`
}

// Same asks the domain which solutions say the same. The groups are lists of places
// in c.Solutions: for each solution, those that say the same as it does.
func Same(f Flow, key string, c Comparison) (groups [][]int, err error) {
	return observe[[][]int](f, key, LookSame, c)
}

// observe looks and reads what was seen.
func observe[T any](f Flow, key, kind string, params any) (seen T, err error) {
	l := Look{Kind: kind}
	if params != nil {
		if l.Params, err = json.Marshal(params); err != nil {
			return seen, fmt.Errorf("flow: the look %s: %w", key, err)
		}
	}
	raw, err := f.Observe(key, l)
	if err != nil {
		return seen, err
	}
	if err := json.Unmarshal(raw, &seen); err != nil {
		return seen, fmt.Errorf("flow: what the look %s saw: %w", key, err)
	}
	return seen, nil
}
