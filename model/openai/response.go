package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
)

type chatResponse struct {
	Model   httpclient.Text `json:"model"`
	Choices []chatChoice    `json:"choices"`
	Usage   chatUsage       `json:"usage"`

	// Error is how some gateways report a failure under status 200.
	Error *apiError `json:"error"`
}

type chatChoice struct {
	Message struct {
		Content   content     `json:"content"`
		Refusal   string      `json:"refusal"`
		ToolCalls []givenCall `json:"tool_calls"`
	} `json:"message"`
	FinishReason string    `json:"finish_reason"`
	Error        *apiError `json:"error"`
}

type givenCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments httpclient.Text `json:"arguments"` // some servers send the object itself
	} `json:"function"`
}

// content is the text of a message: a string, parts of it, or nothing.
type content struct {
	text, refusal string
}

func (c *content) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case 'n':
		return nil
	case '"':
		return json.Unmarshal(data, &c.text)
	}
	var parts []struct {
		Type    string          `json:"type"`
		Text    httpclient.Text `json:"text"`
		Refusal string          `json:"refusal"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text", "output_text":
			text.WriteString(string(p.Text))
		case "refusal":
			c.refusal += p.Refusal
		}
	}
	c.text = text.String()
	return nil
}

// read turns an answer into responses, or into an error with what the server
// said about it.
func (c *Client) read(a *httpclient.Answer) ([]*model.Response, *apiError, error) {
	if a.Status >= 300 {
		trouble, err := c.failure(a)
		return nil, trouble, err
	}
	var r chatResponse
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return nil, nil, c.http.Error(model.Transient, a.Status, fmt.Sprintf("the answer is not what the protocol says (%v): %s", err, c.http.Excerpt(a.Body)))
	}
	if r.Error != nil {
		return nil, r.Error, c.hidden(r.Error)
	}
	list, trouble := responses(&r)
	switch {
	case len(list) > 0:
		return list, nil, nil
	case trouble != nil:
		return nil, trouble, c.hidden(trouble)
	case len(r.Choices) > 0:
		return nil, nil, c.http.Error(model.Transient, a.Status, "the model broke off with an error")
	}
	return nil, nil, c.http.Error(model.Transient, a.Status, "the answer has no choices: "+c.http.Excerpt(a.Body))
}

// responses reads the choices that are answers. The error is that of a choice
// that is none.
func responses(r *chatResponse) ([]*model.Response, *apiError) {
	var list []*model.Response
	var sizes []int
	var trouble *apiError
	for i := range r.Choices {
		choice := &r.Choices[i]
		if choice.Error != nil || choice.FinishReason == "error" {
			trouble = choice.Error
			continue
		}
		out := choice.response()
		out.Model = string(r.Model)
		list = append(list, out)
		size := len(out.Text)
		for _, call := range out.ToolCalls {
			size += len(call.Name) + len(call.Input)
		}
		sizes = append(sizes, size)
	}
	if len(list) > 0 {
		r.Usage.spread(list, sizes)
	}
	return list, trouble
}

func (choice *chatChoice) response() *model.Response {
	m := &choice.Message
	out := &model.Response{Text: m.Content.text}
	switch choice.FinishReason {
	case "stop":
		out.Stop = model.StopEnd
	case "length":
		out.Stop = model.StopLength
	case "content_filter":
		out.Stop = model.StopRefusal
	case "tool_calls":
		out.Stop = model.StopToolUse
	}
	for _, call := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, model.ToolCall{
			ID: call.ID, Name: call.Function.Name, Input: httpclient.ToolInput(string(call.Function.Arguments)),
		})
		// Some servers call it a normal stop, or say nothing.
		if out.Stop == model.StopEnd || out.Stop == model.StopUnknown {
			out.Stop = model.StopToolUse
		}
	}
	if refusal := m.Refusal + m.Content.refusal; refusal != "" {
		out.Stop = model.StopRefusal
		if out.Text == "" {
			out.Text = refusal
		}
	}
	return out
}
