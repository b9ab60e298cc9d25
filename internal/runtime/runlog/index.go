package runlog

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/maker-mdap/maker/event"
)

// indexMagic opens the index and names the version of its layout.
const indexMagic = "MAKERSTEPS1\n\x00\x00\x00\x00"

// stepSize is the size of a record. All its numbers are little-endian.
const stepSize = 48

// A Step is the index record of a committed step: enough to find its event
// and to draw the run without reading the log.
type Step struct {
	Offset     int64 // of the event in the log
	Length     int   // of its line, newline included
	Step       int
	Time       time.Time // of the commit, to the millisecond
	DurationMS int64
	Samples    int
	RedFlagged int
	Faults     int
	Margin     int
	Answers    int     // different answers that got votes
	Closest    int     // of a step that took several votes, the lead of the closest one in parts of [leadParts], from 1; 0 of others
	Special    bool    // there is more to how it was decided than these numbers
	Sole       bool    // it is a turn of a loop, and nothing but its verdict comes before it: see sole
	USD        float64 // spent by the run so far
}

// leadParts is how finely the lead of the closest of several votes is kept.
const leadParts = 254

// Lead is the share of the votes by which the step was won, 1 if all agreed; if it took several
// votes, that of the closest. A margin alone does not tell a close call: first to lead by 3 is
// won by 3 in every race.
func (s Step) Lead() float64 {
	if s.Closest > 0 {
		return float64(s.Closest-1) / leadParts
	}
	if s.Answers <= 1 {
		return 1
	}
	return leadOf(s.Margin, s.Samples-s.RedFlagged)
}

func leadOf(margin, votes int) float64 {
	if votes <= 0 {
		return 1
	}
	return min(float64(margin)/float64(votes), 1)
}

// closestOf is [Step.Closest] of a step, which has the votes of its closest decision and the
// samples of all.
func closestOf(e *event.StepCompleted) int {
	votes := cast(e.Voting.Votes)
	if votes == 0 || e.First == nil && votes == e.Voting.Samples-e.Voting.RedFlagged {
		return 0
	}
	lead := leadOf(e.Voting.Margin, votes)
	if e.First != nil { // they gave no result
		first := slices.Sorted(maps.Values(e.First.Votes))
		for len(first) < 2 {
			first = append([]int{0}, first...)
		}
		lead = min(lead, leadOf(first[len(first)-1]-first[len(first)-2], cast(e.First.Votes)))
	}
	return 1 + int(math.Round(lead*leadParts))
}

// cast is how many votes there were.
func cast(votes map[string]int) int {
	n := 0
	for _, v := range votes {
		n += v
	}
	return n
}

// End is where the line after that of the step begins.
func (s Step) End() int64 { return s.Offset + int64(s.Length) }

// NewStep is the record of a step whose line is at an offset of the log.
func NewStep(offset int64, length int, t time.Time, e *event.StepCompleted) Step {
	all, answers := e.Taken()
	return Step{
		Offset: offset, Length: length, Step: e.Step, Time: t, DurationMS: e.DurationMS,
		Samples: all.Samples, RedFlagged: all.RedFlagged, Faults: all.Faults,
		Margin: all.Margin, Answers: answers, Closest: closestOf(e), USD: e.Spent.USD,
		Special: e.Class != "" || e.Pool != "" || e.First != nil,
	}
}

func (s Step) append(b []byte) []byte {
	le := binary.LittleEndian
	from := len(b)
	b = le.AppendUint64(b, uint64(s.Offset))
	b = le.AppendUint32(b, clamp[uint32](s.Length, math.MaxUint32))
	b = le.AppendUint32(b, clamp[uint32](s.Step, math.MaxUint32))
	b = le.AppendUint64(b, uint64(s.Time.UnixMilli()))
	b = le.AppendUint32(b, clamp[uint32](int(s.DurationMS), math.MaxUint32))
	b = le.AppendUint16(b, clamp[uint16](s.Samples, math.MaxUint16))
	b = le.AppendUint16(b, clamp[uint16](s.RedFlagged, math.MaxUint16))
	b = le.AppendUint16(b, clamp[uint16](s.Faults, math.MaxUint16))
	b = le.AppendUint16(b, clamp[uint16](s.Margin, math.MaxUint16))
	answers := clamp[uint16](s.Answers, 1<<closestShift-1) | clamp[uint16](s.Closest, leadParts+1)<<closestShift
	if s.Special {
		answers |= specialBit
	}
	if s.Sole {
		answers |= soleBit
	}
	b = le.AppendUint16(b, answers)
	b = append(b, 0, 0) // the checksum
	b = le.AppendUint64(b, math.Float64bits(s.USD))
	le.PutUint16(b[from+checkAt:], checkOf(b[from:]))
	return b
}

// specialBit marks a step whose line has to be read, beside the number of its answers, and
// soleBit one that needs none to be read. Between them is [Step.Closest].
const (
	specialBit   = 1 << 15
	soleBit      = 1 << 14
	closestShift = 6
)

// checkAt is where a record has its checksum. Early ones have 0 there, which no
// checksum is.
const checkAt = 38

