package simserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/sim"
)

type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatTurn      `json:"messages"`
	Tools               []chatTool      `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	ResponseFormat      *chatFormat     `json:"response_format"`
	Temperature         *float64        `json:"temperature"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	N                   *int            `json:"n"`
	Stream              bool            `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// A chatTurn is a message of a request.
type chatTurn struct {
	Role       string     `json:"role"`
	Content    content    `json:"content"`
	Refusal    string     `json:"refusal"`
	ToolCalls  []chatCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type chatFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

const (
	maxChoices = 128
	maxName    = 64 // of a tool or a schema
)

func (openAI) decode(body []byte) (*call, *failure) {
	var r chatRequest
	if f := decodeJSON(body, &r); f != nil {
		return nil, f
	}
	if r.Model == "" {
		return nil, &failure{message: "model is missing", param: "model"}
	}
	// This provider caches what it can, without being asked.
	c := &call{model: r.Model, choices: 1, stream: r.Stream, usage: r.StreamOptions.IncludeUsage, request: model.Request{CachePrefix: true}}
	for _, read := range []func(*call) *failure{r.converse, r.readTools, r.readFormat, r.readLimits} {
		if f := read(c); f != nil {
			return nil, f
		}
	}
	return c, nil
}

// converse reads the messages. The results of tools, which are messages of their
// own here, become one turn of the user, with what the user says next.
func (r *chatRequest) converse(c *call) *failure {
	if len(r.Messages) == 0 {
		return &failure{message: "messages must have at least one message", param: "messages"}
	}
	var system system
	var asked, open []string // ids of the last turn's tool calls: all, and those without a result
	for i := range r.Messages {
		m := &r.Messages[i]
		if len(open) > 0 && m.Role != "tool" {
			return unanswered(open, i)
		}
		if f := m.check(i); f != nil {
			return f
		}
		switch m.Role {
		case "system", "developer":
			system.add(m.Content.text)
		case "user":
			asked = nil
			if turn := c.lastTurn(); turn != nil && turn.Role == model.User && len(turn.ToolResults) > 0 && turn.Text == "" {
				turn.Text, turn.Images = m.Content.text, m.Content.images
				continue
			}
			c.request.Messages = append(c.request.Messages, model.Message{Role: model.User, Text: m.Content.text, Images: m.Content.images})
		case "assistant", "function":
			asked = nil
			turn := model.Message{Role: model.Assistant, Text: m.Content.text}
			for _, call := range m.ToolCalls {
				turn.ToolCalls = append(turn.ToolCalls, call.read())
				asked = append(asked, call.ID)
			}
			open = slices.Clone(asked)
			c.request.Messages = append(c.request.Messages, turn)
		case "tool":
			if len(asked) == 0 {
				return &failure{
					message: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
					param:   fmt.Sprintf("messages.[%d].role", i),
				}
			}
			if !slices.Contains(asked, m.ToolCallID) {
				return &failure{
					message: fmt.Sprintf("Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", m.ToolCallID),
					param:   fmt.Sprintf("messages.[%d].tool_call_id", i),
				}
			}
			open = slices.DeleteFunc(open, func(id string) bool { return id == m.ToolCallID })
			if c.lastTurn().Role != model.User {
				c.request.Messages = append(c.request.Messages, model.Message{Role: model.User})
			}
			turn := c.lastTurn()
			turn.ToolResults = append(turn.ToolResults, model.ToolResult{ID: m.ToolCallID, Text: m.Content.text})
		default:
			return unknownRole(i, m.Role)
		}
	}
	if len(open) > 0 {
		return unanswered(open, len(r.Messages)-1)
	}
	c.request.System = system.String()
	return nil
}

func unanswered(ids []string, i int) *failure {
	return &failure{
		message: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
			"The following tool_call_ids did not have response messages: " + strings.Join(ids, ", "),
		param: fmt.Sprintf("messages.[%d].role", i),
	}
}

// check finds what is wrong with a message whatever stands before it.
func (m *chatTurn) check(i int) *failure {
	if len(m.Content.calls)+len(m.Content.results) > 0 {
		return &failure{
			message: "Invalid value for a part of 'content': tool_use and tool_result are not among the supported values.",
			param:   fmt.Sprintf("messages[%d].content", i), code: "invalid_value",
		}
	}
	if !m.Content.given && (m.Role != "assistant" || len(m.ToolCalls) == 0 && m.Refusal == "") && m.Role != "function" {
		return &failure{message: "Invalid value for 'content': expected a string, got null.", param: fmt.Sprintf("messages.[%d].content", i)}
	}
	if m.Role == "tool" && m.ToolCallID == "" {
		return missing(fmt.Sprintf("messages[%d].tool_call_id", i))
	}
	for j := range m.ToolCalls {
		field := fmt.Sprintf("messages[%d].tool_calls[%d].", i, j)
		switch call := &m.ToolCalls[j]; {
		case call.ID == "":
			return missing(field + "id")
		case call.Type != "function":
			return &failure{message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'function' and 'custom'.", call.Type), param: field + "type", code: "invalid_value"}
		case call.Function.Name == "":
			return missing(field + "function.name")
		}
	}
	return nil
}

func missing(field string) *failure {
	return &failure{message: "Missing required parameter: '" + field + "'.", param: field, code: "missing_required_parameter"}
}

// read is the call without its wire format. A model's arguments need not be JSON.
func (c *chatCall) read() model.ToolCall {
	input := json.RawMessage(c.Function.Arguments)
	if !json.Valid(input) {
		input = marshal(c.Function.Arguments)
	}
	return model.ToolCall{ID: c.ID, Name: c.Function.Name, Input: input}
}

func (r *chatRequest) readTools(c *call) *failure {
	if r.Tools != nil && len(r.Tools) == 0 {
		return &failure{
			message: "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
			param:   "tools", code: "empty_array",
		}
	}
	if r.Tools == nil && len(r.ToolChoice) > 0 && string(r.ToolChoice) != "null" {
		return &failure{message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", param: "tool_choice"}
	}
	for i, t := range r.Tools {
		field := fmt.Sprintf("tools[%d].", i)
		if t.Type == "custom" {
			continue // has no schema; a simulated model cannot want it
		}
		if t.Type != "function" {
			return &failure{message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'function' and 'custom'.", t.Type), param: field + "type", code: "invalid_value"}
		}
		if t.Function == nil {
			return missing(field + "function")
		}
		if !isName(t.Function.Name, maxName) {
			return badName(field+"function.name", t.Function.Name)
		}
		if p := t.Function.Parameters; p != nil && string(p) != "null" {
			if kind := readSchema(p).Type; kind != "object" {
				return &failure{
					message: fmt.Sprintf(`Invalid schema for function '%s': schema must be a JSON Schema of 'type: "object"', got 'type: "%s"'.`, t.Function.Name, kind),
					param:   field + "function.parameters", code: "invalid_function_parameters",
				}
			}
		}
		c.request.Tools = append(c.request.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	return nil
}

func badName(field, name string) *failure {
	if name == "" {
		return missing(field)
	}
	return &failure{
		message: fmt.Sprintf("Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", field),
		param:   field, code: "invalid_value",
	}
}

func (r *chatRequest) readFormat(c *call) *failure {
	if r.ResponseFormat == nil {
		return nil
	}
	const field = "response_format"
	switch f := r.ResponseFormat; f.Type {
	case "text":
	case "json_object":
		if !r.mentionsJSON() {
			return &failure{
				message: "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
				param:   "messages",
			}
		}
		c.request.Output = &model.OutputFormat{Mode: model.JSONObject}
		c.asks |= sim.Object
	case "json_schema":
		if f.JSONSchema == nil {
			return missing(field + ".json_schema")
		}
		if !isName(f.JSONSchema.Name, maxName) {
			return badName(field+".json_schema.name", f.JSONSchema.Name)
		}
		if problem := readSchema(f.JSONSchema.Schema).problem(f.JSONSchema.Strict); problem != "" {
			return &failure{
				message: fmt.Sprintf("Invalid schema for %s '%s': %s", field, f.JSONSchema.Name, problem),
				param:   field, code: "invalid_json_schema",
			}
		}
		c.request.Output = &model.OutputFormat{Mode: model.JSONSchema, Name: f.JSONSchema.Name, Schema: f.JSONSchema.Schema}
		c.asks |= sim.Schema
	default:
		return &failure{
			message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", f.Type),
			param:   field + ".type", code: "invalid_value",
		}
	}
	return nil
}

// mentionsJSON reports whether any message does, which this provider asks for
// because models that are not told to write JSON can go on for ever.
func (r *chatRequest) mentionsJSON() bool {
	return slices.ContainsFunc(r.Messages, func(m chatTurn) bool {
		return strings.Contains(strings.ToLower(m.Content.text), "json")
	})
}

// problem is why the schema of an answer will not do; "" if it will.
func (s *schema) problem(strict bool) string {
	if s.Type != "object" {
		return fmt.Sprintf(`schema must be a JSON Schema of 'type: "object"', got 'type: "%s"'.`, s.Type)
	}
	if !strict {
		return ""
	}
	if !s.closed() {
		return "In context=(), 'additionalProperties' is required to be supplied and to be false."
	}
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			return "In context=(), 'required' is required to be supplied and to be an array including every key in properties."
		}
	}
	return ""
}

func (r *chatRequest) readLimits(c *call) *failure {
	if f := checkTemperature(r.Temperature, 2); f != nil {
		return f
	}
	if c.request.Temperature = r.Temperature; r.Temperature != nil && *r.Temperature != 1 {
		c.asks |= sim.Temperature
	}
	if r.MaxTokens != nil {
		c.asks |= sim.MaxTokens
	}
	for _, limit := range []struct {
		name  string
		value *int
	}{{"max_tokens", r.MaxTokens}, {"max_completion_tokens", r.MaxCompletionTokens}} {
		if limit.value == nil {
			continue
		}
		if *limit.value < 1 {
			return &failure{message: limit.name + " must be at least 1", param: limit.name}
		}
		c.request.MaxOutput = *limit.value
	}
	if r.N != nil {
		if *r.N < 1 || *r.N > maxChoices {
			return &failure{message: "n must be from 1 to " + strconv.Itoa(maxChoices), param: "n"}
		}
		if c.choices = *r.N; c.choices > 1 {
			c.asks |= sim.Choices
		}
	}
	return nil
}

func (openAI) refuse(c *call, refused sim.Parameters) *failure {
	switch {
	case refused.Has(sim.Temperature):
		return &failure{
			message: fmt.Sprintf("Unsupported value: 'temperature' does not support %v with this model. Only the default (1) value is supported.", *c.request.Temperature),
			param:   "temperature", code: "unsupported_value",
		}
	case refused.Has(sim.MaxTokens):
		return &failure{
			message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			param:   "max_tokens", code: "unsupported_parameter",
		}
	case refused.Has(sim.Schema):
		return &failure{message: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. " +
			"Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs"}
	case refused.Has(sim.Object):
		return &failure{message: "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.", param: "response_format"}
	}
	return &failure{
		message: fmt.Sprintf("Unsupported value: 'n' does not support %d with this model. Only the default (1) value is supported.", c.choices),
		param:   "n", code: "unsupported_value",
	}
}
