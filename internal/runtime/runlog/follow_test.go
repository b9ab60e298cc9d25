package runlog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/filelock"
)

// wantSeqs checks that lines are those from sequence number first up to end.
func wantSeqs(t *testing.T, what string, got []uint64, first, end uint64) {
	t.Helper()
	for i, seq := range got {
		if seq != first+uint64(i) {
			t.Errorf("%s: line %d is event %d, want %d", what, i, seq, first+uint64(i))
			return
		}
	}
	if want := max(int(end)-int(first), 0); len(got) != want {
		t.Errorf("%s = %d lines, want %d", what, len(got), want)
	}
}

// TestFollowFrom begins at any place of a log, long or short, with lines of any length.
func TestFollowFrom(t *testing.T) {
	long := event.RunCancelled{Reason: strings.Repeat("x", 5*seekWindow)} // which no look in passing sees whole
	many := []event.Event{submitted()}
	for n := range 3000 {
		many = append(many, step(n))
	}
	for name, events := range map[string][]event.Event{
		"short":      {submitted(), step(0), step(1)},
		"long lines": {submitted(), long, step(0), long, long, step(1), step(2)},
		"many lines": many,
	} {
		dir := filepath.Join(t.TempDir(), "run")
		l, err := Create(dir, "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, l, events...)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		end := uint64(len(events))
		for _, from := range []uint64{0, 1, 2, end / 3, end - 2, end - 1, end, end + 7} {
			var read, followed []uint64
			for line, err := range ReadFrom(dir, from) {
				if err != nil {
					t.Fatal(err)
				}
				read = append(read, line.Seq)
			}
			for line, err := range Follow(t.Context(), dir, from) {
				if err != nil {
					t.Fatal(err)
				}
				followed = append(followed, line.Seq)
			}
			wantSeqs(t, name+": ReadFrom", read, from, end)
			wantSeqs(t, name+": Follow", followed, from, end)
		}
	}
}

// TestSeekReadsLittle: to begin near the end of a long log does not take reading it.
func TestSeekReadsLittle(t *testing.T) {
	f, err := openFollower(newRun(t, 3000), 2900)
	if err != nil {
		t.Fatal(err)
	}
	defer f.file.Close()
	info, err := f.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if left := info.Size() - f.at; left > 2*seekWindow {
		t.Errorf("openFollower(event 2900 of 3001) begins %d bytes before the end, want at most %d", left, 2*seekWindow)
	}
}

// TestFollowAnotherWriter: many readers see all that is written, in order and once.
func TestFollowAnotherWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, submitted())
	if err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	const readers, events = 4, 500
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() {
			var got []uint64
			for line, err := range Follow(t.Context(), dir, uint64(i*100)) {
				if err != nil {
					t.Errorf("Follow() = %v", err)
					return
				}
				got = append(got, line.Seq)
			}
			wantSeqs(t, "Follow", got, uint64(i*100), events)
		})
	}
	for i := range events - 1 {
		appendAll(t, l, step(i))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

// tear leaves a log as a writer does that is killed in the middle of a line.
func tear(t *testing.T, dir, torn string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(torn)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestFollowGoesOnWithTheNextWriter: a reader that looks while a third process resumes
// the run sees it go on, without the line that the second left unfinished.
func TestFollowGoesOnWithTheNextWriter(t *testing.T) {
	for _, torn := range []string{"", `{"type":"step_comp`, `{"type":"step_completed","seq":4,"ti`, "garbage\n", "\n"} {
		dir := newRun(t, 3)
		tear(t, dir, torn)
		var got []uint64
		var l *Log
		for line, err := range Follow(t.Context(), dir, 1) {
			if err != nil {
				t.Fatalf("Follow(after %q) = %v", torn, err)
			}
			got = append(got, line.Seq)
			switch line.Seq {
			case 3: // nobody writes it at this moment
				if l, _, err = Open(dir, nil, ignore); err != nil {
					t.Fatal(err)
				}
				appendAll(t, l, step(3), step(4))
			case 5:
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		wantSeqs(t, "Follow", got, 1, 6)
	}
}

// TestFollowPassesOverATornTail: what nobody will finish is not waited for.
func TestFollowPassesOverATornTail(t *testing.T) {
	dir := newRun(t, 3)
	tear(t, dir, `{"type":"step_completed","seq":4`)
	var got []uint64
	for line, err := range Follow(t.Context(), dir, 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line.Seq)
	}
	wantSeqs(t, "Follow", got, 0, 4)
}

func TestFollowReportsDamage(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(newRun(t, 4), EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for name, test := range map[string]struct {
		log  string
		want string
	}{
		"a line that is none": {lines[0] + lines[1] + "garbage\n" + lines[3] + lines[4], "line 3"},
		"a missing line":      {lines[0] + lines[1] + lines[3] + lines[4], "line 3 (byte"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, EventsFile), []byte(test.log), 0o644); err != nil {
			t.Fatal(err)
		}
		var got []uint64
		var failed error
		for line, err := range Follow(t.Context(), dir, 0) {
			if err != nil {
				failed = err
				continue
			}
			got = append(got, line.Seq)
		}
		if c, ok := errors.AsType[*CorruptError](failed); !ok || !strings.Contains(c.Error(), test.want) || c.Dir != dir {
			t.Errorf("Follow(%s) = %v, want a CorruptError with %q", name, failed, test.want)
		}
		wantSeqs(t, "Follow "+name, got, 0, 2)
	}
}

// TestFollowReportsWhatWasTakenBack: a group of events that did not fit on the disk is
// taken back by its writer, and a reader may have seen a part of it.
func TestFollowReportsWhatWasTakenBack(t *testing.T) {
	dir := newRun(t, 3)
	l, _, err := Open(dir, nil, ignore)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var failed error
	for line, err := range Follow(t.Context(), dir, 0) {
		if failed = err; err == nil && line.Seq == 3 {
			if err := os.Truncate(filepath.Join(dir, EventsFile), line.Offset); err != nil {
				t.Fatal(err)
			}
		}
	}
	if failed == nil || !strings.Contains(failed.Error(), "cut off before event 4") {
		t.Errorf("Follow(a log that becomes shorter) = %v, want that it was cut off", failed)
	}
}

func TestFollowOfANewerLog(t *testing.T) {
	dir := newRun(t, 3000)
	path := filepath.Join(dir, EventsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(strings.Replace(string(data), `"format":1`, `"format":9`, 1), "\n")
	first = first[:strings.LastIndex(first, `,"crc":`)] + "}" // another one would fit
	if err := os.WriteFile(path, []byte(first+"\n"+rest), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, from := range []uint64{0, 2900} {
		for _, err := range Follow(t.Context(), dir, from) {
			if _, ok := errors.AsType[*NewerError](err); !ok {
				t.Errorf("Follow(a log of a later format, from %d) = %v, want a NewerError", from, err)
			}
			break
		}
	}
}

func TestFollowOfAnotherWriterEndsWithItsContext(t *testing.T) {
	dir := newRun(t, 2)
	l, _, err := Open(dir, nil, ignore)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []uint64
	for line, err := range Follow(ctx, dir, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, line.Seq); line.Seq == 2 {
			cancel() // while the log is being written
		}
	}
	wantSeqs(t, "Follow", got, 0, 3)
	for line, err := range Follow(ctx, dir, 0) {
		t.Errorf("Follow(with a context that has ended) = event %d, %v, want nothing", line.Seq, err)
	}
	for line, err := range Follow(t.Context(), filepath.Join(dir, "nowhere"), 0) {
		if err == nil {
			t.Errorf("Follow(nowhere) = event %d, want an error", line.Seq)
		}
	}
}

// TestAskingIsNotHolding: readers who ask who writes a run do not take each other for
// writers.
func TestAskingIsNotHolding(t *testing.T) {
	path := filepath.Join(newRun(t, 1), LockFile)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := filelock.TryShare(f); err != nil {
		t.Fatal(err)
	}
	if holder, held := HolderOf(path); held {
		t.Errorf("HolderOf(while another reader asks) = %+v, want nobody", holder)
	}
}

// TestFollowLooksTwiceAtDamage: a line that is damaged may have been read while its
// writer cut it off, and is whole the next time.
func TestFollowLooksTwiceAtDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := newRun(t, 4)
		path := filepath.Join(dir, EventsFile)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(whole), "\n")
		if err := os.WriteFile(path, []byte(lines[0]+lines[1]+"garbage\n"+lines[3]), 0o644); err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for line, err := range Follow(t.Context(), dir, 0) {
			if err != nil {
				t.Fatalf("Follow(damage that goes away) = %v", err)
			}
			if got = append(got, line.Seq); line.Seq == 1 { // by now the reader has the damaged line
				if err := os.WriteFile(path, whole, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		wantSeqs(t, "Follow", got, 0, 5)
	})
}

// TestFollowIsUnhurried: a log that another process writes is looked at soon enough for
// a person who watches, and not all the time.
func TestFollowIsUnhurried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := newRun(t, 0)
		l, _, err := Open(dir, nil, ignore)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var written time.Time
		for line, err := range Follow(t.Context(), dir, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if line.Seq == 1 {
				break
			}
			appendAll(t, l, step(0))
			if err := l.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			written = time.Now()
		}
		if waited := time.Since(written); waited < 10*time.Millisecond || waited > 100*time.Millisecond {
			t.Errorf("Follow() saw an event after %v, want after some dozens of milliseconds", waited)
		}
	})
}

