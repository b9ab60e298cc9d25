package adaptive

import (
	"fmt"
	"math"
	"slices"

	"github.com/maker-mdap/maker/vote"
)

// Options say what a run is to be and may cost.
type Options struct {
	// Target is the chance with which some answer of the run may not be the likeliest
	// one of its voters.
	Target float64

	// Steps is how many races the run has, 0 if that is not known. Then it is taken to
	// have Estimate, and half of the target is for these; each time there are more than
	// thought, half of what remains is for as many again.
	Steps    int
	Estimate int // 0 means DefaultEstimate

	// MaxSamples is the cap of a race; 0 means DefaultCap.
	MaxSamples int

	// Unordered says that many races are under way at once, of which the hard ones end
	// last: that they become more frequent shows nothing, and no epoch ends by it.
	Unordered bool

	// Warm are beliefs of an earlier run, by class.
	Warm map[string]Learnt

	// Pool, if not empty, names voters who can be asked where others are split, and Price
	// is what a sample of theirs costs in samples of the others. If that is 0, as in early
	// logs, nothing is left to them before its cap.
	Pool  string
	Price float64
}

// ClassOf is the class of questions of a kind that a pool of voters is asked, by which it is
// counted how hard they are. The run's own voters are no pool.
func ClassOf(kind, pool string) string {
	if pool == "" {
		return kind
	}
	return kind + "@" + pool
}

// DefaultTarget is the target of a run that names none.
const DefaultTarget = .05

// DefaultEstimate is how many races a run is thought to have of which nothing is known.
const DefaultEstimate = 100

// Cap is the default cap on the samples of a race: 20 times what a race without dissent
// needs at first, and at least 150.
func (o Options) Cap() int {
	const leads, least = 20, 150
	return max(least, leads*o.Clean())
}

// A spending is how much of the target each step may use up.
type spending struct {
	alpha float64 // of a step
	until int     // races for which it holds; 0 for all
	left  float64 // of the target, after these
}

func newSpending(o Options) spending {
	if o.Steps > 0 {
		return spending{alpha: spread(o.Target, o.Steps)}
	}
	n := o.Estimate
	if n <= 0 {
		n = DefaultEstimate
	}
	return spending{alpha: spread(o.Target/2, n), until: n, left: o.Target / 2}
}

// next is what holds when a run has more races than was thought.
func (s spending) next() spending {
	return spending{alpha: spread(s.left/2, s.until), until: 2 * s.until, left: s.left / 2}
}

// spread is the error that each of n steps may have if all are right but for target.
func spread(target float64, n int) float64 { return -math.Expm1(math.Log1p(-target) / float64(n)) }

// Why a policy changes.
const (
	WhyStart = "start" // the first race of a class
	WhyFit   = "fit"   // more has been seen
	WhyDrift = "drift" // hard races have become more frequent
	WhySteps = "steps" // the run has more races than was thought
	WhyRule  = "rule"  // the rule was changed
)

// A Change is a policy that is in force from now on: the margins of a class.
type Change struct {
	Policy  int    `json:"policy"` // from 1, over all classes
	Class   string `json:"class"`
	Why     string `json:"why"`
	Epoch   int    `json:"epoch"` // from 1
	Races   int    `json:"races"` // of the class, so far
	Margins []int  `json:"margins"`

	// GiveUp are the leads with which a race is left to the other pool, by the votes of the
	// runner-up as Margins are, and PoolCost is what that is thought to cost, in samples of
	// these voters. They are there if there is such a pool.
	GiveUp   []vote.Leads `json:"give_up,omitempty"`
	PoolCost float64      `json:"pool_cost,omitempty"`
}

// Learnt is what a run leaves to later ones about a class.
type Learnt struct {
	Races   int       `json:"races"`
	Weights []float64 `json:"weights"` // that sum to 1
}

