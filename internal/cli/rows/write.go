package rows

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/runs"
)

// The columns that are added to those of the records, beside those of the answers.
var added = []string{"status", "votes", "margin", "samples", "cost_usd", "right", "reason"}

// CheckPath says why a file cannot be written, as far as that is known beforehand.
func CheckPath(path string) error {
	if path == "-" {
		return errors.New("maker map writes to stdout without --out; a file of that name is ./-")
	}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".xlsx", ".xls", ".ods", ".parquet":
		return fmt.Errorf("there is no way to write %s; use .csv, .tsv or .jsonl", ext)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", filepath.Dir(path))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a folder")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".maker-out-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// WriteFile writes the records of a run with their answers to a file: JSON lines, values
// with tabs between them, or CSV, by its name. There is the whole file or none.
func WriteFile(path string, run *runs.Run) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".maker-out-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = Write(f, run, strings.ToLower(filepath.Ext(path)))
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Write writes them in the form that an extension stands for; CSV if it is empty.
func Write(w io.Writer, run *runs.Run, extension string) error {
	p, err := run.RecordParams()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	t := &writer{names: map[string]string{}, ours: map[string]string{}}
	if err := t.plan(run, p, extension); err != nil {
		return err
	}
	switch extension {
	case ".jsonl", ".ndjson", ".json":
		err = t.lines(out, run)
	case ".tsv":
		err = t.rows(out, run, '\t')
	default:
		err = t.rows(out, run, ',')
	}
	return errors.Join(err, out.Flush())
}

// writer knows the columns.
type writer struct {
	columns []string          // of the records
	answers []string          // columns of answers, as they are known
	single  bool              // there is one question
	names   map[string]string // what columns of answers are called, where there is one of that name
	ours    map[string]string // and those that are added
	gold    bool
}

// plan finds the columns.
func (t *writer) plan(run *runs.Run, p *runs.RecordParams, extension string) error {
	t.columns = p.Columns
	t.single = len(p.Questions) == 1
	for _, q := range p.Questions {
		t.answers = append(t.answers, q.Name)
		t.gold = t.gold || q.Gold != "" && p.Mixed == 0 // those that were mixed in are not written
	}
	if !strings.HasPrefix(extension, ".json") && !strings.HasPrefix(extension, ".ndjson") {
		if err := t.fields(run); err != nil {
			return err
		}
	}
	taken := slices.Clone(t.columns)
	for _, list := range []struct {
		names []string
		as    map[string]string
	}{{t.answers, t.names}, {added, t.ours}} {
		for _, name := range list.names {
			list.as[name] = name
			for slices.Contains(taken, list.as[name]) {
				list.as[name] = "maker_" + list.as[name]
			}
			taken = append(taken, list.as[name])
		}
	}
	return nil
}

// fields adds a column for each field of answers that are objects.
func (t *writer) fields(run *runs.Run) error {
	if !t.single {
		return nil
	}
	var names []string
	objects := false
	for r, err := range run.Records() {
		if err != nil {
			return err
		}
		var fields map[string]json.RawMessage
		switch {
		case r.Status != "decided":
		case json.Unmarshal(r.Output.JSON, &fields) == nil && fields != nil:
			objects = true
			for _, name := range ordered(r.Output.JSON) {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		default:
			return nil // then no columns but one suit all
		}
	}
	if objects && len(names) > 0 {
		t.answers, t.single = names, false
	}
	return nil
}

// ordered are the names of the fields of an object, in their order.
func ordered(object json.RawMessage) []string {
	var names []string
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token() // the brace: it is an object
	for d.More() {
		name, err := d.Token()
		text, ok := name.(string)
		var skip json.RawMessage
		if err != nil || !ok || d.Decode(&skip) != nil {
			break
		}
		names = append(names, text)
	}
	return names
}

// answersOf are the values of the answer columns.
func (t *writer) answersOf(r runs.RecordResult) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	if len(r.Output.JSON) == 0 {
		return values, nil // there is none
	}
	if t.single {
		values[t.answers[0]] = r.Output.JSON
		return values, nil
	}
	err := json.Unmarshal(r.Output.JSON, &values)
	return values, err
}

func (t *writer) rows(out io.Writer, run *runs.Run, comma rune) error {
	w := csv.NewWriter(out)
	w.Comma = comma
	header := slices.Clone(t.columns)
	for _, name := range t.answers {
		header = append(header, t.names[name])
	}
	for _, name := range t.shown() {
		header = append(header, t.ours[name])
	}
	if err := w.Write(header); err != nil {
		return err
	}
	err := t.each(run, func(r runs.RecordResult, answers map[string]json.RawMessage) error {
		row := make([]string, 0, len(header))
		for _, name := range t.columns {
			row = append(row, cell(r.Values[name]))
		}
		for _, name := range t.answers {
			row = append(row, rawCell(answers[name]))
		}
		for _, name := range t.shown() {
			row = append(row, cell(about(r, name)))
		}
		return w.Write(row)
	})
	w.Flush()
	return errors.Join(err, w.Error())
}

// each yields the records with the values of the answer columns.
func (t *writer) each(run *runs.Run, write func(runs.RecordResult, map[string]json.RawMessage) error) error {
	for r, err := range run.Records() {
		if err != nil {
			return err
		}
		answers, err := t.answersOf(r)
		if err == nil {
			err = write(r, answers)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", r.Number+1, err)
		}
	}
	return nil
}

// shown are the columns that are added.
func (t *writer) shown() []string {
	if t.gold {
		return added
	}
	return slices.DeleteFunc(slices.Clone(added), func(name string) bool { return name == "right" })
}

func (t *writer) lines(out io.Writer, run *runs.Run) error {
	return t.each(run, func(r runs.RecordResult, answers map[string]json.RawMessage) (err error) {
		line := []byte{'{'}
		add := func(name string, v any) {
			key, keyErr := encode(name)
			raw, rawErr := encode(v)
			if len(line) > 1 {
				line = append(line, ',')
			}
			line = append(append(append(line, key...), ':'), raw...)
			err = errors.Join(err, keyErr, rawErr)
		}
		for _, name := range t.columns {
			if v, ok := r.Values[name]; ok {
				add(name, v)
			}
		}
		for _, name := range t.answers {
			add(t.names[name], answers[name])
		}
		for _, name := range t.shown() {
			if v := about(r, name); v != nil || name == "cost_usd" {
				add(t.ours[name], v)
			}
		}
		if err != nil {
			return err
		}
		_, err = out.Write(append(line, '}', '\n'))
		return err
	})
}

func encode(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok && raw == nil {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// about is what one of the added columns says; nil if it says nothing.
func about(r runs.RecordResult, name string) any {
	asked := r.Voting.Samples > 0
	switch {
	case name == "status" && r.Status == "":
		return "open"
	case name == "status":
		return r.Status
	case name == "votes" && asked:
		return r.Voting.Split()
	case name == "margin" && asked:
		return r.Voting.Margin
	case name == "samples" && asked:
		return r.Voting.Samples
	case name == "cost_usd" && r.CostUSD != nil:
		return math.Round(*r.CostUSD*1e9) / 1e9
	case name == "right" && r.Right != nil:
		return *r.Right
	case name == "reason" && r.Reason != "":
		return r.Reason
	}
	return nil
}

// cell is a value in a table of texts.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	raw, err := encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

func rawCell(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
