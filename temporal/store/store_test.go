package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/temporal/store"
)

func TestFolder(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s, err := store.Open(filepath.Join(dir, "shared"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, "a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get(missing) = %v, want that it does not exist", err)
	}
	if err := s.Create(ctx, "a/b", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, "a/b", []byte("two")); !errors.Is(err, store.ErrExists) {
		t.Errorf("Create(there already) = %v, want %v", err, store.ErrExists)
	}
	if got, err := s.Get(ctx, "a/b"); err != nil || string(got) != "one" {
		t.Errorf("Get() = %q, %v, want the first", got, err)
	}
	if err := store.Put(ctx, s, "a/b", []byte("one")); err != nil {
		t.Errorf("Put(the same) = %v", err)
	}
	if err := store.Put(ctx, s, "a/b", []byte("two")); !errors.Is(err, store.ErrTaken) {
		t.Errorf("Put(another) = %v, want %v", err, store.ErrTaken)
	}
	if err := store.Put(ctx, s, "a/a", nil); err != nil {
		t.Fatal(err)
	}
	names, err := s.List(ctx, "a")
	if diff := cmp.Diff([]string{"a", "b"}, names); err != nil || diff != "" {
		t.Errorf("List() = %v; -want +got\n%s", err, diff)
	}
	if names, err := s.List(ctx, "nothing"); err != nil || names != nil {
		t.Errorf("List(nothing) = %q, %v", names, err)
	}
	for _, bad := range []string{"", "/etc/passwd", "../x", "a/../b", "a//b", ".pending-1", "a/.hidden", "a\x00b", strings.Repeat("../", 9)} {
		if err := s.Create(ctx, bad, nil); err == nil {
			t.Errorf("Create(%q) = nil, want an error", bad)
		}
		if _, err := s.Get(ctx, bad); err == nil {
			t.Errorf("Get(%q) = nil, want an error", bad)
		}
	}
}

// TestFirst: of many who create one name at the same time, one is first.
func TestFirst(t *testing.T) {
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var first atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			switch err := s.Create(t.Context(), "claim", []byte("mine")); {
			case err == nil:
				first.Add(1)
			case !errors.Is(err, store.ErrExists):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if first.Load() != 1 {
		t.Errorf("%d were first, want 1", first.Load())
	}
}

func TestValues(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := store.PutValue(ctx, s, []byte("a value"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := store.PutValue(ctx, s, []byte("a value")); err != nil || again != hash {
		t.Errorf("PutValue(again) = %q, %v, want %q", again, err, hash)
	}
	if got, err := store.GetValue(ctx, s, hash); err != nil || string(got) != "a value" {
		t.Errorf("GetValue() = %q, %v", got, err)
	}
	path := filepath.Join(dir, "values", hash[:2], hash)
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.GetValue(ctx, s, hash); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("GetValue(damaged) = %v, want that it is", err)
	}
	for _, bad := range []string{"", "x", strings.Repeat("0", 64)} {
		if _, err := store.GetValue(ctx, s, bad); err == nil {
			t.Errorf("GetValue(%q) = nil, want an error", bad)
		}
	}
}