// A Policy says how far the leader of a race must be ahead. It is told how races ended.
type Policy struct {
	opts    Options
	spend   spending
	classes []*class // as they came up
	byName  map[string]*class
	races   int
	changes int
	futile  *Futility
}

// A class is a kind of steps that are thought to be alike.
type class struct {
	name   string
	epochs []*epoch
	races  int
	open   int // of these, without an answer that was taken
	votes  int
	now    Change

	racesThen, votesThen int // when margins were decided before the last time
	racesLast, votesLast int // the last time
}

// An epoch is a time in which steps of a class are alike.
type epoch struct {
	belief
	from                     int // race of the class, from 0
	n, contested, hard       int
	fittedN, fittedContested int
	watches                  [len(factors)]watch
}

// New returns the policy of a run that has not begun.
func New(o Options) *Policy {
	if o.MaxSamples <= 0 {
		o.MaxSamples = o.Cap()
	}
	return &Policy{opts: o, spend: newSpending(o), byName: map[string]*class{}}
}

// Adjust changes what the run may cost, and returns the policies that change by it. What
// has been learnt stays.
func (p *Policy) Adjust(o Options) []Change {
	if o.MaxSamples <= 0 {
		o.MaxSamples = o.Cap()
	}
	if o.Target == p.opts.Target && o.Steps == p.opts.Steps && o.Estimate == p.opts.Estimate && o.MaxSamples == p.opts.MaxSamples &&
		o.Pool == p.opts.Pool && o.Price == p.opts.Price {
		return nil
	}
	o.Warm = p.opts.Warm
	p.opts, p.spend = o, newSpending(o)
	for p.spend.until > 0 && p.races >= p.spend.until {
		p.spend = p.spend.next()
	}
	var changed []Change
	for _, c := range p.classes {
		if p.decide(c, WhyRule) {
			changed = append(changed, c.now)
		}
	}
	return changed
}

// Now is the policy of a class, and whether it has one.
func (p *Policy) Now(name string) (Change, bool) {
	if c := p.byName[name]; c != nil {
		return c.now, true
	}
	return Change{}, false
}

// Start begins a class that has no policy yet.
func (p *Policy) Start(name string) Change {
	c := &class{name: name, epochs: []*epoch{newEpoch(p.opts.Warm[name].prior())}}
	p.classes = append(p.classes, c)
	p.byName[name] = c
	p.decide(c, WhyStart)
	return c.now
}

// strength is for how many steps those of an earlier run count at most: it was another
// day, and what it saw must not outweigh what is seen now.
const strength = 100

// prior are the counts with which a run begins that has learnt something before.
func (l Learnt) prior() weights {
	sum := cold
	if len(l.Weights) == atoms {
		n := float64(min(l.Races, strength))
		for i, w := range l.Weights {
			sum[i] += float64(n * w)
		}
	}
	return sum
}

// Validate reports what cannot have been learnt.
func (l Learnt) Validate() error {
	sum := 0.0
	for _, w := range l.Weights {
		if !(w >= 0) {
			return fmt.Errorf("adaptive: %v is no weight", w)
		}
		sum += w
	}
	if len(l.Weights) != atoms || l.Races < 1 || math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("adaptive: %d weights with the sum %v of %d races, want %d weights with the sum 1", len(l.Weights), sum, l.Races, atoms)
	}
	return nil
}

func newEpoch(prior weights) *epoch { return &epoch{belief: belief{prior: prior, w: prior}} }

func (c *class) epoch() *epoch { return c.epochs[len(c.epochs)-1] }

// decide sets the margins of a class, and reports whether they are others than before.
func (p *Policy) decide(c *class, why string) bool {
	list := margins(theta[:], c.epoch().w[:], p.spend.alpha, p.opts.MaxSamples)
	giveUp, cost := p.giveUp(c, list)
	if slices.Equal(list, c.now.Margins) && slices.Equal(giveUp, c.now.GiveUp) && why != WhyDrift {
		return false
	}
	p.changes++
	c.racesThen, c.votesThen, c.racesLast, c.votesLast = c.racesLast, c.votesLast, c.races, c.votes
	c.now = Change{Policy: p.changes, Class: c.name, Why: why, Epoch: len(c.epochs), Races: c.races, Margins: list, GiveUp: giveUp, PoolCost: cost}
	return true
}

