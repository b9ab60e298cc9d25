// Package gateway gives voted answers to programs that speak to a model in the formats of
// OpenAI or Anthropic: they change one address.
//
//	POST /v1/chat/completions
//	POST /v1/responses
//	POST /v1/messages
//	POST /v1/messages/count_tokens
//	GET  /v1/models
//
// A request is a step of a session, which is a run like any other. Calls of tools are voted
// on as they are proposed: one that loses never reaches the client, and nobody on this side
// makes any.
package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/served"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/redflag"
)

// SessionHeader names the session that a request belongs to.
const SessionHeader = "X-Maker-Session"

// maxName is how many bytes the name of a session has at most.
const maxName = 128

// sessionOf is the name of the session that a request belongs to; empty if it gives none.
func sessionOf(r *http.Request) (string, *served.Failure) {
	name := r.Header.Get(SessionHeader)
	if len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return "", &served.Failure{Message: fmt.Sprintf("%s is not a name of at most %d printable characters", SessionHeader, maxName), Param: SessionHeader}
	}
	return name, nil
}

// maxBody bounds the body of a request.
const maxBody = 32 << 20

// Options are what a gateway needs. Open is required.
type Options struct {
	// Open returns the session of whoever asks, which is begun, or gone on with, if there is
	// none. Name is empty unless the request gives one.
	Open func(ctx context.Context, name string, m Model) (*maker.Session, error)

	// Named are the models that have a name of their own, as in [ParseModel].
	Named map[string]string

	// Default is the model that a bare name such as "maker" stands for.
	Default string

	// Quiet is how long nothing is sent before a sign of life, and Patience how long an
	// answer in one piece is waited for before there is any: that commits to its status. 0
	// means 10 and 60 seconds.
	Quiet, Patience time.Duration

	// Logger gets what goes wrong and is nobody's business; nil discards it.
	Logger *slog.Logger
}

// A Gateway is an [http.Handler].
type Gateway struct {
	o     Options
	votes votes
}

// New returns a gateway.
func New(o Options) *Gateway {
	if o.Quiet <= 0 {
		o.Quiet = 10 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Gateway{o: o}
}

// ServeHTTP serves one request. Only the path counts: clients put more behind it.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/chat/completions":
		g.answer(w, r, served.Chat{})
	case "/v1/responses":
		g.answer(w, r, served.Responses{})
	case "/v1/messages":
		g.answer(w, r, served.Messages{})
	case "/v1/messages/count_tokens":
		g.countTokens(w, r)
	case "/v1/models":
		g.models(w, r)
	default:
		served.Refuse(w, served.For(r), &served.Failure{Class: served.NoPath, Message: "there is nothing at " + r.URL.Path})
	}
}

func (g *Gateway) models(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		served.Refuse(w, served.For(r), wrongMethod(r, http.MethodGet))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(served.Models(g.list()))
}

func wrongMethod(r *http.Request, want string) *served.Failure {
	return &served.Failure{Class: served.WrongMethod, Message: r.URL.Path + " takes " + want + ", not " + r.Method}
}

// read reads a request and the model that it is for.
func (g *Gateway) read(w http.ResponseWriter, r *http.Request, format served.Format) ([]byte, *served.Call, *Model, *served.Failure) {
	if r.Method != http.MethodPost {
		return nil, nil, nil, wrongMethod(r, http.MethodPost)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, nil, nil, &served.Failure{Class: served.TooLarge, Message: fmt.Sprintf("the request is larger than %d MB", maxBody>>20)}
		}
		return nil, nil, nil, &served.Failure{Message: "the body of the request cannot be read"}
	}
	c, f := format.Decode(body)
	if f != nil {
		return nil, nil, nil, f
	}
	m, err := g.find(c.Model)
	if err != nil {
		return nil, nil, nil, &served.Failure{Class: served.NoModel, Message: err.Error(), Param: "model"}
	}
	return body, c, m, nil
}

// countTokens says how long a request is, as an estimate: providers count differently.
func (g *Gateway) countTokens(w http.ResponseWriter, r *http.Request) {
	format := served.Messages{Counting: true}
	_, c, _, f := g.read(w, r, format)
	if f != nil {
		served.Refuse(w, format, f)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"input_tokens":%d}`, estimate(&c.Request))
}

// estimate guesses how many tokens a request has.
func estimate(r *model.Request) int64 {
	n := redflag.EstimateTokens(r.System)
	for _, t := range r.Tools {
		n += redflag.EstimateTokens(t.Name+t.Description) + redflag.EstimateTokens(string(t.Schema))
	}
	for _, m := range r.Messages {
		n += 4 + redflag.EstimateTokens(m.Text)
		for _, c := range m.ToolCalls {
			n += redflag.EstimateTokens(c.Name + string(c.Input))
		}
		for _, t := range m.ToolResults {
			n += redflag.EstimateTokens(t.Text)
		}
		n += 1000 * int64(len(m.Images))
	}
	return max(n, 1)
}

// request is what is asked of the voters.
func request(c *served.Call, m *Model) (*maker.ChatRequest, *served.Failure) {
	if c.Choices > 1 {
		return nil, &served.Failure{Message: "n must be 1: the answer is the one that was agreed on", Param: "n", Code: "unsupported_value"}
	}
	if len(c.Left) > 0 {
		return nil, &served.Failure{Message: "the request has what cannot be passed on: " + strings.Join(c.Left, ", "), Param: "messages", Code: "unsupported_value"}
	}
	r := &maker.ChatRequest{System: c.Request.System, MaxOutput: c.Request.MaxOutput, Temperature: c.Request.Temperature, Meaning: m.Meaning}
	r.Chat.Stop, r.Chat.OneCall = c.Stop, c.OneCall
	for _, message := range c.Request.Messages {
		said := flow.ChatMessage{Role: string(message.Role), Text: message.Text}
		for _, image := range message.Images {
			said.Images = append(said.Images, flow.Image(image))
		}
		for _, call := range message.ToolCalls {
			said.Calls = append(said.Calls, flow.ChatCall(call))
		}
		for _, result := range message.ToolResults {
			said.Results = append(said.Results, flow.ChatResult(result))
		}
		r.Chat.Messages = append(r.Chat.Messages, said)
	}
	for _, t := range c.Request.Tools {
		if len(t.Schema) == 0 {
			t.Schema = json.RawMessage(`{"type":"object"}`)
		}
		r.Chat.Tools = append(r.Chat.Tools, flow.ChatTool(t))
	}
	switch c.Tool {
	case served.MustNotCall:
		r.Chat.Call = flow.CallNone
	case served.MustCall:
		r.Chat.Call = flow.CallAny
	case served.MustCallTool:
		r.Chat.Call = c.ToolName
	}
	r.OnUndecided = m.Undecided
	if o := c.Request.Output; o != nil {
		schema := o.Schema
		if o.Mode == model.JSONObject {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		as := reader.JSON{Schema: schema}
		if err := as.Validate(); err != nil {
			return nil, &served.Failure{Message: "the schema of the answer cannot be used: " + err.Error(), Param: c.Format}
		}
		if r.Answer = as.Format(); m.Undecided == "" {
			r.OnUndecided = maker.SayUndecided // data is agreed on or not
		}
	}
	if r.OnUndecided == "" {
		r.OnUndecided = maker.TakeFirst
	}
	return r, nil
}

// newID names an answer.
func newID() string { return strings.ToLower(rand.Text()) }
