package flow

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A Chat is a conversation whose next turn is what voters are asked for, in place of a
// prompt. Its tools are those of whoever asks: a turn that calls some is an answer like any
// other, and nobody on this side makes the calls.
type Chat struct {
	Messages []ChatMessage `json:"messages"`
	Tools    []ChatTool    `json:"tools,omitempty"`

	// Call says whether the turn has to call a tool: it may if this is empty, [CallNone],
	// [CallAny], or the name of the one that it has to call.
	Call string `json:"call,omitempty"`

	// OneCall says that it may make one call at most.
	OneCall bool `json:"one_call,omitempty"`

	// Stop are texts before which the text of the turn ends.
	Stop []string `json:"stop,omitempty"`
}

// LastSaid is what the person said last.
func (c *Chat) LastSaid() string {
	for _, m := range slices.Backward(c.Messages) {
		if m.Role == "user" && m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// What a turn has to call. They are no names of tools.
const (
	CallNone = "-none"
	CallAny  = "-any"
)

// A ChatMessage is one turn of a conversation.
type ChatMessage struct {
	Role    string       `json:"role"` // "user" or "assistant"
	Text    string       `json:"text,omitempty"`
	Images  []Image      `json:"images,omitempty"`
	Calls   []ChatCall   `json:"calls,omitempty"`   // of an assistant's turn
	Results []ChatResult `json:"results,omitempty"` // of a user's turn: one for each call of the turn before
}

// A ChatTool is a tool of whoever asks.
type ChatTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"` // of its input, an object
}

// A ChatCall is a call of a tool.
type ChatCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// A ChatResult is what came of a call.
type ChatResult struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
}

// A ChatTurn is the answer to a question with a Chat. The text that comes with calls is not
// voted on.
type ChatTurn struct {
	Text  string     `json:"text,omitempty"`
	Calls []ChatCall `json:"calls,omitempty"`

	Stopped string `json:"stopped,omitempty"` // the one of [Chat.Stop] before which the text ends
}

// Encode writes a part of a conversation as JSON. What clients and models wrote stays as it
// is: there are no escapes for the sake of web pages in the inputs of calls.
func Encode(part any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(part); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
