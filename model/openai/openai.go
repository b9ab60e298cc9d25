// Package openai asks models through the Chat Completions protocol, which OpenAI
// and a great many other servers speak.
//
// It is a thin client: one call is one HTTP request without streaming, and it
// neither retries nor counts. What it adds is a sober reading of what comes back:
// every error gets a kind, and token counts are taken apart so that none is
// counted twice.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
)

// DefaultBaseURL is the address of OpenAI itself.
const DefaultBaseURL = "https://api.openai.com/v1"

// openAI is the provider whose newest parameters not everybody knows.
const openAI = "openai"

// Options say which model to ask, and where.
type Options struct {
	// Model is the name that the server knows. It is required.
	Model string

	// Provider is named in errors: "openai" if empty, else "openrouter",
	// "ollama", "compat", ... Only "openai" gets max_completion_tokens; the
	// others get max_tokens, which all of them understand.
	Provider string

	// BaseURL ends before /chat/completions. Only "openai" has a default.
	BaseURL string

	// APIKey is sent as a bearer token unless it is empty.
	APIKey string

	// Transport is shared by the clients of a program. Nil means one of its own.
	Transport http.RoundTripper

	// MaxResponseBytes bounds an answer; 0 means 32 MB.
	MaxResponseBytes int64
}

// A Client is a model behind a server.
type Client struct {
	model    string
	provider string
	address  string
	place    string // the address as errors show it
	header   http.Header
	http     *httpclient.Client
}

var _ model.Model = (*Client)(nil)

// New makes a client. It does not connect.
func New(o Options) (*Client, error) {
	c := &Client{model: o.Model, provider: o.Provider, header: http.Header{}}
	if c.provider == "" {
		c.provider = openAI
	}
	if c.model == "" {
		return nil, fmt.Errorf("%s: the model has no name", c.provider)
	}
	base := o.BaseURL
	if base == "" && c.provider == openAI {
		base = DefaultBaseURL
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s: the base URL must look like http://localhost:8080/v1", c.provider)
	}
	u = u.JoinPath("chat/completions")
	c.address, c.place = u.String(), u.Host+u.Path
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New(c.provider + ": the API key has a character that cannot be part of one, such as a line break")
	}
	if o.APIKey != "" {
		c.header.Set("Authorization", "Bearer "+o.APIKey)
	}
	c.http = httpclient.New(httpclient.Options{
		Provider:  c.provider,
		Secret:    o.APIKey,
		Transport: o.Transport,
		MaxBytes:  o.MaxResponseBytes,
	})
	return c, nil
}

// CloseIdle closes the connections that are not in use.
func (c *Client) CloseIdle() { c.http.CloseIdle() }

// Generate asks once.
func (c *Client) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	body, err := c.encode(req)
	if err != nil {
		return nil, c.http.Error(model.Invalid, 0, "the request cannot be written as JSON: "+err.Error())
	}
	answer, err := c.http.Post(ctx, c.address, c.header, body)
	if err != nil {
		return nil, err
	}
	if answer.Status >= 300 {
		return nil, c.failure(answer)
	}
	return c.decode(answer)
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	Temperature         *float64      `json:"temperature,omitempty"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
}

func (c *Client) encode(req *model.Request) ([]byte, error) {
	r := chatRequest{Model: c.model, Temperature: req.Temperature}
	if c.provider == openAI {
		r.MaxCompletionTokens = req.MaxOutput
	} else {
		r.MaxTokens = req.MaxOutput
	}
	r.Messages = make([]chatMessage, 0, len(req.Messages)+1)
	if req.System != "" {
		r.Messages = append(r.Messages, chatMessage{"system", req.System})
	}
	for _, m := range req.Messages {
		r.Messages = append(r.Messages, chatMessage{string(m.Role), m.Text})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // prompts are full of < and >
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// failure turns an answer with an error status into an error.
func (c *Client) failure(a *httpclient.Answer) error {
	var body struct {
		Error apiError `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.Error.Message == "" {
		body.Error.Message = httpclient.Excerpt(a.Body)
		if body.Error.Message == "" {
			body.Error.Message = http.StatusText(a.Status)
		}
	}
	if to := a.Header.Get("Location"); to != "" && a.Status < 400 {
		body.Error.Message = "the server redirects to " + to + "; is that the right base URL?"
	}
	e := c.classify(a.Status, &body.Error)
	e.RetryAfter = httpclient.RetryAfter(a.Header, time.Now())
	return e
}
