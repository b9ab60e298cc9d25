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

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
