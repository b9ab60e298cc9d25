package outline

// A PlannerCmd is what the planner wants done: [ExecuteTask], [RequestClarification] or
// [CompactContext].
type PlannerCmd interface {
	command() (node int)
}

// ExecuteTask asks for a task to be carried out. The planner expects
// [TaskCompleted], [TaskFailed] or [NeedsClarification] for it.
type ExecuteTask struct {
	NodeID     int
	Kind       NodeKind
	Parameters Parameters
}

// Parameters are what a task is carried out with.
type Parameters struct {
	// Text is what to do, with the answers that were given.
	Text string

	// Command is to be executed as it is, without a model, if it is not empty.
	Command string

	Attachments []Attachment
	Headings    []string // above the task
	Attempt     int      // from 1; whoever carries it out waits before later ones

	// Round counts the answers that the task has got. With the ID and the attempt
	// it tells one execution from any other of the run.
	Round int

	// ContextSummary is what the tasks before found out, for the prompt.
	ContextSummary string
}

// RequestClarification asks for a question to be put to the person. The planner
// expects [ClarificationProvided] for it and does nothing until then.
type RequestClarification struct {
	NodeID   int    `json:"id"`
	Question string `json:"question"`

	// Attachment is the reference of the attachment that is missing, if that is why.
	Attachment string `json:"attachment,omitempty"`
}

// CompactContext asks for a summary of what the tasks up to this one found out. The
// planner expects [ContextCompacted] for it.
type CompactContext struct {
	NodeID  int
	Request SummaryRequest
}

// An ExecutorEvent is what whoever carries out the commands tells the planner: one of
// [TaskCompleted], [TaskFailed], [NeedsClarification], [ClarificationProvided] and
// [ContextCompacted].
type ExecutorEvent interface {
	event() (node int)
}

// TaskCompleted says that a running task is done.
type TaskCompleted struct {
	NodeID int
	Result string

	// Details are what was said beside the result. Later tasks are told them as long as
	// there is room, the result as long as it fits at all.
	Details string

	// Unvoted says that the result was voted on and the details were not: later tasks are
	// told so.
	Unvoted bool

	// By says who or what settled the result, such as "vote 3:0" or "command".
	By string
}

// Text is all that was said.
func (e TaskCompleted) Text() string {
	if e.Result == "" || e.Details == "" {
		return e.Result + e.Details
	}
	return e.Result + "\n\n" + e.Details
}

// TaskFailed says that an attempt at a running task failed.
type TaskFailed struct {
	NodeID int
	Error  string

	// Report is what the tasks after it are told if it was the last attempt. Empty
	// means the error.
	Report string

	// Final says that another attempt must not be made, because it would repeat
	// an effect or cannot succeed.
	Final bool

	// Unknown says that nobody knows what the attempt has done. Nothing after it is
	// begun, whatever the policy: tasks are in order.
	Unknown bool
}

// NeedsClarification says that a running task cannot go on without an answer.
type NeedsClarification struct {
	NodeID   int
	Question string

	// Attachment is the reference of the attachment that is missing, if that is
	// why: the answer replaces it.
	Attachment string

	// Report is added to what the tasks after it are told if it has asked too often.
	Report string
}

// ClarificationProvided is the answer for a task that waits for one.
type ClarificationProvided struct {
	NodeID int
	Answer string

	// By is who answered; empty means the user.
	By string
}

// ContextCompacted is the summary that was asked for. If it is not good enough, or
// empty, the sentences that matter take its place.
type ContextCompacted struct {
	NodeID  int
	Summary string
}

func (c ExecuteTask) command() int          { return c.NodeID }
func (c RequestClarification) command() int { return c.NodeID }
func (c CompactContext) command() int       { return c.NodeID }

func (e TaskCompleted) event() int         { return e.NodeID }
func (e TaskFailed) event() int            { return e.NodeID }
func (e NeedsClarification) event() int    { return e.NodeID }
func (e ClarificationProvided) event() int { return e.NodeID }
func (e ContextCompacted) event() int      { return e.NodeID }
