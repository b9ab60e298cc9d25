//go:build slow && linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTwoProcesses lets a second process at a run that is being written.
func TestTwoProcesses(t *testing.T) {
	const disks = 8
	logDir := t.TempDir()
	p := start(t, makerPath, "hanoi", "--disks", fmt.Sprint(disks), "--model", "sim/default?latency=50ms", "--quiet", "--log-dir", logDir)
	eventually(t, "a step is committed", func() bool {
		dir, ok := findRun(logDir)
		return ok && bytes.Contains(readLog(t, dir), []byte("step_completed"))
	})
	dir := runDir(t, logDir)
	o := mustMaker(t, 2, "resume", dir, "--quiet")
	if want := fmt.Sprintf("process %d ", p.cmd.Process.Pid); !strings.Contains(o.stderr, want) {
		t.Errorf("maker resume of a run in use = %v, want %q named", o, want)
	}
	if !p.running() {
		t.Fatalf("the first process ended: %v", p.outcome())
	}
	p.kill()
	// The lock goes with its process.
	mustMaker(t, 0, "resume", dir, "--quiet", "--model", "sim/default")
	mustBeRight(t, dir, disks)
	t.Logf("the second process said: %s", strings.TrimSpace(o.stderr))
}

// mount puts a tmpfs in place. It reports false, with the reason in the test's
// log, where that is not allowed.
func mount(t *testing.T, size string) (dir string, remount func(flags uintptr, size string), ok bool) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Logf("a tmpfs cannot be mounted here (%v)", err)
		return "", nil, false
	}
	if err != nil {
		t.Fatalf("mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir, func(flags uintptr, size string) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size="+size); err != nil {
			t.Fatalf("remount: %v", err)
		}
	}, true
}

// TestDiskFull lets runs hit the end of the disk and goes on with more room.
func TestDiskFull(t *testing.T) {
	const disks = 12 // about 2 MB
	hanoi := []string{"hanoi", "--disks", fmt.Sprint(disks), "--model", "sim/default?p=0.99&malformed=0.03", "--ahead-by", "4", "--quiet", "--log-dir"}
	full := func(t *testing.T, o outcome, logDir, why string) (dir string, before []byte) {
		t.Helper()
		dir = runDir(t, logDir)
		// The log is full, or its index, which is brought up to it first.
		for _, want := range []string{why, "cannot write the run log in " + dir, "maker resume " + dir} {
			if o.code != 1 || !strings.Contains(o.stderr, want) {
				t.Errorf("maker on a full disk = %v, want exit code 1 and %q", o, want)
			}
		}
		before = readLog(t, dir)
		if len(before) != len(complete(before)) {
			t.Errorf("the log ends with an unfinished line: %.100q", before[len(complete(before)):])
		}
		sum := mustBeConsistent(t, dir, disks)
		if sum.steps == 0 || sum.steps == 1<<disks-1 {
			t.Fatalf("%d steps are committed, want an end on the way", sum.steps)
		}
		t.Logf("full after %d steps and %d bytes: %s", sum.steps, len(before), o.stderr)
		return dir, before
	}
	goOn := func(t *testing.T, dir string, before []byte) {
		t.Helper()
		mustMaker(t, 0, "resume", dir, "--quiet")
		mustExtend(t, before, readLog(t, dir))
		mustBeRight(t, dir, disks)
	}
	t.Run("tmpfs of 1 MB", func(t *testing.T) {
		logDir, remount, ok := mount(t, "1m")
		if !ok {
			t.Skip("the limit on the size of a file, below, stands in for it")
		}
		dir, before := full(t, maker(t, append(hanoi, logDir)...), logDir, "no space left on device")
		// As long as it is full, trying again changes nothing.
		_, again := full(t, maker(t, "resume", dir, "--quiet"), logDir, "no space left on device")
		mustExtend(t, before, again)
		remount(0, "32m")
		goOn(t, dir, before)
	})
	t.Run("limit on the size of a file", func(t *testing.T) {
		logDir := t.TempDir()
		args := append([]string{"-c", `ulimit -f 1000; exec "$@"`, "sh", makerPath}, append(hanoi, logDir)...)
		dir, before := full(t, start(t, "sh", args...).wait(t), logDir, "file too large")
		goOn(t, dir, before)
	})
}

