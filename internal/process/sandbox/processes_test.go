//go:build linux

package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// trigger calls f when text was written.
type trigger struct {
	strings.Builder
	text string
	f    func()
}

func (w *trigger) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if w.f != nil && strings.Contains(w.String(), w.text) {
		w.f()
		w.f = nil
	}
	return n, err
}

func TestNothingSurvives(t *testing.T) {
	scripts := map[string]string{
		"background":   `sleep $1 & echo started`,
		"own session":  `setsid sleep $1 & echo started`,
		"nohup":        `nohup sleep $1 >/dev/null 2>&1 & echo started`,
		"double fork":  `( ( setsid sleep $1 >/dev/null 2>&1 & ) & ) ; echo started`,
		"stopped":      `sleep $1 & kill -STOP $!; echo started`,
		"deaf":         `(trap "" TERM HUP INT; setsid bash -c "sleep $1; true") & echo started`,
		"killed shell": `sleep $1 & echo started; kill -9 $$`,
	}
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}})
		for name, script := range scripts {
			mark := marker()
			if out, _ := sh(t, s, script, mark); !strings.HasPrefix(out, "started") {
				t.Errorf("%s: output %q, want started", name, out)
			}
			if left := running(t, mark); len(left) > 0 {
				t.Errorf("%s: still running: %q", name, left)
			}
		}
	})
}

func TestCancelAsksFirst(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}, Limits: Limits{Grace: 20 * time.Second}})
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		cause := errors.New("enough")
		out := &trigger{text: "ready", f: func() { cancel(cause) }}
		mark := marker()
		_, err := s.Run(ctx, Command{Output: out, Args: []string{"bash", "-c", `trap 'echo bye; exit 0' TERM; echo ready; sleep $1 & wait`, "bash", mark}})
		if !errors.Is(err, cause) || !strings.Contains(out.String(), "bye") {
			t.Errorf("Run(cancelled) = %v, output %q, want the cause, and a chance to say bye", err, out)
		}
		if left := running(t, mark); len(left) > 0 {
			t.Errorf("still running: %q", left)
		}
	})
}

func TestDeadlineKillsTheDeaf(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}, Limits: Limits{Grace: 100 * time.Millisecond}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out := &trigger{text: "ready", f: cancel}
		mark := marker()
		start := time.Now()
		_, err := s.Run(ctx, Command{Output: out, Args: []string{"bash", "-c", `trap '' TERM INT HUP; (trap '' TERM; setsid sleep $1) & echo ready; while :; do sleep 0.05; done`, "bash", mark}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run(deaf) = %v, want it cancelled", err)
		}
		if took := time.Since(start); took > 8*time.Second {
			t.Errorf("Run(deaf) took %s, want about the time of grace", took)
		}
		if left := running(t, mark); len(left) > 0 {
			t.Errorf("still running: %q", left)
		}
	})
}

// The tree of processes is bounded in itself, should the limit not hold.
func TestProcessLimit(t *testing.T) {
	const bomb = `bomb() { if [ "$1" -gt 0 ]; then bomb $(($1-1)) $2 & bomb $(($1-1)) $2 & fi; exec sleep $2; }; bomb 7 $1`
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}, Limits: Limits{Processes: 40}})
		mark := marker()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		outcome, err := s.Run(ctx, Command{Output: io.Discard, Args: []string{"bash", "-c", bomb, "bash", mark}})
		if err != nil || outcome.Limit != "40 processes" || outcome.ExitCode != 128+int(syscall.SIGKILL) {
			t.Errorf("Run(bomb) = %+v, %v, want the limit of 40 processes, and killed", outcome, err)
		}
		if left := running(t, mark); len(left) > 0 {
			t.Errorf("%d processes are still running", len(left))
		}
		if out, outcome := sh(t, s, "for i in 1 2 3 4 5; do sleep 0.01 & done; wait; echo fine"); out != "fine\n" || outcome.Limit != "" {
			t.Errorf("Run(five processes) = %q, %+v, want no limit", out, outcome)
		}
	})
}

func TestOtherLimits(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}, Limits: Limits{FileBytes: 100_000, CPU: time.Second}})
		_, outcome := sh(t, s, "head -c 200000 /dev/zero > big")
		info, err := os.Stat(filepath.Join(s.options.Workspace, "big"))
		if outcome.ExitCode == 0 || err != nil || info.Size() > 100_000 {
			t.Errorf("Run(big file) = %+v, %v, want a failure and at most 100000 bytes", outcome, err)
		}
		if level == Landlock {
			return // the same code as without it; a second of processor time is dear
		}
		if _, outcome := sh(t, s, "while :; do :; done"); outcome.ExitCode == 0 || !strings.Contains(outcome.Limit, "processor time") {
			t.Errorf("Run(busy) = %+v, want the limit of processor time", outcome)
		}
	})
}

