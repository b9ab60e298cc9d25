package local

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// An Arrival is a request from outside.
type Arrival struct {
	Request json.RawMessage
	Ctx     context.Context // ends when whoever made it has gone

	// Done is called once with what came of it.
	Done func(step int, v *flow.Verdict, err error)
}

// ErrGone is why a request ended whose maker has gone.
var ErrGone = errors.New("whoever asked has gone")

// StatusGone is the status of its step.
const StatusGone = "gone"

// Receive implements flow.Receiver. A request that a killed session had begun is over: its
// number is not used again.
func (b *branch) Receive(key string, handle func(n int, request json.RawMessage, f flow.Flow) (*flow.Verdict, error)) error {
	key, err := b.fullKey(byParallel, key)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	var ended failure
	var once sync.Once
	over := make(chan struct{}) // once an error ended the run
	defer all.Wait()
	for next := b.past.Records.Next(); ; next++ {
		var a *Arrival
		select {
		case a = <-b.opts.Arrivals:
		case <-over:
			all.Wait()
			return ended.get()
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, errBranch) {
				return cause
			}
			return ended.get() // which is why they were ended
		}
		if a == nil { // no more will come
			all.Wait()
			return ended.get()
		}
		all.Go(func() {
			err := b.receive(ctx, key, next, a, handle)
			if err == nil {
				return
			}
			if ended.set(err); !endsAlone(err) {
				cancel(errBranch)
			}
			once.Do(func() { close(over) })
		})
	}
}

// receive has one request handled, and tells whoever made it what came of that. It returns
// the error that ends the run, if there is one.
func (b *branch) receive(ctx context.Context, key string, n int, a *Arrival, handle func(n int, request json.RawMessage, f flow.Flow) (*flow.Verdict, error)) error {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.Ctx, func() { cancel(ErrGone) })()
	child := &branch{Runtime: b.Runtime, ctx: own, prefix: flow.Branch(key, n), keys: b.keys, failed: b.failed}
	v, err := handle(n, a.Request, child)
	if err == nil {
		err = b.failed.get()
	}
	if err == nil { // what is told is on disk
		err = b.opts.Log.Sync(context.WithoutCancel(ctx))
	}
	if err != nil && errors.Is(context.Cause(own), ErrGone) && ctx.Err() == nil {
		child.Emit("gone", event.StepFailed{Step: n, Status: StatusGone, Reason: ErrGone.Error()})
		a.Done(n, nil, ErrGone)
		return b.failed.get()
	}
	a.Done(n, v, err)
	return err
}
