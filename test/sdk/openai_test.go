package sdk

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/maker-mdap/maker/model/sim/simserver"
)

func chatClient(url string, more ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(url + "/v1"), option.WithAPIKey("key"), option.WithMaxRetries(0)}, more...)...)
}

func chatAsk(name, prompt string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    name,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage(prompt)},
	}
}

var chatTools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
	Name:        "weather",
	Description: openai.String("Looks at the weather."),
	Parameters:  openai.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
})}

func chat(t *testing.T, c openai.Client, p openai.ChatCompletionNewParams) *openai.ChatCompletion {
	t.Helper()
	r, err := c.Chat.Completions.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	complete(t, r)
	return r
}

// chatStream asks for a stream and puts it together.
func chatStream(t *testing.T, c openai.Client, p openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	t.Helper()
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(t.Context(), p)
	defer stream.Close()
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		complete(t, chunk, extra)
		if !all.AddChunk(chunk) {
			t.Errorf("the client cannot add the chunk %s", chunk.RawJSON())
		}
	}
	return &all.ChatCompletion, stream.Err()
}

func TestChatPlain(t *testing.T) {
	c := chatClient(serve(t, simserver.Options{RequireKey: true}))
	r := chat(t, c, chatAsk(perfect, "Compute: 20 + 22"))
	text := r.Choices[0].Message.Content
	if !strings.HasSuffix(text, "answer = 42") || r.Model != perfect {
		t.Errorf("content %q of %s, want 42", text, r.Model)
	}
	check(t, "finish_reason", r.Choices[0].FinishReason, "stop")
	check(t, "prompt_tokens", r.Usage.PromptTokens, int64(7))
	check(t, "completion_tokens", r.Usage.CompletionTokens, int64(len(text)+3)/4)
	check(t, "total_tokens", r.Usage.TotalTokens, r.Usage.PromptTokens+r.Usage.CompletionTokens)

	limited := chatAsk("any", "Compute: 20 + 22")
	limited.MaxCompletionTokens = openai.Int(2)
	check(t, "finish_reason of 2 tokens", chat(t, c, limited).Choices[0].FinishReason, "length")
	check(t, "refusal", chat(t, c, chatAsk("any", "the secret")).Choices[0].Message.Refusal, "I will not say.")
	check(t, "empty content", chat(t, c, chatAsk("any", "say nothing")).Choices[0].Message.Content, "")

	list, err := c.Models.List(t.Context())
	if err != nil || len(list.Data) != 1 || !strings.HasPrefix(list.Data[0].ID, "sim/default") {
		t.Errorf("models %+v, %v, want sim/default", list, err)
	}
}

func TestChatStream(t *testing.T) {
	c := chatClient(serve(t, simserver.Options{}))
	for _, prompt := range []string{"Compute: 20 + 22", "unicode", "the secret", "say nothing", "weather in Paris and Berlin", "weather in Rome"} {
		p := chatAsk("any", prompt)
		p.Tools = chatTools
		p.Temperature = openai.Float(0) // the same answer each time
		p.N = openai.Int(2)
		want := chat(t, c, p)
		got, err := chatStream(t, c, p)
		if err != nil {
			t.Errorf("%s: %v", prompt, err)
			continue
		}
		check(t, prompt+": usage", got.Usage.TotalTokens, want.Usage.TotalTokens)
		check(t, prompt+": choices", len(got.Choices), 2)
		for i := range got.Choices {
			g, w := got.Choices[i], want.Choices[i]
			check(t, prompt+": content", g.Message.Content, w.Message.Content)
			check(t, prompt+": refusal", g.Message.Refusal, w.Message.Refusal)
			check(t, prompt+": finish_reason", g.FinishReason, w.FinishReason)
			check(t, prompt+": calls", len(g.Message.ToolCalls), len(w.Message.ToolCalls))
			for j := range g.Message.ToolCalls {
				check(t, prompt+": call id", g.Message.ToolCalls[j].ID, w.Message.ToolCalls[j].ID)
				check(t, prompt+": call", g.Message.ToolCalls[j].Function.Name, w.Message.ToolCalls[j].Function.Name)
				check(t, prompt+": arguments", g.Message.ToolCalls[j].Function.Arguments, w.Message.ToolCalls[j].Function.Arguments)
			}
		}
	}
}

