package served

import (
	"cmp"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/maker-mdap/maker/model"
)

// Chat is the format of OpenAI's Chat Completions.
type Chat struct{}

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

// chatEnvelope is what whole answers and their pieces have in common.
func chatEnvelope(object string, e Envelope) map[string]any {
	fields := map[string]any{"id": "chatcmpl-" + e.ID, "object": object, "created": time.Now().Unix(), "model": e.Model}
	if e.Fingerprint != "" {
		fields["system_fingerprint"] = e.Fingerprint
	}
	return fields
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

// Body implements [Format].
func (Chat) Body(e Envelope, _ *Call, answers []*model.Response) []byte {
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
	r := chatEnvelope("chat.completion", e)
	r["choices"], r["usage"] = choices, usageOf(answers)
	maps.Copy(r, e.Extra)
	return marshal(r)
}

// Stream implements [Format].
func (Chat) Stream(e Envelope, c *Call) Stream {
	s := &chatStream{call: c, chunk: chatEnvelope("chat.completion.chunk", e)}
	if c.Usage {
		s.chunk["usage"] = nil // in all chunks but the last
	}
	return s
}

type chatStream struct {
	call  *Call
	chunk map[string]any
}

func (s *chatStream) piece(i int, delta map[string]any, reason any) []byte {
	s.chunk["choices"] = []any{map[string]any{"index": i, "delta": delta, "logprobs": nil, "finish_reason": reason}}
	return dataFrame(marshal(s.chunk))
}

func (s *chatStream) Begin() [][]byte {
	var out [][]byte
	for i := range s.call.Choices {
		out = append(out, s.piece(i, map[string]any{"role": "assistant", "content": ""}, nil))
	}
	return out
}

// Alive is a piece without content: clients that wait for events take no comment for one.
func (s *chatStream) Alive() []byte { return s.piece(0, map[string]any{"content": ""}, nil) }

func (s *chatStream) Answer(answers []*model.Response, extra map[string]any) [][]byte {
	var out [][]byte
	for i, a := range answers {
		field := "content"
		if a.Stop == model.StopRefusal {
			field = "refusal"
		}
		for _, piece := range pieces(a.Text) {
			out = append(out, s.piece(i, map[string]any{field: piece}, nil))
		}
		for at, call := range a.ToolCalls {
			// First the call without arguments, then these in pieces.
			parts := []chatCall{{Index: &at, ID: call.ID, Type: "function", Function: chatFunction{Name: call.Name}}}
			for _, piece := range pieces(string(call.Input)) {
				parts = append(parts, chatCall{Index: &at, Function: chatFunction{Arguments: piece}})
			}
			for _, part := range parts {
				out = append(out, s.piece(i, map[string]any{"tool_calls": []chatCall{part}}, nil))
			}
		}
		if i == len(answers)-1 {
			maps.Copy(s.chunk, extra)
		}
		out = append(out, s.piece(i, map[string]any{}, finishReason(a)))
	}
	if s.call.Usage {
		s.chunk["choices"], s.chunk["usage"] = []any{}, usageOf(answers)
		out = append(out, dataFrame(marshal(s.chunk)))
	}
	return append(out, dataFrame([]byte("[DONE]")))
}

func (s *chatStream) Fail(f *Failure) [][]byte {
	_, body := Chat{}.Fail(http.Header{}, f)
	return [][]byte{dataFrame(body)}
}

func dataFrame(data []byte) []byte {
	return append(append([]byte("data: "), data...), "\n\n"...)
}

// Fail implements [Format].
func (Chat) Fail(header http.Header, f *Failure) (int, []byte) {
	if f.ID != "" {
		header.Set("X-Request-Id", f.ID)
	}
	status, kind, code := http.StatusBadRequest, "invalid_request_error", f.Code
	switch f.Class {
	case NoKey:
		status, code = http.StatusUnauthorized, "invalid_api_key"
	case NoModel:
		status, code = http.StatusNotFound, "model_not_found"
	case NoPath:
		status, code = http.StatusNotFound, "unknown_url"
	case WrongMethod:
		status, code = http.StatusMethodNotAllowed, "method_not_supported"
	case TooLarge:
		status = http.StatusRequestEntityTooLarge
	case RateLimit:
		status, kind, code = http.StatusTooManyRequests, "requests", "rate_limit_exceeded"
		if f.RetryAfter > 0 || f.RetryNow {
			header.Set("Retry-After-Ms", strconv.FormatInt(f.RetryAfter.Milliseconds(), 10))
		}
	case Overload:
		status, kind = http.StatusServiceUnavailable, "service_unavailable_error"
	case Internal:
		status, kind = http.StatusInternalServerError, "server_error"
	case Forbidden:
		status, kind, code = http.StatusForbidden, "permission_error", cmp.Or(code, "forbidden")
	case NoBudget:
		status, kind, code = http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota"
	case NotAgreed:
		status, kind, code = http.StatusUnprocessableEntity, "not_agreed", "not_agreed"
	case BadUpstream:
		status, kind = http.StatusBadGateway, "server_error"
	}
	f.hint(header)
	trouble := map[string]any{"message": f.Message, "type": kind, "param": nil, "code": nil}
	if f.Param != "" {
		trouble["param"] = f.Param
	}
	if code != "" {
		trouble["code"] = code
	}
	return status, marshal(map[string]any{"error": trouble})
}
