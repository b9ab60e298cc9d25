//go:build unix

package scratch

import (
	"os"
	"syscall"
)

// share holds the lock together with whoever else does.
func share(lock *os.File) error { return flock(lock, syscall.LOCK_SH) }

// claim holds the lock alone, or fails at once.
func claim(lock *os.File) error { return flock(lock, syscall.LOCK_EX|syscall.LOCK_NB) }

func flock(lock *os.File, how int) error {
	for {
		if err := syscall.Flock(int(lock.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// openLock opens a lock that somebody may have put something else in the place of.
func openLock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, errNotRegular
	}
	return f, nil
}

// isOurs reports whether a folder belongs to the user of this process. In a folder
// that everybody can write to, others may have folders of any name.
func isOurs(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}
