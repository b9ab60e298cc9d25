package prompts

import (
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
)

// YAMLFixer asks for the repair of a text that should have been YAML.
type YAMLFixer struct {
	Text    string
	Problem string // what the parser says
}

// PlannerSystem teaches the planner what a plan is.
type PlannerSystem struct {
	MaxToolCalls int      // of one step
	ProseNames   []string // of string fields that no vote is about
}

// PlannerUser asks for the plan of a task.
type PlannerUser struct {
	Task      string
	Catalogue string // of the tools
	Context   string // what was found out before, which the steps are told too

	// Rejected is the plan before, if it had problems.
	Rejected string
	Problems []string

	// Done is what has been completed before the task had to be planned anew, and
	// Failure what went wrong then.
	Done    []Input
	Failure string
}

// An Input is a value that a step is given, by name.
type Input struct {
	Name string
	YAML string
}

// NotNeeded is the input that no step produced.
const NotNeeded = "null # it does not exist: what produces it was not needed"

// Unvoted is a comment above an input that says what of it nobody has voted on: all of
// it if the path is "*".
func Unvoted(tag string, paths []string) string {
	switch {
	case len(paths) == 0:
		return ""
	case slices.Contains(paths, event.WholeAnswer):
		return "# not voted on: one agent's answer\n"
	default:
		return "# not voted on, one agent's words: " + inside(tag, strings.Join(paths, ", ")) + "\n"
	}
}

// ExecutorSystem tells an agent what a step is.
type ExecutorSystem struct{}

// ExecutorStep is one step of a plan for an agent.
type ExecutorStep struct {
	Description          string
	Context              string // what the steps before found out, if steps are told
	Inputs               []Input
	PrimaryTools         []string
	PrimaryInstructions  string
	FallbackTools        []string
	FallbackInstructions string
	AskTool              string // the tool that asks the person, if there is one
	Schema               string
}

// ExecutorData is what a step is given, on its own.
type ExecutorData struct {
	Context string
	Inputs  []Input
}

// ExecutorConditional asks which step is next.
type ExecutorConditional struct {
	Description string
	Context     string // what the steps before found out, if steps are told
	Inputs      []Input
	AskTool     string
}

// QualityCheck asks for a judgement of a plan. There is one for each of
// [QualityChecks].
type QualityCheck struct {
	Check        string
	Task         string
	Plan         string
	MaxToolCalls int
}

// QualityChecks are the judgements that a model can make of a plan.
func QualityChecks() []string {
	return []string{"single_purpose", "self_contained", "max_k_tool_calls", "non_overlapping", "maximally_decomposed", "appropriately_merged"}
}

// Prompt implements [Data].
func (YAMLFixer) Prompt() string { return "yaml_fixer" }

// Prompt implements [Data].
func (PlannerSystem) Prompt() string { return "planner_system" }

// Prompt implements [Data].
func (PlannerUser) Prompt() string { return "planner_user" }

// Prompt implements [Data].
func (ExecutorSystem) Prompt() string { return "executor_system" }

// PlannerTools is what a planner is given besides the task, on its own.
type PlannerTools struct{ Catalogue, Context string }

// Prompt implements [Data].
func (PlannerTools) Prompt() string { return "planner_tools" }

// Prompt implements [Data].
func (ExecutorData) Prompt() string { return "executor_data" }

// Split implements [Splitter].
func (d PlannerUser) Split() (shared, rest Data, err error) {
	shared, d.Catalogue, d.Context = PlannerTools{d.Catalogue, d.Context}, "", ""
	return shared, d, nil
}

// Split implements [Splitter].
func (d ExecutorStep) Split() (shared, rest Data, err error) {
	shared, d.Context, d.Inputs = ExecutorData{d.Context, d.Inputs}, "", nil
	return shared, d, nil
}

// Split implements [Splitter].
func (d ExecutorConditional) Split() (shared, rest Data, err error) {
	shared, d.Context, d.Inputs = ExecutorData{d.Context, d.Inputs}, "", nil
	return shared, d, nil
}

// Prompt implements [Data].
func (ExecutorStep) Prompt() string { return "executor_step" }

// Prompt implements [Data].
func (ExecutorConditional) Prompt() string { return "executor_conditional" }

// Prompt implements [Data].
func (q QualityCheck) Prompt() string { return "quality_" + q.Check }

var planSamples = []Data{
	YAMLFixer{Text: "a: [1", Problem: "line 1, column 4: the bracket is not closed"},
	PlannerSystem{MaxToolCalls: 1, ProseNames: []string{"summary", "notes"}},
	PlannerUser{
		Task: "Count the words in notes.txt.", Catalogue: "- Read (pure): Reads a file.\n", Context: "Results:\nTask 1: find the file\nnotes.txt",
		Rejected: "plan: []", Problems: []string{"the plan has no steps (required_fields_present)"},
		Done: []Input{{"step_0_output", "words: 3"}}, Failure: "step 1: the file was gone",
	},
	PlannerTools{Catalogue: "- Read (pure): Reads a file.\n", Context: "Results:\nTask 1: find the file\nnotes.txt"},
	ExecutorSystem{},
	ExecutorData{Context: "Results:\nTask 1: read\ntext: a b c", Inputs: []Input{{"step_0_output", "text: a b c"}}},
	ExecutorStep{
		Description: "Count the words.", Context: "Results:\nTask 1: read\ntext: a b c", Inputs: []Input{{"step_0_output", "text: a b c"}},
		PrimaryTools: []string{"Read"}, PrimaryInstructions: "Read the file.",
		FallbackTools: []string{"Bash"}, FallbackInstructions: "Run wc.", AskTool: "AskUserQuestion", Schema: "words: integer",
	},
	ExecutorConditional{Description: "If there are words go to step 2, else to step 3.", Context: "Results:\nTask 1: count\nwords: 3", Inputs: []Input{{"step_0_output", "words: 3"}}, AskTool: "AskUserQuestion"},
	QualityCheck{"single_purpose", "Count.", "plan: []", 1},
	QualityCheck{"self_contained", "Count.", "plan: []", 1},
	QualityCheck{"max_k_tool_calls", "Count.", "plan: []", 1},
	QualityCheck{"non_overlapping", "Count.", "plan: []", 1},
	QualityCheck{"maximally_decomposed", "Count.", "plan: []", 1},
	QualityCheck{"appropriately_merged", "Count.", "plan: []", 1},
}
