//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "probe" {
		syscall.Exit(probe(os.Args[2:])) // os.Exit takes a second with the race detector
	}
	if orders := os.Getenv("MAKER_SANDBOX_TEST"); orders != "" {
		syscall.Exit(asParent(orders))
	}
	os.Exit(m.Run())
}

// probe is a hostile program. It prints what worked.
func probe(args []string) int {
	var err error
	switch args[0] {
	case "socket":
		numbers := make([]int, 3)
		for i, arg := range args[1:] {
			if numbers[i], err = strconv.Atoi(arg); err != nil {
				break
			}
		}
		if err == nil {
			_, err = syscall.Socket(numbers[0], numbers[1], numbers[2])
		}
	case "signal":
		var pid int
		if pid, err = strconv.Atoi(args[1]); err == nil {
			err = syscall.Kill(pid, 0)
		}
	case "iouring":
		params := make([]byte, 120)
		_, _, errno := syscall.Syscall(sysIOUringSetup, 1, uintptr(unsafe.Pointer(&params[0])), 0)
		if errno != 0 {
			err = errno
		}
	}
	if err != nil {
		fmt.Println("refused:", err)
		return 1
	}
	fmt.Println("worked")
	return 0
}

// A parentJob is what another process of this program is to run.
type parentJob struct {
	Workspace string
	Level     Level
	Script    string
}

// asParent runs a command, in a process that can be killed and whose environment
// is real.
func asParent(orders string) int {
	var job parentJob
	if err := json.Unmarshal([]byte(orders), &job); err != nil {
		return 3
	}
	s, err := New(context.Background(), Options{Workspace: job.Workspace, Levels: []Level{job.Level}})
	if err != nil || s.Level() != job.Level {
		fmt.Println("no sandbox:", err)
		return 3
	}
	if _, err := s.Run(context.Background(), Command{Args: []string{"bash", "-c", job.Script}, Output: os.Stdout}); err != nil {
		fmt.Println(err)
		return 3
	}
	return 0
}

// startParent starts such a process.
func startParent(t *testing.T, job parentJob, env ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	orders, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "MAKER_SANDBOX_TEST="+string(orders)), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// installBubblewrap installs it once, if it is missing and we may.
var installBubblewrap = sync.OnceValue(func() error {
	if _, err := exec.LookPath("bwrap"); err == nil {
		return nil
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Getuid() != 0 {
		return fmt.Errorf("bwrap is not installed, and installing it takes root and apt-get")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, apt, "install", "-y", "bubblewrap").CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get install bubblewrap: %v: %s", err, out)
	}
	return nil
})

// forEach runs a test at each of the levels, and says so if one cannot be had.
func forEach(t *testing.T, levels []Level, f func(t *testing.T, level Level)) {
	for _, level := range levels {
		t.Run(string(level), func(t *testing.T) {
			if level == Bubblewrap {
				if err := installBubblewrap(); err != nil {
					t.Skip(err)
				}
			}
			if s := open(t, Options{Levels: []Level{level}}); s.Level() != level {
				t.Skip(s.Describe())
			}
			f(t, level)
		})
	}
}

var (
	all      = []Level{Bubblewrap, Landlock, None}
	confined = []Level{Bubblewrap, Landlock}
)

func open(t *testing.T, o Options) *Sandbox {
	t.Helper()
	if o.Workspace == "" {
		o.Workspace = t.TempDir()
	}
	s, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sh runs a script and returns what it printed.
func sh(t *testing.T, s *Sandbox, script string, args ...string) (string, Outcome) {
	t.Helper()
	var out bytes.Buffer
	outcome, err := s.Run(t.Context(), Command{Args: append([]string{"bash", "-c", script, "bash"}, args...), Output: &out})
	if err != nil {
		t.Fatalf("Run(%s) = %v, output %s", script, err, out.String())
	}
	return out.String(), outcome
}

// running lists the processes that have mark in their command line.
func running(t *testing.T, mark string) []string {
	t.Helper()
	var found []string
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lines {
		data, err := os.ReadFile(name)
		pid := filepath.Base(filepath.Dir(name))
		if err == nil && bytes.Contains(data, []byte(mark)) && pid != strconv.Itoa(os.Getpid()) {
			found = append(found, pid+" "+strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return found
}

// marker returns seconds to sleep that no other test, or machine, sleeps.
func marker() string {
	return fmt.Sprintf("300.%d%d", os.Getpid(), time.Now().UnixNano())
}
