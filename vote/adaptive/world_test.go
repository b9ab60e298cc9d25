package adaptive

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// A world says how hard each step of a run is.
type world struct {
	name  string
	class func(step int) string // nil for one of all steps
	step  func(rng *rand.Rand, step, steps int) pool
}

// A pool are those who are asked in turn: for each of them the chances of the answers. What
// is left of it is discarded. The likeliest answer of all of them is what votes are about.
type pool [][]float64

func one(chances ...float64) pool { return pool{chances} }

func alike(p pool) func(*rand.Rand, int, int) pool {
	return func(*rand.Rand, int, int) pool { return p }
}

// some makes a share of the steps hard.
func some(share float64, hard, easy pool) func(*rand.Rand, int, int) pool {
	return func(rng *rand.Rand, _, _ int) pool {
		if rng.Float64() < share {
			return hard
		}
		return easy
	}
}

// hidden makes two steps of a run near ties.
func hidden(p float64) func(*rand.Rand, int, int) pool {
	return func(_ *rand.Rand, step, steps int) pool {
		if step == steps/3 || step == 2*steps/3 {
			return one(p, 1-p)
		}
		return one(.99, .01)
	}
}

// drifts has hard steps in its second half.
func drifts(rng *rand.Rand, step, steps int) pool {
	if step >= steps/2 && rng.Float64() < .05 {
		return one(.7, .3)
	}
	return one(.99, .01)
}

func rivals(p float64, n int) pool {
	list := []float64{p}
	for range n {
		list = append(list, (1-p)/float64(n))
	}
	return pool{list}
}

// threeClasses are easy steps, steps of which some are hard, and hard ones.
func threeClasses(rng *rand.Rand, step, _ int) pool {
	switch {
	case step%10 == 0:
		return one(.75, .25)
	case step%10 < 4 && rng.Float64() < .03:
		return one(.65, .35)
	default:
		return one(.995, .005)
	}
}

func classOf(step int) string {
	switch {
	case step%10 == 0:
		return "hard"
	case step%10 < 4:
		return "mixed"
	default:
		return "easy"
	}
}

var (
	easy   = world{name: ".99", step: alike(one(.99, .01))}
	good   = world{name: ".9", step: alike(one(.9, .1))}
	fair   = world{name: ".7", step: alike(one(.7, .3))}
	onePct = world{name: "1 % at .7", step: some(.01, one(.7, .3), one(.99, .01))}

	// Samples that copy one opinion of the step with a chance of .3 or .6 make of one step
	// in a hundred one where most of them may be wrong.
	rho3 = world{name: "correlation .3", step: some(.01, one(.693, .307), one(.993, .007))}
	rho6 = world{name: "correlation .6", step: some(.01, one(.396, .604), one(.996, .004))}

	rareBad  = world{name: ".1 % at .45", step: some(.001, one(.45, .55), one(.99, .01))}
	many     = world{name: ".7 with 10 rivals", step: alike(rivals(.7, 10))}
	drifting = world{name: "5 % at .7 in the second half", step: drifts}
	classes  = world{name: "three classes", step: threeClasses, class: classOf}
	flagging = world{name: "flags where errors are", step: some(.02, one(.34, .16), one(.96, .01))}
	badModel = world{name: "one bad model of three", step: alike(pool{{.99, .01}, {.99, .01}, {.3, .6, .1}})}
	gradual  = world{name: "ever harder", step: func(_ *rand.Rand, step, steps int) pool {
		p := .995 - .2*float64(step)/float64(steps)
		return one(p, 1-p)
	}}
	spreading = world{name: "evenly from .6 to 1", step: func(rng *rand.Rand, _, _ int) pool {
		p := .6 + .4*rng.Float64()
		return one(p, 1-p)
	}}
)

// A race is how one went: the cell, and the answer that won, -1 if none did.
type race struct {
	Cell
	won, votes int
	split      int // the vote that was the first one for a second answer, from 1
}

// hold holds a race the way a tally does.
func hold(rng *rand.Rand, p pool, margins []int, most int) race {
	var room [16]int
	counts := room[:]
	leader, second, votes, split := 0, 0, 0, 0
	for samples := 0; ; samples++ {
		margin := margins[min(second, len(margins)-1)]
		switch lead := counts[leader] - second; {
		case lead >= margin:
			return race{Cell{counts[leader], second}, leader, votes, split}
		case margin-lead > most-samples:
			return race{Cell{counts[leader], second}, -1, votes, split}
		}
		chances := p[samples%len(p)]
		x, i := rng.Float64(), 0
		for i < len(chances) && x >= chances[i] {
			x -= chances[i]
			i++
		}
		if i == len(chances) {
			continue // discarded
		}
		votes++
		counts[i]++
		switch n := counts[i]; {
		case i == leader:
		case n > counts[leader]:
			second, leader = counts[leader], i
		default:
			second = max(second, n)
		}
		if second > 0 && split == 0 {
			split = votes
		}
	}
}

