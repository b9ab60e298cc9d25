package sdk

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/maker-mdap/maker/model/sim/simserver"
)

func messagesClient(url string, more ...option.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0)}, more...)...)
}

func messagesAsk(name, prompt string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     anthropic.Model(name),
		MaxTokens: 500,
		System:    []anthropic.TextBlockParam{{Text: "Be brief."}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
	}
}

var messagesTools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
	Name:        "weather",
	Description: anthropic.String("Looks at the weather."),
	InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}},
}}}

func messages(t *testing.T, c anthropic.Client, p anthropic.MessageNewParams) *anthropic.Message {
	t.Helper()
	r, err := c.Messages.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	complete(t, r)
	return r
}

// messagesStream asks for a stream and puts it together.
func messagesStream(t *testing.T, c anthropic.Client, p anthropic.MessageNewParams) (*anthropic.Message, error) {
	t.Helper()
	stream := c.Messages.NewStreaming(t.Context(), p)
	defer stream.Close()
	var all anthropic.Message
	for stream.Next() {
		event := stream.Current()
		complete(t, event, extra)
		if err := all.Accumulate(event); err != nil {
			t.Errorf("the client cannot add the event %s: %v", event.RawJSON(), err)
		}
	}
	return &all, stream.Err()
}

// written is the text of an answer.
func written(m *anthropic.Message) string {
	var b strings.Builder
	for _, block := range m.Content {
		b.WriteString(block.Text)
	}
	return b.String()
}

func calls(m *anthropic.Message) []anthropic.ToolUseBlock {
	var out []anthropic.ToolUseBlock
	for _, block := range m.Content {
		if use, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
			out = append(out, use)
		}
	}
	return out
}

func TestMessagesPlain(t *testing.T) {
	url := serve(t, simserver.Options{RequireKey: true})
	c := messagesClient(url)
	r := messages(t, c, messagesAsk(perfect, "Compute: 20 + 22"))
	if !strings.HasSuffix(written(r), "answer = 42") || string(r.Model) != perfect {
		t.Errorf("text %q of %s, want 42", written(r), r.Model)
	}
	check(t, "stop_reason", r.StopReason, anthropic.StopReasonEndTurn)
	check(t, "input_tokens", r.Usage.InputTokens, int64(7))
	check(t, "output_tokens", r.Usage.OutputTokens, int64(len(written(r))+3)/4)

	limited := messagesAsk("any", "Compute: 20 + 22")
	limited.MaxTokens = 2
	check(t, "stop_reason of 2 tokens", messages(t, c, limited).StopReason, anthropic.StopReasonMaxTokens)
	check(t, "refusal", messages(t, c, messagesAsk("any", "the secret")).StopReason, anthropic.StopReasonRefusal)
	check(t, "empty content", len(messages(t, c, messagesAsk("any", "say nothing")).Content), 0)

	// A bearer token is as good as a key, and so is the address of the betas.
	bearer := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(url), option.WithAuthToken("token"))
	if _, err := bearer.Messages.New(t.Context(), messagesAsk(perfect, "Compute: 20 + 22")); err != nil {
		t.Errorf("with a token: %v", err)
	}
	beta, err := c.Beta.Messages.New(t.Context(), anthropic.BetaMessageNewParams{
		Model: perfect, MaxTokens: 500,
		Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Compute: 20 + 22"))},
	})
	if err != nil || !strings.HasSuffix(beta.Content[0].Text, "answer = 42") {
		t.Errorf("beta: %+v, %v, want 42", beta, err)
	}
	count, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: perfect, Messages: messagesAsk("any", "Compute: 20 + 22").Messages})
	if err != nil || count.InputTokens != 4 {
		t.Errorf("count of tokens: %+v, %v, want 4", count, err)
	}
	list, err := c.Models.List(t.Context(), anthropic.ModelListParams{})
	if err != nil || len(list.Data) != 1 || !strings.HasPrefix(list.Data[0].ID, "sim/default") {
		t.Errorf("models %+v, %v, want sim/default", list, err)
	}
}

