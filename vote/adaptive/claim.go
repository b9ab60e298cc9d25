package adaptive

import (
	"fmt"
	"math"
)

// Factor is how many times the wrong steps that are expected are allowed for in what is
// published. In simulations of many kinds the truth was at most 1.3 times what was
// expected.
const Factor = 1.5

// A Claim is what the votes of a run prove: with which chance each answer that was taken is
// the likeliest one of its voters, given that samples of a step are independent.
type Claim struct {
	Races         int     `json:"races"`
	Undecided     int     `json:"undecided"`
	ExpectedWrong float64 `json:"expected_wrong"`
	Bound         float64 `json:"bound"`
}

// Claim sums up what has been seen so far.
func (p *Policy) Claim() Claim {
	var sum Claim
	for _, c := range p.classes {
		for i, e := range c.epochs {
			sum.add(e.claim(i == len(c.epochs)-1))
		}
	}
	return sum.bounded()
}

func (c *Claim) add(o Claim) {
	c.Races += o.Races
	c.Undecided += o.Undecided
	c.ExpectedWrong += o.ExpectedWrong
}

func (c Claim) bounded() Claim {
	c.Bound = max(0, 1-Factor*c.ExpectedWrong)
	return c
}

// claim sums up an epoch. That which goes on is fitted to all that has been seen.
func (e *epoch) claim(open bool) Claim {
	b := e.belief
	if open {
		b.fit()
	}
	var sum Claim
	for i := range b.list {
		s := &b.list[i]
		sum.Races += s.races
		sum.Undecided += s.races - s.committed
		if s.committed > 0 {
			sum.ExpectedWrong += float64(s.committed) * b.wrong(s)
		}
	}
	return sum
}

// An Outlook is how a run stands and how it is thought to end.
type Outlook struct {
	Bound         float64 `json:"bound"`          // the chance that each answer so far is the likeliest one, at least
	Forecast      float64 `json:"forecast"`       // the same at the end
	ExpectedWrong float64 `json:"expected_wrong"` // so far
	VotesToCome   int     `json:"votes_to_come"`  // until the end
	Dearest       string  `json:"dearest"`        // the class that takes most votes

	// USDToCome is what the votes to come are thought to cost, nil if that is not known: see
	// [Outlook.Priced].
	USDToCome *float64 `json:"usd_to_come"`
}

// Priced is the outlook with what the votes to come will cost if their calls cost what those
// so far did; nil is a sum that is not known.
func (o Outlook) Priced(usd *float64, calls int64) Outlook {
	o.USDToCome = nil
	if usd != nil && calls > 0 && o.VotesToCome > 0 {
		rest := *usd / float64(calls) * float64(o.VotesToCome)
		o.USDToCome = &rest
	}
	return o
}

// Outlook sums up what was believed when margins were last decided.
func (p *Policy) Outlook() Outlook {
	var sum Claim
	votes, races, most, dearest := 0, 0, -1, ""
	for _, c := range p.classes {
		for _, e := range c.epochs {
			sum.add(e.claim(false))
		}
		votes += c.votes - c.votesThen
		races += c.races - c.racesThen
		if c.votes > most {
			most, dearest = c.votes, c.name
		}
	}
	out := Outlook{Bound: sum.bounded().Bound, ExpectedWrong: sum.ExpectedWrong, Dearest: dearest}
	left := float64(max(0, p.length()-p.races))
	ahead := p.spend.alpha
	if p.races > 0 {
		ahead = min(ahead, sum.ExpectedWrong/float64(p.races))
	}
	out.Forecast = max(0, 1-Factor*(sum.ExpectedWrong+left*ahead))
	if races > 0 {
		out.VotesToCome = int(left * float64(votes) / float64(races))
	}
	return out
}

// nearTie is where more votes do not help: a race at this chance needs hundreds.
const nearTie = .63

// A Futility says that more votes will not make the run right.
type Futility struct {
	Races    int     `json:"races"`     // seen so far
	NearTies float64 `json:"near_ties"` // among them, as fitted
	Share    float64 `json:"share"`     // of the steps that are near ties, at least
	Steps    int     `json:"steps"`     // of the run, as known or thought
	Chance   float64 `json:"chance"`    // of the run to be right, at most
}

