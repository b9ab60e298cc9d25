//go:build unix && !linux

package supervise

import (
	"os/exec"
	"syscall"
)

// launch starts the program as the head of a process group, which is ended as a
// whole. What leaves the group is not found.
func launch(cmd *exec.Cmd, o Orders) (ending, error) {
	cmd.Path, cmd.Args, cmd.Env, cmd.Dir = o.Path, o.Args, o.Env, o.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	signal := func(s syscall.Signal) func() {
		return func() { _ = syscall.Kill(-cmd.Process.Pid, s) }
	}
	return ending{
		terminate: signal(syscall.SIGTERM),
		kill:      signal(syscall.SIGKILL),
		sweep:     signal(syscall.SIGKILL),
		patience:  o.Grace,
	}, nil
}
