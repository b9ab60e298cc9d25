package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/vote"
)

// runs is how many are simulated.
func runs(n int) int {
	if raceDetector || testing.Short() {
		return n / 10
	}
	return n
}

// TestOneAtomIsThePaper: if all steps are alike, and that is known, the margin is the
// paper's k, whatever the runner-up has.
func TestOneAtomIsThePaper(t *testing.T) {
	for _, p := range []float64{.6, .65, .7, .75, .8, .85, .9, .95, .98, .99, .995, .999} {
		for _, n := range []int{1, 10, 1_000, 1_000_000} {
			for _, target := range []float64{.01, .05, .2} {
				want, err := vote.MinK(p, n, 1-target)
				if err != nil {
					t.Fatal(err)
				}
				got := margins([]float64{p}, []float64{1}, spread(target, n), 400)
				if least := slices.Min(got); least != want || slices.Max(got) != want {
					t.Errorf("margins(p = %v, %d steps, target %v) = %v, want %d throughout", p, n, target, got, want)
				}
			}
		}
	}
}

// TestMarginsGrowWithDissent, and each is the smallest that is enough.
func TestMarginsGrowWithDissent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var w weights
		for i := range w {
			w[i] = math.Exp(-20 * rng.Float64())
		}
		b := belief{w: w}
		alpha := math.Pow(10, -1-6*rng.Float64())
		most := 20 + rng.IntN(300)
		list := margins(theta[:], w[:], alpha, most)
		if !slices.IsSorted(list) {
			t.Fatalf("margins(%v) = %v, want none smaller than the one before", w, list)
		}
		for second, m := range list {
			last := second == len(list)-1
			if beyond := 2*second+m > most; beyond != last {
				t.Fatalf("%d votes are the most, and the margins are %v", most, list)
			}
			s := newSeen(Cell{second + m, second})
			if wrong := b.wrong(&s); !last && wrong > alpha*(1+1e-9) {
				t.Errorf("%d to %d is enough, but wrong with %v, want at most %v", s.Lead, s.Second, wrong, alpha)
			}
			floor := 1
			if second > 0 {
				floor = list[second-1]
			}
			less := newSeen(Cell{second + m - 1, second})
			if wrong := b.wrong(&less); m > floor && wrong < alpha*(1-1e-9) {
				t.Errorf("%d to %d is not enough, but wrong with %v only, want more than %v", less.Lead, less.Second, wrong, alpha)
			}
		}
	}
}

func TestMarginsAsARunGoesOn(t *testing.T) {
	p := New(Options{Target: .05, Steps: 1000})
	check := func(races int, want ...int) {
		t.Helper()
		now, _ := p.Now("")
		if diff := cmp.Diff(want, now.Margins[:len(want)]); diff != "" {
			t.Errorf("margins after %d races (-want +got):\n%s", races, diff)
		}
	}
	p.Start("")
	check(0, 12, 16, 18)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		now, _ := p.Now("")
		r := hold(rng, one(.99, .01), now.Margins, p.opts.MaxSamples)
		p.Count("", r.Cell, r.won >= 0)
		if i == 99 {
			check(100, 6, 10, 14)
		}
	}
	check(1000, 4, 8, 11)
}

func TestDefaultCap(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want int
	}{
		{Options{Target: .05, Steps: 1}, 150},
		{Options{Target: .05, Steps: 1000}, 240},
		{Options{Target: .05, Steps: 1_000_000}, 420},
		{Options{Target: .05}, 200},
	} {
		if got := c.o.Cap(); got != c.want {
			t.Errorf("Cap(%+v) = %d, want %d", c.o, got, c.want)
		}
	}
}

