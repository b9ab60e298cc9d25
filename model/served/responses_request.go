package served

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/model"
)

type responsesRequest struct {
	Model           string          `json:"model"`
	Instructions    *string         `json:"instructions"`
	Input           responsesInput  `json:"input"`
	Tools           []responsesTool `json:"tools"`
	ToolChoice      json.RawMessage `json:"tool_choice"`
	Temperature     *float64        `json:"temperature"`
	MaxOutputTokens *int            `json:"max_output_tokens"`
	Stream          bool            `json:"stream"`
	Background      bool            `json:"background"`
	Parallel        *bool           `json:"parallel_tool_calls"`

	PreviousResponseID *string         `json:"previous_response_id"`
	Conversation       json.RawMessage `json:"conversation"`

	Text struct {
		Format *struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// responsesInput is a text, or a list of items.
type responsesInput []responsesItem

type responsesItem struct {
	Type    string  `json:"type"`
	Role    string  `json:"role"`
	Content content `json:"content"`

	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Output    plain  `json:"output"`
}

// UnmarshalJSON reads either form.
func (in *responsesInput) UnmarshalJSON(data []byte) error {
	text, list, err := textOrList(data)
	if err != nil {
		return fmt.Errorf("input must be a string or a list of items")
	}
	if text != nil {
		*in = responsesInput{{Role: "user", Content: content{given: true, text: *text, parts: 1}}}
		return nil
	}
	if list == nil {
		return nil
	}
	return json.Unmarshal(list, (*[]responsesItem)(in))
}

// Decode implements [Format].
func (Responses) Decode(body []byte) (*Call, *Failure) {
	var r responsesRequest
	if f := decodeJSON(body, &r); f != nil {
		return nil, f
	}
	switch {
	case r.Model == "":
		return nil, &Failure{Message: "model is missing", Param: "model"}
	case r.PreviousResponseID != nil && *r.PreviousResponseID != "":
		return nil, notKept("previous_response_id")
	case len(r.Conversation) > 0 && string(r.Conversation) != "null":
		return nil, notKept("conversation")
	case r.Background:
		return nil, &Failure{Message: "'background' is not supported here.", Param: "background", Code: "unsupported_parameter"}
	}
	c := &Call{Model: r.Model, Choices: 1, Stream: r.Stream, Usage: true, OneCall: isFalse(r.Parallel), Request: model.Request{CachePrefix: true}}
	for _, read := range []func(*Call) *Failure{r.converse, r.readTools, r.readLimits, r.readFormat} {
		if f := read(c); f != nil {
			return nil, f
		}
	}
	return c, nil
}

func notKept(field string) *Failure {
	return &Failure{Message: "'" + field + "' is not supported here: responses are not kept; send the whole conversation as 'input'.", Param: field, Code: "unsupported_parameter"}
}

// converse reads the items. Calls that follow each other are one turn, as are their results.
func (r *responsesRequest) converse(c *Call) *Failure {
	var said system
	if r.Instructions != nil {
		said.add(*r.Instructions)
	}
	var open []string // ids of calls without a result
	for i := range r.Input {
		it := &r.Input[i]
		field := fmt.Sprintf("input[%d]", i)
		c.Left = append(c.Left, it.Content.left...)
		switch {
		case it.Type == "reasoning":
		case it.Type == "item_reference":
			return notKept(field + ".id")
		case it.Type == "function_call":
			if it.CallID == "" || it.Name == "" {
				return missing(field + ".call_id")
			}
			call := (&chatCall{ID: it.CallID, Function: chatFunction{it.Name, it.Arguments}}).read()
			turn := c.turn(model.Assistant)
			turn.ToolCalls = append(turn.ToolCalls, call)
			open = append(open, it.CallID)
		case it.Type == "function_call_output":
			if !slices.Contains(open, it.CallID) {
				return &Failure{Message: fmt.Sprintf("No tool call found for function call output with call_id %s.", it.CallID), Param: "input"}
			}
			open = slices.DeleteFunc(open, func(id string) bool { return id == it.CallID })
			turn := c.turn(model.User)
			turn.ToolResults = append(turn.ToolResults, model.ToolResult{ID: it.CallID, Text: it.Output.text})
			c.Left = append(c.Left, it.Output.left...)
		case it.Type != "" && it.Type != "message":
			return &Failure{Message: fmt.Sprintf("Invalid value: '%s' is no supported type of item.", it.Type), Param: field + ".type", Code: "invalid_value"}
		case it.Role == "system" || it.Role == "developer":
			said.add(it.Content.text)
		case it.Role == "user":
			if turn := c.lastTurn(); turn != nil && turn.Role == model.User && len(turn.ToolResults) > 0 && turn.Text == "" && turn.Images == nil {
				turn.Text, turn.Images = it.Content.text, it.Content.images
				continue
			}
			c.Request.Messages = append(c.Request.Messages, model.Message{Role: model.User, Text: it.Content.text, Images: it.Content.images})
		case it.Role == "assistant":
			c.Request.Messages = append(c.Request.Messages, model.Message{Role: model.Assistant, Text: it.Content.text})
		default:
			return unknownRole(i, it.Role)
		}
	}
	if len(open) > 0 {
		return &Failure{Message: fmt.Sprintf("No tool output found for function call %s.", open[0]), Param: "input"}
	}
	if len(c.Request.Messages) == 0 {
		return missing("input")
	}
	c.Request.System = said.String()
	return nil
}

// turn is the last message if it is of a role, and otherwise a new one.
func (c *Call) turn(role model.Role) *model.Message {
	if last := c.lastTurn(); last == nil || last.Role != role {
		c.Request.Messages = append(c.Request.Messages, model.Message{Role: role})
	}
	return c.lastTurn()
}

// readTools reads functions. Tools that the provider runs itself are not there.
func (r *responsesRequest) readTools(c *Call) *Failure {
	for i, t := range r.Tools {
		field := fmt.Sprintf("tools[%d].", i)
		if t.Type != "function" {
			continue
		}
		if !isName(t.Name, maxName) {
			return badName(field+"name", t.Name)
		}
		c.Request.Tools = append(c.Request.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Parameters})
	}
	return readToolChoice(r.ToolChoice, c)
}

func (r *responsesRequest) readLimits(c *Call) *Failure {
	c.Request.Temperature = r.Temperature
	if n := r.MaxOutputTokens; n != nil {
		if *n < 1 {
			return &Failure{Message: "max_output_tokens must be at least 1", Param: "max_output_tokens"}
		}
		c.Request.MaxOutput = *n
	}
	return checkTemperature(r.Temperature, 2)
}

func (r *responsesRequest) readFormat(c *Call) *Failure {
	f := r.Text.Format
	if f == nil {
		return nil
	}
	switch f.Type {
	case "text":
	case "json_object":
		c.Request.Output = &model.OutputFormat{Mode: model.JSONObject}
	case "json_schema":
		if !isObject(f.Schema) {
			return missing("text.format.schema")
		}
		c.Request.Output = &model.OutputFormat{Mode: model.JSONSchema, Name: f.Name, Schema: f.Schema}
	default:
		return &Failure{Message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", f.Type), Param: "text.format.type", Code: "invalid_value"}
	}
	return nil
}
