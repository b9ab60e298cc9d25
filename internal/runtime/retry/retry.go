// Package retry asks a model again when it failed for a reason that may pass,
// and bounds the time of each attempt.
package retry

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/model"
)

// The values of [Options] that are not set.
const (
	DefaultMaxAttempts = 6
	DefaultBaseDelay   = 500 * time.Millisecond
	DefaultMaxDelay    = 30 * time.Second
)

// unknownLatency stands for how long an answer takes until one was timed.
const unknownLatency = 50 * time.Millisecond

// MaxRetryAfter bounds how long a provider can make a caller wait by asking for
// it. Longer wishes are cut to this.
const MaxRetryAfter = 5 * time.Minute

// Options say how often and how patiently to try. The zero value is useful.
type Options struct {
	MaxAttempts int           // in all, the first included
	BaseDelay   time.Duration // bounds the first wait; see [New]
	MaxDelay    time.Duration // bounds every wait, but not what a provider asks for

	// Rand returns numbers in [0,1) and may be called from many goroutines at
	// once. The default is seeded at random.
	Rand func() float64
}

// New returns m with its faults retried. Between attempts it waits a random part
// of a bound that doubles each time, after the time that the provider asked for,
// if it did. The bound begins with BaseDelay, but for
//   - what broke on the way, such as a 5xx: with the time that answers take lately,
//     if that is shorter;
//   - a provider that says that there is no need to wait: with nothing, and after the
//     second time as above;
//   - one that is asked too often and does not say how long to wait: with twice
//     BaseDelay, after a wait of BaseDelay.
//
// All other errors are returned at once, and so are errors that are not a
// [*model.Error].
//
// The faults that preceded the answer or the final error are attached to it.
func New(m model.Model, o Options) model.Model {
	if o.MaxAttempts <= 0 {
		o.MaxAttempts = DefaultMaxAttempts
	}
	if o.BaseDelay <= 0 {
		o.BaseDelay = DefaultBaseDelay
	}
	if o.MaxDelay <= 0 {
		o.MaxDelay = DefaultMaxDelay
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return &retrier{model: m, options: o}
}

type retrier struct {
	model   model.Model
	options Options

	faulty  atomic.Bool  // there was a fault: answers are timed from then on
	latency atomic.Int64 // a running mean of how long they take; 0 if none was timed
}

// Generate implements [model.Model].
func (r *retrier) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	begin := r.clock()
	resp, err := r.model.Generate(ctx, req)
	if err == nil {
		r.took(begin)
		return resp, nil
	}
	var later *model.Response
	faults, err := r.again(ctx, req, err, func() (err error) {
		later, err = r.model.Generate(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return withFaults(later, faults), nil
}

// GenerateN implements [model.Batcher]. The faults of the call go with its first
// answer.
func (r *retrier) GenerateN(ctx context.Context, req *model.Request, n int) ([]*model.Response, error) {
	m := r.model.(model.Batcher) // see model.AsBatcher
	begin := r.clock()
	list, err := m.GenerateN(ctx, req, n)
	if err == nil {
		r.took(begin)
		return list, nil
	}
	faults, err := r.again(ctx, req, err, func() (err error) {
		list, err = m.GenerateN(ctx, req, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	list[0] = withFaults(list[0], faults)
	return list, nil
}

// Unwrap implements [model.Wrapper].
func (r *retrier) Unwrap() model.Model { return r.model }

// clock is the time, if it matters how long a call takes: looking at it costs more than
// everything else here.
func (r *retrier) clock() time.Time {
	if !r.faulty.Load() {
		return time.Time{}
	}
	return time.Now()
}

// took notes how long an answer took.
func (r *retrier) took(begin time.Time) {
	if begin.IsZero() {
		return
	}
	d, mean := int64(time.Since(begin)), r.latency.Load() // of two at once one may get lost
	if mean > 0 {
		d = mean + (d-mean)/8
	}
	r.latency.Store(max(d, 1))
}

// again repeats a call that failed with err until it succeeds or there is no
// point in going on. It returns the faults before the success, or the last error.
func (r *retrier) again(ctx context.Context, req *model.Request, err error, call func() error) ([]*model.Error, error) {
	var faults []*model.Error
	for {
		fault, ok := errors.AsType[*model.Error](err)
		if !ok {
			return nil, err
		}
		if !fault.Kind.Retryable() {
			return nil, afterFaults(err, fault, faults)
		}
		enough := req.OnFault != nil && !req.OnFault(fault)
		if enough || len(faults)+1 >= r.options.MaxAttempts {
			return nil, afterFaults(err, fault, faults)
		}
		faults = append(faults, fault)
		r.faulty.Store(true)
		if !sleep(ctx, r.delay(len(faults), fault)) {
			return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx), Faults: faults}
		}
		begin := time.Now()
		if err = call(); err == nil {
			r.took(begin)
			return faults, nil
		}
	}
}

// delay returns the wait after the given number of faults, of which e is the last.
func (r *retrier) delay(faults int, e *model.Error) time.Duration {
	wait, bound := min(max(e.RetryAfter, 0), MaxRetryAfter), r.options.BaseDelay
	lately := min(time.Duration(cmp.Or(r.latency.Load(), int64(unknownLatency))), bound)
	switch {
	case wait > 0:
	case e.RetryNow && faults == 1:
		return 0
	case e.RetryNow:
		faults--
		bound = lately
	case e.Kind == model.RateLimited:
		wait, bound = bound, 2*bound
	case e.Kind != model.Overloaded && !e.NotSent && !e.TimedOut:
		bound = lately
	}
	for range faults - 1 {
		if bound >= r.options.MaxDelay {
			break
		}
		bound *= 2
	}
	bound = min(bound, r.options.MaxDelay)
	jitter := time.Duration(r.options.Rand() * float64(bound))
	return wait + jitter
}

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// withFaults returns an answer with the faults before it, leaving the answer
// itself as it is: the model may share it between callers.
func withFaults(resp *model.Response, faults []*model.Error) *model.Response {
	if len(faults) == 0 {
		return resp
	}
	r := *resp
	r.Faults = slices.Concat(faults, resp.Faults)
	return &r
}

// afterFaults returns err, in which e was found, with the faults before it.
func afterFaults(err error, e *model.Error, faults []*model.Error) error {
	if len(faults) == 0 {
		return err
	}
	final := *e
	final.Faults = slices.Concat(faults, e.Faults)
	if err != error(e) {
		final.Err = err // keep what it was wrapped in
	}
	return &final
}
