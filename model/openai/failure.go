package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
)

// An apiError is the error object of the protocol. Servers disagree about the
// types of its fields.
type apiError struct {
	apiFields
	Metadata metadata `json:"metadata"`
}

type apiFields struct {
	Message httpclient.Text `json:"message"`
	Type    httpclient.Text `json:"type"`
	Param   httpclient.Text `json:"param"`
	Code    httpclient.Text `json:"code"`
}

// metadata is what OpenRouter passes on from the provider behind it.
type metadata struct {
	Raw      httpclient.Text `json:"raw"`
	Provider httpclient.Text `json:"provider_name"`
	Reasons  json.RawMessage `json:"reasons"` // why a moderator flagged the input
}

// UnmarshalJSON passes over metadata of another kind.
func (m *metadata) UnmarshalJSON(data []byte) error {
	type plain metadata
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*m = metadata(p)
	}
	return nil
}

// UnmarshalJSON also takes a bare string, which some servers send instead.
func (e *apiError) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &e.Message)
	}
	type plain apiError
	return json.Unmarshal(data, (*plain)(e))
}

// text is all that the server says.
func (e *apiError) text() string {
	text := string(e.Message)
	if raw := string(e.Metadata.Raw); raw != "" {
		text += " (" + strings.TrimSpace(string(e.Metadata.Provider)+" says: "+raw) + ")"
	}
	return text
}

// failure turns an answer with an error status into an error.
func (c *Client) failure(a *httpclient.Reply) (*apiError, error) {
	trouble := c.trouble(a)
	if to := a.Header.Get("Location"); to != "" && a.Status < 400 {
		trouble.Message = httpclient.Text("the server redirects to " + to + "; is that the right base URL?")
	}
	e := c.classify(a.Status, trouble)
	e.Message = httpclient.WithRequestID(e.Message, c.http.Redact(httpclient.RequestID(a.Header)))
	a.AskedToWait(e, allowances(a, httpclient.UnknownCost)...)
	return trouble, e
}

// allowances are the limits that a server tells. A call takes as many tokens as it may
// write, or was found to take, whichever is more.
func allowances(a *httpclient.Reply, tokens float64) []httpclient.Allowance {
	const limit, left, reset = "X-Ratelimit-Limit-", "X-Ratelimit-Remaining-", "X-Ratelimit-Reset-"
	return []httpclient.Allowance{
		a.Allowance(limit+"Requests", left+"Requests", reset+"Requests", 1),
		a.Allowance(limit+"Tokens", left+"Tokens", reset+"Tokens", tokens),
	}
}

// trouble finds the error object in the body of an answer. It is where the
// protocol has it, or the body itself, or what FastAPI calls a detail.
func (c *Client) trouble(a *httpclient.Reply) *apiError {
	var body struct {
		Error apiError `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) == nil && body.Error.Message != "" {
		return &body.Error
	}
	var flat struct {
		apiFields
		Detail httpclient.Text `json:"detail"`
	}
	// A body of another kind leaves the fields empty.
	_ = json.Unmarshal(a.Body, &flat)
	e := &apiError{apiFields: flat.apiFields}
	e.Message = cmp.Or(e.Message, flat.Detail, httpclient.Text(c.http.Excerpt(a.Body)), httpclient.Text(http.StatusText(a.Status)))
	return e
}

// hidden sorts an error that came with status 200. Its code, if it is a number,
// is the true status.
func (c *Client) hidden(e *apiError) error {
	status, err := strconv.Atoi(string(e.Code))
	if err != nil || status < 400 || status > 599 {
		status = http.StatusBadGateway
	}
	return c.classify(status, e)
}

// classify finds the kind of an error in its words first, because the status is
// too coarse: an empty account is a 429 like a call too many.
func (c *Client) classify(status int, e *apiError) *model.Error {
	kind, message := httpclient.KindOf(status), e.text()
	words := strings.ToLower(string(e.Code) + " " + string(e.Type) + " " + message)
	switch {
	case strings.Contains(words, "insufficient_quota"):
		kind = model.Invalid // waiting does not fill an account
	case status >= 500:
	case kind == model.Auth && len(e.Metadata.Reasons) > 0,
		strings.Contains(words, "content_filter"), strings.Contains(words, "content_policy_violation"):
		kind = model.Refused
	case kind == model.Auth:
	case httpclient.TooLong(words):
		kind = model.TooLong
	case status == http.StatusNotFound:
		message = fmt.Sprintf("model %q at %s: %s", c.model, c.http.Place, message)
	}
	return c.http.Error(kind, status, message)
}
