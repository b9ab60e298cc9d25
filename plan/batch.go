package plan

import "slices"

// BatchOptions bound what runs at once.
type BatchOptions struct {
	// Limit is the most steps in a batch; less than 1 means 1.
	Limit int

	// Alone says that a step does not share a batch. Steps can depend on each
	// other through the world, which a plan does not show: one writes a file and
	// the next runs a program that reads it. Nil means that no step does.
	Alone func(s *Step) bool
}

// Batch returns the numbers of the steps that can run at once, from a step on, in
// the order in which they would run one after the other. The first one is the
// step itself.
//
// A further step belongs to the batch if the step before it leads to it for
// certain and none of its inputs is the output of a step in the batch. All its
// inputs have then been produced before, or never will be, so that it sees what
// it would see if the steps ran in turn. A conditional step can only be the last
// of a batch. The batch ends before a step that cannot belong to it, also if
// steps behind that could: nothing runs ahead of a step that has to wait.
//
// It is nil if there is no such step. The executor commits the outputs in the
// order of the batch and goes on after the last step.
func (p *Plan) Batch(from int, o BatchOptions) []int {
	var batch []int
	var outputs []string // of the batch
	for {
		s := p.Step(from)
		if s == nil || slices.Contains(batch, from) {
			return batch
		}
		alone := o.Alone != nil && o.Alone(s)
		if len(batch) > 0 && (alone || slices.ContainsFunc(s.Outputs(), func(v string) bool { return slices.Contains(outputs, v) })) {
			return batch
		}
		batch, outputs = append(batch, from), append(outputs, s.OutputVariable)
		if alone || s.TaskType != ActionStep || len(batch) >= o.Limit {
			return batch
		}
		from = s.NextStep
	}
}