func TestOurDeathEndsTheCommand(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		mark := marker()
		// Processes outlive us by the time of grace if they are deaf.
		script := `setsid sleep ` + mark + ` & echo ready; sleep ` + mark
		temp := t.TempDir()
		cmd, out := startParent(t, parentJob{Workspace: t.TempDir(), Level: level, Script: script}, "TMPDIR="+temp)
		buffer := make([]byte, 100)
		n, err := out.Read(buffer)
		if err != nil || string(buffer[:n]) != "ready\n" {
			t.Fatalf("output %q, %v, want ready", buffer[:n], err)
		}
		if len(running(t, mark)) == 0 {
			t.Fatal("the command does not run")
		}
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		deadline := time.Now().Add(15 * time.Second)
		for len(running(t, mark)) > 0 {
			if time.Now().After(deadline) {
				t.Fatalf("still running: %q", running(t, mark))
			}
			time.Sleep(5 * time.Millisecond)
		}
		for {
			left, err := os.ReadDir(temp)
			if err == nil && len(left) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("left behind: %v, %v", left, err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
}

// TestADeafSupervisorIsKilled: one that somebody has stopped holds nobody up for ever,
// and its command ends with it.
func TestADeafSupervisorIsKilled(t *testing.T) {
	defer func(was time.Duration) { obeyTime = was }(obeyTime)
	obeyTime = 100 * time.Millisecond
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}, Limits: Limits{Grace: time.Millisecond}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		mine, mark := childrenOf(t, os.Getpid()), marker()
		started := &trigger{text: "started", f: func() {
			for _, pid := range childrenOf(t, os.Getpid()) {
				if !slices.Contains(mine, pid) {
					_ = syscall.Kill(pid, syscall.SIGSTOP)
				}
			}
			cancel()
		}}
		_, err := s.Run(ctx, Command{Args: []string{"bash", "-c", "echo started; sleep " + mark}, Output: started})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run() with a supervisor that is stopped = %v, want that it was cancelled", err)
		}
		if left := running(t, mark); len(left) > 0 {
			t.Errorf("still running: %q", left)
		}
	})
}

// TestNothingFollowsTheEnd: a shell whose command is ended must not go on to the
// next one.
func TestNothingFollowsTheEnd(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		for range 10 { // it is a race
			dir := t.TempDir()
			s := open(t, Options{Levels: []Level{level}, Workspace: dir})
			ctx, cancel := context.WithCancel(t.Context())
			out := &trigger{text: "ready", f: cancel}
			mark := marker()
			if _, err := s.Run(ctx, Command{Output: out, Args: []string{"bash", "-c", `echo ready; sleep $1; echo done > done.txt`, "bash", mark}}); err == nil {
				t.Fatalf("Run(cancelled) succeeded, output %q", out)
			}
			if _, err := os.Stat(filepath.Join(dir, "done.txt")); err == nil {
				t.Fatal("the command after the one that was ended ran")
			}
		}
	})
}

// TestOurDeathEndsTheCommandAtOnce: when nobody is left to hear of it, there is no
// grace in which more could happen.
func TestOurDeathEndsTheCommandAtOnce(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		for range 5 {
			dir, mark := t.TempDir(), marker()
			script := `trap 'echo late > late.txt' TERM; echo ready; sleep ` + mark + `; echo late > late.txt`
			cmd, out := startParent(t, parentJob{Workspace: dir, Level: level, Script: script})
			buffer := make([]byte, 100)
			if n, err := out.Read(buffer); err != nil || string(buffer[:n]) != "ready\n" {
				t.Fatalf("output %q, %v, want ready", buffer[:n], err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed
			deadline := time.Now().Add(15 * time.Second)
			for len(running(t, mark)) > 0 {
				if time.Now().After(deadline) {
					t.Fatalf("still running: %q", running(t, mark))
				}
			}
			if data, err := os.ReadFile(filepath.Join(dir, "late.txt")); err == nil {
				t.Fatalf("after our death the command wrote %q", data)
			}
		}
	})
}

