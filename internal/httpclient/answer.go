package httpclient

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// RequestID is the provider's name for a call, which its support asks for.
func RequestID(h http.Header) string {
	if id := h.Get("Request-Id"); id != "" {
		return id
	}
	return h.Get("X-Request-Id")
}

// WithRequestID appends the name of the call to a message, if there is one.
func WithRequestID(message, id string) string {
	if id == "" {
		return message
	}
	return message + " (request " + clip.Text(id, 100) + ")"
}

// TooLong reports whether an error text says that the request does not fit into
// the context of the model. The status alone does not say it.
func TooLong(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{
		"context_length_exceeded", "maximum context length", "context length", "context window",
		"context limit", "context size", "prompt is too long", "input is too long", "request too large",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// A Count is a number of tokens. An answer is paid for and worth reading even if
// its accounting is odd, so whatever is no number counts as 0, which means not
// known. So does -1, by which some servers say just that. A number that cannot be a
// count stays one that cannot be: see [model.CheckUsage].
type Count int64

// maxCount is far above any real count, and sums of it stay exact.
const maxCount = 1 << 40

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Count) UnmarshalJSON(data []byte) error {
	n, ok := number(data)
	if !ok || n == -1 {
		n = 0
	}
	*c = Count(min(max(n, -maxCount), maxCount))
	return nil
}

// number reads a number, which may be too large for any: then it is infinite.
func number(data []byte) (float64, bool) {
	n, err := strconv.ParseFloat(string(data), 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

// Cost reads a sum of money that a provider names, whatever it is. It is nil if there
// is no number.
func Cost(data json.RawMessage) *float64 {
	n, ok := number(data)
	if !ok {
		return nil
	}
	return &n
}

// Text is a string where servers send one most of the time. Anything else is
// kept as JSON.
type Text string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Text) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case 'n':
		*t = ""
		return nil
	case '"':
		return json.Unmarshal(data, (*string)(t))
	}
	*t = Text(data)
	return nil
}

// ToolInput turns the arguments of a tool call, written by a model, into JSON. No
// arguments are an empty object; what is not JSON is kept as a JSON string.
func ToolInput(arguments string) json.RawMessage {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	quoted, err := json.Marshal(arguments)
	if err != nil {
		return json.RawMessage("{}") // a string can always be encoded
	}
	return quoted
}
