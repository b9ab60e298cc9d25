package runlog

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks one byte far behind any content, which stays readable.
func tryLock(f *os.File) error { return lockByte(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// tryShare takes a lock that any number of processes may have while nobody has the
// other.
func tryShare(f *os.File) error { return lockByte(f, 0) }

func lockByte(f *os.File, flags uint32) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

// fsyncDir has nothing to do: Windows flushes a folder with its files.
func fsyncDir(string) error { return nil }
