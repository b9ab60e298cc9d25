package modeltest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
)

// Requests compares how a client writes requests with the provider's files.
func Requests(t *testing.T, c Config) {
	plain := readAnswer(t, c.path("answers", "plain.http"))
	for name, req := range requests() {
		t.Run(name, func(t *testing.T) {
			var got string
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Errorf("reading the request: %v", err)
				}
				got += describe(r, body)
				plain.write(w)
			})
			m := newClient(t, c, base, "the-model")
			if _, err := m.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			for _, warning := range m.warned() {
				got += "\nwarning: " + warning + "\n"
			}
			golden(t, c.path(cmp.Or(c.Requests, "requests"), name+".golden"), got)
		})
	}
}

// describe writes a request down without what HTTP adds to it.
func describe(r *http.Request, body []byte) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL)
	for _, name := range []string{"User-Agent", "Accept-Encoding", "Content-Length"} {
		r.Header.Del(name)
	}
	var lines []string
	for name, values := range r.Header {
		lines = append(lines, name+": "+strings.Join(values, ", ")+"\n")
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, "") + "\n")
	if err := json.Indent(&b, body, "", "  "); err != nil {
		fmt.Fprintf(&b, "not JSON (%v): %s\n", err, body)
	}
	return b.String() + "\n"
}

// requests are those whose wire form is kept.
func requests() map[string]*model.Request {
	schema := json.RawMessage(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false}`)
	user := func(text string) model.Message { return model.Message{Role: model.User, Text: text} }
	tools := []model.Tool{
		{Name: "weather", Description: "Tells the weather.", Schema: schema},
		{Name: "now"},
	}
	zero, warm := 0.0, 0.1
	return map[string]*model.Request{
		"plain":          {System: "Be brief.", Messages: []model.Message{user("Grüße <b>&amp;</b> \u2028 𝄞")}, Temperature: &warm, MaxOutput: 100},
		"no_temperature": {Messages: []model.Message{user("Hello")}, MaxOutput: 100},
		"defaults":       {Messages: []model.Message{user("Hello")}, Temperature: &zero},
		"conversation": {System: "Be brief.", MaxOutput: 100, Messages: []model.Message{
			user("a"), {Role: model.Assistant, Text: "b"}, user("c"),
		}},
		"images": {MaxOutput: 100, Messages: []model.Message{
			{Role: model.User, Text: "What is this?", Images: []model.Image{{MediaType: "image/png", Data: []byte("not really")}, {MediaType: "image/jpeg", Data: []byte{0xff, 0xd8, 0}}}},
		}},
		"tools": {System: "Be brief.", MaxOutput: 100, Tools: tools, Messages: []model.Message{
			user("How is the weather in Kraków and Łódź, and how late is it?"),
			{Role: model.Assistant, Text: "Let me see.", ToolCalls: []model.ToolCall{
				{ID: "call_1", Name: "weather", Input: json.RawMessage(`{"city": "Kraków"}`)},
				{ID: "call_2", Name: "weather", Input: json.RawMessage(`{"city": "Łódź"}`)},
				{ID: "call_3", Name: "now"},
			}},
			{Role: model.User, ToolResults: []model.ToolResult{
				{ID: "call_1", Text: "rain"},
				{ID: "call_2", Text: "no such city", IsError: true},
				{ID: "call_3", Text: ""},
			}},
			{Role: model.Assistant, ToolCalls: []model.ToolCall{
				{ID: "call_4", Name: "weather", Input: json.RawMessage(`"{\"city\": Lodz"`)},
			}},
			{Role: model.User, Text: "Hurry up.", ToolResults: []model.ToolResult{{ID: "call_4", Text: "sun"}}},
		}},
		"schema": {Messages: []model.Message{user("Name a city.")}, MaxOutput: 100,
			Output: &model.OutputFormat{Mode: model.JSONSchema, Name: "city", Schema: schema}},
		"schema_unnamed": {Messages: []model.Message{user("Name a city.")}, MaxOutput: 100,
			Output: &model.OutputFormat{Mode: model.JSONSchema, Schema: schema}},
		"object": {Messages: []model.Message{user("Name a city in JSON.")}, MaxOutput: 100,
			Output: &model.OutputFormat{Mode: model.JSONObject}},
		"cached":       {System: "A long prompt.", Tools: tools, Messages: []model.Message{user("Hello")}, MaxOutput: 100, CachePrefix: true},
		"cached_tools": {Tools: tools, Messages: []model.Message{user("Hello")}, MaxOutput: 100, CachePrefix: true},
	}
}
