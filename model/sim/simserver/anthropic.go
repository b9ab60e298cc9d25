package simserver

import (
	"encoding/json"
	"net/http"

	"github.com/maker-mdap/maker/model"
)

// anthropic is the format of Messages.
type anthropic struct {
	counting bool // tokens only, without an answer
}

type textBlock struct {
	Type      string    `json:"type"`
	Text      string    `json:"text"`
	Citations *struct{} `json:"citations"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolBlock struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Caller caller          `json:"caller"`
}

type caller struct {
	Type string `json:"type"`
}

type inputDelta struct {
	Type        string `json:"type"`
	PartialJSON string `json:"partial_json"`
}

func newText(text string) textBlock { return textBlock{Type: "text", Text: text} }

func newTool(c *model.ToolCall, input json.RawMessage) toolBlock {
	return toolBlock{"tool_use", c.ID, c.Name, input, caller{"direct"}}
}

// messagesUsage has disjoint counts, as package usage does. What a simulated
// model has nothing to say about is null.
type messagesUsage struct {
	InputTokens              int64 `json:"input_tokens"`
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
	CacheCreation            struct {
		FiveMinutes int64 `json:"ephemeral_5m_input_tokens"`
		OneHour     int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputTokens        int64     `json:"output_tokens"`
	OutputTokensDetails *struct{} `json:"output_tokens_details"`
	ServerToolUse       *struct{} `json:"server_tool_use"`
	ServiceTier         string    `json:"service_tier"`
	InferenceGeo        *string   `json:"inference_geo"`
	Speed               *string   `json:"speed"`
}

type messagesResponse struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Model        string        `json:"model"`
	Content      []any         `json:"content"`
	StopReason   *string       `json:"stop_reason"`
	StopSequence *string       `json:"stop_sequence"`
	StopDetails  *stopDetails  `json:"stop_details"`
	Container    *struct{}     `json:"container"`
	Diagnostics  *struct{}     `json:"diagnostics"`
	Usage        messagesUsage `json:"usage"`
}

// stopDetails say more about a refusal, if there is more to say.
type stopDetails struct {
	Type        string  `json:"type"`
	Category    *string `json:"category"`
	Explanation *string `json:"explanation"`
}

func detailsOf(a *model.Response) *stopDetails {
	if a.Stop != model.StopRefusal {
		return nil
	}
	return &stopDetails{Type: "refusal"}
}

// newMessage is a message of which nothing is written yet.
func newMessage(id string, a *model.Response) messagesResponse {
	m := messagesResponse{
		ID: "msg_sim_" + id, Type: "message", Role: "assistant", Model: a.Model,
		Content: []any{},
		Usage: messagesUsage{
			InputTokens:              a.Usage.Input,
			CacheCreationInputTokens: a.Usage.CacheWrite,
			CacheReadInputTokens:     a.Usage.CacheRead,
			OutputTokens:             1, // what a stream starts with
			ServiceTier:              "standard",
		},
	}
	m.Usage.CacheCreation.FiveMinutes = a.Usage.CacheWrite
	return m
}

func stopReason(a *model.Response) string {
	switch a.Stop {
	case model.StopLength:
		return "max_tokens"
	case model.StopRefusal:
		return "refusal"
	case model.StopToolUse:
		return "tool_use"
	}
	return "end_turn"
}

func (anthropic) body(id string, _ *call, answers []*model.Response) []byte {
	a := answers[0]
	m := newMessage(id, a)
	if a.Text != "" {
		m.Content = append(m.Content, newText(a.Text))
	}
	for i := range a.ToolCalls {
		m.Content = append(m.Content, newTool(&a.ToolCalls[i], a.ToolCalls[i].Input))
	}
	reason := stopReason(a)
	m.StopReason, m.StopDetails = &reason, detailsOf(a)
	m.Usage.OutputTokens = a.Usage.Output
	return marshal(m)
}

func (anthropic) frames(id string, _ *call, answers []*model.Response) [][]byte {
	a := answers[0]
	var out [][]byte
	send := func(name string, fields map[string]any) {
		fields["type"] = name
		frame := append([]byte("event: "+name+"\ndata: "), marshal(fields)...)
		out = append(out, append(frame, "\n\n"...))
	}
	blocks := 0
	block := func(start any, deltas []any) {
		send("content_block_start", map[string]any{"index": blocks, "content_block": start})
		if blocks == 0 {
			send("ping", map[string]any{})
		}
		for _, delta := range deltas {
			send("content_block_delta", map[string]any{"index": blocks, "delta": delta})
		}
		send("content_block_stop", map[string]any{"index": blocks})
		blocks++
	}
	start := newMessage(id, a)
	send("message_start", map[string]any{"message": start})
	if a.Text != "" {
		var deltas []any
		for _, piece := range pieces(a.Text) {
			deltas = append(deltas, textDelta{"text_delta", piece})
		}
		block(newText(""), deltas)
	}
	for i := range a.ToolCalls {
		call := &a.ToolCalls[i]
		deltas := []any{inputDelta{"input_json_delta", ""}}
		for _, piece := range pieces(string(call.Input)) {
			deltas = append(deltas, inputDelta{"input_json_delta", piece})
		}
		block(newTool(call, json.RawMessage("{}")), deltas)
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stopReason(a), "stop_sequence": nil, "stop_details": detailsOf(a), "container": nil},
		"usage": map[string]any{
			"input_tokens":                start.Usage.InputTokens,
			"cache_creation_input_tokens": start.Usage.CacheCreationInputTokens,
			"cache_read_input_tokens":     start.Usage.CacheReadInputTokens,
			"output_tokens":               a.Usage.Output,
			"output_tokens_details":       nil,
			"server_tool_use":             nil,
		},
	})
	send("message_stop", map[string]any{})
	return out
}

// overloaded is the status that this provider has invented.
const overloaded = 529

func (anthropic) fail(header http.Header, f *failure) (int, []byte) {
	const request = "req_sim"
	header.Set("Request-Id", request)
	status, kind := http.StatusBadRequest, "invalid_request_error"
	switch f.class {
	case noKey:
		status, kind = http.StatusUnauthorized, "authentication_error"
	case noModel, noPath:
		status, kind = http.StatusNotFound, "not_found_error"
	case wrongMethod:
		status = http.StatusMethodNotAllowed
	case tooLarge:
		status, kind = http.StatusRequestEntityTooLarge, "request_too_large"
	case rateLimit:
		status, kind = http.StatusTooManyRequests, "rate_limit_error"
	case overload:
		status, kind = overloaded, "overloaded_error"
	case internal:
		status, kind = http.StatusInternalServerError, "api_error"
	}
	return status, marshal(map[string]any{
		"type":       "error",
		"error":      map[string]string{"type": kind, "message": f.message},
		"request_id": request,
	})
}
