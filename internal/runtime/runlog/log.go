package runlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/maker-mdap/maker/event"
)

// Names of the files in a run folder.
const (
	EventsFile = "events.jsonl"
	IndexFile  = "steps.idx"
	LockFile   = "lock"
	BlobsDir   = "blobs"
)

const (
	// syncInterval paces fsync when nobody waits for it: at most this much of
	// a run can be lost to a power cut (a killed process loses only what was
	// not yet handed to the kernel).
	syncInterval = 5 * time.Millisecond

	// maxPending bounds the events of a log whose disk cannot keep up; Append
	// blocks beyond it.
	maxPending = 1024

	// writeEarly events start a write before the interval is over.
	writeEarly = 512

	// maxInline is the largest value that stays in its line, and maxPlain the
	// largest that stays there without being looked at: a smaller one cannot be
	// nested too deeply.
	maxInline = 16 << 10
	maxPlain  = 1 << 10

	// maxWritten bounds the lines that are written, well below those that are read:
	// redaction may lengthen a line.
	maxWritten = maxLine / 2
)

// A Log is a run folder open for writing. Its methods are safe for concurrent
// use.
type Log struct {
	dir    string
	run    string
	clock  func() time.Time
	redact func([]byte) []byte

	events file
	index  file
	lock   *lock
	file   os.FileInfo // of the log

	mu       sync.Mutex
	pending  group  // not written yet
	seq      uint64 // of the next event
	durable  uint64 // how many events are on disk
	size     int64  // of the log on disk
	end      int64  // of the log once all is written
	since    since
	waiters  int // callers of Sync and blocked Appends
	closing  bool
	gathers  bool          // the writer wakes up by itself in a moment
	err      error         // the first failure; sticky
	spare    []*os.File    // see keepSpare
	progress chan struct{} // closed and replaced whenever durable, err or closed changes

	wake chan struct{} // tells the writer that there is something to do
	done chan struct{} // closed when the writer has ended
}

// group is events on their way to the disk. They are encoded when they are appended: a step
// is in the cache of the processor then, and keeps nothing alive until it is written.
type group struct {
	events int
	lines  []byte
	steps  []byte // index records
}

// file is what a Log needs of an *os.File; tests substitute failing ones.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// ErrExists says that the run folder is already a run.
var ErrExists = errors.New("the run exists already")

// A Redact takes what must not be written out of an encoded event. Nil takes
// nothing out.
type Redact func([]byte) []byte

// Create makes a new run folder and opens its log.
func Create(dir, run string, redact Redact) (*Log, error) {
	first := isMissing(filepath.Dir(dir))
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	if first {
		hideFromGit(filepath.Dir(dir))
	}
	lk, err := acquire(filepath.Join(dir, LockFile))
	if err != nil {
		return nil, err
	}
	events, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		lk.release()
		if errors.Is(err, os.ErrExist) {
			err = ErrExists
		}
		return nil, fmt.Errorf("run log: %s: %w", dir, err)
	}
	l, err := begin(dir, run, redact, events, lk)
	if err != nil {
		// Nothing was begun, so nothing is left that looks like a run. On a full disk
		// even that may be refused.
		err = errors.Join(err, events.Close(), lk.release())
		for _, name := range []string{EventsFile, IndexFile, LockFile, "."} {
			_ = os.Remove(filepath.Join(dir, name))
		}
		return nil, err
	}
	return l, nil
}

// CreateTemporary is [Create] for a log that nobody will resume, because what is in it goes
// elsewhere: it is not made to survive a power cut.
func CreateTemporary(dir, run string, redact Redact) (*Log, error) {
	l, err := Create(dir, run, redact)
	if err == nil { // the writer looks at these once something was appended
		l.events, l.index = unsynced{l.events}, unsynced{l.index}
	}
	return l, err
}

// unsynced is a file that is not waited for.
type unsynced struct{ file }

func (unsynced) Sync() error { return nil }

// begin makes what a new log needs besides its file.
func begin(dir, run string, redact Redact, events *os.File, lk *lock) (*Log, error) {
	if err := lockLog(events); err != nil {
		return nil, err
	}
	index, err := openIndex(dir)
	if err != nil {
		return nil, err
	}
	// The entry for the log must survive a power cut as well.
	if err := syncDir(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("run log: %w", err), index.Close())
	}
	l, err := start(dir, run, redact, events, index, lk, 0, 0)
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return l, nil
}

// Recovery is what Open found.
type Recovery struct {
	Run     string // the run's id
	Events  uint64 // intact events
	Dropped int64  // bytes of an unfinished last line that were cut off
}