// TestClaimsHold: what is claimed is what is seen, the target is met, and no run is given
// up where more votes help.
func TestClaimsHold(t *testing.T) {
	const studied = 12 // of the study with which the rule was found
	known := Options{Target: .05, Steps: 1000}
	for i, s := range []study{
		{world: easy, opts: known},
		{world: good, opts: known},
		{world: fair, opts: known},
		{world: onePct, opts: known},
		{world: rareBad, opts: known},
		{world: rho3, opts: known},
		{world: rho6, opts: known, givenUp: 1},
		{world: many, opts: known},
		{world: drifting, opts: known},
		{world: world{name: "two steps at .52", step: hidden(.52)}, opts: known},
		{world: world{name: "two steps at .55", step: hidden(.55)}, opts: known},
		{world: world{name: "two steps at .6", step: hidden(.6)}, opts: known},

		// Settings that the rule was not made with.
		// Steps at .65 and .68 look like near ties now and then: then runs are given up
		// that would have come out right. At first sight 2.5 % and .6 % of them were.
		{world: classes, opts: known, givenUp: .05},
		{world: flagging, opts: known, givenUp: .02},
		{world: badModel, opts: known},
		{world: gradual, opts: known},
		{world: spreading, opts: Options{Target: .05, Steps: 300}, givenUp: 1},
		{world: onePct, opts: Options{Target: .05}, steps: 1000},
		{world: good, opts: Options{Target: .05, Estimate: 10}, steps: 777},
		{world: onePct, opts: Options{Target: .2, Steps: 3000}},
		{world: onePct, opts: Options{Target: .01, Steps: 30}},
	} {
		t.Run(fmt.Sprintf("%s/%d", s.name, i), func(t *testing.T) {
			s.runs, s.seed = runs(1000), uint64(i)
			if i >= studied {
				s.runs /= 2
			}
			got := s.run()
			got.honest(t, s.name)
			if least := 1 - s.opts.Target; got.right < least-got.slack(least) {
				t.Errorf("%.4f of the runs took the likeliest answer everywhere, want %.2f", got.right, least)
			}
			if most := s.givenUp * float64(s.runs); got.futile > most {
				t.Errorf("%.0f runs were given up, want at most %.0f", got.futile, most)
			}
		})
	}
}

// blind are the votes a step that the best rule needs which knows how steps are, but not
// which one is hard.
func blind(s study, at, weight []float64) float64 {
	list := margins(at, weight, spread(s.opts.Target, s.opts.Steps), s.opts.Cap())
	rng := rand.New(rand.NewPCG(s.seed, 0))
	votes := 0
	const races = 400_000
	for i := range races {
		votes += hold(rng, s.step(rng, i, races), list, s.opts.Cap()).votes
	}
	return float64(votes) / races
}

func TestCost(t *testing.T) {
	small := study{world: onePct, opts: Options{Target: .05, Steps: 1000}, runs: runs(300), seed: 5}.run()
	if small.honest(t, onePct.name); small.votes > 6.9 {
		t.Errorf("%.2f votes a step, want at most 6.9", small.votes)
	}
	if raceDetector {
		return
	}
	million := Options{Target: .05, Steps: 1_000_000}
	for _, c := range []struct {
		world
		at, weight []float64
	}{
		{onePct, []float64{.7, .99}, []float64{.01, .99}},
		{rho3, []float64{.693, .993}, []float64{.01, .99}},
	} {
		s := study{world: c.world, opts: million, runs: 2, seed: 6}
		got, best := s.run(), blind(s, c.at, c.weight)
		if got.honest(t, s.name); got.votes > 1.08*best {
			t.Errorf("%s: %.2f votes a step, the best rule needs %.2f", s.name, got.votes, best)
		}
	}
}

// TestFutility: where samples follow each other a long run is given up early.
func TestFutility(t *testing.T) {
	sum := study{world: rho6, opts: Options{Target: .05, Steps: 1_000_000}, runs: 20, seed: 7}.first(10_000)
	t.Logf("given up after %.0f of 1,000,000 steps", sum.futileAt)
	if sum.futile != 20 || sum.futileAt > 2000 {
		t.Errorf("%.0f of 20 runs were given up, after %.0f steps, want all within 2000", sum.futile, sum.futileAt)
	}
}

