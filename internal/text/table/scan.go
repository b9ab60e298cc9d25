package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// maxRecord is how long a record may be, in bytes.
const maxRecord = 16 << 20

// Scan yields records one after another: JSON objects, one on a line, if the first
// character says so, and otherwise rows with the names of the columns in the first one,
// with commas or another character between the fields, or with tabs if the first one has
// tabs and no comma. A record that cannot be read is a
// [*LineError], and the next one follows; after any other error there is no more.
func Scan(r io.Reader, comma rune) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		skipped, first, err := begin(in)
		switch {
		case errors.Is(err, io.EOF):
		case err != nil:
			yield(Record{}, err)
		case first == '{':
			scanLines(in, skipped, yield)
		default:
			scanRows(in, skipped, comma, yield)
		}
	}
}

// begin passes over what may stand before the first record and says which character it
// begins with, and how many lines were passed over.
func begin(in *bufio.Reader) (lines int, first rune, err error) {
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\uFEFF")) {
		_, _ = in.Discard(3)
	}
	for {
		c, _, err := in.ReadRune()
		switch {
		case err != nil:
			return lines, 0, err
		case c == '\n':
			lines++
		case c != ' ' && c != '\t' && c != '\r':
			return lines, c, in.UnreadRune()
		}
	}
}

func scanLines(in *bufio.Reader, line int, yield func(Record, error) bool) {
	for {
		text, err := readLine(in)
		line++
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLong) {
			yield(Record{}, err)
			return
		}
		over := errors.Is(err, io.EOF)
		if errors.Is(err, errLong) {
			if !yield(Record{Line: line}, &LineError{line, err}) {
				return
			}
			continue
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			r, err := readObject(text)
			if r.Line = line; err != nil {
				err = &LineError{line, err}
			}
			if !yield(r, err) {
				return
			}
		}
		if over {
			return
		}
	}
}

var errLong = fmt.Errorf("it has more than %d MB", maxRecord>>20)

// readLine reads a line of at most maxRecord; of a longer one it reads over the rest.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxRecord; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLong
		}
		return line, err
	}
}

// readObject reads a JSON object, with its fields in their order.
func readObject(text []byte) (Record, error) {
	var r Record
	if !utf8.Valid(text) {
		return r, errEncoding
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // as it was written
	if err := d.Decode(&r.Values); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("%s, want a JSON object", e.Value)
		}
		return r, err
	}
	if r.Values == nil {
		return r, errors.New("null, want a JSON object")
	}
	if _, more := d.Token(); !errors.Is(more, io.EOF) {
		return r, errors.New("something follows the JSON object; want one on each line")
	}
	keys := json.NewDecoder(bytes.NewReader(text))
	keys.UseNumber()
	if err := checkKeys(keys); err != nil {
		return r, err
	}
	fields := json.NewDecoder(bytes.NewReader(text))
	_, _ = fields.Token() // the brace; the text is JSON, as was just seen
	for fields.More() {
		name, _ := fields.Token()
		if name, ok := name.(string); ok {
			r.Columns = append(r.Columns, name)
		}
		var skip json.RawMessage
		if err := fields.Decode(&skip); err != nil {
			return r, err
		}
	}
	return r, nil
}

var errEncoding = errors.New("it is not UTF-8")

// rows reads rows of fields.
type rows struct {
	*csv.Reader
	read bytes.Buffer // what was read from row on
	row  int64        // where the next row begins
	line int          // where the last one does, from 1
}

func newRows(in io.Reader, comma rune) *rows {
	r := &rows{}
	r.Reader = csv.NewReader(io.TeeReader(in, &r.read))
	r.Comma = comma
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = comma == ','
	return r
}

// Read reads a row. Quotes that do not belong in one stand for themselves, as those of
// 5" pipe do, if it is clear all the same where the row ends.
func (r *rows) Read() ([]string, error) {
	fields, err := r.Reader.Read()
	raw := r.read.Next(int(r.InputOffset() - r.row))
	r.row = r.InputOffset()
	if err == nil {
		r.line, _ = r.FieldPos(0)
	}
	wrong, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return fields, err
	}
	r.line = wrong.StartLine
	const next = "next"
	lazy := newRows(io.MultiReader(bytes.NewReader(raw), strings.NewReader(next)), r.Comma)
	lazy.LazyQuotes = true
	fields, lazyErr := lazy.Reader.Read()
	if after, _ := lazy.Reader.Read(); lazyErr != nil || !slices.Equal(after, []string{next}) {
		return nil, err // a quote is open
	}
	return fields, nil
}

func scanRows(in *bufio.Reader, before int, comma rune, yield func(Record, error) bool) {
	head, _ := in.Peek(in.Size())
	if head, _, _ := bytes.Cut(head, []byte("\n")); bytes.ContainsRune(head, '\t') && !bytes.ContainsRune(head, ',') {
		comma = '\t'
	}
	r := newRows(in, comma)
	names, err := r.Read()
	if err == nil {
		err = checkNames(names)
	}
	if err != nil {
		yield(Record{}, err)
		return
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			// Where a quote is open nobody knows where the next record begins.
			yield(Record{}, fmt.Errorf("line %d: %w", before+wrong.StartLine, wrong.Err))
			return
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		record := Record{Line: before + r.line, Columns: names, Values: make(map[string]any, len(names))}
		for i := range min(len(names), len(fields)) {
			record.Values[names[i]] = fields[i]
			if err == nil && !utf8.ValidString(fields[i]) {
				err = &LineError{record.Line, errEncoding}
			}
		}
		if len(fields) != len(names) {
			wrong := fmt.Errorf("%d fields, and there are %d columns", len(fields), len(names))
			if len(fields) > len(names) {
				wrong = fmt.Errorf("%w: %q is too much", wrong, clip.Short(strings.Join(fields[len(names):], string(comma))))
			}
			err = &LineError{record.Line, wrong}
		}
		if !yield(record, err) {
			return
		}
	}
}

// checkNames trims the names of columns and wants each of them to be one.
func checkNames(names []string) error {
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if names[i] == "" || slices.Contains(names[:i], names[i]) || !utf8.ValidString(names[i]) {
			return &LineError{1, fmt.Errorf("column %d is called %q: want a name of its own", i+1, names[i])}
		}
	}
	return nil
}
