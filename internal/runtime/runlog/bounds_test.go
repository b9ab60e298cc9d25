package runlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
)

// TestIndexRecordsSaturate: a count that does not fit its record stays at the most that
// does.
func TestIndexRecordsSaturate(t *testing.T) {
	least := Step{Time: time.UnixMilli(0)}
	most := Step{
		Offset: math.MaxInt64, Length: math.MaxUint32, Step: math.MaxUint32, Time: time.UnixMilli(1 << 40), DurationMS: math.MaxUint32,
		Samples: math.MaxUint16, RedFlagged: math.MaxUint16, Faults: math.MaxUint16, Margin: math.MaxUint16, Answers: 1<<closestShift - 1, Closest: leadParts + 1, Special: true, Sole: true, USD: 1e300,
	}
	over, under := most, least
	over.Length, over.Step, over.DurationMS, over.Samples, over.Margin, over.Answers = math.MaxInt64, 1<<32, 1<<40, 1<<16, 70000, 1<<20
	over.Faults, over.RedFlagged, over.Closest = math.MaxInt, 1<<17, 1000
	under.Length, under.Samples, under.Margin, under.DurationMS = -1, -7, -1, -5
	for _, test := range []struct{ in, want Step }{{least, least}, {most, most}, {over, most}, {under, least}} {
		record := test.in.append([]byte("before"))
		if len(record) != len("before")+stepSize {
			t.Fatalf("a record has %d bytes, want %d", len(record)-len("before"), stepSize)
		}
		if diff := cmp.Diff(test.want, mustParse(t, record[len("before"):])); diff != "" {
			t.Errorf("%+v is read as (-want +got):\n%s", test.in, diff)
		}
	}
}

// TestIndexFrom: the steps of a run can be read from any of them on.
func TestIndexFrom(t *testing.T) {
	x, err := OpenIndex(newRun(t, 5))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for from, want := range map[int]string{-3: "[0 1 2 3 4]", 0: "[0 1 2 3 4]", 3: "[3 4]", 4: "[4]", 5: "[]", 99: "[]"} {
		got := []int{}
		for s, err := range x.From(from) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s.Step)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("From(%d) = %v, want %s", from, got, want)
		}
	}
	for _, i := range []int{5, 6} {
		if s, err := x.At(i); err == nil {
			t.Errorf("At(%d) of 5 = %+v, want an error", i, s)
		}
	}
	// One reader may want no more.
	for s := range x.All() {
		if s.Step == 1 {
			break
		}
	}
}

