package outline

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Machine decides what happens next in an outline. It is driven by one call,
// [Machine.Step], and does nothing by itself.
//
// Tasks are done in order, one at a time. A task whose text asks a question asks
// it before anything else; any other is executed. What fails is tried again up to
// a cap; then the policy says whether to go on. A question pauses the task that
// asks, and with it the run. The answer is merged into the task's text,
//
//	<the text>
//
//	Question: <what was asked; left out if it is the text itself>
//	Answer: <the answer>
//
// and the task is tried again with a fresh number of attempts. A literal command
// is not run after an answer: whoever reads the answer has to decide whether it
// still holds. So the task becomes one for a model, with the command in its text.
//
// A Machine is not safe for concurrent use.
type Machine struct {
	// State is there to be read, and to be kept.
	State State
}

// New returns a machine for tasks, which keep their order and get new IDs from 1.
// Those that are marked as done are completed from the start.
func New(tasks []Task, opts *Options) (*Machine, error) {
	m := &Machine{State{NextID: 1}}
	if opts != nil {
		m.State.Options = *opts
	}
	switch p := m.State.Options.OnFailure; p {
	case "", Continue, Stop:
	default:
		return nil, fmt.Errorf("outline: on_failure is %q, want %q or %q", p, Continue, Stop)
	}
	m.Add(tasks)
	return m, nil
}

// Add puts further tasks at the end. If the machine was done, [Machine.Step] with
// nil goes on with them. A task without a kind gets one by its text.
func (m *Machine) Add(tasks []Task) {
	for _, t := range tasks {
		t.ID = m.State.NextID
		t.sanitise()
		if !t.Kind.known() {
			t.classify()
		}
		m.State.NextID++
		status := Planned
		if t.Done {
			status = Complete
		}
		m.State.Tasks = append(m.State.Tasks, TaskState{Task: t, Status: status})
	}
}

