package adaptive

import (
	"math"
	"strings"

	"github.com/maker-mdap/maker/vote"
)

const (
	// unclear is where a race is hard: at this chance or less it takes dozens of votes.
	unclear = .75

	// mostGivenUp bounds the votes of a runner-up for which it is worked out when to give
	// up: what holds for the last one holds for more.
	mostGivenUp = 12
)

// giveUp are the leads with which races of a class are left to the other pool, and what
// that is thought to cost in samples of these voters. There dissent says that the step is
// hard, and these voters are thought to need more votes to decide it than the other pool
// costs. What the other pool decides for counts only if it leads here, so that the price
// has the chance in it that the leader is not even these voters' likeliest answer, and all
// votes of the run are lost.
func (p *Policy) giveUp(c *class, margins []int) ([]vote.Leads, float64) {
	if !p.hasPool() || p.isPool(c) {
		return nil, 0
	}
	b := &c.epoch().belief
	cost, run := p.poolCost(c), p.runCost(c)
	list := make([]vote.Leads, min(len(margins), mostGivenUp))
	for second := range list {
		leads := vote.Leads{0, -1}
		for m := 0; second >= hardRace && m < margins[second]; m++ {
			s := newSeen(Cell{second + m, second})
			after := s.like
			for i := range after {
				after[i] *= b.w[i]
			}
			further := after.votes(margins[second]-m, p.opts.MaxSamples-2*second-m)
			pays := further > cost+float64(b.wrong(&s)*run) && after.below(unclear) > .5*after.below(2)
			switch {
			case pays && leads[1] < 0:
				leads = vote.Leads{m, m}
			case pays:
				leads[1] = m
			}
			if further <= cost {
				break
			}
		}
		list[second] = leads
	}
	return list, cost
}

// poolCost is what a race of the other pool about a question of a class is thought to cost.
// Until it has been asked, it is thought to find questions as hard as those before do.
func (p *Policy) poolCost(c *class) float64 {
	w, lead := &c.epoch().w, clean(p.spend.alpha)
	if other := p.byName[ClassOf(c.name, p.opts.Pool)]; other != nil {
		w, lead = &other.epoch().w, other.now.Margins[0]
	}
	return p.opts.Price * w.votes(lead, p.opts.MaxSamples)
}

// leftOpen is the share of the questions that the other pool does not settle, at least, as
// far as it has been asked.
func (p *Policy) leftOpen() float64 {
	asked, open := 0.0, 0.0
	for _, c := range p.classes {
		if p.isPool(c) {
			asked += float64(c.races)
			open += float64(c.open)
		}
	}
	return max(0, open-2*math.Sqrt(open)) / max(1, asked)
}

// hasPool reports whether there is another pool.
func (p *Policy) hasPool() bool { return p.opts.Pool != "" && p.opts.Price > 0 }

// isPool reports whether a class is one of the other pool.
func (p *Policy) isPool(c *class) bool { return strings.HasSuffix(c.name, ClassOf("", p.opts.Pool)) }

// runCost is how many votes the whole run is thought to take, judging by a class.
func (p *Policy) runCost(c *class) float64 {
	each := float64(clean(p.spend.alpha))
	if c.races > 0 {
		each = float64(c.votes) / float64(c.races)
	}
	return each * float64(p.length())
}

// votes is how many further votes a race is thought to take that lacks so much of a lead,
// at most what is left of its cap. (By Wald's identity: a vote adds 2 theta - 1 to a lead.)
func (w *weights) votes(lacks, left int) float64 {
	sum, all := 0.0, 0.0
	for i, x := range w {
		all += x
		sum += float64(x * min(float64(lacks)/(2*theta[i]-1), float64(left)))
	}
	return sum / all
}