func TestMessagesStream(t *testing.T) {
	c := messagesClient(serve(t, simserver.Options{}))
	for _, prompt := range []string{"Compute: 20 + 22", "unicode", "the secret", "say nothing", "weather in Paris and Berlin", "weather in Rome"} {
		p := messagesAsk("any", prompt)
		p.Tools = messagesTools
		p.Temperature = anthropic.Float(0) // the same answer each time
		want := messages(t, c, p)
		got, err := messagesStream(t, c, p)
		if err != nil {
			t.Errorf("%s: %v", prompt, err)
			continue
		}
		check(t, prompt+": stop_reason", got.StopReason, want.StopReason)
		check(t, prompt+": text", written(got), written(want))
		check(t, prompt+": input_tokens", got.Usage.InputTokens, want.Usage.InputTokens)
		check(t, prompt+": output_tokens", got.Usage.OutputTokens, want.Usage.OutputTokens)
		check(t, prompt+": blocks", len(got.Content), len(want.Content))
		here, there := calls(got), calls(want)
		check(t, prompt+": calls", len(here), len(there))
		for i := range here {
			check(t, prompt+": call id", here[i].ID, there[i].ID)
			check(t, prompt+": call", here[i].Name, there[i].Name)
			check(t, prompt+": input", string(here[i].Input), string(there[i].Input))
		}
	}
}

func TestMessagesTools(t *testing.T) {
	c := messagesClient(serve(t, simserver.Options{}))
	p := messagesAsk("any", "What is the weather in Paris and Berlin?")
	p.Tools = messagesTools
	r := messages(t, c, p)
	check(t, "stop_reason", r.StopReason, anthropic.StopReasonToolUse)
	check(t, "text", written(r), "Let me look at both.")
	uses := calls(r)
	if len(uses) != 2 || uses[0].ID == uses[1].ID {
		t.Fatalf("tool calls %+v, want 2 with different ids", uses)
	}
	check(t, "first call", string(uses[0].Input), paris)
	check(t, "second call", string(uses[1].Input), berlin)

	results := anthropic.NewUserMessage(anthropic.NewToolResultBlock(uses[0].ID, "21 degrees", false), anthropic.NewToolResultBlock(uses[1].ID, "17 degrees", true))
	p.Messages = append(p.Messages, r.ToParam(), results)
	final := messages(t, c, p)
	check(t, "final answer", written(final), "21 here and 17 there.")
	check(t, "final stop_reason", final.StopReason, anthropic.StopReasonEndTurn)

	// A result that is missing is the client's mistake, and it is told so.
	p.Messages[2].Content = p.Messages[2].Content[:1]
	_, err := c.Messages.New(t.Context(), p)
	if e, ok := errors.AsType[*anthropic.Error](err); !ok || e.StatusCode != 400 || !strings.Contains(e.RawJSON(), uses[1].ID) {
		t.Errorf("without a result: %v, want a 400 that names the call", err)
	}
}

func TestMessagesStructured(t *testing.T) {
	c := messagesClient(serve(t, simserver.Options{}))
	p := messagesAsk(perfect, "Sort: [3, 1, 2]")
	p.OutputConfig.Format.Schema = map[string]any{"type": "object", "additionalProperties": false, "required": []string{"answer"},
		"properties": map[string]any{"answer": map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}}}
	var got struct{ Answer []int }
	if err := json.Unmarshal([]byte(written(messages(t, c, p))), &got); err != nil {
		t.Error(err)
	}
	check(t, "answer", got.Answer, []int{1, 2, 3})
}

func TestMessagesCache(t *testing.T) {
	c := messagesClient(serve(t, simserver.Options{}))
	p := messagesAsk("sim/default?cache=on", "Compute: 20 + 22")
	p.System = []anthropic.TextBlockParam{{
		Text:         strings.Repeat("Be very, very brief.", 300), // 1500 tokens
		CacheControl: anthropic.NewCacheControlEphemeralParam(),
	}}
	for i, want := range []struct{ input, written, read int64 }{{4, 1500, 0}, {4, 0, 1500}, {4, 0, 1500}} {
		u := messages(t, c, p).Usage
		if u.InputTokens != want.input || u.CacheCreationInputTokens != want.written || u.CacheReadInputTokens != want.read || u.CacheCreation.Ephemeral5mInputTokens != want.written {
			t.Errorf("call %d: usage %s, want %+v", i, u.RawJSON(), want)
		}
	}
	streamed, err := messagesStream(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "streamed cache_read_input_tokens", streamed.Usage.CacheReadInputTokens, int64(1500))
	p.System[0].CacheControl = anthropic.CacheControlEphemeralParam{}
	check(t, "input_tokens if nobody asks for the cache", messages(t, c, p).Usage.InputTokens, int64(1504))
}

