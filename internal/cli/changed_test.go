package cli

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// TestShowTellsOfChangedQuestions: who looks at a step or watches a resume learns that
// it would now be asked differently.
func TestShowTellsOfChangedQuestions(t *testing.T) {
	changed := event.QuestionChanged{Question: "plan/0/step/1/move/0", Step: 1, Changed: []string{"prompt", "tools"}}
	const want = "asked differently now: prompt, tools"
	if got := report.Describe(event.FormPlan, changed, nil); strings.TrimSpace(got) != want {
		t.Errorf("describe(%+v) = %q, want %q", changed, got, want)
	}
	run := logOf(t, event.TaskSubmitted{Format: event.Format, Kind: maker.KindExec},
		event.StepCompleted{Step: 0, Output: event.TextValue("a")}, event.StepCompleted{Step: 1, Output: event.TextValue("b")},
		event.RunResumed{}, changed)
	for step, told := range []bool{false, true} {
		var out bytes.Buffer
		a := &app{Streams: Streams{Out: &out}}
		if err := a.showStep(run, step); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\n  "+want+"\n") != told {
			t.Errorf("showStep(%d) = %q, want a line %q: %t", step, out.String(), want, told)
		}
	}
}

// TestDescribeReleased: a call that was announced and not made is taken back.
func TestDescribeReleased(t *testing.T) {
	got := report.Describe(event.FormPlan, event.EffectReleased{Effect: "e", Tool: "Pay"}, nil)
	if want := "Pay was not called: the run was ended before"; strings.TrimSpace(got) != want {
		t.Errorf("describe(a claim that is taken back) = %q, want %q", got, want)
	}
}

// logOf writes a log with the given events and opens the run.
func logOf(t testing.TB, events ...event.Event) *runs.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "exec-1")
	log, err := runlog.Create(dir, "exec-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		err = errors.Join(err, log.Append(e))
	}
	err = errors.Join(err, log.Close())
	run, openErr := runs.Open(dir)
	if err := errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	return run
}
