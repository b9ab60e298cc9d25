package openai

import (
	"encoding/json"

	"github.com/maker-mdap/maker/internal/httpclient"
)

// plainResponse is an answer of the usual form. Reading it takes a third of the
// time of [chatResponse], whose fields bear with every form that servers are
// known to send.
type plainResponse struct {
	Model   string `json:"model"`
	Choices []struct {
		Message struct {
			Content   string          `json:"content"`
			Refusal   string          `json:"refusal"`
			ToolCalls json.RawMessage `json:"tool_calls"`
		} `json:"message"`
		FinishReason string          `json:"finish_reason"`
		Error        json.RawMessage `json:"error"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     uint32 `json:"prompt_tokens"`
		CompletionTokens uint32 `json:"completion_tokens"`
		TotalTokens      uint32 `json:"total_tokens"`
		PromptDetails    struct {
			CachedTokens     uint32 `json:"cached_tokens"`
			CacheWriteTokens uint32 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			ReasoningTokens uint32 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
		CacheHitTokens uint32          `json:"prompt_cache_hit_tokens"`
		CachedTokens   uint32          `json:"cached_tokens"`
		Cost           json.RawMessage `json:"cost"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// unmarshal reads an answer, in its usual form if it has that.
func (r *chatResponse) unmarshal(body []byte) error {
	var p plainResponse
	if json.Unmarshal(body, &p) != nil || !r.take(&p) {
		return json.Unmarshal(body, r)
	}
	return nil
}

// take copies an answer of the usual form, and reports whether it is one.
func (r *chatResponse) take(p *plainResponse) bool {
	if p.Error != nil {
		return false
	}
	choices := make([]chatChoice, len(p.Choices))
	for i, c := range p.Choices {
		if c.Error != nil || c.Message.ToolCalls != nil {
			return false
		}
		choices[i].FinishReason = c.FinishReason
		choices[i].Message.Content.text = c.Message.Content
		choices[i].Message.Refusal = c.Message.Refusal
	}
	u := chatUsage{
		PromptTokens:     httpclient.Count(p.Usage.PromptTokens),
		CompletionTokens: httpclient.Count(p.Usage.CompletionTokens),
		TotalTokens:      httpclient.Count(p.Usage.TotalTokens),
		CacheHitTokens:   httpclient.Count(p.Usage.CacheHitTokens),
		CachedTokens:     httpclient.Count(p.Usage.CachedTokens),
		Cost:             p.Usage.Cost,
	}
	u.PromptDetails.CachedTokens = httpclient.Count(p.Usage.PromptDetails.CachedTokens)
	u.PromptDetails.CacheWriteTokens = httpclient.Count(p.Usage.PromptDetails.CacheWriteTokens)
	u.CompletionDetails.ReasoningTokens = httpclient.Count(p.Usage.CompletionDetails.ReasoningTokens)
	*r = chatResponse{Model: httpclient.Text(p.Model), Choices: choices, Usage: u}
	return true
}
