package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

// openai is the vendor's client of the gateway.
func (v *voted) openai(more ...option.RequestOption) openai.Client {
	return chatClient(v.url, append([]option.RequestOption{option.WithAPIKey(v.token)}, more...)...)
}

var sortedSchema = map[string]any{"type": "object", "additionalProperties": false, "required": []string{"answer"},
	"properties": map[string]any{"answer": map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}}}

func TestGatewayChat(t *testing.T) {
	c := voteFor(t).openai()
	p := chatAsk(wrongAtTimes, "Compute: 20 + 22")
	var raw *http.Response
	r, err := c.Chat.Completions.New(t.Context(), p, option.WithResponseInto(&raw))
	if err != nil {
		t.Fatal(err)
	}
	complete(t, r, extra)
	byVote(t, raw)
	if text := r.Choices[0].Message.Content; !strings.HasSuffix(text, "answer = 42") || r.Choices[0].FinishReason != "stop" || r.Usage.PromptTokens == 0 || r.Usage.CompletionTokens == 0 {
		t.Errorf("the answer is %s, want 42", r.RawJSON())
	}
	streamed, err := chatStream(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "streamed", streamed.Choices[0].Message.Content, r.Choices[0].Message.Content)
	check(t, "streamed usage", streamed.Usage.TotalTokens > 0, true)

	p = chatAsk(wrongAtTimes, "Sort: [3, 1, 2]")
	p.ResponseFormat.OfJSONSchema = &openai.ResponseFormatJSONSchemaParam{JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{Name: "sorted", Strict: openai.Bool(true), Schema: sortedSchema}}
	check(t, "structured", voteChat(t, c, p).Choices[0].Message.Content, `{"answer": [1, 2, 3]}`)

	list, err := c.Models.List(t.Context())
	if err != nil || len(list.Data) == 0 || !strings.HasPrefix(list.Data[0].ID, "maker/") {
		t.Errorf("models %+v, %v, want one that is voted on", list, err)
	}
}

// extra is the field of the gateway's own.
const extra = "maker"

func voteChat(t *testing.T, c openai.Client, p openai.ChatCompletionNewParams) *openai.ChatCompletion {
	t.Helper()
	r, err := c.Chat.Completions.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	complete(t, r, extra)
	return r
}

// TestGatewayChatTools: two turns, of which the calls of the first are voted on.
func TestGatewayChatTools(t *testing.T) {
	c := voteFor(t).openai()
	for _, city := range []string{"Paris", "Rome", "Oslo", "Bern", "Lima"} {
		p := chatAsk(wrongAtTimes, "What is the weather in "+city+" and Berlin?")
		p.Tools = chatTools
		whole := voteChat(t, c, p)
		streamed, err := chatStream(t, c, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*openai.ChatCompletion{whole, streamed} {
			choice := r.Choices[0]
			check(t, city+": finish_reason", choice.FinishReason, "tool_calls")
			uses := choice.Message.ToolCalls
			if len(uses) != 2 || uses[0].ID == uses[1].ID {
				t.Fatalf("%s: tool calls %+v, want 2 with different ids", city, uses)
			}
			check(t, city+": first call", uses[0].Function.Arguments, strings.Replace(paris, "Paris", city, 1))
			check(t, city+": second call", uses[1].Function.Arguments, strings.Replace(berlin, "Paris", city, 1))
			final := p
			final.Messages = append(p.Messages[:len(p.Messages):len(p.Messages)], choice.Message.ToParam(),
				openai.ToolMessage("21 degrees", uses[0].ID), openai.ToolMessage("17 degrees", uses[1].ID))
			check(t, city+": final answer", voteChat(t, c, final).Choices[0].Message.Content, "21 here and 17 there.")
		}
	}
}

func responsesAsk(name, prompt string) responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: name, Instructions: openai.String("Be brief."), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(prompt)}}
}

