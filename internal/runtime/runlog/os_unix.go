//go:build unix

package runlog

import (
	"errors"
	"os"
	"syscall"
)

func tryLock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// tryShare takes a lock that any number of processes may have while nobody has the
// other.
func tryShare(f *os.File) error { return flock(f, syscall.LOCK_SH) }

func flock(f *os.File, how int) error {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// fsyncDir makes the entries of a folder durable.
func fsyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
