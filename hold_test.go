package maker_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/control"
)

// TestHold: a run that is held has its folder and nothing else, and a resume does it.
func TestHold(t *testing.T) {
	var held atomic.Pointer[string]
	o := &maker.Options{LogDir: t.TempDir(), Hold: func(dir string) { held.Store(&dir) }, Config: maker.Config{Model: "sim/default"}}
	e, err := maker.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run, err := e.Chain(t.Context(), hanoi.Name, hanoi.Params{Disks: 3})
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Result()
	if err != nil || r.Status != event.StatusStopped || r.Stop != event.StopPaused {
		t.Fatalf("Result() = %+v, %v, want that it is paused", r, err)
	}
	if dir := held.Load(); dir == nil || *dir != run.Dir() {
		t.Fatalf("Hold was called with %v, want %s", dir, run.Dir())
	}
	again, err := e.Resume(t.Context(), run.ID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = again.Result(); err != nil || r.Status != event.StatusCompleted {
		t.Errorf("Resume().Result() = %+v, %v, want that it is done", r, err)
	}
}

// TestLateRequest: a request to a run that ended before it was taken does not stay.
func TestLateRequest(t *testing.T) {
	e, err := maker.New(&maker.Options{LogDir: t.TempDir(), Config: maker.Config{Model: "sim/default"}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run, err := e.Chain(t.Context(), hanoi.Name, hanoi.Params{Disks: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(); err != nil {
		t.Fatal(err)
	}
	if err := control.Leave(run.Dir(), control.Request{Action: control.Pause, By: "test", Session: "over"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Resume(t.Context(), run.ID(), nil); !errors.Is(err, maker.ErrFinished) {
		t.Errorf("Resume(finished) = %v, want %v", err, maker.ErrFinished)
	}
	if _, err := os.Stat(filepath.Join(run.Dir(), control.Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the request stays: %v", err)
	}
}
