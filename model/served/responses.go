package served

import (
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/maker-mdap/maker/model"
)

// Responses is the format of OpenAI's Responses.
type Responses struct{}

// Body implements [Format].
func (Responses) Body(e Envelope, c *Call, answers []*model.Response) []byte {
	r := newResponse(e, c)
	finishResponse(r, e, answers[0])
	maps.Copy(r, e.Extra)
	return marshal(r)
}

// newResponse is a response of which nothing is written yet.
func newResponse(e Envelope, c *Call) map[string]any {
	return map[string]any{
		"id": "resp_" + e.ID, "object": "response", "access_programs": nil, "created_at": time.Now().Unix(), "status": "in_progress", "background": false,
		"error": nil, "incomplete_details": nil, "instructions": nil, "max_output_tokens": nil, "model": e.Model, "output": []any{},
		"parallel_tool_calls": true, "previous_response_id": nil, "reasoning": map[string]any{"effort": nil, "summary": nil},
		"temperature": c.Request.Temperature, "text": map[string]any{"format": map[string]any{"type": "text"}},
		"tool_choice": "auto", "tools": []any{}, "top_p": nil, "truncation": "disabled", "usage": nil, "metadata": map[string]any{},
	}
}

// finishResponse puts the answer into a response.
func finishResponse(r map[string]any, e Envelope, a *model.Response) {
	output := []any{}
	for _, item := range itemsOf(e, a) {
		output = append(output, item.whole)
	}
	prompt := a.Usage.Input + a.Usage.CacheRead + a.Usage.CacheWrite
	completion := a.Usage.Output + a.Usage.Reasoning
	r["output"], r["status"] = output, "completed"
	if a.Stop == model.StopLength {
		r["status"], r["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
	}
	r["usage"] = map[string]any{
		"input_tokens": prompt, "input_tokens_details": map[string]any{"cached_tokens": a.Usage.CacheRead, "cache_write_tokens": a.Usage.CacheWrite},
		"output_tokens": completion, "output_tokens_details": map[string]any{"reasoning_tokens": a.Usage.Reasoning}, "total_tokens": prompt + completion,
	}
}

// An item is a part of the output: a text, or a call.
type item struct {
	id    string
	whole map[string]any
	begun map[string]any
	text  string // of a text
	input string // of a call
}

func itemsOf(e Envelope, a *model.Response) []item {
	var list []item
	if a.Text != "" || len(a.ToolCalls) == 0 {
		id := "msg_" + e.ID
		message := func(status string, content []any) map[string]any {
			return map[string]any{"id": id, "type": "message", "role": "assistant", "status": status, "content": content}
		}
		part := textPart(a.Text)
		if a.Stop == model.StopRefusal {
			part = map[string]any{"type": "refusal", "refusal": a.Text}
		}
		list = append(list, item{id: id, whole: message("completed", []any{part}), begun: message("in_progress", []any{}), text: a.Text})
	}
	for i, c := range a.ToolCalls {
		id := "fc_" + e.ID + "_" + strconv.Itoa(i)
		call := func(status, arguments string) map[string]any {
			return map[string]any{"id": id, "type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": arguments, "status": status}
		}
		list = append(list, item{id: id, whole: call("completed", string(c.Input)), begun: call("in_progress", ""), input: string(c.Input)})
	}
	return list
}

func textPart(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

// Stream implements [Format].
func (Responses) Stream(e Envelope, c *Call) Stream {
	return &responsesStream{envelope: e, response: newResponse(e, c)}
}

type responsesStream struct {
	envelope Envelope
	response map[string]any
	sent     int
}

func (s *responsesStream) event(name string, fields map[string]any) []byte {
	fields["type"], fields["sequence_number"] = name, s.sent
	s.sent++
	frame := append([]byte("event: "+name+"\ndata: "), marshal(fields)...)
	return append(frame, "\n\n"...)
}

func (s *responsesStream) Begin() [][]byte {
	return [][]byte{
		s.event("response.created", map[string]any{"response": s.response}),
		s.event("response.in_progress", map[string]any{"response": s.response}),
	}
}

// Alive says again that the response is in progress.
func (s *responsesStream) Alive() []byte {
	return s.event("response.in_progress", map[string]any{"response": s.response})
}

func (s *responsesStream) Answer(answers []*model.Response, extra map[string]any) [][]byte {
	a := answers[0]
	var out [][]byte
	for i, it := range itemsOf(s.envelope, a) {
		send := func(name string, fields map[string]any) {
			fields["output_index"] = i
			out = append(out, s.event(name, fields))
		}
		send("response.output_item.added", map[string]any{"item": it.begun})
		if it.whole["type"] == "message" {
			at := func(fields map[string]any) map[string]any {
				fields["item_id"], fields["content_index"] = it.id, 0
				return fields
			}
			send("response.content_part.added", at(map[string]any{"part": textPart("")}))
			for _, piece := range pieces(it.text) {
				send("response.output_text.delta", at(map[string]any{"delta": piece, "logprobs": []any{}}))
			}
			send("response.output_text.done", at(map[string]any{"text": it.text, "logprobs": []any{}}))
			send("response.content_part.done", at(map[string]any{"part": textPart(it.text)}))
		} else {
			for _, piece := range pieces(it.input) {
				send("response.function_call_arguments.delta", map[string]any{"item_id": it.id, "delta": piece})
			}
			send("response.function_call_arguments.done", map[string]any{"item_id": it.id, "arguments": it.input})
		}
		send("response.output_item.done", map[string]any{"item": it.whole})
	}
	finishResponse(s.response, s.envelope, a)
	maps.Copy(s.response, extra)
	name := "response.completed"
	if s.response["status"] == "incomplete" {
		name = "response.incomplete"
	}
	return append(out, s.event(name, map[string]any{"response": s.response}))
}

func (s *responsesStream) Fail(f *Failure) [][]byte {
	s.response["status"] = "failed"
	s.response["error"] = map[string]any{"code": codeOf(f), "message": f.Message}
	return [][]byte{s.event("response.failed", map[string]any{"response": s.response})}
}

// codeOf is the word for a failure in a response.
func codeOf(f *Failure) string {
	switch {
	case f.Code != "":
		return f.Code
	case f.Class == NotAgreed:
		return "not_agreed"
	case f.Class == NoBudget:
		return "insufficient_quota"
	case f.Class == RateLimit:
		return "rate_limit_exceeded"
	case f.Class < Internal:
		return "invalid_prompt"
	}
	return "server_error"
}

// Fail implements [Format].
func (Responses) Fail(header http.Header, f *Failure) (int, []byte) { return Chat{}.Fail(header, f) }
