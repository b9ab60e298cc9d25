//go:build unix && !linux

package sandbox

import (
	"os/exec"
	"syscall"
	"time"
)

// groupOf makes cmd the head of a process group that gets the signals, and
// returns what kills the rest of it.
func groupOf(cmd *exec.Cmd, grace time.Duration) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		time.AfterFunc(grace, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		return syscall.Kill(group, syscall.SIGTERM)
	}
	return func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}
