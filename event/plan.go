package event

import "encoding/json"

// The types of event about plans.
const (
	TypePlanCreated      Type = "plan_created"
	TypeValidationPassed Type = "validation_passed"
	TypeValidationFailed Type = "validation_failed"
	TypeReplanRequested  Type = "replan_requested"
	TypeContextCompacted Type = "context_compacted"
	TypeOutlineCreated   Type = "outline_created"
)

// WholeAnswer is the path in [Voting].Unvoted of an answer as a whole: the question was one
// sample in a run that votes.
const WholeAnswer = "*"

// PlanCreated is a plan as the planner made it. Nobody has looked at it yet.
type PlanCreated struct {
	Plan       Value    `json:"plan"`
	Attempt    int      `json:"attempt"`            // from 0; later ones answer what was wrong with the one before
	Replan     int      `json:"replan,omitempty"`   // how many times the task was planned anew after a failure
	Repaired   bool     `json:"repaired,omitempty"` // its text had to be repaired to be read
	Voting     Voting   `json:"voting"`
	CostUSD    *float64 `json:"cost_usd"`
	DurationMS int64    `json:"duration_ms"`
}

// A Check is what one check says about a plan.
type Check struct {
	Name    string   `json:"name"`
	Passed  bool     `json:"passed"`
	Step    *int     `json:"step,omitempty"`
	Message string   `json:"message,omitempty"`
	Score   *float64 `json:"score,omitempty"` // of a check that a model made, from 0 to 1
}

// ValidationPassed is a plan that may be executed.
type ValidationPassed struct {
	Plan    Value    `json:"plan"`
	Attempt int      `json:"attempt"`
	Replan  int      `json:"replan,omitempty"`
	Score   *float64 `json:"score,omitempty"`  // of the quality checks together
	Checks  []Check  `json:"checks,omitempty"` // those of quality

	// ChecksPassed is how many checks passed, those of quality included, and
	// ChecksSkipped how many could not be judged.
	ChecksPassed  int `json:"checks_passed"`
	ChecksSkipped int `json:"checks_skipped,omitempty"`

	// Notes say what of the plan was read in another way than it is written.
	Notes []string `json:"notes,omitempty"`
}

// ValidationFailed is a plan that may not be executed.
type ValidationFailed struct {
	Attempt int      `json:"attempt"`
	Replan  int      `json:"replan,omitempty"`
	Score   *float64 `json:"score,omitempty"`
	Checks  []Check  `json:"checks"` // that failed
}

// ReplanRequested says that a step failed and what remains is to be planned anew.
type ReplanRequested struct {
	Replan  int    `json:"replan"` // from 1
	Step    int    `json:"step"`   // that failed
	Reason  string `json:"reason"`
	Outputs Value  `json:"outputs"` // a list of NamedOutput: what is completed
}

// A NamedOutput is the output of a step under its variable.
type NamedOutput struct {
	Name   string          `json:"name"`
	Output json.RawMessage `json:"output"`

	// Unvoted are the paths of what nobody voted on, as in [Voting].
	Unvoted []string `json:"unvoted,omitempty"`
}

// ContextCompacted says that earlier results were replaced by a summary.
type ContextCompacted struct {
	Step    int   `json:"step"`
	Before  int   `json:"before"` // tokens, estimated
	After   int   `json:"after"`
	Summary Value `json:"summary"`

	// LeftOut names what the context does not have for lack of room.
	LeftOut string `json:"left_out,omitempty"`
}

// OutlineCreated lists the tasks of a run as a person wrote them.
type OutlineCreated struct {
	Tasks Value `json:"tasks"` // a list
}

// Type implements [Event] for each type of event.
func (PlanCreated) Type() Type      { return TypePlanCreated }
func (ValidationPassed) Type() Type { return TypeValidationPassed }
func (ValidationFailed) Type() Type { return TypeValidationFailed }
func (ReplanRequested) Type() Type  { return TypeReplanRequested }
func (ContextCompacted) Type() Type { return TypeContextCompacted }

// Type implements [Event].
func (OutlineCreated) Type() Type { return TypeOutlineCreated }

// Uncompared is in the reason why a vote has no winner if nobody could say whether texts
// say the same: then more samples do not help.
const Uncompared = "texts could not be compared by meaning"

// NoArgument is in the reason why a script failed that was started without an argument it
// uses; what to start it with follows.
const NoArgument = "start the script with --arg "
