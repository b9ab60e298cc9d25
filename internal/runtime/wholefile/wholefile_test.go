package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"one", "", "another"} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatalf("Replace(%q) = %v", text, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file holds %q, %v, want %q", got, err, text)
		}
	}
	if err := Create(path, []byte("late")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create(a file that is there) = %v, want %v", err, fs.ErrExist)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "another" {
		t.Errorf("the file holds %q, %v, want what it held", got, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("new")); err != nil {
		t.Errorf("Create() = %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("the file holds %q, %v, want what was written", got, err)
	}
	if err := Replace(filepath.Join(dir, "missing", "f"), nil); err == nil {
		t.Error("Replace(in a folder that is not there) = nil, want an error")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v, want the file alone", entries, err)
	}
}

func TestReplacePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("open"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ReplacePrivate(path, []byte("secret")); err != nil {
		t.Fatalf("ReplacePrivate() = %v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("ReplacePrivate(): the file has mode %o, want 600", info.Mode().Perm())
	}
}
