//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childrenOf lists the processes that another has started. The kernel has a list of its
// own, in which some may be missing while others come and go.
func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, name := range all {
		data, _ := os.ReadFile(name) // it may have ended
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, child)
	}
	return out
}

// TestNextStartSweeps kills everybody who could remove the temporary folder of a
// command. Whoever is started next does it, and leaves that of others alone.
func TestNextStartSweeps(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		temp := t.TempDir()
		begin := func() (kill func(), mark string) {
			mark = marker()
			cmd, out := startParent(t, parentJob{Workspace: t.TempDir(), Level: level, Script: `echo ready; sleep ` + mark}, "TMPDIR="+temp)
			buffer := make([]byte, 100)
			if n, err := out.Read(buffer); err != nil || string(buffer[:n]) != "ready\n" {
				t.Fatalf("output %q, %v, want ready", buffer[:n], err)
			}
			return func() {
				victims := append(childrenOf(t, cmd.Process.Pid), cmd.Process.Pid)
				for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
					for _, pid := range victims {
						_ = syscall.Kill(pid, signal)
					}
				}
				_ = cmd.Wait() // killed
			}, mark
		}
		folders := func() int {
			t.Helper()
			left, err := os.ReadDir(temp)
			if err != nil {
				t.Fatal(err)
			}
			return len(left)
		}
		killThis, dead := begin()
		killOther, living := begin()
		defer killOther()
		killThis()
		for deadline := time.Now().Add(15 * time.Second); len(running(t, dead)) > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("still running: %q", running(t, dead))
			}
		}
		t.Setenv("TMPDIR", temp)
		o := Options{Workspace: t.TempDir()}
		waitFor(t, func() bool { // the last thread of a dead process still holds its lock
			if _, err := New(t.Context(), o.at(level)); err != nil {
				t.Fatal(err)
			}
			return folders() == 1
		})
		if len(running(t, living)) == 0 {
			t.Error("the other command does not run any more")
		}
	})
}
