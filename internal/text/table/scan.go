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
)

// maxRecord is how long a record may be, in bytes.
const maxRecord = 16 << 20

// Scan yields records one after another: JSON objects, one on a line, if the first
// character says so, and otherwise rows with the names of the columns in the first one,
// with commas or another character between the fields. A record that cannot be read is a
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
		return r, err
	}
	if r.Values == nil {
		return r, errors.New("null, want a JSON object")
	}
	if _, more := d.Token(); !errors.Is(more, io.EOF) {
		return r, errors.New("something follows the JSON object; want one on each line")
	}
	if err := checkKeys(json.NewDecoder(bytes.NewReader(text))); err != nil {
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

func scanRows(in *bufio.Reader, before int, comma rune, yield func(Record, error) bool) {
	r := csv.NewReader(in)
	r.Comma = comma
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = comma == ','
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
		line, _ := r.FieldPos(0)
		record := Record{Line: before + line, Columns: names, Values: make(map[string]any, len(names))}
		for i := range min(len(names), len(fields)) {
			record.Values[names[i]] = fields[i]
			if err == nil && !utf8.ValidString(fields[i]) {
				err = &LineError{record.Line, errEncoding}
			}
		}
		if len(fields) != len(names) {
			err = &LineError{record.Line, fmt.Errorf("%d fields, and there are %d columns", len(fields), len(names))}
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
