// Package redflag finds reasons to discard an answer.
package redflag

// A Flag is a reason to discard an answer.
type Flag struct {
	Name   string `json:"flag"`
	Reason string `json:"reason"`
}

// Config says which checks are on, and how strict they are.
type Config struct {
	MaxTokens int `json:"max_tokens,omitempty"`
}