// TestIndexMisfits: a record that says what the log does not have is told from one that
// fits.
func TestIndexMisfits(t *testing.T) {
	x, err := OpenIndex(newRun(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	last, err := x.At(2)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := x.Event(last); err != nil || e.Step != 2 {
		t.Errorf("Event(the last) = %+v, %v, want step 2", e, err)
	}
	for name, change := range map[string]func(*Step){
		"another step":       func(s *Step) { s.Step = 1 },
		"before the log":     func(s *Step) { s.Offset = -1 },
		"behind the log":     func(s *Step) { s.Offset += int64(s.Length) + 1 },
		"longer than it":     func(s *Step) { s.Length++ },
		"nothing":            func(s *Step) { s.Length = 0 },
		"less than nothing":  func(s *Step) { s.Length = -1 },
		"too long":           func(s *Step) { s.Offset, s.Length = 0, maxLine+1 },
		"the line before it": func(s *Step) { first, _ := x.At(1); s.Offset, s.Length = first.Offset, first.Length },
	} {
		s := last
		change(&s)
		if e, err := x.Event(s); err == nil || !strings.Contains(err.Error(), "the index does not fit the log") {
			t.Errorf("%s: Event() = %+v, %v, want that the index does not fit", name, e, err)
		}
	}
}

// TestLongLines: lines longer than any buffer are read whole, and one that would be too
// long to be read is not written.
func TestLongLines(t *testing.T) {
	long := submitted()
	long.Task = strings.Repeat("x", 300<<10)
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, long, step(0), long, step(1))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := []event.Event{long, step(0), long, step(1)}
	if diff := cmp.Diff(want, readAll(t, dir)); diff != "" {
		t.Error("the log is not what was written")
	}
	line := func(n int) int {
		t.Helper()
		e := submitted()
		e.Task = strings.Repeat("x", n)
		line, err := appendLine(nil, event.Record{Run: "run", Event: e})
		if err != nil {
			if !strings.Contains(err.Error(), "longer than a line can be") {
				t.Errorf("appendLine(nil, %d) = %v", n, err)
			}
			return -1
		}
		return len(line)
	}
	around := line(1) - 1
	if got := line(maxWritten - around); got != maxWritten {
		t.Errorf("the longest line has %d bytes, want %d", got, maxWritten)
	}
	if got := line(maxWritten - around + 1); got != -1 {
		t.Errorf("a line of %d bytes was written, the longest is %d", got, maxWritten)
	}
}

// TestTheLongestLine is read as a line; no more than that is kept of a longer one.
func TestTheLongestLine(t *testing.T) {
	log := append(bytes.Repeat([]byte("x"), maxLine), '\n')
	for from, want := range []string{"it is longer than 67108864 bytes", "it is not a JSON event"} {
		_, err := scan(bytes.NewReader(log[from:]), 0, ignore)
		if damage, ok := errors.AsType[*CorruptError](err); !ok || damage.Reason != want {
			t.Errorf("scan(a line of %d bytes) = %v, want %q", len(log)-from, err, want)
		}
	}
}

// TestTailOfALargeLog reads its last events only, and passes over a damaged one.
func TestTailOfALargeLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	long := submitted()
	long.Task = strings.Repeat("x", 400<<10)
	appendAll(t, l, long, long, long, step(0), long, step(1))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	tail := func() string {
		t.Helper()
		records, err := Tail(dir, 4)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rec := range records {
			got = append(got, fmt.Sprintf("%d %s", rec.Seq, rec.Event.Type()))
		}
		return strings.Join(got, ", ")
	}
	// A mebibyte from the end the third line is not whole any more.
	if got, want := tail(), "2 task_submitted, 3 step_completed, 4 task_submitted, 5 step_completed"; got != want {
		t.Errorf("Tail(4) = %s, want %s", got, want)
	}
	name := filepath.Join(dir, EventsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines[3] = bytes.Replace(lines[3], []byte(`"n":0`), []byte(`"n":7`), 1)
	if err := os.WriteFile(name, append(bytes.Join(lines, nil), "torn"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := tail(), "1 task_submitted, 2 task_submitted, 4 task_submitted, 5 step_completed"; got != want && got != want[len("1 task_submitted, "):] {
		t.Errorf("Tail(4) of a damaged log = %s, want %s", got, want)
	}
}

// TestWhereValuesAre: a value stays in its line up to a size.
func TestWhereValuesAre(t *testing.T) {
	for size, stored := range map[int]bool{maxPlain: false, maxPlain + 1: false, maxInline: false, maxInline + 1: true} {
		dir := filepath.Join(t.TempDir(), "run")
		l, err := Create(dir, "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		e := step(0)
		e.Output = event.TextValue(strings.Repeat("x", size-2)) // and two quotation marks
		appendAll(t, l, submitted(), e)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		blobs, _ := os.ReadDir(filepath.Join(dir, BlobsDir)) // there may be none
		if (len(blobs) == 1) != stored {
			t.Errorf("a value of %d bytes is in %d files beside the log, want it there: %t", size, len(blobs), stored)
		}
		got := readAll(t, dir)[1].(event.StepCompleted)
		if v, err := Load(dir, got.Output); err != nil || string(v.JSON) != string(e.Output.JSON) {
			t.Errorf("Load(%d bytes) = %d bytes, %v", size, len(v.JSON), err)
		}
	}
}

// TestLoadRefuses: a reference leads to a file of the run, and to what was stored.
func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, BlobsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("0", 64)
	if err := os.WriteFile(filepath.Join(dir, BlobsDir, name), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"":                              "is not a content hash",
		"abc":                           "is not a content hash",
		"../" + strings.Repeat("0", 61): "is not a content hash",
		strings.Repeat("0", 31) + "/" + strings.Repeat("0", 32): "is not a content hash",
		strings.Repeat("1", 64):                                 "no such file",
		name:                                                    "is damaged",
	} {
		if v, err := Load(dir, event.Value{Ref: &event.Ref{SHA256: ref}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%q) = %s, %v, want %q", ref, v.JSON, err, want)
		}
	}
}

// TestWhatErrorsSay: an error says what happened and where.
func TestWhatErrorsSay(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		err  error
		want string
	}{
		{&CorruptError{Dir: "d", Line: 1, Offset: 7, Reason: "why"}, "the run log in d is damaged at line 1 (byte 7): why"},
		{&CorruptError{Dir: "d", Offset: 7, Reason: "why"}, "the run log in d is damaged at byte 7: why"},
		{&LockedError{Path: "p"}, "the run is in use by another process (p is locked)"},
		{&LockedError{Path: "p", Holder: Holder{PID: 7, Host: "h", Started: at}}, "the run is in use by process 7 on h since 2026-01-02 03:04:05"},
		{&LostError{Dir: "d", File: LockFile}, "the lock of the run in d was removed or replaced: another process may be writing this run; nothing more was written to it"},
		{&LostError{Dir: "d", File: EventsFile}, "the log of the run in d was removed or replaced: another process may be writing this run; nothing more was written to it"},
		{&WriteError{Dir: "d", Err: errStop}, "cannot write the run log in d: stop; everything committed before is safe"},
		{&WriteError{Dir: "d", Err: errStop, Empty: true}, "cannot write the run log in d: stop; the run has not begun"},
		{&NewerError{Dir: "d", Format: 99, Maker: "v9"}, fmt.Sprintf("the run in d was written by a newer maker (v9, log format 99; this one reads up to %d): upgrade to read it; nothing was changed", event.Format)},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("%T = %q, want %q", test.err, got, test.want)
		}
	}
}

// TestFormats: a log of this format is read, and one of the next is not.
func TestFormats(t *testing.T) {
	for format, ok := range map[int]bool{0: true, event.Format: true, event.Format + 1: false} {
		e := submitted()
		e.Format = format
		line, err := appendLine(nil, event.Record{Run: "run", Event: e})
		if err != nil {
			t.Fatal(err)
		}
		err = checkFormat("d", Line{Raw: line})
		if newer, is := errors.AsType[*NewerError](err); (err == nil) != ok || !ok && (!is || newer.Format != format || newer.Maker != "test") {
			t.Errorf("checkFormat(%d) = %v, want it read: %t", format, err, ok)
		}
	}
}

// slowDisk is a log whose disk is done when it is told so.
type slowDisk struct {
	file
	release chan struct{}
}

func (s *slowDisk) Sync() error {
	<-s.release
	return s.file.Sync()
}

// durableOf is how many events of a log are on disk.
func durableOf(l *Log) (durable, pending int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.durable), l.pending.events
}

