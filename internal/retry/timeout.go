package retry

import (
	"context"
	"errors"
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
	attempt, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
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

// ended reports whether err comes from the end of a context.
func ended(err error) bool {
	return model.KindOf(err) == model.Cancelled || errors.Is(err, context.DeadlineExceeded)
}
