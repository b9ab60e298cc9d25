package runlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

func submitted() event.TaskSubmitted {
	return event.TaskSubmitted{Format: event.Format, Maker: "test", Kind: "k", Form: event.FormChain, Task: "t"}
}

func step(n int) event.StepCompleted {
	return event.StepCompleted{
		Step: n, Output: event.JSONValue([]byte(fmt.Sprintf(`{"n":%d}`, n))),
		Voting: event.Voting{Strategy: vote.FirstToK, Samples: 4, RedFlagged: 1, Votes: map[string]int{"a": 3}, Margin: 3},
		Spent:  usage.Spent{Calls: int64(n), USD: float64(n) / 8},
	}
}

// newRun writes a log with n steps and closes it.
func newRun(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, submitted())
	for i := range n {
		appendAll(t, l, step(i))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func appendAll(t *testing.T, l *Log, events ...event.Event) {
	t.Helper()
	for _, e := range events {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func readAll(t *testing.T, dir string) []event.Event {
	t.Helper()
	var out []event.Event
	for line, err := range Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := line.Decode()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rec.Event)
	}
	return out
}

func ignore(Line) error { return nil }

func TestAppendAndRead(t *testing.T) {
	dir := newRun(t, 3)
	want := []event.Event{submitted(), step(0), step(1), step(2)}
	if diff := cmp.Diff(want, readAll(t, dir)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	for n := range 6 {
		tail, err := Tail(dir, n)
		if err != nil {
			t.Fatal(err)
		}
		var got []event.Event
		for _, rec := range tail {
			got = append(got, rec.Event)
		}
		if diff := cmp.Diff(want[max(0, len(want)-n):], got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Tail(%d) (-want +got):\n%s", n, diff)
		}
	}
}

// TestCreateLeavesNothingBehind: a run that could not begin is no run.
func TestCreateLeavesNothingBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(filepath.Join(dir, IndexFile), 0o755); err != nil { // so that there is no index
		t.Fatal(err)
	}
	if l, err := Create(dir, "run", nil); err == nil {
		t.Errorf("Create(with a folder for an index) = %v, want an error", l)
	}
	if left, err := os.ReadDir(dir); err == nil {
		t.Errorf("Create() failed and left %v", left)
	}
}

func TestCreateRefusesAnExistingRun(t *testing.T) {
	dir := newRun(t, 1)
	if _, err := Create(dir, "run", nil); !errors.Is(err, ErrExists) {
		t.Errorf("Create() = %v, want %v", err, ErrExists)
	}
}

// TestOpenLeavesAWholeLogAlone: the shortest one, and as it was written.
func TestOpenLeavesAWholeLogAlone(t *testing.T) {
	dir := newRun(t, 0)
	path := filepath.Join(dir, EventsFile)
	written := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(path, written, written); err != nil {
		t.Fatal(err)
	}
	l, rec, err := Open(dir, nil, ignore)
	if want := (Recovery{Run: "run", Events: 1}); err != nil || rec != want {
		t.Fatalf("Open() = %+v, %v, want %+v", rec, err, want)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(written) {
		t.Errorf("Open() changed the log at %v, %v, want it as it was written at %v", info.ModTime(), err, written)
	}
}

func TestReopenContinues(t *testing.T) {
	dir := newRun(t, 2)
	var seen []event.Type
	l, rec, err := Open(dir, nil, func(l Line) error { seen = append(seen, l.Type); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if want := (Recovery{Run: "run", Events: 3}); rec != want {
		t.Errorf("Open() = %+v, want %+v", rec, want)
	}
	if want := []event.Type{event.TypeTaskSubmitted, event.TypeStepCompleted, event.TypeStepCompleted}; !cmp.Equal(seen, want) {
		t.Errorf("visited %v, want %v", seen, want)
	}
	appendAll(t, l, step(2))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(readAll(t, dir)); got != 4 {
		t.Errorf("%d events, want 4", got)
	}
}

// TestEveryCut opens the log as a crash would have left it after each byte.
func TestEveryCut(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(newRun(t, 2), EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := first; cut <= len(whole); cut++ {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, EventsFile), whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		l, rec, err := Open(dir, nil, ignore)
		if err != nil {
			t.Fatalf("Open() after a cut at %d: %v", cut, err)
		}
		intact := bytes.Count(whole[:cut], []byte("\n"))
		dropped := int64(cut - bytes.LastIndexByte(whole[:cut], '\n') - 1)
		if rec.Events != uint64(intact) || rec.Dropped != dropped {
			t.Errorf("Open() after a cut at %d = %+v, want %d events and %d bytes dropped", cut, rec, intact, dropped)
		}
		appendAll(t, l, step(9))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got := len(readAll(t, dir)); got != intact+1 {
			t.Errorf("after a cut at %d: %d events, want %d", cut, got, intact+1)
		}
	}
}

func TestTornTailOfGarbage(t *testing.T) {
	for _, tail := range []string{"\x00\x00\x00\x00", "{\"type\":\"step_completed\",\"se\n", "\x00\x00\n", "garbage\n"} {
		dir := newRun(t, 2)
		f, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(tail)
		f.Close()
		l, rec, err := Open(dir, nil, ignore)
		if err != nil {
			t.Errorf("Open() with the tail %q: %v", tail, err)
			continue
		}
		if rec.Events != 3 || rec.Dropped != int64(len(tail)) {
			t.Errorf("Open() with the tail %q = %+v", tail, rec)
		}
		l.Close()
	}
}

func TestDamageInTheMiddle(t *testing.T) {
	dir := newRun(t, 4)
	path := filepath.Join(dir, EventsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	damaged := bytes.Join([][]byte{lines[0], lines[1], []byte("{\"type\":\"step_comp\x00\n"), lines[3], lines[4]}, nil)
	if err := os.WriteFile(path, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err = Open(dir, nil, ignore)
	damage, ok := errors.AsType[*CorruptError](err)
	if !ok || damage.Line != 3 || damage.Dir != dir || damage.Offset != int64(len(lines[0])+len(lines[1])) {
		t.Fatalf("Open() = %v, want damage at line 3", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, damaged) {
		t.Fatal("Open changed a damaged log")
	}

	name, err := SetAside(damage)
	if err != nil {
		t.Fatal(err)
	}
	aside, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(aside, damaged[damage.Offset:]) {
		t.Errorf("SetAside kept %q, %v", aside, err)
	}
	l, rec, err := Open(dir, nil, ignore)
	if err != nil || rec.Events != 2 {
		t.Fatalf("Open() after SetAside = %+v, %v, want 2 events", rec, err)
	}
	l.Close()
}

func TestMissingLine(t *testing.T) {
	dir := newRun(t, 4)
	path := filepath.Join(dir, EventsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join([][]byte{lines[0], lines[2], lines[3]}, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(dir, nil, ignore); !strings.Contains(fmt.Sprint(err), "sequence number is 2, want 1") {
		t.Errorf("Open() = %v, want a gap in the sequence", err)
	}
}

func TestNewerLog(t *testing.T) {
	dir := t.TempDir()
	line := `{"type":"task_submitted","seq":0,"timestamp":"2030-01-01T00:00:00.000Z","run":"r","format":99,"maker":"9.9"}` + "\n"
	path := filepath.Join(dir, EventsFile)
	if err := os.WriteFile(path, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := Open(dir, nil, ignore)
	if newer, ok := errors.AsType[*NewerError](err); !ok || newer.Format != 99 || newer.Maker != "9.9" {
		t.Errorf("Open() = %v, want a NewerError", err)
	}
	if got, _ := os.ReadFile(path); string(got) != line {
		t.Error("Open changed a newer log")
	}
}

func TestUnknownEventsArePassedOver(t *testing.T) {
	dir := newRun(t, 1)
	f, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Write(append(seal([]byte(`{"type":"from_the_future","seq":2,"timestamp":"2030-01-01T00:00:00.000Z","run":"run","x":1}`), 0), '\n'))
	f.Close()
	got := readAll(t, dir)
	if u, ok := got[2].(event.Unknown); !ok || u.Name != "from_the_future" {
		t.Errorf("third event = %#v", got[2])
	}
}

func TestLockNamesItsHolder(t *testing.T) {
	dir := newRun(t, 1)
	l, _, err := Open(dir, nil, ignore)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Open(dir, nil, ignore)
	held, ok := errors.AsType[*LockedError](err)
	if !ok || held.Holder.PID != os.Getpid() {
		t.Errorf("second Open() = %v, want a LockedError naming %d", err, os.Getpid())
	}
	if h, ok := HolderOf(filepath.Join(dir, LockFile)); !ok || h.PID != os.Getpid() {
		t.Errorf("HolderOf() = %+v, %v", h, ok)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := HolderOf(filepath.Join(dir, LockFile)); ok {
		t.Error("HolderOf() after Close: still held")
	}
}

func TestFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	const readers, events = 4, 500
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			var next uint64
			for line, err := range l.Follow(t.Context()) {
				if err != nil || line.Seq != next {
					t.Errorf("Follow() = event %d, %v, want event %d", line.Seq, err, next)
					return
				}
				next++
			}
			if next != events {
				t.Errorf("Follow() gave %d events, want %d", next, events)
			}
		})
	}
	for i := range events {
		appendAll(t, l, step(i))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

func TestFollowEndsWithItsContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	appendAll(t, l, submitted())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range l.Follow(ctx) {
		cancel() // the next wait must not last for ever
	}
}

func TestLargeValuesAreStoredOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("long ", 10_000)
	for i := range 3 {
		appendAll(t, l, event.SampleCompleted{Sample: event.Sample{Sample: i}, Text: event.TextValue(text)})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	blobs, err := os.ReadDir(filepath.Join(dir, BlobsDir))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("%d stored values, %v, want 1", len(blobs), err)
	}
	for _, e := range readAll(t, dir) {
		v, err := Load(dir, e.(event.SampleCompleted).Text)
		if err != nil || v.Text() != text {
			t.Errorf("Load() = %d bytes, %v, want %d", len(v.Text()), err, len(text))
		}
	}
	blob := filepath.Join(dir, BlobsDir, blobs[0].Name())
	if err := os.WriteFile(blob, []byte(`"changed"`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, readAll(t, dir)[0].(event.SampleCompleted).Text); err == nil {
		t.Error("Load() of a changed value: no error")
	}
}

// full is a disk with little room.
type full struct {
	file
	room int
}

func (f *full) Write(p []byte) (int, error) {
	if len(p) <= f.room {
		f.room -= len(p)
		return f.file.Write(p)
	}
	n, _ := f.file.Write(p[:f.room])
	f.room = 0
	return n, syscall.ENOSPC
}

func TestDiskFull(t *testing.T) {
	dir := newRun(t, 2)
	l, _, err := Open(dir, nil, ignore)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	l.events = &full{l.events, 600}
	l.mu.Unlock()
	var failed error
	for i := 2; i < 1000 && failed == nil; i++ {
		if failed = l.Append(step(i)); failed == nil {
			failed = l.Sync(t.Context())
		}
	}
	if w, ok := errors.AsType[*WriteError](failed); !ok || !errors.Is(w, syscall.ENOSPC) || w.Empty {
		t.Fatalf("Append() on a full disk = %v, want a WriteError", failed)
	}
	if err := l.Append(step(7)); err == nil {
		t.Error("Append() after a failure: no error")
	}
	if err := l.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close() = %v", err)
	}
	l, rec, err := Open(dir, nil, ignore)
	if err != nil || rec.Dropped != 0 || rec.Events < 3 {
		t.Fatalf("Open() after a full disk = %+v, %v", rec, err)
	}
	l.Close()
}

// TestARunThatADiskHasNoRoomFor has not begun: the part of its first line that was
// written is taken back.
func TestARunThatADiskHasNoRoomFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	l.events = &full{l.events, 10}
	appendAll(t, l, submitted())
	if w, ok := errors.AsType[*WriteError](l.Close()); !ok || !errors.Is(w, syscall.ENOSPC) || !w.Empty {
		t.Errorf("Close() = %v, want that the run has not begun", w)
	}
	if err := RemoveEmpty(dir); err != nil || !isMissing(dir) {
		t.Errorf("RemoveEmpty() = %v, want that nothing was left", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 {
		// Root writes anywhere; a file where the folder should be stops it too.
		parent := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(parent, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(filepath.Join(parent, "run"), "run", nil); err == nil {
			t.Error("Create() below a file: no error")
		}
		return
	}
	parent := t.TempDir()
	if err := os.Chmod(parent, 0o555); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(parent, "run"), "run", nil); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Create() in a read-only folder = %v", err)
	}
}

func TestEmptyLog(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, EventsFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(dir, nil, ignore); err == nil {
		t.Error("Open() of an empty log: no error")
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"type":"step_completed","seq":0,"timestamp":"2026-01-01T00:00:00.000Z","run":"r","step":0}` + "\n"))
	f.Add([]byte("{}\n\n\n"))
	f.Add([]byte(`{"type":"x","seq":18446744073709551615}` + "\n{}"))
	f.Add(append(seal([]byte(`{"type":"x","seq":0}`), 0), '\n'))
	f.Add([]byte(`{"type":"x","seq":0}` + "\n" + string(seal([]byte(`{"type":"run_resumed","seq":1}`), 0)) + "\n" + `{"type":"x","seq":2,"crc":"00000000"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		end, err := scan(bytes.NewReader(data), 0, func(l Line) error {
			_, _ = l.Decode()
			return nil
		})
		if end < 0 || end > int64(len(data)) {
			t.Fatalf("scan(%q) = %d", data, end)
		}
		// What is before the end is intact: scanning it again agrees.
		again, err2 := scan(bytes.NewReader(data[:end]), 0, ignore)
		if err2 != nil || again != end {
			t.Fatalf("scan(%q) = %d, %v; again %d, %v", data, end, err, again, err2)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	l, err := Create(filepath.Join(b.TempDir(), "run"), "run", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	e := step(1)
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRedaction(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	hide := func(line []byte) []byte { return bytes.ReplaceAll(line, []byte("hunter2"), []byte("[redacted]")) }
	l, err := Create(dir, "run", hide)
	if err != nil {
		t.Fatal(err)
	}
	secretive := step(0)
	secretive.Output = event.TextValue("the key is hunter2")
	appendAll(t, l, event.RunCancelled{Reason: "hunter2 is wrong"}, secretive, step(1),
		event.SampleCompleted{Text: event.TextValue(strings.Repeat("hunter2 ", 10_000))})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("hunter2")) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	events := readAll(t, dir)
	if got := events[1].(event.StepCompleted).Output.Text(); got != "the key is [redacted]" {
		t.Errorf("output = %q", got)
	}
	x, err := OpenIndex(dir) // offsets must fit the lines as they were written
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for i := range 2 {
		s, err := x.At(i)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Event(s); err != nil {
			t.Error(err)
		}
	}
}

// TestNoRoomForTheIndex: an index that cannot be brought up to its log is a log that
// cannot be written, and nothing of it is lost.
func TestNoRoomForTheIndex(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	dir := newRun(t, 3)
	index := filepath.Join(dir, IndexFile)
	if err := errors.Join(os.Remove(index), os.Symlink("/dev/full", index)); err != nil {
		t.Fatal(err)
	}
	_, _, err := Open(dir, nil, func(Line) error { return nil })
	if full, ok := errors.AsType[*WriteError](err); !ok || full.Dir != dir {
		t.Errorf("Open() without room for the index = %v, want a WriteError about %s", err, dir)
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, dir); len(got) != 4 {
		t.Errorf("the log has %d events, want 4", len(got))
	}
}
