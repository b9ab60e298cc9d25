package sim

import (
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// What the simulator can do, and where:
//
//	lines.go      tasks that are a line of the prompt: hanoi.go, arithmetic.go, sorting.go
//	step.go       the agents that do a step; step_call.go, step_work.go, step_fields.go
//	solve.go      the voters of maker solve; solve_split.go
//	              and package internal/problem with what they know
//	script.go     whatever a script teaches
//
// A skill is chosen by the form of the prompt, as its template in internal/prompts
// has it, and reads nothing but that prompt and the results of its tools. Each
// skill finds the right answer first and then does with it what the decision says.

// takePart answers the prompts of the parts that models play in maker run and
// maker solve; nil if the prompt is none of them.
func (d *decision) takePart(q *question, i *inquiry) *answer {
	switch p := q.prompt; {
	case strings.HasPrefix(p, stepHeading):
		return d.doStep(q)
	}
	if i != nil {
		return d.takePartInSolving(i)
	}
	return nil
}

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