// Open opens an existing log to append to it. It verifies every line, calls
// visit for each in order, cuts off an unfinished last line and brings the
// index up to date.
func Open(dir string, redact Redact, visit func(Line) error) (*Log, Recovery, error) {
	var rec Recovery
	if _, err := os.Stat(filepath.Join(dir, EventsFile)); err != nil {
		return nil, rec, fmt.Errorf("run log: %w", err)
	}
	lk, err := acquire(filepath.Join(dir, LockFile))
	if err != nil {
		return nil, rec, err
	}
	log, rec, err := openLocked(dir, redact, lk, visit)
	if err != nil {
		return nil, rec, errors.Join(err, lk.release())
	}
	return log, rec, nil
}

func openLocked(dir string, redact Redact, lk *lock, visit func(Line) error) (*Log, Recovery, error) {
	events, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		return nil, Recovery{}, &WriteError{Dir: dir, Err: err}
	}
	err = lockLog(events)
	var rec Recovery
	var end int64
	if err == nil {
		rec, end, err = recoverLog(dir, events, visit)
	}
	if err != nil {
		return nil, rec, errors.Join(err, events.Close())
	}
	index, err := openIndex(dir)
	if err != nil {
		return nil, rec, errors.Join(err, events.Close())
	}
	l, err := start(dir, rec.Run, redact, events, index, lk, rec.Events, end)
	if err != nil {
		return nil, rec, errors.Join(err, events.Close(), index.Close())
	}
	return l, rec, nil
}

// recoverLog reads the log, cuts off an unfinished last line and brings the index up to
// date.
func recoverLog(dir string, events *os.File, visit func(Line) error) (rec Recovery, end int64, err error) {
	rebuild, err := newIndexWriter(dir)
	if err != nil {
		return rec, 0, err
	}
	end, err = scanFile(dir, func(l Line) error {
		if l.Seq == 0 {
			rec.Run = l.Run()
		}
		rec.Events++
		if err := rebuild.add(l); err != nil {
			return err
		}
		return visit(l)
	})
	if err != nil {
		return rec, 0, errors.Join(err, rebuild.close())
	}
	if rec.Events == 0 {
		return rec, 0, errors.Join(fmt.Errorf("run log: %s holds no event: the run never started", dir), rebuild.close())
	}
	if err := rebuild.finish(); err != nil {
		return rec, 0, err
	}
	info, err := events.Stat()
	if err != nil {
		return rec, 0, fmt.Errorf("run log: %w", err)
	}
	if rec.Dropped = info.Size() - end; rec.Dropped > 0 {
		if err := events.Truncate(end); err != nil {
			return rec, 0, fmt.Errorf("run log: cut off an unfinished line: %w", err)
		}
	}
	return rec, end, nil
}

