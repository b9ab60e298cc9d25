package stats

import "math"

// An Interval is an estimate and the ends of its interval.
type Interval struct{ Value, Low, High float64 }

// Confidence is that of the intervals, and tail what they leave out to each side.
const (
	Confidence = 0.95
	tail       = (1 - Confidence) / 2
)

// A Cluster is what came of the samples of one item: so many of them were good.
type Cluster struct{ Good, Total int }

// Share is the mean share of good samples of an item, and its interval: that of Clopper
// and Pearson for as many independent samples as the spread between items allows (Korn
// and Graubard 1998), one more odd item among them. Without an item it is all of 0 to 1.
func Share(items []Cluster) Interval {
	n, samples, sum := 0, 0, 0.0
	for _, c := range items {
		if c.Total > 0 {
			n, samples = n+1, samples+c.Total
			sum += share(c)
		}
	}
	if n == 0 {
		return Interval{0, 0, 1}
	}
	p := sum / float64(n)
	spread := 0.0
	for _, c := range items {
		if c.Total > 0 {
			spread += (share(c) - p) * (share(c) - p)
		}
	}
	effective := float64(n) // items that are all alike say nothing about their spread
	if spread > 0 {
		spread += (p - 0.5) * (p - 0.5) // of an odd item that happens not to be among them
		effective = p * (1 - p) * float64(n) * float64(n-1) / spread
		adjust := tQuantile(tail, float64(samples-1)) / tQuantile(tail, float64(n-1))
		effective *= adjust * adjust
	}
	effective = min(effective, float64(samples))
	good := p * effective
	i := Interval{p, 0, 1}
	if good > 0 {
		i.Low = min(p, betaQuantile(tail, good, effective-good+1))
	}
	if good < effective {
		i.High = max(p, betaQuantile(1-tail, good+1, effective-good))
	}
	return i
}

// Most is the largest share of bad items that so many bad ones of n are likely for, in 95
// of 100 measurements: the upper bound of Clopper and Pearson. It is 1 without an item.
func Most(bad, n int) float64 {
	if bad >= n {
		return 1
	}
	return betaQuantile(Confidence, float64(bad+1), float64(n-bad))
}

func share(c Cluster) float64 { return float64(c.Good) / float64(c.Total) }

// Mean is the mean of independent differences of shares and its interval, one more odd
// item among them. One value has none: it is all of -1 to 1.
func Mean(values []float64) Interval {
	n := float64(len(values))
	if n == 0 {
		return Interval{0, -1, 1}
	}
	sum, spread := 0.0, 0.0
	for _, x := range values {
		sum += x
	}
	mean := sum / n
	if n == 1 {
		return Interval{mean, -1, 1}
	}
	for _, x := range values {
		spread += (x - mean) * (x - mean)
	}
	spread += 0.25 // of an odd item that happens not to be among them
	half := tQuantile(tail, n-1) * math.Sqrt(spread/(n*(n-1)))
	return Interval{mean, mean - half, mean + half}
}
