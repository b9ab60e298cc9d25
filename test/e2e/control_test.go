//go:build slow && linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKillAroundRequests asks runs to end from elsewhere and kills them, whoever asks, or
// both, at random moments. Whoever is told that a run is cancelled finds it so; nothing is
// lost or done twice; no request hits a later session, and none stays.
func TestKillAroundRequests(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	const disks = 8
	random := rand.New(rand.NewPCG(5, 6))
	counts := map[string]int{}
	for round := range rounds {
		logDir := t.TempDir()
		run := start(t, makerPath, "hanoi", "--disks", fmt.Sprint(disks), "--ahead-by", "4", "--model", "sim/default?latency=5ms", "--log-dir", logDir, "--quiet")
		eventually(t, "the run is at work", func() bool {
			dir, ok := findRun(logDir)
			return ok && strings.Contains(string(readLog(t, dir)), `"step_completed"`)
		})
		dir := runDir(t, logDir)
		action := []string{"cancel", "pause"}[round%2]
		asks := start(t, makerPath, action, dir)
		// A request is taken within about 250 ms, after the start of a process.
		wait := time.NewTimer(time.Duration(random.Int64N(int64(400 * time.Millisecond))))
		<-wait.C
		victim := "nobody"
		if round%3 != 1 {
			victim = "the run"
			run.kill()
		}
		if round%3 != 0 {
			victim += " and who asks"
			asks.kill()
		}
		asked := asks.wait(t)
		if asked.code == 0 || round%3 == 1 && action == "cancel" {
			// Whoever asked was told, or the run goes on and can be asked again.
			mustMaker(t, 0, "cancel", dir)
		}
		first := run.wait(t)
		counts[fmt.Sprintf("%s, killed %s: %d, run %d", action, victim, asked.code, first.code)]++
		state := stateOf(t, logDir)
		if asked.code == 0 && state != "cancelled" {
			t.Errorf("round %d: maker %s and then maker cancel = exit code 0, but the run is %s", round, action, state)
		}
		// What was left behind is not for this session.
		second := mustMaker(t, 0, "resume", dir, "--model", "sim/default", "--quiet")
		if _, err := os.Stat(filepath.Join(dir, "control")); err == nil {
			t.Errorf("round %d: a request stays: %v", round, second)
		}
		mustBeRight(t, dir, disks)
	}
	t.Log(counts)
}

// stateOf is the state of the only run in a log folder.
func stateOf(t *testing.T, logDir string) string {
	t.Helper()
	out := mustMaker(t, 0, "runs", "--json", "--log-dir", logDir).stdout
	_, rest, _ := strings.Cut(out, `"state":"`)
	state, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("maker runs --json = %s, want a state", out)
	}
	return state
}
