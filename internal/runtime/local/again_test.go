package local

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/tool"
)

// TestAnAnswerIsAboutOneClaim: that a call did not happen was true of one attempt. If
// the repetition is interrupted too, the person is asked again.
func TestAnAnswerIsAboutOneClaim(t *testing.T) {
	dir := claimed(t, "Pay")
	w := &world{answer: func(*flow.HumanQuestion) (string, error) { return effect.NotYet, nil }}
	over := errors.New("interrupted")
	for range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		w.run = func(context.Context, string) (tool.Result, error) {
			cancel(over)
			return tool.Failed("killed"), nil
		}
		var got flow.Result
		if err := w.actWith(ctx, t, dir, performs(call("Pay", "Ann"), &got)); !errors.Is(err, over) {
			t.Fatalf("Perform() = %v, want %v", err, over)
		}
	}
	if len(w.asked) != 3 || len(w.ran) != 3 {
		t.Errorf("asked %d times for %d executions: %q", len(w.asked), len(w.ran), w.asked)
	}
}

// TestNothingIsRepeatedWithoutEnd: a tool that never knows is repeated once, by itself
// or on a prepared answer.
func TestNothingIsRepeatedWithoutEnd(t *testing.T) {
	for _, name := range []string{"Pay", "Set"} {
		w := &world{answer: func(*flow.HumanQuestion) (string, error) { return effect.NotYet, nil }}
		w.run = func(context.Context, string) (tool.Result, error) { return tool.Result{}, tool.ErrUnknownOutcome }
		var got flow.Result
		err := w.act(t, filepath.Join(t.TempDir(), "run"), performs(call(name, "Ann"), &got))
		if err != nil || !got.Unknown || len(w.ran) != 2 {
			t.Errorf("Perform(%s) = %+v, %v after %d executions, want unknown after 2", name, got, err, len(w.ran))
		}
	}
}

// TestAClaimOutlivesItsTool: that a tool is gone, or denied by now, does not say that
// its call was not made.
func TestAClaimOutlivesItsTool(t *testing.T) {
	deny, err := approval.ParseRules([]string{"Set"})
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]*world{
		"Gone": {},
		"Set":  {policy: approval.Policy{Mode: approval.None, Deny: deny}},
	} {
		dir := claimed(t, name)
		var got flow.Result
		if err := w.act(t, dir, performs(call(name, "Ann"), &got)); err != nil || !got.Unknown || len(w.ran) != 0 {
			t.Errorf("Perform(%s) = %+v, %v after %d executions, want unknown after none", name, got, err, len(w.ran))
		}
		for _, e := range sequence(t, dir) {
			if e == string(event.TypeEffectRefused) {
				t.Errorf("%s: the log says that the call was not made", name)
			}
		}
	}
}
