package history

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/vote"
)

// A Framings book counts how framings do, and knows those that are retired. What it says
// follows from the events that it was told, in their order: so a resume and a replay
// come to the same as the run.
type Framings struct {
	pages map[framingsOf]*framings
}

// framingsOf is whose framings are compared: those of a class of questions, by voter.
type framingsOf struct{ class, voter string }

type framings struct {
	records []vote.Record // by framing, from 1
	retired []int
}

func (f *Framings) page(class, voter string) *framings {
	key := framingsOf{class, voter}
	if f.pages == nil {
		f.pages = map[framingsOf]*framings{}
	}
	if f.pages[key] == nil {
		f.pages[key] = &framings{}
	}
	return f.pages[key]
}

// Retired are the framings in which a voter is not asked any more.
func (f *Framings) Retired(class, voter string) []int {
	if p := f.pages[framingsOf{class, voter}]; p != nil {
		return slices.Clone(p.retired)
	}
	return nil
}

// AllRetired are the framings in which voters are not asked any more, by class and voter.
func (f *Framings) AllRetired() map[string]map[string][]int {
	var all map[string]map[string][]int
	for of, p := range f.pages {
		if len(p.retired) == 0 {
			continue
		}
		if all == nil {
			all = map[string]map[string][]int{}
		}
		if all[of.class] == nil {
			all[of.class] = map[string][]int{}
		}
		all[of.class][of.voter] = slices.Clone(p.retired)
	}
	return all
}

// Count adds what a vote says about framings. It returns those that are now to be retired.
func (f *Framings) Count(class string, shares []event.Share) []event.FramingRetired {
	var voters []string
	for _, s := range shares {
		if s.Framing < 1 || s.Framing > maxFraming {
			continue
		}
		p := f.page(class, s.Voter)
		for len(p.records) < s.Framing {
			p.records = append(p.records, vote.Record{})
		}
		p.records[s.Framing-1].Samples += s.Record().Samples
		p.records[s.Framing-1].Bad += s.Record().Bad
		if !slices.Contains(voters, s.Voter) {
			voters = append(voters, s.Voter)
		}
	}
	var due []event.FramingRetired
	for _, voter := range voters {
		if e, ok := f.page(class, voter).worse(); ok {
			e.Class, e.Voter = class, voter
			due = append(due, e)
		}
	}
	return due
}

// maxFraming bounds what is taken from a log.
const maxFraming = 1000

// worse is the framing that is clearly worse than the others that are left.
func (p *framings) worse() (event.FramingRetired, bool) {
	var left []int
	var records []vote.Record
	for i, r := range p.records {
		if !slices.Contains(p.retired, i+1) {
			left, records = append(left, i+1), append(records, r)
		}
	}
	at := vote.Worse(records)
	if at < 0 {
		return event.FramingRetired{}, false
	}
	e := event.FramingRetired{Framing: left[at], Own: records[at]}
	for i, r := range records {
		if i != at {
			e.Others.Samples += r.Samples
			e.Others.Bad += r.Bad
		}
	}
	return e, true
}

// Retire takes a framing out.
func (f *Framings) Retire(e event.FramingRetired) {
	p := f.page(e.Class, e.Voter)
	if !slices.Contains(p.retired, e.Framing) {
		p.retired = append(p.retired, e.Framing)
	}
}

// Due are the framings that should be retired and are not: those of a session that was
// killed between the vote and the event.
func (f *Framings) Due() []event.FramingRetired {
	var due []event.FramingRetired
	for key, p := range f.pages {
		if e, ok := p.worse(); ok {
			e.Class, e.Voter = key.class, key.voter
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b event.FramingRetired) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Voter, b.Voter))
	})
	return due
}

// countVotes counts what an event says about framings.
func (h *History) countVotes(e event.Event) {
	switch e := e.(type) {
	case event.StepCompleted:
		if h.Submitted.ByStep() {
			h.Framings.Count("", e.Voting.Shares)
		}
	case event.StepFailed:
		if h.records && h.Submitted.ByStep() {
			h.Framings.Count("", e.Voting.Shares)
		}
	case event.VoteCompleted:
		if !h.Submitted.ByStep() {
			h.Framings.Count(e.Class, e.Voting.Shares)
		}
	}
}

// countShares counts what a step of a chain says about framings. Most chains have none.
func (h *History) countShares(l runlog.Line) error {
	if !bytes.Contains(l.Raw, []byte(`"shares":`)) {
		return nil
	}
	rec, err := l.Decode()
	if err != nil {
		return h.damaged(l, err.Error())
	}
	if e, ok := rec.Event.(event.StepCompleted); ok {
		h.Framings.Count("", e.Voting.Shares)
	}
	return nil
}