func TestSockets(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const mptcp = 262
	sockets := []struct {
		name              string
		family, kind, why int
		withNetwork       bool // it can be made if the network is allowed
	}{
		{"tcp", syscall.AF_INET, syscall.SOCK_STREAM, 0, true},
		{"tcp6", syscall.AF_INET6, syscall.SOCK_STREAM, 0, true},
		{"udp", syscall.AF_INET, syscall.SOCK_DGRAM, 0, true},
		{"multipath tcp", syscall.AF_INET, syscall.SOCK_STREAM, mptcp, true},
		{"unix", syscall.AF_UNIX, syscall.SOCK_STREAM, 0, false},
		{"packet", syscall.AF_PACKET, syscall.SOCK_RAW, 0, false},
		{"vsock", 40, syscall.SOCK_STREAM, 0, false},
	}
	forEach(t, []Level{Landlock}, func(t *testing.T, level Level) {
		if auditArch == 0 {
			t.Skip("there is no filter for this machine type")
		}
		for _, network := range []bool{false, true} {
			s := open(t, Options{Levels: []Level{level}, Network: network, Readable: []string{filepath.Dir(self)}})
			probe := func(args ...string) string {
				out, _ := sh(t, s, `"$@"`, append([]string{self, "probe"}, args...)...)
				return out
			}
			for _, k := range sockets {
				out := probe("socket", strconv.Itoa(k.family), strconv.Itoa(k.kind), strconv.Itoa(k.why))
				refused := strings.Contains(out, "operation not permitted")
				if refused == (network && k.withNetwork) {
					t.Errorf("with network %v, socket(%s) = %q", network, k.name, out)
				}
			}
			if out := probe("iouring"); !strings.Contains(out, "operation not permitted") {
				t.Errorf("io_uring_setup = %q, want it refused", out)
			}
		}
	})
}

func TestSignalsStayInside(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	forEach(t, confined, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}, Readable: []string{filepath.Dir(self)}})
		if strings.Contains(s.Describe(), "signal") {
			t.Skip(s.Describe())
		}
		out, _ := sh(t, s, `"$@"`, self, "probe", "signal", strconv.Itoa(outsider(t)))
		if !strings.HasPrefix(out, "refused") {
			t.Errorf("kill(our process) = %q, want it refused", out)
		}
	})
}

// outsider starts a process with a number that nobody has inside, where they begin anew.
func outsider(t *testing.T) int {
	t.Helper()
	for {
		cmd := exec.Command("sleep", "300")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed
		})
		if cmd.Process.Pid > 50 {
			return cmd.Process.Pid
		}
	}
}

// runFilter is what the kernel does with a filter.
func runFilter(filter []syscall.SockFilter, arch, number, family uint32) uint32 {
	data := map[uint32]uint32{dataArch: arch, dataNumber: number, dataArg0: family}
	var value uint32
	for at := 0; ; at++ {
		i := filter[at]
		var yes bool
		switch i.Code {
		case syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS:
			value = data[i.K]
			continue
		case syscall.BPF_RET | syscall.BPF_K:
			return i.K
		case syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K:
			yes = value == i.K
		case syscall.BPF_JMP | syscall.BPF_JGE | syscall.BPF_K:
			yes = value >= i.K
		}
		if yes {
			at += int(i.Jt)
		} else {
			at += int(i.Jf)
		}
	}
}

func TestSocketFilter(t *testing.T) {
	const otherArch = 0x40000003
	tests := []struct {
		name                 string
		arch, number, family uint32
		without, with        bool // allowed
	}{
		{"other call", auditArch, syscall.SYS_READ, 0, true, true},
		{"socketpair", auditArch, syscall.SYS_SOCKETPAIR, syscall.AF_UNIX, true, true},
		{"inet", auditArch, syscall.SYS_SOCKET, syscall.AF_INET, false, true},
		{"inet6", auditArch, syscall.SYS_SOCKET, syscall.AF_INET6, false, true},
		{"netlink", auditArch, syscall.SYS_SOCKET, syscall.AF_NETLINK, false, true},
		{"unix", auditArch, syscall.SYS_SOCKET, syscall.AF_UNIX, false, false},
		{"io_uring", auditArch, sysIOUringSetup, 0, false, false},
		{"x32", auditArch, x32Bit | syscall.SYS_SOCKET, syscall.AF_INET, false, false},
		{"other machine type", otherArch, syscall.SYS_READ, 0, false, false},
	}
	for _, test := range tests {
		for network, want := range map[bool]bool{false: test.without, true: test.with} {
			got := runFilter(socketFilter(network), test.arch, test.number, test.family) == retAllow
			if got != want {
				t.Errorf("socketFilter(%v) allows %s = %v, want %v", network, test.name, got, want)
			}
		}
	}
}