func start(dir, run string, redact Redact, events *os.File, index file, lk *lock, seq uint64, end int64) (*Log, error) {
	info, err := events.Stat()
	if err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	l := &Log{
		dir: dir, run: run, clock: time.Now, redact: redact,
		events: events, index: index, lock: lk, file: info,
		seq: seq, durable: seq, size: end, end: end, since: since{lines: int(min(seq, 1)), step: -1},
		progress: make(chan struct{}),
		wake:     make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
	if l.redact == nil {
		l.redact = func(line []byte) []byte { return line }
	}
	l.keepSpare()
	go l.write()
	return l, nil
}

// Dir is the run folder.
func (l *Log) Dir() string { return l.dir }

// Run is the run's id.
func (l *Log) Run() string { return l.run }

// Session is the name that this writing of the run has in its [Holder].
func (l *Log) Session() string { return l.lock.session }

// Append stamps e and hands it to the writer. It returns before the event is
// on disk; an error means that the log failed, now or earlier, and that the
// event is not in it.
func (l *Log) Append(e event.Event) error { return l.AppendKeyed("", e) }

// appendLine appends the line of an event, if it can be read again.
func appendLine(lines []byte, r event.Record) ([]byte, error) {
	if _, ok := r.Event.(event.Unknown); ok {
		return nil, fmt.Errorf("run log: an event of the type %s, which this version does not know, cannot be appended", r.Event.Type())
	}
	at := len(lines)
	lines, err := r.AppendJSON(lines)
	if err != nil {
		return nil, err
	}
	if n := len(lines) - at; n > maxWritten {
		return nil, &TooLongError{Type: r.Event.Type(), Length: n, Most: maxWritten}
	}
	return lines, nil
}

// A TooLongError says that an event is longer than a line of the log can be.
type TooLongError struct {
	Type         event.Type
	Length, Most int // in bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("run log: a %s event of %d bytes is longer than a line can be (%d)", e.Type, e.Length, e.Most)
}

// AppendKeyed is Append for an event that has a key.
func (l *Log) AppendKeyed(key string, e event.Event) error { return l.appendAt(time.Time{}, key, e) }

// AppendRecord is AppendKeyed for an event that happened elsewhere, at its time.
func (l *Log) AppendRecord(r event.Record) error { return l.appendAt(r.Time, r.Key, r.Event) }

func (l *Log) appendAt(t time.Time, key string, e event.Event) error {
	if event.Largest(e) > maxPlain {
		var err error
		if e, err = event.WithValues(e, l.store); err != nil {
			return err
		}
	}
	if step, ok := e.(event.StepCompleted); ok {
		return l.add(t, key, &step, nil, nil)
	}
	return l.add(t, key, nil, nil, e)
}

// AppendStep is AppendKeyed for a step, which is not kept.
func (l *Log) AppendStep(key string, step *event.StepCompleted) error {
	if len(step.Output.JSON) > maxPlain {
		return l.AppendKeyed(key, *step)
	}
	return l.add(time.Time{}, key, step, nil, nil)
}

// AppendVote is Append for a verdict, which is not kept.
func (l *Log) AppendVote(v *event.VoteCompleted) error {
	if len(v.Answer.JSON) > maxPlain {
		return l.Append(*v)
	}
	return l.add(time.Time{}, "", nil, v, nil)
}

// add hands a step, a verdict or another event to the writer. The zero time is now.
func (l *Log) add(now time.Time, key string, step *event.StepCompleted, v *event.VoteCompleted, other event.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.err == nil && l.pending.events >= maxPending {
		if err := l.waitLocked(context.Background()); err != nil {
			return err
		}
	}
	if l.err != nil {
		return l.err
	}
	if l.closing {
		return errors.New("run log: append after close")
	}
	if now.IsZero() {
		now = l.clock()
	}
	g, at := &l.pending, len(l.pending.lines)
	lines := g.lines
	if step != nil {
		lines = step.AppendLine(lines, event.Header{Seq: l.seq, Timestamp: now, Run: l.run, Key: key})
	} else if v != nil && v.IsPlain() {
		lines = v.AppendLine(lines, event.Header{Seq: l.seq, Timestamp: now, Run: l.run, Key: key})
	} else {
		if v != nil {
			other = *v
		}
		var err error
		if lines, err = appendLine(lines, event.Record{Seq: l.seq, Time: now, Run: l.run, Key: key, Event: other}); err != nil {
			return err
		}
	}
	// The checksum is of what is written, so that it comes after redaction.
	lines = append(seal(append(lines[:at], l.redact(lines[at:])...), at), '\n')
	g.lines = lines
	if step != nil {
		indexed := NewStep(l.end, len(lines)-at, now, step)
		indexed.Sole = l.since.sole(step)
		l.since = sinceNothing
		g.steps = indexed.append(g.steps)
	} else if v != nil {
		l.since.addVote(v)
	} else {
		l.since.add(other)
	}
	g.events++
	l.seq++
	l.end += int64(len(lines) - at)
	if g.events == 1 && !l.gathers || g.events == writeEarly {
		l.wakeWriter()
	}
	return nil
}

// Sync waits until everything appended so far is on disk.
func (l *Log) Sync(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for end := l.seq; l.err == nil && l.durable < end; {
		if err := l.waitLocked(ctx); err != nil {
			return err
		}
	}
	return l.err
}

// waitLocked waits for the writer's next progress, with the lock released.
func (l *Log) waitLocked(ctx context.Context) error {
	l.waiters++
	progress := l.progress
	l.wakeWriter()
	l.mu.Unlock()
	var err error
	select {
	case <-progress:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	l.waiters--
	return err
}

func (l *Log) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Close writes what is left, releases the lock and returns the log's first
// failure, if there was one.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		<-l.done
		return l.err
	}
	l.closing = true
	l.wakeWriter()
	l.mu.Unlock()
	<-l.done
	l.FreeSpare()
	return errors.Join(l.err, l.index.Sync(), l.index.Close(), l.events.Close(), l.lock.release())
}

