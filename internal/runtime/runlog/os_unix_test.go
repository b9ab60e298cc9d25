//go:build unix

package runlog

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

func TestAMissingFolderCannotBeSynced(t *testing.T) {
	if err := fsyncDir(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("fsyncDir(missing) = %v, want %v", err, fs.ErrNotExist)
	}
}
