//go:build slow && linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

const (
	budgetDisks = 7
	budgetBatch = 64
	// budgetModel brings its settings to the server in its name, so that its
	// price is known. Being fast, it answers while others are in flight.
	budgetModel = "compat/sim/default?p=0.95&malformed=0.03&latency=4ms,0.5&seed=21"
)

// budgetRun is a run with as many samples in flight as it may have, some of
// which are always cancelled.
func budgetRun(server *simServer, logDir string, more ...string) []string {
	return append([]string{"hanoi", "--disks", fmt.Sprint(budgetDisks), "--model", budgetModel, "--base-url", server.base,
		"--ahead-by", "44", "--spare", "20", "--batch-size", fmt.Sprint(budgetBatch), "--quiet", "--log-dir", logDir}, more...)
}

// TestBudgetsUnderConcurrency stops runs with dozens of calls in flight.
func TestBudgetsUnderConcurrency(t *testing.T) {
	for _, tc := range []struct {
		flag  string
		limit float64
		used  func(spent) float64 // what counts against the limit
	}{
		{"max-calls", 5000, func(s spent) float64 { return float64(s.Calls) }},
		{"max-tokens", 3_500_000, func(s spent) float64 { return float64(s.tokens()) }},
		{"max-usd", 2.5, spent.usd},
	} {
		t.Run(tc.flag, func(t *testing.T) {
			server := startSim(t, "sim/default", "")
			logDir := t.TempDir()
			flag := limitFlag(tc.flag, tc.limit)
			p := start(t, makerPath, budgetRun(server, logDir, flag)...)
			var inFlight int64
			for p.running() {
				inFlight = max(inFlight, server.stats(t).InFlight)
			}
			o := p.wait(t)
			dir := runDir(t, logDir)
			if o.code != 4 || !strings.Contains(o.stderr, "--"+tc.flag) {
				t.Fatalf("maker hanoi %s = %v, want exit code 4 and the flag named", flag, o)
			}
			sum, r, seen := mustBeConsistent(t, dir, budgetDisks), readResult(t, dir), server.stats(t)
			if wantStop := strings.ReplaceAll(tc.flag, "-", "_"); r.Status != "stopped" || r.Stop != wantStop {
				t.Errorf("result.json: status = %q by %q, want stopped by %q", r.Status, r.Stop, wantStop)
			}
			used := tc.used(r.Usage)
			if used > tc.limit {
				t.Errorf("%s: used = %v, want at most %v", flag, used, tc.limit)
			}
			if used < tc.limit/2 {
				t.Errorf("%s: used = %v, want the budget used before it stops the run", flag, used)
			}
			if most := (spent{Calls: sum.most.Calls, HeldTokens: sum.most.HeldTokens, HeldUSD: sum.most.HeldUSD}); tc.used(most) > tc.limit {
				t.Errorf("%s: the log states %v along the way, want at most %v", flag, tc.used(most), tc.limit)
			}
			if tc.flag == "max-calls" && seen.Requests > int64(tc.limit) {
				t.Errorf("%s: the server saw %d requests", flag, seen.Requests)
			}
			if seen.Requests > r.Usage.Calls {
				t.Errorf("result.json: calls = %d, but the server saw %d", r.Usage.Calls, seen.Requests)
			}
			if inFlight < 40 {
				t.Errorf("in flight at the server = %d at most, want more for a test of concurrency", inFlight)
			}
			t.Logf("%s: %v used at step %d; %d calls of which %d were given up, %d at the server, up to %d in flight",
				flag, used, sum.steps, r.Usage.Calls, r.Usage.Abandoned, seen.Requests, inFlight)

			before := readLog(t, dir)
			mustMaker(t, 0, "resume", dir, "--quiet", limitFlag(tc.flag, 100*tc.limit))
			mustExtend(t, before, readLog(t, dir))
			mustBeRight(t, dir, budgetDisks)
		})
	}
}

// limitFlag writes a limit without an exponent.
func limitFlag(name string, limit float64) string {
	return "--" + name + "=" + strconv.FormatFloat(limit, 'f', -1, 64)
}

// lastClaim is up to how many calls the log says the run may make.
func lastClaim(t *testing.T, dir string) int64 {
	t.Helper()
	var calls int64
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Type != event.TypeBudgetClaimed {
			continue
		}
		rec, err := line.Decode()
		if err != nil {
			t.Fatal(err)
		}
		calls = rec.Event.(event.BudgetClaimed).Calls
	}
	return calls
}

// TestCallBudgetAcrossKills kills a run with a budget again and again. The server
// never sees more calls than were claimed in the log before, nor more than the
// budget in the end.
func TestCallBudgetAcrossKills(t *testing.T) {
	const limit = 5000
	server := startSim(t, "sim/default", "")
	logDir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	args := budgetRun(server, logDir, fmt.Sprintf("--max-calls=%d", limit))
	kills := 0
	for {
		p := start(t, makerPath, args...)
		select {
		case <-time.After(time.Duration(random.Int64N(int64(150 * time.Millisecond)))): // the moment of the kill
		case <-p.ended:
		}
		if o := p.kill(); o.code == 4 {
			break
		} else if o.code != -1 {
			t.Fatalf("maker %q = %v, want exit code 4 or a kill", args, o)
		}
		dir, ok := findRun(logDir)
		if !ok {
			continue
		}
		kills++
		eventually(t, "the server has noticed", func() bool { return server.stats(t).InFlight == 0 })
		mustBeConsistent(t, dir, budgetDisks)
		if sent, claimed := server.stats(t).Requests, lastClaim(t, dir); sent > claimed {
			t.Errorf("kill %d: the server saw %d requests, but only %d were claimed before", kills, sent, claimed)
		}
		args = []string{"resume", dir, "--quiet"}
	}
	dir := runDir(t, logDir)
	if sum := mustBeConsistent(t, dir, budgetDisks); sum.most.Calls > limit {
		t.Errorf("calls in the log = %d, want at most %d", sum.most.Calls, limit)
	}
	total := server.stats(t).Requests
	t.Logf("%d kills; %d calls allowed, %d requests at the server", kills, limit, total)
	if kills == 0 {
		t.Fatal("the run was never killed")
	}
	if total > limit {
		t.Errorf("requests at the server = %d, want at most %d", total, limit)
	}
	mustMaker(t, 0, "resume", dir, "--quiet", "--max-calls=100000")
	mustBeRight(t, dir, budgetDisks)
}