// TestPacing: the first event goes to the disk at once; those that follow wait a moment
// for others, unless there are many or somebody waits for them.
func TestPacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := Create(filepath.Join(t.TempDir(), "run"), "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		want := func(what string, durable int) {
			t.Helper()
			synctest.Wait()
			if got, pending := durableOf(l); got != durable {
				t.Errorf("%s: %d events are on disk and %d are not, want %d there", what, got, pending, durable)
			}
		}
		appendAll(t, l, submitted())
		want("the first", 1)
		for i := range writeEarly - 1 {
			appendAll(t, l, step(i))
		}
		want("not many", 1)
		appendAll(t, l, step(writeEarly-1))
		want("many", 1+writeEarly)
		appendAll(t, l, step(writeEarly))
		want("one more", 1+writeEarly)
		time.Sleep(syncInterval)
		want("after the interval", 2+writeEarly)
		time.Sleep(time.Hour)
		appendAll(t, l, step(writeEarly+1))
		want("after a pause", 3+writeEarly)
		appendAll(t, l, step(writeEarly+2))
		start := time.Now()
		if err := l.Sync(t.Context()); err != nil || time.Since(start) != 0 {
			t.Errorf("Sync() = %v after %v, want at once", err, time.Since(start))
		}
		want("somebody waits", 4+writeEarly)
		appendAll(t, l, step(writeEarly+3))
		if err := l.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("Close() = %v after %v, want at once", err, time.Since(start))
		}
		want("closed", 5+writeEarly)
		if err := l.Append(step(0)); err == nil {
			t.Error("Append(after Close) succeeded")
		}
		if err := l.Close(); err != nil {
			t.Errorf("Close() again = %v", err)
		}
	})
}

