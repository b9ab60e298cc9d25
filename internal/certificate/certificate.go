// Package certificate says what a run proved.
//
// It has two parts that are never mixed. The votes say with which chance every answer that
// was taken is the likeliest one of its voters. Whether that one is true cannot follow from
// votes: exchange right and wrong on any set of steps, and all votes stay as they are. So
// the truth is a part of its own, about what was checked by other means; most often
// nothing was.
package certificate

import (
	"cmp"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/stats"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// A Certificate is what a run proved. Its fields are stable.
type Certificate struct {
	Run    string `json:"run"`
	Task   string `json:"task"`
	Status string `json:"status"`

	Says []string `json:"says"` // all of it in words

	Votes Votes `json:"votes"`
	Truth Truth `json:"truth"`

	Classes      []adaptive.Class `json:"classes"`
	NearTies     []Call           `json:"near_ties"`
	ClosestCalls []Call           `json:"closest_calls"`
	Assumptions  []string         `json:"assumptions"`

	// LogHash is the SHA-256 of the log that this was read from.
	LogHash string `json:"log_hash"`
}

// A Summary is the short form of a certificate.
type Summary struct {
	Votes Votes `json:"votes"`
	Truth Truth `json:"truth"`
}

// Votes is what the votes prove, given that samples of a step are independent.
type Votes struct {
	Bound         float64 `json:"bound"`          // the chance that every answer is its voters' likeliest, at least; 0 if nothing was voted on
	ExpectedWrong float64 `json:"expected_wrong"` // answers that are not
	Races         int     `json:"races"`          // with two votes or more
	Undecided     int     `json:"undecided"`      // of these
	Unvoted       int     `json:"unvoted"`        // answers of a single sample, about which votes say nothing

	// Confirmed are the answers on which two pools agree: the one that was split over it
	// led with what the other one decided for.
	Confirmed int `json:"confirmed,omitempty"`

	// Futile is why the run found that more votes will not make it right, if it did.
	Futile *adaptive.Futility `json:"futile,omitempty"`
}

// The bases of what is known about the truth.
const (
	BasisNone  = "none"
	BasisCheck = "check" // code that knows the right answer
	BasisGold  = "gold"  // questions with known answers among the others
)

// Truth is what is known about whether the answers are right.
type Truth struct {
	Basis   string `json:"basis"`
	Checked int    `json:"checked,omitempty"` // steps that code looked at, or known answers
	Wrong   int    `json:"wrong,omitempty"`   // of these
	Last    bool   `json:"last,omitempty"`    // only the last output was looked at

	// Most is the share of wrong answers that known answers leave possible, at most, in 95
	// of 100 measurements.
	Most float64 `json:"most,omitempty"`
}

// Gold is what known answers say: so many of them were answered wrongly.
func Gold(wrong, known int) Truth {
	return Truth{Basis: BasisGold, Checked: known, Wrong: wrong, Most: stats.Most(wrong, known)}
}

// A Call is a race that is worth a look.
type Call struct {
	Step     int     `json:"step"`
	Question string  `json:"question,omitempty"`
	Class    string  `json:"class"`
	Lead     int     `json:"lead"`
	Second   int     `json:"second"`
	Decided  bool    `json:"decided"`
	Races    int     `json:"races"` // that ended alike, this one included
	Wrong    float64 `json:"wrong"` // the chance that the leader is not the likeliest answer
	NearTie  float64 `json:"near_tie"`
}

// MostCalls is how many calls a certificate lists of a kind.
const MostCalls = 10

// A Race is how a question was decided, or not.
type Race struct {
	Class    string
	Step     int
	Question string
	adaptive.Cell
	Decided bool
}

// Evidence is how the races of a run ended, in the order of its log.
type Evidence struct {
	policy  *adaptive.Policy
	unvoted int
	agreed  int // answers that a second pool confirmed
	futile  *adaptive.Futility
	calls   []Call // the first of each kind
	kinds   map[callKind]int
}

type callKind struct {
	class   string
	cell    adaptive.Cell
	decided bool
}

// New returns the evidence of a run that goes by such options, or would.
func New(o adaptive.Options) *Evidence {
	return &Evidence{policy: adaptive.New(o), kinds: map[callKind]int{}}
}

// CellOf is how votes ended.
func CellOf(votes map[string]int) adaptive.Cell {
	var c adaptive.Cell
	for _, n := range votes {
		n = min(n, vote.MostSamples) // no log of ours has more
		if n > c.Lead {
			c.Lead, c.Second = n, c.Lead
		} else {
			c.Second = max(c.Second, n)
		}
	}
	return c
}

// Add takes in a race. One without votes says nothing.
func (e *Evidence) Add(r Race) {
	switch votes := r.Lead + r.Second; {
	case votes == 0:
		return
	case votes == 1 && r.Decided:
		e.unvoted++
		return
	}
	if _, ok := e.policy.Now(r.Class); !ok {
		e.policy.Start(r.Class)
	}
	e.policy.Count(r.Class, r.Cell, r.Decided)
	kind := callKind{r.Class, r.Cell, r.Decided}
	i, ok := e.kinds[kind]
	if !ok {
		i = len(e.calls)
		e.kinds[kind] = i
		e.calls = append(e.calls, Call{Step: r.Step, Question: r.Question, Class: r.Class, Lead: r.Lead, Second: r.Second, Decided: r.Decided})
	}
	e.calls[i].Races++
}

// Voted takes in the votes of an event.
func (e *Evidence) Voted(class string, step int, question string, v event.Voting, decided bool) {
	e.Add(Race{Class: class, Step: step, Question: question, Cell: CellOf(v.Votes), Decided: decided})
}

// Confirmed takes in that the last race was that of a second pool, which agrees with those
// who were split before.
func (e *Evidence) Confirmed() { e.agreed++ }

// Futile takes in why the run found more votes to be of no use; nil says nothing.
func (e *Evidence) Futile(why *adaptive.Futility) { e.futile = cmp.Or(why, e.futile) }

// Votes sums up what they prove.
func (e *Evidence) Votes() Votes {
	c := e.policy.Claim()
	v := Votes{Bound: c.Bound, ExpectedWrong: c.ExpectedWrong, Races: c.Races, Undecided: c.Undecided, Unvoted: e.unvoted, Confirmed: e.agreed, Futile: e.futile}
	if v.Races == v.Undecided {
		v.Bound = 0 // no answer was voted for
	}
	return v
}

// Learnt is what the run leaves to later ones, by class.
func (e *Evidence) Learnt() map[string]adaptive.Learnt {
	learnt := map[string]adaptive.Learnt{}
	for _, c := range e.policy.Classes() {
		learnt[c.Class] = e.policy.Learnt(c.Class)
	}
	return learnt
}

// Certify makes the certificate of what has been taken in. It takes in no more afterwards.
func (e *Evidence) Certify(truth Truth) *Certificate {
	c := &Certificate{Votes: e.Votes(), Truth: truth, Classes: e.policy.Classes(), Assumptions: assumptions}
	e.policy.Settle()
	calls := slices.Clone(e.calls)
	for i := range calls {
		k := &calls[i]
		k.Wrong, k.NearTie = e.policy.Doubt(k.Class, adaptive.Cell{Lead: k.Lead, Second: k.Second}, k.Decided)
	}
	c.NearTies = first(calls, func(k Call) bool { return k.Second > 0 && k.NearTie > .5 }, func(k Call) float64 { return k.NearTie })
	c.ClosestCalls = first(calls, func(k Call) bool { return k.Decided }, func(k Call) float64 { return k.Wrong })
	if c.Classes == nil {
		c.Classes = []adaptive.Class{}
	}
	c.Says = c.words()
	return c
}

// first are the calls that are meant, the largest first.
func first(calls []Call, meant func(Call) bool, size func(Call) float64) []Call {
	list := []Call{}
	for _, k := range calls {
		if meant(k) {
			list = append(list, k)
		}
	}
	slices.SortStableFunc(list, func(a, b Call) int { return cmp.Compare(size(b), size(a)) })
	return list[:min(len(list), MostCalls)]
}
