package runner_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

// TestBudgets: of many runs at once on two workers none spends more than it may, whether it gets
// to its end or not.
func TestBudgets(t *testing.T) {
	const many = 100
	c := newCluster(t)
	c.work(t)
	c.work(t)
	type limit struct {
		calls int64
		usd   float64
	}
	limits := []limit{{calls: 10}, {calls: 40}, {calls: 2000}, {usd: 0.001}, {usd: 0.01}, {usd: 5}}
	var wg sync.WaitGroup
	outputs := make([]runner.Output, many)
	var all []string
	var of []limit
	for n := range many {
		args, _ := commands(t, n)
		l := limits[n%len(limits)]
		of = append(of, l)
		if l.calls > 0 {
			args = append(args, "--max-calls", strconv.FormatInt(l.calls, 10))
		} else {
			args = append(args, "--max-usd", strconv.FormatFloat(l.usd, 'f', -1, 64))
		}
		if args[0] == "map" {
			args = append(args, "--yes")
		}
		run := c.hold(t, args...)
		all = append(all, run)
		w, err := c.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: run, TaskQueue: "maker"}, runner.Workflow, runner.Input{Version: wire.Version, Run: run, NoInput: true})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if err := w.Get(t.Context(), &outputs[n]); err != nil {
				t.Errorf("%s: %v", run, err)
			}
		})
	}
	wg.Wait()
	stopped, completed := 0, 0
	for n, run := range all {
		out := outputs[n]
		switch {
		case out.Status == event.StatusCompleted:
			completed++
		case out.Status == event.StatusStopped && slices.Contains([]string{"max_calls", "max_usd"}, out.Stop):
			stopped++
		default:
			t.Errorf("%s ended as %+v", run, out)
		}
		dir := filepath.Join(t.TempDir(), run)
		if err := runner.Export(t.Context(), c.store, run, dir); err != nil {
			t.Fatal(err)
		}
		r, err := runs.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Store()
		if err != nil {
			t.Fatal(err)
		}
		if l := of[n]; l.calls > 0 && result.Usage.Calls > l.calls {
			t.Errorf("%s made %d calls, and may make %d", run, result.Usage.Calls, l.calls)
		} else if l.usd > 0 && (result.TotalCostUSD == nil || *result.TotalCostUSD > l.usd) {
			t.Errorf("%s cost %v, and may cost %v", run, result.TotalCostUSD, l.usd)
		}
	}
	t.Logf("%d runs were completed, %d stopped by their budgets", completed, stopped)
	if stopped < 10 || completed < 10 {
		t.Errorf("%d completed and %d stopped: want some of both", completed, stopped)
	}
}
