package outline

import (
	"encoding/json"
	"fmt"
)

// An ExecutorEvent is what whoever carries out the commands tells the machine:
// one of [TaskCompleted], [TaskFailed], [NeedsClarification] and
// [ClarificationProvided]. As JSON it has a field "type" beside the event's own.
type ExecutorEvent struct{ Event Event }

// An Event is about one task.
type Event interface {
	// Task is the ID of the task.
	Task() int

	typeName() string
}

// TaskCompleted says that a running task is done.
type TaskCompleted struct {
	ID     int    `json:"id"`
	Result string `json:"result"`

	// By says who or what settled the result, such as "vote 3:0" or "command".
	By string `json:"by,omitempty"`
}

// TaskFailed says that an attempt at a running task failed.
type TaskFailed struct {
	ID    int    `json:"id"`
	Error string `json:"error"`

	// Final says that another attempt must not be made, because it would repeat
	// an effect or cannot succeed.
	Final bool `json:"final,omitempty"`

	// Unknown says that nobody knows what the attempt has done. Nothing after it is
	// begun, whatever the policy: tasks are in order.
	Unknown bool `json:"unknown,omitempty"`
}

// NeedsClarification says that a running task cannot go on without an answer.
type NeedsClarification struct {
	ID       int    `json:"id"`
	Question string `json:"question"`

	// Attachment is the reference of the attachment that is missing, if that is
	// why: the answer replaces it.
	Attachment string `json:"attachment,omitempty"`
}

// ClarificationProvided is the answer for a task that waits for one.
type ClarificationProvided struct {
	ID     int    `json:"id"`
	Answer string `json:"answer"`

	// By is who answered; empty means the user.
	By string `json:"by,omitempty"`
}

// Task implements [Event].
func (e TaskCompleted) Task() int { return e.ID }

// Task implements [Event].
func (e TaskFailed) Task() int { return e.ID }

// Task implements [Event].
func (e NeedsClarification) Task() int { return e.ID }

// Task implements [Event].
func (e ClarificationProvided) Task() int { return e.ID }

func (TaskCompleted) typeName() string         { return "task_completed" }
func (TaskFailed) typeName() string            { return "task_failed" }
func (NeedsClarification) typeName() string    { return "needs_clarification" }
func (ClarificationProvided) typeName() string { return "clarification_provided" }

// A Command is what the machine wants done: [ExecuteTask] or
// [RequestClarification]. [Refused] says that an event was not accepted.
type Command interface {
	commandName() string
}

// ExecuteTask asks for a task to be carried out. The machine expects
// [TaskCompleted], [TaskFailed] or [NeedsClarification] for it.
type ExecuteTask struct {
	ID         int        `json:"id"`
	Kind       Kind       `json:"kind"`
	Parameters Parameters `json:"parameters"`
}

// Parameters are what a task is carried out with.
type Parameters struct {
	// Text is what to do, with the answers that were given.
	Text string `json:"text"`

	// Command is to be executed as it is, without a model, if it is not empty.
	Command string `json:"command,omitempty"`

	Attachments []Attachment `json:"attachments,omitempty"`
	Headings    []string     `json:"headings,omitempty"` // the task's Context
	Attempt     int          `json:"attempt"`            // from 1; a runtime waits before later ones

	// Round counts the answers that the task has got. With the ID and the attempt
	// it tells one execution from any other of the run.
	Round int `json:"round,omitempty"`

	// Summary is the context so far; see [Machine.SetSummary].
	Summary string `json:"summary,omitempty"`
}

// RequestClarification asks for a question to be put to the person. The machine
// expects [ClarificationProvided] for it and does nothing until then.
type RequestClarification struct {
	ID       int    `json:"id"`
	Question string `json:"question"`

	// Attachment is the reference of the attachment that is missing, if that is why.
	Attachment string `json:"attachment,omitempty"`
}

// Refused says that an event does not fit: its task is not running, or does not
// wait for an answer. The state is as it was before.
type Refused struct {
	Event  ExecutorEvent `json:"event"`
	Reason string        `json:"reason"`
}

func (ExecuteTask) commandName() string          { return "execute_task" }
func (RequestClarification) commandName() string { return "request_clarification" }
func (Refused) commandName() string              { return "refused" }

// MarshalJSON implements [json.Marshaler].
func (e ExecutorEvent) MarshalJSON() ([]byte, error) {
	if e.Event == nil {
		return []byte("null"), nil
	}
	return tagged(e.Event.typeName(), e.Event)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *ExecutorEvent) UnmarshalJSON(data []byte) error {
	name, err := typeOf(data)
	if err != nil {
		return fmt.Errorf("outline: event: %w", err)
	}
	switch name {
	case "null":
		e.Event = nil
	case TaskCompleted{}.typeName():
		e.Event, err = decode[TaskCompleted](data)
	case TaskFailed{}.typeName():
		e.Event, err = decode[TaskFailed](data)
	case NeedsClarification{}.typeName():
		e.Event, err = decode[NeedsClarification](data)
	case ClarificationProvided{}.typeName():
		e.Event, err = decode[ClarificationProvided](data)
	default:
		err = fmt.Errorf("unknown type %q", name)
	}
	if err != nil {
		return fmt.Errorf("outline: event: %w", err)
	}
	return nil
}

// EncodeCommand returns the JSON form of a command: its fields and "type".
func EncodeCommand(c Command) ([]byte, error) { return tagged(c.commandName(), c) }

// DecodeCommand is the reverse of [EncodeCommand].
func DecodeCommand(data []byte) (Command, error) {
	name, err := typeOf(data)
	if err != nil {
		return nil, fmt.Errorf("outline: command: %w", err)
	}
	var c Command
	switch name {
	case ExecuteTask{}.commandName():
		c, err = decode[ExecuteTask](data)
	case RequestClarification{}.commandName():
		c, err = decode[RequestClarification](data)
	case Refused{}.commandName():
		c, err = decode[Refused](data)
	default:
		err = fmt.Errorf("unknown type %q", name)
	}
	if err != nil {
		return nil, fmt.Errorf("outline: command: %w", err)
	}
	return c, nil
}

// tagged encodes a struct with the name of its type as its first field.
func tagged[T any](name string, v T) ([]byte, error) {
	fields, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("outline: %s: %w", name, err)
	}
	return append([]byte(`{"type":"`+name+`",`), fields[1:]...), nil
}

func typeOf(data []byte) (string, error) {
	if string(data) == "null" {
		return "null", nil
	}
	var head struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(data, &head)
	return head.Type, err
}

func decode[T any](data []byte) (T, error) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err
}
