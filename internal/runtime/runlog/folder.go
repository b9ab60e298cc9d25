package runlog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
