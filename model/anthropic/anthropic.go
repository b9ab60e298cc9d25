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
	"cmp"
	"context"
	"net/http"
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

	// KeyFrom says where the key is set, such as the name of a variable, for errors
	// about it.
	KeyFrom string

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
	model   string
	http    *httpclient.Client
	lessons *learn.Lessons
}

var _ model.Model = (*Client)(nil)

// New makes a client. It does not connect.
func New(o Options) (*Client, error) {
	c := &Client{model: o.Model}
	var err error
	c.http, err = httpclient.New(httpclient.Options{
		Provider: cmp.Or(o.Provider, "anthropic"), Model: o.Model, BaseURL: cmp.Or(o.BaseURL, DefaultBaseURL), Example: "http://localhost:8080",
		Path: func(base string) string {
			if strings.HasSuffix(strings.TrimSuffix(base, "/"), "/v1") {
				return "messages"
			}
			return "v1/messages"
		},
		Secret: o.APIKey, SecretFrom: o.KeyFrom, Transport: o.Transport, MaxBytes: o.MaxResponseBytes,
	})
	if err != nil {
		return nil, err
	}
	c.http.Header.Set("Anthropic-Version", version)
	if o.APIKey != "" {
		c.http.Header.Set("X-Api-Key", o.APIKey)
	}
	c.lessons = learn.New(learn.Forms{}, func(p learn.Param, form int, why string) {
		if o.Warn != nil {
			o.Warn(c.http.Warning(describe(p, form), why))
		}
	})
	return c, nil
}

// CloseIdle closes the connections that are not in use.
func (c *Client) CloseIdle() { c.http.CloseIdle() }

// String names the model and its place, and no secret.
func (c *Client) String() string { return c.http.String() }

// GoString keeps the key out of %#v.
func (c *Client) GoString() string { return "anthropic." + c.http.GoString() }

// Generate asks once.
func (c *Client) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	if req.Output != nil && !hasSchema(req.Output) {
		c.lessons.Tell(learn.Output, noObject, "")
	}
	var resp *model.Response
	err := c.lessons.Try(func(f learn.Forms) (learn.Forms, string, error) {
		sent := c.request(req, f)
		answer, err := c.http.Post(ctx, sent, httpclient.Room(sent.MaxTokens))
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