// Says says why in words.
func (f *Futility) Says() string {
	return fmt.Sprintf("more votes will not make this run right: about %.0f of the %d questions so far are near ties, so at least %.2g %% of all %d are thought to be, "+
		"and the chance that all of them come out right is %.2g at most", f.NearTies, f.Races, 100*f.Share, f.Steps, f.Chance)
}

// Futile is why the run should stop, nil if it should not.
func (p *Policy) Futile() *Futility { return p.futile }

// judge sees whether there are so many near ties that the run can hardly be right. Half of
// those to come are decided rightly by luck alone; where there is another pool, those that it
// leaves open are lost.
func (p *Policy) judge() {
	if p.futile != nil {
		return
	}
	ties := 0.0
	for _, c := range p.classes {
		for _, e := range c.epochs {
			ties += e.w.below(nearTie) - e.prior.below(nearTie) - e.waiting.below(nearTie)
		}
	}
	if ties <= 0 {
		return
	}
	share := (ties - 2*math.Sqrt(ties)) / float64(p.races)
	lost := .5
	if p.hasPool() {
		lost = p.leftOpen()
	}
	chance := math.Exp(-share * float64(p.length()) * lost)
	if chance < .5 {
		p.futile = &Futility{Races: p.races, NearTies: ties, Share: share, Steps: p.length(), Chance: chance}
	}
}

// A Class is what is known about a class of steps.
type Class struct {
	Class string `json:"class"`
	Claim
	Votes    int     `json:"votes"`            // for the leader and the runner-up
	Hard     float64 `json:"hard"`             // races thought to be at less than .8
	NearTies float64 `json:"near_ties"`        // those at less than .63, where more votes hardly help
	Drifts   []int   `json:"drifts,omitempty"` // races of the class, from 0, from which on they were harder
}

// Settle fits what is believed to all that has been seen. A run does so by itself now and
// then, and must not be told to: it comes to the same margins only if it does so at the
// same times.
func (p *Policy) Settle() {
	for _, c := range p.classes {
		c.epoch().fit()
	}
}

// Classes sum up each class, in the order in which they came up.
func (p *Policy) Classes() []Class {
	var list []Class
	for _, c := range p.classes {
		sum := Class{Class: c.name, Votes: c.votes}
		for i, e := range c.epochs {
			sum.add(e.claim(i == len(c.epochs)-1))
			sum.Hard += max(0, e.w.below(hardBelow)-e.prior.below(hardBelow))
			sum.NearTies += max(0, e.w.below(nearTie)-e.prior.below(nearTie))
			if i > 0 {
				sum.Drifts = append(sum.Drifts, e.from)
			}
		}
		sum.Claim = sum.bounded()
		list = append(list, sum)
	}
	return list
}

// Doubt is what is thought about the races of a class that ended in a cell, with an answer
// that was taken or without: the chance that the leader is not the likeliest answer, and
// that it is a near tie. Of epochs that saw such races each counts by how many.
func (p *Policy) Doubt(name string, c Cell, committed bool) (wrong, tie float64) {
	races := 0.0
	for _, e := range p.byName[name].epochs {
		i, ok := e.index[c]
		if !ok {
			continue
		}
		s := &e.list[i]
		n := float64(s.races - s.committed)
		if committed {
			n = float64(s.committed)
		}
		races += n
		wrong += float64(n * e.wrong(s))
		tie += float64(n * e.tie(s))
	}
	return wrong / max(1, races), tie / max(1, races)
}

// Learnt is what the run leaves to later ones about a class.
func (p *Policy) Learnt(name string) Learnt {
	c := p.byName[name]
	if c == nil || c.races == 0 {
		return Learnt{}
	}
	b := c.epoch().belief
	b.fit()
	l := Learnt{Races: c.epoch().n}
	total := b.w.below(2)
	for _, w := range b.w {
		l.Weights = append(l.Weights, w/total)
	}
	return l
}
