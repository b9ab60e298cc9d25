package vote

import "math"

// A Record counts what became of the samples of one framing of questions.
type Record struct {
	Samples int `json:"samples"`
	Bad     int `json:"bad"` // discarded, or for an answer that lost
}

// minRecord is how many samples say something about a framing.
const minRecord = 20

// doubt is how many standard errors a share may be off: so many that in a million
// looks at framings that are all alike none of them is found to be worse.
const doubt = 3.5

// Worse finds the framing that is clearly worse than the others together: even if it
// had bad luck and they had good luck, more of its samples are bad. Which framings are
// tried at all is up to records; it is -1 if there is none.
func Worse(records []Record) int {
	worst, lead := -1, 0.0
	for i, r := range records {
		var others Record
		for j, o := range records {
			if j != i {
				others.Samples += o.Samples
				others.Bad += o.Bad
			}
		}
		if r.Samples < minRecord || others.Samples < minRecord {
			continue
		}
		low, _ := Wilson(r.Bad, r.Samples, doubt)
		_, high := Wilson(others.Bad, others.Samples, doubt)
		if low-high > lead {
			worst, lead = i, low-high
		}
	}
	return worst
}

// Wilson is the score interval of a share of n in total, so many standard errors wide
// to each side: all of 0 to 1 if there is nothing to tell it from.
func Wilson(n, total int, errors float64) (low, high float64) {
	if total <= 0 {
		return 0, 1
	}
	p, m, z := float64(n)/float64(total), float64(total), errors*errors
	centre := (p + z/(2*m)) / (1 + z/m)
	width := errors / (1 + z/m) * math.Sqrt(p*(1-p)/m+z/(4*m*m))
	low, high = centre-width, centre+width
	if n == 0 {
		low = 0 // but for rounding it is
	}
	if n == total {
		high = 1
	}
	return low, high
}
