package gateway

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/served"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/usage"
	rule "github.com/maker-mdap/maker/vote"
)

// answer has a request voted on.
func (g *Gateway) answer(w http.ResponseWriter, r *http.Request, format served.Format) {
	body, c, m, f := g.read(w, r, format)
	var ask *maker.ChatRequest
	if f == nil {
		ask, f = request(c, m)
	}
	var name string
	if f == nil {
		name, f = sessionOf(r)
	}
	if f != nil {
		served.Refuse(w, format, f)
		return
	}
	s, err := g.o.Open(r.Context(), name, *m)
	if err != nil {
		served.Refuse(w, format, g.failure(err))
		return
	}
	w.Header().Set("X-Maker-Run", s.Run().ID())
	decided := make(chan result, 1)
	go func() {
		v, err := g.votes.join(r.Context(), keyOf(s.Run().ID(), r.URL.Path, body), func(ctx context.Context) (*maker.ChatVerdict, error) {
			return g.ask(ctx, s, *ask, func() (*maker.Session, error) { return g.o.Open(ctx, name, *m) })
		})
		decided <- newResult(v, err, ask.OnUndecided)
	}()
	out := &reply{w: w, format: format, call: c, gateway: g, control: http.NewResponseController(w)}
	out.envelope = served.Envelope{ID: newID(), Model: c.Model, Read: usage.Tokens{Input: estimate(&c.Request)}}
	if c.Stream {
		out.stream(r.Context(), decided)
	} else {
		out.whole(r.Context(), decided)
	}
}

// ask puts a request to a session. One that has just spent what it was lent may be lent more,
// and one that was just paused because nobody used it goes on.
func (g *Gateway) ask(ctx context.Context, s *maker.Session, r maker.ChatRequest, again func() (*maker.Session, error)) (*maker.ChatVerdict, error) {
	v, err := s.Ask(ctx, r)
	for { // a dear request may take more than what is lent at once
		ended, ok := errors.AsType[*maker.SessionEndedError](err)
		if !ok || ended.Result.Stop != "max_usd" && ended.Result.Stop != event.StopPaused {
			return v, err
		}
		more, failed := again()
		if failed != nil {
			if refused, ok := errors.AsType[*Refusal](failed); ok { // which says what to do
				return v, refused
			}
			return v, err
		}
		if ended.Result.Stop == "max_usd" && limitOf(more) <= limitOf(s)*(1+1e-9) { // nothing more is lent
			return v, err
		}
		s = more
		v, err = s.Ask(ctx, r)
	}
}

func limitOf(s *maker.Session) float64 { return s.Run().Progress().Limits.USD }

// keyOf tells requests apart.
func keyOf(parts ...any) [sha256.Size]byte {
	h := sha256.New()
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			fmt.Fprintf(h, "%d %s", len(p), p)
		case []byte:
			fmt.Fprintf(h, "%d ", len(p))
			h.Write(p)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// A result is what came of a vote.
type result struct {
	verdict *maker.ChatVerdict
	turn    flow.ChatTurn
	by      string // vote, or what was answered without one; empty if nothing was
	err     error
}

// byVote says that an answer is the one that was agreed on, byOne that nobody else was asked.
const (
	byVote = "vote"
	byOne  = "unvoted"
)

func newResult(v *maker.ChatVerdict, err error, policy maker.OnUndecided) result {
	out := result{verdict: v, err: err}
	if err != nil || len(v.Answer) == 0 {
		return out
	}
	if out.err = json.Unmarshal(v.Answer, &out.turn); out.err != nil {
		return out
	}
	switch out.by = byVote; {
	case v.Status != flow.Decided:
		out.by = string(policy)
	case v.Voting.Strategy == rule.None:
		out.by = byOne
	}
	return out
}

// said tells of the vote in a further field, which clients pass over that do not know it.
func (r *result) said() map[string]any {
	v := r.verdict
	told := map[string]any{
		"run": v.Run, "step": v.Step, "decided_by": r.by, "votes": v.Voting.Split(), "margin": v.Voting.Margin,
		"samples": v.Voting.Samples, "red_flagged": v.Voting.RedFlagged, "cost_usd": v.CostUSD,
	}
	return map[string]any{"maker": told}
}

// response is the answer as one of a model, to a client that was told how much was read as far
// as that was known.
func (r *result) response(e *served.Envelope) *model.Response {
	a := &model.Response{Text: r.turn.Text, Stop: model.StopEnd, Stopped: r.turn.Stopped, Usage: r.verdict.Tokens, Model: e.Model}
	if a.Usage.Total() == 0 { // not every server counts, and clients reckon with it
		a.Usage = e.Read
		a.Usage.Output = max(redflag.EstimateTokens(string(r.verdict.Answer)), 1)
	}
	known := map[string]bool{"": true} // ids, by which the client says which result is whose
	for i, c := range r.turn.Calls {
		if known[c.ID] { // not every server gives any
			c.ID = fmt.Sprintf("call_%s_%d", newID(), i)
		}
		known[c.ID] = true
		a.ToolCalls = append(a.ToolCalls, model.ToolCall(c))
		a.Stop = model.StopToolUse
	}
	return a
}

// failure is what a client is told if there is no answer.
func (r *result) failure(g *Gateway) *served.Failure {
	if r.err != nil {
		return g.failure(r.err)
	}
	v := r.verdict
	switch v.Status {
	case flow.Failed:
		f := &served.Failure{Class: served.BadUpstream, Message: v.Reason}
		switch model.Kind(v.Fault) {
		case model.TooLong:
			f.Class, f.Code, f.Message = served.BadRequest, "context_length_exceeded", "prompt is too long: "+v.Reason
		case model.Invalid:
			f.Class = served.BadRequest
		case model.Auth: // the server's key, about which the client can do nothing
			f.Final = true
		}
		return f
	default:
		return &served.Failure{Class: served.NotAgreed, Message: "the voters do not agree: " + v.Reason + "; run " + v.Run + ", step " + strconv.Itoa(v.Step)}
	}
}

// failure is what a client is told about an error.
func (g *Gateway) failure(err error) *served.Failure {
	if f, ok := errors.AsType[*Refusal](err); ok {
		return &served.Failure{Class: f.Class, Message: f.Message, Param: f.Param}
	}
	if ended, ok := errors.AsType[*maker.SessionEndedError](err); ok {
		switch r := ended.Result; r.Stop {
		case "max_usd", "max_tokens", "max_calls", "deadline":
			return &served.Failure{Class: served.NoBudget, Message: err.Error()}
		case event.StopConfiguration:
			return &served.Failure{Class: served.BadUpstream, Message: err.Error()}
		}
		return &served.Failure{Class: served.Overload, Message: err.Error(), RetryAfter: time.Second}
	}
	if c, ok := errors.AsType[*maker.ConfigError](err); ok {
		return &served.Failure{Message: c.Error(), Param: "model"}
	}
	g.o.Logger.Error("a request to the gateway: " + err.Error())
	return &served.Failure{Class: served.Internal, Message: "the request could not be put to the vote; the server's log says why"}
}

// A Refusal is an error that the client is told as it is.
type Refusal struct {
	Class   served.Class
	Message string
	Param   string
}

func (e *Refusal) Error() string { return e.Message }

// reply is what a client gets.
type reply struct {
	w        http.ResponseWriter
	format   served.Format
	call     *served.Call
	envelope served.Envelope
	gateway  *Gateway
	control  *http.ResponseController
}

// whole answers in one piece. If that takes long there are blank lines before it, so that
// nobody on the way thinks that the server has gone; from then on the status is 200.
func (o *reply) whole(ctx context.Context, decided <-chan result) {
	wait := time.NewTimer(o.gateway.o.Patience)
	defer wait.Stop()
	begun := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
			if !begun {
				o.w.Header().Set("Content-Type", "application/json")
				begun = true
			}
			if !o.send([]byte("\n")) {
				return
			}
			wait.Reset(o.gateway.o.Quiet)
			continue
		case r := <-decided:
			o.finish(&r, begun)
			return
		}
	}
}

