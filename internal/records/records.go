// Package records keeps the records that a run is about in the folder of the run, as they
// were when it began: what becomes of the file they came from does not matter any more.
package records

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"sync"

	"github.com/maker-mdap/maker/internal/text/table"
)

// File is the name of the file in the folder of a run.
const File = "records.jsonl"

// A Record is one of them.
type Record struct {
	Line   int            `json:"line"` // of the file that it came from
	Values map[string]any `json:"values,omitempty"`
	Error  string         `json:"error,omitempty"` // why it could not be read

	// Same is the number of an earlier record that is asked about in the same words, if
	// equal ones are asked about once.
	Same *int `json:"same,omitempty"`

	// Mixed says that it is no record of the table but one whose answer is known.
	Mixed bool `json:"mixed,omitempty"`
}

// A Summary is what is known about all of them.
type Summary struct {
	Records int      `json:"records"`
	Columns []string `json:"columns"`
	SHA256  string   `json:"sha256"` // of the file
	Same    int      `json:"same,omitempty"`
	Mixed   int      `json:"mixed,omitempty"` // of Records
}

// maxColumns bounds the different columns that JSON lines may have.
const maxColumns = 10_000

// A Writer writes the file.
type Writer struct {
	Summary
	out  *bufio.Writer
	sum  hash.Hash
	seen map[[sha256.Size]byte]int // by what a record is asked; nil if all are asked about
	has  map[string]bool
}

// NewWriter writes to w. With dedupe, records are the same if what Add is told of them is.
func NewWriter(w io.Writer, dedupe bool) *Writer {
	sum := sha256.New()
	out := &Writer{out: bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10), sum: sum, has: map[string]bool{}}
	if dedupe {
		out.seen = map[[sha256.Size]byte]int{}
	}
	return out
}

// Add adds what was read: a record, or what is wrong with one. An error about something
// else is returned. Asked are the words in which it is asked about, if that matters.
func (w *Writer) Add(r table.Record, err error, asked string) error {
	record := Record{Line: r.Line, Values: r.Values, Mixed: r.Mixed}
	if bad, ok := errors.AsType[*table.LineError](err); ok {
		record.Line, record.Error = bad.Line, bad.Err.Error()
	} else if err != nil {
		return err
	}
	columns := r.Columns
	if r.Mixed { // it may have others
		w.Mixed++
		columns = nil
	}
	for _, name := range columns {
		if !w.has[name] {
			if len(w.Columns) == maxColumns {
				return fmt.Errorf("line %d: there are more than %d different columns", r.Line, maxColumns)
			}
			w.has[name] = true
			w.Columns = append(w.Columns, name)
		}
	}
	if w.seen != nil && asked != "" && err == nil {
		key := sha256.Sum256([]byte(asked))
		if first, ok := w.seen[key]; ok {
			record.Same = &first
			w.Same++
		} else {
			w.seen[key] = w.Records
		}
	}
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("line %d: %w", r.Line, err)
	}
	w.Records++
	_, err = w.out.Write(append(line, '\n'))
	return err
}

// DedupeBytes is about how much memory each different record takes while equal ones are
// looked for.
const DedupeBytes = 100

// Finish writes what is left and tells what there is.
func (w *Writer) Finish() (Summary, error) {
	err := w.out.Flush()
	w.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	if w.Columns == nil {
		w.Columns = []string{}
	}
	return w.Summary, err
}

// Check reports whether the file at path is still the one of a summary.
func Check(path string, s Summary) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("the records of the run: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("the records of the run: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != s.SHA256 {
		return fmt.Errorf("%s is not what it was when the run began: put the original back, or start anew", path)
	}
	return nil
}

// All yields the records of a file in their order.
func All(path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Record{}, fmt.Errorf("the records of the run: %w", err))
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 64<<10)
		for n := 1; ; n++ {
			line, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return
			}
			var r Record
			if err == nil {
				r, err = parse(line)
			}
			if err != nil {
				err = fmt.Errorf("%s, line %d: %w", path, n, err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func parse(line []byte) (Record, error) {
	var r Record
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	err := d.Decode(&r)
	return r, err
}

// A Reader gives the records of a file by their numbers to many at once, who ask for them
// in about the order of the file: each once, apart from those that are skipped.
type Reader struct {
	skip func(n int) bool

	mu    sync.Mutex
	next  func() (Record, error, bool)
	stop  func()
	at    int            // the number of the next one in the file
	ahead map[int]Record // read before somebody asked for them
}

// NewReader opens a file. Nobody asks for the records that skip reports.
func NewReader(path string, skip func(n int) bool) *Reader {
	r := &Reader{skip: skip, ahead: map[int]Record{}}
	r.next, r.stop = iter.Pull2(All(path))
	return r
}

// Record is the one of a number, from 0.
func (r *Reader) Record(n int) (Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.at <= n {
		record, err, ok := r.next()
		if !ok {
			return Record{}, fmt.Errorf("the file with the records of the run has only %d of them", r.at)
		}
		if err != nil {
			return Record{}, err
		}
		if !r.skip(r.at) {
			r.ahead[r.at] = record
		}
		r.at++
	}
	record, ok := r.ahead[n]
	if !ok {
		return Record{}, fmt.Errorf("record %d is asked for a second time", n)
	}
	delete(r.ahead, n)
	return record, nil
}

// Close closes the file.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	return nil
}
