// Package limiter finds out how many calls at once a provider bears, and keeps
// away from one that is down. There is one [Limiter] for each server and key, which
// all runs of an engine share.
//
// # How many
//
// The limit starts modest, and grows only where it is what holds callers back: by one
// for every success that ends while they wait, as long as the provider never had too
// much and answers about as fast as it did at the start, and otherwise by one for every
// limit-ful of them: a server that answers one call after the other answers no more in
// the same time for being asked more at once. It is halved when the provider says that it had too much (rate limited,
// overloaded), and when a call gets no answer in time: its time includes the
// provider's queue, which is shorter with fewer calls. Calls that started before the limit was cut say nothing about the
// new limit, so one burst of refusals cuts once. If the provider says how long
// to wait, no new call starts before that. Whoever knows better how much the
// provider bears sets a cap on the limit; see [Limiter.Cap].
//
// A provider may say how many calls it still takes, and how soon it takes more. Then calls
// wait for that, instead of being refused.
//
// Refusals among many successes do not cut the limit below what one vote needs at once,
// and not at all if the provider says that there is no need to wait. One that refuses
// most calls is left alone: if it does not say for how long, for intervals that double,
// until it takes one.
//
// # Outages
//
// After [FailuresToOpen] failures (transient, overloaded) without a success in
// between, the circuit opens: new calls wait. One at a time is let through as a
// probe, at intervals that double from [FirstProbe] to [LastProbe]. The first
// success closes the circuit, and so does an answer that only the request is to
// blame for. A failed probe is returned to the caller whose call it was, so a
// caller that bears few faults still ends; all others wait for as long as their
// contexts let them.
//
// # Who waits
//
// Callers are served by their [Class], and within one in order of arrival. Those of
// another class than the first take only what is left over: they never get a place that
// one of the first waits for, and do not make the limit grow.
package limiter

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/maker-mdap/maker/model"
)

// The limits of [Options] that are not set.
const (
	DefaultStart = 16
	DefaultMin   = 1
	DefaultMax   = 1024
)

// FailuresToOpen is the number of failures in a row that opens the circuit.
const FailuresToOpen = 10

// The first and the longest interval between two probes of an open circuit. The
// wait is at random between half of the interval and all of it.
const (
	FirstProbe = time.Second
	LastProbe  = 30 * time.Second
)

// MaxPause bounds how long a provider can keep new calls waiting by asking for
// it.
const MaxPause = 5 * time.Minute

// fewAtOnce is how many calls may always be in flight at a provider that takes most of
// them: about what the samples of one step need.
const fewAtOnce = 4

// memory is about how many calls the share of refused ones is taken of.
const memory = 16

// quietAfter is how long a refusal is remembered that does not say how long to wait.
const quietAfter = 5 * time.Second

// minCutInterval keeps a provider that refuses within milliseconds from cutting
// the limit to nothing in one moment.
const minCutInterval = 500 * time.Millisecond

// Options set the bounds of a limiter. The zero value is useful.
type Options struct {
	Start, Min, Max int // calls at once

	// OnChange, if set, is told the new state when the limit changes, calls are
	// told to wait until some time, or the circuit opens or closes, in the order of
	// the changes. The limiter is locked meanwhile: it must not be called.
	OnChange func(State)

	// Rand returns numbers in [0,1). It is called by one goroutine at a time.
	// The default is seeded at random.
	Rand func() float64
}

// State is what a user may want to know about a provider.
type State struct {
	Limit    int // calls that may be in flight
	InFlight int
	Waiting  int

	// Open says that the provider is failing and only probes are sent.
	Open bool

	// LastError is what failed since the last success, or "".
	LastError string

	// Until is when the next call may start, if only time holds it back.
	Until time.Time
}

// A Limiter limits the calls to one provider. It is safe for concurrent use.
type Limiter struct {
	options Options

	mu        sync.Mutex
	limit     int
	caps      []*int        // in force; the lowest holds
	leased    int           // the sum of the leases; 0 without any
	credit    int           // successes since the limit grew
	timed     int           // calls that tell how fast the provider is at the start,
	inAll     time.Duration // and how long they took together
	inFlight  int
	calls     uint64 // started so far
	waiters   waiting
	lastError error

	cuts    uint64        // how often the limit was cut
	lastCut time.Time     // when it was cut last
	refused float64       // the share of late calls that were
	rest    time.Duration // how long a provider that refuses most was left alone last

	pausedUntil time.Time // as the provider asked; zero if it did not
	quota       quota     // what it says that it still takes
	calmAfter   time.Time // when enough time has passed since a refusal

	open      bool
	outages   uint64 // how often the circuit was opened
	failures  int    // in a row
	probing   bool   // a probe is in flight
	interval  time.Duration
	nextProbe time.Time

	timer  *time.Timer // wakes waiters that only time holds back
	wakeAt time.Time   // when it does; zero if it is not set
}

