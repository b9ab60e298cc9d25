package sandbox

import (
	"syscall"
	"unsafe"
)

// Landlock says nothing about most kinds of sockets: UDP and multipath TCP get
// out, and a connection to the socket of a service that works for the user, such
// as a container engine or the session's service manager, is a way around any
// rule about files. So a small filter on system calls decides which families of
// sockets can be made at all.

const (
	sysIOUringSetup = 425 // makes sockets without the system call; the number is the same everywhere
	x32Bit          = 0x40000000

	dataNumber = 0  // offsets in what a filter sees
	dataArch   = 4  //
	dataArg0   = 16 // the lower half on little-endian machines, which ours are

	retAllow = 0x7fff0000
	retErrno = 0x00050000

	prSetNoNewPrivs   = 38
	prSetSeccomp      = 22
	seccompModeFilter = 2
)

// filterSockets keeps this thread, and what it becomes, from making sockets: all
// of them, or all but those of the Internet.
func filterSockets(network bool) error {
	if auditArch == 0 {
		return nil
	}
	filter := socketFilter(network)
	if err := prctl(prSetNoNewPrivs, 1); err != nil {
		return err
	}
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetSeccomp, seccompModeFilter, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

func socketFilter(network bool) []syscall.SockFilter {
	var families []uint32
	if network {
		families = []uint32{syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK}
	}
	load := func(offset uint32) syscall.SockFilter {
		return syscall.SockFilter{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS, K: offset}
	}
	jump := func(test uint16, value uint32, yes, no int) syscall.SockFilter {
		return syscall.SockFilter{Code: syscall.BPF_JMP | syscall.BPF_K | test, K: value, Jt: uint8(yes), Jf: uint8(no)}
	}
	end := func(value uint32) syscall.SockFilter {
		return syscall.SockFilter{Code: syscall.BPF_RET | syscall.BPF_K, K: value}
	}
	const fixed = 7               // instructions before the families
	deny := fixed + len(families) // position of the refusal
	allow := deny + 1
	filter := []syscall.SockFilter{
		load(dataArch),
		jump(syscall.BPF_JEQ, auditArch, 0, deny-2), // calls of another machine type are refused
		load(dataNumber),
		jump(syscall.BPF_JGE, x32Bit, deny-4, 0),
		jump(syscall.BPF_JEQ, sysIOUringSetup, deny-5, 0),
		jump(syscall.BPF_JEQ, syscall.SYS_SOCKET, 0, allow-6),
		load(dataArg0),
	}
	for i, family := range families {
		filter = append(filter, jump(syscall.BPF_JEQ, family, allow-(fixed+i)-1, 0))
	}
	return append(filter, end(retErrno|uint32(syscall.EPERM)), end(retAllow))
}
