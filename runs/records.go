package runs

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/records"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// A RecordResult is a record of a table and what came of it.
type RecordResult struct {
	Number int            // from 0; those that were mixed in are counted
	Line   int            // of the file that it came from
	Values map[string]any // by column

	Status  string      // decided, undecided, flagged_out or failed; empty if it was not asked about yet
	Reason  string      // why there is no answer
	Output  event.Value // the answer; of several, those that are decided
	Voting  event.Voting
	CostUSD *float64 // where it is known
	Right   *bool    // whether the answer is the known one, where there is one
	Same    bool     // an earlier record with the same questions was asked about in its place
}

// Records yields the records of a run of maker map with what came of each, in the order in
// which they were read, but for those that were mixed in. All of it is in the folder of the
// run.
func (r *Run) Records() iter.Seq2[RecordResult, error] {
	return func(yield func(RecordResult, error) bool) {
		if r.Form() != event.FormRecords {
			yield(RecordResult{}, fmt.Errorf("runs: %s is about no records", r.ID()))
			return
		}
		if err := r.eachRecord(func(result RecordResult) bool { return yield(result, nil) }); err != nil {
			yield(RecordResult{}, err)
		}
	}
}

// place is where a line of the log is.
type place struct {
	offset int64
	length int
}

// outcomes finds the last event about each record, in one pass over the log behind one
// over those that were given up: the events come in about the order of the records, so
// that few places have to be remembered.
type outcomes struct {
	dir    string
	log    *os.File
	last   map[int]int64 // where the last event about a record that was given up is
	next   func() (runlog.Line, error, bool)
	stop   func()
	places map[int]place // of events that came before their turn
}

func newOutcomes(dir string) (*outcomes, error) {
	log, err := os.Open(filepath.Join(dir, runlog.EventsFile))
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	o := &outcomes{dir: dir, log: log, last: map[int]int64{}, places: map[int]place{}}
	for line, err := range runlog.Read(dir) {
		if err != nil {
			o.close()
			return nil, err
		}
		switch line.Type {
		case event.TypeStepFailed:
			if n, _, err := o.decode(line.Raw); err == nil {
				o.last[n] = line.Offset
			}
		case event.TypeStepCompleted:
			if len(o.last) > 0 {
				if n, _, err := o.decode(line.Raw); err == nil && o.last[n] > 0 {
					o.last[n] = line.Offset
				}
			}
		}
	}
	o.next, o.stop = iter.Pull2(runlog.Read(dir))
	return o, nil
}

func (o *outcomes) close() {
	if o.stop != nil {
		o.stop()
	}
	_ = o.log.Close() // it was only read
}

// decode reads an event about a record.
func (o *outcomes) decode(line []byte) (int, RecordResult, error) {
	rec, err := event.Decode(line)
	if err != nil {
		return 0, RecordResult{}, err
	}
	switch e := rec.Event.(type) {
	case event.StepCompleted:
		all, _ := e.Taken()
		return e.Step, RecordResult{Status: string(flow.Decided), Output: e.Output, Voting: all, CostUSD: e.CostUSD, Right: e.Right}, nil
	case event.StepFailed:
		return e.Step, RecordResult{Status: e.Status, Reason: e.Reason, Output: e.Output, Voting: e.Voting, CostUSD: e.CostUSD}, nil
	}
	return 0, RecordResult{}, fmt.Errorf("runs: %s is not about a record", rec.Event.Type())
}

// of is what came of a record; the numbers ask for grow.
func (o *outcomes) of(n int) (RecordResult, error) {
	if p, ok := o.places[n]; ok {
		delete(o.places, n)
		line := make([]byte, p.length)
		if _, err := o.log.ReadAt(line, p.offset); err != nil {
			return RecordResult{}, fmt.Errorf("runs: %w", err)
		}
		_, result, err := o.decode(line)
		return result, err
	}
	for {
		line, err, ok := o.next()
		if !ok {
			return RecordResult{}, nil
		}
		if err != nil {
			return RecordResult{}, err
		}
		if line.Type != event.TypeStepCompleted && line.Type != event.TypeStepFailed {
			continue
		}
		step, result, err := o.decode(line.Raw)
		if err != nil {
			return RecordResult{}, err
		}
		if at, gaveUp := o.last[step]; gaveUp && at != line.Offset {
			continue
		}
		if step == n {
			return result, nil
		}
		o.places[step] = place{line.Offset, len(line.Raw)}
	}
}

