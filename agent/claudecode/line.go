package claudecode

import (
	"encoding/json"
	"strconv"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// readyLine says what the program is set up with.
type readyLine struct {
	Tools   []string `json:"tools"`
	Version string   `json:"claude_code_version"`
}

// retryLine tells of a request that failed and will be tried again.
type retryLine struct {
	Status int             `json:"error_status"` // 0 if there was none
	Error  httpclient.Text `json:"error"`
}

// statusLine says what the program is doing.
type statusLine struct {
	Status string `json:"status"`
}

// withdrawnLine takes a request back.
type withdrawnLine struct {
	ID string `json:"request_id"`
}

// requestLine asks us for something.
type requestLine struct {
	ID      string `json:"request_id"`
	Request struct {
		Subtype string `json:"subtype"`

		// can_use_tool
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
		Call  string          `json:"tool_use_id"`

		// mcp_message
		Server  string          `json:"server_name"`
		Message json.RawMessage `json:"message"`
	} `json:"request"`
}

// replyLine answers what we asked for.
type replyLine struct {
	Response struct {
		ID      string          `json:"request_id"`
		Subtype string          `json:"subtype"`
		Error   httpclient.Text `json:"error"`
	} `json:"response"`
}

// streamLine is an event of a message that is being written.
type streamLine struct {
	Event streamEvent `json:"event"`
}

type streamEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string     `json:"model"`
		Usage tokenUsage `json:"usage"`
	} `json:"message"`
	Block contentBlock `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		JSON       string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage tokenUsage `json:"usage"`
}

type contentBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// messageLine is a part of a message of the model, or what the program says in
// its place.
type messageLine struct {
	Message struct {
		Model   string         `json:"model"`
		Content []contentBlock `json:"content"`
	} `json:"message"`
	Error httpclient.Text `json:"error"` // why it is the program that speaks
}

// synthetic is the model of messages that no model wrote.
const synthetic = "<synthetic>"

// resultLine is the last one.
type resultLine struct {
	Subtype    string                `json:"subtype"`
	IsError    bool                  `json:"is_error"`
	Result     string                `json:"result"`
	Errors     []string              `json:"errors"`
	Status     int                   `json:"api_error_status"` // 0 if there was none
	StopReason string                `json:"stop_reason"`
	Terminal   string                `json:"terminal_reason"`
	CostUSD    *float64              `json:"total_cost_usd"`
	Models     map[string]modelUsage `json:"modelUsage"`
}

// modelUsage is what was used of one model.
type modelUsage struct {
	Input      httpclient.Count `json:"inputTokens"`
	Output     httpclient.Count `json:"outputTokens"`
	CacheRead  httpclient.Count `json:"cacheReadInputTokens"`
	CacheWrite httpclient.Count `json:"cacheCreationInputTokens"`
	Basis      string           `json:"costBasis"` // "unknown" if its price is
}

func (u *modelUsage) tokens() usage.Tokens {
	return usage.Tokens{Input: int64(u.Input), CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite), Output: int64(u.Output)}
}

// tokenUsage is how the provider counts.
type tokenUsage struct {
	Input      httpclient.Count `json:"input_tokens"`
	Output     httpclient.Count `json:"output_tokens"`
	CacheRead  httpclient.Count `json:"cache_read_input_tokens"`
	CacheWrite httpclient.Count `json:"cache_creation_input_tokens"`
}

// over returns t with the counts that u has in place of its own.
func (u *tokenUsage) over(t usage.Tokens) usage.Tokens {
	for _, c := range []struct {
		to   *int64
		from httpclient.Count
	}{{&t.Input, u.Input}, {&t.Output, u.Output}, {&t.CacheRead, u.CacheRead}, {&t.CacheWrite, u.CacheWrite}} {
		if c.from > 0 {
			*c.to = int64(c.from)
		}
	}
	return t
}

// read reads a line and passes it on. One that looks otherwise than it should is an
// error.
func read[T any](data []byte, use func(*T) *model.Error) *model.Error {
	l := new(T)
	if err := json.Unmarshal(data, l); err != nil {
		return broken("it printed a line that cannot be read: %s is not as it should be: %v", excerpt(data), err)
	}
	return use(l)
}

// excerpt is the beginning of what the program printed.
func excerpt(data []byte) string {
	const most = 120
	return strconv.Quote(clip.Text(string(data[:min(len(data), 4*most)]), most))
}
