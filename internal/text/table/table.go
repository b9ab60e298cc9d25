// Package table reads records that users bring, from JSON lines or CSV, and puts them into
// words by a template over their columns. What is wrong with a record names its line.
package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"
)

// A Record is one row, by the names of its columns.
type Record struct {
	Line   int // of the file, from 1, where it begins
	Values map[string]any
}

// A LineError is what is wrong with the record on a line.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// mostBad is how many bad records an error names.
const mostBad = 10

// Read reads all records: JSON objects, one on a line, if the first character says so,
// and otherwise CSV with the names of the columns in its first row. Its error names all
// lines that cannot be read.
func Read(data []byte) ([]Record, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errNone
	}
	if after, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte("[")); ok && bytes.HasPrefix(bytes.TrimSpace(after), []byte("{")) {
		return nil, errors.New("it is a JSON list; want one JSON object on each line, without brackets and commas around them")
	}
	records, bad := readCSV, error(nil)
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		records = readLines
	}
	list, errs := records(data)
	if bad = Named(errs); bad == nil && len(list) == 0 {
		bad = errNone
	}
	return list, bad
}

var errNone = errors.New("it has no records")

// Named joins errors about records; of many it names the first.
func Named(errs []error) error {
	if len(errs) > mostBad {
		return fmt.Errorf("%w\nand %d more", errors.Join(errs[:mostBad]...), len(errs)-mostBad)
	}
	return errors.Join(errs...)
}

func readLines(data []byte) (list []Record, bad []error) {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // as it was written
		r := Record{Line: line}
		err := d.Decode(&r.Values)
		if err == nil && r.Values == nil {
			err = errors.New("null, want a JSON object")
		}
		if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
			err = errors.New("something follows the JSON object; want one on each line")
		}
		if err == nil {
			err = checkKeys(json.NewDecoder(bytes.NewReader(text)))
		}
		if err != nil {
			bad = append(bad, &LineError{line, err})
			continue
		}
		list = append(list, r)
	}
	return list, bad
}

// checkKeys reads a value that is valid and looks for a key that its object has already:
// nobody could tell which of the two is meant.
func checkKeys(d *json.Decoder) error {
	t, err := d.Token()
	if open, ok := t.(json.Delim); err != nil || !ok || open == ']' || open == '}' {
		return err
	}
	seen := map[json.Token]bool{}
	for d.More() {
		if t == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return err
			}
			if seen[key] {
				return fmt.Errorf("the key %q is there twice", key)
			}
			seen[key] = true
		}
		if err := checkKeys(d); err != nil {
			return err
		}
	}
	_, err = d.Token() // what closes it
	return err
}

func readCSV(data []byte) (list []Record, bad []error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	names, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{err}
	}
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if names[i] == "" || slices.Contains(names[:i], names[i]) {
			return nil, []error{&LineError{1, fmt.Errorf("column %d is called %q: want a name of its own", i+1, names[i])}}
		}
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, bad
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			// Where a quote is open nobody knows where the next record begins.
			return list, append(bad, &LineError{wrong.StartLine, wrong.Err})
		}
		line, _ := r.FieldPos(0)
		if len(fields) != len(names) {
			bad = append(bad, &LineError{line, fmt.Errorf("%d fields, and there are %d columns", len(fields), len(names))})
			continue
		}
		record := Record{Line: line, Values: map[string]any{}}
		for i, name := range names {
			record.Values[name] = fields[i]
		}
		list = append(list, record)
	}
}

// A Prompt is a template over the columns of a record.
type Prompt struct {
	template *template.Template
	hidden   []string
}

// NewPrompt reads a template. The columns that are hidden are not there for it.
func NewPrompt(text string, hidden ...string) (*Prompt, error) {
	t, err := template.New("prompt").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "template: "))
	}
	return &Prompt{t, hidden}, nil
}

// Render puts a record into words.
func (p *Prompt) Render(r Record) (string, error) {
	shown := map[string]any{}
	for name, v := range r.Values {
		if !slices.Contains(p.hidden, name) {
			shown[name] = v
		}
	}
	var b strings.Builder
	if err := p.template.Execute(&b, shown); err != nil {
		return "", &LineError{r.Line, errors.New(strings.TrimPrefix(err.Error(), "template: "))}
	}
	if strings.TrimSpace(b.String()) == "" {
		return "", &LineError{r.Line, errors.New("the question is empty")}
	}
	return b.String(), nil
}

// Columns are the names of the columns that any record has, in alphabetical order.
func Columns(list []Record) []string {
	var names []string
	for _, r := range list {
		for name := range r.Values {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