func (r *Run) eachRecord(yield func(RecordResult) bool) error {
	p, err := r.RecordParams()
	if err == nil {
		err = r.checkRecords()
	}
	if err != nil {
		return err
	}
	path := filepath.Join(r.dir, records.File)
	stands := map[int]*RecordResult{} // for others, by number
	if p.Same > 0 {
		if stands, err = standIns(path); err != nil {
			return err
		}
	}
	o, err := newOutcomes(r.dir)
	if err != nil {
		return err
	}
	defer o.close()
	n := -1
	for record, err := range records.All(path) {
		if err != nil {
			return err
		}
		if n++; record.Mixed {
			continue
		}
		var result RecordResult
		if record.Same != nil {
			if was := stands[*record.Same]; was != nil {
				result = *was
			}
			result.Same, result.CostUSD = true, nil
		} else {
			if result, err = o.of(n); err == nil && result.Output.Ref != nil {
				result.Output, err = r.Load(result.Output)
			}
			if err != nil {
				return err
			}
			if _, ok := stands[n]; ok {
				stands[n] = &result
			}
		}
		result.Number, result.Line, result.Values = n, record.Line, record.Values
		if !yield(result) {
			return nil
		}
	}
	return nil
}

// checkRecords reports whether the records of a run are those that its log is about.
func (r *Run) checkRecords() error {
	var s records.Summary
	if err := json.Unmarshal(r.task.Params, &s); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	return records.Check(filepath.Join(r.dir, records.File), s)
}

// standIns are the records that others are the same as.
func standIns(path string) (map[int]*RecordResult, error) {
	all := map[int]*RecordResult{}
	for record, err := range records.All(path) {
		if err != nil {
			return nil, err
		}
		if record.Same != nil {
			all[*record.Same] = nil
		}
	}
	return all, nil
}

// RecordParams are what the log of a run of maker map says about its records and its
// questions.
type RecordParams struct {
	Source    string   `json:"source"`
	Records   int      `json:"records"`
	Columns   []string `json:"columns"` // as they were read
	Same      int      `json:"same"`
	Dedupe    bool     `json:"dedupe"` // the same ones are asked about once
	Mixed     int      `json:"mixed"`  // of Records: known ones that were mixed in
	Of        int      `json:"of"`     // records that these were chosen from, if they are a sample
	Questions []struct {
		Name string `json:"name"`
		Gold string `json:"gold"`
	} `json:"questions"`
}

// RecordParams reads what a run of maker map is about.
func (r *Run) RecordParams() (*RecordParams, error) {
	if r.Form() != event.FormRecords {
		return nil, fmt.Errorf("runs: %s is about no records", r.ID())
	}
	var p RecordParams
	if err := json.Unmarshal(r.task.Params, &p); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	return &p, nil
}

// RecordCounts are how the records of a run ended.
type RecordCounts struct {
	Records   int `json:"records"`
	Decided   int `json:"decided"`
	Undecided int `json:"undecided"`
	Failed    int `json:"failed"`
	Same      int `json:"same"`
	Known     int `json:"known"` // with a known answer
	Right     int `json:"right"` // of these
}

// Records are how the records of a run of maker map ended; nil if it has not come to an end
// or is about none.
func (r *Result) Records() *RecordCounts {
	var c RecordCounts
	if r.Form != event.FormRecords || len(r.Output.JSON) == 0 || json.Unmarshal(r.Output.JSON, &c) != nil || c.Records == 0 {
		return nil
	}
	return &c
}