// write is the only goroutine that touches the files.
func (l *Log) write() {
	defer close(l.done)
	var g group
	timer := time.NewTimer(syncInterval)
	defer timer.Stop()
	for range l.wake {
		l.mu.Lock()
		g, l.pending = l.pending, group{lines: g.lines[:0], steps: g.steps[:0]}
		size, closing := l.size, l.closing
		l.mu.Unlock()

		if g.events > 0 {
			err := l.commit(size, g.lines, g.steps)
			l.mu.Lock()
			if err == nil {
				l.durable += uint64(g.events)
				l.size += int64(len(g.lines))
			} else {
				l.err = err
			}
			l.announceLocked()
			l.mu.Unlock()
			if err != nil {
				l.drain()
				return
			}
		}
		if closing {
			l.mu.Lock()
			finished := l.pending.events == 0
			if finished {
				l.announceLocked()
			} else {
				l.wakeWriter()
			}
			l.mu.Unlock()
			if finished {
				return
			}
			continue
		}
		l.gather(timer)
	}
}

// gather lets a group grow, unless somebody waits for it.
func (l *Log) gather(timer *time.Timer) {
	timer.Reset(syncInterval)
	for waits := true; ; {
		l.mu.Lock()
		urgent := l.waiters > 0 && l.pending.events > 0 || l.closing || l.pending.events >= writeEarly
		l.gathers = waits && !urgent
		if urgent || !waits && l.pending.events > 0 {
			l.wakeWriter()
		}
		l.mu.Unlock()
		if urgent || !waits {
			return
		}
		select {
		case <-timer.C:
			waits = false
		case <-l.wake:
		}
	}
}

// commit puts one group on disk. If that fails, it takes the part that was
// written back, so that the log ends with a whole line. A run that was taken away
// before the group was there is lost: nobody hears that the group is durable.
func (l *Log) commit(base int64, lines, steps []byte) error {
	if err := l.guard(); err != nil {
		return err
	}
	_, err := l.events.Write(lines)
	if err == nil {
		err = l.events.Sync()
	}
	if err != nil {
		return &WriteError{Dir: l.dir, Err: errors.Join(err, l.events.Truncate(base)), Empty: base == 0}
	}
	if err := l.guard(); err != nil {
		return err
	}
	if len(steps) > 0 {
		// The index can be rebuilt; a lack of space for it must not end the run.
		if _, err := l.index.Write(steps); err != nil {
			_ = l.index.Truncate(0)
			l.index = nopFile{l.index}
		}
	}
	return nil
}

// drain keeps the writer's channel empty after a failure until Close.
func (l *Log) drain() {
	for {
		l.mu.Lock()
		closing := l.closing
		l.mu.Unlock()
		if closing {
			return
		}
		<-l.wake
	}
}

func (l *Log) announceLocked() {
	close(l.progress)
	l.progress = make(chan struct{})
}

// Follow yields the lines of the log from the beginning, and then each new one
// once it is on disk, until the log is closed or ctx ends. Any number of
// readers may follow; each reads the file at its own pace and holds nobody up.
// A line is valid until the next one is yielded.
func (l *Log) Follow(ctx context.Context) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := os.Open(filepath.Join(l.dir, EventsFile))
		if err != nil {
			yield(Line{}, fmt.Errorf("run log: %w", err))
			return
		}
		defer f.Close()
		var at int64
		for {
			l.mu.Lock()
			size, progress := l.size, l.progress
			over := l.err != nil || l.closing && l.durable == l.seq
			l.mu.Unlock()

			stopped := false
			_, err := scan(io.NewSectionReader(f, at, size-at), at, func(line Line) error {
				if !yield(line, nil) {
					stopped = true
					return errStop
				}
				return nil
			})
			if stopped {
				return
			}
			if err != nil {
				yield(Line{}, err)
				return
			}
			at = size
			if over {
				return
			}
			select {
			case <-progress:
			case <-ctx.Done():
				return
			}
		}
	}
}

var errStop = errors.New("stop")

// A WriteError is a log that cannot be written any more. What was on disk
// before stays intact.
type WriteError struct {
	Dir   string
	Err   error
	Empty bool // nothing was on disk before: the run has not begun
}

func (e *WriteError) Error() string {
	if e.Empty {
		return fmt.Sprintf("cannot write the run log in %s: %v; the run has not begun", e.Dir, e.Err)
	}
	return fmt.Sprintf("cannot write the run log in %s: %v; everything committed before is safe", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// nopFile drops writes; it stands in for an index that could not be written.
type nopFile struct{ file }

func (nopFile) Write(p []byte) (int, error) { return len(p), nil }
func (nopFile) Sync() error                 { return nil }
