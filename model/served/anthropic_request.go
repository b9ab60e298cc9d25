package served

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/model"
)

type messagesRequest struct {
	Model        string         `json:"model"`
	System       content        `json:"system"`
	Messages     []messagesTurn `json:"messages"`
	Tools        []messagesTool `json:"tools"`
	CacheControl *cacheControl  `json:"cache_control"`
	Temperature  *float64       `json:"temperature"`
	MaxTokens    *int           `json:"max_tokens"`
	Stream       bool           `json:"stream"`
	ToolChoice   *struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Alone bool   `json:"disable_parallel_tool_use"`
	} `json:"tool_choice"`
	StopSequences []string        `json:"stop_sequences"`
	OutputFormat  *messagesFormat `json:"output_format"` // where the format used to be
	OutputConfig  struct {
		Format *messagesFormat `json:"format"`
	} `json:"output_config"`

	// What belongs to another format is refused, not passed over.
	N                   json.RawMessage `json:"n"`
	ResponseFormat      json.RawMessage `json:"response_format"`
	MaxCompletionTokens json.RawMessage `json:"max_completion_tokens"`
}

type messagesTurn struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type messagesTool struct {
	Type         string          `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control"`
}

type messagesFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type cacheControl struct {
	Type string `json:"type"`
}

const (
	maxToolName    = 128
	maxBreakpoints = 4
)

func (a Messages) Decode(body []byte) (*Call, *Failure) {
	var r messagesRequest
	if f := decodeJSON(body, &r); f != nil {
		return nil, f
	}
	if r.Model == "" {
		return nil, &Failure{Message: "model is missing"}
	}
	c := &Call{Model: r.Model, Choices: 1, Stream: r.Stream, Stop: r.StopSequences}
	for _, read := range []func(*Call) *Failure{r.converse, r.readTools, r.readChoice, r.readFormat, r.readCache, r.readTemperature, r.readForeign} {
		if f := read(c); f != nil {
			return nil, f
		}
	}
	if a.Counting {
		return c, nil
	}
	if r.MaxTokens == nil || *r.MaxTokens < 1 {
		return nil, &Failure{Message: "max_tokens is missing or less than 1"}
	}
	c.Request.MaxOutput = *r.MaxTokens
	return c, nil
}

func (r *messagesRequest) converse(c *Call) *Failure {
	if len(r.Messages) == 0 {
		return &Failure{Message: "messages must have at least one message"}
	}
	var system system
	system.add(r.System.text)
	var open []string // ids of the last turn's tool calls
	openAt := 0
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == "system" {
			system.add(m.Content.text)
			continue
		}
		if m.Role != "user" && m.Role != "assistant" {
			return unknownRole(i, m.Role)
		}
		if f := m.check(i, i == len(r.Messages)-1); f != nil {
			return f
		}
		if f := m.answers(i, open, openAt); f != nil {
			return f
		}
		c.Left = append(c.Left, m.Content.left...)
		turn := model.Message{Role: model.Role(m.Role), Text: m.Content.text, Shared: m.Content.shared, Images: m.Content.images, ToolCalls: m.Content.calls}
		for _, result := range m.Content.results {
			turn.ToolResults = append(turn.ToolResults, result.ToolResult)
		}
		open, openAt = nil, i
		for _, call := range m.Content.calls {
			open = append(open, call.ID)
		}
		if turn.Role == model.Assistant && turn.Text == "" && turn.ToolCalls == nil {
			continue // it only thought, which is not passed on
		}
		c.Request.Messages = append(c.Request.Messages, turn)
	}
	if len(open) > 0 {
		return withoutResult(openAt, open)
	}
	c.Request.System = system.String()
	return nil
}

// check finds what is wrong with a message whatever stands before it.
func (m *messagesTurn) check(i int, last bool) *Failure {
	c := &m.Content
	switch {
	case c.blank:
		return &Failure{Message: "messages: text content blocks must be non-empty"}
	case c.parts == 0 && !(last && m.Role == "assistant"):
		return &Failure{Message: fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)}
	case m.Role == "user" && len(c.calls) > 0:
		return &Failure{Message: fmt.Sprintf("messages.%d: `tool_use` blocks can only be in `assistant` messages", i)}
	case m.Role == "assistant" && len(c.results) > 0:
		return &Failure{Message: fmt.Sprintf("messages.%d: `tool_result` blocks can only be in `user` messages", i)}
	}
	return nil
}

