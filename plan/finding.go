package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// The checks, by the names that findings and reports use.
const (
	CheckValidYAML                     = "valid_yaml"
	CheckRequiredFieldsPresent         = "required_fields_present"
	CheckStepNumbering                 = "step_numbering"
	CheckTaskTypeValid                 = "task_type_valid"
	CheckReasoningPresent              = "reasoning_present"
	CheckToolsMutuallyExclusive        = "tools_mutually_exclusive"
	CheckToolsAreValid                 = "tools_are_valid"
	CheckConditionalStepNoTools        = "conditional_step_no_tools"
	CheckConditionalStepNoInstructions = "conditional_step_no_instructions"
	CheckNextStepValid                 = "next_step_valid"
	CheckConditionalReturnsMinus2      = "conditional_returns_minus_2"
	CheckFinalStepReturnsMinus1        = "final_step_returns_minus_1"
	CheckNoOrphanSteps                 = "no_orphan_steps"
	CheckOutputSchemaExists            = "output_schema_exists"
	CheckNoBackwardJumps               = "no_backward_jumps"
	CheckInputsAvailable               = "inputs_available"
	CheckOutputVariableUnique          = "output_variable_unique"
	CheckTier3NotListed                = "tier3_not_listed"
)

// Names lists all checks in the order in which they are reported.
func Names() []string {
	return []string{
		CheckValidYAML, CheckRequiredFieldsPresent, CheckStepNumbering, CheckTaskTypeValid, CheckReasoningPresent,
		CheckToolsMutuallyExclusive, CheckToolsAreValid, CheckConditionalStepNoTools, CheckConditionalStepNoInstructions,
		CheckNextStepValid, CheckConditionalReturnsMinus2, CheckFinalStepReturnsMinus1, CheckNoOrphanSteps,
		CheckOutputSchemaExists, CheckNoBackwardJumps, CheckInputsAvailable, CheckOutputVariableUnique, CheckTier3NotListed,
	}
}

// WholePlan is the [Finding.Step] of a finding that is not about one step.
const WholePlan = -1

// A Finding is one thing that is wrong with a plan.
type Finding struct {
	Check string // one of [Names]
	Step  int    // the number of the step, or [WholePlan]
	Line  int    // where in the text, from 1; 0 if there is no text

	// Message says what is wrong and what to change. It names the step, if it is
	// about one, and the field.
	Message string
}

// String returns the finding as one line for people and planners.
func (f Finding) String() string {
	if f.Line > 0 {
		return fmt.Sprintf("line %d: %s (%s)", f.Line, f.Message, f.Check)
	}
	return fmt.Sprintf("%s (%s)", f.Message, f.Check)
}

// sortFindings puts findings in the order of the checks, and those of one check
// in the order of the steps.
func sortFindings(findings []Finding) {
	names := Names()
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(names, a.Check), slices.Index(names, b.Check)), cmp.Compare(a.Step, b.Step))
	})
}