// finish writes an answer, or why there is none.
func (o *reply) finish(r *result, begun bool) {
	o.mayTake()
	if errors.Is(r.err, maker.ErrGone) {
		return
	}
	if r.err == nil {
		tell(o.w.Header(), r)
	}
	if r.by == "" {
		status, body := o.format.Fail(o.w.Header(), r.failure(o.gateway))
		if !begun {
			o.w.Header().Set("Content-Type", "application/json")
			o.w.WriteHeader(status)
		}
		_, _ = o.w.Write(body)
		return
	}
	o.envelope.Extra = r.said()
	body := o.format.Body(o.envelope, o.call, []*model.Response{r.response(&o.envelope)})
	if !begun {
		o.w.Header().Set("Content-Type", "application/json")
		o.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	_, _ = o.w.Write(body)
}

// tell says in headers how an answer was decided, and what the vote took.
func tell(h http.Header, r *result) {
	v := r.verdict
	h.Set("X-Maker-Step", strconv.Itoa(v.Step))
	h.Set("X-Maker-Decided-By", cmp.Or(r.by, "none"))
	h.Set("X-Maker-Votes", v.Voting.Split())
	h.Set("X-Maker-Margin", strconv.Itoa(v.Voting.Margin))
	h.Set("X-Maker-Samples", strconv.Itoa(v.Voting.Samples))
	if v.CostUSD != nil {
		h.Set("X-Maker-Cost-Usd", strconv.FormatFloat(*v.CostUSD, 'f', -1, 64))
	}
}

// stream answers in pieces: the first at once, signs of life while it is voted, and then the
// answer.
func (o *reply) stream(ctx context.Context, decided <-chan result) {
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	s := o.format.Stream(o.envelope, o.call)
	if !o.send(s.Begin()...) {
		return
	}
	quiet := time.NewTicker(o.gateway.o.Quiet)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-quiet.C:
			if !o.send(s.Alive()) {
				return
			}
		case r := <-decided:
			switch {
			case errors.Is(r.err, maker.ErrGone):
			case r.by == "":
				o.send(s.Fail(r.failure(o.gateway))...)
			default:
				o.send(s.Answer([]*model.Response{r.response(&o.envelope)}, r.said())...)
			}
			return
		}
	}
}

// send writes pieces and reports whether somebody takes them.
func (o *reply) send(frames ...[]byte) bool {
	o.mayTake()
	if _, err := o.w.Write(bytes.Join(frames, nil)); err != nil {
		return false
	}
	return o.control.Flush() == nil
}

// takeTime is how long a client may take for a piece.
const takeTime = time.Minute

// mayTake begins the time of the next piece.
func (o *reply) mayTake() { _ = o.control.SetWriteDeadline(time.Now().Add(takeTime)) }
