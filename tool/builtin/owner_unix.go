//go:build unix

package builtin

import (
	"io/fs"
	"os"
	"syscall"
)

// linkCount is how many names a file has.
func linkCount(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

// sameOwner gives a new file the owner of the one that it replaces, which only
// root can and only root needs.
func sameOwner(f *os.File, old fs.FileInfo) {
	if stat, ok := old.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = f.Chown(int(stat.Uid), int(stat.Gid))
	}
}
