//go:build slow && linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemovingTheLockOfALiveRun takes the lock away from a run at work and has a
// second process resume it, at many moments. The log stays whole and every effect
// happens once: the two never write at the same time.
func TestRemovingTheLockOfALiveRun(t *testing.T) {
	const rounds, steps = 40, 8
	damaged, doubled, refused, stopped := 0, 0, 0, 0
	for round := range rounds {
		workspace, logDir := t.TempDir(), t.TempDir()
		script := effectScript(t, "echo item-${1} >> log.txt")
		first := start(t, makerPath, "exec", effectPlan(t, steps, "file"), "--model", "sim/default?latency=5ms&script="+script,
			"--voting", "first_to_k", "--voting-k", "4", "--max-voting-samples", "60", "--approve", "none", "--no-input", "--sandbox", "off",
			"--workspace", workspace, "--log-dir", logDir, "--quiet")
		begun := 3 + round // lines of the log
		eventually(t, "the run is at work", func() bool {
			dir, ok := findRun(logDir)
			return ok && bytes.Count(readLog(t, dir), []byte("\n")) > begun || !first.running()
		})
		dir := runDir(t, logDir)
		if err := os.Remove(filepath.Join(dir, "lock")); err != nil {
			t.Fatal(err)
		}
		second := start(t, makerPath, "resume", dir, "--no-input", "--quiet")
		one, two := first.wait(t), second.wait(t)
		if strings.Contains(one.stderr, "the lock of the run") {
			stopped++
		}
		if two.code == 2 && strings.Contains(two.stderr, "in use by") {
			refused++
		}
		if err := finishEffects(t, dir, workspace); err != nil {
			damaged++
			t.Errorf("round %d: %v\nthe first process: %v\nthe second: %v", round, err, one, two)
			continue
		}
		mustMaker(t, 0, "replay", dir)
		for i, lines := 0, linesOf(t, filepath.Join(workspace, "log.txt")); i < steps; i++ {
			if n := lines[fmt.Sprintf("item-%d", i)]; n != 1 {
				doubled++
				t.Errorf("round %d: item-%d happened %d times, want once\nthe first process: %v\nthe second: %v", round, i, n, one, two)
			}
		}
	}
	t.Logf("%d rounds: the first process noticed %d times, the second was refused %d times; %d logs damaged, %d effects doubled or missing",
		rounds, stopped, refused, damaged, doubled)
	if stopped == 0 {
		t.Error("no process ever noticed that its lock was gone: the rounds missed their moment")
	}
}

// finishEffects resumes a run to its end and answers what it asks with the truth.
func finishEffects(t *testing.T, dir, workspace string) error {
	t.Helper()
	for range 10 {
		for _, err := range lines(dir) {
			if err != nil {
				return err
			}
		}
		o := maker(t, "resume", dir, "--no-input", "--quiet")
		switch {
		case o.code == 0, strings.Contains(o.stderr, "the run is finished"):
			return nil
		case o.code != 1 || !strings.Contains(o.stdout, "nobody knows whether"):
			return fmt.Errorf("maker resume = %v", o)
		}
		answer := "it did not happen: do it"
		if item := unknownItem(t, dir); linesOf(t, filepath.Join(workspace, "log.txt"))[item] > 0 {
			answer = "it happened"
		}
		mustMaker(t, 0, "answer", dir, "--text", answer)
	}
	return fmt.Errorf("the run in %s does not come to an end", dir)
}

// unknownItem is what the last effect of unknown outcome was about.
func unknownItem(t *testing.T, dir string) string {
	t.Helper()
	log := readLog(t, dir)
	at := bytes.LastIndex(log, []byte(`{"type":"effect_unknown"`))
	if at < 0 {
		t.Fatalf("the log in %s has no effect of unknown outcome", dir)
	}
	_, rest, _ := bytes.Cut(log[at:], []byte("echo "))
	item, _, _ := bytes.Cut(rest, []byte(" "))
	return string(item)
}
