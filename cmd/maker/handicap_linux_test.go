package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"
)

// handicap runs a program on a machine that lacks something: `handicap WHAT PROGRAM
// ARGS...`. WHAT is missing, if there is no sandbox at all; busy, if there are some, just
// not now; bubblewrap, if it is not installed, and of all programs only those in $TOOLS
// are; or mounts, if nothing can be mounted, which bubblewrap needs. It is done by a
// filter on the system calls that a sandbox is made with.
func handicap() {
	runtime.LockOSThread() // a filter belongs to a thread
	program, err := exec.LookPath(os.Args[2])
	switch what := os.Args[1]; {
	case err != nil:
	case what == "bubblewrap":
		err = os.Setenv("PATH", os.Getenv("TOOLS"))
	default:
		err = filter(what)
	}
	if err == nil {
		err = syscall.Exec(program, os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "handicap:", err)
	os.Exit(99)
}

func filter(what string) error {
	const (
		setNoNewPrivs = 38
		setSeccomp    = 22
		filterMode    = 2
		allow         = 0x7fff0000
		fail          = 0x00050000
	)
	landlockFails, mountFails := uint32(syscall.ENOSYS), uint32(syscall.EPERM)
	landlock := uint32(444) // landlock_create_ruleset
	switch what {
	case "busy":
		landlockFails, mountFails = uint32(syscall.EAGAIN), uint32(syscall.EAGAIN)
	case "mounts":
		landlock = 1 << 31 // is no system call
	}
	load := syscall.SockFilter{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS}
	is := func(call uint32, skip uint8) syscall.SockFilter {
		return syscall.SockFilter{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, K: call, Jf: skip}
	}
	end := func(value uint32) syscall.SockFilter {
		return syscall.SockFilter{Code: syscall.BPF_RET | syscall.BPF_K, K: value}
	}
	program := []syscall.SockFilter{
		load, is(landlock, 1), end(fail | landlockFails), is(syscall.SYS_MOUNT, 1), end(fail | mountFails), end(allow),
	}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	list := syscall.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setSeccomp, filterMode, uintptr(unsafe.Pointer(&list))); errno != 0 {
		return errno
	}
	return nil
}
