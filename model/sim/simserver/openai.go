package simserver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/maker-mdap/maker/model"
)

// openAI is the format of Chat Completions.
type openAI struct{}

// cacheBlock is the unit in which this provider caches.
const cacheBlock = 128

// usageOf counts the prompt once and the answers together. What was cached is
// part of the prompt here, and that it was written to the cache is not said.
func usageOf(answers []*model.Response) map[string]any {
	read := &answers[0].Usage
	prompt, completion := read.Input+read.CacheRead+read.CacheWrite, int64(0)
	for _, a := range answers {
		completion += a.Usage.Output
	}
	return map[string]any{
		"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
		"prompt_tokens_details":     map[string]int64{"cached_tokens": read.CacheRead / cacheBlock * cacheBlock},
		"completion_tokens_details": map[string]int64{"reasoning_tokens": 0},
	}
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

// envelope is what whole answers and their pieces have in common.
func envelope(object, id string, answers []*model.Response) map[string]any {
	return map[string]any{
		"id": "chatcmpl-sim-" + id, "object": object, "created": time.Now().Unix(),
		"model": answers[0].Model, "system_fingerprint": "simulated",
	}
}

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
	choices := make([]any, len(answers))
	for i, a := range answers {
		message := map[string]any{"role": "assistant", "content": a.Text, "refusal": nil}
		if a.Stop == model.StopRefusal {
			message["content"], message["refusal"] = nil, a.Text
		}
		if len(a.ToolCalls) > 0 {
			var calls []chatCall
			for _, call := range a.ToolCalls {
				calls = append(calls, chatCall{ID: call.ID, Type: "function", Function: chatFunction{call.Name, string(call.Input)}})
			}
			if message["tool_calls"] = calls; a.Text == "" {
				message["content"] = nil
			}
		}
		choices[i] = map[string]any{"index": i, "message": message, "logprobs": nil, "finish_reason": finishReason(a)}
	}
	r := envelope("chat.completion", id, answers)
	r["choices"], r["usage"] = choices, usageOf(answers)
	return marshal(r)
}

func (openAI) frames(id string, c *call, answers []*model.Response) [][]byte {
	var out [][]byte
	chunk := envelope("chat.completion.chunk", id, answers)
	if c.usage {
		chunk["usage"] = nil // in all chunks but the last
	}
	send := func(i int, delta map[string]any, reason any) {
		chunk["choices"] = []any{map[string]any{"index": i, "delta": delta, "logprobs": nil, "finish_reason": reason}}
		out = append(out, dataFrame(marshal(chunk)))
	}
	for i, a := range answers {
		send(i, map[string]any{"role": "assistant", "content": ""}, nil)
		field := "content"
		if a.Stop == model.StopRefusal {
			field = "refusal"
		}
		for _, piece := range pieces(a.Text) {
			send(i, map[string]any{field: piece}, nil)
		}
		for at, call := range a.ToolCalls {
			// First the call without arguments, then these in pieces.
			parts := []chatCall{{Index: &at, ID: call.ID, Type: "function", Function: chatFunction{Name: call.Name}}}
			for _, piece := range pieces(string(call.Input)) {
				parts = append(parts, chatCall{Index: &at, Function: chatFunction{Arguments: piece}})
			}
			for _, part := range parts {
				send(i, map[string]any{"tool_calls": []chatCall{part}}, nil)
			}
		}
		send(i, map[string]any{}, finishReason(a))
	}
	if c.usage {
		chunk["choices"], chunk["usage"] = []any{}, usageOf(answers)
		out = append(out, dataFrame(marshal(chunk)))
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
		if f.retryAfter > 0 || f.retryNow {
			header.Set("Retry-After-Ms", strconv.FormatInt(f.retryAfter.Milliseconds(), 10))
		}
	case overload:
		status, kind = http.StatusServiceUnavailable, "service_unavailable_error"
	case internal:
		status, kind = http.StatusInternalServerError, "server_error"
	}
	trouble := map[string]any{"message": f.message, "type": kind, "param": nil, "code": nil}
	if f.param != "" {
		trouble["param"] = f.param
	}
	if code != "" {
		trouble["code"] = code
	}
	return status, marshal(map[string]any{"error": trouble})
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
