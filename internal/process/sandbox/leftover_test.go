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

// childrenOf lists the processes that another has started.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	var out []int
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tasks {
		data, _ := os.ReadFile(name) // a thread may have ended
		for field := range strings.FieldsSeq(string(data)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, child)
		}
	}
	return out
}

// isDead reports whether a process has ended, if perhaps nobody has been told yet.
func isDead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
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
				for _, pid := range victims {
					waitFor(t, func() bool { return isDead(pid) })
				}
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
		if n := folders(); n != 2 {
			t.Fatalf("there are %d temporary folders, want that of the dead and that of the living", n)
		}
		t.Setenv("TMPDIR", temp)
		o := Options{Workspace: t.TempDir()}
		if _, err := New(t.Context(), o.at(level)); err != nil {
			t.Fatal(err)
		}
		if n := folders(); n != 1 {
			t.Errorf("after the next start there are %d temporary folders, want that of the living only", n)
		}
		if len(running(t, living)) == 0 {
			t.Error("the other command does not run any more")
		}
	})
}
