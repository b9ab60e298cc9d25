package runlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker/event"
)

const (
	// pollInterval is how often a log that another process writes is looked at. It is
	// short for a person who watches, and long for the disk.
	pollInterval = 50 * time.Millisecond

	// seekWindow is how much of a log is read rather than looked for a better place to
	// begin.
	seekWindow = 64 << 10
)

// ReadFrom is [Read] from the event with sequence number from on. It does not look at
// all that is before it.
func ReadFrom(dir string, from uint64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := openFollower(dir, from)
		if err == nil {
			defer f.file.Close()
			_, err = f.pass(false, func(l Line) bool { return yield(l, nil) })
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Line{}, err)
		}
	}
}

// ReadBetween is [Read] from the line at one offset on and to another, or to the end of the
// log if that is 0.
func ReadBetween(dir string, begin, end int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := openFollower(dir, 0)
		if err == nil {
			defer f.file.Close()
			f.at = begin
			_, err = f.pass(false, func(l Line) bool { return (end == 0 || l.Offset < end) && yield(l, nil) })
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Line{}, err)
		}
	}
}

// A Cursor reads a log a few lines at a time and holds nothing in between: not the file, and no
// buffer.
type Cursor struct {
	dir   string
	from  uint64
	at    int64
	next  uint64
	begun bool
}

// NewCursor returns a cursor at the event with sequence number from.
func NewCursor(dir string, from uint64) *Cursor { return &Cursor{dir: dir, from: from} }

// Read returns the next lines that are there, so many at most, and no more once they have so
// many bytes. They are the caller's.
func (c *Cursor) Read(lines, bytes int) ([][]byte, error) {
	from := c.from
	if c.begun {
		from = 0 // it knows the place
	}
	f, err := openFollower(c.dir, from)
	if err != nil {
		return nil, err
	}
	defer f.file.Close()
	if f.from = c.from; c.begun {
		f.at, f.next, f.begun = c.at, c.next, true
	}
	var list [][]byte
	_, err = f.pass(false, func(l Line) bool {
		list = append(list, append([]byte(nil), l.Raw...))
		lines--
		bytes -= len(l.Raw)
		return lines > 0 && bytes > 0
	})
	c.at, c.next, c.begun = f.at, f.next, c.begun || f.begun
	if err != nil && !errors.Is(err, errStop) {
		return list, err
	}
	return list, nil
}

// Follow yields the lines of the log in dir from sequence number from on, and then
// each new one once it is on disk, whoever writes them: this process, another one, or
// several one after another. It ends when nobody has the log open for writing and all
// of it is read, when ctx ends, or with an error. A line is valid until the next one is
// yielded.
func Follow(ctx context.Context, dir string, from uint64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := openFollower(dir, from)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer f.file.Close()
		timer := time.NewTimer(pollInterval)
		defer timer.Stop()
		for ctx.Err() == nil {
			// In this order: what a writer wrote before it let go of the log is there.
			_, held := HolderOf(filepath.Join(dir, LockFile))
			before := f.at
			damage, err := f.pass(held, func(l Line) bool { return ctx.Err() == nil && yield(l, nil) })
			switch {
			case errors.Is(err, errStop):
				return
			case err != nil && (!damage || f.suspect == f.at):
				yield(Line{}, err)
				return
			case err != nil:
				f.suspect = f.at // it may have been read while somebody cut off a torn line
			case !held && f.at == before:
				return
			case !held:
				continue // somebody may have begun to write again
			}
			timer.Reset(pollInterval)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
	}
}

// A follower reads a log that somebody else may be writing.
type follower struct {
	dir  string
	file *os.File
	sync func() error // of the file; tests look at when
	from uint64       // the first event that is wanted

	at      int64  // behind the last line that was read
	next    uint64 // the sequence number of the line there, if begun
	begun   bool
	suspect int64 // where a damaged line was seen; -1 if nowhere
}

// openFollower opens the log in dir at or before the event that is wanted.
func openFollower(dir string, from uint64) (*follower, error) {
	file, err := os.Open(filepath.Join(dir, EventsFile))
	if err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	f := &follower{dir: dir, file: file, sync: file.Sync, from: from, suspect: -1}
	if err := f.seek(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// seek looks for a line not far before the one that is wanted. Whatever it finds in
// between, the place that it chooses is the beginning of an intact line.
func (f *follower) seek() error {
	info, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	if f.from == 0 {
		return nil
	}
	if first, ok := f.lineAt(0); ok && first.Type == event.TypeTaskSubmitted {
		if err := checkFormat(f.dir, first); err != nil {
			return err
		}
	}
	for end := info.Size(); end-f.at > seekWindow; {
		middle := f.at + (end-f.at)/2
		if l, ok := f.lineAt(middle); ok && l.Seq <= f.from {
			f.at = l.Offset
		} else {
			end = middle
		}
	}
	return nil
}

// lineAt returns the first whole line that begins at offset, if that is 0, or behind it.
func (f *follower) lineAt(offset int64) (Line, bool) {
	buf := make([]byte, 4*seekWindow)
	n, err := f.file.ReadAt(buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return Line{}, false
	}
	buf = buf[:n]
	if offset > 0 {
		cut := bytes.IndexByte(buf, '\n') + 1
		offset, buf = offset+int64(cut), buf[cut:]
	}
	raw, _, whole := bytes.Cut(buf, []byte{'\n'})
	if !whole {
		return Line{}, false
	}
	return parseLine(raw, offset)
}

// pass reads the lines that are there and were not read yet. Those of a run that is
// being written are synced first, because their writer may not have come to it. The
// error is errStop if visit wants no more; damage says that it is about a line, which
// the next pass would read again.
func (f *follower) pass(written bool, visit func(Line) bool) (damage bool, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return false, fmt.Errorf("run log: %w", err)
	}
	if info.Size() < f.at {
		return false, fmt.Errorf("run log: %s was cut off before event %d, which could not be written whole; read it again from there", f.file.Name(), f.next)
	}
	if written && info.Size() > f.at {
		_ = f.sync() // not every system lets a reader do this
	}
	_, err = scan(io.NewSectionReader(f.file, f.at, info.Size()-f.at), f.at, func(l Line) error {
		if f.begun && l.Seq != f.next {
			return &CorruptError{Offset: l.Offset, Reason: fmt.Sprintf("its sequence number is %d, want %d", l.Seq, f.next)}
		}
		if l.Type == event.TypeTaskSubmitted {
			if err := checkFormat(f.dir, l); err != nil {
				return err
			}
		}
		f.at, f.next, f.begun = l.Offset+int64(len(l.Raw))+1, l.Seq+1, true
		if l.Seq >= f.from && !visit(l) {
			return errStop
		}
		return nil
	})
	c, damage := errors.AsType[*CorruptError](err)
	if damage {
		c.Dir = f.dir
		if f.begun {
			c.Line = int64(f.next) + 1 // every event has its line
		}
	}
	return damage, err
}
