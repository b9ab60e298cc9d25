package adaptive

import (
	"math/rand/v2"
	"testing"

	"github.com/maker-mdap/maker/vote"
)

// contested is a policy of a run of a thousand steps after some of them were hard for its
// voters, and none for the other pool.
func contested(o Options, races, hard int) *Policy {
	o.Target, o.Steps = .05, 1000
	p := New(o)
	if o.Pool != "" {
		p.Start(ClassOf("", o.Pool))
		for range 20 {
			p.Count(ClassOf("", o.Pool), Cell{Lead: 12}, true)
		}
	}
	p.Start("")
	for i := range races {
		c := Cell{Lead: 8}
		if hard > 0 && i%(races/hard) == 0 {
			c = Cell{Lead: 60, Second: 40}
		}
		p.Count("", c, true)
	}
	return p
}

// TestGiveUp: races are left to the other pool where dissent says that they are hard, the
// leader is near certain, and that costs less than to go on; never if there is none.
func TestGiveUp(t *testing.T) {
	at := func(p *Policy) []vote.Leads {
		now, _ := p.Now("")
		return now.GiveUp
	}
	if got := at(contested(Options{}, 400, 8)); got != nil {
		t.Errorf("without another pool races are given up at %v", got)
	}
	if got := at(contested(Options{Pool: "b"}, 400, 8)); got != nil {
		t.Errorf("to a pool whose price an early log does not have races are left at %v", got)
	}
	p := contested(Options{Pool: "b", Price: 1}, 400, 8)
	list, cheap := at(p), 0
	now, _ := p.Now("")
	for b, leads := range list {
		if b < hardRace && leads[1] >= leads[0] {
			t.Errorf("with %d votes for the runner-up a race is given up at %v", b, leads)
		}
		for m := leads[0]; m <= leads[1]; m++ {
			cheap++
			s := newSeen(Cell{b + m, b})
			if wrong := p.byName[""].epoch().wrong(&s); m >= now.Margins[b] || wrong > .05 {
				t.Errorf("a race is given up at %d to %d, where it is won or the leader is wrong with %.3f", b+m, b, wrong)
			}
		}
	}
	if cheap == 0 || now.PoolCost <= 0 {
		t.Errorf("nothing is ever left to the other pool: %v for %v", list, now.PoolCost)
	}
	// The dearer the other pool is, the less is left to it.
	dear := 0
	for _, leads := range at(contested(Options{Pool: "b", Price: 5}, 400, 8)) {
		dear += max(0, leads[1]-leads[0]+1)
	}
	if dear >= cheap {
		t.Errorf("a pool of five times the price is left %d positions, that of the same price %d", dear, cheap)
	}
	// It does not hand on to itself, and what it needs is learnt.
	if c, _ := p.Now(ClassOf("", "b")); c.GiveUp != nil {
		t.Errorf("the other pool gives up at %v", c.GiveUp)
	}
	before := p.poolCost(p.byName[""])
	for range 50 {
		p.Count(ClassOf("", "b"), Cell{Lead: 8}, true)
	}
	if after := p.poolCost(p.byName[""]); after >= before {
		t.Errorf("after 50 clean races the pool is thought to cost %.2f, before %.2f", after, before)
	}
}

// TestFutileWithAPool: a run with many near ties is not given up while the other pool
// settles them, and is once it does not.
func TestFutileWithAPool(t *testing.T) {
	for _, test := range []struct {
		name    string
		pool    string
		settles bool
		want    bool
	}{
		{"one pool", "", false, true},
		{"the other one settles them", "b", true, false},
		{"the other one does not", "b", false, true},
	} {
		p := New(Options{Target: .05, Steps: 1000, Pool: test.pool, Price: 1})
		p.Start("")
		p.Start(ClassOf("", "b"))
		for i := range 500 {
			if i%10 > 0 {
				p.Count("", Cell{Lead: 8}, true)
				continue
			}
			p.Count("", Cell{Lead: 60, Second: 55}, false)
			if test.pool != "" {
				p.Count(ClassOf("", "b"), Cell{Lead: 12}, test.settles)
			}
		}
		if got := p.Futile() != nil; got != test.want {
			t.Errorf("%s: futile %t, want %t", test.name, got, test.want)
		}
	}
}

// TestClaimsHoldWithAPool: what is claimed holds where a second pool settles what the first
// is split over, and that takes fewer votes than to go on with the first.
func TestClaimsHoldWithAPool(t *testing.T) {
	runs := 100
	if raceDetector || testing.Short() {
		runs = 40
	}
	const steps = 1000
	simulate := func(pooled bool) (o outcome, open float64) {
		o = outcome{runs: runs, steps: steps}
		for i := range runs {
			rng := rand.New(rand.NewPCG(11, uint64(i)))
			opts := Options{Target: .05, Steps: steps, MaxSamples: 600}
			if pooled {
				opts.Pool, opts.Price = "b", 1
			}
			p := New(opts)
			off := 0.0
			for range steps {
				asked := one(.99, .01)
				if rng.Float64() < .01 {
					asked = one(.62, .38)
				}
				r := ask(p, rng, "", asked)
				o.votes += float64(r.votes) / float64(runs*steps)
				if r.won < 0 && pooled {
					leader := r.leader
					r = ask(p, rng, ClassOf("", "b"), one(.99, .01))
					o.votes += float64(r.votes) / float64(runs*steps)
					if r.won != leader {
						open += 1 / float64(runs)
						continue
					}
				}
				if r.won > 0 {
					off++
				}
			}
			if off == 0 {
				o.right += 1 / float64(runs)
			}
			o.off += off / float64(runs)
			c := p.Claim()
			o.claimed += c.Bound / float64(runs)
			o.expected += c.ExpectedWrong / float64(runs)
		}
		return o, open
	}
	alone, _ := simulate(false)
	both, open := simulate(true)
	alone.honest(t, "1 % at .62")
	both.honest(t, "1 % at .62, with a second pool")
	t.Logf("%.3f steps a run are left open by the two", open)
	if both.votes >= alone.votes || open > .1 {
		t.Errorf("with a second pool %.2f votes a step and %.3f open steps a run, without %.2f votes; want fewer votes, and next to none open", both.votes, open, alone.votes)
	}
}

// asked is a race as a tally holds it, which may be given up.
type asked struct {
	race
	leader int
}

func ask(p *Policy, rng *rand.Rand, class string, of pool) asked {
	now, ok := p.Now(class)
	if !ok {
		now = p.Start(class)
	}
	tally := vote.NewTally(vote.Rule{Strategy: vote.Adaptive, Target: p.opts.Target, MaxSamples: p.opts.MaxSamples}, now.Margins...)
	tally.GiveUpAt(now.GiveUp)
	for tally.Decision().Outcome == vote.Open {
		key := "0"
		if rng.Float64() >= of[0][0] {
			key = "1"
		}
		tally.Vote(key)
	}
	var votes [2]int
	for _, c := range tally.Counts() {
		votes[c.Key[0]-'0'] = c.Votes
	}
	r := asked{race: race{Cell: Cell{max(votes[0], votes[1]), min(votes[0], votes[1])}, won: -1, votes: votes[0] + votes[1]}}
	if votes[1] > votes[0] {
		r.leader = 1
	}
	if tally.Decision().Outcome == vote.Won {
		r.won = r.leader
	}
	p.Count(class, r.Cell, r.won >= 0)
	return r
}
