package adaptive

import "math"

// hardRace is how many votes for a runner-up make a race one of those whose share must
// not grow.
const hardRace = 2

// factors are by how much that share may have grown: a little, which takes long to see,
// or a lot, which does not.
var factors = [...]float64{4, 32, 256}

// A watch looks out for the moment from which on hard races are so many times as frequent
// as before (a CUSUM test).
type watch struct {
	hit, miss float64 // what a race adds to the sum: logarithms of likelihood ratios
	sum       float64
	since     []count // the races since the sum left 0
}

// A count is how often a cell came up.
type count struct {
	Cell
	races, committed int
}

// expect sets the share of hard races that is usual.
func (w *watch) expect(share, factor float64) {
	grown := share * factor
	if grown >= .5 {
		w.hit, w.miss = 0, 0 // nothing would be that much more frequent
		return
	}
	w.hit = math.Log(factor)
	w.miss = math.Log1p(-grown) - math.Log1p(-share)
}

// add takes in a race and reports whether the sum is beyond limit.
func (w *watch) add(c Cell, committed int, limit float64) bool {
	if c.Second >= hardRace {
		w.sum += w.hit
	} else if w.sum == 0 {
		return false
	} else {
		w.sum += w.miss
	}
	if w.sum <= 0 {
		w.sum, w.since = 0, w.since[:0]
		return false
	}
	for i := range w.since {
		if w.since[i].Cell == c {
			w.since[i].races++
			w.since[i].committed += committed
			return w.sum > limit
		}
	}
	w.since = append(w.since, count{c, 1, committed})
	return w.sum > limit
}
