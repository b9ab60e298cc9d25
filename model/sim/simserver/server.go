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
// happen on the wire, so that a client's whole error handling is put to work:
// true status codes, headers and error bodies, connections that stay silent,
// break in the middle of an answer, or say something that is not JSON.
//
// A request that waits gives up when its client goes away. To stop a server
// with requests waiting, end the context in [http.Server.BaseContext].
package simserver

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/model"
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

// A call is a request after its wire format is off.
type call struct {
	model   string
	request model.Request
	choices int
	stream  bool
	usage   bool // whether a stream ends with the usage, where that is optional

	asks   sim.Parameters // what is in the request of that which can be refused
	format string         // the field that asks for structured output
}

// lastTurn is the last message so far, or nil.
func (c *call) lastTurn() *model.Message {
	if n := len(c.request.Messages); n > 0 {
		return &c.request.Messages[n-1]
	}
	return nil
}

// A wire is one provider's format.
type wire interface {
	// decode reads the body of a request.
	decode(body []byte) (*call, *failure)

	// refuse is what the provider says to parameters that a model does not take.
	refuse(c *call, refused sim.Parameters) *failure

	// body is the answer to a call in one piece.
	body(id string, c *call, answers []*model.Response) []byte

	// frames is the same as a stream.
	frames(id string, c *call, answers []*model.Response) [][]byte

	// fail is an error: headers, status and body.
	fail(header http.Header, f *failure) (status int, body []byte)
}

// A failure is an error that the caller is told about.
type failure struct {
	class      class
	message    string
	param      string // the field of the request that is wrong, if it is one
	code       string // what kind of wrong, if the provider has a word for it
	retryAfter time.Duration
	retryNow   bool // 0 is sent as a wait
}

type class int

const (
	badRequest class = iota
	noKey
	noModel
	noPath
	wrongMethod
	tooLarge
	rateLimit
	overload
	internal
)

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/chat/completions":
		s.serve(w, r, openAI{}, http.MethodPost)
	case "/v1/messages":
		s.serve(w, r, anthropic{}, http.MethodPost)
	case "/v1/messages/count_tokens":
		s.serve(w, r, anthropic{counting: true}, http.MethodPost)
	case "/v1/models":
		s.serve(w, r, openAI{}, http.MethodGet)
	case "/healthz":
		if s.allowed(w, r, openAI{}, http.MethodGet) {
			writeJSON(w, []byte(`{"status":"ok"}`))
		}
	case "/stats":
		if s.allowed(w, r, openAI{}, http.MethodGet) {
			writeJSON(w, marshal(s.stats.snapshot()))
		}
	default:
		var format wire = openAI{}
		if strings.HasPrefix(r.URL.Path, "/v1/messages/") {
			format = anthropic{}
		}
		s.fail(w, format, &failure{class: noPath, message: "there is nothing at " + r.Method + " " + r.URL.Path})
	}
}

// allowed refuses methods other than the one that a path is for.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request, format wire, method string) bool {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", method)
	s.fail(w, format, &failure{class: wrongMethod, message: r.URL.Path + " takes " + method + ", not " + r.Method})
	return false
}

// serve does what needs a key.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, format wire, method string) {
	if !s.allowed(w, r, format, method) {
		return
	}
	if s.requireKey && sentKey(r) == "" {
		s.fail(w, format, &failure{class: noKey, message: "the API key is missing"})
		return
	}
	if method == http.MethodGet {
		writeJSON(w, modelList(s.models.standard.Settings().String()))
		return
	}
	if a, ok := format.(anthropic); ok && a.counting {
		if c, _ := s.read(w, r, format); c != nil {
			writeJSON(w, marshal(map[string]int64{"input_tokens": sim.InputTokens(&c.request)}))
		}
		return
	}
	s.generate(w, r, format)
}

func sentKey(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// generate answers a question, or does not, as the simulated model decides.
func (s *Server) generate(w http.ResponseWriter, r *http.Request, format wire) {
	id := strconv.FormatInt(s.stats.requests.Add(1), 10)
	s.stats.inFlight.Add(1)
	defer s.stats.inFlight.Add(-1)

	if c, m := s.read(w, r, format); c != nil {
		s.deliver(r.Context(), w, format, id, c, m)
	}
}

// read returns the call and the model it is for. If there is something wrong
// with it, it tells the client so and returns nil.
func (s *Server) read(w http.ResponseWriter, r *http.Request, format wire) (*call, *sim.Model) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			s.fail(w, format, &failure{class: tooLarge, message: "the request is larger than 16 MB"})
			return nil, nil
		}
		s.fail(w, format, &failure{class: badRequest, message: "the body of the request cannot be read"})
		return nil, nil
	}
	c, f := format.decode(body)
	if f != nil {
		s.fail(w, format, f)
		return nil, nil
	}
	m, err := s.models.get(c.model)
	if err != nil {
		s.fail(w, format, &failure{class: noModel, message: err.Error(), param: "model"})
		return nil, nil
	}
	if refused := c.asks & m.Settings().Refuse; refused != 0 {
		s.fail(w, format, format.refuse(c, refused))
		return nil, nil
	}
	return c, m
}

func (s *Server) deliver(ctx context.Context, w http.ResponseWriter, format wire, id string, c *call, m *sim.Model) {
	o := m.Draw(&c.request)
	s.stats.fault(o.Fault)
	if o.Wait(ctx) != nil {
		s.stats.cancelled.Add(1)
		panic(http.ErrAbortHandler) // nobody is left to be told
	}
	switch o.Fault {
	case sim.F429:
		s.fail(w, format, &failure{class: rateLimit, message: "too many requests (simulated)", retryAfter: o.RetryAfter, retryNow: o.RetryNow})
		return
	case sim.F529:
		s.fail(w, format, &failure{class: overload, message: "no capacity at the moment (simulated)", retryAfter: o.RetryAfter, retryNow: o.RetryNow})
		return
	case sim.F500:
		s.fail(w, format, &failure{class: internal, message: "something broke on the server (simulated)"})
		return
	case sim.Garbage:
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html><body><h1>It works!</h1></body></html>\n")
		return
	}
	answers := []*model.Response{o.Response}
	for len(answers) < c.choices {
		answers = append(answers, m.Answer(&c.request))
	}
	if o.Fault == sim.NoFault {
		s.stats.answers.Add(int64(len(answers)))
	}
	if c.stream {
		writeStream(ctx, w, format.frames(id, c, answers), o.Fault == sim.Cut)
		return
	}
	body := format.body(id, c, answers)
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

func (s *Server) fail(w http.ResponseWriter, format wire, f *failure) {
	if f.class < rateLimit {
		s.stats.rejected.Add(1)
	}
	if f.retryAfter > 0 || f.retryNow {
		// The header has whole seconds; rounding up never makes a client hurry.
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	status, body := format.fail(w.Header(), f)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

func writeJSON(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}
