package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// countRaces takes in how races ended. In a chain the steps say it, and where there is one
// question about each record; elsewhere the votes: a step's own are only those of its
// closest decision.
func (r *Report) countRaces(e event.Event) {
	switch e := e.(type) {
	case event.StepCompleted:
		if r.byStep {
			if delete(r.givenUp, e.Step); e.First != nil {
				r.Evidence.Voted(cmp.Or(e.Class, r.class), e.Step, "", *e.First, false)
				if len(e.First.Votes) > 0 {
					r.Evidence.Confirmed()
				}
			}
			r.Evidence.Voted(stepClass(r.class, &e), e.Step, "", e.Voting, true)
		}
	case event.StepFailed:
		if r.byStep && r.Form.Apart() {
			if r.givenUp == nil {
				r.givenUp = map[int]race{}
			}
			r.givenUp[e.Step] = race{e.Pool, e.Voting} // unless it is asked about again
		}
	case event.PolicyFutile:
		r.Evidence.Futile(&e.Futility)
	case event.VoteCompleted:
		if !r.byStep && !IsCalibration(e.Question) {
			decided := e.Status == string(flow.Decided)
			if r.Form.Apart() {
				if delete(r.unsure, e.Question); !decided {
					if r.unsure == nil {
						r.unsure = map[string]event.VoteCompleted{}
					}
					r.unsure[e.Question] = e // unless it is asked again
					return
				}
			}
			r.Evidence.Voted(adaptive.ClassOf(e.Class, e.Pool), e.Step, e.Question, e.Voting, decided)
			if decided && len(e.Leads) > 0 {
				r.Evidence.Confirmed()
			}
		}
	}
}

// A race is how those voted whom a record was put to; the pool is empty for the run's own.
type race struct {
	pool   string
	voting event.Voting
}

// countIndexedRace takes in a step of a chain as the index has it, unless that does not
// tell what the runner-up had.
func (r *Report) countIndexedRace(s runlog.Step) bool {
	votes := s.Samples - s.RedFlagged
	if s.Special || s.Answers > 2 || (votes+s.Margin)%2 != 0 && s.Answers == 2 {
		return false
	}
	c := adaptive.Cell{Lead: votes}
	if s.Answers == 2 {
		c = adaptive.Cell{Lead: (votes + s.Margin) / 2, Second: (votes - s.Margin) / 2}
	}
	r.Evidence.Add(certificate.Race{Class: r.class, Step: s.Step, Cell: c, Decided: true})
	return true
}

// finishRaces takes in the step without a winner that ended a chain, and the records that
// have none.
func (r *Report) finishRaces() {
	for _, n := range slices.Sorted(maps.Keys(r.givenUp)) {
		lost := r.givenUp[n]
		r.Evidence.Voted(adaptive.ClassOf(r.class, lost.pool), n, "", lost.voting, false)
	}
	for _, question := range slices.Sorted(maps.Keys(r.unsure)) {
		e := r.unsure[question]
		r.Evidence.Voted(adaptive.ClassOf(e.Class, e.Pool), e.Step, question, e.Voting, false)
	}
	if f := r.Failed; f != nil && r.Form == event.FormChain {
		r.Evidence.Voted(r.class, f.Step, "", f.Voting, false)
	}
}

// Truth is what is known about whether the answers of the run are right. Checks, if not
// empty, is what the family's checks are worth, for a log that does not say so.
func (r *Report) Truth(checks string) certificate.Truth {
	if r.Known > 0 {
		return certificate.Gold(r.Known-r.Right, r.Known)
	}
	if s := r.Solve; s != nil && s.Calibrated != nil && s.Calibrated.Measured != nil {
		wrong, known := 0, 0
		for _, c := range s.Calibrated.Measured.Cells {
			if c.Valid > 0 {
				known += c.Items
				if 2*c.Right <= c.Valid {
					wrong += c.Items
				}
			}
		}
		return certificate.Gold(wrong, known)
	}
	t := certificate.Truth{Basis: certificate.BasisCheck, Checked: r.Committed}
	if r.Wrong {
		t.Wrong = 1
	}
	switch checks = cmp.Or(r.Checks, checks); {
	case checks == event.ChecksSteps && r.Committed > 0, r.Wrong:
		return t
	case checks == event.ChecksLast && r.Status == event.StatusCompleted:
		t.Checked, t.Last = 1, true
		return t
	}
	return certificate.Truth{Basis: certificate.BasisNone}
}

// ReadEvidence reads the whole log in dir and reports what came of the run, and the
// SHA-256 of what was read.
func ReadEvidence(dir string) (*Report, string, error) {
	r, sum := &Report{}, sha256.New()
	h := reader(dir, r, nil)
	for line, err := range runlog.Read(dir) {
		if err == nil {
			sum.Write(line.Raw)
			sum.Write([]byte("\n"))
			err = h.Visit(line)
		}
		if err != nil {
			return nil, "", err
		}
	}
	if !r.begun {
		return nil, "", fmt.Errorf("the run log in %s is empty: the run never started", dir)
	}
	r.finish()
	return r, hex.EncodeToString(sum.Sum(nil)), nil
}
