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
	prefixes *ordinals // what is cached; nil if nothing is
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
		faults:   s.faults() != [6]float64{},
	}
	if s.Cache {
		m.prefixes = new(ordinals)
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

// failures are what callers in process get for a fault.
var failures = map[Fault]model.Error{
	F429:    {Kind: model.RateLimited, Status: 429, Message: "simulated rate limit"},
	F529:    {Kind: model.Overloaded, Status: 529, Message: "simulated overload"},
	F500:    {Kind: model.Transient, Status: 500, Message: "simulated internal error"},
	Cut:     {Kind: model.Transient, Message: "simulated loss of the connection in the middle of the answer"},
	Garbage: {Kind: model.Transient, Message: "simulated answer that is no answer"},
}

// An Outcome is what the model decided to do with one request. How it gets to
// the caller is up to the one who delivers it: [Model.Generate] or a server.
type Outcome struct {
	Fault      Fault
	RetryAfter time.Duration // what a 429 or 529 asks for; 0 asks for nothing,
	RetryNow   bool          // unless it asks for no wait
	Latency    time.Duration

	// Response is the answer. With Cut it is the one that will not arrive
	// whole; with other faults it is nil.
	Response *model.Response

	learn func() // puts the prefix into the cache; often nil
}

// Wait lets the latency of the outcome pass. For a hang that is until ctx ends.
func (o *Outcome) Wait(ctx context.Context) error {
	if o.Fault == Hang {
		<-ctx.Done()
	} else if o.Latency > 0 {
		timer := time.NewTimer(o.Latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if o.learn != nil && ctx.Err() == nil {
		o.learn()
	}
	return ctx.Err()
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
		e := failures[o.Fault]
		e.Provider, e.RetryAfter, e.RetryNow = "sim", o.RetryAfter, o.RetryNow
		return nil, &e
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

// Draw decides what happens to the next attempt at the request.
func (m *Model) Draw(req *model.Request) Outcome {
	var o Outcome
	var t task
	key := m.recognise(&t, req)
	if m.faults || m.settings.Latency > 0 {
		attempt := m.ordinals.attempt(key)
		o.Latency = m.latency(key, attempt)
		o.Fault = m.fault(key, attempt)
		switch o.Fault {
		case F429, F529:
			o.RetryAfter, o.RetryNow = m.settings.RetryAfter, m.settings.RetryNow
		case Cut:
			o.Response = m.respond(req, &t, m.decide(key, t.problem, newStream(key, forCuts, attempt), attempt))
		}
		if o.Fault != NoFault {
			return o
		}
	}
	o.Response = m.answer(req, &t, key)
	if m.prefixes != nil {
		o.learn = func() { m.remember(req) }
	}
	return o
}

// Answer draws the answer to the next sample of the request, without latency
// and faults. A server that is asked for several choices in one call needs it.
func (m *Model) Answer(req *model.Request) *model.Response {
	var t task
	r := m.answer(req, &t, m.recognise(&t, req))
	m.remember(req)
	return r
}

func (m *Model) answer(req *model.Request, t *task, key uint64) *model.Response {
	// A greedy sample is sample 0, always. A sequence counts all samples alike.
	var ordinal uint64
	switch {
	case t.sequential():
		ordinal = m.ordinals.sample(t.sequence, req.Earlier)
	case !m.greedy(req):
		ordinal = m.ordinals.sample(key, req.Earlier)
	}
	draws := newStream(key, forSamples, ordinal)
	if draws.float() < m.settings.Rho {
		draws = m.common(key, t.problem)
	}
	return m.respond(req, t, m.decide(key, t.problem, draws, ordinal))
}

// common is the draw that samples repeat if they err together. It is that of the problem,
// or the framing's own. A framing has one or the other, for all of its samples: so rho
// alone says how they go together, and own how much of that is left between framings.
func (m *Model) common(key, problem uint64) stream {
	// The purpose is another one, too: a prompt that is a problem in its plain form and
	// nothing else has the same hash as the problem.
	if own := newStream(key, forOwn, 0); own.float() < m.settings.Own {
		return own
	}
	return newStream(problem, forCommon, 0)
}

func (m *Model) latency(key, attempt uint64) time.Duration {
	if m.settings.Sigma == 0 {
		return m.settings.Latency
	}
	draws := newStream(key, forLatency, attempt)
	d := float64(m.settings.Latency) * math.Exp(m.settings.Sigma*draws.normal())
	return time.Duration(min(d, math.MaxInt64/2))
}

func (m *Model) fault(key, attempt uint64) Fault {
	draws := newStream(key, forFaults, attempt)
	u := draws.float()
	for i, share := range m.settings.faults() {
		if u < share {
			return [...]Fault{F429, F529, F500, Hang, Cut, Garbage}[i]
		}
		u -= share
	}
	return NoFault
}

// A decision says which of all possible answers to a step to give.
type decision struct {
	quality quality
	rival   int    // which wrong answer, if it is to be wrong
	step    uint64 // random number of the problem: which wrong answers compete
	form    int    // random number of the sample: in which way it is malformed
	ramble  int    // tokens to waste before the answer

	structured bool // a JSON object and nothing else

	// What a script, or a skill that takes more than one operation, goes on with.
	more    stream
	p       float64 // chance to get one operation right
	rivals  int
	load    float64
	key     uint64 // of the question, for the ids of tool calls
	ordinal uint64 // of the sample, for those and for a script's sequences
}

type quality uint8

const (
	right quality = iota
	wrong
	malformed
)

// decide makes every draw whatever the settings, so that changing one setting
// leaves the answers that it does not concern as they were.
func (m *Model) decide(key, problem uint64, draws stream, ordinal uint64) decision {
	s := &m.settings
	d := decision{key: key, ordinal: ordinal, rivals: s.Rivals, load: s.Load, p: s.P}
	shape, luck := draws.float(), draws.float()
	d.rival = draws.below(s.Rivals)
	d.form = draws.below(1 << 30)
	d.more = draws
	rivals := newStream(problem, forRivals, 0)
	d.step = rivals.next()

	if difficulty := newStream(problem, forDifficulty, 0); s.HardShare > 0 && difficulty.float() < s.HardShare {
		d.p = s.HardP
	}
	if luck >= d.p {
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
func (m *Model) respond(req *model.Request, t *task, d decision) *model.Response {
	d.structured = m.structured(req)
	var a *answer
	switch {
	case t.scripted.rule != nil:
		a = t.scripted.answer(&d)
	case t.inquiry != nil:
		a = d.takePartInSolving(t.inquiry)
	case t.line.found():
		var space [1024]byte // most answers fit, and then need one allocation
		return m.price(req, &answer{text: string(d.answerLine(space[:0], &t.line)), stop: model.StopEnd})
	}
	if a == nil {
		a = &answer{text: noScript, stop: model.StopRefusal}
	}
	return m.price(req, a)
}

// An answer is what there is to say before it is cut and counted.
type answer struct {
	text   string
	calls  []model.ToolCall
	stop   model.StopReason
	tokens int // 0: as many as there are
}

// size is the bytes that the model wrote.
func (a *answer) size() int {
	n := len(a.text)
	for _, c := range a.calls {
		n += len(c.Name) + len(c.Input)
	}
	return n
}

// cut ends the answer after so many tokens. A tool call that does not fit is
// not made, nor are those after it.
func (a *answer) cut(tokens int) {
	a.stop = model.StopLength
	if most := tokens * bytesPerToken; most < len(a.text) {
		a.text = truncate(a.text, most)
	}
	for len(a.calls) > 0 && estimate(a.size()) > tokens {
		a.calls = a.calls[:len(a.calls)-1]
	}
}

func (m *Model) price(req *model.Request, a *answer) *model.Response {
	if n := req.MaxOutput; n > 0 && estimate(a.size()) > n {
		a.cut(n)
	}
	if a.tokens == 0 {
		a.tokens = estimate(a.size())
	}
	r := &struct { // one allocation for both
		model.Response
		cost float64
	}{Response: model.Response{
		Text:      a.text,
		ToolCalls: a.calls,
		Stop:      a.stop,
		Usage:     usage.Tokens{Input: InputTokens(req), Output: int64(a.tokens)},
		Model:     m.name,
	}}
	if key, tokens := m.cacheable(req); tokens > 0 {
		r.Usage.Input -= int64(tokens)
		if m.prefixes.sampled(key) {
			r.Usage.CacheRead = int64(tokens)
		} else {
			r.Usage.CacheWrite = int64(tokens)
		}
	}
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

// InputTokens is what the simulated models count for reading the request.
func InputTokens(req *model.Request) int64 { return int64(estimate(req.Bytes())) }
