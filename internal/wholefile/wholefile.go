// Package wholefile writes files that are whole or not there at all.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes a file beside its place and moves it there, so that it is whole
// or not there at all.
func Replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
