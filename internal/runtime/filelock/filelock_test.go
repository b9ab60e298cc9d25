package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/filelock"
)

func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := filelock.Hold(path, 0)
	if err != nil {
		t.Fatalf("Hold() = %v", err)
	}
	if _, err := filelock.Hold(path, time.Millisecond); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("Hold(locked) = %v, want %v", err, filelock.ErrLocked)
	}
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := filelock.TryShare(other); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("TryShare(locked) = %v, want %v", err, filelock.ErrLocked)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryShare(other); err != nil {
		t.Errorf("TryShare(let go) = %v", err)
	}
	another, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	if err := filelock.TryShare(another); err != nil {
		t.Errorf("TryShare(shared) = %v", err)
	}
	if err := filelock.Try(another); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("Try(shared) = %v, want %v", err, filelock.ErrLocked)
	}
}
