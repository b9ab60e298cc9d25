package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

type chatResponse struct {
	Model   string `json:"model"`
	Choices []struct {
		Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage chatUsage `json:"usage"`

	// Error is how some gateways report a failure under status 200.
	Error *apiError `json:"error"`
}

type chatUsage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	PromptDetails    struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	// Cost in dollars is what OpenRouter adds.
	Cost *float64 `json:"cost"`
}

// tokens makes the counts disjoint: cached tokens come inside the prompt's, and
// reasoning tokens inside the completion's.
func (u *chatUsage) tokens() usage.Tokens {
	cached := clamp(u.PromptDetails.CachedTokens, u.PromptTokens)
	reasoning := clamp(u.CompletionDetails.ReasoningTokens, u.CompletionTokens)
	return usage.Tokens{
		Input:     max(u.PromptTokens, 0) - cached,
		CacheRead: cached,
		Output:    max(u.CompletionTokens, 0) - reasoning,
		Reasoning: reasoning,
	}
}

// clamp limits a part to its whole.
func clamp(part, whole int64) int64 { return max(min(part, whole), 0) }

func (c *Client) decode(a *httpclient.Answer) (*model.Response, error) {
	var r chatResponse
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return nil, c.http.Error(model.Transient, a.Status, fmt.Sprintf("the answer is not what the protocol says (%v): %s", err, httpclient.Excerpt(a.Body)))
	}
	if r.Error != nil {
		return nil, c.hidden(r.Error)
	}
	if len(r.Choices) == 0 {
		return nil, c.http.Error(model.Transient, a.Status, "the answer has no choices: "+httpclient.Excerpt(a.Body))
	}
	choice := &r.Choices[0]
	out := &model.Response{
		Text:    choice.Message.Content,
		Usage:   r.Usage.tokens(),
		CostUSD: r.Usage.Cost,
		Model:   r.Model,
	}
	switch choice.FinishReason {
	case "stop":
		out.Stop = model.StopEnd
	case "length":
		out.Stop = model.StopLength
	case "content_filter":
		out.Stop = model.StopRefusal
	case "error":
		return nil, c.http.Error(model.Transient, a.Status, "the model broke off with an error")
	}
	if choice.Message.Refusal != "" {
		out.Stop = model.StopRefusal
		if out.Text == "" {
			out.Text = choice.Message.Refusal
		}
	}
	return out, nil
}

// An apiError is the error object of the protocol. Servers disagree whether the
// code is a word or a number.
type apiError struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
}

// UnmarshalJSON also takes a bare string, which some servers send instead.
func (e *apiError) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &e.Message)
	}
	type plain apiError
	return json.Unmarshal(data, (*plain)(e))
}

func (e *apiError) code() string { return strings.Trim(string(e.Code), `"`) }

// hidden sorts an error that came with status 200. Its code, if it is a number,
// is the true status.
func (c *Client) hidden(e *apiError) error {
	status, err := strconv.Atoi(e.code())
	if err != nil || status < 400 || status > 599 {
		status = http.StatusBadGateway
	}
	return c.classify(status, e)
}

// classify finds the kind of an error in its code first, because the status is
// too coarse: an empty account is a 429 like a call too many.
func (c *Client) classify(status int, e *apiError) *model.Error {
	kind, message := httpclient.KindOf(status), e.Message
	words := strings.ToLower(e.code() + " " + e.Type + " " + e.Message)
	switch {
	case strings.Contains(words, "insufficient_quota"):
		kind = model.Invalid // waiting does not fill an account
	case status >= 500:
	case strings.Contains(words, "context_length_exceeded"), strings.Contains(words, "maximum context length"):
		kind = model.TooLong
	case strings.Contains(words, "content_filter"), strings.Contains(words, "content_policy_violation"):
		kind = model.Refused
	case status == http.StatusNotFound:
		message = fmt.Sprintf("model %q at %s: %s", c.model, c.place, message)
	}
	return c.http.Error(kind, status, message)
}