// answers checks that the message has a result for each of the calls before it,
// and no others.
func (m *messagesTurn) answers(i int, open []string, openAt int) *Failure {
	for _, result := range m.Content.results {
		if !slices.Contains(open, result.ID) {
			return &Failure{Message: fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
				"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, result.part, result.ID)}
		}
		open = slices.DeleteFunc(slices.Clone(open), func(id string) bool { return id == result.ID })
	}
	if len(open) > 0 {
		return withoutResult(openAt, open)
	}
	return nil
}

func withoutResult(i int, ids []string) *Failure {
	return &Failure{Message: fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(ids, ", "))}
}

func (r *messagesRequest) readTools(c *Call) *Failure {
	names := map[string]bool{}
	for i, t := range r.Tools {
		kind := t.Type
		if kind == "" {
			kind = "custom"
		}
		field := fmt.Sprintf("tools.%d.%s.", i, kind)
		if t.Name == "" {
			return &Failure{Message: field + "name: Field required"}
		}
		if !isName(t.Name, maxToolName) {
			return &Failure{Message: field + "name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"}
		}
		if names[t.Name] {
			return &Failure{Message: "tools: Tool names must be unique."}
		}
		names[t.Name] = true
		if kind == "custom" { // the provider's own tools bring no schema
			if !isObject(t.InputSchema) {
				return &Failure{Message: field + "input_schema: Field required"}
			}
			switch readSchema(t.InputSchema).Type {
			case "object":
			case "None":
				return &Failure{Message: field + "input_schema.type: Field required"}
			default:
				return &Failure{Message: field + "input_schema.type: Input should be 'object'"}
			}
		}
		c.Request.Tools = append(c.Request.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	return nil
}

// readChoice reads what of the tools is to be called.
func (r *messagesRequest) readChoice(c *Call) *Failure {
	choice := r.ToolChoice
	if choice == nil {
		return nil
	}
	c.OneCall = choice.Alone
	switch choice.Type {
	case "auto":
	case "none":
		c.Tool = MustNotCall
	case "any":
		c.Tool = MustCall
	case "tool":
		c.Tool, c.ToolName = MustCallTool, choice.Name
		if !slices.ContainsFunc(r.Tools, func(t messagesTool) bool { return t.Name == choice.Name }) {
			return &Failure{Message: fmt.Sprintf("tool_choice.tool.name: there is no tool %q", choice.Name)}
		}
	default:
		return &Failure{Message: "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'"}
	}
	if len(r.Tools) == 0 && c.Tool != MustNotCall {
		return &Failure{Message: "tool_choice may only be specified while providing tools."}
	}
	return nil
}

func (r *messagesRequest) readFormat(c *Call) *Failure {
	format, field := r.OutputConfig.Format, "output_config.format"
	if format == nil {
		if format, field = r.OutputFormat, "output_format"; format == nil {
			return nil
		}
	}
	if format.Type != "json_schema" {
		return &Failure{Message: field + ".type: Input should be 'json_schema'"}
	}
	if !isObject(format.Schema) {
		return &Failure{Message: field + ".schema: Field required"}
	}
	if schema := readSchema(format.Schema); schema.Type == "object" && !schema.closed() {
		return &Failure{Message: field + ".schema: For 'object' type, 'additionalProperties' must be explicitly set to false"}
	}
	c.Request.Output = &model.OutputFormat{Mode: model.JSONSchema, Schema: format.Schema}
	c.Format = field
	return nil
}

// readCache looks for marks anywhere. What is cached is always tools and system prompt,
// and the first message as far as it is marked, for that is what the simulated cache knows.
func (r *messagesRequest) readCache(c *Call) *Failure {
	marks := r.System.cached
	for i := range r.Tools {
		if r.Tools[i].CacheControl != nil {
			marks++
		}
	}
	for i := range r.Messages {
		marks += r.Messages[i].Content.cached
	}
	if r.CacheControl != nil {
		marks++
	}
	if marks > maxBreakpoints {
		return &Failure{Message: fmt.Sprintf("A maximum of %d blocks with cache_control may be provided. Found %d.", maxBreakpoints, marks)}
	}
	c.Request.CachePrefix = marks > 0
	return nil
}

func (r *messagesRequest) readTemperature(c *Call) *Failure {
	c.Request.Temperature = r.Temperature
	return checkTemperature(r.Temperature, 1)
}

func (r *messagesRequest) readForeign(*Call) *Failure {
	for _, field := range []struct {
		name  string
		value json.RawMessage
	}{{"n", r.N}, {"response_format", r.ResponseFormat}, {"max_completion_tokens", r.MaxCompletionTokens}} {
		if field.value != nil {
			return &Failure{Message: field.name + ": Extra inputs are not permitted"}
		}
	}
	return nil
}
