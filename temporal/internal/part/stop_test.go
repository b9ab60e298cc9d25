package part

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

// TestStopOf: only whoever cancels a run ends it. A part that ends because its worker is stopped,
// or because the server does not hear of it in time, is done by another one.
func TestStopOf(t *testing.T) {
	for name, test := range map[string]struct {
		cause, err error
		want       string
	}{
		"the run is cancelled":     {temporal.NewCanceledError(), context.Canceled, wire.Cancelled},
		"the worker is stopped":    {errMoved, context.Canceled, wire.Moved},
		"the server is slow":       {context.DeadlineExceeded, context.Canceled, wire.Moved},
		"the allowance is used up": {nil, &budget.ExhaustedError{Limit: "max_calls"}, wire.Exhausted},
		"it cannot go on":          {nil, errors.New("no such model"), wire.Failed},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if test.cause != nil {
			cancel(test.cause)
		}
		if got := stopOf(ctx, test.err); got.Kind != test.want {
			t.Errorf("%s: stopOf() = %+v, want %s", name, got, test.want)
		}
		cancel(nil)
	}
}
