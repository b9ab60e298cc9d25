package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/maker-mdap/maker/internal/process/protect"
)

// A workspace is the folder that file tools cannot leave.
type workspace struct {
	*os.Root
	dir       string // its real path
	given     string // its path as the user knows it
	protected *protect.Set
}

func openWorkspace(dir string) (*workspace, error) {
	given, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("builtin: workspace: %w", err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("builtin: workspace: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("builtin: workspace: %w", err)
	}
	return &workspace{Root: root, dir: real, given: given}, nil
}

// errOutside is the answer to every path that leads out.
var errOutside = errors.New("it is outside the workspace")

// rel turns the path of a caller into one for the root: relative to the
// workspace, or absolute and inside it. What links do is the root's business.
func (w *workspace) rel(path string) (string, error) {
	switch {
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("%q is no path", path)
	case path == "":
		return ".", nil
	case !filepath.IsAbs(path):
		path = filepath.Clean(path)
		if !filepath.IsLocal(path) {
			return "", fmt.Errorf("%s: %w %s", path, errOutside, w.given)
		}
		return path, nil
	}
	for _, base := range []string{w.given, w.dir} {
		rel, err := filepath.Rel(base, path)
		if err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", fmt.Errorf("%s: %w %s", path, errOutside, w.given)
}

// explain makes an error of the root readable, without the names of calls.
func (w *workspace) explain(path string, err error) error {
	p, ok := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, errOutside):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", path)
	case ok && strings.Contains(p.Err.Error(), "escapes"):
		return fmt.Errorf("%s: %w: a link leads out", path, errOutside)
	case ok:
		return fmt.Errorf("%s: %w", path, p.Err)
	default:
		return fmt.Errorf("%s: %w", path, err)
	}
}

// openRegular opens a file to read. A pipe or a device could block or never end,
// so only regular files are let through; opening does not wait for a pipe.
func (w *workspace) openRegular(path string) (*os.File, fs.FileInfo, error) {
	rel, err := w.rel(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := w.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, w.explain(path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = w.explain(path, err)
	case info.IsDir():
		err = fmt.Errorf("%s is a folder; Glob lists what is in it", path)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// writable returns the path for the root if a file there may be changed.
func (w *workspace) writable(path string) (string, error) {
	rel, err := w.rel(path)
	if err != nil {
		return "", err
	}
	if rel == "." {
		return "", fmt.Errorf("%s is the workspace itself", path)
	}
	if w.protected.Covers(filepath.Join(w.dir, rel)) {
		return "", fmt.Errorf("%s is protected: no tool may change settings, what they name, or the log of a run", path)
	}
	return rel, nil
}
