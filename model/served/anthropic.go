package served

import (
	"encoding/json"
	"maps"
	"net/http"

	"github.com/maker-mdap/maker/model"
)

// Messages is the format of Anthropic's Messages.
type Messages struct {
	Counting bool // tokens only, without an answer
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
func (Messages) usage(a *model.Response, output int64) map[string]any {
	return map[string]any{
		"input_tokens": a.Usage.Input, "cache_creation_input_tokens": a.Usage.CacheWrite, "cache_read_input_tokens": a.Usage.CacheRead,
		"output_tokens": output, "output_tokens_details": nil, "server_tool_use": nil,
	}
}

// newMessage is a message of which nothing is written yet.
func (f Messages) newMessage(e Envelope, a *model.Response, output int64) map[string]any {
	usage := f.usage(a, output)
	usage["cache_creation"] = map[string]int64{"ephemeral_5m_input_tokens": a.Usage.CacheWrite, "ephemeral_1h_input_tokens": 0}
	usage["service_tier"], usage["inference_geo"], usage["speed"] = "standard", nil, nil
	return map[string]any{
		"id": "msg_" + e.ID, "type": "message", "role": "assistant", "model": e.Model, "content": []any{},
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
	if a.Stopped != "" {
		return "stop_sequence"
	}
	return "end_turn"
}

// stopSequence is the text before which an answer ends; nil if there is none.
func stopSequence(a *model.Response) any {
	if a.Stopped == "" {
		return nil
	}
	return a.Stopped
}

// Body implements [Format].
func (f Messages) Body(e Envelope, _ *Call, answers []*model.Response) []byte {
	a := answers[0]
	content := []any{}
	if a.Text != "" {
		content = append(content, newText(a.Text))
	}
	for i := range a.ToolCalls {
		content = append(content, newTool(&a.ToolCalls[i], a.ToolCalls[i].Input))
	}
	m := f.newMessage(e, a, a.Usage.Output)
	m["content"], m["stop_reason"], m["stop_sequence"], m["stop_details"] = content, stopReason(a), stopSequence(a), detailsOf(a)
	maps.Copy(m, e.Extra)
	return marshal(m)
}

// Stream implements [Format].
func (f Messages) Stream(e Envelope, _ *Call) Stream { return &messagesStream{format: f, envelope: e} }

type messagesStream struct {
	format   Messages
	envelope Envelope
	blocks   int
	open     bool // a block of text was begun to show that somebody is there
}

func messagesFrame(name string, fields map[string]any) []byte {
	fields["type"] = name
	frame := append([]byte("event: "+name+"\ndata: "), marshal(fields)...)
	return append(frame, "\n\n"...)
}

// Begin says how much was read as far as that is known: clients reckon with it.
func (s *messagesStream) Begin() [][]byte {
	read := &model.Response{Usage: s.envelope.Read}
	return [][]byte{messagesFrame("message_start", map[string]any{"message": s.format.newMessage(s.envelope, read, 1)})} // a stream starts with one token
}

// Alive is a ping. Clients that count only what is written get a block of text with nothing
// in it.
func (s *messagesStream) Alive() []byte {
	frame := messagesFrame("ping", map[string]any{})
	if !s.open {
		s.open = true
		frame = append(frame, messagesFrame("content_block_start", map[string]any{"index": s.blocks, "content_block": newText("")})...)
	}
	return append(frame, messagesFrame("content_block_delta", map[string]any{"index": s.blocks, "delta": map[string]string{"type": "text_delta", "text": ""}})...)
}

func (s *messagesStream) Answer(answers []*model.Response, extra map[string]any) [][]byte {
	a := answers[0]
	var out [][]byte
	block := func(start any, deltas []any) {
		if !s.open {
			out = append(out, messagesFrame("content_block_start", map[string]any{"index": s.blocks, "content_block": start}))
			if s.blocks == 0 {
				out = append(out, messagesFrame("ping", map[string]any{}))
			}
		}
		for _, delta := range deltas {
			out = append(out, messagesFrame("content_block_delta", map[string]any{"index": s.blocks, "delta": delta}))
		}
		out = append(out, messagesFrame("content_block_stop", map[string]any{"index": s.blocks}))
		s.blocks, s.open = s.blocks+1, false
	}
	if a.Text != "" || s.open {
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
	last := map[string]any{
		"delta": map[string]any{"stop_reason": stopReason(a), "stop_sequence": stopSequence(a), "stop_details": detailsOf(a), "container": nil},
		"usage": s.format.usage(a, a.Usage.Output),
	}
	maps.Copy(last, extra)
	return append(out, messagesFrame("message_delta", last), messagesFrame("message_stop", map[string]any{}))
}

func (s *messagesStream) Fail(f *Failure) [][]byte {
	_, body := s.format.Fail(http.Header{}, f)
	return [][]byte{append(append([]byte("event: error\ndata: "), body...), "\n\n"...)}
}

// overloaded is the status that this provider has invented.
const overloaded = 529

// Fail implements [Format].
func (Messages) Fail(header http.Header, f *Failure) (int, []byte) {
	if f.ID != "" {
		header.Set("Request-Id", f.ID)
	}
	status, kind := http.StatusBadRequest, "invalid_request_error"
	switch f.Class {
	case NoKey:
		status, kind = http.StatusUnauthorized, "authentication_error"
	case NoModel, NoPath:
		status, kind = http.StatusNotFound, "not_found_error"
	case WrongMethod:
		status = http.StatusMethodNotAllowed
	case TooLarge:
		status, kind = http.StatusRequestEntityTooLarge, "request_too_large"
	case RateLimit:
		status, kind = http.StatusTooManyRequests, "rate_limit_error"
	case Overload:
		status, kind = overloaded, "overloaded_error"
	case Internal:
		status, kind = http.StatusInternalServerError, "api_error"
	case Forbidden:
		status, kind = http.StatusForbidden, "permission_error"
	case NoBudget:
		status, kind = http.StatusPaymentRequired, "billing_error"
	case NotAgreed:
		status, kind = http.StatusUnprocessableEntity, "not_agreed"
	case BadUpstream:
		status, kind = http.StatusBadGateway, "api_error"
	}
	f.hint(header)
	return status, marshal(map[string]any{
		"type":       "error",
		"error":      map[string]string{"type": kind, "message": f.Message},
		"request_id": f.ID,
	})
}
