// Package table reads records that users bring, from JSON lines or CSV, and puts them into
// words by a template over their columns. What is wrong with a record names its line.
package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// A Record is one row, by the names of its columns.
type Record struct {
	Line    int // of the file, from 1, where it begins
	Columns []string
	Values  map[string]any

	// Mixed says that it is no record of the table but one whose answer is known, among
	// the others to see how many are right.
	Mixed bool
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

// Read reads all records: see [Scan]. Its error names all lines that cannot be read.
func Read(data []byte) ([]Record, error) {
	if after, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte("[")); ok && bytes.HasPrefix(bytes.TrimSpace(after), []byte("{")) {
		return nil, errors.New("it is a JSON list; want one JSON object on each line, without brackets and commas around them")
	}
	var list []Record
	var bad []error
	for r, err := range Scan(bytes.NewReader(data), ',') {
		if err != nil {
			bad = append(bad, err)
			continue
		}
		list = append(list, r)
	}
	if err := Named(bad); err != nil {
		return list, err
	}
	if len(list) == 0 {
		return nil, errNone
	}
	return list, nil
}

var errNone = errors.New("it has no records")

// Named joins errors about records; of many it names the first.
func Named(errs []error) error {
	if len(errs) > mostBad {
		return fmt.Errorf("%w\nand %d more", errors.Join(errs[:mostBad]...), len(errs)-mostBad)
	}
	return errors.Join(errs...)
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
			shown[name] = readable(v)
		}
	}
	var b strings.Builder
	if err := p.template.Execute(&b, shown); err != nil {
		for _, name := range p.hidden {
			if strings.Contains(err.Error(), fmt.Sprintf("no entry for key %q", name)) {
				return "", &LineError{r.Line, fmt.Errorf("the column %q has the known answers, which are kept from voters", name)}
			}
		}
		return "", &LineError{r.Line, errors.New(strings.TrimPrefix(err.Error(), "template: "))}
	}
	if strings.TrimSpace(b.String()) == "" {
		return "", &LineError{r.Line, errors.New("the question is empty")}
	}
	return b.String(), nil
}

// Objects and lists of records, which are shown as JSON.
type (
	object map[string]any
	list   []any
)

func (o object) String() string { return jsonOf(map[string]any(o)) }
func (l list) String() string   { return jsonOf([]any(l)) }

func jsonOf(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// readable is a value as a template shows it: what is not there shows nothing.
func readable(v any) any {
	switch v := v.(type) {
	case nil:
		return ""
	case map[string]any:
		o := object{}
		for name, part := range v {
			o[name] = readable(part)
		}
		return o
	case []any:
		l := list{}
		for _, part := range v {
			l = append(l, readable(part))
		}
		return l
	}
	return v
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

// Objects are records that came as JSON.
func Objects(list []map[string]any) iter.Seq2[Record, error] {
	names := map[string]bool{}
	for _, values := range list {
		for name := range values {
			names[name] = true
		}
	}
	columns := slices.Sorted(maps.Keys(names))
	return func(yield func(Record, error) bool) {
		for i, values := range list {
			if !yield(Record{Line: i + 1, Columns: columns, Values: values}, nil) {
				return
			}
		}
	}
}
