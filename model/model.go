// Package model is the vocabulary for asking a language model one question.
//
// A [Model] sends one [Request] and returns one [Response] or an [*Error] with
// a [Kind]. That is all a provider does: it never retries, logs, counts or
// limits. Those are decorators around the interface, each one small, stacked by
// whoever builds the engine:
//
//	retry( limiter( budget( provider )))
//
// Providers live in their own packages below this one, and only they know a
// wire format.
package model

import (
	"context"

	"github.com/maker-mdap/maker/usage"
)

// A Model answers requests.
//
// Implementations are safe for concurrent use, treat the request as read-only,
// and return promptly when ctx ends, taking the request in flight down with
// them. Every error they return is, or wraps, an [*Error].
type Model interface {
	Generate(ctx context.Context, req *Request) (*Response, error)
}

// Func is a function that is a Model.
type Func func(ctx context.Context, req *Request) (*Response, error)

// Generate calls f.
func (f Func) Generate(ctx context.Context, req *Request) (*Response, error) { return f(ctx, req) }

// Role says who speaks in a [Message].
type Role string

// The roles of a conversation. The system prompt is not a message: it is
// [Request.System].
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one turn of the conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
}

// A Request is one question to a model. It carries no history of its own:
// samples of one question never share a conversation.
type Request struct {
	System   string    `json:"system,omitempty"`
	Messages []Message `json:"messages"`

	// Temperature is left out of the wire request when nil.
	Temperature *float64 `json:"temperature,omitempty"`

	// MaxOutput bounds the tokens of the answer. A budget needs it, because it
	// reserves for the worst case; 0 means the provider's default.
	MaxOutput int `json:"max_output,omitempty"`
}

// StopReason says why a model stopped writing.
type StopReason string

// The stop reasons. StopUnknown is what a provider that reports none gets.
const (
	StopUnknown StopReason = ""
	StopEnd     StopReason = "end"     // the answer is complete
	StopLength  StopReason = "length"  // cut at MaxOutput
	StopRefusal StopReason = "refusal" // the model or its filter declined
)

// A Response is one answer.
type Response struct {
	Text  string       `json:"text"`
	Stop  StopReason   `json:"stop,omitempty"`
	Usage usage.Tokens `json:"usage"`

	// CostUSD is the price of the call as the provider itself reported it.
	// Most report none; then the price table decides.
	CostUSD *float64 `json:"cost_usd,omitempty"`

	// Model is the name under which the provider answered.
	Model string `json:"model,omitempty"`

	// Faults are the failed attempts that preceded this answer. Only the retry
	// decorator fills it in.
	Faults []*Error `json:"-"`
}
