package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runlog"
	"github.com/maker-mdap/maker/usage"
)

func written(t *testing.T, events ...event.Event) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	log.Close()
	return dir
}

func pastOf(t *testing.T, dir string) (*Past, error) {
	t.Helper()
	p := NewPast(dir, always(true))
	log, _, err := runlog.Open(dir, nil, p.Visit)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return p, p.Finish()
}

func TestClaimsOfAllSessionsCount(t *testing.T) {
	dir := written(t,
		event.TaskSubmitted{Format: event.Format},
		event.BudgetClaimed{Calls: 16, USD: 0.5}, // killed: up to $0.5 may be billed
		event.RunResumed{},                       // now with --max-calls instead of --max-usd
		event.BudgetClaimed{Calls: 32},           // killed again
	)
	p, err := pastOf(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Spent.HeldUSD != 0.5 {
		t.Errorf("held $%v, want 0.5", p.Spent.HeldUSD)
	}
}

func TestALostSampleDoesNotBlockResume(t *testing.T) {
	dir := written(t,
		event.TaskSubmitted{Format: event.Format},
		event.SampleRedFlagged{Sample: event.Sample{Question: "step/0"}, Text: event.TextValue(strings.Repeat("x", 20000))},
		event.StepCompleted{Step: 0, Output: event.TextValue("ok")},
	)
	os.RemoveAll(filepath.Join(dir, runlog.BlobsDir))
	if _, err := pastOf(t, dir); err != nil {
		t.Errorf("nothing that a resume needs is lost, but: %v", err)
	}
}

func TestADecidedVoteIsPaidFor(t *testing.T) {
	cost := 0.3
	dir := written(t,
		event.TaskSubmitted{Format: event.Format},
		event.StepCompleted{Step: 0, Spent: usage.Spent{Calls: 3, USD: 0.1}},
		event.VoteCompleted{Question: "step/1", Step: 1, Status: string(flow.Decided), CostUSD: &cost, Spent: usage.Spent{Calls: 6, USD: 0.4}},
	)
	p, err := pastOf(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Spent.USD < 0.4 {
		t.Errorf("spent $%v, but step 0 and the vote that step 1 is committed with cost $0.4", p.Spent.USD)
	}
}
