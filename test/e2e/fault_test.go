//go:build slow && linux

package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestFaults runs over a server that refuses, breaks, hangs and cuts.
func TestFaults(t *testing.T) {
	const disks = 10
	server := startSim(t, "sim/default?p=0.99&malformed=0&f429=0.2&f500=0.05&hang=0.01&cut=0.01&seed=5", "")
	logDir := t.TempDir()
	o := mustMaker(t, 0, "hanoi", "--disks", "10", "--model", "compat/default", "--base-url", server.base, "--ahead-by", "4",
		"--call-timeout", "1s", "--retry-delay", "5ms", "--max-faults", "50", "--quiet", "--log-dir", logDir)
	dir := runDir(t, logDir)
	sum := mustBeRight(t, dir, disks)
	r, seen := readResult(t, dir), server.stats(t)
	var faults int64
	for _, kind := range []string{"f429", "f500", "hang", "cut"} {
		if seen.Faults[kind] == 0 {
			t.Errorf("the server made no fault of kind %s: %v", kind, seen.Faults)
		}
		faults += seen.Faults[kind]
	}
	// Every sample that was launched was needed, so every fault is on the books.
	if int64(r.Voting.Faults) != faults {
		t.Errorf("result.json: faults = %d, want the server's %d", r.Voting.Faults, faults)
	}
	if r.Voting.RedFlagged != 0 || sum.flagged != 0 {
		t.Errorf("red flags = %d in result.json and %d in the log, want none: a fault is not one", r.Voting.RedFlagged, sum.flagged)
	}
	if r.Usage.Calls != seen.Requests {
		t.Errorf("result.json: calls = %d, want the server's %d", r.Usage.Calls, seen.Requests)
	}
	t.Logf("%d steps in %s, %d requests, %d samples, faults %v", sum.steps, o.took.Round(time.Millisecond), seen.Requests, sum.samples, seen.Faults)
}

// TestOutage takes the server away in the middle of a run, gives back one that
// is broken, and at last a good one.
func TestOutage(t *testing.T) {
	const disks, maxFaults, attempts = 9, 8, 2
	const model = "sim/default?p=0.99&latency=2ms"
	server := startSim(t, model, "")
	logDir := t.TempDir()
	p := start(t, makerPath, "hanoi", "--disks", "9", "--model", "compat/default", "--base-url", server.base, "--ahead-by", "4",
		"--max-faults", "8", "--retry-attempts", "2", "--retry-delay", "5ms", "--quiet", "--log-dir", logDir)
	eventually(t, "some steps are committed", func() bool {
		dir, ok := findRun(logDir)
		return ok && strings.Count(string(readLog(t, dir)), "step_completed") > 20
	})
	dir := runDir(t, logDir)
	server.kill()
	gone := time.Now()
	o := p.wait(t)
	outage := time.Since(gone)
	wantOutage(t, o, dir, "connection refused", maxFaults, attempts)
	if outage > 30*time.Second {
		t.Errorf("the run ended %s after the server was gone, want it within its %d faults", outage, maxFaults)
	}
	first := mustBeConsistent(t, dir, disks)
	before := readLog(t, dir)

	broken := startSim(t, "sim/default?f500=1", server.addr)
	o = maker(t, "resume", dir, "--quiet")
	wantOutage(t, o, dir, "HTTP 500", maxFaults, attempts)
	broken.kill()
	if second := mustBeConsistent(t, dir, disks); second.steps != first.steps {
		t.Errorf("committed steps = %d after an outage that began with %d", second.steps, first.steps)
	}

	back := startSim(t, model, server.addr)
	mustMaker(t, 0, "resume", dir, "--quiet")
	mustExtend(t, before, readLog(t, dir))
	sum := mustBeRight(t, dir, disks)
	t.Logf("%d steps before the outage, exit %s after it began; %d more steps and %d requests when the server was back",
		first.steps, outage.Round(time.Millisecond), sum.steps-first.steps, back.stats(t).Requests)
}

// wantOutage checks how a run ended whose provider is down.
func wantOutage(t *testing.T, o outcome, dir, answer string, maxFaults, attempts int) {
	t.Helper()
	if o.code != 1 || !strings.Contains(o.stdout, answer) || !strings.Contains(o.stderr, "maker resume") {
		t.Errorf("maker in an outage = %v, want exit code 1, %q and how to resume", o, answer)
	}
	for l, err := range lines(dir) {
		if err != nil {
			t.Fatal(err)
		}
		// A sample reports all its attempts at once.
		if most := maxFaults + attempts - 1; l.Type == "step_failed" && (l.Voting.Faults < maxFaults || l.Voting.Faults > most) {
			t.Errorf("step %d failed after %d faults, want %d to %d", l.Step, l.Voting.Faults, maxFaults, most)
		}
	}
}

// TestFaultCap counts at the server how many failed calls a step really makes,
// with as many attempts for one sample as there are by default. The cap is on
// failed calls, wherever in the engine they are repeated.
func TestFaultCap(t *testing.T) {
	const maxFaults, aheadBy = 5, 3
	server := startSim(t, "sim/default?f500=1", "")
	o := mustMaker(t, 1, "hanoi", "--disks", "3", "--model", "compat/default", "--base-url", server.base,
		"--ahead-by", "3", "--max-faults", "5", "--retry-delay", "5ms", "--quiet", "--log-dir", t.TempDir())
	seen := server.stats(t).Requests
	t.Logf("%d failed calls with --max-faults %d, exit after %s", seen, maxFaults, o.took.Round(time.Millisecond))
	// When the last permitted call fails, others may be on their way.
	if most := int64(maxFaults + aheadBy); seen < maxFaults || seen > most {
		t.Errorf("failed calls = %d with --max-faults %d, want %d to %d", seen, maxFaults, maxFaults, most)
	}
	if o.took > 30*time.Second {
		t.Errorf("the run ended after %s, want it to end soon after its fault cap", o.took)
	}
}
