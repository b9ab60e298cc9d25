// Package retry asks a model again when it failed for a reason that may pass,
// and bounds the time of each attempt.
package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/maker-mdap/maker/model"
)

// The values of [Options] that are not set.
const (
	DefaultMaxAttempts = 6
	DefaultBaseDelay   = 500 * time.Millisecond
	DefaultMaxDelay    = 30 * time.Second
)

// MaxRetryAfter bounds how long a provider can make a caller wait by asking for
// it. Longer wishes are cut to this.
const MaxRetryAfter = 5 * time.Minute

// Options say how often and how patiently to try. The zero value is useful.
type Options struct {
	MaxAttempts int           // in all, the first included
	BaseDelay   time.Duration // bounds the first wait; doubles for each further one
	MaxDelay    time.Duration // bounds every wait, but not what a provider asks for

	// Rand returns numbers in [0,1) and may be called from many goroutines at
	// once. The default is seeded at random.
	Rand func() float64
}

// New returns m with its faults retried. Between attempts it waits a random part
// of a bound that doubles each time, after the time that the provider asked for,
// if it did. All other errors are returned at once, and so are errors that are
// not a [*model.Error].
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
}

// Generate implements [model.Model].
func (r *retrier) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	resp, err := r.model.Generate(ctx, req)
	if err == nil {
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
	list, err := m.GenerateN(ctx, req, n)
	if err == nil {
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
		if !sleep(ctx, r.delay(len(faults), fault.RetryAfter)) {
			return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx), Faults: faults}
		}
		if err = call(); err == nil {
			return faults, nil
		}
	}
}

// delay returns the wait after the given number of faults.
func (r *retrier) delay(faults int, retryAfter time.Duration) time.Duration {
	bound := r.options.BaseDelay
	for range faults - 1 {
		if bound >= r.options.MaxDelay {
			break
		}
		bound *= 2
	}
	bound = min(bound, r.options.MaxDelay)
	jitter := time.Duration(r.options.Rand() * float64(bound))
	return min(max(retryAfter, 0), MaxRetryAfter) + jitter
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
