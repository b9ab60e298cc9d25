package claudecode

import "syscall"

// ownGroup makes the program the head of a process group, so that it can be
// killed with all that it started, and has the kernel kill it if we are. To the
// kernel the parent is the thread that starts it, and those are kept.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