// first simulates only the first steps of the runs.
func (s study) first(steps int) outcome {
	var total outcome
	for i := range s.runs {
		one := s
		one.steps = steps
		total.add(one.once(rand.New(rand.NewPCG(s.seed, uint64(i)))), 1/float64(s.runs))
	}
	total.futileAt /= max(1, total.futile)
	return total
}

// TestUndecidedRacesAreEvidence: without them the policy does not see the hard steps that
// it gives up, and takes too many of the others for easy.
func TestUndecidedRacesAreEvidence(t *testing.T) {
	s := study{world: world{name: "5 % at .53", step: some(.05, one(.53, .47), one(.99, .01))}, opts: Options{Target: .05, Steps: 2000}, runs: runs(300), seed: 8}
	got := s.run()
	got.honest(t, s.name)
	s.forget = true
	without := s.run()
	t.Logf("without undecided races: %.3f off, claimed %.4f, observed %.4f", without.off, without.claimed, without.right)
	if got.off > .2 || without.off < 3*got.off || without.right >= without.claimed-without.slack(without.claimed) {
		t.Errorf("%.3f off, without undecided races %.3f: they make no difference", got.off, without.off)
	}
}

func TestDriftIsSeen(t *testing.T) {
	n := 200
	if raceDetector {
		n = 4
	}
	got := study{world: drifting, opts: Options{Target: .05, Steps: 100_000}, runs: n, seed: 9}.run()
	got.honest(t, drifting.name)
	if got.off > .15 || got.drifted < float64(n) {
		t.Errorf("%.3f answers off in a run, %.0f of %d drifts seen; want at most .15, and all", got.off, got.drifted, n)
	}
}

// TestHardRacesLast: of many races at a time the hard ones end last. That is no drift, and
// what has ended is no fair sample: a policy that is told how many are disputed knows it.
func TestHardRacesLast(t *testing.T) {
	n := 200
	if raceDetector {
		n = 4
	}
	tenth := world{name: "10 % at .7", step: some(.1, one(.7, .3), one(.995, .005))}
	few := world{name: "3 % at .65", step: some(.03, one(.65, .35), one(.99, .01))}
	for _, w := range []world{good, tenth, few} {
		s := study{world: w, opts: Options{Target: .05, Steps: 3000, Unordered: true}, window: 256, runs: n, seed: 12}
		got := s.run()
		got.honest(t, w.name)
		s.opts.Unordered = false
		fooled := s.run()
		t.Logf("in order: %.2f votes a step, claimed %.4f, observed %.4f, %.0f of %d drifted", fooled.votes, fooled.claimed, fooled.right, fooled.drifted, n)
		if got.drifted > 0 || got.futile > float64(n)/10 || got.right < .95-got.slack(.95) || fooled.drifted < float64(n)/2 {
			t.Errorf("%s: %.0f of %d drifted, %.0f futile, %.3f right; taken in order %.0f drifted", w.name, got.drifted, n, got.futile, got.right, fooled.drifted)
		}
	}
}

// TestResumes: a policy that was told all races anew goes on as the one that was there.
func TestResumes(t *testing.T) {
	type told struct {
		class     string
		cell      Cell
		committed bool
	}
	for _, o := range []Options{{Target: .05, Steps: 5000}, {Target: .05}} {
		var uninterrupted []Change
		var claimed Claim
		for _, resumes := range []int{0, 5} {
			rng := rand.New(rand.NewPCG(3, 4))
			p, log, changes := New(o), []told{}, []Change{}
			for i := range 5000 {
				if resumes > 0 && i%(5000/(resumes+1)) == 17 {
					p, changes = New(o), nil
					for _, l := range log {
						if _, ok := p.Now(l.class); !ok {
							changes = append(changes, p.Start(l.class))
						}
						changes = append(changes, p.Count(l.class, l.cell, l.committed)...)
					}
				}
				name := classOf(i)
				now, ok := p.Now(name)
				if !ok {
					now = p.Start(name)
					changes = append(changes, now)
				}
				r := hold(rng, threeClasses(rng, i, 0), now.Margins, p.opts.MaxSamples)
				log = append(log, told{name, r.Cell, r.won >= 0})
				changes = append(changes, p.Count(name, r.Cell, r.won >= 0)...)
			}
			if resumes == 0 {
				uninterrupted = changes
				claimed = p.Claim()
				continue
			}
			if diff := cmp.Diff(uninterrupted, changes); diff != "" || p.Claim() != claimed {
				t.Errorf("after %d resumes the claim is %v, want %v, and the policies are others (-want +got):\n%s", resumes, p.Claim(), claimed, diff)
			}
		}
	}
}