func respond(t *testing.T, c openai.Client, p responses.ResponseNewParams) *responses.Response {
	t.Helper()
	r, err := c.Responses.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	complete(t, r, extra)
	return r
}

// respondStream asks for a stream and returns the answer at its end, whose text is that of the
// pieces.
func respondStream(t *testing.T, c openai.Client, p responses.ResponseNewParams) (*responses.Response, error) {
	t.Helper()
	stream := c.Responses.NewStreaming(t.Context(), p)
	defer stream.Close()
	var text, arguments strings.Builder
	var last *responses.Response
	for next := int64(0); stream.Next(); next++ {
		event := stream.Current()
		complete(t, event, extra)
		check(t, "sequence_number", event.SequenceNumber, next)
		switch e := event.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text.WriteString(e.Delta)
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			arguments.WriteString(e.Delta)
		case responses.ResponseCompletedEvent:
			last = &e.Response
		case responses.ResponseFailedEvent:
			return &e.Response, fmt.Errorf("%s: %s", e.Response.Error.Code, e.Response.Error.Message)
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if last == nil {
		t.Fatal("the stream ended without response.completed")
	}
	check(t, "pieces of text", text.String(), last.OutputText())
	var called strings.Builder
	for _, item := range last.Output {
		if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
			called.WriteString(call.Arguments)
		}
	}
	check(t, "pieces of arguments", arguments.String(), called.String())
	return last, nil
}

func TestGatewayResponses(t *testing.T) {
	c := voteFor(t).openai()
	whole := respond(t, c, responsesAsk(wrongAtTimes, "Compute: 20 + 22"))
	streamed, err := respondStream(t, c, responsesAsk(wrongAtTimes, "Compute: 20 + 22"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*responses.Response{whole, streamed} {
		if !strings.HasSuffix(r.OutputText(), "answer = 42") || r.Status != responses.ResponseStatusCompleted || r.Usage.InputTokens == 0 || r.Usage.OutputTokens == 0 {
			t.Errorf("the answer is %s, want 42", r.RawJSON())
		}
	}
	p := responsesAsk(wrongAtTimes, "Sort: [3, 1, 2]")
	p.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema("sorted", sortedSchema)
	check(t, "structured", respond(t, c, p).OutputText(), `{"answer": [1, 2, 3]}`)
}

func TestGatewayResponsesTools(t *testing.T) {
	c := voteFor(t).openai()
	p := responsesAsk(wrongAtTimes, "What is the weather in Paris and Berlin?")
	p.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}, false)}
	whole := respond(t, c, p)
	streamed, err := respondStream(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*responses.Response{whole, streamed} {
		items := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("What is the weather in Paris and Berlin?", "user")}
		var results responses.ResponseInputParam
		var arguments []string
		for _, item := range r.Output {
			if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
				arguments = append(arguments, call.Arguments)
				result := responses.ResponseInputItemParamOfFunctionCallOutput([]string{"21 degrees", "17 degrees"}[len(arguments)-1])
				result.OfFunctionCallOutput.CallID = param.NewOpt(call.CallID)
				items = append(items, responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name))
				results = append(results, result)
			}
		}
		check(t, "calls", arguments, []string{paris, berlin})
		final := p
		final.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: append(items, results...)}
		check(t, "final answer", respond(t, c, final).OutputText(), "21 here and 17 there.")
	}
}

// counted counts how often a client sends a request.
func counted(n *atomic.Int64) option.RequestOption {
	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		n.Add(1)
		return next(r)
	})
}

