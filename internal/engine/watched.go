package engine

import (
	"context"
	"sync/atomic"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/runs"
)

// watched is a model of a server, of which whoever looks wants to know how it does: what the
// limiter of the server knows is about all of its models.
type watched struct {
	model.Model
	name      string
	inFlight  atomic.Int64
	lastError atomic.Pointer[model.Error] // nil after a success
}

// Generate implements [model.Model].
func (w *watched) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	w.inFlight.Add(1)
	resp, err := w.Model.Generate(ctx, req)
	w.ended(err)
	return resp, err
}

// GenerateN implements [model.Batcher].
func (w *watched) GenerateN(ctx context.Context, req *model.Request, n int) ([]*model.Response, error) {
	w.inFlight.Add(1)
	list, err := w.Model.(model.Batcher).GenerateN(ctx, req, n) // see model.AsBatcher
	w.ended(err)
	return list, err
}

// Unwrap implements [model.Wrapper].
func (w *watched) Unwrap() model.Model { return w.Model }

func (w *watched) ended(err error) {
	w.inFlight.Add(-1)
	if err == nil {
		if w.lastError.Load() != nil {
			w.lastError.Store(nil)
		}
	} else if e := model.AsError(err); e.Kind != model.Cancelled {
		w.lastError.Store(e)
	}
}

func (w *watched) now() runs.ServerModel {
	m := runs.ServerModel{Name: w.name, InFlight: int(w.inFlight.Load())}
	if e := w.lastError.Load(); e != nil {
		m.LastError = e.Error()
	}
	return m
}
