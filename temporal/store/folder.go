package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Folder is a store in a folder that all workers share.
type Folder struct{ dir string }

// Open returns the store in a folder, which is made if it is missing.
func Open(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return &Folder{dir}, nil
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)

func (f *Folder) path(name string) (string, error) {
	if !nameForm.MatchString(name) {
		return "", fmt.Errorf("store: %q is no name", name)
	}
	return filepath.Join(f.dir, filepath.FromSlash(name)), nil
}

// pending is how names of files begin that are not whole yet.
const pending = ".pending-"

// Create implements [Store]. The file is written under another name and linked, which is
// whole or fails if there is one, also on network file systems.
func (f *Folder) Create(_ context.Context, name string, data []byte) error {
	path, err := f.path(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return ErrExists
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	tmp, err := os.CreateTemp(dir, pending+"*")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	switch err := os.Link(tmp.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	return syncDir(dir)
}

// Get implements [Store].
func (f *Folder) Get(_ context.Context, name string) ([]byte, error) {
	path, err := f.path(name)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return data, nil
}

// List implements [Store].
func (f *Folder) List(_ context.Context, folder string) ([]string, error) {
	path, err := f.path(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), pending) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// syncDir makes the names in a folder survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	err = d.Sync()
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}
