package runlog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/maker-mdap/maker/internal/runtime/wholefile"
)

// syncDir makes the entries of a folder durable. Tests look at what is synced, and
// when.
var syncDir = fsyncDir

// makeDir makes a folder, and those above it that are missing, so that their entries
// survive a power cut.
func makeDir(dir string) error {
	dir = filepath.Clean(dir)
	// Whoever made the folder before may not have come to syncing its entry.
	changed := []string{filepath.Dir(dir)}
	for at := changed[0]; isMissing(at) && at != filepath.Dir(at); {
		at = filepath.Dir(at)
		changed = append(changed, at)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, d := range changed {
		if err := syncDir(d); err != nil {
			return err
		}
	}
	return nil
}

// hideFromGit keeps the folder of all runs, which this program has just made, out of git:
// logs are large and say what was asked. A folder that was there before is left alone, and
// a disk that has no room for this will have none for the run.
func hideFromGit(runs string) {
	_ = wholefile.Create(filepath.Join(runs, ".gitignore"), []byte("# Runs are no part of the project. This file was made by maker.\n*\n"))
}

// Remove removes the folder of a run that nobody writes: otherwise it is a
// [*LockedError], and nothing was removed. The run is gone at once; what is left of it
// under another name, should the process end now, is for [RemoveLeftovers].
func Remove(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, EventsFile)); err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	lk, err := acquire(filepath.Join(dir, LockFile))
	if err != nil {
		return err
	}
	events, err := os.Open(filepath.Join(dir, EventsFile))
	if err == nil {
		err = lockLog(events)
		defer events.Close()
	}
	if err != nil {
		return errors.Join(err, lk.release())
	}
	if runtime.GOOS == "windows" { // where a folder with open files cannot be moved
		_ = lk.release()
		_ = events.Close()
	} else {
		defer func() { _ = lk.release() }()
	}
	dir, err = filepath.Abs(dir) // "." has a name too
	if err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	gone := filepath.Join(filepath.Dir(dir), removedPrefix+filepath.Base(dir)+"-"+rand.Text()[:6])
	if err := os.Rename(dir, gone); err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	return nil
}

// removedPrefix is what the names of folders begin with that are being removed.
const removedPrefix = ".removed-"

// IsRemoved reports whether a folder of that name is one that is being removed.
func IsRemoved(name string) bool { return strings.HasPrefix(name, removedPrefix) }

// RemoveLeftovers removes what removals that were cut short left in the folder of all runs.
func RemoveLeftovers(runs string) error {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	for _, e := range entries {
		if IsRemoved(e.Name()) && e.IsDir() {
			err = errors.Join(err, os.RemoveAll(filepath.Join(runs, e.Name())))
		}
	}
	return err
}

// RemoveEmpty removes the folder of a run that never began, and nothing but that: one
// with an event in its log stays.
func RemoveEmpty(dir string) error {
	if info, err := os.Stat(filepath.Join(dir, EventsFile)); err != nil || info.Size() > 0 {
		return err
	}
	for _, name := range []string{EventsFile, IndexFile, LockFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(dir)
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