func checkOf(record []byte) uint16 {
	sum := crc32.Checksum(record[:checkAt], castagnoli)
	sum = crc32.Update(sum, castagnoli, record[checkAt+2:stepSize])
	return max(uint16(sum>>16)^uint16(sum), 1)
}

var errIndex = errors.New("it is damaged; `maker resume` rebuilds it")

func parseStep(b []byte) (Step, error) {
	le := binary.LittleEndian
	if check := le.Uint16(b[checkAt:]); check != 0 && check != checkOf(b) {
		return Step{}, errIndex
	}
	return Step{
		Offset:     int64(le.Uint64(b[0:])),
		Length:     int(le.Uint32(b[8:])),
		Step:       int(le.Uint32(b[12:])),
		Time:       time.UnixMilli(int64(le.Uint64(b[16:]))),
		DurationMS: int64(le.Uint32(b[24:])),
		Samples:    int(le.Uint16(b[28:])),
		RedFlagged: int(le.Uint16(b[30:])),
		Faults:     int(le.Uint16(b[32:])),
		Margin:     int(le.Uint16(b[34:])),
		Answers:    int(le.Uint16(b[36:]) & (1<<closestShift - 1)),
		Closest:    int(le.Uint16(b[36:]) &^ (specialBit | soleBit) >> closestShift),
		Special:    le.Uint16(b[36:])&specialBit != 0,
		Sole:       le.Uint16(b[36:])&soleBit != 0,
		USD:        math.Float64frombits(le.Uint64(b[40:])),
	}, nil
}

// clamp keeps a count that does not fit from wrapping round.
func clamp[T uint16 | uint32](n, limit int) T {
	return T(max(0, min(n, limit)))
}

func openIndex(dir string) (file, error) {
	f, err := os.OpenFile(filepath.Join(dir, IndexFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size == 0 {
		_, err = io.WriteString(f, indexMagic)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run log: %w", err), f.Close())
	}
	return f, nil
}

// indexWriter compares an existing index with the log it belongs to, and
// rewrites it from the first record that does not fit.
type indexWriter struct {
	f    *os.File
	old  *bufio.Reader // nil once the records differ
	out  *bufio.Writer // nil while they agree
	good int64         // size of the part that agrees
	buf  []byte

	since since
	vote  Line // the first line since the last step
}

func newIndexWriter(dir string) (*indexWriter, error) {
	f, err := os.OpenFile(filepath.Join(dir, IndexFile), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, &WriteError{Dir: dir, Err: err}
	}
	w := &indexWriter{f: f, old: bufio.NewReaderSize(io.NewSectionReader(f, 0, math.MaxInt64), 64<<10)}
	magic := make([]byte, len(indexMagic))
	if _, err := io.ReadFull(w.old, magic); err != nil || string(magic) != indexMagic {
		w.rewrite()
		if _, err := w.out.WriteString(indexMagic); err != nil {
			return nil, errors.Join(fmt.Errorf("run log: %w", err), f.Close())
		}
	}
	w.good = int64(len(indexMagic))
	return w, nil
}

// rewrite switches from comparing to writing.
func (w *indexWriter) rewrite() {
	w.old = nil
	w.out = bufio.NewWriterSize(io.NewOffsetWriter(w.f, w.good), 64<<10)
}

// add takes one line of the log. While the index agrees, the line is not
// decoded: offset and length of its record are proof enough, because the log is
// append-only.
func (w *indexWriter) add(l Line) error {
	if l.Type != event.TypeStepCompleted {
		if w.since.lines++; w.since.lines == 1 {
			w.vote = Line{Type: l.Type, Raw: append(w.vote.Raw[:0], l.Raw...)}
		}
		return nil
	}
	since := w.since
	w.since = sinceNothing
	if w.old != nil {
		var b [stepSize]byte
		if _, err := io.ReadFull(w.old, b[:]); err == nil {
			if s, err := parseStep(b[:]); err == nil && s.Offset == l.Offset && s.Length == len(l.Raw)+1 {
				w.good += stepSize
				return nil
			}
		}
		w.rewrite()
	}
	rec, err := l.Decode()
	if err != nil {
		return &CorruptError{Line: int64(l.Seq) + 1, Offset: l.Offset, Reason: err.Error()}
	}
	e, ok := rec.Event.(event.StepCompleted)
	if !ok {
		return &CorruptError{Line: int64(l.Seq) + 1, Offset: l.Offset, Reason: "it has two types"}
	}
	step := NewStep(l.Offset, len(l.Raw)+1, rec.Time, &e)
	step.Sole = since.lines == 1 && w.soleVote(&e)
	w.buf = step.append(w.buf[:0])
	w.good += stepSize
	if _, err := w.out.Write(w.buf); err != nil {
		return &WriteError{Dir: filepath.Dir(w.f.Name()), Err: err}
	}
	return nil
}

// soleVote reports whether the first line since the last step is a verdict that makes a step
// a sole one.
func (w *indexWriter) soleVote(e *event.StepCompleted) bool {
	if w.vote.Type != event.TypeVoteCompleted {
		return false
	}
	rec, err := w.vote.Decode()
	if err != nil {
		return false // whoever reads it says so
	}
	since := sinceNothing
	since.add(rec.Event)
	return since.sole(e)
}

// finish cuts off what the log does not have and closes the file.
func (w *indexWriter) finish() error {
	var err error
	if w.out != nil {
		if err = w.out.Flush(); err != nil {
			err = &WriteError{Dir: filepath.Dir(w.f.Name()), Err: err}
		}
	}
	return errors.Join(err, w.f.Truncate(w.good), w.f.Close())
}

func (w *indexWriter) close() error { return w.f.Close() }

// An Index finds the steps of a run without reading its log.
type Index struct {
	f   *os.File
	log *os.File
	n   int
}

// OpenIndex opens the index of the run in dir for reading. It may lag behind
// the log of a run that is being written or that crashed.
func OpenIndex(dir string) (*Index, error) {
	f, err := os.Open(filepath.Join(dir, IndexFile))
	if err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	magic := make([]byte, len(indexMagic))
	if _, err := io.ReadFull(f, magic); err != nil || string(magic) != indexMagic {
		return nil, errors.Join(fmt.Errorf("run log: %s is not an index this program knows; `maker resume` rebuilds it", f.Name()), f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run log: %w", err), f.Close())
	}
	log, err := os.Open(filepath.Join(dir, EventsFile))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run log: %w", err), f.Close())
	}
	return &Index{f: f, log: log, n: int((info.Size() - int64(len(indexMagic))) / stepSize)}, nil
}

// Len is the number of committed steps.
func (x *Index) Len() int { return x.n }

// At returns the record of the i-th committed step.
func (x *Index) At(i int) (Step, error) {
	var b [stepSize]byte
	if _, err := x.f.ReadAt(b[:], int64(len(indexMagic))+int64(i)*stepSize); err != nil {
		return Step{}, fmt.Errorf("run log: index record %d: %w", i, err)
	}
	s, err := parseStep(b[:])
	if err != nil {
		return Step{}, fmt.Errorf("run log: index record %d: %w", i, err)
	}
	return s, nil
}

// All yields the records of all committed steps in order, reading many at a time.
func (x *Index) All() iter.Seq2[Step, error] { return x.From(0) }

// From is All from the i-th committed step on.
func (x *Index) From(i int) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		i := min(max(i, 0), x.n)
		var chunk [1024 * stepSize]byte
		for i < x.n {
			part := chunk[:min(len(chunk), (x.n-i)*stepSize)]
			_, err := x.f.ReadAt(part, int64(len(indexMagic))+int64(i)*stepSize)
			for ; len(part) > 0 || err != nil; i++ {
				var s Step
				if err == nil {
					s, err = parseStep(part[:stepSize])
				}
				if err != nil {
					yield(Step{}, fmt.Errorf("run log: index record %d: %w", i, err))
					return
				}
				if !yield(s, nil) {
					return
				}
				part = part[stepSize:]
			}
		}
	}
}

