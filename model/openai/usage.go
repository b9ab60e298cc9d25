package openai

import (
	"encoding/json"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

type chatUsage struct {
	PromptTokens     httpclient.Count `json:"prompt_tokens"`
	CompletionTokens httpclient.Count `json:"completion_tokens"`
	TotalTokens      httpclient.Count `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens     httpclient.Count `json:"cached_tokens"`
		CacheWriteTokens httpclient.Count `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens httpclient.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	// CacheHitTokens is where DeepSeek counts cached tokens, CachedTokens where
	// Moonshot does.
	CacheHitTokens httpclient.Count `json:"prompt_cache_hit_tokens"`
	CachedTokens   httpclient.Count `json:"cached_tokens"`

	// Cost in dollars is what OpenRouter adds.
	Cost json.RawMessage `json:"cost"`
}

// tokens makes the counts disjoint: cached tokens come inside the prompt's, and
// reasoning tokens inside the completion's.
func (u *chatUsage) tokens() usage.Tokens {
	prompt, completion := int64(u.PromptTokens), int64(u.CompletionTokens)
	if least := min(u.PromptTokens, u.CompletionTokens, u.PromptDetails.CachedTokens, u.CacheHitTokens, u.CachedTokens,
		u.PromptDetails.CacheWriteTokens, u.CompletionDetails.ReasoningTokens); least < 0 {
		return usage.Tokens{Input: int64(least)} // which the check of the answer finds
	}
	cached := min(int64(max(u.PromptDetails.CachedTokens, u.CacheHitTokens, u.CachedTokens)), prompt)
	written := min(int64(u.PromptDetails.CacheWriteTokens), prompt-cached)
	t := usage.Tokens{Input: prompt - cached - written, CacheRead: cached, CacheWrite: written}

	reasoning := int64(u.CompletionDetails.ReasoningTokens)
	// xAI and Gemini count hidden thinking beside the completion, and only the
	// total, or not even the details, gives it away. It is billed as output.
	beside := int64(u.TotalTokens) - prompt - completion
	if beside > 0 && (beside == reasoning || reasoning == 0 && cached+written == 0) {
		t.Output, t.Reasoning = completion, beside
		return t
	}
	t.Reasoning = min(reasoning, completion)
	t.Output = completion - t.Reasoning
	return t
}

// UnmarshalJSON passes over usage in a shape that nobody knows: the answer counts.
func (u *chatUsage) UnmarshalJSON(data []byte) error {
	type plain chatUsage
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*u = chatUsage(p)
	}
	return nil
}

// spread gives each answer its part of what was written, by its size, and the
// first one what was read and the cost. The sum is what was counted, unless that cannot
// be all.
func (u *chatUsage) spread(list []*model.Response, sizes []int) {
	all := u.tokens()
	if all.Reasoning == 0 && len(u.Cost) == 0 {
		all.Output = plausible(all.Output, sizes)
	}
	outputs, reasonings := parts(all.Output, sizes), parts(all.Reasoning, sizes)
	for i, r := range list {
		if i == 0 {
			r.Usage, r.CostUSD = all, httpclient.Cost(u.Cost)
		} else if list[0].CostUSD != nil {
			r.CostUSD = new(float64)
		}
		r.Usage.Output, r.Usage.Reasoning = outputs[i], reasonings[i]
	}
}

// bytesPerToken is more than tokens of a text have on average: four is common.
const bytesPerToken = 6

// plausible is how many tokens several answers have that are said to have so many in all.
// Some servers, llama.cpp's among them, count one answer only: then the count is too low
// for all of them, and each is taken to have as many. In doubt the larger number counts.
func plausible(counted int64, sizes []int) int64 {
	written, bytes := int64(0), int64(0)
	for _, size := range sizes {
		bytes += int64(size)
		if size > 0 {
			written++
		}
	}
	if counted <= 0 || written < 2 || counted >= written && bytes <= bytesPerToken*counted {
		return counted
	}
	return max(counted*written, bytes/bytesPerToken)
}

// parts divides a total in proportion to the sizes. What rounding leaves over
// goes to the first.
func parts(total int64, sizes []int) []int64 {
	sum := 0.0
	for _, s := range sizes {
		sum += float64(s + 1)
	}
	out := make([]int64, len(sizes))
	rest := total
	for i := len(sizes) - 1; i > 0; i-- {
		out[i] = int64(float64(total) * float64(sizes[i]+1) / sum)
		rest -= out[i]
	}
	out[0] = rest
	return out
}
