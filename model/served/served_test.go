package served

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWhatIsRead: nothing that a message holds is lost on the way, whatever form it has.
func TestWhatIsRead(t *testing.T) {
	const png = "data:image/png;base64,aGk="
	for _, c := range []struct {
		name   string
		format Format
		body   string
		want   func(*Call) bool
	}{
		{"a result in parts", Responses{}, `{"model": "m", "input": [{"role": "user", "content": "x"}, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, ` +
			`{"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "seen"}, {"type": "input_text", "text": "done"}]}]}`,
			func(c *Call) bool { return c.Request.Messages[2].ToolResults[0].Text == "seen\ndone" && c.Left == nil }},
		{"images after a result", Chat{}, `{"model": "m", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, ` +
			`{"role": "tool", "tool_call_id": "c", "content": "y"}, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "` + png + `"}}]}, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "` + png + `"}}]}]}`,
			func(c *Call) bool {
				return len(c.Request.Messages[2].Images) == 1 && len(c.Request.Messages[3].Images) == 1
			}},
		{"one call at most", Chat{}, `{"model": "m", "parallel_tool_calls": false, "messages": [{"role": "user", "content": "x"}]}`, func(c *Call) bool { return c.OneCall }},
		{"one call at most", Responses{}, `{"model": "m", "parallel_tool_calls": false, "input": "x"}`, func(c *Call) bool { return c.OneCall }},
		{"one call at most", Messages{}, `{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}], "tools": [{"name": "f", "input_schema": {"type": "object"}}], "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}`,
			func(c *Call) bool { return c.OneCall }},
		{"a turn of thoughts alone", Messages{}, `{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}, {"role": "user", "content": "y"}]}`,
			func(c *Call) bool { return len(c.Request.Messages) == 2 }},
		{"any number", Chat{}, `{"model": "m", "parallel_tool_calls": true, "messages": [{"role": "user", "content": "x"}]}`, func(c *Call) bool { return !c.OneCall }},
	} {
		call, f := c.format.Decode([]byte(c.body))
		if f != nil {
			t.Errorf("%s: %s", c.name, f.Message)
		} else if !c.want(call) {
			t.Errorf("%s: it is read as %+v", c.name, call)
		}
	}
}

func TestPieces(t *testing.T) {
	text := strings.Repeat("ü€𝄞a", 50)
	parts := pieces(text)
	if got := strings.Join(parts, ""); got != text {
		t.Errorf("pieces joined = %q, want %q", got, text)
	}
	for _, p := range parts {
		if !utf8.ValidString(p) || p == "" {
			t.Errorf("piece %q is broken", p)
		}
	}
}
