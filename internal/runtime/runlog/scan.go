package runlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/maker-mdap/maker/event"
)

// maxLine bounds a line: values above maxInline are stored beside the log, so
// a line this long is damage.
const maxLine = 64 << 20

// A Line is one event of a log as it stands there, not decoded yet.
type Line struct {
	Type   event.Type
	Seq    uint64
	Offset int64
	Raw    []byte // without the newline
}

// Decode reads the event.
func (l Line) Decode() (event.Record, error) { return event.Decode(l.Raw) }

// Run returns the id that the line carries.
func (l Line) Run() string {
	var h event.Header
	if json.Unmarshal(l.Raw, &h) != nil {
		return ""
	}
	return h.Run
}

// A CorruptError is a damaged line that is not just an unfinished last one.
// Nothing was changed.
type CorruptError struct {
	Dir    string
	Line   int64 // from 1; 0 if it is not known
	Offset int64
	Reason string
}

func (e *CorruptError) Error() string {
	place := fmt.Sprintf("byte %d", e.Offset)
	if e.Line > 0 {
		place = fmt.Sprintf("line %d (byte %d)", e.Line, e.Offset)
	}
	return fmt.Sprintf("the run log in %s is damaged at %s: %s", e.Dir, place, e.Reason)
}

// A NewerError is a log that this program is too old to read.
type NewerError struct {
	Dir    string
	Format int
	Maker  string
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("the run in %s was written by a newer maker (%s, log format %d; this one reads up to %d): upgrade to read it; nothing was changed",
		e.Dir, e.Maker, e.Format, event.Format)
}

// Read yields the intact lines of the log in dir, which another process may be
// writing. An unfinished last line is passed over; damage ends the sequence
// with a [*CorruptError]. A line is valid until the next one is yielded.
func Read(dir string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		_, err := scanFile(dir, func(l Line) error {
			if !yield(l, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(Line{}, err)
		}
	}
}

// readers are buffers that scans use one after the other: many may look at logs at once.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 256<<10) }}

// scanFile scans the log in dir from its beginning and returns the size of its
// intact part.
func scanFile(dir string, visit func(Line) error) (end int64, err error) {
	f, err := os.Open(filepath.Join(dir, EventsFile))
	if err != nil {
		return 0, fmt.Errorf("run log: %w", err)
	}
	defer f.Close()
	end, err = scan(f, 0, func(l Line) error {
		if l.Type == event.TypeTaskSubmitted {
			if err := checkFormat(dir, l); err != nil {
				return err
			}
		}
		return visit(l)
	})
	if c, ok := errors.AsType[*CorruptError](err); ok {
		c.Dir = dir
	}
	return end, err
}

func checkFormat(dir string, l Line) error {
	var head struct {
		Format int    `json:"format"`
		Maker  string `json:"maker"`
	}
	if err := json.Unmarshal(l.Raw, &head); err == nil && head.Format > event.Format {
		return &NewerError{Dir: dir, Format: head.Format, Maker: head.Maker}
	}
	return nil
}

// scan calls visit for each line of r, which starts at offset of the log. It
// checks that each is JSON and what was written, and that the sequence numbers
// follow each other. A last line that is unfinished ends the scan without an error.
func scan(r io.Reader, offset int64, visit func(Line) error) (end int64, err error) {
	in := readers.Get().(*bufio.Reader)
	in.Reset(r)
	defer func() {
		in.Reset(nil)
		readers.Put(in)
	}()
	var long []byte // a line that does not fit the reader's buffer
	c := checker{offset: offset}
	for {
		c.n++
		raw, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], raw...)
			for errors.Is(err, bufio.ErrBufferFull) && len(long) < maxLine {
				raw, err = in.ReadSlice('\n')
				long = append(long, raw...)
			}
			raw = long
		}
		switch {
		case errors.Is(err, io.EOF):
			if n := len(raw) - 1; n > 0 && raw[n] != 0 && sealingOf(raw[:n]) == whole {
				return c.offset, c.damaged("it ends in a byte that is no newline: it is not what was written")
			}
			return c.offset, nil // an unfinished line, or nothing
		case errors.Is(err, bufio.ErrBufferFull):
			return c.offset, c.damaged(fmt.Sprintf("it is longer than %d bytes", maxLine))
		case err != nil:
			return c.offset, fmt.Errorf("run log: %w", err)
		}
		line, damage := c.check(raw[:len(raw)-1])
		if damage != nil {
			if _, err := in.Peek(1); errors.Is(err, io.EOF) && c.torn(raw[:len(raw)-1]) {
				return c.offset, nil // a torn write that happens to end in a newline
			}
			return damage.Offset, damage
		}
		if err := visit(line); err != nil {
			return c.offset, err
		}
		c.pass(line, len(raw))
	}
}

// A checker holds the lines of a log against each other.
type checker struct {
	n      int64 // number of the line, from 1
	offset int64 // where it begins
	before int64 // where the line before it begins
	next   uint64
	seen   bool // there was a line before
	sealed bool // lines have checksums from here on
}

func (c *checker) damaged(reason string) *CorruptError {
	return &CorruptError{Line: c.n, Offset: c.offset, Reason: reason}
}

