package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"
)

// handicap runs a program on a machine that offers no sandbox: `handicap missing
// PROGRAM ARGS...`; or on one that offers its sandboxes just not now: `handicap busy
// PROGRAM ARGS...`. It is a filter on the system calls that a sandbox is made with.
func handicap() {
	runtime.LockOSThread() // a filter belongs to a thread
	program, err := exec.LookPath(os.Args[2])
	if err == nil {
		err = filter(os.Args[1] == "busy")
	}
	if err == nil {
		err = syscall.Exec(program, os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "handicap:", err)
	os.Exit(99)
}

func filter(busy bool) error {
	const (
		setNoNewPrivs = 38
		setSeccomp    = 22
		filterMode    = 2
		landlock      = 444 // landlock_create_ruleset
		allow         = 0x7fff0000
		fail          = 0x00050000
	)
	landlockFails, mountFails := uint32(syscall.ENOSYS), uint32(syscall.EPERM)
	if busy {
		landlockFails, mountFails = uint32(syscall.EAGAIN), uint32(syscall.EAGAIN)
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
