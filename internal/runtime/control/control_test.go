package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watched runs act while a session called mine is watched, and returns what it took and
// what it warned of.
func watched(t *testing.T, run string, act func()) (taken []Request, warned []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			Watch(ctx, run, "mine", func(r Request) { taken = append(taken, r) }, func(text string) { warned = append(warned, text) })
		}()
		synctest.Wait()
		act()
		time.Sleep(time.Second) // of the bubble: within a second
		stop()
		<-done
	})
	return taken, warned
}

func TestRequestsAreTakenWithinASecond(t *testing.T) {
	run := t.TempDir()
	want := []Request{{Cancel, "maker cancel", "mine"}, {Pause, "the page", "mine"}}
	taken, warned := watched(t, run, func() {
		for _, r := range []Request{want[1], {Cancel, "somebody earlier", "mine"}, want[0]} { // the last of its kind counts
			if err := Leave(run, r); err != nil {
				t.Error(err)
			}
		}
		if !Pending(run, Cancel) || !Pending(run, Pause) {
			t.Error("Pending() = false for a request that was just left")
		}
	})
	if diff := cmp.Diff(want, taken); diff != "" || warned != nil {
		t.Errorf("Watch() warns of %q and takes: -want +got\n%s", warned, diff)
	}
	if _, err := os.Stat(filepath.Join(run, Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of requests is still there: %v", err)
	}
}

func TestWhatIsNoRequestIsDropped(t *testing.T) {
	const right = `{"request":"cancel","by":"b","session":"mine"}`
	for name, put := range map[string]func(path string) error{
		"nothing":         text(""),
		"half":            text(right[:20]),
		"two":             text(right + right),
		"another kind":    text(`{"request":"pause","by":"b","session":"mine"}`),
		"a list":          text(`[1]`),
		"wrong types":     text(`{"request":{},"by":7}`),
		"deep":            text(strings.Repeat("[", 15<<10)),
		"much":            text(`{"request":"cancel","session":"mine","by":"` + strings.Repeat("b", maxFile) + `"}`),
		"another session": text(strings.Replace(right, "mine", "one before the crash", 1)),
		"no session":      text(`{"request":"cancel","by":"b"}`),
		"a folder":        func(path string) error { return os.Mkdir(path, 0o755) },
		"a link":          func(path string) error { return os.Symlink("/dev/zero", path) },
		"a full folder": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o755), os.Mkdir(filepath.Join(path, "x"), 0o755))
		},
		"control sequence": text("\x1b[2J\x00\xff"),
	} {
		run := t.TempDir()
		taken, warned := watched(t, run, func() {
			if err := errors.Join(os.Mkdir(filepath.Join(run, Folder), 0o755), put(file(run, Cancel))); err != nil {
				t.Error(err)
			}
		})
		if taken != nil || len(warned) != 1 || !strings.Contains(warned[0], "cancel.json was dropped: ") || strings.ContainsAny(warned[0], "\x1b\x00") {
			t.Errorf("Watch(%s) takes %v and warns of %q, want nothing and one reason", name, taken, warned)
		}
		if Pending(run, Cancel) != (name == "a full folder") {
			t.Errorf("Watch(%s) leaves it lying there", name)
		}
	}
}

func text(content string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(content), 0o644) }
}

// TestWhatWasCutShortIsSweptAway: somebody was killed before the request had its name.
func TestWhatWasCutShortIsSweptAway(t *testing.T) {
	run := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(run, Folder), 0o755), text(`{"requ`)(filepath.Join(run, Folder, ".pause.json-123"))); err != nil {
		t.Fatal(err)
	}
	if taken, warned := watched(t, run, func() {}); taken != nil || warned != nil {
		t.Errorf("Watch() takes %v and warns of %q, want nothing", taken, warned)
	}
	if _, err := os.Stat(filepath.Join(run, Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of requests is still there: %v", err)
	}
}

func TestWithdraw(t *testing.T) {
	run := t.TempDir()
	if was, err := Withdraw(run, Pause); was || err != nil {
		t.Errorf("Withdraw(nothing) = %t, %v, want that there was none", was, err)
	}
	if err := Leave(run, Request{Pause, "me", "s"}); err != nil {
		t.Fatal(err)
	}
	if was, err := Withdraw(run, Pause); !was || err != nil || Pending(run, Pause) {
		t.Errorf("Withdraw() = %t, %v, want that it was there and is gone", was, err)
	}
	if err := Leave(filepath.Join(run, "gone"), Request{Pause, "me", "s"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Leave(a run that was removed) = %v, want %v", err, fs.ErrNotExist)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"request":"cancel","by":"b","session":"s"}`))
	f.Add([]byte(`{"request":"cancel","by":"\u001b[2J\n\ud800"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parse(Cancel, data)
		if err != nil {
			return
		}
		if r.Action != Cancel || r.By == "" || len([]rune(r.By)) > maxBy || strings.ContainsFunc(r.By, func(c rune) bool { return c < ' ' }) {
			t.Errorf("parse(%q) = %+v, want a request that can be shown", data, r)
		}
		_ = fmt.Sprint(r)
	})
}