// A token is the right to make one call. It remembers what the limiter knew when
// the call started.
type token struct {
	n             uint64 // how many calls had been started with it
	cuts, outages uint64
	probe         bool
	started       time.Time // zero if how long it takes does not matter
}

// New returns a limiter.
func New(o Options) *Limiter {
	if o.Min <= 0 {
		o.Min = DefaultMin
	}
	if o.Max <= 0 {
		o.Max = max(DefaultMax, o.Min)
	}
	if o.Start <= 0 {
		o.Start = DefaultStart
	}
	o.Max = max(o.Max, o.Min)
	o.Start = min(max(o.Start, o.Min), o.Max)
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return &Limiter{options: o, limit: o.Start}
}

// Wrap returns m with its calls limited. All models of one provider are wrapped
// by the same limiter.
func (l *Limiter) Wrap(m model.Model) model.Model { return &limited{l, m} }

type limited struct {
	limiter *Limiter
	model   model.Model
}

// errUnfinished stands for a call that ended in a panic: it tells nothing.
var errUnfinished = errors.New("limiter: the call did not return")

// Generate implements [model.Model].
func (l *limited) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	t, err := l.limiter.acquire(ctx)
	if err != nil {
		return nil, err
	}
	outcome := errUnfinished
	defer func() { l.limiter.release(t, outcome) }()
	resp, err := l.model.Generate(ctx, req)
	if outcome = err; err == nil && resp.Quota != nil {
		l.limiter.told(t, resp.Quota)
	}
	return resp, err
}

// GenerateN implements [model.Batcher]. However many answers a call is for, it
// is one call.
func (l *limited) GenerateN(ctx context.Context, req *model.Request, n int) ([]*model.Response, error) {
	t, err := l.limiter.acquire(ctx)
	if err != nil {
		return nil, err
	}
	outcome := errUnfinished
	defer func() { l.limiter.release(t, outcome) }()
	list, err := l.model.(model.Batcher).GenerateN(ctx, req, n) // see model.AsBatcher
	if outcome = err; err == nil && list[0].Quota != nil {
		l.limiter.told(t, list[0].Quota)
	}
	return list, err
}

// Unwrap implements [model.Wrapper].
func (l *limited) Unwrap() model.Model { return l.model }

// Cap keeps the calls in flight at n at the most until lift is called; 0 is no cap. Of
// several caps the lowest holds, whoever makes the calls: the provider is one.
func (l *Limiter) Cap(n int) (lift func()) {
	if n <= 0 {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.caps = append(l.caps, &n)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.caps = slices.DeleteFunc(l.caps, func(c *int) bool { return c == &n })
		l.dispatch()
	}
}

// Lease is Cap for shares of what somebody else keeps count of: they add up. There are as many
// calls in flight as all leases have, at the most, until the last one is given back.
func (l *Limiter) Lease(n int) (giveBack func()) {
	if n <= 0 {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leased += n
	l.dispatch()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.leased -= n
		l.dispatch()
	}
}

// allowed is how many calls may be in flight.
func (l *Limiter) allowed() int {
	n := l.limit
	if l.leased > 0 {
		n = min(n, l.leased)
	}
	for _, most := range l.caps {
		n = min(n, *most)
	}
	return n
}

// Limit is how many calls may be in flight.
func (l *Limiter) Limit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.allowed()
}

// State returns the present state.
func (l *Limiter) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state()
}

func (l *Limiter) state() State {
	s := State{Limit: l.allowed(), InFlight: l.inFlight, Waiting: l.waiters.n, Open: l.open}
	if l.lastError != nil {
		s.LastError = l.lastError.Error()
	}
	if until := l.until(); until.After(time.Now()) {
		s.Until = until
	}
	return s
}

// Calm reports whether the provider takes what it gets: it is not failing, asks nobody to
// wait, its last refusal is as long ago as it asked for, or [quietAfter], and as far as it
// says it takes as many calls more as may be in flight.
func (l *Limiter) Calm() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calm()
}

