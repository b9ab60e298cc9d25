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
	"encoding/json"
	"time"

	"github.com/maker-mdap/maker/usage"
)

// A Model answers requests.
//
// Implementations are safe for concurrent use, treat the request as read-only, do not
// keep it after they return, and return promptly when ctx ends, taking the request in
// flight down with them. Every error they return is, or wraps, an [*Error].
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

	// Shared is how many bytes at the beginning of the text other requests have too:
	// with [Request.CachePrefix] a provider caches as far as this.
	Shared int `json:"shared,omitempty"`

	// Images are shown before the text of a user's turn.
	Images []Image `json:"images,omitempty"`

	// ToolCalls are what an assistant's turn asked for, ToolResults what a
	// user's turn answers them with: one result for each call of the turn
	// before, under its ID.
	ToolCalls   []ToolCall   `json:"tool_calls,omitempty"`
	ToolResults []ToolResult `json:"tool_results,omitempty"`
}

// An Image is a picture that a model is shown.
type Image struct {
	MediaType string `json:"media_type"` // image/png, image/jpeg, image/gif or image/webp
	Data      []byte `json:"data"`
}

// imageTokens bounds what a provider makes of one image.
const imageTokens = 8192

// A Tool is something that a model may ask to have called.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"` // JSON schema of the input, an object
}

// A ToolCall is a model's wish to have a tool called.
type ToolCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"` // as the model wrote it; not checked, but JSON
}

// A ToolResult is what came of a call.
type ToolResult struct {
	ID      string `json:"id"` // of the call
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
}

// OutputMode says how a provider is asked for JSON.
type OutputMode string

// The output modes.
const (
	JSONSchema OutputMode = "json_schema" // JSON that fits a schema
	JSONObject OutputMode = "json_object" // any JSON object
)

// An OutputFormat asks for structured output. A provider that cannot give it
// falls back, from json_schema to json_object to nothing, and warns once.
type OutputFormat struct {
	Mode   OutputMode      `json:"mode"`
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
}

// A Request is one question to a model. It carries no history of its own:
// samples of one question never share a conversation.
type Request struct {
	System   string        `json:"system,omitempty"`
	Messages []Message     `json:"messages"`
	Tools    []Tool        `json:"tools,omitempty"`
	Output   *OutputFormat `json:"output,omitempty"`

	// Temperature is left out of the wire request when nil.
	Temperature *float64 `json:"temperature,omitempty"`

	// MaxOutput bounds the tokens of the answer. A budget needs it, because it
	// reserves for the worst case; 0 means the provider's default.
	MaxOutput int `json:"max_output,omitempty"`

	// OnFault, if not nil, is told of each failed attempt at the request as it
	// happens, from any goroutine. It returns false to have no further attempt
	// made.
	OnFault func(*Error) bool `json:"-"`

	// CachePrefix says that tools, system prompt and the shared beginning of the first
	// message are those of many requests, so that it pays to have the provider cache
	// them.
	CachePrefix bool `json:"cache_prefix,omitempty"`

	// Earlier is how many equal requests an earlier process made before this one. It is
	// for simulators, which draw by it: a provider has no memory of the kind.
	Earlier int `json:"-"`
}

// Bytes is the size of all text that the provider reads: a certain upper bound
// for its tokens, apart from what the provider puts around each part. An image
// counts as what it comes to at most.
func (r *Request) Bytes() int {
	n := len(r.System)
	for i := range r.Messages {
		m := &r.Messages[i]
		n += len(m.Text) + imageTokens*len(m.Images)
		for _, c := range m.ToolCalls {
			n += len(c.ID) + len(c.Name) + len(c.Input)
		}
		for _, t := range m.ToolResults {
			n += len(t.ID) + len(t.Text)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	if r.Output != nil {
		n += len(r.Output.Name) + len(r.Output.Schema)
	}
	return n
}

// Parts is how many parts a provider puts something around.
func (r *Request) Parts() int {
	n := 1 + len(r.Messages) + len(r.Tools)
	for i := range r.Messages {
		n += len(r.Messages[i].ToolCalls) + len(r.Messages[i].ToolResults)
	}
	return n
}

// A Batcher is a model that can give several samples of one request for the
// price of reading it once. GenerateN returns at least one answer and at most
// n; Usage of the first holds what was read for all.
type Batcher interface {
	Model
	GenerateN(ctx context.Context, req *Request, n int) ([]*Response, error)
}

// A Wrapper is a model around another one.
type Wrapper interface {
	Model
	Unwrap() Model
}

// AsBatcher returns m as a Batcher if it is one, and so is everything that it
// wraps.
func AsBatcher(m Model) (Batcher, bool) {
	b, ok := m.(Batcher)
	for inner := m; ok; {
		w, wraps := inner.(Wrapper)
		if !wraps {
			return b, true
		}
		inner = w.Unwrap()
		_, ok = inner.(Batcher)
	}
	return nil, false
}

// StopReason says why a model stopped writing.
type StopReason string

// The stop reasons. StopUnknown is what a provider that reports none gets.
const (
	StopUnknown StopReason = ""
	StopEnd     StopReason = "end"      // the answer is complete
	StopLength  StopReason = "length"   // cut at MaxOutput
	StopRefusal StopReason = "refusal"  // the model or its filter declined
	StopToolUse StopReason = "tool_use" // it wants tools called
)

// A Response is one answer.
type Response struct {
	Text      string     `json:"text"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`

	Stop  StopReason   `json:"stop,omitempty"`
	Usage usage.Tokens `json:"usage"`

	// Stopped is the text before which the answer ends, if the request named some.
	Stopped string `json:"stopped,omitempty"`

	// CostUSD is the price of the call as the provider itself reported it.
	// Most report none; then the price table decides.
	CostUSD *float64 `json:"cost_usd,omitempty"`

	// Model is the name under which the provider answered.
	Model string `json:"model,omitempty"`

	// Quota is what the provider says that it still takes; nil if it does not say.
	Quota *Quota `json:"-"`

	// Faults are the failed attempts that preceded this answer. Only the retry
	// decorator fills it in.
	Faults []*Error `json:"-"`
}

// A Quota is how many calls a provider still takes, if they are like the one that it
// answered, and how long it is until it takes one more.
type Quota struct {
	Left  int
	Every time.Duration
}
