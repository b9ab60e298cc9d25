package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

// System calls and their arguments that package syscall does not know. The numbers
// are the same on all machine types.
const (
	sysOpenTree     = 428
	sysMoveMount    = 429
	sysOpenAt2      = 437
	sysMountSetattr = 442

	openPath        = 0x200000 // O_PATH
	resolveNoLinks  = 0x04
	resolveBeneath  = 0x08
	treeClone       = 0x1
	atEmptyPath     = 0x1000
	atRecursive     = 0x8000
	fromEmptyPath   = 0x4
	toEmptyPath     = 0x40
	mountReadOnly   = 0x1
	prCapAmbient    = 47
	prAmbientClear  = 4
	capSysAdmin     = 21
	slaveOfTheOuter = syscall.MS_REC | syscall.MS_SLAVE
)

// makeReadOnly makes files and folders in the workspace read-only for this process and
// those that it starts, by mounts in a namespace of its own: what is a mount can
// neither be changed nor renamed, replaced or removed. Everything is opened once and
// known by that from then on, so nobody can put a link in its place in between.
func makeReadOnly(workspace string, names []string) error {
	if err := syscall.Mount("", "/", "", slaveOfTheOuter, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	top, err := syscall.Open(workspace, openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(top)
	for _, name := range names {
		rel, err := filepath.Rel(workspace, name)
		if err == nil {
			err = mountReadOnlyAt(top, rel)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func mountReadOnlyAt(top int, rel string) error {
	at, err := openBeneath(top, rel)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	empty := uintptr(unsafe.Pointer(&[]byte{0}[0]))
	tree, _, errno := syscall.Syscall(sysOpenTree, uintptr(at), empty, treeClone|syscall.O_CLOEXEC|atEmptyPath|atRecursive)
	if errno != 0 {
		return os.NewSyscallError("open_tree", errno)
	}
	defer syscall.Close(int(tree))
	attributes := struct{ set, clear, propagation, namespace uint64 }{set: mountReadOnly}
	if _, _, errno := syscall.Syscall6(sysMountSetattr, tree, empty, atEmptyPath|atRecursive,
		uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0); errno != 0 {
		return os.NewSyscallError("mount_setattr", errno)
	}
	if _, _, errno := syscall.Syscall6(sysMoveMount, tree, empty, uintptr(at), empty, fromEmptyPath|toEmptyPath, 0); errno != 0 {
		return os.NewSyscallError("move_mount", errno)
	}
	return nil
}

// openBeneath opens something in a folder to refer to it. No link is followed.
func openBeneath(top int, rel string) (int, error) {
	name, err := syscall.BytePtrFromString(rel)
	if err != nil {
		return 0, err
	}
	how := struct{ flags, mode, resolve uint64 }{
		flags: openPath | syscall.O_CLOEXEC | syscall.O_NOFOLLOW, resolve: resolveNoLinks | resolveBeneath,
	}
	fd, _, errno := syscall.Syscall6(sysOpenAt2, uintptr(top), uintptr(unsafe.Pointer(name)),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return 0, os.NewSyscallError("openat2", errno)
	}
	return int(fd), nil
}

// dropAmbient gives up the powers that a user has in a namespace that was made to
// mount something.
func dropAmbient() error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prCapAmbient, prAmbientClear, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
