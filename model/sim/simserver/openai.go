package simserver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/maker-mdap/maker/model"
)

// openAI is the format of Chat Completions.
type openAI struct{}

type chatUsage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// cacheBlock is the unit in which this provider caches.
const cacheBlock = 128

// usageOf counts the prompt once and the answers together. What was cached is
// part of the prompt here, and that it was written to the cache is not said.
func usageOf(answers []*model.Response) *chatUsage {
	read := &answers[0].Usage
	u := &chatUsage{PromptTokens: read.Input + read.CacheRead + read.CacheWrite}
	u.PromptDetails.CachedTokens = read.CacheRead / cacheBlock * cacheBlock
	for _, a := range answers {
		u.CompletionTokens += a.Usage.Output
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

// A chatCall is a tool call, or in a stream a piece of one.
type chatCall struct {
	Index    *int         `json:"index,omitempty"` // in a stream only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatChoice struct {
	Index        int         `json:"index"`
	Message      chatMessage `json:"message"`
	Logprobs     *struct{}   `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
}

type chatResponse struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	Choices           []chatChoice `json:"choices"`
	Usage             *chatUsage   `json:"usage"`
	SystemFingerprint string       `json:"system_fingerprint"`
}

const fingerprint = "simulated"

func finishReason(r *model.Response) string {
	if r.Stop == model.StopToolUse {
		return "tool_calls"
	}
	if r.Stop == model.StopLength {
		return "length"
	}
	return "stop" // also after a refusal, which has a field of its own
}

func (openAI) body(id string, _ *call, answers []*model.Response) []byte {
	r := chatResponse{
		ID:                "chatcmpl-sim-" + id,
		Object:            "chat.completion",
		Created:           time.Now().Unix(),
		Model:             answers[0].Model,
		Usage:             usageOf(answers),
		SystemFingerprint: fingerprint,
	}
	for i, a := range answers {
		m := chatMessage{Role: "assistant", Content: &a.Text}
		if a.Stop == model.StopRefusal {
			m.Content, m.Refusal = nil, &a.Text
		}
		if len(a.ToolCalls) > 0 && a.Text == "" {
			m.Content = nil
		}
		for _, call := range a.ToolCalls {
			m.ToolCalls = append(m.ToolCalls, chatCall{ID: call.ID, Type: "function", Function: chatFunction{call.Name, string(call.Input)}})
		}
		r.Choices = append(r.Choices, chatChoice{Index: i, Message: m, FinishReason: finishReason(a)})
	}
	return marshal(r)
}

type chatDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Refusal   *string    `json:"refusal,omitempty"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chunkChoice struct {
	Index        int       `json:"index"`
	Delta        chatDelta `json:"delta"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type chatChunk struct {
	ID                string        `json:"id"`
	Object            string        `json:"object"`
	Created           int64         `json:"created"`
	Model             string        `json:"model"`
	SystemFingerprint string        `json:"system_fingerprint"`
	Choices           []chunkChoice `json:"choices"`
}

// A usageChunk is what all chunks look like if the caller asked for the usage:
// null but for the last one.
type usageChunk struct {
	chatChunk
	Usage *chatUsage `json:"usage"`
}

func (openAI) frames(id string, c *call, answers []*model.Response) [][]byte {
	var out [][]byte
	created := time.Now().Unix()
	send := func(u *chatUsage, choices ...chunkChoice) {
		chunk := chatChunk{
			ID:                "chatcmpl-sim-" + id,
			Object:            "chat.completion.chunk",
			Created:           created,
			Model:             answers[0].Model,
			SystemFingerprint: fingerprint,
			Choices:           append([]chunkChoice{}, choices...), // [], not null
		}
		var data []byte
		if c.usage {
			data = marshal(usageChunk{chunk, u})
		} else {
			data = marshal(chunk)
		}
		out = append(out, dataFrame(data))
	}
	for i, a := range answers {
		empty := ""
		send(nil, chunkChoice{Index: i, Delta: chatDelta{Role: "assistant", Content: &empty}})
		for _, piece := range pieces(a.Text) {
			delta := chatDelta{Content: &piece}
			if a.Stop == model.StopRefusal {
				delta = chatDelta{Refusal: &piece}
			}
			send(nil, chunkChoice{Index: i, Delta: delta})
		}
		for at, call := range a.ToolCalls {
			// First the call without arguments, then these in pieces.
			part := chatCall{Index: &at, ID: call.ID, Type: "function", Function: chatFunction{Name: call.Name}}
			send(nil, chunkChoice{Index: i, Delta: chatDelta{ToolCalls: []chatCall{part}}})
			for _, piece := range pieces(string(call.Input)) {
				part := chatCall{Index: &at, Function: chatFunction{Arguments: piece}}
				send(nil, chunkChoice{Index: i, Delta: chatDelta{ToolCalls: []chatCall{part}}})
			}
		}
		reason := finishReason(a)
		send(nil, chunkChoice{Index: i, FinishReason: &reason})
	}
	if c.usage {
		send(usageOf(answers))
	}
	return append(out, dataFrame([]byte("[DONE]")))
}

func dataFrame(data []byte) []byte {
	return append(append([]byte("data: "), data...), "\n\n"...)
}

func (openAI) fail(header http.Header, f *failure) (int, []byte) {
	header.Set("X-Request-Id", "req_sim")
	status, kind, code := http.StatusBadRequest, "invalid_request_error", f.code
	switch f.class {
	case noKey:
		status, code = http.StatusUnauthorized, "invalid_api_key"
	case noModel:
		status, code = http.StatusNotFound, "model_not_found"
	case noPath:
		status, code = http.StatusNotFound, "unknown_url"
	case wrongMethod:
		status, code = http.StatusMethodNotAllowed, "method_not_supported"
	case tooLarge:
		status = http.StatusRequestEntityTooLarge
	case rateLimit:
		status, kind, code = http.StatusTooManyRequests, "requests", "rate_limit_exceeded"
		if f.retryAfter > 0 {
			header.Set("Retry-After-Ms", strconv.FormatInt(f.retryAfter.Milliseconds(), 10))
		}
	case overload:
		status, kind = http.StatusServiceUnavailable, "service_unavailable_error"
	case internal:
		status, kind = http.StatusInternalServerError, "server_error"
	}
	var body struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    *string `json:"code"`
		} `json:"error"`
	}
	body.Error.Message = f.message
	body.Error.Type = kind
	if f.param != "" {
		body.Error.Param = &f.param
	}
	if code != "" {
		body.Error.Code = &code
	}
	return status, marshal(body)
}

// modelList has the fields of both providers, which share the path.
func modelList(name string) []byte {
	created := time.Unix(0, 0).UTC()
	return marshal(map[string]any{
		"object": "list",
		"data": []any{map[string]any{
			"id": name, "object": "model", "created": created.Unix(), "owned_by": "sim",
			"type": "model", "display_name": "Simulated model", "created_at": created.Format(time.RFC3339),
		}},
		"has_more": false, "first_id": name, "last_id": name,
	})
}
