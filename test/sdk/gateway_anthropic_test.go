package sdk

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropic is the vendor's client of the gateway.
func (v *voted) anthropic(more ...option.RequestOption) anthropic.Client {
	return messagesClient(v.url, append([]option.RequestOption{option.WithAPIKey(v.token)}, more...)...)
}

func voteMessages(t *testing.T, c anthropic.Client, p anthropic.MessageNewParams) *anthropic.Message {
	t.Helper()
	var raw *http.Response
	r, err := c.Messages.New(t.Context(), p, option.WithResponseInto(&raw))
	if err != nil {
		t.Fatal(err)
	}
	complete(t, r, extra)
	byVote(t, raw)
	return r
}

func TestGatewayMessages(t *testing.T) {
	v := voteFor(t)
	c := v.anthropic()
	p := messagesAsk(wrongAtTimes, "Compute: 20 + 22")
	whole := voteMessages(t, c, p)
	streamed, err := messagesStream(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*anthropic.Message{whole, streamed} {
		if !strings.HasSuffix(written(r), "answer = 42") || r.StopReason != anthropic.StopReasonEndTurn || r.Usage.InputTokens == 0 || r.Usage.OutputTokens == 0 {
			t.Errorf("the answer is %s, want 42", r.RawJSON())
		}
	}
	structured := messagesAsk(wrongAtTimes, "Sort: [3, 1, 2]")
	structured.OutputConfig.Format.Schema = sortedSchema
	check(t, "structured", written(voteMessages(t, c, structured)), `{"answer": [1, 2, 3]}`)

	// A bearer token is as good as a key, and so is the address of the betas.
	bearer := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(v.url), option.WithAuthToken(v.token))
	beta, err := bearer.Beta.Messages.New(t.Context(), anthropic.BetaMessageNewParams{
		Model: wrongAtTimes, MaxTokens: 500,
		Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Compute: 20 + 22"))},
	})
	if err != nil || !strings.HasSuffix(beta.Content[0].Text, "answer = 42") {
		t.Errorf("beta: %+v, %v, want 42", beta, err)
	}
	short, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: wrongAtTimes, Messages: p.Messages})
	if err != nil {
		t.Fatal(err)
	}
	long, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: wrongAtTimes, Messages: messagesAsk("any", strings.Repeat("Compute: 20 + 22. ", 100)).Messages})
	if err != nil || short.InputTokens < 1 || long.InputTokens < 50*short.InputTokens/2 {
		t.Errorf("count of tokens: %d, %d, %v, want many more of the longer one", short.InputTokens, long.InputTokens, err)
	}
	list, err := c.Models.List(t.Context(), anthropic.ModelListParams{})
	if err != nil || len(list.Data) == 0 || !strings.HasPrefix(list.Data[0].ID, "maker/") {
		t.Errorf("models %+v, %v, want one that is voted on", list, err)
	}
}

// TestGatewayMessagesTools: two turns, of which the calls of the first are voted on.
func TestGatewayMessagesTools(t *testing.T) {
	c := voteFor(t).anthropic()
	for _, city := range []string{"Paris", "Rome", "Oslo", "Bern", "Lima"} {
		p := messagesAsk(wrongAtTimes, "What is the weather in "+city+" and Berlin?")
		p.Tools = messagesTools
		whole := voteMessages(t, c, p)
		streamed, err := messagesStream(t, c, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*anthropic.Message{whole, streamed} {
			check(t, city+": stop_reason", r.StopReason, anthropic.StopReasonToolUse)
			uses := calls(r)
			if len(uses) != 2 || uses[0].ID == uses[1].ID {
				t.Fatalf("%s: tool calls %+v, want 2 with different ids", city, uses)
			}
			check(t, city+": first call", string(uses[0].Input), strings.Replace(paris, "Paris", city, 1))
			check(t, city+": second call", string(uses[1].Input), strings.Replace(berlin, "Paris", city, 1))
			final := p
			final.Messages = append(p.Messages[:len(p.Messages):len(p.Messages)], r.ToParam(),
				anthropic.NewUserMessage(anthropic.NewToolResultBlock(uses[0].ID, "21 degrees", false), anthropic.NewToolResultBlock(uses[1].ID, "17 degrees", false)))
			check(t, city+": final answer", written(voteMessages(t, c, final)), "21 here and 17 there.")
		}
	}
}

// TestGatewayMessagesErrors: what a client is told, and how often it asks.
func TestGatewayMessagesErrors(t *testing.T) {
	v := voteFor(t)
	var sent atomic.Int64
	c := v.anthropic(option.WithMaxRetries(1), option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		sent.Add(1)
		return next(r)
	}))
	split := messagesAsk(neverAgrees, "What is the weather?")
	split.Tools = messagesTools
	for _, test := range []struct {
		params  anthropic.MessageNewParams
		status  int
		kind    anthropic.ErrorType
		message string
		sent    int64
	}{
		{messagesAsk("claude-sonnet-4-5", "x"), 404, anthropic.ErrorTypeNotFoundError, "there is no model", 1},
		{split, 422, "not_agreed", "the voters do not agree", 1},
		{messagesAsk(wrongAtTimes+"&max_calls=2", "Compute: 1 + 1"), 402, anthropic.ErrorTypeBillingError, "max_calls", 1},
		{messagesAsk(broken, "x"), 502, anthropic.ErrorTypeAPIError, "500", 2},
	} {
		sent.Store(0)
		_, err := c.Messages.New(t.Context(), test.params)
		e, ok := errors.AsType[*anthropic.Error](err)
		if !ok {
			t.Errorf("%s: %v, want the client's own error", test.params.Model, err)
			continue
		}
		if e.StatusCode != test.status || e.Type() != test.kind || !strings.Contains(e.RawJSON(), test.message) {
			t.Errorf("%s: %d %s %s, want %+v", test.params.Model, e.StatusCode, e.Type(), e.RawJSON(), test)
		}
		if sent.Load() != test.sent {
			t.Errorf("%s: sent %d times, want %d", test.params.Model, sent.Load(), test.sent)
		}
	}
	// A stream has begun when the vote ends, and says so in the middle.
	if r, err := messagesStream(t, c, split); err == nil || !strings.Contains(err.Error(), "the voters do not agree") {
		t.Errorf("a stream that is not agreed on: %+v, %v, want an error", r, err)
	}
	stranger := v.anthropic(option.WithAPIKey("maker_nobody"))
	_, err := stranger.Messages.New(t.Context(), messagesAsk(wrongAtTimes, "x"))
	if e, ok := errors.AsType[*anthropic.Error](err); !ok || e.StatusCode != 401 || e.Type() != anthropic.ErrorTypeAuthenticationError {
		t.Errorf("with another key: %v, want a 401", err)
	}
}

// TestGatewayMessagesCancelled: a client that gives up ends the calls of its vote.
func TestGatewayMessagesCancelled(t *testing.T) {
	v := voteFor(t)
	c := v.anthropic()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan error)
	go func() {
		stream := c.Messages.NewStreaming(ctx, messagesAsk(silent, "Compute: 1 + 1"))
		defer stream.Close()
		for stream.Next() {
		}
		ended <- stream.Err()
	}()
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