// TestReadOnlyFolder tries to start and to resume runs where nothing can be
// written.
func TestReadOnlyFolder(t *testing.T) {
	const disks = 6
	hanoi := []string{"hanoi", "--disks", fmt.Sprint(disks), "--quiet", "--log-dir"}
	// A new run that has no place is a wrong --log-dir; one that had a place and
	// lost it has failed.
	const start, resume = 2, 1
	refused := func(t *testing.T, code int, path string, args ...string) outcome {
		t.Helper()
		o := maker(t, args...)
		if o.code != code || !strings.Contains(o.stderr, path) || strings.Contains(o.stderr, "goroutine ") {
			t.Errorf("maker %q = %v, want exit code %d and an error that names %s", args, o, code, path)
		}
		// The house rule for every error: it ends with what to do next.
		if !strings.Contains(o.stderr, "writable") && !strings.Contains(o.stderr, "--log-dir") {
			t.Errorf("maker %q says %q, want also what to do about it", args, o.stderr)
		}
		return o
	}
	t.Run("read-only tmpfs", func(t *testing.T) {
		logDir, remount, ok := mount(t, "32m")
		if !ok {
			t.Skip("a file in place of the folder, below, stands in for it")
		}
		stopped := mustMaker(t, 4, append(hanoi, logDir, "--max-calls", "60")...)
		dir := runDir(t, logDir)
		before := readLog(t, dir)
		remount(syscall.MS_RDONLY, "32m")
		t.Logf("start: %s", refused(t, start, logDir, append(hanoi, logDir)...).stderr)
		t.Logf("resume: %s", refused(t, resume, dir, "resume", dir, "--quiet", "--max-calls", "9999").stderr)
		// Looking at a run needs no writing.
		mustMaker(t, 0, "runs", "--log-dir", logDir)
		mustMaker(t, 0, "show", dir)
		mustMaker(t, 0, "replay", dir)
		remount(0, "32m")
		if after := readLog(t, dir); !bytes.Equal(before, after) {
			t.Errorf("the log changed from %d to %d bytes while it was read-only", len(before), len(after))
		}
		mustMaker(t, 0, "resume", dir, "--quiet", "--max-calls", "9999")
		mustExtend(t, before, readLog(t, dir))
		mustBeRight(t, dir, disks)
		t.Logf("stopped after %s by its budget, then refused, then resumed to the end", stopped.took)
	})
	t.Run("file in place of the folder", func(t *testing.T) {
		logDir := filepath.Join(t.TempDir(), "runs")
		if err := os.WriteFile(logDir, []byte("not a folder"), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("start: %s", refused(t, start, logDir, append(hanoi, logDir)...).stderr)
	})
}

// TestFullAtTheFirstEvent: a run that could not begin cannot be resumed, and nobody is
// told to.
func TestFullAtTheFirstEvent(t *testing.T) {
	logDir := t.TempDir()
	plan := effectPlan(t, 20, "file") // its first event is larger than the limit
	o := start(t, "sh", "-c", `ulimit -f 1; exec "$@"`, "sh", makerPath, "exec", plan, "--model", "sim/default", "--no-input",
		"--workspace", t.TempDir(), "--log-dir", logDir, "--quiet").wait(t)
	if o.code != 1 || !strings.Contains(o.stderr, "file too large") || !strings.Contains(o.stderr, "start the run again") || strings.Contains(o.stderr, "maker resume") {
		t.Errorf("maker exec without room for an event = %v, want exit code 1 and to start again", o)
	}
	left, err := os.ReadDir(logDir)
	if err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v, want nothing", left, err)
	}
}
