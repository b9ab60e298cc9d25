//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asCramped looks for a sandbox when there is hardly room for a thread.
func asCramped(threads string) int {
	n, err := strconv.ParseUint(threads, 10, 64)
	if err == nil {
		err = syscall.Setrlimit(rlimitProcesses, &syscall.Rlimit{Cur: n, Max: n})
	}
	if err != nil {
		fmt.Println(err)
		return 3
	}
	s, err := New(context.Background(), Options{Workspace: "."})
	switch {
	case errors.Is(err, ErrProbe):
		fmt.Println("failed:", err)
	case err != nil:
		fmt.Println("error:", err)
	default:
		fmt.Println("level:", s.Level())
	}
	return 0
}

// TestProbeFails: a machine that has no room for another process just now is not a
// machine without a sandbox.
func TestProbeFails(t *testing.T) {
	dir, err := os.MkdirTemp("", "maker-cramped-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for threads := 4; threads <= 44; threads += 4 {
		cmd := exec.Command("/proc/self/exe")
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MAKER_SANDBOX_THREADS=" + strconv.Itoa(threads)}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 64999, Gid: 64999}} // nobody else's
		}
		_ = cmd.Run() // it may not even have the room to run itself
		said, _, _ := strings.Cut(out.String(), "\n")
		kind, what, _ := strings.Cut(said, ": ")
		switch kind {
		case "level":
			if Level(what) == None {
				t.Errorf("New(auto, room for %d threads) = %s, want a sandbox or an error", threads, what)
			}
		case "failed":
			if !strings.Contains(what, "temporarily unavailable") && !strings.Contains(what, "thread") {
				t.Errorf("New(auto, room for %d threads) = %s, want the cause", threads, what)
			}
		case "error":
			t.Errorf("New(auto, room for %d threads) = %s, want ErrProbe: the machine does have a sandbox", threads, what)
		default:
			kind = "the program itself did not start"
		}
		seen[kind]++
	}
	t.Log(seen)
	if _, err := Detect(t.Context()); err == nil && seen["failed"] == 0 {
		t.Errorf("the probe never failed: %v", seen)
	}
}

// TestBubblewrapAnswers stands something else in bwrap's place.
func TestBubblewrapAnswers(t *testing.T) {
	tests := []struct {
		says string
		want error // of New with bubblewrap alone
	}{
		{"bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.", ErrNone},
		{"bwrap: setting up uid map: Permission denied", ErrNone},
		{"bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.", ErrNone},
		{"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", ErrNone},
		{"bwrap: Unknown option --unshare-cgroup-try", ErrNone},
		{"bwrap: error while loading shared libraries: libcap.so.2: cannot open shared object file", ErrNone},
		{"bwrap: Creating new namespace failed: Resource temporarily unavailable", ErrProbe},
		{"bwrap: Creating new namespace failed: No space left on device", ErrProbe},
		{"bwrap: Can't fork for pid 1: Cannot allocate memory", ErrProbe},
		{"bwrap: Can't create file /x: Too many open files in system", ErrProbe},
		{"", ErrProbe},
	}
	if !namespacesAllowed() {
		t.Skip("this machine allows no namespaces")
	}
	for _, test := range tests {
		dir := t.TempDir()
		script := "#!/bin/sh\necho '" + strings.ReplaceAll(test.says, "'", `'\''`) + "' >&2\nexit 1\n"
		if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":/usr/bin:/bin")
		_, err := New(t.Context(), Options{Workspace: t.TempDir(), Levels: []Level{Bubblewrap}})
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("New(bwrap says %q) = %v, want %v with the cause", test.says, err, test.want)
		}
	}
}

// TestProbeIsRepeated: what fails for a moment works in the next.
func TestProbeIsRepeated(t *testing.T) {
	if err := installBubblewrap(); err != nil {
		t.Skip(err)
	}
	real, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), Options{Workspace: t.TempDir(), Levels: []Level{Bubblewrap}}); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nif [ -e %[1]s/failed ]; then exec %[2]s \"$@\"; fi\ntouch %[1]s/failed\necho 'bwrap: fork: Resource temporarily unavailable' >&2\nexit 1\n", dir, real)
	if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s, err := New(t.Context(), Options{Workspace: t.TempDir()})
	if err != nil || s.Level() != Bubblewrap {
		t.Errorf("New(bwrap that fails once) = %v, want bubblewrap", err)
	}
}

// asPowerless looks for a sandbox as root without power over the machine, as in a
// container.
func asPowerless() int {
	const admin = 21 // the capability to make namespaces
	if os.Getenv("MAKER_SANDBOX_POWERLESS") == "drop" {
		runtime.LockOSThread()
		err := prctl(prCapBoundingDrop, admin)
		if err == nil {
			err = syscall.Exec("/proc/self/exe", os.Args, []string{"PATH=" + os.Getenv("PATH"), "MAKER_SANDBOX_POWERLESS=run"})
		}
		fmt.Println("error:", err)
		return 3
	}
	s, err := New(context.Background(), Options{Workspace: "."})
	if err == nil {
		_, err = s.Run(context.Background(), Command{Args: []string{"sh", "-c", "(setsid sleep 300 &) ; echo ran"}, Output: os.Stdout})
	}
	if err != nil {
		fmt.Println("error:", err)
		return 3
	}
	fmt.Println("level:", s.Describe())
	return 0
}

// TestRootInAContainer: root without the power to make namespaces still has Landlock,
// with less.
func TestRootInAContainer(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has powers to lose")
	}
	if _, err := New(t.Context(), Options{Workspace: t.TempDir(), Levels: []Level{Landlock}}); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MAKER_SANDBOX_POWERLESS=drop"}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ran\n") || !strings.Contains(string(out), "level: landlock") || !strings.Contains(string(out), "one by one") {
		t.Errorf("New(root without powers) = %v, %s, want landlock, and what it lacks", err, out)
	}
}