func (s Step) misfit() error {
	return fmt.Errorf("run log: the index does not fit the log at step %d; `maker resume` rebuilds it", s.Step)
}

// Event reads the event of a committed step.
func (x *Index) Event(s Step) (event.StepCompleted, error) {
	info, err := x.log.Stat()
	if err != nil {
		return event.StepCompleted{}, fmt.Errorf("run log: %w", err)
	}
	// The index may be damaged: the log, and not the index, says how much is read.
	if s.Offset < 0 || s.Length <= 0 || int64(s.Length) > min(info.Size()-s.Offset, maxLine) {
		return event.StepCompleted{}, s.misfit()
	}
	line := make([]byte, s.Length)
	if _, err := x.log.ReadAt(line, s.Offset); err != nil {
		return event.StepCompleted{}, fmt.Errorf("run log: step %d: %w", s.Step, err)
	}
	if sealingOf(bytes.TrimSuffix(line, []byte("\n"))) == broken {
		return event.StepCompleted{}, &CorruptError{Dir: filepath.Dir(x.log.Name()), Offset: s.Offset, Reason: "its checksum does not fit: it is not what was written"}
	}
	rec, err := event.Decode(line)
	if err != nil {
		return event.StepCompleted{}, &CorruptError{Dir: filepath.Dir(x.log.Name()), Offset: s.Offset, Reason: err.Error()}
	}
	e, ok := rec.Event.(event.StepCompleted)
	if !ok || e.Step != s.Step {
		return event.StepCompleted{}, s.misfit()
	}
	return e, nil
}

// Lines yields the lines of the log from one place to another, which are those of lines. It
// has no numbers of lines for what is damaged.
func (x *Index) Lines(from, to int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		end, err := scan(io.NewSectionReader(x.log, from, to-from), from, func(l Line) error {
			if !yield(l, nil) {
				return errStop
			}
			return nil
		})
		if err == nil && end != to && to != math.MaxInt64 {
			err = fmt.Errorf("run log: the index does not fit the log at byte %d; `maker resume` rebuilds it", end)
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Line{}, err)
		}
	}
}

// Close closes the index.
func (x *Index) Close() error { return errors.Join(x.f.Close(), x.log.Close()) }
