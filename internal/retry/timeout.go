package retry

import (
	"context"
	"errors"
	"sync"
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
}

// Generate implements [model.Model].
func (t *timed) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	attempt := &lazyTimeout{Context: ctx, deadline: time.Now().Add(t.limit)}
	defer attempt.stop()
	resp, err := t.model.Generate(attempt, req)
	if err == nil || !ended(err) {
		return resp, err
	}
	e := model.AsError(err)
	switch {
	case ctx.Err() != nil && e.Kind != model.Cancelled:
		return nil, &model.Error{Kind: model.Cancelled, Provider: e.Provider, Err: context.Cause(ctx)}
	case ctx.Err() == nil && attempt.Err() != nil:
		return nil, &model.Error{
			Kind:     model.Transient,
			Provider: e.Provider,
			Message:  "no answer within " + t.limit.String(),
		}
	}
	return nil, err
}

// lazyTimeout is a context with a deadline that makes its timer only when
// somebody waits for it. A model that answers without waiting, such as the
// simulator in process, then costs no timer.
type lazyTimeout struct {
	context.Context // the parent
	deadline        time.Time

	mu     sync.Mutex
	timer  context.Context // nil until somebody waits
	cancel context.CancelFunc
}

// Deadline implements [context.Context].
func (c *lazyTimeout) Deadline() (time.Time, bool) {
	if d, ok := c.Context.Deadline(); ok && d.Before(c.deadline) {
		return d, true
	}
	return c.deadline, true
}

// Done implements [context.Context].
func (c *lazyTimeout) Done() <-chan struct{} { return c.started().Done() }

// Err implements [context.Context].
func (c *lazyTimeout) Err() error {
	c.mu.Lock()
	timer := c.timer
	c.mu.Unlock()
	if timer != nil {
		return timer.Err()
	}
	if err := c.Context.Err(); err != nil {
		return err
	}
	if time.Now().Before(c.deadline) {
		return nil
	}
	return c.started().Err()
}

// Value implements [context.Context]; the cause of a context is found here too.
func (c *lazyTimeout) Value(key any) any {
	c.mu.Lock()
	timer := c.timer
	c.mu.Unlock()
	if timer != nil {
		return timer.Value(key)
	}
	return c.Context.Value(key)
}

func (c *lazyTimeout) started() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.timer, c.cancel = context.WithDeadline(c.Context, c.deadline)
	}
	return c.timer
}

// stop releases the timer, if there is one.
func (c *lazyTimeout) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

// ended reports whether err comes from the end of a context.
func ended(err error) bool {
	return model.KindOf(err) == model.Cancelled || errors.Is(err, context.DeadlineExceeded)
}
