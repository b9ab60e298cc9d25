package family

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A supervisor waits for every child of its process, so it runs in one of its own.
const scriptVar = "MAKER_FAMILY_TEST"

func TestMain(m *testing.M) {
	if script := os.Getenv(scriptVar); script != "" {
		syscall.Exit(supervise(script)) // os.Exit takes a second with the race detector
	}
	os.Exit(m.Run())
}

// supervise runs a script, kills what it leaves behind, and says how many those were
// at least.
func supervise(script string) int {
	err := Adopt()
	if err == nil {
		var child int
		child, err = syscall.ForkExec("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{
			Files: []uintptr{0, 1, 2}, Env: []string{"PATH=" + os.Getenv("PATH")}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
		if err == nil {
			f := Of(child)
			status := <-f.Exited
			fmt.Printf("left %d of %d\n", len(Members(1)), len(Members(0)))
			f.Kill()
			fmt.Printf("left %d\n", len(Members(0)))
			return ExitCode(status)
		}
	}
	fmt.Println(err)
	return 1
}

// marker returns seconds to sleep that nobody else sleeps.
func marker() string { return fmt.Sprintf("300.%d%d", os.Getpid(), time.Now().UnixNano()) }

// running reports whether a process has mark in its command line.
func running(t *testing.T, mark string) bool {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(lines, func(name string) bool {
		data, err := os.ReadFile(name)
		return err == nil && bytes.Contains(data, []byte(mark))
	})
}

func TestKill(t *testing.T) {
	tests := []struct {
		name, script string
		want         string
		code         int
	}{
		{"nobody", `exit 3`, "left 0 of 0", 3},
		{"background", `sleep MARK & sleep MARK &`, "left 1 of 2", 0},
		{"own session", `setsid sleep MARK &`, "left 1 of 1", 0},
		{"orphan", `( ( setsid sleep MARK & ) )`, "left 1 of 1", 0},
		{"stopped", `sleep MARK & kill -STOP $!`, "left 1 of 1", 0},
		{"killed", `sleep MARK & kill -9 $$`, "left 1 of 1", 128 + 9},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			mark := marker()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), scriptVar+"="+strings.ReplaceAll(test.script, "MARK", mark))
			out, err := cmd.Output()
			if cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if want := test.want + "\nleft 0\n"; string(out) != want || cmd.ProcessState.ExitCode() != test.code {
				t.Errorf("supervise(%s) = %q, exit code %d, want %q, %d", test.script, out, cmd.ProcessState.ExitCode(), want, test.code)
			}
			if running(t, mark) {
				t.Errorf("supervise(%s): somebody is still running", test.script)
			}
		})
	}
}

func TestChildren(t *testing.T) {
	cmd := exec.Command("sleep", marker())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for name, children := range map[string]func(int, int) []int{"by parent": childrenByParent(), "by thread": childrenByThread} {
		if got := children(os.Getpid(), 0); !slices.Contains(got, cmd.Process.Pid) {
			t.Errorf("children %s = %v, want %d among them", name, got, cmd.Process.Pid)
		}
	}
	if p, ok := readStat(cmd.Process.Pid); !ok || !p.alive() {
		t.Errorf("readStat(a sleeping process) = %+v, %v, want it alive", p, ok)
	}
	if p, ok := readStat(1 << 30); ok {
		t.Errorf("readStat(no process) = %+v, want nothing", p)
	}
}
