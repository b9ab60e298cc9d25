package outline

// An ExecutorEvent is what whoever carries out the commands tells the machine:
// one of [TaskCompleted], [TaskFailed], [NeedsClarification] and
// [ClarificationProvided].
type ExecutorEvent struct{ Event Event }

// An Event is about one task.
type Event interface {
	// Task is the ID of the task.
	Task() int
}

// TaskCompleted says that a running task is done.
type TaskCompleted struct {
	ID     int
	Result string

	// By says who or what settled the result, such as "vote 3:0" or "command".
	By string
}

// TaskFailed says that an attempt at a running task failed.
type TaskFailed struct {
	ID    int
	Error string

	// Final says that another attempt must not be made, because it would repeat
	// an effect or cannot succeed.
	Final bool

	// Unknown says that nobody knows what the attempt has done. Nothing after it is
	// begun, whatever the policy: tasks are in order.
	Unknown bool
}

// NeedsClarification says that a running task cannot go on without an answer.
type NeedsClarification struct {
	ID       int
	Question string

	// Attachment is the reference of the attachment that is missing, if that is
	// why: the answer replaces it.
	Attachment string
}

// ClarificationProvided is the answer for a task that waits for one.
type ClarificationProvided struct {
	ID     int
	Answer string

	// By is who answered; empty means the user.
	By string
}

// Task implements [Event].
func (e TaskCompleted) Task() int { return e.ID }

// Task implements [Event].
func (e TaskFailed) Task() int { return e.ID }

// Task implements [Event].
func (e NeedsClarification) Task() int { return e.ID }

// Task implements [Event].
func (e ClarificationProvided) Task() int { return e.ID }

// A Command is what the machine wants done: [ExecuteTask] or
// [RequestClarification]. [Refused] says that an event was not accepted.
type Command interface {
	command()
}

// ExecuteTask asks for a task to be carried out. The machine expects
// [TaskCompleted], [TaskFailed] or [NeedsClarification] for it.
type ExecuteTask struct {
	ID         int
	Kind       Kind
	Parameters Parameters
}

// Parameters are what a task is carried out with.
type Parameters struct {
	// Text is what to do, with the answers that were given.
	Text string

	// Command is to be executed as it is, without a model, if it is not empty.
	Command string

	Attachments []Attachment
	Headings    []string // the task's Context
	Attempt     int      // from 1; a runtime waits before later ones

	// Round counts the answers that the task has got. With the ID and the attempt
	// it tells one execution from any other of the run.
	Round int

	// Summary is the context so far; see [Machine.SetSummary].
	Summary string
}

// RequestClarification asks for a question to be put to the person. The machine
// expects [ClarificationProvided] for it and does nothing until then.
type RequestClarification struct {
	ID       int
	Question string

	// Attachment is the reference of the attachment that is missing, if that is why.
	Attachment string
}

// Refused says that an event does not fit: its task is not running, or does not
// wait for an answer. The state is as it was before.
type Refused struct {
	Event  ExecutorEvent
	Reason string
}

func (ExecuteTask) command()          {}
func (RequestClarification) command() {}
func (Refused) command()              {}
