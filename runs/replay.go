package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/text/clip"
)

// A Replay is a result derived a second time, from the log alone, and what does not
// fit.
type Replay struct {
	Result *Result `json:"result"`

	// Compared says whether there was a stored result to compare with.
	Compared bool `json:"compared"`

	// Differences is empty if the log is consistent and the stored result is what
	// follows from it.
	Differences []string `json:"differences"`

	// Races is how many votes were counted again sample by sample: all of them in a
	// full log, the contested ones otherwise.
	Races int `json:"races_recounted"`
}

// ReplayOptions say what a replay knows beside the log. The zero value is useful.
type ReplayOptions struct {
	// Families check the steps of their chains, in addition to the built-in ones. The
	// steps of a family that is not known are not checked.
	Families []domain.Family
}

// Replay reads the whole log, counts every vote again that it has the samples of,
// checks that each step was decided by the rule and committed once, that no effect
// happened twice or unclaimed, and that no event came twice, and compares the result
// that follows with the stored one. It uses neither the index nor the stored result to
// derive its own. Nil options are the defaults.
func (r *Run) Replay(o *ReplayOptions) (*Replay, error) {
	families := []domain.Family{hanoi.Family()}
	if o != nil {
		families = append(families, o.Families...)
	}
	_, written := r.Writer()
	report, audit, err := history.ReadAudit(r.dir, func(kind string, params json.RawMessage) domain.Chain {
		return chainOf(families, kind, params)
	})
	if err != nil {
		return nil, err
	}
	replay := &Replay{Result: newResult(report, written), Differences: audit.Differences(), Races: audit.Races}
	if r.Form() == event.FormRecords {
		if err := r.checkRecords(); err != nil {
			replay.differ("%v", err)
		}
	}
	if written { // who writes it has not stored its result yet: what is there may be that of an earlier session
		return replay, nil
	}
	return replay, replay.compare(r.dir)
}

// chainOf is the chain of a run, nil if no family knows it.
func chainOf(families []domain.Family, kind string, params json.RawMessage) domain.Chain {
	var found domain.Chain
	for _, f := range families {
		if f.Name != kind || f.NewChain == nil {
			continue
		}
		if c, _, err := f.NewChain(params); err == nil {
			found = c
		}
	}
	return found
}

func (p *Replay) differ(format string, args ...any) {
	if len(p.Differences) < history.MaxDifferences {
		p.Differences = append(p.Differences, fmt.Sprintf(format, args...))
	}
}

// compare holds the derived result against the stored one.
func (p *Replay) compare(dir string) error {
	stored, err := os.ReadFile(filepath.Join(dir, ResultFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the run was never ended in an orderly way
	}
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	if s := p.Result.Status; s == event.StatusRunning || s == StatusInterrupted {
		return nil // the stored result is that of an earlier session
	}
	p.Compared = true
	derived, err := json.Marshal(p.Result)
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	a, err := exactly(stored)
	if err != nil {
		p.differ("%s is not JSON: %v", ResultFile, err)
		return nil
	}
	b, err := exactly(derived)
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	forgetLater(a["steps"], b["steps"], "first")
	forgetLater(a["effects"], b["effects"], "voting", "voted")
	for _, name := range fields() {
		if _, stored := a[name]; !stored && slices.Contains(laterFields, name) {
			continue // that of an early release
		}
		if !reflect.DeepEqual(a[name], b[name]) {
			p.differ("%s: the field %q is %s, the log gives %s", ResultFile, name, brief(a[name]), brief(b[name]))
		}
	}
	return nil
}

// forgetLater takes out of a derived list the fields that early releases did not store.
func forgetLater(stored, derived any, names ...string) {
	was, _ := stored.([]any)
	list, _ := derived.([]any)
	for i := range min(len(was), len(list)) {
		old, _ := was[i].(map[string]any)
		item, _ := list[i].(map[string]any)
		for _, name := range names {
			if old[name] == nil {
				delete(item, name)
			}
		}
	}
}

// exactly reads an object with its numbers as they are written: some have more digits
// than a float64, and those count too.
func exactly(data []byte) (map[string]any, error) {
	if !json.Valid(data) {
		return nil, json.Unmarshal(data, new(any))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var object map[string]any
	err := d.Decode(&object)
	return object, err
}

// fields are the names of the fields of a result, in their order.
func fields() []string {
	var names []string
	t := reflect.TypeFor[Result]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func brief(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return clip.Text(string(data), 120)
}
