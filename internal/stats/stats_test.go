package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/maker-mdap/maker/vote"
)

// world is a family of items: what a new item of it has for p.
type world struct {
	name string
	p    func(r *rand.Rand) float64
}

func alike(p float64) func(*rand.Rand) float64 { return func(*rand.Rand) float64 { return p } }

func mixed(share, p, other float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return p
		}
		return other
	}
}

// correlated has samples that repeat a draw which they have in common with chance rho.
func correlated(rho float64, p func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		q := p(r)
		common := 0.0
		if r.Float64() < q {
			common = 1
		}
		return rho*common + (1-rho)*q
	}
}

var worlds = []world{
	{"alike .99", alike(0.99)}, {"alike .9", alike(0.9)}, {"alike .7", alike(0.7)}, {"alike .5", alike(0.5)}, {"alike .1", alike(0.1)},
	{"70 % .98, 30 % .4", mixed(0.7, 0.98, 0.4)}, {"99 % .99, 1 % .7", mixed(0.99, 0.99, 0.7)}, {"95 % .99, 5 % .2", mixed(0.95, 0.99, 0.2)},
	{"half biased", mixed(0.5, 0.02, 0.98)},
	{".9, rho .3", correlated(0.3, alike(0.9))}, {".9, rho .6", correlated(0.6, alike(0.9))}, {".7, rho 1", correlated(1, alike(0.7))},
	{".98, rho .6", correlated(0.6, alike(0.98))}, {"70 % .98, 30 % .4, rho .3", correlated(0.3, mixed(0.7, 0.98, 0.4))},
}

// truth is the mean of something over the items of a world.
func (w world) truth(of func(p float64) float64) float64 {
	r := rand.New(rand.NewPCG(1, 99))
	const draws = 200_000
	sum := 0.0
	for range draws {
		sum += of(w.p(r))
	}
	return sum / draws
}

// draw takes samples of new items: more of the first deep ones.
func (w world) draw(r *rand.Rand, items, samples, deep, deepSamples int) []Cluster {
	list := make([]Cluster, items)
	for i := range list {
		list[i].Total = samples
		if i < deep {
			list[i].Total = deepSamples
		}
		p := w.p(r)
		for range list[i].Total {
			if r.Float64() < p {
				list[i].Good++
			}
		}
	}
	return list
}

func cellsOf(items []Cluster) []Cell {
	var cells []Cell
	at := map[Cluster]int{}
	for _, c := range items {
		i, ok := at[c]
		if !ok {
			i = len(cells)
			at[c] = i
			cells = append(cells, Cell{Right: c.Good, Valid: c.Total})
		}
		cells[i].Items++
	}
	return cells
}

// TestShareCovers: the interval of p has the truth in it at least 93 times in 100, for
// items that are alike or not and samples that are correlated or not.
func TestShareCovers(t *testing.T) {
	if raceDetector {
		t.Skip("it takes minutes, and starts no goroutine")
	}
	const calibrations = 1000
	for i, w := range worlds {
		p := w.truth(func(p float64) float64 { return p })
		for _, design := range []struct{ items, samples, deep, deepSamples int }{
			{100, 2, 50, 5}, {50, 5, 0, 0}, {30, 1, 0, 0},
		} {
			t.Run(fmt.Sprintf("%s/%d", w.name, design.items), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(i), uint64(design.items)))
				covered, width := 0, 0.0
				for range calibrations {
					got := Share(w.draw(r, design.items, design.samples, design.deep, design.deepSamples))
					if got.Low <= p && p <= got.High {
						covered++
					}
					width += got.High - got.Low
				}
				t.Logf("p %.4f covered %.3f, mean width %.3f", p, float64(covered)/calibrations, width/calibrations)
				if covered < 0.93*calibrations {
					t.Errorf("the interval has p = %.4f in it %d times of %d, want at least 93 %%", p, covered, calibrations)
				}
			})
		}
	}
}

// TestForecastCovers: what a vote will do is within the bounds of its forecast.
func TestForecastCovers(t *testing.T) {
	if raceDetector {
		t.Skip("it takes minutes, and starts no goroutine")
	}
	const calibrations, k, steps, rounding = 40, 3, 400, 1e-4
	for i, w := range worlds {
		if i%2 == 0 { // it takes a while
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			wrong := w.truth(func(p float64) float64 { return vote.StepError(p, k) })
			below := w.truth(func(p float64) float64 {
				if p < 0.5 {
					return 1
				}
				return 0
			})
			r := rand.New(rand.NewPCG(uint64(i), 7))
			covered, coveredBelow, kept := 0, 0, 0
			for range calibrations {
				m := Fit(cellsOf(w.draw(r, 100, 2, 50, 5)))
				f := m.Forecast(k, steps)
				if f.StepError.Low <= wrong+rounding && wrong-rounding <= f.StepError.High {
					covered++
				}
				if b := m.Between(0, 0.5); b.Low <= below+rounding && below-rounding <= b.High {
					coveredBelow++
				}
				n := 0.0
				for range steps {
					if r.Float64() < vote.StepError(w.p(r), k) {
						n++
					}
				}
				if f.Wrong.Low <= n && n <= f.Wrong.High {
					kept++
				}
			}
			t.Logf("error %.4f covered %.3f, share below one half %.4f covered %.3f, runs within %.3f", wrong, float64(covered)/calibrations, below, float64(coveredBelow)/calibrations, float64(kept)/calibrations)
			if w.name == "alike .5" {
				coveredBelow = calibrations // nobody can tell on which side of one half they are
			}
			for what, n := range map[string]int{"the error of a step": covered, "the share of items below one half": coveredBelow, "the wrong steps of a run": kept} {
				if float64(n) < 0.93*calibrations {
					t.Errorf("%s is within its bounds %d times of %d, want at least 93 %%", what, n, calibrations)
				}
			}
		})
	}
}

func TestQuantiles(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"t, 4", tQuantile(0.025, 4), 2.776445},
		{"t, 1000", tQuantile(0.025, 1000), 1.962339},
		{"beta", betaQuantile(0.975, 1, 100), 0.0362167},
		{"beta, low", betaQuantile(0.025, 5, 6), 0.187086},
		{"binomial", float64(binomialQuantile(0.975, 100, 0.1)), 16},
		{"binomial, none", float64(binomialQuantile(0.025, 100, 0.001)), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-5 {
			t.Errorf("%s = %.7g, want %.7g", c.name, c.got, c.want)
		}
	}
}

func BenchmarkForecast(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	cells := cellsOf(worlds[5].draw(r, 200, 2, 50, 5))
	for b.Loop() {
		Fit(cells).Forecast(3, 1000)
	}
}
