// Package simserver serves the simulated models of package sim over HTTP, in
// the wire formats of OpenAI Chat Completions and Anthropic Messages, with and
// without streaming.
//
//	POST /v1/chat/completions   OpenAI
//	POST /v1/messages           Anthropic
//	POST /v1/messages/count_tokens
//	GET  /v1/models             both
//	GET  /healthz               200 while it runs
//	GET  /stats                 counters
//
// Tools, tool calls and their results, structured output, several choices and
// the counts of a prompt cache are those of the provider. A key, if one is asked
// for, comes as X-Api-Key or as a bearer token, whatever the format.
//
// Requests are checked as the providers check them, and get the provider's words
// for what is wrong, so that a client which a provider would turn away is turned
// away here. What the setting refuse names is turned away like that too.
//
// A request whose model is called sim/... gets a model with these settings; any
// other name gets the server's own. Answers are the same as in process. Faults
// happen on the served.Format, so that a client's whole error handling is put to work:
// true status codes, headers and error bodies, connections that stay silent,
// break in the middle of an answer, or say something that is not JSON.
//
// A request that waits gives up when its client goes away. To stop a server
// with requests waiting, end the context in [http.Server.BaseContext].
package simserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/served"
	"github.com/maker-mdap/maker/model/sim"
)

// maxBody bounds the body of a request.
const maxBody = 16 << 20

// Options configure a server. The zero value serves sim/default to everybody.
type Options struct {
	// Default are the settings for requests that bring none. The zero value
	// stands for [sim.Default].
	Default sim.Settings

	// RequireKey refuses requests without an API key. Any key will do.
	RequireKey bool
}

// A Server is the handler. It is safe for concurrent use.
type Server struct {
	requireKey bool
	models     models
	stats      stats
}

// Handler makes a server. It fails if the default settings are wrong.
func Handler(o Options) (*Server, error) {
	if o.Default == (sim.Settings{}) {
		o.Default = sim.Default()
	}
	m, err := sim.New(o.Default)
	if err != nil {
		return nil, err
	}
	return &Server{requireKey: o.RequireKey, models: models{standard: m}}, nil
}

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/chat/completions":
		s.serve(w, r, served.Chat{}, http.MethodPost)
	case "/v1/messages":
		s.serve(w, r, served.Messages{}, http.MethodPost)
	case "/v1/messages/count_tokens":
		s.serve(w, r, served.Messages{Counting: true}, http.MethodPost)
	case "/v1/models":
		s.serve(w, r, served.Chat{}, http.MethodGet)
	case "/healthz":
		if s.allowed(w, r, served.Chat{}, http.MethodGet) {
			writeJSON(w, []byte(`{"status":"ok"}`))
		}
	case "/stats":
		if s.allowed(w, r, served.Chat{}, http.MethodGet) {
			writeJSON(w, encode(s.stats.snapshot()))
		}
	default:
		var format served.Format = served.Chat{}
		if strings.HasPrefix(r.URL.Path, "/v1/messages/") {
			format = served.Messages{}
		}
		s.fail(w, format, &served.Failure{Class: served.NoPath, Message: "there is nothing at " + r.Method + " " + r.URL.Path})
	}
}

// allowed refuses methods other than the one that a path is for.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request, format served.Format, method string) bool {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", method)
	s.fail(w, format, &served.Failure{Class: served.WrongMethod, Message: r.URL.Path + " takes " + method + ", not " + r.Method})
	return false
}

// serve does what needs a key.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, format served.Format, method string) {
	if !s.allowed(w, r, format, method) {
		return
	}
	if s.requireKey && served.Key(r) == "" {
		s.fail(w, format, &served.Failure{Class: served.NoKey, Message: "the API key is missing"})
		return
	}
	if method == http.MethodGet {
		writeJSON(w, served.Models([]served.Model{{ID: s.models.standard.Settings().String(), Name: "Simulated model", Owner: "sim"}}))
		return
	}
	if a, ok := format.(served.Messages); ok && a.Counting {
		if c, _ := s.read(w, r, format); c != nil {
			writeJSON(w, encode(map[string]int64{"input_tokens": sim.InputTokens(&c.Request)}))
		}
		return
	}
	s.generate(w, r, format)
}

