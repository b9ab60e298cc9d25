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
	Known   []string         // see [Question]
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
	q.Second, q.Known = w.Last, w.Known
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
	top := v.most()
	var leads []string
	for _, key := range slices.Sorted(maps.Keys(v.Voting.Votes)) {
		if v.Voting.Votes[key] == top {
			leads = append(leads, key)
		}
	}
	if leads == nil {
		return nil
	}
	return &Confirm{Leads: leads}
}

// most is how many votes an answer has that leads.
func (v *Verdict) most() int {
	top := 1
	for _, n := range v.Voting.Votes {
		top = max(top, n)
	}
	return top
}

// known are the keys of the answers with at least so many votes, if answers are compared by
// meaning.
func (v *Verdict) known(atLeast int) []string {
	if v == nil {
		return nil
	}
	var keys []string
	for _, c := range v.Candidates {
		if c.Key != "" && c.Votes >= atLeast {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// toOthers is how a question that has this verdict is put to others.
func (v *Verdict) toOthers(pool string) Way {
	w := Way{Model: pool, Confirm: v.ToConfirm()}
	if w.Confirm != nil {
		w.Known = v.known(v.most())
	}
	return w
}

// with is how voters stand who were asked the same question before, nil if they were not,
// and have not agreed again: all that they voted for.
func (v *Verdict) with(before *Verdict) *Verdict {
	if before == nil {
		return v
	}
	sum := &Verdict{Status: Undecided, Voting: before.Voting.With(v.Voting), Candidates: slices.Clone(before.Candidates)}
	for _, c := range v.Candidates {
		if i := slices.IndexFunc(sum.Candidates, func(known event.Candidate) bool { return c.Key != "" && known.Key == c.Key }); i >= 0 {
			sum.Candidates[i].Votes += c.Votes
		} else {
			sum.Candidates = append(sum.Candidates, c)
		}
	}
	return sum
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

	// Moves is how many calls were made so far: whoever is asked after one is asked
	// something else. It is nil where none are made.
	Moves func() int

	// Last is the last verdict, and Note what the log says about the next rung.
	Last func() *Verdict
	Note func(to Escalation) event.Escalated
}

// Climb tries in the usual way and then, while that settles nothing, in one configured
// way after another. The keys of what it tries begin with key.
func (l Ladder) Climb(f Flow, key string, c Climb) (bool, error) {
	var stand standing
	ok, err := c.Try(key, l.First())
	if !ok && err == nil {
		stand.take(&c)
	}
	for i, to := range l.Order {
		if ok || err != nil {
			break
		}
		next := key + "/" + string(to)
		var attempt func() (bool, error)
		switch {
		case c.May != nil && !c.May(to):
		case to == Diversity:
			way := Way{Diverse: true, Asked: c.Last().asked(), Known: stand.known(1), Last: l.secondIsNext(i + 1)}
			attempt = func() (bool, error) {
				ok, err := c.Try(next, way)
				if !ok && err == nil {
					stand.take(&c)
				}
				return ok, err
			}
		case to == Second && l.Model != "":
			way := stand.toOthers(l.Model)
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

// A standing is how the usual voters stand in a climb, however often they were asked: nil
// if they have voted for nothing that others could confirm.
type standing struct {
	*Verdict
	moves int // that were made before it
}

// take takes in what the usual voters came to, which settled nothing.
func (s *standing) take(c *Climb) {
	if c.Moves != nil {
		if n := c.Moves(); n != s.moves {
			*s = standing{moves: n}
		}
	}
	switch v := c.Last(); {
	case v == nil:
	case v.Status == Undecided:
		s.Verdict = v.with(s.Verdict)
	case v.Status == Decided || v.Answer != nil: // what they are for cannot be used
		s.Verdict = nil
	}
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
