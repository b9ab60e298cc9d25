package stats

import "math"

// betaCDF is the chance that a beta variable is at most x.
func betaCDF(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // where the fraction converges fast for the complement
		return 1 - betaCDF(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	return front * betaFraction(x, a, b) / a
}

// betaFraction is the continued fraction of the incomplete beta function, by Lentz's
// method.
func betaFraction(x, a, b float64) float64 {
	const tiny, exact = 1e-300, 1e-14
	notZero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/notZero(1-(a+b)*x/(a+1))
	h := d
	for i := 1; i <= 1000; i++ {
		m := float64(i)
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		for _, term := range [...]float64{even, odd} {
			d = 1 / notZero(1+term*d)
			c = notZero(1 + term/c)
			h *= d * c
		}
		if math.Abs(c*d-1) < exact {
			break
		}
	}
	return h
}

// betaQuantile is the x below which a beta variable lies with chance q.
func betaQuantile(q, a, b float64) float64 {
	return bisect(0, 1, func(x float64) bool { return betaCDF(x, a, b) < q })
}

// tQuantile is the x that a Student variable exceeds with chance tail to each side.
func tQuantile(tail, df float64) float64 {
	return bisect(0, 1e4, func(x float64) bool { return betaCDF(df/(df+x*x), df/2, 0.5)/2 > tail })
}

// bisect finds where below turns from true to false.
func bisect(low, high float64, below func(float64) bool) float64 {
	for range 55 {
		if middle := (low + high) / 2; below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// binomialQuantile is the smallest number of successes in n trials that is not exceeded
// with chance q.
func binomialQuantile(q float64, n int, p float64) int {
	low, high := 0, n
	for low < high {
		// P(X <= x) is that of a beta variable with x+1 and n-x.
		x := low + (high-low)/2
		if 1-betaCDF(p, float64(x+1), float64(n-x)) >= q {
			high = x
		} else {
			low = x + 1
		}
	}
	return low
}