// TestASlowDisk: a log whose disk cannot keep up holds so many events and no more; then
// whoever appends waits. Who waits for the disk can give up.
func TestASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := Create(filepath.Join(t.TempDir(), "run"), "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		disk := &slowDisk{l.events, make(chan struct{})}
		l.events = disk
		appendAll(t, l, submitted())
		synctest.Wait() // it is on its way to the disk
		for i := range maxPending {
			appendAll(t, l, step(i))
		}
		last := make(chan error, 1)
		go func() { last <- l.Append(step(maxPending)) }()
		synctest.Wait()
		if _, pending := durableOf(l); pending != maxPending || len(last) != 0 {
			t.Errorf("%d events wait, and another was taken: %t; want %d", pending, len(last) == 1, maxPending)
		}
		over := errors.New("over")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(over)
		if err := l.Sync(ctx); !errors.Is(err, over) {
			t.Errorf("Sync(ended) = %v, want %v", err, over)
		}
		close(disk.release)
		if err := <-last; err != nil {
			t.Errorf("Append() = %v", err)
		}
		if err := l.Sync(t.Context()); err != nil {
			t.Errorf("Sync() = %v", err)
		}
		if durable, pending := durableOf(l); durable != maxPending+2 || pending != 0 || l.waiters != 0 {
			t.Errorf("%d events are on disk, %d wait, and %d callers; want %d, 0 and 0", durable, pending, l.waiters, maxPending+2)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestSpareDescriptors: a log keeps some for the end of its run, and gives them up once.
func TestSpareDescriptors(t *testing.T) {
	l, err := Create(filepath.Join(t.TempDir(), "run"), "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.spare) != spareFiles {
		t.Errorf("%d descriptors are kept, want %d", len(l.spare), spareFiles)
	}
	l.FreeSpare()
	l.FreeSpare()
	if len(l.spare) != 0 {
		t.Errorf("%d descriptors are kept after all were given up", len(l.spare))
	}
	appendAll(t, l, submitted())
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestForeignLines: a line in another order of fields is an event all the same, and one
// without a type is none.
func TestForeignLines(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"a","seq":7,"x":1}`:                               "a 7 true",
		`{"seq":7,"type":"a"}`:                                     "a 7 true",
		`{"type":"a","seq":7}`:                                     "a 7 true",
		`{"type":"a","x":"b","seq":7,"y":1}`:                       "a 7 true",
		`{"type":"\u0061","seq":7,"x":1}`:                          "a 7 true",
		`{"type":"` + strings.Repeat("a", 70) + `","seq":7,"x":1}`: strings.Repeat("a", 70) + " 7 true",
		`{"seq":7,"type":""}`:                                      " 0 false",
		`{"seq":7}`:                                                " 0 false",
		`{"type":"a","seq":7,"x":1`:                                "a 7 false",
		`[]`:                                                       " 0 false",
	} {
		l, ok := parseLine([]byte(line), 3)
		if got := fmt.Sprint(l.Type, " ", l.Seq, " ", ok); got != want || l.Offset != 3 {
			t.Errorf("parseLine(%s) = %s at %d, want %s", line, got, l.Offset, want)
		}
	}
	if run := (Line{Raw: []byte("no JSON")}).Run(); run != "" {
		t.Errorf("Run() of no JSON = %q", run)
	}
}

// TestWhoHoldsTheLock: a lock says who holds it and where, whatever was in it before.
func TestWhoHoldsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockFile)
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	if h, held := HolderOf(path); !held || h.PID != os.Getpid() || h.Host != host || time.Since(h.Started) > time.Hour {
		t.Errorf("HolderOf() = %+v, %t, want us on %s", h, held, host)
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if h, held := HolderOf(path); held || h != (Holder{}) {
		t.Errorf("HolderOf() after its release = %+v, %t, want nobody", h, held)
	}
}
