package outline

import "github.com/maker-mdap/maker/internal/text/tasks"

// NodeKind says what a task needs.
type NodeKind string

// The kinds of tasks.
const (
	Clarification NodeKind = "clarification" // an answer from the person
	ToolCall      NodeKind = "tool_call"     // a command or another tool
	Processing    NodeKind = "processing"    // a model
)

// TaskStatus is where a task stands.
type TaskStatus string

// The statuses.
const (
	StatusPlanned            TaskStatus = "planned"
	StatusRunning            TaskStatus = "running"
	StatusCompleted          TaskStatus = "completed"
	StatusFailed             TaskStatus = "failed"
	StatusNeedsClarification TaskStatus = "needs_clarification"
)

// AttachmentKind is what an attachment refers to.
type AttachmentKind string

// The kinds of attachments.
const (
	Link     AttachmentKind = "url"
	ImageRef AttachmentKind = "image" // a picture, by its address or its path
	FileRef  AttachmentKind = "file"
)

// An Attachment is something that a task refers to.
type Attachment struct {
	Kind  AttachmentKind `json:"kind"`
	Label string         `json:"label"` // the text of a link, or the last part of Ref
	Ref   string         `json:"ref"`   // as written

	// Output says that by its words the task makes the file, so that it need not
	// exist before.
	Output bool `json:"output,omitempty"`
}

// A Task is one thing to do, as the person wrote it, and what has become of it.
type Task struct {
	ID int `json:"id"` // counts from 1

	// Description is what to do. Answers are merged into it.
	Description string `json:"text"`

	// Kind is found by the description if it is empty.
	Kind NodeKind `json:"kind"`

	// Command is what to execute, exactly as written, if running it is all that
	// the task asks for.
	Command string `json:"command,omitempty"`

	Attachments []Attachment `json:"attachments,omitempty"`

	// Headings are above the task: headings, lead-ins and parent items, the outermost
	// first.
	Headings []string `json:"context,omitempty"`

	// Line is where the task begins in the text, from 1.
	Line int `json:"line,omitempty"`

	// Done says that the text marks the task as done.
	Done bool `json:"done,omitempty"`

	Status   TaskStatus `json:"status,omitempty"`
	Attempts int        `json:"attempts,omitempty"` // since the last answer
	Answers  []Answer   `json:"answers,omitempty"`

	// Outcome is the beginning of the result, or the last error. The whole result
	// is not kept here, so that the state of a long run stays small.
	Outcome string `json:"outcome,omitempty"`
	By      string `json:"by,omitempty"` // who settled it
}

// An Answer is a decision that a person made for a task.
type Answer struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	By       string `json:"by"`
}

// PlanTasks takes a text apart into tasks, in the order in which they are to be done.
// No model is asked, and the same text always gives the same tasks; docs/outline.md has
// the rules. What is attached beside the text, files and addresses, goes to the tasks
// that mention it, or to all of them if none does. Tasks that no model does have no use
// for it, and it is an error if there are only those.
func PlanTasks(input string, attach ...string) ([]Task, error) {
	list := tasks.Split(input)
	if len(list) == 0 {
		return nil, nil
	}
	list, err := tasks.Attach(list, attach)
	if err != nil {
		return nil, err
	}
	out := make([]Task, len(list))
	for i := range list {
		out[i] = taskOf(&list[i])
		out[i].ID = i + 1
	}
	return out, nil
}

func taskOf(t *tasks.Task) Task {
	return Task{
		Description: t.Text, Kind: NodeKind(t.Kind), Command: t.Command, Attachments: attachmentsOf(t.Attachments),
		Headings: t.Context, Line: t.Line, Done: t.Done,
	}
}

func attachmentsOf(list []tasks.Attachment) []Attachment {
	var out []Attachment
	for _, a := range list {
		out = append(out, Attachment{AttachmentKind(a.Kind), a.Label, a.Ref, a.Output})
	}
	return out
}

// Title is the task in one short line, for lists. It leaves out the answers that
// were merged into the description.
func (t *Task) Title() string { return tasks.Title(t.Description) }

// NeedsModel reports whether a task is more than a command given literally.
func (t *Task) NeedsModel() bool { return !t.Done && t.Command == "" }

// settled reports whether nothing more happens to the task.
func (t *Task) settled() bool { return t.Status == StatusCompleted || t.Status == StatusFailed }
