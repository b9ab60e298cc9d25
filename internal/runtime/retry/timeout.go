package retry

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/model"
)

// Timeout returns m with each call ended after d, or m itself if d is not
// positive. A call that took too long is a transient fault; it does not wrap
// [context.DeadlineExceeded], which is for the caller's own deadline. A call that
// the caller ended, or whose deadline passed, is cancelled and not a fault.
func Timeout(m model.Model, d time.Duration) model.Model {
	if d <= 0 {
		return m
	}
	return &timed{model: m, limit: d}
}

type timed struct {
	model model.Model
	limit time.Duration
	idle  atomic.Pointer[lazyTimeout] // one that nobody waited for; nil if there is none
}

// Generate implements [model.Model].
func (t *timed) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	attempt := t.begin(ctx)
	defer t.end(attempt)
	resp, err := t.model.Generate(attempt, req)
	return resp, t.blame(ctx, attempt, err)
}

// GenerateN implements [model.Batcher].
func (t *timed) GenerateN(ctx context.Context, req *model.Request, n int) ([]*model.Response, error) {
	attempt := t.begin(ctx)
	defer t.end(attempt)
	list, err := t.model.(model.Batcher).GenerateN(attempt, req, n) // see model.AsBatcher
	return list, t.blame(ctx, attempt, err)
}

// Unwrap implements [model.Wrapper].
func (t *timed) Unwrap() model.Model { return t.model }

// begin returns the context of a call. That of the call before is as good as new if the
// model did not wait for it.
func (t *timed) begin(ctx context.Context) *lazyTimeout {
	if c := t.idle.Swap(nil); c != nil && c.Context == ctx && c.timer.Load() == nil {
		return c
	}
	return &lazyTimeout{Context: ctx, limit: t.limit}
}

// end releases the timer, if there is one.
func (t *timed) end(c *lazyTimeout) {
	if timer := c.timer.Load(); timer != nil {
		timer.cancel()
		return
	}
	t.idle.Store(c)
}

// blame tells a call that took too long from one that the caller ended.
func (t *timed) blame(ctx, attempt context.Context, err error) error {
	if err == nil || !ended(err) {
		return err
	}
	e := model.AsError(err)
	switch {
	case ctx.Err() != nil && e.Kind != model.Cancelled:
		return &model.Error{Kind: model.Cancelled, Provider: e.Provider, Err: context.Cause(ctx)}
	case ctx.Err() == nil && attempt.Err() != nil:
		return &model.Error{
			Kind:     model.Transient,
			Provider: e.Provider,
			Message:  fmt.Sprintf("no answer within %s (--call-timeout)", t.limit),
			TimedOut: true,
		}
	}
	return err
}

// lazyTimeout is a context that ends some time after somebody first waits for
// it. A model that answers without waiting, such as the simulator in process,
// then costs neither a timer nor a look at the clock.
type lazyTimeout struct {
	context.Context // the parent
	limit           time.Duration
	timer           atomic.Pointer[timer] // nil until somebody waits
}

type timer struct {
	context.Context
	cancel context.CancelFunc
}

// Deadline implements [context.Context].
func (c *lazyTimeout) Deadline() (time.Time, bool) { return c.started().Deadline() }

// Done implements [context.Context].
func (c *lazyTimeout) Done() <-chan struct{} { return c.started().Done() }

// Err implements [context.Context].
func (c *lazyTimeout) Err() error { return c.current().Err() }

// Value implements [context.Context]; the cause of a context is found here too.
func (c *lazyTimeout) Value(key any) any { return c.current().Value(key) }

// current is the timer, or the parent as long as there is none.
func (c *lazyTimeout) current() context.Context {
	if t := c.timer.Load(); t != nil {
		return t.Context
	}
	return c.Context
}

func (c *lazyTimeout) started() context.Context {
	if t := c.timer.Load(); t != nil {
		return t.Context
	}
	ctx, cancel := context.WithTimeout(c.Context, c.limit)
	if c.timer.CompareAndSwap(nil, &timer{ctx, cancel}) {
		return ctx
	}
	cancel() // another was faster
	return c.current()
}

// ended reports whether err comes from the end of a context.
func ended(err error) bool {
	return model.KindOf(err) == model.Cancelled || errors.Is(err, context.DeadlineExceeded)
}
