package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// reader is a history of somebody who does not go on with the run.
func reader(dir string, report *Report, audit *Audit) *History {
	h := New(dir)
	h.bare, h.report, h.audit = true, report, audit
	return h
}

// passesOver reports whether nobody needs what the lines of a type say.
func (h *History) passesOver(t event.Type) bool {
	if !h.bare || h.audit != nil {
		return false
	}
	switch t {
	case event.TypeSampleCompleted, event.TypeSampleRedFlagged, event.TypeSampleFaulted:
		if h.report != nil {
			h.report.note(nil)
		}
		return true
	}
	return false
}

// read feeds a history with the log in dir.
func (h *History) read() error {
	for line, err := range runlog.Read(h.dir) {
		if err == nil {
			err = h.Visit(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadWaiting returns the questions of the run in dir that no person has answered yet.
func ReadWaiting(dir string) ([]event.ClarificationRequested, error) {
	h := reader(dir, nil, nil)
	err := h.read()
	return h.Waiting, err
}

// ReadAnswer returns what a person answered to a question of the run in dir; nil if
// nobody has.
func ReadAnswer(dir, key string) (*flow.Answer, error) {
	h := reader(dir, nil, nil)
	h.asksFor = key
	err := h.read()
	return h.Answers[key], err
}

// An Outlook is what a resume of a run would do.
type Outlook struct {
	// Further says that it could come further than the session before. It could not
	// where nothing would be done or asked again, whatever has changed since.
	Further bool

	// AsksAgain says that the person would be asked again about a call that the person
	// has refused.
	AsksAgain bool
}

// ReadOutlook tells what a resume of the run in dir would do.
func ReadOutlook(dir string) (Outlook, error) {
	h := reader(dir, nil, nil)
	if err := h.read(); err != nil {
		return Outlook{}, err
	}
	switch end := h.End.(type) {
	case nil:
		return Outlook{Further: true}, nil // it crashed, or is under way
	case event.TaskFailed:
		return Outlook{Further: !end.Wrong && !end.Final, AsksAgain: len(h.Reopened) > 0}, nil
	}
	return Outlook{}, nil
}

// Glance reports what the first and the last events of the run in dir say. It has no
// steps and no effects.
func Glance(dir string) (*Report, error) {
	r, updated, err := ends(dir)
	if err == nil {
		r.Updated = updated
		r.finish()
	}
	return r, err
}

// ends is a report that has seen the first and the last events, and when the last was.
func ends(dir string) (*Report, time.Time, error) {
	r := &Report{}
	h := reader(dir, r, nil)
	for line, err := range runlog.Read(dir) {
		if err == nil {
			err = h.Visit(line)
		}
		if err != nil {
			return nil, time.Time{}, err
		}
		break
	}
	if !r.begun {
		return nil, time.Time{}, fmt.Errorf("the run log in %s is empty: the run never started", dir)
	}
	last, err := runlog.Tail(dir, maxEnds)
	if err == nil && len(last) > 0 && !isEnd(last[len(last)-1].Event) { // what it has spent is said further up
		last, err = runlog.Tail(dir, lookBack)
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	r.ends = nil
	h = New(dir)
	for _, rec := range last {
		h.take(rec)
	}
	if h.Spent.Calls > 0 {
		r.spent(h.Spent)
	}
	var updated time.Time
	for _, rec := range last {
		r.note(rec.Event)
		updated = rec.Time
	}
	return r, updated, nil
}

// lookBack is how many events of a run that goes on are looked at for what it has spent.
const lookBack = 64

func isEnd(e event.Event) bool {
	return e.Type() == event.TypeTaskCompleted || e.Type() == event.TypeTaskFailed
}

// ReadReport reports what came of the run in dir. Of a chain the index has what is
// counted; without it, and of other runs, the whole log is read.
func ReadReport(dir string) (*Report, error) {
	r, _, err := ends(dir)
	if err != nil {
		return nil, err
	}
	if (r.Form == event.FormChain || r.Form == event.FormRecords && r.endedWell()) && r.byStep && !r.pool { // the index does not tell voters apart
		if x, err := runlog.OpenIndex(dir); err == nil {
			err := r.countIndexed(x)
			x.Close()
			if err == nil {
				r.finish()
				r.takeKnown()
				return r, nil
			}
		}
	}
	// Everything but the log can be lost or damaged.
	r = &Report{}
	h := reader(dir, r, nil)
	if err := h.read(); err != nil {
		return nil, err
	}
	r.finish()
	r.goesOn(h)
	return r, nil
}

// ReadEffects returns the calls of one step of the run in dir, however many the other steps
// made.
func ReadEffects(dir string, step int) ([]Effect, error) {
	h, r := reader(dir, nil, nil), &Report{}
	for line, err := range runlog.Read(dir) {
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(string(line.Type), "effect_") {
			continue
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, h.damaged(line, err.Error())
		}
		h.Effects.Take(rec.Event)
		switch e := rec.Event.(type) { // the others are about calls that one of these listed
		case event.EffectClaimed:
			if e.Step != step {
				continue
			}
		case event.EffectRefused:
			if e.Step != step {
				continue
			}
		}
		r.takeEffect(h.Effects, rec.Event)
	}
	return r.Effects, nil
}

// goesOn takes how a run stands that has not ended: its last event need not say that.
func (r *Report) goesOn(h *History) {
	if h.End == nil && h.Spent.Calls > 0 {
		r.spent(h.Spent)
	}
	r.Waiting = len(h.Waiting) > 0
}

// endedWell reports whether all steps of the run are in its index: none was given up.
func (r *Report) endedWell() bool {
	return len(r.ends) > 0 && r.ends[len(r.ends)-1] != nil && r.ends[len(r.ends)-1].Type() == event.TypeTaskCompleted
}

// takeKnown takes what a run over records said at its end about known answers, which the index
// does not have.
func (r *Report) takeKnown() {
	if r.Form == event.FormRecords {
		var said struct{ Known, Right int }
		_ = json.Unmarshal(r.Output.JSON, &said) // what it does not say is not known
		r.Known, r.Right = said.Known, said.Right
	}
}

// countIndexed adds the steps that an index has, and reads those that may be listed.
func (r *Report) countIndexed(x *runlog.Index) error {
	all := x.Len() <= MaxListed
	for s, err := range x.All() {
		if err != nil {
			return err
		}
		last := r.Committed == x.Len()-1
		counted := r.countIndexedRace(s)
		if last || all || s.Answers > 1 && len(r.contested) < MaxListed || !counted {
			e, err := x.Event(s)
			if err != nil {
				return err
			}
			if !counted {
				r.countRaces(e)
			}
			if all || last || len(r.contested) < MaxListed {
				r.count(e)
				continue
			}
		}
		r.Voting.add(s.Samples, s.RedFlagged, s.Faults, s.Answers)
		r.Voting.won(s.Margin)
		r.Committed++
	}
	return nil
}

// ReadAudit reads the whole log in dir and nothing else of the run, holds it against
// itself and reports what came of the run.
func ReadAudit(dir string, chains Chains) (*Report, *Audit, error) {
	r, a := &Report{}, newAudit(chains)
	h := reader(dir, r, a)
	if err := h.read(); err != nil {
		return nil, nil, err
	}
	if !r.begun {
		return nil, nil, fmt.Errorf("the run log in %s is empty: the run never started", dir)
	}
	r.finish()
	r.goesOn(h)
	a.finish(r)
	return r, a, nil
}