func TestChatTools(t *testing.T) {
	c := chatClient(serve(t, simserver.Options{}))
	p := chatAsk("any", "What is the weather in Paris and Berlin?")
	p.Tools = chatTools
	r := chat(t, c, p).Choices[0]
	check(t, "finish_reason", r.FinishReason, "tool_calls")
	check(t, "content", r.Message.Content, "Let me look at both.")
	if len(r.Message.ToolCalls) != 2 || r.Message.ToolCalls[0].ID == r.Message.ToolCalls[1].ID {
		t.Fatalf("tool calls %+v, want 2 with different ids", r.Message.ToolCalls)
	}
	check(t, "first call", r.Message.ToolCalls[0].Function.Arguments, paris)
	check(t, "second call", r.Message.ToolCalls[1].Function.Arguments, berlin)

	p.Messages = append(p.Messages, r.Message.ToParam(),
		openai.ToolMessage("21 degrees", r.Message.ToolCalls[0].ID), openai.ToolMessage("17 degrees", r.Message.ToolCalls[1].ID))
	final := chat(t, c, p).Choices[0]
	check(t, "final answer", final.Message.Content, "21 here and 17 there.")
	check(t, "final finish_reason", final.FinishReason, "stop")

	// A result that is missing is the client's mistake, and it is told so.
	p.Messages = p.Messages[:len(p.Messages)-1]
	_, err := c.Chat.Completions.New(t.Context(), p)
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != 400 || !strings.Contains(e.Message, r.Message.ToolCalls[1].ID) {
		t.Errorf("without a result: %v, want a 400 that names the call", err)
	}
}

func TestChatStructured(t *testing.T) {
	c := chatClient(serve(t, simserver.Options{}))
	p := chatAsk(perfect, "Sort: [3, 1, 2]")
	p.ResponseFormat.OfJSONSchema = &openai.ResponseFormatJSONSchemaParam{JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: "sorted", Strict: openai.Bool(true),
		Schema: map[string]any{"type": "object", "additionalProperties": false, "required": []string{"answer"},
			"properties": map[string]any{"answer": map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}}},
	}}
	var got struct{ Answer []int }
	if err := json.Unmarshal([]byte(chat(t, c, p).Choices[0].Message.Content), &got); err != nil {
		t.Error(err)
	}
	check(t, "answer", got.Answer, []int{1, 2, 3})

	p = chatAsk(perfect, "Answer as JSON.\nSort: [3, 1, 2]")
	p.ResponseFormat.OfJSONObject = &openai.ResponseFormatJSONObjectParam{}
	check(t, "json_object", chat(t, c, p).Choices[0].Message.Content, `{"answer": [1, 2, 3]}`)
}

func TestChatChoices(t *testing.T) {
	c := chatClient(serve(t, simserver.Options{}))
	p := chatAsk("sim/default?p=0.5&rivals=3", "Compute: 20 + 22")
	p.N = openai.Int(20)
	r := chat(t, c, p)
	texts := map[string]bool{}
	var out int64
	for i, choice := range r.Choices {
		check(t, "index", choice.Index, int64(i))
		texts[choice.Message.Content] = true
		out += int64(len(choice.Message.Content)+3) / 4
	}
	if len(r.Choices) != 20 || len(texts) != 4 {
		t.Errorf("%d choices, %d of them different, want 20 and 4", len(r.Choices), len(texts))
	}
	check(t, "completion_tokens", r.Usage.CompletionTokens, out)
	check(t, "prompt_tokens", r.Usage.PromptTokens, int64(7))
}

func TestChatCache(t *testing.T) {
	c := chatClient(serve(t, simserver.Options{}))
	p := chatAsk("sim/default?cache=on", "Compute: 20 + 22")
	p.Messages[0] = openai.SystemMessage(strings.Repeat("Be very, very brief.", 300)) // 1500 tokens
	for i, want := range []int64{0, 1408, 1408} {
		u := chat(t, c, p).Usage
		check(t, "prompt_tokens", u.PromptTokens, int64(1504))
		if got := u.PromptTokensDetails.CachedTokens; got != want {
			t.Errorf("call %d: cached_tokens = %d, want %d", i, got, want)
		}
	}
	streamed, err := chatStream(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "streamed cached_tokens", streamed.Usage.PromptTokensDetails.CachedTokens, int64(1408))
}