// sanitise makes the task its own copy, of text that JSON can carry. A command
// that it cannot carry would not be the same any more.
func (t *Task) sanitise() {
	t.Text = valid(t.Text)
	if !utf8.ValidString(t.Command) {
		t.Command = ""
	}
	t.Context = slices.Clone(t.Context)
	for i, c := range t.Context {
		t.Context[i] = valid(c)
	}
	t.Attachments = slices.Clone(t.Attachments)
	for i := range t.Attachments {
		a := &t.Attachments[i]
		a.Ref, a.Label = valid(a.Ref), valid(a.Label)
	}
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// SetSummary sets what the tasks so far found out. Call it before the step that
// begins the next task, whose parameters have it.
func (m *Machine) SetSummary(summary string) {
	m.State.Summary = valid(summary)
}

// next is the index of the first task that is not settled.
func (s *State) next() int {
	i := s.Cursor
	for i < len(s.Tasks) && (s.Tasks[i].Status == Complete || s.Tasks[i].Status == Failed) {
		i++
	}
	return i
}

// Step takes an event in and returns what to do now. It returns at most one
// command.
//
// A nil event begins the run: it returns the command that is outstanding, as often as
// it is asked. An event that does not
// fit changes nothing and is answered with [Refused]. When Step returns nothing,
// the machine is done.
func (m *Machine) Step(incoming *ExecutorEvent) []Command {
	if incoming != nil {
		if reason := m.refuses(incoming.Event); reason != "" {
			return []Command{Refused{Event: *incoming, Reason: reason}}
		}
		m.apply(incoming.Event)
	}
	return m.outstanding()
}

// refuses says why an event does not fit, or "".
func (m *Machine) refuses(e Event) string {
	switch e.(type) {
	case TaskCompleted, TaskFailed, NeedsClarification, ClarificationProvided:
	default:
		return fmt.Sprintf("%T is no event", e)
	}
	i, ok := slices.BinarySearchFunc(m.State.Tasks, e.Task(), func(t TaskState, id int) int { return t.ID - id })
	if !ok {
		return fmt.Sprintf("there is no task %d", e.Task())
	}
	t := &m.State.Tasks[i]
	answer, isAnswer := e.(ClarificationProvided)
	switch {
	case isAnswer && t.Status != Waiting:
		return fmt.Sprintf("task %d does not wait for an answer; it is %s", t.ID, t.Status)
	case isAnswer && strings.TrimSpace(answer.Answer) == "":
		return fmt.Sprintf("the answer for task %d is empty", t.ID)
	case !isAnswer && t.Status != Running:
		return fmt.Sprintf("task %d is not running; it is %s", t.ID, t.Status)
	}
	return ""
}

// apply changes the current task by an event that fits.
func (m *Machine) apply(e Event) {
	t := &m.State.Tasks[m.State.Cursor]
	switch e := e.(type) {
	case TaskCompleted:
		t.Status, t.Outcome, t.By = Complete, excerpt(e.Result), valid(e.By)
	case TaskFailed:
		t.Outcome = excerpt(e.Error)
		retry := !e.Final && !e.Unknown && t.Command == "" && t.Attempts <= m.retries()
		if !retry {
			m.fail(t)
			m.State.Stopped = m.State.Stopped || e.Unknown
			break
		}
		t.Attempts++
	case NeedsClarification:
		m.ask(t, valid(e.Question), valid(e.Attachment))
	case ClarificationProvided:
		m.answer(t, e)
	}
}

func (m *Machine) fail(t *TaskState) {
	t.Status = Failed
	m.State.Stopped = m.State.Options.OnFailure == Stop
}

func (m *Machine) retries() int {
	if n := m.State.Options.Retries; n != 0 {
		return max(n, 0)
	}
	return DefaultRetries
}

func (m *Machine) ask(t *TaskState, question, attachment string) {
	limit := m.State.Options.MaxQuestions
	if limit <= 0 {
		limit = DefaultMaxQuestions
	}
	if len(t.Answers) >= limit {
		t.Outcome = fmt.Sprintf("it asked %d questions and still had another: %s", limit, excerpt(question))
		m.fail(t)
		return
	}
	if strings.TrimSpace(question) == "" {
		question = t.Text
	}
	t.Status = Waiting
	m.State.Waiting = true
	m.State.Pending = &Pending{ID: t.ID, Question: question, Attachment: attachment}
}

// answer merges an answer into the task that waits for it.
func (m *Machine) answer(t *TaskState, e ClarificationProvided) {
	pending := m.State.Pending
	m.State.Waiting, m.State.Pending = false, nil

	a := Answer{Question: pending.Question, Answer: strings.TrimSpace(valid(e.Answer)), By: valid(e.By)}
	if a.By == "" {
		a.By = "user"
	}
	if t.Kind == Clarification {
		t.Kind = dissect(t.Text).work()
	}
	t.Command = ""
	t.Attachments = answered(t.Attachments, pending.Attachment, a.Answer)
	asked := ""
	if a.Question != t.Text {
		asked = "Question: " + a.Question + "\n"
	}
	t.Text += "\n\n" + asked + "Answer: " + a.Answer
	t.Answers = append(t.Answers, a)
	t.Attempts = 0
	t.Status = Planned
}

// answered is the list of attachments after an answer: what it names is added,
// and takes the place of the one that is missing. An answer of one word about a
// missing attachment is a reference, whatever it looks like.
func answered(list []Attachment, missing, answer string) []Attachment {
	named := Attachments(answer)
	if missing == "" {
		return unique(append(list, named...))
	}
	if len(named) == 0 && !strings.ContainsAny(answer, " \t\n") {
		named = []Attachment{NewAttachment(answer, "")}
	}
	i := slices.IndexFunc(list, func(a Attachment) bool { return a.Ref == missing })
	if i < 0 {
		return unique(append(list, named...))
	}
	return unique(slices.Concat(list[:i], named, list[i+1:]))
}

// outstanding returns the command that the state calls for, beginning the next
// task if there is none under way.
func (m *Machine) outstanding() []Command {
	m.State.Cursor = m.State.next()
	if m.State.Stopped || m.State.Cursor == len(m.State.Tasks) {
		return nil
	}
	t := &m.State.Tasks[m.State.Cursor]
	if t.Status == Planned {
		if t.Kind == Clarification {
			m.ask(t, t.Text, "")
		} else {
			t.Status = Running
			t.Attempts++
		}
	}
	if p := m.State.Pending; p != nil {
		return []Command{RequestClarification(*p)}
	}
	return []Command{ExecuteTask{ID: t.ID, Kind: t.Kind, Parameters: Parameters{
		Text: t.Text, Command: t.Command, Attachments: slices.Clone(t.Attachments), Headings: slices.Clone(t.Context),
		Attempt: t.Attempts, Round: len(t.Answers), Summary: m.State.Summary,
	}}}
}

// maxExcerpt is how many characters of a result the state keeps.
const maxExcerpt = 240

func excerpt(text string) string {
	// What is left out need not be looked at.
	if limit := 16 * maxExcerpt; len(text) > limit {
		text = text[:limit]
	}
	return oneLine(strings.ToValidUTF8(text, ""), maxExcerpt)
}
