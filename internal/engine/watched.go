package engine

import (
	"cmp"
	"context"
	"slices"
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

// addModel adds a model to those of a server, to one of the same name if there is one: models
// may play several roles.
func addModel(list []runs.ServerModel, m runs.ServerModel) []runs.ServerModel {
	i := slices.IndexFunc(list, func(o runs.ServerModel) bool { return o.Name == m.Name })
	if i < 0 {
		return append(list, m)
	}
	list[i].InFlight += m.InFlight
	list[i].LastError = cmp.Or(list[i].LastError, m.LastError)
	return list
}

func (w *watched) now() runs.ServerModel {
	m := runs.ServerModel{Name: w.name, InFlight: int(w.inFlight.Load())}
	if e := w.lastError.Load(); e != nil {
		m.LastError = e.Error()
	}
	return m
}