// mode is the answer that the pool gives most often.
func (p pool) mode() int {
	if len(p) == 1 {
		return slices.Index(p[0], slices.Max(p[0]))
	}
	var total []float64
	for _, chances := range p {
		for i, x := range chances {
			if i == len(total) {
				total = append(total, 0)
			}
			total[i] += x
		}
	}
	return slices.Index(total, slices.Max(total))
}

// An outcome is what came of runs, in the mean.
type outcome struct {
	runs, steps      int
	votes            float64 // a step
	off              float64 // answers taken that are not the likeliest
	expected         float64 // so many
	undecided        float64
	right, claimed   float64 // runs without such an answer, and what was claimed
	futile, futileAt float64 // runs, and after how many steps
	drifted          float64 // runs
}

func (o *outcome) add(x outcome, times float64) {
	o.votes += x.votes * times
	o.off += x.off * times
	o.expected += x.expected * times
	o.undecided += x.undecided * times
	o.right += x.right * times
	o.claimed += x.claimed * times
	o.futile += x.futile
	o.futileAt += x.futileAt
	o.drifted += x.drifted
}

// A study is a number of runs of a world.
type study struct {
	world
	opts  Options
	steps int // 0 for those of the options
	runs  int
	seed  uint64

	window  int     // races at a time, if more than one; each of their votes takes as long
	forget  bool    // undecided races
	givenUp float64 // the share of runs that may be given up
}

// A flying race is under way.
type flying struct {
	race
	step  int
	class string
	end   int // in votes
}

// run simulates them. The order in which they end changes nothing but the last digits.
func (s study) run() outcome {
	s.steps = max(s.steps, s.opts.Steps)
	total := outcome{runs: s.runs, steps: s.steps}
	var mu sync.Mutex
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < s.runs; i += workers {
				one := s.once(rand.New(rand.NewPCG(s.seed, uint64(i))))
				mu.Lock()
				total.add(one, 1/float64(s.runs))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	total.votes /= float64(s.steps)
	total.futileAt /= max(1, total.futile)
	return total
}

func (s study) once(rng *rand.Rand) outcome {
	p := New(s.opts)
	var got outcome
	clock := 0
	var flight []flying
	land := func() { // the one that ends first
		first := slices.MinFunc(flight, func(a, b flying) int { return a.end - b.end })
		flight = slices.DeleteFunc(flight, func(f flying) bool { return f.step == first.step })
		clock = first.end
		if first.won < 0 && s.forget {
			return
		}
		if s.opts.Unordered {
			disputed := 0
			for _, f := range flight {
				if f.split > 0 && f.end-f.votes+f.split <= clock && f.class == first.class {
					disputed++
				}
			}
			p.Disputed(first.class, disputed)
		}
		p.Count(first.class, first.Cell, first.won >= 0)
	}
	for i := range s.steps {
		if len(flight) == max(1, s.window) {
			land()
		}
		name := ""
		if s.class != nil {
			name = s.class(i)
		}
		now, ok := p.Now(name)
		if !ok {
			now = p.Start(name)
		}
		asked := s.step(rng, i, s.steps)
		r := hold(rng, asked, now.Margins, p.opts.MaxSamples)
		got.votes += float64(r.votes)
		switch {
		case r.won < 0:
			got.undecided++
		case r.won != asked.mode():
			got.off++
		}
		flight = append(flight, flying{r, i, name, clock + r.votes})
	}
	for len(flight) > 0 {
		land()
	}
	if got.off == 0 {
		got.right = 1
	}
	c := p.Claim()
	got.claimed, got.expected = c.Bound, c.ExpectedWrong
	if f := p.Futile(); f != nil {
		got.futile, got.futileAt = 1, float64(f.Races)
	}
	for _, c := range p.classes {
		if len(c.epochs) > 1 {
			got.drifted = 1
		}
	}
	return got
}

// slack is three standard errors of a share of the runs.
func (o outcome) slack(share float64) float64 {
	return 3 * math.Sqrt(share*(1-share)/float64(o.runs))
}

// honest reports a claim that the runs do not bear out.
func (o outcome) honest(t *testing.T, name string) {
	t.Helper()
	t.Logf("%s, %d steps, %d runs: %.2f votes a step, %.4f off (expected %.4f), %.2f undecided, claimed %.4f, observed %.4f; %.0f futile (at %.0f), %.0f drifted",
		name, o.steps, o.runs, o.votes, o.off, o.expected, o.undecided, o.claimed, o.right, o.futile, o.futileAt, o.drifted)
	if o.right < o.claimed-o.slack(o.claimed) {
		t.Errorf("%s: %.4f of the runs took the likeliest answer everywhere, claimed %.4f", name, o.right, o.claimed)
	}
}
