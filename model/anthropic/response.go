package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

type messagesResponse struct {
	Type        string          `json:"type"`
	Model       httpclient.Text `json:"model"`
	Content     blocks          `json:"content"`
	StopReason  string          `json:"stop_reason"`
	StopDetails json.RawMessage `json:"stop_details"`
	Usage       messagesUsage   `json:"usage"`

	// Error comes with type "error", under status 200 from some gateways.
	Error *apiError `json:"error"`
}

type givenBlock struct {
	Type  string          `json:"type"`
	Text  httpclient.Text `json:"text"`
	ID    httpclient.Text `json:"id"`
	Name  httpclient.Text `json:"name"`
	Input json.RawMessage `json:"input"`
}

// blocks is the content of an answer. It may be a string, as in a request.
type blocks []givenBlock

func (b *blocks) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*b = blocks{{Type: "text"}}
		return json.Unmarshal(data, &(*b)[0].Text)
	}
	return json.Unmarshal(data, (*[]givenBlock)(b))
}

// messagesUsage has disjoint counts already.
type messagesUsage struct {
	InputTokens  httpclient.Count `json:"input_tokens"`
	CacheRead    httpclient.Count `json:"cache_read_input_tokens"`
	CacheWrite   httpclient.Count `json:"cache_creation_input_tokens"`
	OutputTokens httpclient.Count `json:"output_tokens"` // thinking too
}

// UnmarshalJSON passes over usage in a shape that nobody knows: the answer counts.
func (u *messagesUsage) UnmarshalJSON(data []byte) error {
	type plain messagesUsage
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*u = messagesUsage(p)
	}
	return nil
}

// read turns an answer into a response, or into an error with what the server
// said about it.
func (c *Client) read(a *httpclient.Reply) (*model.Response, *apiError, error) {
	if a.Status >= 300 {
		trouble, err := c.failure(a)
		return nil, trouble, err
	}
	if a.TooLong {
		return httpclient.TooLongAnswer(), nil, nil
	}
	var r messagesResponse
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return nil, nil, c.http.Error(model.Transient, a.Status, fmt.Sprintf("the answer is not what the protocol says (%v): %s", err, c.http.Excerpt(a.Body)))
	}
	if r.Error != nil || r.Type == "error" {
		trouble, err := c.failure(a)
		return nil, trouble, err
	}
	if r.Type != "message" && r.Content == nil {
		return nil, nil, c.http.Error(model.Transient, a.Status, "the answer is no message: "+c.http.Excerpt(a.Body))
	}
	resp := r.response()
	input, output := float64(resp.Usage.Input+resp.Usage.CacheWrite), float64(resp.Usage.Output)
	resp.Quota = httpclient.Quota(allowances(a, input+output, input, output)...)
	return resp, nil, c.http.CheckCalls(len(resp.ToolCalls))
}

func (r *messagesResponse) response() *model.Response {
	out := &model.Response{
		Model: string(r.Model),
		Usage: usage.Tokens{
			Input:      int64(r.Usage.InputTokens),
			CacheRead:  int64(r.Usage.CacheRead),
			CacheWrite: int64(r.Usage.CacheWrite),
			Output:     int64(r.Usage.OutputTokens),
		},
	}
	var text strings.Builder
	for i := range r.Content {
		// Thinking and types that are yet to be invented are no part of the answer.
		switch b := &r.Content[i]; b.Type {
		case "text":
			text.WriteString(string(b.Text))
		case "tool_use":
			out.ToolCalls = append(out.ToolCalls, model.ToolCall{ID: string(b.ID), Name: string(b.Name), Input: given(b.Input)})
		}
	}
	out.Text = text.String()
	out.Stop = stop(r.StopReason)
	if len(out.ToolCalls) > 0 && (out.Stop == model.StopEnd || out.Stop == model.StopUnknown) {
		out.Stop = model.StopToolUse
	}
	if out.Stop == model.StopRefusal && out.Text == "" {
		out.Text = explanation(r.StopDetails)
	}
	return out
}

// given is the input of a call; a model that gives none means an empty object.
func given(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return json.RawMessage("{}")
	}
	return raw
}

// explanation is why a model refused, if the server says so.
func explanation(details json.RawMessage) string {
	var d struct {
		Explanation httpclient.Text `json:"explanation"`
	}
	_ = json.Unmarshal(details, &d) // nothing, if it is something else
	return string(d.Explanation)
}

func stop(reason string) model.StopReason {
	switch reason {
	case "end_turn", "stop_sequence":
		return model.StopEnd
	case "max_tokens", "model_context_window_exceeded":
		return model.StopLength
	case "pause_turn":
		// The server stopped in the middle: this is no more a whole answer than
		// one that was cut.
		return model.StopLength
	case "tool_use":
		return model.StopToolUse
	case "refusal":
		return model.StopRefusal
	}
	return model.StopUnknown
}