// TestUnknownLengthSpendsNoMoreThanTheTarget however long the run is.
func TestUnknownLengthSpendsNoMoreThanTheTarget(t *testing.T) {
	s := newSpending(Options{Target: .05})
	spent, until := 0.0, 0
	for range 30 {
		spent += s.alpha * float64(s.until-until)
		until = s.until
		s = s.next()
	}
	if spent > .0515 || spent < .049 || until != 100<<29 {
		t.Errorf("%v is spent over %d races, want .05 over %d", spent, until, 100<<29)
	}
}

// TestWarm: what an earlier run learnt saves votes, and the claim holds even if the earlier
// run was an easier one.
func TestWarm(t *testing.T) {
	o := Options{Target: .05, Steps: 1000}
	before := New(o)
	before.Start("")
	rng := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		now, _ := before.Now("")
		r := hold(rng, one(.99, .01), now.Margins, before.opts.MaxSamples)
		before.Count("", r.Cell, true)
	}
	o.Warm = map[string]Learnt{"": before.Learnt("")}
	if first := New(o).Start(""); first.Margins[0] > 6 || o.Warm[""].Validate() != nil {
		t.Errorf("a warm run starts with %+v, want a margin of at most 6 (%v)", first, o.Warm[""].Validate())
	}
	for i, w := range []world{easy, onePct, good} {
		got := study{world: w, opts: o, runs: runs(500), seed: uint64(i)}.run()
		got.honest(t, "warm, "+w.name)
	}
}

// TestSpeed: what a policy costs a step. The best of some tries is what it takes when
// nothing else runs.
func TestSpeed(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector is what would be measured")
	}
	for _, c := range []struct {
		world
		steps int
		most  time.Duration
	}{
		{easy, 1000, 5 * time.Microsecond}, {good, 1000, 5 * time.Microsecond},
		{easy, 1_000_000, 500 * time.Nanosecond}, {onePct, 1_000_000, 500 * time.Nanosecond},
	} {
		best := time.Hour
		for try := range 5 {
			if took := timed(c.world, c.steps, uint64(try)); took < best {
				best = took
			}
		}
		t.Logf("%s, %d steps: %s a step", c.name, c.steps, best)
		if best > c.most {
			t.Errorf("%s, %d steps: %s a step, want at most %s", c.name, c.steps, best, c.most)
		}
	}
}

// timed is the time a step of a policy that is told of races.
func timed(w world, steps int, seed uint64) time.Duration {
	rng := rand.New(rand.NewPCG(seed, 1))
	o := Options{Target: .05, Steps: steps}
	p := New(o)
	list := p.Start("").Margins
	var races []race
	for i := range steps { // margins as they would be, but for details
		if i == 100 || i == 1000 || i == 30_000 {
			now, _ := p.Now("")
			list = now.Margins
		}
		r := hold(rng, w.step(rng, i, steps), list, p.opts.MaxSamples)
		p.Count("", r.Cell, r.won >= 0)
		races = append(races, r)
	}
	p = New(o)
	p.Start("")
	start := time.Now()
	for _, r := range races {
		p.Count("", r.Cell, r.won >= 0)
	}
	return time.Since(start) / time.Duration(steps)
}