// check reads a line and says what is wrong with it.
func (c *checker) check(raw []byte) (Line, *CorruptError) {
	has := sealingOf(raw)
	if has == broken {
		return Line{}, c.damaged("its checksum does not fit: it is not what was written")
	}
	line, ok := parseLine(raw, c.offset)
	switch {
	case !ok:
		return line, c.damaged("it is not a JSON event")
	case has == unsealed && c.sealed:
		return line, c.damaged("it has no checksum, and the lines before it have one")
	case c.seen && line.Seq != c.next:
		return line, c.damaged(fmt.Sprintf("its sequence number is %d, want %d", line.Seq, c.next))
	case has == whole && c.seen && !c.sealed && line.Type != event.TypeRunResumed:
		// A session has checksums from its first line on.
		return line, &CorruptError{Line: c.n - 1, Offset: c.before, Reason: "it has no checksum, and the line after it has one"}
	}
	c.sealed = has == whole
	return line, nil
}

// torn reports whether a last line that is damaged may be what a crash left.
func (c *checker) torn(raw []byte) bool {
	return c.seen && !(looksWhole(raw) && (c.sealed || sealingOf(raw) != unsealed))
}

// pass goes on to the line after one of size bytes.
func (c *checker) pass(line Line, size int) {
	c.seen, c.next = true, line.Seq+1
	c.before = c.offset
	c.offset += int64(size)
}

var (
	typePrefix = []byte(`{"type":"`)
	seqPrefix  = []byte(`","seq":`)
)

// parseLine finds type and sequence number, by position in lines of our own
// and by decoding in any others.
func parseLine(raw []byte, offset int64) (Line, bool) {
	l := Line{Offset: offset, Raw: raw}
	if rest, ok := bytes.CutPrefix(raw, typePrefix); ok {
		if name, rest, ok := bytes.Cut(rest, seqPrefix); ok && !bytes.ContainsAny(name, `"\`) {
			if digits, _, ok := bytes.Cut(rest, []byte{','}); ok {
				if seq, err := strconv.ParseUint(string(digits), 10, 64); err == nil {
					l.Type, l.Seq = typeName(name), seq
					return l, json.Valid(raw)
				}
			}
		}
	}
	var h event.Header
	if json.Unmarshal(raw, &h) != nil || h.Type == "" {
		return l, false
	}
	l.Type, l.Seq = h.Type, h.Seq
	return l, true
}

// typeName avoids an allocation for the type that a long log is made of.
func typeName(b []byte) event.Type {
	if string(b) == string(event.TypeStepCompleted) {
		return event.TypeStepCompleted
	}
	return event.Type(b)
}

// Tail returns the last n intact events of the log in dir, or as many as there
// are near its end, without reading the rest.
func Tail(dir string, n int) ([]event.Record, error) {
	f, err := os.Open(filepath.Join(dir, EventsFile))
	if err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	tail := make([]byte, min(size, 1<<20))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("run log: %w", err)
	}
	var out []event.Record
	for len(out) < n {
		cut := bytes.LastIndexByte(tail, '\n')
		if cut < 0 {
			break
		}
		tail = tail[:cut]
		line := tail[bytes.LastIndexByte(tail, '\n')+1:]
		if sealingOf(line) == broken {
			continue
		}
		if rec, err := event.Decode(line); err == nil {
			out = append(out, rec)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// SetAside moves the damaged rest of a log, from the line that err names, into
// a file of its own beside it and returns that file's name. The log then ends
// with its last intact line and can be opened again.
func SetAside(err *CorruptError) (string, error) {
	lk, lockErr := acquire(filepath.Join(err.Dir, LockFile))
	if lockErr != nil {
		return "", lockErr
	}
	name, asideErr := setAside(err)
	return name, errors.Join(asideErr, lk.release())
}

func setAside(damage *CorruptError) (string, error) {
	f, err := os.OpenFile(filepath.Join(damage.Dir, EventsFile), os.O_RDWR, 0)
	if err != nil {
		return "", fmt.Errorf("run log: %w", err)
	}
	defer f.Close()
	if err := lockLog(f); err != nil {
		return "", err
	}
	name := filepath.Join(damage.Dir, fmt.Sprintf("%s.damaged-at-%d", EventsFile, damage.Offset))
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		// Somebody was interrupted before the log was cut, or it is damaged there again.
		name = filepath.Join(damage.Dir, fmt.Sprintf("%s.damaged-at-%d.%d", EventsFile, damage.Offset, n))
		out, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	}
	if err != nil {
		return "", fmt.Errorf("run log: %w", err)
	}
	if _, err := f.Seek(damage.Offset, io.SeekStart); err != nil {
		return "", errors.Join(fmt.Errorf("run log: %w", err), out.Close())
	}
	_, err = io.Copy(out, f)
	// The copy and its entry in the folder are there before the log is cut.
	if err := errors.Join(err, out.Sync(), out.Close(), syncDir(damage.Dir)); err != nil {
		return "", fmt.Errorf("run log: %w", err)
	}
	if err := errors.Join(f.Truncate(damage.Offset), f.Sync()); err != nil {
		return "", fmt.Errorf("run log: %w", err)
	}
	return name, nil
}