// TestOnlyWhatIsSyncedIsRead: a reader syncs what another process wrote before it takes
// it for written, once, and leaves what is written in the meantime for the next time.
func TestOnlyWhatIsSyncedIsRead(t *testing.T) {
	dir := newRun(t, 1)
	lines := func(first, end int) (log string) {
		for n := first; n < end; n++ {
			e := step(n - 1)
			log += string(seal(e.AppendLine(nil, event.Header{Seq: uint64(n), Run: "run"}), 0)) + "\n"
		}
		return log
	}
	f, err := openFollower(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.file.Close()
	var did []string
	var meanwhile string
	f.sync = func() error {
		did = append(did, "sync")
		tear(t, dir, meanwhile)
		return nil
	}
	for _, pass := range []struct {
		name              string
		before, meanwhile string // what is written before the pass, and while it syncs
		held              bool
		want              []string
	}{
		{name: "nobody writes", want: []string{"0", "1"}},
		{name: "nothing new", held: true},
		{name: "new lines", held: true, before: lines(2, 4), meanwhile: lines(4, 6), want: []string{"sync", "2", "3"}},
		{name: "the next time", held: true, want: []string{"sync", "4", "5"}},
	} {
		tear(t, dir, pass.before)
		did, meanwhile = nil, pass.meanwhile
		if _, err := f.pass(pass.held, func(l Line) bool {
			did = append(did, strconv.FormatUint(l.Seq, 10))
			return true
		}); err != nil {
			t.Fatalf("%s: %v", pass.name, err)
		}
		if diff := cmp.Diff(pass.want, did); diff != "" {
			t.Errorf("%s: the pass did something else (-want +got):\n%s", pass.name, diff)
		}
	}
}

// TestFollowersSeeOnlyWhatIsDurable: an event that is in the file already, and not
// yet sure to stay there, is not shown.
func TestFollowersSeeOnlyWhatIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := Create(filepath.Join(t.TempDir(), "run"), "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, l, submitted())
		var got []uint64
		for line, err := range l.Follow(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, line.Seq)
			if durable, _ := durableOf(l); line.Seq >= uint64(durable) {
				t.Errorf("Follow() = event %d, and %d are durable", line.Seq, durable)
			}
			switch line.Seq {
			case 0:
				appendAll(t, l, step(0))
				if err := l.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
				disk := &slowDisk{l.events, make(chan struct{})}
				l.mu.Lock()
				l.events = disk
				l.mu.Unlock()
				appendAll(t, l, step(1))
				time.AfterFunc(time.Second, func() { close(disk.release) })
				time.Sleep(2 * syncInterval) // until it is in the file, and no longer
			case 2:
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		wantSeqs(t, "Follow", got, 0, 3)
	})
}