func TestMessagesErrors(t *testing.T) {
	url := serve(t, simserver.Options{RequireKey: true})
	c := messagesClient(url)
	hot, structured, empty := messagesAsk("sim/default?refuse=temperature", "x"), messagesAsk("sim/default?refuse=schema", "x"), messagesAsk("any", "")
	hot.Temperature = anthropic.Float(0.5)
	structured.OutputConfig.Format.Schema = map[string]any{"type": "object", "additionalProperties": false}
	for _, test := range []struct {
		params  anthropic.MessageNewParams
		status  int
		kind    anthropic.ErrorType
		message string
	}{
		{messagesAsk("sim/default?f429=1", "x"), 429, anthropic.ErrorTypeRateLimitError, "too many"},
		{messagesAsk("sim/default?f529=1", "x"), 529, anthropic.ErrorTypeOverloadedError, "capacity"},
		{messagesAsk("sim/default?f500=1", "x"), 500, anthropic.ErrorTypeAPIError, "broke"},
		{messagesAsk("sim/unknown", "x"), 404, anthropic.ErrorTypeNotFoundError, "unknown"},
		{hot, 400, anthropic.ErrorTypeInvalidRequestError, "`temperature` is deprecated for this model."},
		{structured, 400, anthropic.ErrorTypeInvalidRequestError, "output_config.format: Extra inputs are not permitted"},
		{empty, 400, anthropic.ErrorTypeInvalidRequestError, "text content blocks must be non-empty"},
	} {
		_, plain := c.Messages.New(t.Context(), test.params)
		_, streamed := messagesStream(t, c, test.params)
		for _, err := range []error{plain, streamed} {
			e, ok := errors.AsType[*anthropic.Error](err)
			if !ok {
				t.Errorf("%s: %v, want the client's own error", test.params.Model, err)
				continue
			}
			if e.StatusCode != test.status || e.Type() != test.kind || e.RequestID == "" || !strings.Contains(e.RawJSON(), test.message) {
				t.Errorf("%s: %d %s %s, want %+v", test.params.Model, e.StatusCode, e.Type(), e.RawJSON(), test)
			}
		}
	}
	keyless := messagesClient(url, option.WithHeaderDel("X-Api-Key"))
	_, err := keyless.Messages.New(t.Context(), messagesAsk("any", "x"))
	if e, ok := errors.AsType[*anthropic.Error](err); !ok || e.StatusCode != 401 || e.Type() != anthropic.ErrorTypeAuthenticationError {
		t.Errorf("without a key: %v, want a 401", err)
	}
}

func TestMessagesBroken(t *testing.T) {
	c := messagesClient(serve(t, simserver.Options{}))
	for _, name := range []string{"sim/default?cut=1", "sim/default?garbage=1"} {
		if r, err := c.Messages.New(t.Context(), messagesAsk(name, "Compute: 1 + 1")); err == nil {
			t.Errorf("%s: the client reads %s, want an error", name, r.RawJSON())
		}
	}
	if r, err := messagesStream(t, c, messagesAsk("sim/default?cut=1", "Compute: 1 + 1")); err == nil {
		t.Errorf("cut stream: the client reads %q, want an error", written(r))
	}
}

func TestMessagesRetry(t *testing.T) {
	t.Parallel()
	name, prompt := faultThenAnswer(t)
	c := messagesClient(serve(t, simserver.Options{}), option.WithMaxRetries(1))
	begin := time.Now()
	if r := messages(t, c, messagesAsk(name, prompt)); !strings.HasSuffix(written(r), "answer = 42") {
		t.Errorf("after a 429: %q, want 42", written(r))
	}
	// Its own first wait would be half a second at most.
	if took := time.Since(begin); took < time.Second {
		t.Errorf("the client came back after %v, want the second that Retry-After asks for", took)
	}
}
