// Package anthropic asks Claude models through Anthropic's Messages API.
//
// It is a thin client: one call is one HTTP request without streaming, and it
// neither retries nor counts. What it adds is a sober reading of what comes back:
// every error gets a kind, and every answer a stop reason and its token counts.
//
// Models differ in the parameters that they take. A request that is refused for
// its temperature, its output schema or its cache_control is sent again without
// it, at once and with a warning, and the client remembers.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/internal/learn"
)

// DefaultBaseURL is the address of Anthropic itself.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxOutput is the limit for an answer to a request that names none: the
// protocol requires one. Every model since Claude 3.5 can write as much.
const DefaultMaxOutput = 8192

// version is that of the protocol. There has been no other since.
const version = "2023-06-01"

// Options say which model to ask, and where.
type Options struct {
	// Model is the name that the server knows. It is required.
	Model string

	// BaseURL ends before /v1/messages, or before /messages. The default is
	// DefaultBaseURL.
	BaseURL string

	// APIKey is sent as x-api-key unless it is empty.
	APIKey string

	// Provider is named in errors: "anthropic" if empty.
	Provider string

	// Transport is shared by the clients of a program. Nil means one of its own.
	Transport http.RoundTripper

	// MaxResponseBytes bounds an answer; 0 means 32 MB. One for which fewer tokens were
	// asked has less room: 64 KiB, and 16 bytes for each token.
	MaxResponseBytes int64

	// Warn is told once of each part of requests that the model does not take.
	// It may be called from many goroutines. Nil means that nobody is told.
	Warn func(string)
}

// A Client is a model behind a server.
type Client struct {
	model    string
	provider string
	address  string
	place    string // the address as errors show it
	header   http.Header
	http     *httpclient.Client
	lessons  *learn.Lessons
}

var _ model.Model = (*Client)(nil)

// New makes a client. It does not connect.
func New(o Options) (*Client, error) {
	c := &Client{model: o.Model, provider: o.Provider, header: http.Header{}}
	if c.provider == "" {
		c.provider = "anthropic"
	}
	if c.model == "" {
		return nil, fmt.Errorf("%s: the model has no name", c.provider)
	}
	base := o.BaseURL
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s: the base URL must look like http://localhost:8080", c.provider)
	}
	if strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") {
		u = u.JoinPath("messages")
	} else {
		u = u.JoinPath("v1/messages")
	}
	c.address, c.place = u.String(), u.Host+"/"+strings.TrimPrefix(u.Path, "/")
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New(c.provider + ": the API key has a character that cannot be part of one, such as a line break")
	}
	c.header.Set("Anthropic-Version", version)
	if o.APIKey != "" {
		c.header.Set("X-Api-Key", o.APIKey)
	}
	c.http = httpclient.New(httpclient.Options{
		Provider:  c.provider,
		Secret:    o.APIKey,
		Transport: o.Transport,
		MaxBytes:  o.MaxResponseBytes,
	})
	c.lessons = learn.New(learn.Forms{}, func(p learn.Param, form int, why string) {
		if o.Warn != nil {
			o.Warn(c.http.Redact(c.provider + ": " + c.model + ": " + describe(p, form, c.http.Excerpt([]byte(why)))))
		}
	})
	return c, nil
}

// CloseIdle closes the connections that are not in use.
func (c *Client) CloseIdle() { c.http.CloseIdle() }

// String names the model and its place, and no secret.
func (c *Client) String() string { return c.provider + "/" + c.model + " at " + c.place }

// GoString keeps the key out of %#v.
func (c *Client) GoString() string { return "anthropic.Client(" + c.String() + ")" }

// Generate asks once.
func (c *Client) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	if req.Output != nil && !hasSchema(req.Output) {
		c.lessons.Tell(learn.Output, noObject, "")
	}
	var resp *model.Response
	err := c.lessons.Try(func(f learn.Forms) (learn.Forms, string, error) {
		sent := c.request(req, f)
		body, err := encode(sent)
		if err != nil {
			return f, "", c.http.Error(model.Invalid, 0, "the request cannot be written as JSON: "+err.Error())
		}
		answer, err := c.http.Post(ctx, c.address, c.header, body, httpclient.Room(sent.MaxTokens))
		if err != nil {
			return f, "", err
		}
		var trouble *apiError
		if resp, trouble, err = c.read(answer); trouble != nil {
			why := string(trouble.Message)
			return adjust(sent, f, model.AsError(err), why), why, err
		}
		if err == nil {
			err = c.http.CheckUsage(req, 1, resp)
		}
		return f, "", err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
