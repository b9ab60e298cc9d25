package plan_test

import (
	"fmt"

	"github.com/maker-mdap/maker/plan"
)

func ExampleValidate() {
	text := `
reasoning: The file is read, then summed up.
plan:
  - step: 0
    task_type: action_step
    title: read_sales
    task_description: Read the file sales.csv and return its rows.
    primary_tool: [Read]
    fallback_tools: []
    primary_tool_instructions: Call Read with file_path sales.csv.
    fallback_tool_instructions: ""
    input_variables: []
    output_variable: step_0_output
    output_schema: {rows: [string]}
    next_step_sequence_number: 1
  - step: 1
    task_type: action_step
    title: add_up
    task_description: Add up the second column of step_0_output.rows.
    primary_tools: []
    fallback_tools: []
    primary_tool_instructions: ""
    fallback_tool_instructions: ""
    input_variables: [step_0_ouput.rows]
    output_variable: step_1_output
    output_schema: {total: number}
    next_step_sequence_number: 2
`
	_, report := plan.Validate(text, plan.Options{})
	for _, f := range report.Findings() {
		fmt.Println(f)
	}
	// Output:
	// line 8: step 0: primary_tools is missing; the field primary_tool seems to be meant: rename it (required_fields_present)
	// line 27: step 1: next_step_sequence_number is 2, but the plan has steps 0 to 1: name one of them, or -1 to end (next_step_valid)
	// line 27: step 1: next_step_sequence_number is 2, but it is the last step: set it to -1 (final_step_returns_minus_1)
	// line 24: step 1: input_variables has "step_0_ouput.rows", which no step produces; step_0_output seems to be meant (inputs_available)
}

func ExamplePlan_Batch() {
	step := func(number, next int, inputs ...string) plan.Step {
		return plan.Step{
			Number: number, TaskType: plan.ActionStep, NextStep: next,
			InputVariables: inputs, OutputVariable: fmt.Sprintf("step_%d_output", number),
		}
	}
	p := &plan.Plan{Steps: []plan.Step{
		step(0, 1), step(1, 2), step(2, 3, "step_0_output.id"), step(3, 4), step(4, plan.End, "step_2_output"),
	}}
	for next := 0; next != plan.End; {
		batch := p.Batch(next, plan.BatchOptions{Limit: 4})
		fmt.Println(batch)
		next = p.Step(batch[len(batch)-1]).NextStep
	}
	// Output:
	// [0 1]
	// [2 3]
	// [4]
}
