package runlog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// watchSync calls seen for each folder that is synced until the test ends.
func watchSync(t *testing.T, seen func(dir string)) {
	was := syncDir
	t.Cleanup(func() { syncDir = was })
	syncDir = func(dir string) error {
		seen(dir)
		return was(dir)
	}
}

// TestNewFoldersAreSynced: a folder that is new is an entry in another one, which is
// lost in a power cut unless that one is synced, however many of them are new.
func TestNewFoldersAreSynced(t *testing.T) {
	for name, test := range map[string]struct {
		run  string
		want []string
	}{
		"one is new":     {"run", []string{".", "run"}},
		"two are new":    {"runs/run", []string{"runs", ".", "runs/run"}},
		"four are new":   {"a/b/runs/run", []string{"a/b/runs", "a/b", "a", ".", "a/b/runs/run"}},
		"not cleaned up": {"./runs//run/", []string{"runs", ".", "runs/run"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var synced []string
			watchSync(t, func(dir string) { synced = append(synced, filepath.ToSlash(filepath.Clean(dir))) })
			log, err := Create(test.run, "run", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			if diff := cmp.Diff(test.want, synced); diff != "" {
				t.Errorf("Create(%q) synced other folders (-want +got):\n%s", test.run, diff)
			}
		})
	}
}

// TestSetAsideIsSyncedFirst: what is cut off the log must be sure to be elsewhere.
func TestSetAsideIsSyncedFirst(t *testing.T) {
	dir := newRun(t, 3)
	path := filepath.Join(dir, EventsFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	synced := false
	watchSync(t, func(d string) {
		synced = synced || d == dir
		if now, err := os.ReadFile(path); err != nil || len(now) != len(before) {
			t.Errorf("the log had %d bytes when its folder was synced, %v, want all %d", len(now), err, len(before))
		}
	})
	if _, err := SetAside(&CorruptError{Dir: dir, Offset: 100}); err != nil {
		t.Fatal(err)
	}
	if !synced {
		t.Errorf("SetAside did not sync the folder of the copy")
	}
	if now, err := os.ReadFile(path); err != nil || len(now) != 100 {
		t.Errorf("the log has %d bytes, %v, want 100", len(now), err)
	}
}

// TestSetAsideAgain: a copy that an interrupted attempt left, or an earlier damage at
// the same place, is kept and is in nobody's way.
func TestSetAsideAgain(t *testing.T) {
	dir := newRun(t, 3)
	first := filepath.Join(dir, EventsFile+".damaged-at-100")
	if err := os.WriteFile(first, []byte("left behind"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{first + ".2", first + ".3", first + ".4"} {
		if name, err := SetAside(&CorruptError{Dir: dir, Offset: 100}); err != nil || name != want {
			t.Fatalf("SetAside(again) = %s, %v, want %s", name, err, want)
		}
	}
	if kept, err := os.ReadFile(first); err != nil || string(kept) != "left behind" {
		t.Errorf("%s holds %q, %v, want what was there", first, kept, err)
	}
}

func TestRemoveEmpty(t *testing.T) {
	begun := newRun(t, 0)
	if err := RemoveEmpty(begun); err != nil || isMissing(begun) {
		t.Errorf("RemoveEmpty(a run with an event) = %v, want that it stays", err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := RemoveEmpty(dir); err != nil || !isMissing(dir) {
		t.Errorf("RemoveEmpty(a run without one) = %v, want that it goes", err)
	}
}
