package anthropic

import (
	"encoding/json"

	"github.com/maker-mdap/maker/internal/httpclient"
)

// plainResponse is an answer of the usual form. Reading it takes a third of the
// time of [messagesResponse], whose fields bear with every form that servers are
// known to send.
type plainResponse struct {
	Type    string `json:"type"`
	Model   string `json:"model"`
	Content []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content"`
	StopReason  string          `json:"stop_reason"`
	StopDetails json.RawMessage `json:"stop_details"`
	Usage       struct {
		InputTokens  uint32 `json:"input_tokens"`
		CacheRead    uint32 `json:"cache_read_input_tokens"`
		CacheWrite   uint32 `json:"cache_creation_input_tokens"`
		OutputTokens uint32 `json:"output_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// unmarshal reads an answer, in its usual form if it has that.
func (r *messagesResponse) unmarshal(body []byte) error {
	var p plainResponse
	if json.Unmarshal(body, &p) != nil || p.Error != nil {
		return json.Unmarshal(body, r)
	}
	*r = messagesResponse{
		Type: p.Type, Model: httpclient.Text(p.Model), StopReason: p.StopReason, StopDetails: p.StopDetails,
		Usage: messagesUsage{
			InputTokens:  httpclient.Count(p.Usage.InputTokens),
			CacheRead:    httpclient.Count(p.Usage.CacheRead),
			CacheWrite:   httpclient.Count(p.Usage.CacheWrite),
			OutputTokens: httpclient.Count(p.Usage.OutputTokens),
		},
	}
	if p.Content != nil {
		r.Content = make(blocks, len(p.Content))
	}
	for i, b := range p.Content {
		r.Content[i] = givenBlock{b.Type, httpclient.Text(b.Text), httpclient.Text(b.ID), httpclient.Text(b.Name), b.Input}
	}
	return nil
}
