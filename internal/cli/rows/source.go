// Package rows brings tables in and out of maker map: files, folders and standard input as
// records, and records with their answers as files.
package rows

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/text/table"
)

// A Source is a table that can be read several times.
type Source struct {
	Name    string // for people
	path    string
	folder  bool
	comma   rune
	scratch bool     // it is a copy of what could be read once only
	skip    []string // paths of what is not a part of it
}

// Skip leaves files and folders out of a folder, also those that are not there yet: what a
// run itself writes.
func (s *Source) Skip(paths ...string) {
	for _, path := range paths {
		if abs, err := filepath.Abs(path); err == nil && path != "" {
			s.skip = append(s.skip, abs)
		}
	}
}

func (s *Source) skipped(path string) bool {
	abs, err := filepath.Abs(path)
	return err == nil && slices.Contains(s.skip, abs)
}

// Open opens a file, a folder, or standard input if the name is -.
func Open(name string, stdin io.Reader) (*Source, error) {
	s := &Source{Name: filepath.Base(name), path: name, comma: ','}
	if strings.EqualFold(filepath.Ext(name), ".tsv") {
		s.comma = '\t'
	}
	if name == "-" {
		s.Name = "stdin"
		return s.spool(stdin)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	s.folder = info.IsDir()
	if s.folder || info.Mode().IsRegular() {
		return s, nil
	}
	pipe, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer pipe.Close()
	return s.spool(pipe)
}

// spool keeps a copy of what can be read only once: standard input, or a pipe with a name.
func (s *Source) spool(from io.Reader) (*Source, error) {
	f, err := os.CreateTemp("", "maker-records-")
	if err != nil {
		return nil, err
	}
	s.path, s.scratch = f.Name(), true
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close removes what was copied.
func (s *Source) Close() error {
	if s.scratch {
		return os.Remove(s.path)
	}
	return nil
}

// IsAt reports whether the table is the file at a path.
func (s *Source) IsAt(path string) bool {
	a, errA := os.Stat(s.path)
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// Records yields the records.
func (s *Source) Records() iter.Seq2[maker.Record, error] {
	if s.folder {
		return s.files()
	}
	return func(yield func(maker.Record, error) bool) {
		f, err := os.Open(s.path)
		if err != nil {
			yield(maker.Record{}, err)
			return
		}
		defer f.Close()
		for r, err := range table.Scan(f, s.comma) {
			if !yield(r, err) {
				return
			}
		}
	}
}

// maxFile is how long a file of a folder may be.
const maxFile = 1 << 20

// files yields the files of a folder, with their names and texts.
func (s *Source) files() iter.Seq2[maker.Record, error] {
	return func(yield func(maker.Record, error) bool) {
		n := 0
		columns := []string{"file", "text"}
		err := filepath.WalkDir(s.path, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != s.path && (strings.HasPrefix(d.Name(), ".") || s.skipped(path)):
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case !d.Type().IsRegular():
				return nil
			}
			n++
			name, err := filepath.Rel(s.path, path)
			if err != nil {
				return err
			}
			r := maker.Record{Line: n, Columns: columns, Values: map[string]any{"file": filepath.ToSlash(name)}}
			text, bad := readText(path)
			if r.Values["text"] = text; bad != nil {
				bad = &maker.RecordError{Line: n, Err: fmt.Errorf("%s: %w", name, bad)}
			}
			if !yield(r, bad) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(maker.Record{}, err)
		}
	}
}

// readText reads a file of a folder.
func readText(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxFile {
		return "", fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxFile)
	}
	data, err := os.ReadFile(path)
	if err == nil && !utf8.Valid(data) {
		err = errors.New("it is not a text in UTF-8")
	}
	return string(data), err
}

// A Survey is what a table holds, before anybody is asked.
type Survey struct {
	Records int
	Bad     int             // that cannot be read or asked about
	Why     error           // the first of these
	Bytes   int64           // of the questions
	Columns []string        // the first of them
	has     map[string]bool // all of them
}

// Part is about what n of the records hold.
func (s Survey) Part(n int) Survey {
	s.Bytes = s.Bytes * int64(n) / int64(s.Records)
	s.Bad = s.Bad * n / s.Records
	s.Records = n
	return s
}

// With is what they hold with records that are mixed in, which are about as long as others.
func (s Survey) With(known []maker.Record) Survey {
	s.Bytes += s.Bytes * int64(len(known)) / int64(s.Records)
	s.Records += len(known)
	return s
}

// Take looks at all records and puts them into words, which is what put does.
func Take(records iter.Seq2[maker.Record, error], put func(maker.Record) (string, error)) (Survey, error) {
	s := Survey{has: map[string]bool{}}
	for r, err := range records {
		if bad, ok := errors.AsType[*maker.RecordError](err); err != nil && !ok {
			return s, err
		} else if ok {
			err = bad
		}
		s.Records++
		for _, name := range r.Columns {
			if !s.has[name] && len(s.Columns) < 100 {
				s.Columns = append(s.Columns, name)
			}
			s.has[name] = true
		}
		var words string
		if err == nil {
			words, err = put(r)
		}
		if err != nil {
			s.Bad++
			if s.Why == nil {
				s.Why = err
			}
		}
		s.Bytes += int64(len(words))
	}
	return s, nil
}

// Different yields the first of the records of which put says the same, and those of which it says
// nothing.
func Different(records iter.Seq2[maker.Record, error], put func(maker.Record) (string, error)) iter.Seq2[maker.Record, error] {
	return func(yield func(maker.Record, error) bool) {
		seed, seen := maphash.MakeSeed(), map[uint64]bool{}
		for r, err := range records {
			if err == nil {
				if words, failed := put(r); failed == nil {
					sum := maphash.String(seed, words)
					if seen[sum] {
						continue
					}
					seen[sum] = true
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Choose yields n of the records, chosen at random, in their order. It reads all of them
// first.
func Choose(records iter.Seq2[maker.Record, error], n int) iter.Seq2[maker.Record, error] {
	return func(yield func(maker.Record, error) bool) {
		type chosen struct {
			maker.Record
			bad error
			at  int
		}
		var list []chosen
		at := 0
		for r, err := range records {
			if _, ok := errors.AsType[*maker.RecordError](err); err != nil && !ok {
				yield(r, err)
				return
			}
			if at++; len(list) < n {
				list = append(list, chosen{r, err, at})
			} else if i := rand.IntN(at); i < n {
				list[i] = chosen{r, err, at}
			}
		}
		slices.SortFunc(list, func(a, b chosen) int { return a.at - b.at })
		for _, c := range list {
			if !yield(c.Record, c.bad) {
				return
			}
		}
	}
}