// Free reports whether the provider is calm and a call may start at once.
func (l *Limiter) Free() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiters.n == 0 && l.inFlight < l.allowed() && l.calm()
}

// Failing reports whether the provider is out of order.
func (l *Limiter) Failing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Blocked reports whether a call has to wait for more than the end of another one.
func (l *Limiter) Blocked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open && l.probing || time.Now().Before(l.until())
}

func (l *Limiter) calm() bool {
	now := time.Now()
	return !l.open && !l.refusing() && !now.Before(l.pausedUntil) && !now.Before(l.calmAfter) &&
		!now.Before(l.quota.start(l.calls+uint64(l.allowed())))
}

// acquire waits for the right to make one call.
func (l *Limiter) acquire(ctx context.Context) (token, error) {
	if ctx.Err() != nil {
		return token{}, cancelled(ctx)
	}
	l.mu.Lock()
	if l.waiters.n == 0 && l.ready() {
		t := l.start()
		l.mu.Unlock()
		return t, nil
	}
	w := newWaiter(ctx)
	l.waiters.push(w)
	l.dispatch()
	l.mu.Unlock()

	select {
	case t := <-w.granted:
		return t, nil
	case <-w.left:
		return token{}, &model.Error{Kind: model.Overloaded, NotSent: true, Err: ErrFailing}
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case t := <-w.granted: // it came at the same moment
		l.finish(t)
		l.dispatch()
	case <-w.left: // likewise
	default:
		l.waiters.remove(w)
	}
	return token{}, cancelled(ctx)
}

// release ends a call and learns from its outcome.
func (l *Limiter) release(t token, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := l.learnAndCompare(t, err)
	l.finish(t)
	l.dispatch()
	if changed {
		l.options.OnChange(l.state())
	}
}

// learnAndCompare learns from the outcome of a call, and reports whether somebody is to be
// told of it.
func (l *Limiter) learnAndCompare(t token, err error) bool {
	if l.options.OnChange == nil {
		l.learn(t, err)
		return false
	}
	limit, open, until := l.allowed(), l.open, l.until()
	l.learn(t, err)
	return l.allowed() != limit || l.open != open || !l.until().Equal(until)
}

// start takes one place.
func (l *Limiter) start() token {
	l.inFlight++
	l.calls++
	l.probing = l.open
	t := token{n: l.calls, cuts: l.cuts, outages: l.outages, probe: l.open}
	if l.cuts == 0 && l.inFlight > 1 {
		t.started = time.Now()
	}
	return t
}

// finish gives the place back.
func (l *Limiter) finish(t token) {
	l.inFlight--
	if t.probe && t.outages == l.outages {
		l.probing = false
	}
}

// ready reports whether a call may start now.
func (l *Limiter) ready() bool {
	if until := l.until(); !until.IsZero() && time.Now().Before(until) {
		return false
	}
	l.pausedUntil = time.Time{}
	if l.open {
		return !l.probing
	}
	return l.inFlight < l.allowed()
}

// until is the time before which no call may start, zero if there is none.
func (l *Limiter) until() time.Time {
	until := l.quota.start(l.calls + 1)
	if l.pausedUntil.After(until) {
		until = l.pausedUntil
	}
	if l.open && l.nextProbe.After(until) {
		until = l.nextProbe
	}
	return until
}

// dispatch starts the waiters whose turn has come. If only time holds back the
// next one, it sees to it that dispatch runs again then. It is called after
// every change that may let a call start.
func (l *Limiter) dispatch() {
	for l.waiters.n > 0 && l.ready() {
		l.waiters.pop().granted <- l.start()
	}
	if l.waiters.n == 0 {
		return
	}
	until := l.until()
	if until.IsZero() || until.Equal(l.wakeAt) {
		return
	}
	if l.open && l.probing {
		return // the end of the probe decides
	}
	if !l.open && l.inFlight >= l.allowed() {
		return // another call has to end
	}
	l.wakeAt = until
	wait := time.Until(until)
	if l.timer == nil {
		l.timer = time.AfterFunc(wait, l.wake)
	} else {
		l.timer.Reset(wait)
	}
}

func (l *Limiter) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakeAt = time.Time{}
	l.dispatch()
}

func cancelled(ctx context.Context) error {
	return &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
}
