// Package plan is the form in which a task is broken into steps: how a plan is
// written and read, what makes it sound, and what an executor wants to know
// about it. It is pure.
//
// # A plan
//
// A plan is YAML (or JSON, which is YAML): the planner's reasoning, and a list of
// steps that are numbered from 0 in their order. A step says what is to be done,
// with which tools and from which earlier outputs, and which step comes next.
// docs/plans.md describes it for those who write one.
//
// # Routing
//
// An action step names the step after it, or [End]. A conditional step does not:
// it has [Decided] there and answers with the number of a later step, or [End], when it
// runs. So a plan only ever goes forward, and every step runs at most once,
// unless loops are allowed. [Plan.Route] checks the answer of a conditional step.
//
// # Data
//
// The output of a step is known by its output variable. An input is a path whose
// first part is such a variable ("step_0_output.user_id"); the step is given the
// whole output, see [Output]. On a branch that was not taken nothing is produced,
// so an output that is fed from several branches may be absent at run time.
//
// # Checks
//
// [Parse] says what keeps a text from being a plan, [Check] what is wrong with a
// plan, [Validate] both at once. Each problem is a [Finding] under the name of
// one check. A mistake is reported where it was made and not again by the checks
// that it would trip as well: a step whose type is unknown is not also judged as
// if it had one.
package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/vote"
)

// A Plan is a task broken into steps. It is plain data. Its JSON form is the one
// of the file; YAML is read with [Parse] and written with [Encode].
type Plan struct {
	Reasoning string `json:"reasoning" yaml:"reasoning"`
	Steps     []Step `json:"plan" yaml:"plan"`
}

// A Step is the smallest unit of work that is decided on its own.
type Step struct {
	Number          int      `json:"step" yaml:"step"` // from 0
	TaskType        TaskType `json:"task_type" yaml:"task_type"`
	Title           string   `json:"title" yaml:"title"`
	TaskDescription string   `json:"task_description" yaml:"task_description"`

	// The tools of the first and the second tier. The third, [LastResort], is
	// always there and never listed.
	PrimaryTools             []string `json:"primary_tools" yaml:"primary_tools"`
	FallbackTools            []string `json:"fallback_tools" yaml:"fallback_tools"`
	PrimaryToolInstructions  string   `json:"primary_tool_instructions" yaml:"primary_tool_instructions"`
	FallbackToolInstructions string   `json:"fallback_tool_instructions" yaml:"fallback_tool_instructions"`

	InputVariables []string `json:"input_variables" yaml:"input_variables"` // paths, see [Output]
	OutputVariable string   `json:"output_variable" yaml:"output_variable"`
	OutputSchema   string   `json:"output_schema" yaml:"output_schema"` // free text, a hint; but see [FieldReaders]

	// NextStep is the number of the step after this one, [End] or [Decided].
	NextStep int `json:"next_step_sequence_number" yaml:"next_step_sequence_number"`

	// The rest is optional. What is not set is as the run has it.
	VoteOn  []string `json:"vote_on,omitempty" yaml:"vote_on,omitempty"` // paths as in [vote.KeyOptions]
	Ignore  []string `json:"ignore,omitzero" yaml:"ignore,omitempty"`
	Compare string   `json:"compare,omitempty" yaml:"compare,omitempty"` // [CompareExactly] or [CompareMeaning]
	Voting  *Voting  `json:"voting,omitempty" yaml:"voting,omitempty"`
	Model   string   `json:"model,omitempty" yaml:"model,omitempty"`
	Timeout string   `json:"timeout,omitempty" yaml:"timeout,omitempty"` // see [Millis]
	Class   string   `json:"class,omitempty" yaml:"class,omitempty"`     // of steps that are about as hard
}

// TaskType is the kind of a step.
type TaskType string

// The kinds of step.
const (
	ActionStep      TaskType = "action_step"      // does something and has an output
	ConditionalStep TaskType = "conditional_step" // decides which step is next
)

// Special values of [Step.NextStep].
const (
	End     = -1 // the plan is done
	Decided = -2 // the conditional step decides
)

// LastResort is the tool that every step has without listing it.
const LastResort = "AskUserQuestion"

// Voting is how a step differs from the rule of its run. A number that is 0 is
// as the run has it.
type Voting struct {
	Strategy   vote.Strategy `json:"strategy" yaml:"strategy"`
	N          int           `json:"n,omitempty" yaml:"n,omitempty"`
	K          int           `json:"k,omitempty" yaml:"k,omitempty"`
	MaxSamples int           `json:"max_samples,omitempty" yaml:"max_samples,omitempty"`
}

// UnmarshalJSON reads a strategy alone as well as an object.
func (v *Voting) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &v.Strategy)
	}
	type plain Voting // without this method
	return json.Unmarshal(data, (*plain)(v))
}

// Rule is the rule for a step in a run that has the rule run. A nil Voting
// changes nothing.
func (v *Voting) Rule(run vote.Rule) vote.Rule {
	if v == nil {
		return run
	}
	return vote.Rule{
		Strategy:   v.Strategy,
		N:          cmp.Or(v.N, run.N),
		K:          cmp.Or(v.K, run.K),
		MaxSamples: cmp.Or(v.MaxSamples, run.MaxSamples),
	}
}

// Step returns the step with a number, or nil if there is none.
func (p *Plan) Step(number int) *Step {
	if number >= 0 && number < len(p.Steps) && p.Steps[number].Number == number {
		return &p.Steps[number]
	}
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Number == number })
	if i < 0 {
		return nil
	}
	return &p.Steps[i]
}

// Output is the output variable that an input refers to: what stands before its
// first dot.
func Output(input string) string {
	variable, _, _ := strings.Cut(input, ".")
	return variable
}

// Outputs lists the output variables that the step's inputs refer to, each once,
// in the order of the inputs.
func (s *Step) Outputs() []string {
	var variables []string
	for _, input := range s.InputVariables {
		if v := Output(input); !slices.Contains(variables, v) {
			variables = append(variables, v)
		}
	}
	return variables
}

// Route reports why a conditional step may not answer with next, if so: it has
// to be [End], or an existing step, and a later one unless loops are allowed. The
// error reads well after "step 3: ".
func (p *Plan) Route(from, next int, allowLoops bool) error {
	switch {
	case next == End:
		return nil
	case p.Step(next) == nil:
		return fmt.Errorf("next_step is %d, but the plan has %s: want one of them, or -1 to end", next, p.numbers())
	case next == from && !allowLoops:
		return fmt.Errorf("next_step is %d, which is the step itself: want a later one", next)
	case next < from && !allowLoops:
		return fmt.Errorf("next_step is %d, which is before step %d: want a later one", next, from)
	}
	return nil
}

// numbers says which steps there are.
func (p *Plan) numbers() string {
	switch n := len(p.Steps); n {
	case 0:
		return "no steps"
	case 1:
		return fmt.Sprintf("only step %d", p.Steps[0].Number)
	default:
		return fmt.Sprintf("steps %d to %d", p.Steps[0].Number, p.Steps[n-1].Number)
	}
}
