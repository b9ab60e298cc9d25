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

// A reading is what an answer says: responses, or what the server says about the
// lack of them.
type reading struct {
	list    []*model.Response
	choices int // responses and those that broke off
	calls   int // of tools, in the response that has most
	trouble *apiError
}

// read turns an answer into at most n responses, or into an error.
func (c *Client) read(a *httpclient.Reply, n int) (reading, error) {
	if a.Status >= 300 {
		trouble, err := c.failure(a)
		return reading{trouble: trouble}, err
	}
	if a.TooLong {
		return reading{list: []*model.Response{httpclient.TooLongAnswer()}, choices: n}, nil
	}
	var r chatResponse
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return reading{}, c.http.Error(model.Transient, a.Status, fmt.Sprintf("the answer is not what the protocol says (%v): %s", err, c.http.Excerpt(a.Body)))
	}
	if r.Error != nil {
		return reading{trouble: r.Error}, c.hidden(r.Error)
	}
	out := r.read(n)
	switch {
	case len(out.list) > 0:
		return out, c.http.CheckCalls(out.calls)
	case out.trouble != nil:
		return out, c.hidden(out.trouble)
	case out.choices > 0:
		return out, c.http.Error(model.Transient, a.Status, "the model broke off with an error")
	}
	return out, c.http.Error(model.Transient, a.Status, "the answer has no choices: "+c.http.Excerpt(a.Body))
}

// read takes the choices that are answers. The trouble is that of a choice that
// is none, and matters only if there is no other.
func (r *chatResponse) read(n int) reading {
	out := reading{choices: len(r.Choices)}
	var sizes []int
	var trouble *apiError
	for i := range r.Choices {
		choice := &r.Choices[i]
		if choice.Error != nil || choice.FinishReason == "error" {
			trouble = choice.Error
			continue
		}
		if len(out.list) == max(n, 1) {
			break
		}
		if n := len(choice.Message.ToolCalls); n > out.calls {
			out.calls = n
		}
		resp := choice.response()
		resp.Model = string(r.Model)
		out.list = append(out.list, resp)
		size := len(resp.Text)
		for _, call := range resp.ToolCalls {
			size += len(call.Name) + len(call.Input)
		}
		sizes = append(sizes, size)
	}
	if len(out.list) == 0 {
		out.trouble = trouble
		return out
	}
	r.Usage.spread(out.list, sizes)
	return out
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