// Disputed says how many races of a class are under way and have a runner-up. Hard races end
// last, so that those which have ended are easier than all that have begun, unless these
// count too.
func (p *Policy) Disputed(name string, races int) { p.byName[name].epoch().disputed = races }

// Count takes in how a race of a class ended, and whether its answer was taken. It returns
// the policies that change by it. The class must have begun.
func (p *Policy) Count(name string, cell Cell, committed bool) []Change {
	c := p.byName[name]
	taken := 0
	if committed {
		taken = 1
	}
	p.races++
	c.races++
	c.open += 1 - taken
	c.votes += cell.Lead + cell.Second
	why := WhyFit
	if c.epoch().drifted(cell, taken, math.Log(float64(p.length()))) && !p.opts.Unordered {
		c.split()
		why = WhyDrift
	}
	var changed []Change
	if p.spend.until > 0 && p.races >= p.spend.until {
		p.spend = p.spend.next()
		for _, other := range p.classes {
			other.epoch().refit()
			if p.decide(other, WhySteps) {
				changed = append(changed, other.now)
			}
		}
		return changed
	}
	if why == WhyDrift || c.epoch().due() {
		c.epoch().refit()
		if p.decide(c, why) {
			changed = append(changed, c.now)
		}
		p.judge()
	}
	return changed
}

// length is how many races the run is thought to have.
func (p *Policy) length() int {
	if p.opts.Steps > 0 {
		return p.opts.Steps
	}
	return p.spend.until
}

// drifted takes in a race and reports whether hard ones have become more frequent.
func (e *epoch) drifted(cell Cell, taken int, limit float64) bool {
	e.count(cell, 1, taken)
	drift := false
	for i := range e.watches {
		drift = e.watches[i].add(cell, taken, limit) || drift
	}
	return drift
}

func (e *epoch) count(cell Cell, races, taken int) {
	e.add(cell, races, taken)
	e.n += races
	if cell.Second > 0 {
		e.contested += races
	}
	if cell.Second >= hardRace {
		e.hard += races
	}
}

// split ends an epoch of a class: the next one has begun where the sum of races that
// shows it left 0.
func (c *class) split() {
	old, next := c.epoch(), newEpoch(cold)
	var since []count
	most := 0.0
	for i := range old.watches {
		if w := &old.watches[i]; w.sum > most {
			most, since = w.sum, w.since
		}
	}
	for _, s := range since {
		old.count(s.Cell, -s.races, -s.committed)
		next.count(s.Cell, s.races, s.committed)
	}
	next.from = c.races - next.n
	c.epochs = append(c.epochs, next)
}

// due reports whether so much more has been seen that the fit is to be renewed.
func (e *epoch) due() bool {
	return grown(e.n, e.fittedN) || grown(e.contested, e.fittedContested)
}

// grown reports whether a number is larger by a fifth.
func grown(n, was int) bool { return n > was && 5*n >= 6*was }

func (e *epoch) refit() {
	e.fit()
	e.fittedN, e.fittedContested = e.n, e.contested
	share := float64(e.hard+1) / float64(e.n+2)
	for i, f := range factors {
		e.watches[i].expect(share, f)
	}
}

// Clean is the margin of a run's first race if nobody dissents.
func (o Options) Clean() int { return clean(newSpending(o).alpha) }

// clean is the margin of the first race of a run, without dissent.
func clean(alpha float64) int {
	// No alpha that a float can hold needs more: the hardest atom gains a tenth a vote.
	const most = 1 << 13
	for m := 1; ; m *= 2 {
		if list := margins(theta[:], cold[:], alpha, m); list[0] <= m || m >= most {
			return list[0]
		}
	}
}
