// Package filelock has the operating system's locks on files, which go with their process
// however that ends.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrLocked is the error of a lock that somebody else has.
var ErrLocked = errors.New("locked")

// Try locks an open file, if nobody has it locked. Closing the file lets go of the lock.
func Try(f *os.File) error { return lock(f, true) }

// TryShare takes a lock that any number of processes may have while nobody has the other.
func TryShare(f *os.File) error { return lock(f, false) }

// Wait is Try for somebody who can wait so long.
func Wait(f *os.File, patience time.Duration) error {
	err := Try(f)
	for deadline := time.Now().Add(patience); errors.Is(err, ErrLocked) && time.Now().Before(deadline); {
		time.Sleep(min(patience/20, 10*time.Millisecond))
		err = Try(f)
	}
	return err
}

// Hold locks the file at path, which is made if it is not there, readable by its owner
// alone. The file stays when the lock is let go of: removing it would let two processes
// each lock a file of that name.
func Hold(path string, patience time.Duration) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := Wait(f, patience); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, nil
}
