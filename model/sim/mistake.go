package sim

import "github.com/maker-mdap/maker/model/sim/internal/problem"

// slipOf is the mistake of a wrong answer.
func slipOf(d *decision) problem.Slip { return problem.Slip{Step: d.step >> 8, Rival: d.rival} }

// slips are the mistakes in an answer that takes several operations, each of which
// goes wrong with the chance that one of them has: the first by the decision
// itself, the others by draws of their own. All but the first count as many times
// as the load says, since they are done in one go.
func (d *decision) slips(operations int) []problem.Slip {
	var all []problem.Slip
	if d.quality == wrong {
		all = append(all, slipOf(d))
	}
	draws := d.more
	for i := range min(int(d.load*float64(operations-1)+0.5), maxOperations) {
		luck, rival := draws.float(), draws.below(d.rivals)
		if luck >= d.p && len(all) < maxSlips {
			all = append(all, problem.Slip{Step: mix(d.step+uint64(i+1)*golden) >> 8, Rival: rival})
		}
	}
	return all
}

const (
	maxOperations = 100_000 // nobody gets that far
	maxSlips      = 32      // more make no difference
)
