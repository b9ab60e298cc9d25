package runlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/filelock"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
)

// thefts are ways to take a run away from the process that writes it.
var thefts = map[string]func(dir string) error{
	"the lock is removed":  func(dir string) error { return os.Remove(filepath.Join(dir, LockFile)) },
	"the lock is replaced": func(dir string) error { return wholefile.Replace(filepath.Join(dir, LockFile), nil) },
	"the lock is moved": func(dir string) error {
		return os.Rename(filepath.Join(dir, LockFile), filepath.Join(dir, "lock.old"))
	},
	"the log is replaced": func(dir string) error {
		data, err := os.ReadFile(filepath.Join(dir, EventsFile))
		if err != nil {
			return err
		}
		return wholefile.Replace(filepath.Join(dir, EventsFile), data)
	},
	"the log is removed":  func(dir string) error { return os.Remove(filepath.Join(dir, EventsFile)) },
	"the folder is gone":  os.RemoveAll,
	"the folder is moved": func(dir string) error { return os.Rename(dir, dir+"-moved") },
	"the folder is a copy": func(dir string) error {
		return errors.Join(os.Rename(dir, dir+"-moved"), os.CopyFS(dir, os.DirFS(dir+"-moved")))
	},
}

// TestAStolenRunIsNotWritten takes a run away from its log: from then on nothing is
// durable any more, so that nothing is done that waits for it, and nothing is written.
func TestAStolenRunIsNotWritten(t *testing.T) {
	large := event.TextValue(strings.Repeat("x", maxInline+1))
	for name, steal := range thefts {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			l, err := Create(dir, "run", nil)
			if err != nil {
				t.Fatal(err)
			}
			appendAll(t, l, submitted(), step(0))
			if err := l.Sync(context.Background()); err != nil {
				t.Fatal(err)
			}
			written, err := os.Open(filepath.Join(dir, EventsFile)) // however it will be called
			if err != nil {
				t.Fatal(err)
			}
			defer written.Close()
			before, err := written.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if err := steal(dir); err != nil {
				t.Fatal(err)
			}
			there := list(t, dir)

			err = l.Append(event.EffectClaimed{Effect: "pay"})
			if err == nil {
				err = l.Sync(context.Background())
			}
			lost, ok := errors.AsType[*LostError](err)
			if !ok || !strings.Contains(lost.Error(), dir) {
				t.Fatalf("Append() and Sync() = %v, want a LostError", err)
			}
			if err := l.Append(step(1)); !errors.Is(err, lost) {
				t.Errorf("Append() = %v, want %v", err, lost)
			}
			if err := l.Append(event.StepCompleted{Step: 2, Output: large}); err == nil {
				t.Error("Append(a large value) = nil, want an error")
			}
			if err := l.Close(); !errors.Is(err, lost) {
				t.Errorf("Close() = %v, want %v", err, lost)
			}
			after, err := written.Stat()
			if err != nil || after.Size() != before.Size() {
				t.Errorf("the log has %d bytes, want the %d that it had: %v", after.Size(), before.Size(), err)
			}
			if now := list(t, dir); now != there {
				t.Errorf("the folder holds %q, want %q as it was left", now, there)
			}
		})
	}
}

// TestAGroupThatIsStolenIsNotDurable takes the run away while its last group is on its
// way to the disk.
func TestAGroupThatIsStolenIsNotDurable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	l.events = &stolen{l.events, dir}
	err = l.Append(event.EffectClaimed{Effect: "pay"})
	if err == nil {
		err = l.Sync(context.Background())
	}
	if _, ok := errors.AsType[*LostError](err); !ok {
		t.Errorf("Sync() = %v, want a LostError: the claim is in no run", err)
	}
	if err := l.Close(); err == nil {
		t.Error("Close() = nil, want an error")
	}
}

// stolen is a log whose folder is removed while it is synced.
type stolen struct {
	file
	dir string
}

func (s *stolen) Sync() error { return errors.Join(s.file.Sync(), os.RemoveAll(s.dir)) }

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestALiveRunIsLockedWithoutItsLock: removing the lock lets nobody else in as long as
// the process that held it lives, not even before it notices.
func TestALiveRunIsLockedWithoutItsLock(t *testing.T) {
	for _, begin := range []string{"created", "opened"} {
		t.Run(begin, func(t *testing.T) {
			dir := newRun(t, 2)
			var l *Log
			var err error
			if begin == "opened" {
				l, _, err = Open(dir, nil, ignore)
			} else {
				dir = filepath.Join(t.TempDir(), "run")
				if l, err = Create(dir, "run", nil); err == nil {
					appendAll(t, l, submitted())
					err = l.Sync(context.Background())
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, LockFile)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				second, _, err := Open(dir, nil, ignore)
				if _, ok := errors.AsType[*LockedError](err); !ok {
					t.Errorf("Open() of a live run without its lock = %v, want a LockedError", err)
				}
				if second != nil {
					second.Close()
				}
			}
			if _, err := SetAside(&CorruptError{Dir: dir, Offset: 10}); err == nil {
				t.Error("SetAside() of a live run without its lock = nil, want an error")
			}
			if err := l.Close(); err != nil {
				t.Errorf("Close() = %v, want nil: nothing was left to be written", err)
			}
			second, _, err := Open(dir, nil, ignore)
			if err != nil {
				t.Fatalf("Open() after the first process ended = %v", err)
			}
			if err := second.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// holdLock makes the lock of a process that does not end.
func holdLock(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = filelock.Try(f)
	}
	if err != nil {
		t.Error(err)
	}
	return f
}

// TestPatienceWithALock: who holds it for a moment is waited for, and nobody for long.
func TestPatienceWithALock(t *testing.T) {
	for held, want := range map[time.Duration]time.Duration{
		5 * time.Millisecond:   10 * time.Millisecond,
		145 * time.Millisecond: 150 * time.Millisecond,
		time.Hour:              200 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), LockFile)
			holder := holdLock(t, path)
			time.AfterFunc(held, func() { holder.Close() })
			start := time.Now()
			l, err := acquire(path)
			if waited := time.Since(start); waited != want {
				t.Errorf("acquire(a lock held for %v) took %v, want %v", held, waited, want)
			}
			if _, locked := errors.AsType[*LockedError](err); locked != (held == time.Hour) || locked == (err == nil) {
				t.Errorf("acquire(a lock held for %v) = %v", held, err)
			}
			if err == nil {
				l.release()
			}
			time.Sleep(held) // until it is let go
		})
	}
}

// TestALockThatKeepsVanishing: a lock that was removed while it was waited for is worth
// nothing, and another one is tried, but not for ever.
func TestALockThatKeepsVanishing(t *testing.T) {
	for removed, want := range map[int]string{
		1:             "<nil>",
		lockTries:     "<nil>",
		lockTries + 1: "somebody keeps removing",
	} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), LockFile)
			held := holdLock(t, path)
			var remover sync.WaitGroup
			remover.Go(func() {
				time.Sleep(lockPatience / 40) // between two tries
				for range removed {
					if err := os.Remove(path); err != nil {
						t.Error(err)
					}
					next := holdLock(t, path)
					held.Close()
					held = next
					time.Sleep(lockPatience / 20)
				}
				held.Close()
			})
			l, err := acquire(path)
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("acquire(a lock that is removed %d times) = %v, want %s", removed, err, want)
			}
			if err == nil {
				l.release()
			}
			remover.Wait()
		})
	}
}
