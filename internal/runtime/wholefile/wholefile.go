// Package wholefile writes files that are whole or not there at all.
package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file beside its place and moves it there, so that it is whole
// or not there at all.
func Replace(path string, data []byte) error { return write(path, data, 0o644, os.Rename) }

// ReplacePrivate is Replace for a file that only its owner may read.
func ReplacePrivate(path string, data []byte) error { return write(path, data, 0o600, os.Rename) }

// Create is Replace for a file that must not be there yet: otherwise the error is
// [fs.ErrExist], and the file stays as it is.
func Create(path string, data []byte) error {
	return write(path, data, 0o644, func(temporary, path string) error {
		// A link is never put in the place of another file.
		err := os.Link(temporary, path)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return errors.Join(err, os.Remove(temporary))
		}
		// There are no links here: an empty file takes the place.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			err = errors.Join(f.Close(), os.Rename(temporary, path))
		}
		return err
	})
}

func write(path string, data []byte, mode fs.FileMode, place func(temporary, path string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = place(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may be gone already
	}
	return err
}
