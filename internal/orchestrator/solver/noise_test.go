package solver

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/vote"
)

// multipliers multiply a number by one with a single digit other than 0, and add,
// and are right nine times out of ten. Whatever is larger than that they nearly
// always get wrong. One in ten of their splits loses a digit.
func multipliers(rng *rand.Rand) voters {
	return func(a asked) string {
		right := rng.Float64() < 0.9
		number := func(n int) string {
			if !right {
				n += (1 + rng.IntN(3)) * 10
			}
			return strconv.Itoa(n)
		}
		x, y := factors(a.Problem)
		digits := strings.TrimRight(strconv.Itoa(y), "0")
		switch a.Ask {
		case "decompose":
			if len(digits) == 1 {
				return atom()
			}
			power := 1
			for power*10 <= y {
				power *= 10
			}
			high, low := y/power*power, y%power
			if !right {
				low /= 10
			}
			return parts(fmt.Sprintf("%d * %d", x, high), fmt.Sprintf("%d * %d", x, low))
		case "pick":
			for _, o := range a.Options {
				_, high := factors(o.PartA)
				if _, low := factors(o.PartB); high+low == y && right {
					return picked(o.Label)
				}
			}
			return picked(a.Options[rng.IntN(len(a.Options))].Label)
		case "solve":
			if len(digits) > 1 {
				return solution(strconv.Itoa(x*y + rng.IntN(10)*10))
			}
			return solution(number(x * y))
		case "check":
			return complete()
		default:
			sum, _ := sumOf(a.A.Solution + "+" + a.B.Solution)
			if a.Ask == "answer" {
				return answer(number(sum))
			}
			return solution(number(sum))
		}
	}
}

func factors(problem string) (x, y int) {
	if n, err := fmt.Sscanf(problem, "%d * %d", &x, &y); n != 2 || err != nil {
		return 0, 0
	}
	return x, y
}

// TestVotingPays multiplies numbers of five digits with voters who err: with a
// margin that calibration would choose nearly all products are right, without a
// vote few are.
func TestVotingPays(t *testing.T) {
	for _, test := range []struct {
		rule        vote.Rule
		least, most int // right of 100
	}{
		{vote.Rule{Strategy: vote.None, MaxSamples: 20}, 0, 40},
		{vote.Rule{Strategy: vote.FirstToK, K: 4, MaxSamples: 30}, 99, 100},
	} {
		rng := rand.New(rand.NewPCG(3, 4))
		people := multipliers(rng)
		cfg := config
		cfg.Domain, cfg.Adapter, cfg.Rule = "anything", anything{}, test.rule
		cfg.Escalate = []Escalation{Diversity, Split}
		right := 0
		for range 100 {
			x, y := 10_000+rng.IntN(90_000), 10_000+rng.IntN(90_000)
			got, _ := result(t, run(t, fmt.Sprintf("%d * %d", x, y), cfg, people))
			if got.Status == StatusComposed && got.Answer == strconv.Itoa(x*y) {
				right++
			}
		}
		if right < test.least || right > test.most {
			t.Errorf("%s: %d of 100 products are right, want %d to %d", test.rule.Strategy, right, test.least, test.most)
		}
	}
}
