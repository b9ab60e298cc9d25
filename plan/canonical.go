package plan

import (
	"encoding/json"
	"slices"
)

// Canonical is the key under which plans are voted on. Two plans agree if they
// have the same steps in structure: number, type, tools, which outputs they take
// and what they call theirs, and which step is next.
//
// What does not count: the order of tools and inputs, and which fields of an
// output an input names, since a step is given the whole output; prose (reasoning,
// titles, descriptions, instructions, schemas), which no two samples word alike;
// and the optional settings. All of these are taken from the plan that won, so
// voting certifies the shape of the work and not its wording.
func Canonical(p *Plan) string {
	type step struct {
		Fallback []string `json:"fallback_tools"`
		Inputs   []string `json:"inputs"`
		Next     int      `json:"next"`
		Output   string   `json:"output"`
		Primary  []string `json:"primary_tools"`
		Number   int      `json:"step"`
		Type     TaskType `json:"type"`
	}
	steps := make([]step, 0, len(p.Steps))
	for i := range p.Steps {
		s := &p.Steps[i]
		steps = append(steps, step{
			Number:   s.Number,
			Type:     s.TaskType,
			Primary:  set(s.PrimaryTools),
			Fallback: set(s.FallbackTools),
			Inputs:   set(s.Outputs()),
			Output:   s.OutputVariable,
			Next:     s.NextStep,
		})
	}
	key, err := json.Marshal(steps)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	return string(key)
}

// set returns the distinct names in order.
func set(names []string) []string {
	sorted := slices.Sorted(slices.Values(names))
	return append([]string{}, slices.Compact(sorted)...)
}
