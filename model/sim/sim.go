package sim

import (
	"context"
	"errors"
	"math"
	"time"
	"unicode/utf8"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// A Model is a simulated model. It is safe for concurrent use.
type Model struct {
	settings Settings
	name     string
	seed     uint64 // mixed
	faults   bool   // whether any fault rate is set
	script   *script
	ordinals ordinals
}

var _ model.Model = (*Model)(nil)

// New makes a model. It reads the script, if the settings name one.
func New(s Settings) (*Model, error) {
	// The name says all there is to say, so reading it back checks every range
	// by the rules, and in the words, that hold for names.
	s, err := Parse(s.String())
	if err != nil {
		return nil, err
	}
	m := &Model{
		settings: s,
		name:     s.String(),
		seed:     mix(s.Seed + golden),
		faults:   s.F429+s.F529+s.F500+s.Hang+s.Cut+s.Garbage > 0,
	}
	if s.Script != "" {
		if m.script, err = loadScript(s.Script); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Settings returns the settings of the model.
func (m *Model) Settings() Settings { return m.settings }

// A Fault is a way for an attempt to end without an answer.
type Fault string

// The faults, called as in the settings.
const (
	NoFault Fault = ""
	F429    Fault = "f429"    // too many requests
	F529    Fault = "f529"    // overloaded
	F500    Fault = "f500"    // internal error
	Hang    Fault = "hang"    // never answers
	Cut     Fault = "cut"     // the connection breaks in the middle of the answer
	Garbage Fault = "garbage" // the answer is not what the protocol says
)

// An Outcome is what the model decided to do with one request. How it gets to
// the caller is up to the one who delivers it: [Model.Generate] or a server.
type Outcome struct {
	Fault      Fault
	RetryAfter time.Duration // what a 429 or 529 asks for; 0 asks for nothing
	Latency    time.Duration

	// Response is the answer. With Cut it is the one that will not arrive
	// whole; with other faults it is nil.
	Response *model.Response
}

// Wait lets the latency of the outcome pass. For a hang that is until ctx ends.
func (o *Outcome) Wait(ctx context.Context) error {
	if o.Fault == Hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if o.Latency <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(o.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Generate answers the request in process.
func (m *Model) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	if ctx.Err() != nil {
		return nil, contextError(ctx)
	}
	if len(req.Messages) == 0 {
		return nil, &model.Error{Kind: model.Invalid, Provider: "sim", Message: "the request has no messages"}
	}
	o := m.Draw(req)
	if o.Wait(ctx) != nil {
		return nil, contextError(ctx)
	}
	if o.Fault != NoFault {
		return nil, o.err()
	}
	return o.Response, nil
}

// contextError tells a caller who gave up from one whose time ran out.
func contextError(ctx context.Context) error {
	e := &model.Error{Kind: model.Cancelled, Provider: "sim", Message: context.Cause(ctx).Error(), Err: ctx.Err()}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Kind, e.Message = model.Transient, "no answer within the deadline"
	}
	return e
}

func (o *Outcome) err() error {
	e := &model.Error{Kind: model.Transient, Provider: "sim", RetryAfter: o.RetryAfter}
	switch o.Fault {
	case F429:
		e.Kind, e.Status, e.Message = model.RateLimited, 429, "simulated rate limit"
	case F529:
		e.Kind, e.Status, e.Message = model.Overloaded, 529, "simulated overload"
	case F500:
		e.Status, e.Message = 500, "simulated internal error"
	case Cut:
		e.Message = "simulated loss of the connection in the middle of the answer"
	case Garbage:
		e.Message = "simulated answer that is no answer"
	}
	return e
}

// Draw decides what happens to the next attempt at the request.
func (m *Model) Draw(req *model.Request) Outcome {
	var o Outcome
	if m.faults || m.settings.Latency > 0 {
		key := m.key(asked(req))
		attempt := m.ordinals.attempt(key)
		o.Latency = m.latency(key, attempt)
		o.Fault = m.fault(key, attempt)
		switch o.Fault {
		case NoFault:
		case F429, F529:
			o.RetryAfter = m.settings.RetryAfter
			return o
		case Cut:
			draws := newStream(key, forCuts, attempt)
			o.Response = m.respond(req, m.decide(key, draws, attempt))
			return o
		default:
			return o
		}
	}
	o.Response = m.Answer(req)
	return o
}

// Answer draws the answer to the next sample of the request, without latency
// and faults. A server that is asked for several choices in one call needs it.
func (m *Model) Answer(req *model.Request) *model.Response {
	prompt := asked(req)
	key := m.key(prompt)
	// A greedy sample is sample 0, always. A sequence counts all samples alike.
	var ordinal uint64
	if req.Temperature == nil || *req.Temperature != 0 || m.script.sequential(prompt) {
		ordinal = m.ordinals.sample(key)
	}
	draws := newStream(key, forSamples, ordinal)
	if draws.float() < m.settings.Rho {
		draws = newStream(key, forCommon, 0)
	}
	return m.respond(req, m.decide(key, draws, ordinal))
}

// asked returns the last message of the user.
func asked(req *model.Request) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if req.Messages[i].Role == model.User {
			return req.Messages[i].Text
		}
	}
	return ""
}

// key stands for the seed and the prompt.
func (m *Model) key(prompt string) uint64 { return mix(hash(prompt) ^ m.seed) }

func (m *Model) latency(key, attempt uint64) time.Duration {
	if m.settings.Sigma == 0 {
		return m.settings.Latency
	}
	draws := newStream(key, forLatency, attempt)
	d := float64(m.settings.Latency) * math.Exp(m.settings.Sigma*draws.normal())
	return time.Duration(min(d, math.MaxInt64/2))
}

func (m *Model) fault(key, attempt uint64) Fault {
	s := &m.settings
	draws := newStream(key, forFaults, attempt)
	u := draws.float()
	for _, f := range [...]struct {
		fault Fault
		rate  float64
	}{{F429, s.F429}, {F529, s.F529}, {F500, s.F500}, {Hang, s.Hang}, {Cut, s.Cut}, {Garbage, s.Garbage}} {
		if u < f.rate {
			return f.fault
		}
		u -= f.rate
	}
	return NoFault
}

// A decision says which of all possible answers to a step to give.
type decision struct {
	quality quality
	rival   int    // which wrong answer, if it is to be wrong
	step    uint64 // random number of the step: which wrong answers compete
	form    int    // random number of the sample: in which way it is malformed
	ramble  int    // tokens to waste before the answer

	script  stream // draws a script's answer
	ordinal uint64 // of the sample, for a script's sequences
}

type quality uint8

const (
	right quality = iota
	wrong
	malformed
)

// decide makes every draw whatever the settings, so that changing one setting
// leaves the answers that it does not concern as they were.
func (m *Model) decide(key uint64, draws stream, ordinal uint64) decision {
	s := &m.settings
	d := decision{ordinal: ordinal}
	shape, luck := draws.float(), draws.float()
	d.rival = draws.below(s.Rivals)
	d.form = draws.below(1 << 30)
	d.script = draws
	rivals := newStream(key, forRivals, 0)
	d.step = rivals.next()

	p := s.P
	if difficulty := newStream(key, forDifficulty, 0); s.HardShare > 0 && difficulty.float() < s.HardShare {
		p = s.HardP
	}
	if luck >= p {
		d.quality = wrong
	}
	switch {
	case shape < s.Malformed:
		d.quality = malformed
	case shape < s.Malformed+s.Overlong:
		d.ramble = s.OverlongTokens
	}
	return d
}

// respond writes the answer and accounts for it.
func (m *Model) respond(req *model.Request, d decision) *model.Response {
	prompt := asked(req)
	var text string
	var tokens int
	stop := model.StopEnd
	if a := m.script.answer(prompt, &d); a != nil {
		text, stop, tokens = a.Text, a.Stop, a.Tokens
	} else {
		var space [1024]byte // most answers fit, and then need one allocation
		text = string(d.answer(space[:0], prompt))
	}
	if n := req.MaxOutput; n > 0 && estimate(len(text)) > n {
		text, stop = truncate(text, n*bytesPerToken), model.StopLength
	}
	if tokens == 0 {
		tokens = estimate(len(text))
	}
	return m.price(req, text, stop, tokens)
}

func (m *Model) price(req *model.Request, text string, stop model.StopReason, tokens int) *model.Response {
	in := len(req.System)
	for i := range req.Messages {
		in += len(req.Messages[i].Text)
	}
	r := &struct { // one allocation for both
		model.Response
		cost float64
	}{Response: model.Response{
		Text:  text,
		Stop:  stop,
		Usage: usage.Tokens{Input: int64(estimate(in)), Output: int64(tokens)},
		Model: m.name,
	}}
	r.cost = m.settings.CostUSD(r.Usage)
	r.CostUSD = &r.cost
	return &r.Response
}

const bytesPerToken = 4

// estimate turns bytes into tokens, by the usual rule of thumb for English.
func estimate(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// truncate cuts s to at most n bytes, between characters.
func truncate(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
