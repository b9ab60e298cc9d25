package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/internal/learn"
)

type messagesRequest struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	System       any           `json:"system,omitempty"` // a string or []block
	Messages     []message     `json:"messages"`
	Tools        []toolSpec    `json:"tools,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`

	cached bool // whether something is marked for the cache
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // a string or []block
}

// A block is a part of a message. Which fields it has depends on its type.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      *string         `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	Source       *imageSource    `json:"source,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64
}

type cacheControl struct {
	Type string `json:"type"`
}

type toolSpec struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type outputConfig struct {
	Format outputFormat `json:"format"`
}

type outputFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// request writes req in the forms that the model takes.
func (c *Client) request(req *model.Request, f learn.Forms) *messagesRequest {
	r := &messagesRequest{Model: c.model, MaxTokens: req.MaxOutput}
	if r.MaxTokens <= 0 {
		r.MaxTokens = DefaultMaxOutput
	}
	if f[learn.Temperature] != leftOut {
		r.Temperature = req.Temperature
	}
	if hasSchema(req.Output) && f[learn.Output] != leftOut {
		schema := req.Output.Schema
		if f[learn.Output] == noBounds {
			schema, _ = learn.Loosen(schema)
		}
		r.OutputConfig = &outputConfig{outputFormat{string(model.JSONSchema), schema}}
	}
	for _, t := range req.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		r.Tools = append(r.Tools, toolSpec{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	if req.System != "" {
		r.System = req.System
	}
	if req.CachePrefix && f[learn.Cache] != leftOut {
		r.markPrefix(req.System)
	}
	r.Messages = make([]message, len(req.Messages))
	for i := range req.Messages {
		m := &req.Messages[i]
		shared := 0
		if req.CachePrefix && f[learn.Cache] != leftOut {
			shared = m.Shared
		}
		r.Messages[i] = message{string(m.Role), content(m, shared)}
		r.cached = r.cached || shared > 0
	}
	return r
}

func hasSchema(o *model.OutputFormat) bool {
	return o != nil && o.Mode == model.JSONSchema && len(o.Schema) > 0
}

// markPrefix asks to have the tools, and the tools with the system prompt, kept.
// The two marks pay off separately: prompts differ where the tools are the same.
func (r *messagesRequest) markPrefix(system string) {
	mark := &cacheControl{"ephemeral"}
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].CacheControl = mark
		r.cached = true
	}
	if system != "" {
		r.System = []block{{Type: "text", Text: system, CacheControl: mark}}
		r.cached = true
	}
}

// content writes one turn: a string if it is nothing but text. Results of tools
// have to come first, and a text must not be empty among blocks. The first bytes of
// the text are to be cached if shared is not 0.
func content(m *model.Message, shared int) any {
	if len(m.ToolCalls) == 0 && len(m.ToolResults) == 0 && len(m.Images) == 0 && shared == 0 {
		return m.Text
	}
	var list []block
	for i := range m.ToolResults {
		t := &m.ToolResults[i]
		list = append(list, block{Type: "tool_result", ToolUseID: t.ID, Content: &t.Text, IsError: t.IsError})
	}
	for _, image := range m.Images {
		list = append(list, block{Type: "image", Source: &imageSource{"base64", image.MediaType, image.Data}})
	}
	if shared > 0 {
		list = append(list, block{Type: "text", Text: m.Text[:shared], CacheControl: &cacheControl{"ephemeral"}})
	}
	if m.Text[shared:] != "" {
		list = append(list, block{Type: "text", Text: m.Text[shared:]})
	}
	for _, call := range m.ToolCalls {
		list = append(list, block{Type: "tool_use", ID: call.ID, Name: call.Name, Input: input(call.Input)})
	}
	return list
}

// input makes an object of the input of a call, because the protocol takes
// nothing else. Another provider's model may have written something else.
func input(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case raw[0] == '{':
		return raw
	}
	return append(append([]byte(`{"input":`), raw...), '}')
}
