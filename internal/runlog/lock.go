package runlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A Holder is the process that has a run open for writing.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
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

// lock is an operating-system lock, so it goes with its process however that
// ends. The file's content only tells people who holds it.
type lock struct{ f *os.File }

var errLocked = errors.New("locked")

// lockPatience outlasts a process that only asks who holds the lock, and one
// that is just ending.
const lockPatience = 200 * time.Millisecond

func acquire(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, &WriteError{Dir: filepath.Dir(path), Err: err}
	}
	err = tryLock(f)
	for deadline := time.Now().Add(lockPatience); errors.Is(err, errLocked) && time.Now().Before(deadline); {
		time.Sleep(lockPatience / 20)
		err = tryLock(f)
	}
	if errors.Is(err, errLocked) {
		err = &LockedError{Path: path, Holder: readHolder(f)}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run log: %w", err), f.Close())
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	holder, err := json.Marshal(Holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(holder, '\n'), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run log: %w", err), f.Close())
	}
	return &lock{f}, nil
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
	if err := tryShare(f); errors.Is(err, errLocked) {
		return readHolder(f), true
	}
	return Holder{}, false
}