// TestGatewayChatErrors: what a client is told, and how often it asks. A vote that was not
// agreed on, and a budget that is used up, are not begun again.
func TestGatewayChatErrors(t *testing.T) {
	v := voteFor(t)
	var sent atomic.Int64
	c := v.openai(option.WithMaxRetries(1), counted(&sent))
	several := chatAsk(wrongAtTimes, "x")
	several.N = openai.Int(3)
	split := chatAsk(neverAgrees, "What is the weather?")
	split.Tools = chatTools
	for _, test := range []struct {
		params                     openai.ChatCompletionNewParams
		status                     int
		kind, code, param, message string
		sent                       int64
	}{
		{chatAsk("gpt-4o", "x"), 404, "invalid_request_error", "model_not_found", "model", "there is no model", 1},
		{several, 400, "invalid_request_error", "unsupported_value", "n", "n must be 1", 1},
		{split, 422, "not_agreed", "not_agreed", "", "the voters do not agree", 1},
		{chatAsk(wrongAtTimes+"&max_calls=2", "Compute: 1 + 1"), 429, "insufficient_quota", "insufficient_quota", "", "max_calls", 1},
		{chatAsk(broken, "x"), 502, "server_error", "", "", "500", 2},
	} {
		sent.Store(0)
		_, err := c.Chat.Completions.New(t.Context(), test.params)
		e, ok := errors.AsType[*openai.Error](err)
		if !ok {
			t.Errorf("%s: %v, want the client's own error", test.params.Model, err)
			continue
		}
		if e.StatusCode != test.status || e.Type != test.kind || e.Code != test.code || e.Param != test.param || !strings.Contains(e.Message, test.message) {
			t.Errorf("%s: %d %s, want %+v", test.params.Model, e.StatusCode, e.RawJSON(), test)
		}
		if sent.Load() != test.sent {
			t.Errorf("%s: sent %d times, want %d", test.params.Model, sent.Load(), test.sent)
		}
	}
	// A stream has begun when the vote ends, and says so in the middle.
	if r, err := chatStream(t, c, split); err == nil || !strings.Contains(err.Error(), "the voters do not agree") {
		t.Errorf("a stream that is not agreed on: %+v, %v, want an error", r, err)
	}
	if r, err := respondStream(t, c, responsesAsk(neverAgrees+"&undecided=error", "x")); err == nil || !strings.Contains(err.Error(), "the voters do not agree") {
		t.Errorf("a stream of a response that is not agreed on: %+v, %v, want an error", r, err)
	}
	stranger := v.openai(option.WithAPIKey("maker_nobody"))
	_, err := stranger.Chat.Completions.New(t.Context(), chatAsk(wrongAtTimes, "x"))
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != 401 || e.Code != "invalid_api_key" {
		t.Errorf("with another key: %v, want a 401", err)
	}
}

// TestGatewayChatCancelled: a client that gives up ends the calls of its vote.
func TestGatewayChatCancelled(t *testing.T) {
	v := voteFor(t)
	c := v.openai()
	for _, ask := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := c.Chat.Completions.New(ctx, chatAsk(silent, "Compute: 1 + 1"))
			return err
		},
		func(ctx context.Context) error {
			stream := c.Chat.Completions.NewStreaming(ctx, chatAsk(silent, "Compute: 1 + 2"))
			defer stream.Close()
			for stream.Next() {
			}
			return stream.Err()
		},
	} {
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- ask(ctx) }()
		for range 3 { // the votes that it takes
			<-v.waiting
		}
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the client got %v, want that it was cancelled", err)
		}
		for range 3 {
			<-v.gone
		}
	}
}

// TestGatewayReads: the vote is told in a field that clients can read who know it.
func TestGatewayReads(t *testing.T) {
	r := voteChat(t, voteFor(t).openai(), chatAsk(wrongAtTimes, "Compute: 20 + 22"))
	var told struct {
		DecidedBy string `json:"decided_by"`
		Margin    int
		Run       string
	}
	if err := json.Unmarshal([]byte(r.JSON.ExtraFields[extra].Raw()), &told); err != nil || told.DecidedBy != "vote" || told.Margin != 4 || told.Run == "" {
		t.Errorf("the field is %+v, %v, want a vote with a margin of 4", told, err)
	}
}
