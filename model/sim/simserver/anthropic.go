package simserver

import (
	"net/http"

	"github.com/maker-mdap/maker/model"
)

// anthropic is the format of Messages.
type anthropic struct{}

type messagesRequest struct {
	Model       string    `json:"model"`
	System      content   `json:"system"`
	Messages    []message `json:"messages"`
	Temperature *float64  `json:"temperature"`
	MaxTokens   *int      `json:"max_tokens"`
	Stream      bool      `json:"stream"`
}

func (anthropic) decode(body []byte) (*call, *failure) {
	var r messagesRequest
	if f := decodeJSON(body, &r); f != nil {
		return nil, f
	}
	if r.Model == "" {
		return nil, &failure{message: "model is missing"}
	}
	c := &call{model: r.Model, choices: 1, stream: r.Stream}
	c.request.System = string(r.System)
	if f := converse(&c.request, r.Messages, "assistant"); f != nil {
		return nil, f
	}
	if f := checkTemperature(r.Temperature, 1); f != nil {
		return nil, f
	}
	if r.MaxTokens == nil || *r.MaxTokens < 1 {
		return nil, &failure{message: "max_tokens is missing or less than 1"}
	}
	c.request.Temperature = r.Temperature
	c.request.MaxOutput = *r.MaxTokens
	return c, nil
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type messagesUsage struct {
	InputTokens              int64 `json:"input_tokens"`
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
	OutputTokens             int64 `json:"output_tokens"`
}

type messagesResponse struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Model        string        `json:"model"`
	Content      []textBlock   `json:"content"`
	StopReason   *string       `json:"stop_reason"`
	StopSequence *string       `json:"stop_sequence"`
	Usage        messagesUsage `json:"usage"`
}

// newMessage is a message of which nothing is written yet.
func newMessage(id string, a *model.Response) messagesResponse {
	return messagesResponse{
		ID: "msg_sim_" + id, Type: "message", Role: "assistant", Model: a.Model,
		Content: []textBlock{},
		Usage:   messagesUsage{InputTokens: a.Usage.Input},
	}
}

func stopReason(a *model.Response) string {
	switch a.Stop {
	case model.StopLength:
		return "max_tokens"
	case model.StopRefusal:
		return "refusal"
	}
	return "end_turn"
}

func (anthropic) body(id string, _ *call, answers []*model.Response) []byte {
	a := answers[0]
	m := newMessage(id, a)
	m.Content = append(m.Content, textBlock{"text", a.Text})
	reason := stopReason(a)
	m.StopReason = &reason
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
	send("message_start", map[string]any{"message": newMessage(id, a)})
	send("content_block_start", map[string]any{"index": 0, "content_block": textBlock{"text", ""}})
	for _, piece := range pieces(a.Text) {
		send("content_block_delta", map[string]any{"index": 0, "delta": textBlock{"text_delta", piece}})
	}
	send("content_block_stop", map[string]any{"index": 0})
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stopReason(a), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": a.Usage.Output},
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
