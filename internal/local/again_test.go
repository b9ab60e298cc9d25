package local

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/approval"
	"github.com/maker-mdap/maker/internal/runlog"
	"github.com/maker-mdap/maker/tool"
)

// keptVerdicts says which verdicts a log leaves for the next session.
func keptVerdicts(t *testing.T, events ...event.Event) map[string]pastVerdict {
	t.Helper()
	dir := written(t, append([]event.Event{event.TaskSubmitted{Format: event.Format, Kind: "test"}}, events...)...)
	p := NewPast(dir, always(false))
	log, _, err := runlog.Open(dir, nil, p.Visit)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	return p.verdicts
}

// TestWhatLaterDecisionsStandOn: a question without a winner is not asked again once
// something was decided, asked or planned in the knowledge that it has none. Asked
// again it could lead to the same call under another key.
func TestWhatLaterDecisionsStandOn(t *testing.T) {
	flagged := event.VoteCompleted{Question: "step/0/try/0", Status: string(flow.FlaggedOut)}
	stopped := event.TaskFailed{Status: event.StatusStopped}
	for name, test := range map[string]struct {
		between []event.Event
		kept    bool
	}{
		"nothing came of it":  {nil, false},
		"a later try decided": {[]event.Event{event.VoteCompleted{Question: "step/0/try/1", Status: string(flow.Decided)}}, true},
		"a person was asked":  {[]event.Event{event.ClarificationRequested{Question: "step/0/try/1/effect/0/approve"}}, true},
		"a call was refused":  {[]event.Event{event.EffectRefused{Effect: "step/0/try/1/effect/0"}}, true},
		"another plan":        {[]event.Event{event.StepFailed{}, event.ReplanRequested{Replan: 1}}, true},
		"another step":        {[]event.Event{event.VoteCompleted{Question: "step/1", Step: 1, Status: string(flow.Decided)}}, false},
	} {
		verdicts := keptVerdicts(t, append(append([]event.Event{flagged}, test.between...), stopped)...)
		if v, ok := verdicts["step/0/try/0"]; ok != test.kept || ok && !v.final {
			t.Errorf("%s: the verdict is kept: %t (for good: %t), want %t", name, ok, v.final, test.kept)
		}
	}
}

// TestAnAnswerIsAboutOneClaim: that a call did not happen was true of one attempt. If
// the repetition is interrupted too, the person is asked again.
func TestAnAnswerIsAboutOneClaim(t *testing.T) {
	dir := claimed(t, "Pay")
	w := &world{answer: func(*flow.HumanQuestion) (string, error) { return notYet, nil }}
	over := errors.New("interrupted")
	for range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		w.run = func(context.Context, string) (tool.Result, error) {
			cancel(over)
			return tool.Failed("killed"), nil
		}
		var got flow.Result
		if err := w.actWith(ctx, t, dir, performs(effect("Pay", "Ann"), &got)); !errors.Is(err, over) {
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
		w := &world{answer: func(*flow.HumanQuestion) (string, error) { return notYet, nil }}
		w.run = func(context.Context, string) (tool.Result, error) { return tool.Result{}, tool.ErrUnknownOutcome }
		var got flow.Result
		err := w.act(t, filepath.Join(t.TempDir(), "run"), performs(effect(name, "Ann"), &got))
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
		if err := w.act(t, dir, performs(effect(name, "Ann"), &got)); err != nil || !got.Unknown || len(w.ran) != 0 {
			t.Errorf("Perform(%s) = %+v, %v after %d executions, want unknown after none", name, got, err, len(w.ran))
		}
		for _, e := range sequence(t, dir) {
			if e == string(event.TypeEffectRefused) {
				t.Errorf("%s: the log says that the call was not made", name)
			}
		}
	}
}
