//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	if threads := os.Getenv("MAKER_SANDBOX_THREADS"); threads != "" {
		syscall.Exit(asCramped(threads))
	}
	if os.Getenv("MAKER_SANDBOX_POWERLESS") != "" {
		syscall.Exit(asPowerless())
	}
	code := m.Run()
	printBombs()
	os.Exit(code)
}

// probe is a hostile program. It prints what worked.
func probe(args []string) int {
	var err error
	switch args[0] {
	case "bomb":
		var n int
		if n, err = strconv.Atoi(args[2]); err == nil {
			err = bomb(args[1], n)
		}
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
	Args      []string // in place of a script
	Readable  []string
	Without   means
	Processes int
	Yard      []string // control groups to go into first
}

// A parentReport is the last line that such a process prints.
type parentReport struct {
	Outcome
	Level    Level
	Describe string
	Error    string
}

// asParent runs a command, in a process that can be killed and whose environment
// is real.
func asParent(orders string) int {
	var job parentJob
	err := json.Unmarshal([]byte(orders), &job)
	for _, dir := range job.Yard {
		if err == nil {
			err = (&cgroup{dir}).add(0)
		}
	}
	var s *Sandbox
	if err == nil {
		o := Options{Workspace: job.Workspace, Readable: job.Readable, without: job.Without, Limits: Limits{Processes: job.Processes}}
		s, err = New(context.Background(), o.at(job.Level))
	}
	if err != nil {
		fmt.Println("no sandbox:", err)
		return 3
	}
	if job.Args == nil {
		job.Args = []string{"bash", "-c", job.Script}
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), 30*time.Second, errors.New("nothing ended it for half a minute"))
	defer cancel()
	outcome, err := s.Run(ctx, Command{Args: job.Args, Output: os.Stdout})
	report := parentReport{Outcome: outcome, Level: s.Level(), Describe: s.Describe()}
	if err != nil {
		report.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stderr).Encode(report); err != nil || report.Error != "" {
		fmt.Println(report.Error, err)
		return 3
	}
	return 0
}

// startParent starts such a process.
func startParent(t *testing.T, job parentJob, env ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := parent(t, job, env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// parent is such a process that has yet to be started.
func parent(t *testing.T, job parentJob, env ...string) *exec.Cmd {
	t.Helper()
	orders, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe") // which other users may run too
	cmd.Env = append(append(os.Environ(), "MAKER_SANDBOX_TEST="+string(orders)), env...)
	return cmd
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
			o := Options{Workspace: t.TempDir()}
			if _, err := New(t.Context(), o.at(level)); errors.Is(err, ErrNone) {
				t.Skip(err)
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
	if len(o.Levels) == 1 {
		o = o.at(o.Levels[0])
	}
	s, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at is for the level alone.
func (o Options) at(level Level) Options {
	o.Levels = []Level{level}
	if level == None {
		o.Mode = Off
	}
	return o
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
