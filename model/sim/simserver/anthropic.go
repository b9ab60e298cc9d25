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

func newText(text string) map[string]any {
	return map[string]any{"type": "text", "text": text, "citations": nil}
}

func newTool(c *model.ToolCall, input json.RawMessage) map[string]any {
	return map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input, "caller": map[string]string{"type": "direct"}}
}

// detailsOf say more about a refusal, if there is more to say.
func detailsOf(a *model.Response) any {
	if a.Stop != model.StopRefusal {
		return nil
	}
	return map[string]any{"type": "refusal", "category": nil, "explanation": nil}
}

// usage has disjoint counts, as package usage does. What a simulated model has nothing
// to say about is null.
func (anthropic) usage(a *model.Response, output int64) map[string]any {
	return map[string]any{
		"input_tokens": a.Usage.Input, "cache_creation_input_tokens": a.Usage.CacheWrite, "cache_read_input_tokens": a.Usage.CacheRead,
		"output_tokens": output, "output_tokens_details": nil, "server_tool_use": nil,
	}
}

// newMessage is a message of which nothing is written yet.
func (f anthropic) newMessage(id string, a *model.Response, output int64) map[string]any {
	usage := f.usage(a, output)
	usage["cache_creation"] = map[string]int64{"ephemeral_5m_input_tokens": a.Usage.CacheWrite, "ephemeral_1h_input_tokens": 0}
	usage["service_tier"], usage["inference_geo"], usage["speed"] = "standard", nil, nil
	return map[string]any{
		"id": "msg_sim_" + id, "type": "message", "role": "assistant", "model": a.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "stop_details": nil, "container": nil, "diagnostics": nil, "usage": usage,
	}
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

func (f anthropic) body(id string, _ *call, answers []*model.Response) []byte {
	a := answers[0]
	content := []any{}
	if a.Text != "" {
		content = append(content, newText(a.Text))
	}
	for i := range a.ToolCalls {
		content = append(content, newTool(&a.ToolCalls[i], a.ToolCalls[i].Input))
	}
	m := f.newMessage(id, a, a.Usage.Output)
	m["content"], m["stop_reason"], m["stop_details"] = content, stopReason(a), detailsOf(a)
	return marshal(m)
}

func (f anthropic) frames(id string, _ *call, answers []*model.Response) [][]byte {
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
	send("message_start", map[string]any{"message": f.newMessage(id, a, 1)}) // a stream starts with one token
	if a.Text != "" {
		var deltas []any
		for _, piece := range pieces(a.Text) {
			deltas = append(deltas, map[string]string{"type": "text_delta", "text": piece})
		}
		block(newText(""), deltas)
	}
	for i := range a.ToolCalls {
		call := &a.ToolCalls[i]
		var deltas []any
		for _, piece := range append([]string{""}, pieces(string(call.Input))...) {
			deltas = append(deltas, map[string]string{"type": "input_json_delta", "partial_json": piece})
		}
		block(newTool(call, json.RawMessage("{}")), deltas)
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stopReason(a), "stop_sequence": nil, "stop_details": detailsOf(a), "container": nil},
		"usage": f.usage(a, a.Usage.Output),
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
