//go:build unix

package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func exists(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Lstat(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestDir(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Path, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(d.Top()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("New(test) = a folder %v, %v, want one for its owner alone", info.Mode(), err)
	}
	Sweep()
	if !exists(t, d.Path) {
		t.Fatal("Sweep() removed a folder that is in use")
	}
	if err := os.Mkdir(filepath.Join(d.Path, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	d.Remove()
	if exists(t, d.Top()) {
		t.Error("Remove() left the folder")
	}
}

func TestSweep(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	abandoned, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(abandoned.Path, "link")); err != nil {
		t.Fatal(err)
	}
	inherited, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	// Somebody else has it open when its maker ends.
	heir, err := os.OpenFile(filepath.Join(inherited.Top(), lockName), os.O_RDWR, 0)
	if err == nil {
		err = share(heir)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Dir{abandoned, inherited} {
		if err := d.lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	others := map[string]func(dir string) error{
		"without a lock":    func(string) error { return nil },
		"just being made":   func(dir string) error { return os.WriteFile(filepath.Join(dir, lockName), nil, 0o600) },
		"of something else": func(dir string) error { return os.WriteFile(filepath.Join(dir, lockName), []byte("other"), 0o600) },
		"with a folder":     func(dir string) error { return os.Mkdir(filepath.Join(dir, lockName), 0o700) },
		"with a link": func(dir string) error {
			return os.Symlink(filepath.Join(abandoned.top, lockName), filepath.Join(dir, lockName))
		},
		"with another start": nil,
	}
	for name, fill := range others {
		dir := filepath.Join(temp, prefix+name)
		if fill == nil {
			dir = filepath.Join(temp, name)
			fill = func(dir string) error { return os.WriteFile(filepath.Join(dir, lockName), []byte(held), 0o600) }
		}
		if err := errors.Join(os.Mkdir(dir, 0o700), fill(dir)); err != nil {
			t.Fatal(err)
		}
		others[name] = func(string) error {
			if !exists(t, dir) {
				t.Errorf("Sweep() removed a folder %s", name)
			}
			return nil
		}
	}
	Sweep()
	for _, check := range others {
		_ = check("")
	}
	if exists(t, abandoned.Top()) {
		t.Error("Sweep() left a folder whose owners are gone")
	}
	if !exists(t, inherited.Path) {
		t.Error("Sweep() removed a folder that somebody has inherited")
	}
	if !exists(t, outside) {
		t.Error("Sweep() followed a link")
	}
	if err := heir.Close(); err != nil {
		t.Fatal(err)
	}
	Sweep()
	if exists(t, inherited.Top()) {
		t.Error("Sweep() left a folder whose heir is gone")
	}
}
