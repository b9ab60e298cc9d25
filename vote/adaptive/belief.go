package adaptive

import "math"

// A Cell is how a race ended: the votes of its leader and of the runner-up.
type Cell struct {
	Lead   int `json:"lead"`
	Second int `json:"second"`
}

const (
	atoms = 31

	// Atoms are equally far from each other in log odds.
	firstAtom, atomStep = .1, .3

	// hardBelow tells the two steps of the prior apart: one is hard, one is not.
	hardBelow = .8

	// rounds is how often a fit is improved. What is fitted next starts from it.
	rounds = 10
)

var (
	theta              weights // the chance that a vote is for the likeliest answer, not for its rival
	logRight, logWrong weights // logarithms of that and of the rest
	gain               weights // by how much a vote ahead makes the leader likelier, in log odds
	cold               weights // counts of the steps that nobody has seen
)

// split is what a disputed race is taken for. Simulations of many kinds come close to their
// targets with it; less dissent leaves too many hard races out, more costs votes.
var split seen

type weights [atoms]float64

func init() {
	hard := 0
	for i := range theta {
		odds := firstAtom + atomStep*float64(i)
		theta[i] = 1 / (1 + math.Exp(-odds))
		logRight[i] = -math.Log1p(math.Exp(-odds))
		logWrong[i] = -math.Log1p(math.Exp(odds))
		gain[i] = odds
		if theta[i] < hardBelow {
			hard++
		}
	}
	for i := range cold {
		if i < hard {
			cold[i] = 1 / float64(hard)
		} else {
			cold[i] = 1 / float64(atoms-hard)
		}
	}
	split = newSeen(Cell{5, 2})
}

// below is the sum of the counts of atoms below a chance.
func (w *weights) below(chance float64) float64 {
	sum := 0.0
	for i := range w {
		if theta[i] < chance {
			sum += w[i]
		}
	}
	return sum
}

// A seen cell is how many races ended alike, and what they say.
type seen struct {
	Cell
	races     int     // that ended so
	committed int     // those whose answer was taken
	like      weights // the likelihood of each atom, up to a factor
}

func newSeen(c Cell) seen {
	s := seen{Cell: c}
	most := math.Inf(-1)
	for i := range s.like {
		s.like[i] = logLike(i, c)
		most = max(most, s.like[i])
	}
	for i := range s.like {
		s.like[i] = math.Exp(s.like[i] - most)
	}
	return s
}

// logLike is the logarithm of the likelihood of an atom.
func logLike(i int, c Cell) float64 {
	a, b := float64(c.Lead), float64(c.Second)
	right := float64(a*logRight[i]) + float64(b*logWrong[i])
	return right + math.Log1p(math.Exp(-float64((a-b)*gain[i])))
}

// cells counts races in the order in which their kind first came up.
type cells struct {
	list  []seen
	index map[Cell]int
}

func (c *cells) add(cell Cell, races, committed int) {
	i, ok := c.index[cell]
	if !ok {
		if c.index == nil {
			c.index = map[Cell]int{}
		}
		i = len(c.list)
		c.index[cell] = i
		c.list = append(c.list, newSeen(cell))
	}
	c.list[i].races += races
	c.list[i].committed += committed
}

// A belief is what is thought about how hard the steps of a class are.
type belief struct {
	cells
	disputed int     // races that are under way and have a runner-up
	prior    weights // counts
	w        weights // counts: those of the prior and those of the races, fitted
	waiting  weights // those of the disputed races among them
}

// fit makes the weights those under which the races are likely.
func (b *belief) fit() {
	for range rounds {
		next := b.prior
		for i := range b.list {
			b.explain(&b.list[i], b.list[i].races, &next)
		}
		b.waiting = weights{}
		b.explain(&split, b.disputed, &b.waiting)
		for i, w := range b.waiting {
			next[i] += w
		}
		b.w = next
	}
}

// explain adds to counts for how many steps at each atom so many races of a cell stand.
func (b *belief) explain(s *seen, races int, to *weights) {
	if races == 0 {
		return
	}
	var part weights
	sum := 0.0
	for j := range part {
		part[j] = float64(b.w[j] * s.like[j])
		sum += part[j]
	}
	scale := float64(races) / sum
	for j := range part {
		to[j] += float64(part[j] * scale)
	}
}

// wrong is the chance that the leader of a cell is not the likeliest answer.
func (b *belief) wrong(s *seen) float64 {
	all, bad := 0.0, 0.0
	for i := range b.w {
		p := float64(b.w[i] * s.like[i])
		all += p
		bad += p / (1 + math.Exp(float64(s.Lead-s.Second)*gain[i]))
	}
	return bad / all
}

// tie is the chance that a race of a cell is a near tie.
func (b *belief) tie(s *seen) float64 {
	after := s.like
	for i := range after {
		after[i] *= b.w[i]
	}
	return after.below(nearTie) / after.below(2)
}

// margins are the smallest leads with which a race is decided, by the votes of the
// runner-up, such that the leader is not the likeliest answer with a chance of at most
// alpha, if steps are at each of the chances with its weight. The last margin cannot be
// reached within so many votes: nor can any after it.
func margins(at, weight []float64, alpha float64, most int) []int {
	list := make([]int, 0, 16)
	n := len(at)
	buf := make([]float64, 3*n)
	u, right, wrong := buf[:n:n], buf[n:2*n:2*n], buf[2*n:]
	copy(u, weight) // by now times (theta (1-theta))^b
	for i, p := range at {
		right[i], wrong[i] = p, 1-p // to the power of m
	}
	m := 1
	for b := 0; ; b++ {
		for 2*b+m <= most && doubt(u, right, wrong) > alpha*(1+rounding) {
			m++
			for i, p := range at {
				right[i] *= p
				wrong[i] *= 1 - p
			}
		}
		list = append(list, m)
		if 2*b+m > most {
			return list
		}
		top := 0.0
		for i, p := range at {
			u[i] *= p * (1 - p)
			top = max(top, u[i])
		}
		for i := range u {
			if top >= tiny {
				break
			}
			u[i] /= top
		}
	}
}

// tiny is far from where floats end.
const tiny = 1e-100

// rounding is how much a chance may be above what is allowed: a margin that is exactly
// enough must not fail by the last digit.
const rounding = 1e-12

// doubt is the chance that the leader is not the likeliest answer.
func doubt(u, right, wrong []float64) float64 {
	all, bad := 0.0, 0.0
	for i, x := range u {
		p := float64(x * wrong[i])
		bad += p
		all += p + float64(x*right[i])
	}
	return bad / all
}
