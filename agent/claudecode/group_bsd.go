//go:build unix && !linux

package claudecode

import "syscall"

// ownGroup makes the program the head of a process group, so that it can be
// killed with all that it started.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
