package claudecode

import (
	"os/exec"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup kills the process itself; there are no groups.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
