package flow

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/maker-mdap/maker/event"
)

// An Escalation is what is done when voters do not agree.
type Escalation string

// The escalations.
const (
	Diversity Escalation = "diversity" // ask in framings that were not asked in yet, at a higher temperature
	Second    Escalation = "model"     // ask other voters, who must agree with those before
	Split     Escalation = "split"     // take apart what could not be settled as it is
	Person    Escalation = "person"    // ask the person
)

// A Way is how a question is put: as usual, or differently after an escalation.
type Way struct {
	Diverse bool
	Asked   map[string][]int // see [Question]
	Model   string           // instead of the usual one

	// Confirm is what those who are asked instead have to agree with, nil if nothing was
	// voted for.
	Confirm *Confirm

	// Last says that other voters are next if this comes to nothing.
	Last bool
}

const (
	diverseTemperature = 0.7 // at least, of voters who are asked again
	warmer             = 0.3 // than before
	warmest            = 1.0 // that all providers take
)

// Put changes a question into one that is put in this way. Voters who are to be diverse
// are not asked greedily.
func (w Way) Put(q *Question) {
	q.Second = w.Last
	if w.Model != "" {
		if w.Confirm != nil {
			c := *w.Confirm
			c.Model, q.Confirm = q.Model, &c
		}
		q.Model = w.Model
	}
	if !w.Diverse {
		return
	}
	warm := diverseTemperature
	if q.Temperature != nil {
		warm = max(warm, min(*q.Temperature+warmer, warmest), *q.Temperature)
	}
	q.FirstTemperature, q.Temperature, q.Asked = &warm, &warm, w.Asked
}

// ToConfirm is what others have to agree with if this is a verdict without agreement: the
// answers that lead. It is nil if there are none: then others are not asked to confirm
// anything but to answer.
func (v *Verdict) ToConfirm() *Confirm {
	if v == nil || v.Status != Undecided {
		return nil
	}
	c := &Confirm{}
	top := 1
	for _, n := range v.Voting.Votes {
		top = max(top, n)
	}
	for _, key := range slices.Sorted(maps.Keys(v.Voting.Votes)) {
		if v.Voting.Votes[key] == top {
			c.Leads = append(c.Leads, key)
		}
	}
	for _, a := range v.Candidates {
		if a.Key != "" && a.Votes == top {
			c.Keys = append(c.Keys, a.Key)
		}
	}
	if c.Leads == nil {
		return nil
	}
	return c
}

// asked are the framings in which each voter gave an answer.
func (v *Verdict) asked() map[string][]int {
	framings := map[string][]int{}
	for _, s := range v.Voting.Shares {
		framings[s.Voter] = append(framings[s.Voter], s.Framing)
	}
	return framings
}

// Why says why the question goes to others: its voters were capped, or others are thought
// to settle it for less.
func (v *Verdict) Why() string {
	switch {
	case v == nil || v.Status == Decided:
		return ""
	case v.Voting.GivenUp:
		return event.WhyPrice
	case v.Status == Undecided:
		return event.WhyCap
	}
	return string(v.Status)
}

// A Ladder is what is done, in this order, when voters do not agree. Model is who is
// asked then; if it is empty that is left out.
type Ladder struct {
	Order []Escalation
	Model string
}

// A Climb is one question, or several that belong together, to which an answer has to be
// found.
type Climb struct {
	// Try puts the question. It reports whether that settled it.
	Try func(key string, w Way) (bool, error)

	// Split and Person settle it otherwise; nil where that makes no sense.
	Split, Person func(key string) (bool, error)

	// May says whether an escalation makes sense now; nil means that each does.
	May func(to Escalation) bool

	// Last is the last verdict, and Note what the log says about the next rung.
	Last func() *Verdict
	Note func(to Escalation) event.Escalated
}

// Climb tries in the usual way and then, while that settles nothing, in one configured
// way after another. The keys of what it tries begin with key.
func (l Ladder) Climb(f Flow, key string, c Climb) (bool, error) {
	ok, err := c.Try(key, l.First())
	for i, to := range l.Order {
		if ok || err != nil {
			break
		}
		next := key + "/" + string(to)
		var attempt func() (bool, error)
		switch {
		case c.May != nil && !c.May(to):
		case to == Diversity:
			way := Way{Diverse: true, Asked: c.Last().asked(), Last: l.secondIsNext(i + 1)}
			attempt = func() (bool, error) { return c.Try(next, way) }
		case to == Second && l.Model != "":
			way := Way{Model: l.Model, Confirm: c.Last().ToConfirm()}
			attempt = func() (bool, error) { return c.Try(next, way) }
		case to == Split && c.Split != nil:
			attempt = func() (bool, error) { return c.Split(next) }
		case to == Person && c.Person != nil:
			attempt = func() (bool, error) { return c.Person(next) }
		}
		if attempt == nil {
			continue
		}
		note := c.Note(to)
		note.Why = c.Last().Why()
		f.Emit(next+"/escalated", note)
		ok, err = attempt()
	}
	return ok, err
}

// First is the way in which something is tried first.
func (l Ladder) First() Way { return Way{Last: l.secondIsNext(0)} }

// secondIsNext reports whether other voters are asked at a rung.
func (l Ladder) secondIsNext(i int) bool {
	return l.Model != "" && i < len(l.Order) && l.Order[i] == Second
}

// Unsettled is the question to the person about something that voters did not agree on. Its
// options are what they voted for, as far as option says what that comes to; the votes are in
// the same order.
func Unsettled(step int, text string, v event.Voting, option func(answer json.RawMessage) string) *HumanQuestion {
	q := &HumanQuestion{Step: step, Kind: event.ClarifyQuestion, Free: true, Text: text}
	var rest []event.Candidate
	offered := v.Answers
	v.Answers = nil
	for _, c := range offered {
		if text := option(c.Answer); text != "" && !slices.Contains(q.Options, text) {
			q.Options, v.Answers = append(q.Options, text), append(v.Answers, c)
		} else {
			rest = append(rest, c)
		}
	}
	v.Answers = append(v.Answers, rest...)
	q.Voting = &v
	return q
}

// A Whole is what could not be settled as it is, and is to be done in several steps.
type Whole struct {
	Step    int    // for the log
	Scope   string // the key of the step
	Task    string
	Fields  string              // that the result has
	Context string              // what those who could not settle it were told, and its parts are told too
	Images  []Image             // that they were shown
	Done    []event.NamedOutput // outputs that it refers to
	Why     string              // it could not be settled
}

// A SplitFunc does a whole in several steps. The verdict of the outcome has the result,
// or the reason why there is none.
type SplitFunc func(f Flow, key string, w Whole) (*Outcome, error)
