// Package openai asks models through the Chat Completions protocol, which OpenAI
// and a great many other servers speak.
//
// It is a thin client: one call is one HTTP request without streaming, and it
// neither retries nor counts. What it adds is a sober reading of what comes back:
// every error gets a kind, and token counts are taken apart so that none is
// counted twice.
//
// Servers differ in the parameters that they take. A request that is refused for
// one of them is sent again in another form, at once and with a warning, and the
// client remembers the form that worked:
//
//   - temperature is left out;
//   - max_tokens and max_completion_tokens stand in for each other;
//   - a schema loses its bounds, becomes any JSON object, and that becomes nothing;
//   - several answers to one request become one;
//   - cache_control is left out.
package openai

import (
	"cmp"
	"context"
	"net/http"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/internal/learn"
)

// DefaultBaseURL is the address of OpenAI itself.
const DefaultBaseURL = "https://api.openai.com/v1"

// Providers with habits of their own.
const (
	openAI     = "openai"
	openRouter = "openrouter"
)

// Options say which model to ask, and where.
type Options struct {
	// Model is the name that the server knows. It is required.
	Model string

	// Provider is named in errors: "openai" if empty, else "openrouter",
	// "ollama", "compat", ...
	Provider string

	// BaseURL ends before /chat/completions. Only "openai" has a default.
	BaseURL string

	// APIKey is sent as a bearer token unless it is empty.
	APIKey string

	// KeyFrom says where the key is set, such as the name of a variable, for errors
	// about it.
	KeyFrom string

	// Transport is shared by the clients of a program. Nil means one of its own.
	Transport http.RoundTripper

	// MaxResponseBytes bounds an answer; 0 means 32 MB. One for which fewer tokens were
	// asked has less room: 64 KiB, and 16 bytes for each token.
	MaxResponseBytes int64

	// Warn is told once of each part of requests that the server does not take.
	// It may be called from many goroutines. Nil means that nobody is told.
	Warn func(string)
}

// A Client is a model behind a server.
type Client struct {
	model    string
	provider string
	http     *httpclient.Client
	lessons  *learn.Lessons
	cold     bool // whether it is known from the start that no temperature is taken
}

var _ model.Batcher = (*Client)(nil)

// New makes a client. It does not connect.
func New(o Options) (*Client, error) {
	c := &Client{model: o.Model, provider: cmp.Or(o.Provider, openAI)}
	base := o.BaseURL
	if base == "" && c.provider == openAI {
		base = DefaultBaseURL
	}
	var err error
	c.http, err = httpclient.New(httpclient.Options{
		Provider: c.provider, Model: o.Model, BaseURL: base, Example: "http://localhost:8080/v1",
		Path:   func(string) string { return "chat/completions" },
		Secret: o.APIKey, SecretFrom: o.KeyFrom, Transport: o.Transport, MaxBytes: o.MaxResponseBytes,
	})
	if err != nil {
		return nil, err
	}
	if c.provider == openRouter { // which attributes calls by them
		c.http.Header.Set("HTTP-Referer", "https://github.com/maker-mdap/maker")
		c.http.Header.Set("X-Title", "MAKER")
	}
	if o.APIKey != "" {
		c.http.Header.Set("Authorization", "Bearer "+o.APIKey)
	}
	begin := known(c.provider, c.model)
	c.cold = begin[learn.Temperature] == leftOut
	c.lessons = learn.New(begin, func(p learn.Param, form int, why string) {
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
func (c *Client) GoString() string { return "openai." + c.http.GoString() }

// Generate asks once.
func (c *Client) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	list, err := c.GenerateN(ctx, req, 1)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// GenerateN asks once for n answers and returns those that came: only one from a
// server that does not give more. The protocol counts the tokens of all answers
// together; each answer gets its part by its length, and the first one gets all
// that was read and the reported cost.
func (c *Client) GenerateN(ctx context.Context, req *model.Request, n int) ([]*model.Response, error) {
	if req.Temperature != nil && c.cold {
		c.lessons.Tell(learn.Temperature, leftOut, "")
	}
	var list []*model.Response
	err := c.lessons.Try(func(f learn.Forms) (learn.Forms, string, error) {
		sent := c.request(req, f, n)
		answer, err := c.http.Post(ctx, sent, httpclient.Room(req.MaxOutput*max(n, 1)))
		if err != nil {
			return f, "", err
		}
		read, err := c.read(answer, n)
		if read.trouble != nil {
			why := learn.Complaint{Param: string(read.trouble.Param), Text: read.trouble.text()}
			return adjust(sent, f, model.AsError(err), why), why.Text, err
		}
		if err == nil && read.choices < sent.N {
			c.lessons.Remember(learn.Choices, f[learn.Choices], read.choices, "")
		}
		list = read.list
		if err == nil {
			err = c.http.CheckUsage(req, n, list...)
			list[0].Quota = httpclient.Quota(allowances(answer, max(float64(req.MaxOutput), tokens(list)))...)
		}
		return f, "", err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// tokens are those of all answers to a call.
func tokens(list []*model.Response) float64 {
	sum := int64(0)
	for _, r := range list {
		sum += r.Usage.Total()
	}
	return float64(sum)
}
