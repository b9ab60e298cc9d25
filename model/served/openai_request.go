package served

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/model"
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
	Stop                stops           `json:"stop"`
	Stream              bool            `json:"stream"`
	Parallel            *bool           `json:"parallel_tool_calls"`
	Functions           json.RawMessage `json:"functions"` // what tools used to be
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

func (Chat) Decode(body []byte) (*Call, *Failure) {
	var r chatRequest
	if f := decodeJSON(body, &r); f != nil {
		return nil, f
	}
	if r.Model == "" {
		return nil, &Failure{Message: "model is missing", Param: "model"}
	}
	// This provider caches what it can, without being asked.
	c := &Call{Model: r.Model, Choices: 1, Stream: r.Stream, Usage: r.StreamOptions.IncludeUsage, OneCall: isFalse(r.Parallel), Request: model.Request{CachePrefix: true}}
	for _, read := range []func(*Call) *Failure{r.converse, r.readTools, r.readChoice, r.readFormat, r.readLimits} {
		if f := read(c); f != nil {
			return nil, f
		}
	}
	return c, nil
}

// converse reads the messages. The results of tools, which are messages of their
// own here, become one turn of the user, with what the user says next.
func (r *chatRequest) converse(c *Call) *Failure {
	if len(r.Messages) == 0 {
		return &Failure{Message: "messages must have at least one message", Param: "messages"}
	}
	if r.Functions != nil && string(r.Functions) != "null" {
		c.Left = append(c.Left, "functions, which are now called tools")
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
		c.Left = append(c.Left, m.Content.left...)
		switch m.Role {
		case "system", "developer":
			system.add(m.Content.text)
		case "user":
			asked = nil
			if turn := c.lastTurn(); turn != nil && turn.Role == model.User && len(turn.ToolResults) > 0 && turn.Text == "" && turn.Images == nil {
				turn.Text, turn.Images = m.Content.text, m.Content.images
				continue
			}
			c.Request.Messages = append(c.Request.Messages, model.Message{Role: model.User, Text: m.Content.text, Images: m.Content.images})
		case "assistant", "function":
			asked = nil
			if m.Role == "function" {
				c.Left = append(c.Left, "a message of a function, which are now called tools")
			}
			turn := model.Message{Role: model.Assistant, Text: m.Content.text}
			for _, call := range m.ToolCalls {
				turn.ToolCalls = append(turn.ToolCalls, call.read())
				asked = append(asked, call.ID)
			}
			open = slices.Clone(asked)
			c.Request.Messages = append(c.Request.Messages, turn)
		case "tool":
			if len(asked) == 0 {
				return &Failure{
					Message: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
					Param:   fmt.Sprintf("messages.[%d].role", i),
				}
			}
			if !slices.Contains(asked, m.ToolCallID) {
				return &Failure{
					Message: fmt.Sprintf("Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", m.ToolCallID),
					Param:   fmt.Sprintf("messages.[%d].tool_call_id", i),
				}
			}
			open = slices.DeleteFunc(open, func(id string) bool { return id == m.ToolCallID })
			if c.lastTurn().Role != model.User {
				c.Request.Messages = append(c.Request.Messages, model.Message{Role: model.User})
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
	c.Request.System = system.String()
	return nil
}

func unanswered(ids []string, i int) *Failure {
	return &Failure{
		Message: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
			"The following tool_call_ids did not have response messages: " + strings.Join(ids, ", "),
		Param: fmt.Sprintf("messages.[%d].role", i),
	}
}

// check finds what is wrong with a message whatever stands before it.
func (m *chatTurn) check(i int) *Failure {
	if len(m.Content.calls)+len(m.Content.results) > 0 {
		return &Failure{
			Message: "Invalid value for a part of 'content': tool_use and tool_result are not among the supported values.",
			Param:   fmt.Sprintf("messages[%d].content", i), Code: "invalid_value",
		}
	}
	if !m.Content.given && (m.Role != "assistant" || len(m.ToolCalls) == 0 && m.Refusal == "") && m.Role != "function" {
		return &Failure{Message: "Invalid value for 'content': expected a string, got null.", Param: fmt.Sprintf("messages.[%d].content", i)}
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
			return &Failure{Message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'function' and 'custom'.", call.Type), Param: field + "type", Code: "invalid_value"}
		case call.Function.Name == "":
			return missing(field + "function.name")
		}
	}
	return nil
}

func missing(field string) *Failure {
	return &Failure{Message: "Missing required parameter: '" + field + "'.", Param: field, Code: "missing_required_parameter"}
}

// read is the call without its wire format. A model's arguments need not be JSON.
func (c *chatCall) read() model.ToolCall {
	input := json.RawMessage(c.Function.Arguments)
	if !json.Valid(input) {
		input = marshal(c.Function.Arguments)
	}
	return model.ToolCall{ID: c.ID, Name: c.Function.Name, Input: input}
}

func (r *chatRequest) readTools(c *Call) *Failure {
	if r.Tools != nil && len(r.Tools) == 0 {
		return &Failure{
			Message: "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
			Param:   "tools", Code: "empty_array",
		}
	}
	if r.Tools == nil && len(r.ToolChoice) > 0 && string(r.ToolChoice) != "null" {
		return &Failure{Message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", Param: "tool_choice"}
	}
	for i, t := range r.Tools {
		field := fmt.Sprintf("tools[%d].", i)
		if t.Type == "custom" {
			continue // has no schema; a simulated model cannot want it
		}
		if t.Type != "function" {
			return &Failure{Message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'function' and 'custom'.", t.Type), Param: field + "type", Code: "invalid_value"}
		}
		if t.Function == nil {
			return missing(field + "function")
		}
		if !isName(t.Function.Name, maxName) {
			return badName(field+"function.name", t.Function.Name)
		}
		if p := t.Function.Parameters; p != nil && string(p) != "null" {
			if kind := readSchema(p).Type; kind != "object" {
				return &Failure{
					Message: fmt.Sprintf(`Invalid schema for function '%s': schema must be a JSON Schema of 'type: "object"', got 'type: "%s"'.`, t.Function.Name, kind),
					Param:   field + "function.parameters", Code: "invalid_function_parameters",
				}
			}
		}
		c.Request.Tools = append(c.Request.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	return nil
}

// readChoice reads what of the tools is to be called.
func (r *chatRequest) readChoice(c *Call) *Failure {
	c.Stop = r.Stop
	return readToolChoice(r.ToolChoice, c)
}

// readToolChoice reads a choice as OpenAI writes it: a word, or an object that names a tool.
func readToolChoice(raw json.RawMessage, c *Call) *Failure {
	var word string
	var named struct {
		Type     string `json:"type"`
		Name     string `json:"name"` // in Responses
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case json.Unmarshal(raw, &word) == nil:
		switch word {
		case "auto":
		case "none":
			c.Tool = MustNotCall
		case "required":
			c.Tool = MustCall
		default:
			return &Failure{Message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'none', 'auto', and 'required'.", word), Param: "tool_choice", Code: "invalid_value"}
		}
		return nil
	case json.Unmarshal(raw, &named) == nil && named.Type == "function" && cmp.Or(named.Name, named.Function.Name) != "":
		c.Tool, c.ToolName = MustCallTool, cmp.Or(named.Name, named.Function.Name)
		if !slices.ContainsFunc(c.Request.Tools, func(t model.Tool) bool { return t.Name == c.ToolName }) {
			return &Failure{Message: fmt.Sprintf("Invalid value for 'tool_choice': the function '%s' is not among 'tools'.", c.ToolName), Param: "tool_choice"}
		}
		return nil
	}
	return &Failure{Message: "Invalid value for 'tool_choice': expected 'none', 'auto', 'required', or a function.", Param: "tool_choice", Code: "invalid_value"}
}

func badName(field, name string) *Failure {
	if name == "" {
		return missing(field)
	}
	return &Failure{
		Message: fmt.Sprintf("Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", field),
		Param:   field, Code: "invalid_value",
	}
}

func (r *chatRequest) readFormat(c *Call) *Failure {
	if r.ResponseFormat == nil {
		return nil
	}
	const field = "response_format"
	switch f := r.ResponseFormat; f.Type {
	case "text":
	case "json_object":
		if !r.mentionsJSON() {
			return &Failure{
				Message: "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
				Param:   "messages",
			}
		}
		c.Request.Output = &model.OutputFormat{Mode: model.JSONObject}
	case "json_schema":
		if f.JSONSchema == nil {
			return missing(field + ".json_schema")
		}
		if !isName(f.JSONSchema.Name, maxName) {
			return badName(field+".json_schema.name", f.JSONSchema.Name)
		}
		if problem := readSchema(f.JSONSchema.Schema).problem(f.JSONSchema.Strict); problem != "" {
			return &Failure{
				Message: fmt.Sprintf("Invalid schema for %s '%s': %s", field, f.JSONSchema.Name, problem),
				Param:   field, Code: "invalid_json_schema",
			}
		}
		c.Request.Output = &model.OutputFormat{Mode: model.JSONSchema, Name: f.JSONSchema.Name, Schema: f.JSONSchema.Schema}
	default:
		return &Failure{
			Message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", f.Type),
			Param:   field + ".type", Code: "invalid_value",
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

func (r *chatRequest) readLimits(c *Call) *Failure {
	if f := checkTemperature(r.Temperature, 2); f != nil {
		return f
	}
	c.Request.Temperature = r.Temperature
	c.MaxTokens = r.MaxTokens != nil
	for _, limit := range []struct {
		name  string
		value *int
	}{{"max_tokens", r.MaxTokens}, {"max_completion_tokens", r.MaxCompletionTokens}} {
		if limit.value == nil {
			continue
		}
		if *limit.value < 1 {
			return &Failure{Message: limit.name + " must be at least 1", Param: limit.name}
		}
		c.Request.MaxOutput = *limit.value
	}
	if r.N != nil {
		if *r.N < 1 || *r.N > maxChoices {
			return &Failure{Message: "n must be from 1 to " + strconv.Itoa(maxChoices), Param: "n"}
		}
		c.Choices = *r.N
	}
	return nil
}
