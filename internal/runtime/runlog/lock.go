package runlog

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/filelock"
)

// A Holder is the process that has a run open for writing.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`

	// Session tells this writing of the run from every other; empty of early versions.
	Session string `json:"session,omitempty"`
}

// A LockedError says that another process is writing the run.
type LockedError struct {
	Path   string
	Holder Holder
}

func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("the run is in use by another process (%s is locked)", e.Path)
	}
	return fmt.Sprintf("the run is in use by process %d on %s since %s",
		e.Holder.PID, e.Holder.Host, e.Holder.Started.Format(time.DateTime))
}

// A LostError says that a run was taken away from the process that writes it. Nothing
// was written since.
type LostError struct {
	Dir  string
	File string // that is not there any more, or is another one now
}

func (e *LostError) Error() string {
	what := "log"
	if e.File == LockFile {
		what = "lock"
	}
	return fmt.Sprintf("the %s of the run in %s was removed or replaced: another process may be writing this run; nothing more was written to it", what, e.Dir)
}

// lock is an operating-system lock, so it goes with its process however that
// ends. The file's content only tells people who holds it.
//
// The log itself is locked too, in the same way: that file cannot be removed without
// losing the run, so that whoever removes the other one lets nobody in.
type lock struct {
	f       *os.File
	path    string
	info    os.FileInfo
	session string
}

// lockPatience outlasts a process that only asks who holds the lock, and one
// that is just ending.
const lockPatience = 200 * time.Millisecond

// lockTries is how often a lock is tried that is gone once it is locked.
const lockTries = 100

func acquire(path string) (*lock, error) {
	l := &lock{path: path, session: rand.Text()}
	for try := 0; l.f == nil; try++ {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, &WriteError{Dir: filepath.Dir(path), Err: err}
		}
		if err = filelock.Wait(f, lockPatience); errors.Is(err, filelock.ErrLocked) {
			err = &LockedError{Path: path, Holder: readHolder(f)}
		}
		if err == nil {
			l.info, err = f.Stat()
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("run log: %w", err), f.Close())
		}
		if isStill(path, l.info) {
			l.f = f
			continue
		}
		// It was removed between opening and locking it.
		if err := f.Close(); err != nil || try == lockTries {
			return nil, errors.Join(fmt.Errorf("run log: somebody keeps removing %s", path), err)
		}
	}
	if err := l.sign(); err != nil {
		return nil, err
	}
	return l, nil
}

// lockLog locks the log, which a process that lost its lock may still hold.
func lockLog(f *os.File) error {
	err := filelock.Wait(f, lockPatience)
	if errors.Is(err, filelock.ErrLocked) {
		err = &LockedError{Path: f.Name()}
	}
	if err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	return nil
}

// isStill reports whether a path still leads to a file.
func isStill(path string, file os.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, file)
}

// guard makes sure that the lock and the log that are held are those that are there:
// a process that lost them must not write, nor do what waits for its writing.
func (l *Log) guard() error {
	switch {
	case !isStill(l.lock.path, l.lock.info):
		return &LostError{Dir: l.dir, File: LockFile}
	case !isStill(filepath.Join(l.dir, EventsFile), l.file):
		return &LostError{Dir: l.dir, File: EventsFile}
	}
	return nil
}

// sign writes into the lock who holds it.
func (l *lock) sign() error {
	f := l.f
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	holder, err := json.Marshal(Holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC().Truncate(time.Second), Session: l.session})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(holder, '\n'), 0)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("run log: %w", err), f.Close())
	}
	return nil
}

func readHolder(f *os.File) Holder {
	var h Holder
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 4<<10))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{} // it is being written just now
	}
	return h
}

// release leaves the file: removing it would let two processes each lock a
// file of that name.
func (l *lock) release() error { return errors.Join(l.f.Truncate(0), l.f.Close()) }

// HolderOf returns the process that has the lock at path, if one has. Asking takes the
// lock for a moment, but not from others who ask.
func HolderOf(path string) (Holder, bool) {
	f, err := os.Open(path)
	if err != nil {
		return Holder{}, false
	}
	defer f.Close()
	if err := filelock.TryShare(f); errors.Is(err, filelock.ErrLocked) {
		return readHolder(f), true
	}
	return Holder{}, false
}
