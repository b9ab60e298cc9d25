package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/maker-mdap/maker/plan"
)

// writeSteps writes a plan of so many steps in a row. The first one says "Begin.",
// and each of the others passes on the value of the one before it.
func writeSteps(ts *testscript.TestScript, args []string) {
	p := plan.Plan{Reasoning: "One after the other."}
	for i := range number(ts, args[1]) {
		s := plan.Step{
			Number: i, TaskType: plan.ActionStep, Title: fmt.Sprint("step ", i), TaskDescription: "Begin.",
			PrimaryTools: []string{}, FallbackTools: []string{}, InputVariables: []string{},
			OutputVariable: fmt.Sprintf("step_%d_output", i), OutputSchema: "value: text", NextStep: i + 1,
		}
		if i > 0 {
			s.TaskDescription = fmt.Sprintf("Pass on step_%d_output.value.", i-1)
			s.InputVariables = []string{fmt.Sprintf("step_%d_output.value", i-1)}
		}
		p.Steps = append(p.Steps, s)
	}
	p.Steps[len(p.Steps)-1].NextStep = plan.End
	data, err := json.Marshal(p)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}
