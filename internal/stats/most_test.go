package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMost(t *testing.T) {
	for _, c := range []struct {
		bad, n int
		want   float64
	}{
		{0, 0, 1}, {3, 3, 1}, {0, 1, .95}, {0, 59, .04950}, {0, 299, .009969}, {1, 20, .2161}, {5, 100, .1023},
	} {
		if got := Most(c.bad, c.n); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("Most(%d, %d) = %.5f, want %.5f", c.bad, c.n, got, c.want)
		}
	}
}

// TestMostCovers: the bound is above the truth in 95 of 100 measurements, whatever it is.
func TestMostCovers(t *testing.T) {
	const draws = 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	bounds := map[[2]int]float64{}
	covered := 0
	for range draws {
		n, p := 5+5*rng.IntN(40), math.Pow(10, -3*rng.Float64())
		bad := 0
		for range n {
			if rng.Float64() < p {
				bad++
			}
		}
		key := [2]int{bad, n}
		if _, ok := bounds[key]; !ok {
			bounds[key] = Most(bad, n)
		}
		if p <= bounds[key] {
			covered++
		}
	}
	if share := float64(covered) / draws; share < .945 {
		t.Errorf("the bound covers the truth in %.4f of %d draws, want .945", share, draws)
	}
}
