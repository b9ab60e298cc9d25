package stats

import "math"

// A Sample is what came of one sample, and how it was asked.
type Sample struct {
	Item    int
	Framing int // which of the framings, from 0
	Voter   int // which of the voters, from 0
	Right   bool
	Answer  string // stands for what it said
}

// A Relation is what two samples of an item have in common.
type Relation int

// The relations.
const (
	SameFraming   Relation = iota // and the same voter
	OtherFraming                  // but the same voter
	OtherVoter                    // in whatever framing
	relationCount = iota
)

func relation(a, b *Sample) Relation {
	switch {
	case a.Voter != b.Voter:
		return OtherVoter
	case a.Framing != b.Framing:
		return OtherFraming
	default:
		return SameFraming
	}
}

// Correlations are those between whether two samples of one item are right, for each
// relation: 0 if errors are independent, 1 if samples are copies. One that cannot be told,
// because there are no such pairs or no errors, is nil. That framings and voters differ
// in how good they are is no correlation.
func Correlations(samples []Sample) [relationCount]*Interval {
	expect := additive(samples)
	items, order := byItem(samples)
	var products [relationCount][]float64 // one for each item
	spread, n := 0.0, 0.0
	for i := range samples {
		e := expect(&samples[i])
		spread += e * (1 - e)
		n++
	}
	for _, item := range order {
		var sum, pairs [relationCount]float64
		list := items[item]
		for i := range list {
			for j := range i {
				r := relation(list[i], list[j])
				sum[r] += (hit(list[i]) - expect(list[i])) * (hit(list[j]) - expect(list[j]))
				pairs[r]++
			}
		}
		for r := range sum {
			if pairs[r] > 0 {
				products[r] = append(products[r], sum[r]/pairs[r])
			}
		}
	}
	var out [relationCount]*Interval
	if n == 0 || spread < 1e-9 {
		return out
	}
	for r, list := range products {
		if len(list) < 2 {
			continue
		}
		i := Mean(list)
		scale := n / spread
		out[r] = &Interval{bounded(i.Value * scale), bounded(i.Low * scale), bounded(i.High * scale)}
	}
	return out
}

func bounded(x float64) float64 { return min(max(x, -1), 1) }

func hit(s *Sample) float64 {
	if s.Right {
		return 1
	}
	return 0
}

func byItem(samples []Sample) (items map[int][]*Sample, order []int) {
	items = map[int][]*Sample{}
	for i := range samples {
		s := &samples[i]
		if items[s.Item] == nil {
			order = append(order, s.Item)
		}
		items[s.Item] = append(items[s.Item], s)
	}
	return items, order
}

// additive is how often a sample is right by its framing and its voter, each of which
// makes its own difference to the mean.
func additive(samples []Sample) func(*Sample) float64 {
	type count struct{ right, total float64 }
	var all count
	framings, voters := map[int]count{}, map[int]count{}
	for i := range samples {
		s := &samples[i]
		for _, c := range []struct {
			in map[int]count
			at int
		}{{framings, s.Framing}, {voters, s.Voter}} {
			was := c.in[c.at]
			c.in[c.at] = count{was.right + hit(s), was.total + 1}
		}
		all = count{all.right + hit(s), all.total + 1}
	}
	return func(s *Sample) float64 {
		f, v := framings[s.Framing], voters[s.Voter]
		return min(max(f.right/f.total+v.right/v.total-all.right/all.total, 0), 1)
	}
}

// Together is how often two voters err on the same item.
type Together struct {
	A, B  int // the voters; the same one twice for two samples of it
	Pairs int // of samples that were compared, each item counted once

	Both   Interval // share of items on which both are wrong
	Chance float64  // what it would be if they erred independently
	Alike  float64  // share of the common errors with the same wrong answer
}

// ErrTogether compares all pairs of voters on the items that both answered.
func ErrTogether(samples []Sample, voters int) []Together {
	wrong := make([]float64, voters)
	total := make([]float64, voters)
	for i := range samples {
		wrong[samples[i].Voter] += 1 - hit(&samples[i])
		total[samples[i].Voter]++
	}
	items, order := byItem(samples)
	var out []Together
	for a := range voters {
		for b := a; b < voters; b++ {
			t := Together{A: a, B: b}
			var shares []float64
			together, alike := 0.0, 0.0
			for _, item := range order {
				both, same, pairs := 0.0, 0.0, 0.0
				list := items[item]
				for i := range list {
					for j := range i {
						x, y := list[i], list[j]
						if !(x.Voter == a && y.Voter == b || x.Voter == b && y.Voter == a) {
							continue
						}
						pairs++
						if !x.Right && !y.Right {
							both++
							if x.Answer == y.Answer {
								same++
							}
						}
					}
				}
				if pairs > 0 {
					t.Pairs++
					shares = append(shares, both/pairs)
					together += both / pairs
					alike += same / pairs
				}
			}
			if t.Pairs < 2 {
				continue
			}
			t.Both = Mean(shares)
			t.Both.Low, t.Both.High = math.Max(t.Both.Low, 0), math.Min(t.Both.High, 1)
			t.Chance = wrong[a] / total[a] * wrong[b] / total[b]
			if together > 0 {
				t.Alike = alike / together
			}
			out = append(out, t)
		}
	}
	return out
}
