//go:build slow && linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// TestKillAtRandomMoments kills runs over HTTP at moments spread evenly over
// their length, start-up and recovery included, and resumes them each time.
func TestKillAtRandomMoments(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	const disks = 9
	// Wrong answers are frequent enough for contested steps everywhere. A lead
	// of five leaves one wrong step in 2.5 million. Answers take long enough for steps to
	// be asked ahead.
	server := startSim(t, "sim/default?p=0.95&malformed=0.03&latency=20ms,0.3&seed=11", "")
	fresh := func(log string) []string {
		return []string{"hanoi", "--disks", fmt.Sprint(disks), "--model", "compat/default", "--base-url", server.base,
			"--ahead-by", "5", "--log", log, "--quiet"}
	}

	// How long a run takes when nobody kills it says where moments are.
	logDir := t.TempDir()
	whole := mustMaker(t, 0, append(fresh("compact"), "--log-dir", logDir)...)
	undisturbed := mustBeRight(t, runDir(t, logDir), disks)
	requests := server.stats(t).Requests
	wasted := undisturbed.end.Spent.Wasted
	t.Logf("undisturbed: %d steps in %s, %d requests, %d of them wasted ahead", undisturbed.steps, whole.took.Round(time.Millisecond), requests, wasted)
	if wasted == 0 {
		t.Error("no step was asked ahead in vain, want some of these, too")
	}

	const perRun = 50 // kills that a run gets, on average
	longest := 2 * whole.took / perRun
	random := rand.New(rand.NewPCG(1, 2))
	done, runs := 0, 0
	for ; done < kills; runs++ {
		log := []string{"compact", "full"}[runs%2]
		logDir := t.TempDir()
		n := killUntilDone(t, random, longest, kills-done, append(fresh(log), "--log-dir", logDir), logDir, func(dir string) { mustBeConsistent(t, dir, disks) })
		if n == 0 {
			t.Fatalf("run %d ended before it was killed once", runs)
		}
		done += n
		sum := mustBeRight(t, runDir(t, logDir), disks)
		now := server.stats(t).Requests
		t.Logf("%s log: %d kills, %d sessions in the log, %d contested steps, %d red flags; %d requests at the server, %d in committed steps",
			log, n, sum.sessions, sum.contested, sum.flagged, now-requests, sum.samples)
		requests = now
		if sum.contested == 0 || sum.flagged == 0 {
			t.Errorf("the run has %d contested steps and %d red flags, want some of both", sum.contested, sum.flagged)
		}
	}
	t.Logf("%d kills in %d runs", done, runs)
}

// killUntilDone starts a run, kills it and resumes it, until it completes or
// was killed often enough; then it lets it complete. It returns how often the
// process was killed before it ended by itself. After each kill the run is checked.
func killUntilDone(t *testing.T, random *rand.Rand, longest time.Duration, kills int, fresh []string, logDir string, check func(dir string)) int {
	t.Helper()
	var before []byte
	args := fresh
	for done := 0; ; {
		p := start(t, makerPath, args...)
		if done < kills {
			select {
			case <-time.After(time.Duration(random.Int64N(int64(longest)))): // the moment, not a wait for something
			case <-p.ended:
			}
			p.kill()
		}
		o := p.wait(t)
		switch o.code {
		case 0:
			return done
		case -1:
			done++
		default:
			t.Fatalf("maker %q = %v, want exit code 0 or a kill", args, o)
		}
		dir, ok := findRun(logDir)
		if !ok {
			continue // it was killed before there was a run
		}
		after := readLog(t, dir)
		mustExtend(t, before, after)
		if before = complete(after); len(before) == 0 {
			// It was killed within its first append: there is nothing to resume.
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			continue
		}
		check(dir)
		args = []string{"resume", dir, "--quiet"}
	}
}