// generate answers a question, or does not, as the simulated model decides.
func (s *Server) generate(w http.ResponseWriter, r *http.Request, format served.Format) {
	id := strconv.FormatInt(s.stats.requests.Add(1), 10)
	s.stats.inFlight.Add(1)
	defer s.stats.inFlight.Add(-1)

	if c, m := s.read(w, r, format); c != nil {
		s.deliver(r.Context(), w, format, id, c, m)
	}
}

// read returns the call and the model it is for. If there is something wrong
// with it, it tells the client so and returns nil.
func (s *Server) read(w http.ResponseWriter, r *http.Request, format served.Format) (*served.Call, *sim.Model) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			s.fail(w, format, &served.Failure{Class: served.TooLarge, Message: "the request is larger than 16 MB"})
			return nil, nil
		}
		s.fail(w, format, &served.Failure{Class: served.BadRequest, Message: "the body of the request cannot be read"})
		return nil, nil
	}
	c, f := format.Decode(body)
	if f != nil {
		s.fail(w, format, f)
		return nil, nil
	}
	m, err := s.models.get(c.Model)
	if err != nil {
		s.fail(w, format, &served.Failure{Class: served.NoModel, Message: err.Error(), Param: "model"})
		return nil, nil
	}
	if refused := asks(c, format) & m.Settings().Refuse; refused != 0 {
		s.fail(w, format, refuse(c, format, refused))
		return nil, nil
	}
	return c, m
}

func (s *Server) deliver(ctx context.Context, w http.ResponseWriter, format served.Format, id string, c *served.Call, m *sim.Model) {
	o := m.Draw(&c.Request)
	s.stats.fault(o.Fault)
	if o.Wait(ctx) != nil {
		s.stats.cancelled.Add(1)
		panic(http.ErrAbortHandler) // nobody is left to be told
	}
	switch o.Fault {
	case sim.F429:
		s.fail(w, format, &served.Failure{Class: served.RateLimit, Message: "too many requests (simulated)", RetryAfter: o.RetryAfter, RetryNow: o.RetryNow})
		return
	case sim.F529:
		s.fail(w, format, &served.Failure{Class: served.Overload, Message: "no capacity at the moment (simulated)", RetryAfter: o.RetryAfter, RetryNow: o.RetryNow})
		return
	case sim.F500:
		s.fail(w, format, &served.Failure{Class: served.Internal, Message: "something broke on the server (simulated)"})
		return
	case sim.Garbage:
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html><body><h1>It works!</h1></body></html>\n")
		return
	}
	answers := []*model.Response{o.Response}
	for len(answers) < c.Choices {
		answers = append(answers, m.Answer(&c.Request))
	}
	if o.Fault == sim.NoFault {
		s.stats.answers.Add(int64(len(answers)))
	}
	around := served.Envelope{ID: "sim-" + id, Model: answers[0].Model, Fingerprint: "simulated", Read: answers[0].Usage}
	if c.Stream {
		writeStream(ctx, w, served.Frames(format, around, c, answers), o.Fault == sim.Cut)
		return
	}
	body := format.Body(around, c, answers)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if o.Fault == sim.Cut {
		writeJSON(w, body[:len(body)/2])
		drop(w)
	}
	writeJSON(w, body)
}

func writeStream(ctx context.Context, w http.ResponseWriter, frames [][]byte, cut bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	if cut {
		frames = frames[:len(frames)/2]
	}
	flusher := http.NewResponseController(w)
	for _, frame := range frames {
		if ctx.Err() != nil {
			return
		}
		if _, err := w.Write(frame); err != nil {
			return
		}
		flusher.Flush()
	}
	if cut {
		drop(w)
	}
}

// drop breaks the connection after what was written so far.
func drop(w http.ResponseWriter) {
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func (s *Server) fail(w http.ResponseWriter, format served.Format, f *served.Failure) {
	if f.Class < served.RateLimit {
		s.stats.rejected.Add(1)
	}
	if f.RetryAfter > 0 || f.RetryNow {
		// The header has whole seconds; rounding up never makes a client hurry.
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	f.ID = "req_sim"
	status, body := format.Fail(w.Header(), f)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// encode writes numbers, which cannot fail.
func encode(v any) []byte {
	data, _ := json.Marshal(v)
	return data
}

func writeJSON(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}
