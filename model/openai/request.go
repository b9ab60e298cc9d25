package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/internal/learn"
)

type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Temperature         *float64        `json:"temperature,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	N                   int             `json:"n,omitempty"`
	Tools               []chatTool      `json:"tools,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Usage               *includeUsage   `json:"usage,omitempty"`

	cached bool // whether something is marked for the cache
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // a string, []textPart, []any of parts, or null beside tool calls
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type textPart struct {
	Type         string        `json:"type"`
	Text         string        `json:"text"`
	CacheControl *cacheControl `json:"cache_control,omitempty"`
}

type imagePart struct {
	Type     string   `json:"type"`
	ImageURL imageURL `json:"image_url"`
}

type imageURL struct {
	URL string `json:"url"` // the image itself, as a data URL
}

type cacheControl struct {
	Type string `json:"type"`
}

type chatCall struct {
	ID       string        `json:"id"`
	Type     string        `json:"type"`
	Function chatArguments `json:"function"`
}

type chatArguments struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict,omitempty"`
}

type includeUsage struct {
	Include bool `json:"include"`
}

// request writes req in the forms that the server takes.
func (c *Client) request(req *model.Request, f learn.Forms, n int) *chatRequest {
	r := &chatRequest{Model: c.model}
	if f[learn.Temperature] != leftOut {
		r.Temperature = req.Temperature
	}
	if f[learn.MaxOutput] == asMaxCompletionTokens {
		r.MaxCompletionTokens = req.MaxOutput
	} else {
		r.MaxTokens = req.MaxOutput
	}
	if n = min(n, f[learn.Choices]); n > 1 {
		r.N = n
	}
	if c.provider == openRouter {
		r.Usage = &includeUsage{true} // the cost comes with it
	}
	for _, t := range req.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		r.Tools = append(r.Tools, chatTool{"function", function{t.Name, t.Description, schema}})
	}
	r.ResponseFormat = format(req.Output, f[learn.Output])

	r.Messages = make([]chatMessage, 0, len(req.Messages)+1)
	if req.System != "" {
		system := chatMessage{Role: "system", Content: req.System}
		// Elsewhere prefixes are cached without asking, or not at all.
		if req.CachePrefix && c.provider == openRouter && f[learn.Cache] != leftOut {
			system.Content = []textPart{{"text", req.System, &cacheControl{"ephemeral"}}}
			r.cached = true
		}
		r.Messages = append(r.Messages, system)
	}
	for i := range req.Messages {
		r.Messages = appendMessage(r.Messages, &req.Messages[i])
	}
	return r
}

// appendMessage writes one turn. Each result of a tool is a message of its own.
func appendMessage(list []chatMessage, m *model.Message) []chatMessage {
	for _, t := range m.ToolResults {
		text := t.Text
		if t.IsError {
			text = "Error: " + text // the protocol has no field for it
		}
		list = append(list, chatMessage{Role: "tool", Content: text, ToolCallID: t.ID})
	}
	if len(m.ToolResults) > 0 && m.Text == "" {
		return list
	}
	out := chatMessage{Role: string(m.Role), Content: m.Text}
	if len(m.Images) > 0 {
		var parts []any
		for _, image := range m.Images {
			data := base64.StdEncoding.EncodeToString(image.Data)
			parts = append(parts, imagePart{"image_url", imageURL{"data:" + image.MediaType + ";base64," + data}})
		}
		if m.Text != "" {
			parts = append(parts, textPart{Type: "text", Text: m.Text})
		}
		out.Content = parts
	}
	for _, call := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, chatCall{call.ID, "function", chatArguments{call.Name, arguments(call.Input)}})
		if m.Text == "" {
			out.Content = nil
		}
	}
	return append(list, out)
}

// arguments returns the input of a call as the model wrote it: what was not JSON
// is kept as a JSON string.
func arguments(input json.RawMessage) string {
	var text string
	if len(input) > 0 && input[0] == '"' && json.Unmarshal(input, &text) == nil {
		return text
	}
	return cmp.Or(string(input), "{}")
}

// isOpen reports whether a schema lets an object have other fields than it names. Such a
// one cannot be strict, which is no reason to ask for others less strictly.
func isOpen(schema json.RawMessage) bool {
	var root struct {
		More any `json:"additionalProperties"`
	}
	return json.Unmarshal(schema, &root) == nil && root.More == true
}

// format is the structured output that a server gives at the given form.
func format(o *model.OutputFormat, form int) *responseFormat {
	if o == nil || form == noFormat {
		return nil
	}
	if o.Mode == model.JSONSchema && len(o.Schema) > 0 && form < anyObject {
		schema := &jsonSchema{cmp.Or(o.Name, "answer"), o.Schema, form != plainSchema && !isOpen(o.Schema)}
		if form == looseSchema {
			schema.Schema, _ = learn.Loosen(o.Schema)
		}
		return &responseFormat{string(model.JSONSchema), schema}
	}
	return &responseFormat{Type: string(model.JSONObject)}
}