func TestChatErrors(t *testing.T) {
	url := serve(t, simserver.Options{RequireKey: true})
	c := chatClient(url)
	hot, limited, several := chatAsk("sim/default?refuse=temperature+max_tokens+n", "x"), chatAsk("sim/default?refuse=max_tokens", "x"), chatAsk("sim/default?refuse=n", "x")
	hot.Temperature, limited.MaxTokens, several.N = openai.Float(0.5), openai.Int(9), openai.Int(3)
	structured := chatAsk("sim/default?refuse=schema+object", "Some JSON, please.")
	structured.ResponseFormat.OfJSONObject = &openai.ResponseFormatJSONObjectParam{}
	for _, test := range []struct {
		params                     openai.ChatCompletionNewParams
		status                     int
		kind, code, param, message string
	}{
		{chatAsk("sim/default?f429=1", "x"), 429, "requests", "rate_limit_exceeded", "", "too many"},
		{chatAsk("sim/default?f529=1", "x"), 503, "service_unavailable_error", "", "", "capacity"},
		{chatAsk("sim/default?f500=1", "x"), 500, "server_error", "", "", "broke"},
		{chatAsk("sim/unknown", "x"), 404, "invalid_request_error", "model_not_found", "model", "unknown"},
		{chatAsk("", "x"), 400, "invalid_request_error", "", "model", "model is missing"},
		{hot, 400, "invalid_request_error", "unsupported_value", "temperature", "Unsupported value: 'temperature' does not support 0.5 with this model."},
		{limited, 400, "invalid_request_error", "unsupported_parameter", "max_tokens", "Use 'max_completion_tokens' instead."},
		{several, 400, "invalid_request_error", "unsupported_value", "n", "Unsupported value: 'n' does not support 3"},
		{structured, 400, "invalid_request_error", "", "response_format", "'response_format' of type 'json_object' is not supported"},
	} {
		_, plain := c.Chat.Completions.New(t.Context(), test.params)
		_, streamed := chatStream(t, c, test.params)
		for _, err := range []error{plain, streamed} {
			e, ok := errors.AsType[*openai.Error](err)
			if !ok {
				t.Errorf("%s: %v, want the client's own error", test.params.Model, err)
				continue
			}
			if e.StatusCode != test.status || e.Type != test.kind || e.Code != test.code || e.Param != test.param || !strings.Contains(e.Message, test.message) {
				t.Errorf("%s: %d %s, want %+v", test.params.Model, e.StatusCode, e.RawJSON(), test)
			}
		}
	}
	keyless := chatClient(url, option.WithHeaderDel("Authorization"))
	_, err := keyless.Chat.Completions.New(t.Context(), chatAsk("any", "x"))
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != 401 || e.Code != "invalid_api_key" {
		t.Errorf("without a key: %v, want a 401", err)
	}
}

func TestChatBroken(t *testing.T) {
	c := chatClient(serve(t, simserver.Options{}))
	for _, name := range []string{"sim/default?cut=1", "sim/default?garbage=1"} {
		if r, err := c.Chat.Completions.New(t.Context(), chatAsk(name, "Compute: 1 + 1")); err == nil {
			t.Errorf("%s: the client reads %s, want an error", name, r.RawJSON())
		}
	}
	if r, err := chatStream(t, c, chatAsk("sim/default?cut=1", "Compute: 1 + 1")); err == nil {
		t.Errorf("cut stream: the client reads %+v, want an error", r.Choices)
	}
}

func TestChatRetry(t *testing.T) {
	t.Parallel()
	name, prompt := faultThenAnswer(t)
	c := chatClient(serve(t, simserver.Options{}), option.WithMaxRetries(1))
	begin := time.Now()
	r := chat(t, c, chatAsk(name, prompt))
	if !strings.HasSuffix(r.Choices[0].Message.Content, "answer = 42") {
		t.Errorf("after a 429: %q, want 42", r.Choices[0].Message.Content)
	}
	// Its own first wait would be half a second at most.
	if took := time.Since(begin); took < time.Second {
		t.Errorf("the client came back after %v, want the second that Retry-After asks for", took)
	}
}
