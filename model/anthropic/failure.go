package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
)

// An apiError is the error object of the protocol.
type apiError struct {
	Type    httpclient.Text `json:"type"`
	Message httpclient.Text `json:"message"`
}

// UnmarshalJSON also takes a bare string, which gateways send instead.
func (e *apiError) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &e.Message)
	}
	type plain apiError
	return json.Unmarshal(data, (*plain)(e))
}

// errorTypes are the errors that the protocol defines, with the statuses that
// belong to them.
var errorTypes = map[httpclient.Text]struct {
	kind   model.Kind
	status int
}{
	"invalid_request_error": {model.Invalid, 400},
	"authentication_error":  {model.Auth, 401},
	"billing_error":         {model.Invalid, 402}, // waiting does not fill an account
	"permission_error":      {model.Auth, 403},
	"not_found_error":       {model.Invalid, 404},
	"conflict_error":        {model.Transient, 409},
	"request_too_large":     {model.TooLong, 413},
	"rate_limit_error":      {model.RateLimited, 429},
	"api_error":             {model.Transient, 500},
	"timeout_error":         {model.Transient, 504},
	"overloaded_error":      {model.Overloaded, 529},
}

// failure turns an answer that is an error into one.
func (c *Client) failure(a *httpclient.Reply) (*apiError, error) {
	var body struct {
		Error     apiError        `json:"error"`
		Message   httpclient.Text `json:"message"` // of a gateway in front
		RequestID httpclient.Text `json:"request_id"`
	}
	// A body of another kind leaves the fields empty.
	_ = json.Unmarshal(a.Body, &body)
	trouble := &body.Error
	trouble.Message = cmp.Or(trouble.Message, body.Message,
		httpclient.Text(c.http.Excerpt(a.Body)), httpclient.Text(http.StatusText(a.Status)))
	if to := a.Header.Get("Location"); to != "" && a.Status >= 300 && a.Status < 400 {
		trouble.Message = httpclient.Text("the server redirects to " + to + "; is that the right base URL?")
	}
	e := c.classify(a.Status, trouble)
	id := cmp.Or(string(body.RequestID), httpclient.RequestID(a.Header))
	e.Message = httpclient.WithRequestID(e.Message, c.http.Redact(id))
	const unknown = httpclient.UnknownCost
	a.AskedToWait(e, allowances(a, unknown, unknown, unknown)...)
	return trouble, e
}

// allowances are the limits that the server tells, for a call that takes so many tokens:
// what is read from a cache is free of them.
func allowances(a *httpclient.Reply, all, input, output float64) []httpclient.Allowance {
	named := func(what string, cost float64) httpclient.Allowance {
		name := "Anthropic-Ratelimit-" + what
		return a.Allowance(name+"-Limit", name+"-Remaining", name+"-Reset", cost)
	}
	return []httpclient.Allowance{
		named("Requests", 1), named("Tokens", all), named("Input-Tokens", input), named("Output-Tokens", output),
	}
}

// classify goes by the type of an error if it is one that the protocol defines,
// and else by the status.
func (c *Client) classify(status int, e *apiError) *model.Error {
	message := string(e.Message)
	known, ok := errorTypes[e.Type]
	if status < 300 {
		status = http.StatusBadGateway // an error that calls itself a success
		if ok {
			status = known.status
		}
	}
	kind := httpclient.KindOf(status)
	if ok {
		kind = known.kind
	}
	// The type of last resort is used with all kinds of statuses.
	if e.Type == "invalid_request_error" && status != http.StatusBadRequest {
		kind = httpclient.KindOf(status)
	}
	switch {
	case kind == model.Invalid && httpclient.TooLong(message):
		kind = model.TooLong
	case status == http.StatusNotFound:
		message = fmt.Sprintf("model %q at %s: %s", c.model, c.http.Place, message)
	}
	return c.http.Error(kind, status, message)
}
