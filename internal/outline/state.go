package outline

// Status is where a task stands.
type Status string

// The statuses.
const (
	Planned  Status = "planned"
	Running  Status = "running"
	Complete Status = "completed"
	Failed   Status = "failed"
	Waiting  Status = "needs_clarification"
)

// Policy says what happens after a task has failed for good.
type Policy string

// The policies. The empty one is [Continue].
const (
	Continue Policy = "continue" // go on with the next task
	Stop     Policy = "stop"     // leave the others undone
)

// Options configure a [Machine].
type Options struct {
	OnFailure Policy `json:"on_failure,omitempty"`

	// Retries is how often a task is tried again after it failed. 0 means
	// [DefaultRetries], and a negative number none. A literal command is never
	// tried again: it may have done half of its work.
	Retries int `json:"retries,omitempty"`

	// MaxQuestions is how many questions one task may ask before it fails. 0
	// means [DefaultMaxQuestions].
	MaxQuestions int `json:"max_questions,omitempty"`
}

// The defaults of [Options].
const (
	DefaultRetries      = 2
	DefaultMaxQuestions = 8
)

// A State is all that a [Machine] knows. It is plain data: a machine with a state that
// was read from its JSON form goes on as if nothing had happened.
type State struct {
	Options Options     `json:"options,omitzero"`
	Tasks   []TaskState `json:"tasks"`

	// Cursor is the index of the first task that is not settled yet.
	Cursor int `json:"cursor"`

	// Waiting says that nothing happens until Pending is answered.
	Waiting bool     `json:"waiting,omitempty"`
	Pending *Pending `json:"pending,omitempty"`

	// Stopped says that a task failed and the policy was to stop.
	Stopped bool `json:"stopped,omitempty"`

	// NextID is the ID of the next task that is added.
	NextID int `json:"next_id"`

	// Summary is what the tasks so far found out, for the prompts of the next.
	Summary string `json:"summary,omitempty"`
}

// Pending is the question that a person has to answer.
type Pending struct {
	ID         int    `json:"id"` // of the task
	Question   string `json:"question"`
	Attachment string `json:"attachment,omitempty"`
}

// A TaskState is a task and what has become of it. The task's Text has the
// answers merged into it.
type TaskState struct {
	Task
	Status   Status   `json:"status"`
	Attempts int      `json:"attempts,omitempty"` // since the last answer
	Answers  []Answer `json:"answers,omitempty"`

	// Outcome is the beginning of the result, or the last error. The whole result
	// is not kept here, so that the state of a long run stays small.
	Outcome string `json:"outcome,omitempty"`
	By      string `json:"by,omitempty"`
}

// An Answer is a decision that a person made for a task.
type Answer struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	By       string `json:"by"`
}
