package main

import "math"

// A summary is what a method does on a family.
type summary struct {
	items        int
	valid, p     float64 // shares of the samples
	below        float64 // share of the items of which less than half of the samples are right
	icc          float64 // correlation of right and wrong within an item; NaN if all are alike
	voted        float64 // share of the items on which the vote is right
	greedy       float64 // the same of one greedy sample, on the same items
	gain, gainSE float64 // of the vote over the greedy sample, paired
	lift, liftSE float64 // of the vote over one of its own samples, paired
	distinct     float64 // different answers to an item, on average
}

// summarise compares the votes on each item with the greedy sample of the item.
func summarise(items [][]ballot, greedy []bool) summary {
	s := summary{items: len(items)}
	var gains, lifts []float64
	var right [][]float64
	samples := 0.0
	for n, ballots := range items {
		var of []float64
		keys := map[string]bool{}
		for _, b := range ballots {
			samples++
			of = append(of, truth(b.right))
			s.valid += truth(b.valid)
			if b.valid {
				keys[b.key] = true
			}
		}
		s.distinct += float64(len(keys)) / float64(len(items))
		right = append(right, of)
		s.p += sum(of)
		s.below += truth(mean(of) < 0.5) / float64(len(items))
		voted, once := truth(plurality(ballots)), truth(greedy[n])
		s.voted += voted / float64(len(items))
		s.greedy += once / float64(len(items))
		gains, lifts = append(gains, voted-once), append(lifts, voted-mean(of))
	}
	s.valid /= samples
	s.p /= samples
	s.icc = correlation(right)
	s.gain, s.gainSE = mean(gains), standardError(gains)
	s.lift, s.liftSE = mean(lifts), standardError(lifts)
	return s
}

// correlation is the intraclass correlation of groups of one size, by the analysis
// of variance: 0 if the members of a group have no more in common than those of
// different groups, 1 if they are copies. It is NaN if nothing differs at all.
func correlation(groups [][]float64) float64 {
	if len(groups) < 2 || len(groups[0]) < 2 {
		return math.NaN()
	}
	size := float64(len(groups[0]))
	var means []float64
	within := 0.0
	for _, g := range groups {
		m := mean(g)
		means = append(means, m)
		for _, x := range g {
			within += (x - m) * (x - m)
		}
	}
	within /= float64(len(groups)) * (size - 1)
	between := size * variance(means)
	return (between - within) / (between + (size-1)*within)
}

func sum(list []float64) float64 {
	total := 0.0
	for _, x := range list {
		total += x
	}
	return total
}

func mean(list []float64) float64 { return sum(list) / float64(len(list)) }

func variance(list []float64) float64 {
	m, total := mean(list), 0.0
	for _, x := range list {
		total += (x - m) * (x - m)
	}
	return total / float64(len(list)-1)
}

func standardError(list []float64) float64 {
	return math.Sqrt(variance(list) / float64(len(list)))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
