package budget

import (
	"context"
	"testing"

	"github.com/maker-mdap/maker/usage"
)

// A call that is cancelled while it waits for another's claim still announces one.
func TestNoClaimAfterCancel(t *testing.T) {
	l := New(Limits{MaxCalls: 100}, usage.Spent{})
	late := 0
	l.OnClaim(func(ctx context.Context, _ Claim) error {
		if ctx.Err() != nil {
			late++
		}
		return ctx.Err()
	})
	l.claiming.Lock() // another call's claim is being fsynced
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := l.Wrap(always(answer(1, 1), nil), nil).Generate(ctx, question()); done <- err }()
	for l.Spent().Calls == 0 {
	}
	cancel() // the race is decided; step_completed and task_completed are appended
	l.claiming.Unlock()
	<-done
	if late != 0 {
		t.Error("a claim was logged after its call was cancelled, that is after task_completed")
	}
}
