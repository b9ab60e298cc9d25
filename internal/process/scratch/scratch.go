// Package scratch makes temporary folders that do not outlive their owners for long.
//
// Whoever owns a folder removes it. Should all owners be killed before they can, the
// next one who is started does it: each folder has a lock beside its content, which
// goes with the processes that hold it, however they end. A folder whose lock is held
// is in use, by whomever, and is left alone.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	prefix   = "maker-"
	lockName = "lock"
	held     = "held\n" // in the lock, once somebody has held it
)

// A Dir is a temporary folder.
type Dir struct {
	Path string // where its content goes; it is empty at first

	top  string
	lock *os.File
}

// sweepOnce is for programs that make folders and never call Sweep.
var sweepOnce = sync.OnceFunc(Sweep)

// New makes a folder. Its kind is a part of its name, for people who look around. The
// first time it also sweeps: see [Sweep].
func New(kind string) (*Dir, error) {
	sweepOnce()
	top, err := os.MkdirTemp("", prefix+kind+"-")
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	d := &Dir{Path: filepath.Join(top, "files"), top: top}
	if err := d.fill(); err != nil {
		d.Remove()
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	return d, nil
}

// fill makes the lock and the folder. What the lock says is written when it is held,
// so that nobody takes it for abandoned in between.
func (d *Dir) fill() error {
	var err error
	if d.lock, err = os.OpenFile(filepath.Join(d.top, lockName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	if err := share(d.lock); err != nil {
		return err
	}
	if _, err := d.lock.WriteString(held); err != nil {
		return err
	}
	if err := os.Mkdir(d.Path, 0o700); err != nil {
		return err
	}
	// Links on the way are known by their targets to those who confine.
	if d.Path, err = filepath.EvalSymlinks(d.Path); err == nil {
		d.top = filepath.Dir(d.Path)
	}
	return err
}

// Top is the folder with its lock, for another process to [Remove].
func (d *Dir) Top() string { return d.top }

// Lock is what keeps the folder from being swept as long as it is open somewhere. A
// process that inherits it owns the folder too.
func (d *Dir) Lock() *os.File { return d.lock }

// Remove removes the folder.
func (d *Dir) Remove() {
	Remove(d.top)
	if d.lock != nil {
		_ = d.lock.Close()
	}
}

// Remove removes the folder that another process has made, by its [Dir.Top], even if
// somebody took the rights to it away. The lock goes last: a folder without one, which
// is all that somebody leaves who is killed on the way, would never be swept.
func Remove(top string) {
	entries, _ := os.ReadDir(top)
	for _, e := range entries {
		if e.Name() != lockName {
			removeAll(filepath.Join(top, e.Name()))
		}
	}
	removeAll(top)
}

func removeAll(top string) {
	if os.RemoveAll(top) == nil {
		return
	}
	_ = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(top)
}

// Sweep removes the folders that were left behind by processes of this user that were
// killed.
func Sweep() {
	temp := os.TempDir()
	entries, _ := os.ReadDir(temp) // what cannot be seen cannot be swept
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			sweep(filepath.Join(temp, e.Name()))
		}
	}
}

func sweep(top string) {
	info, err := os.Lstat(top)
	if err != nil || !info.IsDir() || !isOurs(info) {
		return
	}
	lock, err := openLock(filepath.Join(top, lockName))
	if err != nil {
		return // it is not one of these folders
	}
	defer lock.Close()
	said := make([]byte, len(held)+1)
	n, _ := lock.Read(said) // empty if it is just being made
	if string(said[:n]) == held && claim(lock) == nil {
		Remove(top)
	}
}

var errNotRegular = errors.New("it is not a regular file")
