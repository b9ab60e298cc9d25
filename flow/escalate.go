package flow

import "github.com/maker-mdap/maker/event"

// An Escalation is what is done when voters do not agree.
type Escalation string

// The escalations.
const (
	Diversity Escalation = "diversity" // ask in framings that were not asked in yet, at a higher temperature
	Stronger  Escalation = "model"     // ask another model
	Split     Escalation = "split"     // take apart what could not be settled as it is
	Person    Escalation = "person"    // ask the person
)

// A Way is how a question is put: as usual, or differently after an escalation.
type Way struct {
	Diverse bool
	Asked   int    // samples that the question took before, which had the first framings
	Model   string // instead of the usual one
}

const (
	diverseTemperature = 0.7 // at least, of voters who are asked again
	warmer             = 0.3 // than before
	warmest            = 1.0 // that all providers take
)

// Put changes a question into one that is put in this way. Voters who are to be diverse
// are not asked greedily.
func (w Way) Put(q *Question) {
	if w.Model != "" {
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

	// Asked is how many samples were taken last, and Note what the log says about the
	// next rung.
	Asked func() int
	Note  func(to Escalation) event.Escalated
}

// Climb tries in the usual way and then, while that settles nothing, in one configured
// way after another. The keys of what it tries begin with key.
func (l Ladder) Climb(f Flow, key string, c Climb) (bool, error) {
	ok, err := c.Try(key, Way{})
	for _, to := range l.Order {
		if ok || err != nil {
			break
		}
		next := key + "/" + string(to)
		var attempt func() (bool, error)
		switch {
		case c.May != nil && !c.May(to):
		case to == Diversity:
			way := Way{Diverse: true, Asked: c.Asked()}
			attempt = func() (bool, error) { return c.Try(next, way) }
		case to == Stronger && l.Model != "":
			attempt = func() (bool, error) { return c.Try(next, Way{Model: l.Model}) }
		case to == Split && c.Split != nil:
			attempt = func() (bool, error) { return c.Split(next) }
		case to == Person && c.Person != nil:
			attempt = func() (bool, error) { return c.Person(next) }
		}
		if attempt == nil {
			continue
		}
		f.Emit(next+"/escalated", c.Note(to))
		ok, err = attempt()
	}
	return ok, err
}

// A Whole is what could not be settled as it is, and is to be done in several steps.
type Whole struct {
	Step   int    // for the log
	Scope  string // the key of the step
	Task   string
	Fields string              // that the result has
	Done   []event.NamedOutput // outputs that it refers to
	Why    string              // it could not be settled
}

// A SplitFunc does a whole in several steps. The verdict of the outcome has the result,
// or the reason why there is none.
type SplitFunc func(f Flow, key string, w Whole) (*Outcome, error)
