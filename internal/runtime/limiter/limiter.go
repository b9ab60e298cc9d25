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
// Callers wait in order of arrival.
package limiter

import (
	"container/list"
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

// minCutInterval keeps a provider that refuses within milliseconds from cutting
// the limit to nothing in one moment.
const minCutInterval = 500 * time.Millisecond

// Options set the bounds of a limiter. The zero value is useful.
type Options struct {
	Start, Min, Max int // calls at once

	// OnChange, if set, is told the new state when the limit changes, calls are
	// told to wait until some time, or the circuit opens or closes. It is called
	// by one goroutine at a time, between calls to the provider, so it should
	// return soon.
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

	notify sync.Mutex // held while OnChange runs; taken before mu

	mu        sync.Mutex
	limit     int
	caps      []*int        // in force; the lowest holds
	credit    int           // successes since the limit grew
	timed     int           // calls that tell how fast the provider is at the start,
	inAll     time.Duration // and how long they took together
	inFlight  int
	waiters   list.List // of *waiter
	lastError error

	cuts    uint64    // how often the limit was cut
	lastCut time.Time // when it was cut last

	pausedUntil time.Time // as the provider asked; zero if it did not

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
	cuts, outages uint64
	probe         bool
	started       time.Time // zero if how long it takes does not matter
}

type waiter struct {
	granted chan token // room for one
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
	outcome = err
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
	outcome = err
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

// allowed is how many calls may be in flight.
func (l *Limiter) allowed() int {
	n := l.limit
	for _, most := range l.caps {
		n = min(n, *most)
	}
	return n
}

// State returns the present state.
func (l *Limiter) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{Limit: l.allowed(), InFlight: l.inFlight, Waiting: l.waiters.Len(), Open: l.open}
	if l.lastError != nil {
		s.LastError = l.lastError.Error()
	}
	if until := l.until(); until.After(time.Now()) {
		s.Until = until
	}
	return s
}

// acquire waits for the right to make one call.
func (l *Limiter) acquire(ctx context.Context) (token, error) {
	if ctx.Err() != nil {
		return token{}, cancelled(ctx)
	}
	l.mu.Lock()
	if l.waiters.Len() == 0 && l.ready() {
		t := l.start()
		l.mu.Unlock()
		return t, nil
	}
	w := &waiter{granted: make(chan token, 1)}
	place := l.waiters.PushBack(w)
	l.dispatch()
	l.mu.Unlock()

	select {
	case t := <-w.granted:
		return t, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case t := <-w.granted: // it came at the same moment
		l.finish(t)
		l.dispatch()
	default:
		l.waiters.Remove(place)
	}
	return token{}, cancelled(ctx)
}

// release ends a call and learns from its outcome.
func (l *Limiter) release(t token, err error) {
	l.mu.Lock()
	limit, open, until := l.allowed(), l.open, l.until()
	l.learn(t, err)
	changed := l.allowed() != limit || l.open != open || !l.until().Equal(until)
	l.finish(t)
	l.dispatch()
	l.mu.Unlock()

	if changed && l.options.OnChange != nil {
		l.notify.Lock()
		defer l.notify.Unlock()
		l.options.OnChange(l.State())
	}
}

// start takes one place.
func (l *Limiter) start() token {
	l.inFlight++
	l.probing = l.open
	t := token{cuts: l.cuts, outages: l.outages, probe: l.open}
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
	if l.open && l.nextProbe.After(l.pausedUntil) {
		return l.nextProbe
	}
	return l.pausedUntil
}

// dispatch starts the waiters whose turn has come. If only time holds back the
// next one, it sees to it that dispatch runs again then. It is called after
// every change that may let a call start.
func (l *Limiter) dispatch() {
	for l.waiters.Len() > 0 && l.ready() {
		w := l.waiters.Remove(l.waiters.Front()).(*waiter)
		w.granted <- l.start()
	}
	until := l.until()
	if l.waiters.Len() == 0 || until.IsZero() || until.Equal(l.wakeAt) {
		return
	}
	if l.open && l.probing {
		return // the end of the probe decides
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
