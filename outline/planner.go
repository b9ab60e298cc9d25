package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/tasks"
)

// Policy says what happens after a task has failed for good.
type Policy string

// The policies. The empty one is [Continue].
const (
	Continue Policy = "continue" // go on with the next task
	Stop     Policy = "stop"     // leave the others undone
)

// PlannerConfig configures a [Planner].
type PlannerConfig struct {
	OnFailure Policy

	// Retries is how often a task is tried again after it failed. 0 means
	// [DefaultRetries], and a negative number none. A literal command is never
	// tried again: it may have done half of its work.
	Retries int

	// MaxQuestions is how many questions one task may ask before it fails. 0
	// means [DefaultMaxQuestions].
	MaxQuestions int

	// ContextBudget is how many tokens the results of earlier tasks may take in a
	// prompt, at least [MinBudget]. 0 means that tasks are told nothing of the others.
	ContextBudget int
}

// The defaults of [PlannerConfig].
const (
	DefaultRetries      = 2
	DefaultMaxQuestions = 8
)

// PlannerState is where a run stands, as plain data: a planner whose state was read from
// its JSON form goes on as if nothing had happened, but for what its [Compactor] knew.
type PlannerState struct {
	Tasks []Task `json:"tasks"`

	// Cursor is the index of the first task that is not settled yet.
	Cursor int `json:"cursor"`

	// PendingClarificationFor is the question that nothing happens before the answer
	// to, if there is one.
	PendingClarificationFor *RequestClarification `json:"pending_clarification_for,omitempty"`

	// Stopped says that a task failed and that those after it are not begun.
	Stopped bool `json:"stopped,omitempty"`

	// NextID is the ID of the next task that is added.
	NextID int `json:"next_id"`

	// ContextSummary is what the tasks so far found out, for the prompts of the next.
	// Without a budget it is up to whoever drives the planner.
	ContextSummary string `json:"context_summary,omitempty"`
}

// WaitingForClarification reports whether a person has to answer first.
func (s *PlannerState) WaitingForClarification() bool { return s.PendingClarificationFor != nil }

// A Planner decides what happens next in an outline. It is driven by one call,
// [Planner.Step], and does nothing by itself.
//
// Tasks are done in order, one at a time. A task whose text asks a question asks
// it before anything else; any other is executed. What fails is tried again up to
// a cap; then the policy says whether to go on. A question pauses the task that
// asks, and with it the run. The answer is merged into the task's description,
//
//	<the description>
//
//	Question: <what was asked; left out if it is the description itself>
//	Answer: <the answer>
//
// and the task is tried again with a fresh number of attempts. A literal command
// is not run after an answer: whoever reads the answer has to decide whether it
// still holds. So the task becomes one for a model, with the command in its text.
//
// A Planner is not safe for concurrent use.
type Planner struct {
	// State is there to be read, and to be kept.
	State PlannerState

	// Compactor has what the tasks so far found out. It is nil without a budget.
	Compactor *Compactor

	config PlannerConfig
}

// NewPlanner returns a planner for tasks, which keep their order and get new IDs from
// 1. Those that are marked as done are completed from the start.
func NewPlanner(list []Task, c *PlannerConfig) (*Planner, error) {
	p := &Planner{State: PlannerState{NextID: 1}}
	if c != nil {
		p.config = *c
	}
	switch policy := p.config.OnFailure; policy {
	case "", Continue, Stop:
	default:
		return nil, fmt.Errorf("outline: on_failure is %q, want %q or %q", policy, Continue, Stop)
	}
	if budget := p.config.ContextBudget; budget != 0 {
		var err error
		if p.Compactor, err = NewCompactor(budget); err != nil {
			return nil, err
		}
	}
	p.Add(list...)
	return p, nil
}

// Add puts further tasks at the end. If the planner had nothing left to do,
// [Planner.Step] with nil goes on with them. A task without a kind gets one by its
// description.
func (p *Planner) Add(list ...Task) {
	for _, t := range list {
		t.sanitise()
		if t.Kind != Clarification && t.Kind != ToolCall && t.Kind != Processing {
			read := tasks.New(t.Description, t.Headings...)
			found := taskOf(&read)
			t.Kind, t.Command, t.Attachments = found.Kind, found.Command, merge(t.Attachments, found.Attachments)
		}
		t.ID, t.Status = p.State.NextID, StatusPlanned
		if t.Done {
			t.Status = StatusCompleted
		}
		p.State.NextID++
		p.State.Tasks = append(p.State.Tasks, t)
		if p.Compactor != nil && t.NeedsModel() {
			p.Compactor.Expect(t.ID, t.Description)
		}
	}
}

// sanitise makes the task its own copy, of text that JSON can carry. A command
// that it cannot carry would not be the same any more.
func (t *Task) sanitise() {
	t.Description = valid(t.Description)
	if !utf8.ValidString(t.Command) {
		t.Command = ""
	}
	t.Headings = slices.Clone(t.Headings)
	for i, h := range t.Headings {
		t.Headings[i] = valid(h)
	}
	t.Attachments = slices.Clone(t.Attachments)
	for i := range t.Attachments {
		a := &t.Attachments[i]
		a.Ref, a.Label = valid(a.Ref), valid(a.Label)
	}
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// A RefusedError says that an event does not fit: its task is not running, or does not
// wait for an answer. The planner is as it was before.
type RefusedError struct {
	Event  ExecutorEvent
	Reason string
}

// Error implements error.
func (e *RefusedError) Error() string { return "outline: " + e.Reason }

// Step takes an event in and returns what to do now, or nil if nothing is left: all
// tasks are settled, or one failed and the policy is to stop.
//
// A nil event begins the run: it returns the command that is outstanding, as often as
// it is asked. An event that does not fit changes nothing; the error is a
// [*RefusedError].
func (p *Planner) Step(incoming ExecutorEvent) (PlannerCmd, error) {
	if incoming != nil {
		if reason := p.refuses(incoming); reason != "" {
			return nil, &RefusedError{incoming, reason}
		}
		p.apply(incoming)
	}
	return p.outstanding(), nil
}

// refuses says why an event does not fit, or "".
func (p *Planner) refuses(e ExecutorEvent) string {
	switch e.(type) {
	case TaskCompleted, TaskFailed, NeedsClarification, ClarificationProvided:
	case ContextCompacted:
		if p.summary() == nil {
			return "a summary came, but none was asked for"
		}
		return ""
	default:
		return fmt.Sprintf("%T is no event", e)
	}
	i, ok := slices.BinarySearchFunc(p.State.Tasks, e.event(), func(t Task, id int) int { return t.ID - id })
	if !ok {
		return fmt.Sprintf("there is no task %d", e.event())
	}
	t := &p.State.Tasks[i]
	answer, isAnswer := e.(ClarificationProvided)
	switch {
	case isAnswer && t.Status != StatusNeedsClarification:
		return fmt.Sprintf("task %d does not wait for an answer; it is %s", t.ID, t.Status)
	case isAnswer && strings.TrimSpace(answer.Answer) == "":
		return fmt.Sprintf("the answer for task %d is empty", t.ID)
	case !isAnswer && t.Status != StatusRunning:
		return fmt.Sprintf("task %d is not running; it is %s", t.ID, t.Status)
	}
	return ""
}

// apply changes the current task by an event that fits.
func (p *Planner) apply(e ExecutorEvent) {
	if e, ok := e.(ContextCompacted); ok {
		if p.Compactor.Accept(e.Summary) != nil {
			p.Compactor.Fallback()
		}
		return
	}
	t := &p.State.Tasks[p.State.Cursor]
	switch e := e.(type) {
	case TaskCompleted:
		t.Status, t.Outcome, t.By = StatusCompleted, excerpt(e.Text()), valid(e.By)
		if e.Unvoted && e.Details != "" {
			e.Details = unvoted + e.Details
		}
		p.remember(t, e.Result, e.Details)
	case TaskFailed:
		t.Outcome = excerpt(e.Error)
		if !e.Final && !e.Unknown && t.Command == "" && t.Attempts <= p.retries() {
			t.Attempts++
			break
		}
		p.fail(t, cmp.Or(e.Report, e.Error))
		p.State.Stopped = p.State.Stopped || e.Unknown
	case NeedsClarification:
		p.ask(t, valid(e.Question), valid(e.Attachment), e.Report)
	case ClarificationProvided:
		p.answer(t, e)
	}
}

// unvoted is above details that nobody voted on.
const unvoted = "# not voted on, one agent's words:\n"

// remember takes what came of a task into the context of those after it.
func (p *Planner) remember(t *Task, result, details string) {
	if p.Compactor == nil || t.ID >= p.Compactor.last {
		return // nobody is told
	}
	for _, a := range t.Answers {
		p.Compactor.Decided(t.ID, a)
	}
	p.Compactor.Add(t.ID, t.Title(), result, details)
}

func (p *Planner) fail(t *Task, report string) {
	t.Status = StatusFailed
	p.State.Stopped = p.config.OnFailure == Stop
	p.remember(t, "", "It failed: "+report)
}

func (p *Planner) retries() int { return max(cmp.Or(p.config.Retries, DefaultRetries), 0) }

func (p *Planner) ask(t *Task, question, attachment, report string) {
	limit := p.config.MaxQuestions
	if limit <= 0 {
		limit = DefaultMaxQuestions
	}
	if len(t.Answers) >= limit {
		t.Outcome = fmt.Sprintf("it asked %d questions and still had another: %s", limit, excerpt(question))
		p.fail(t, t.Outcome+report)
		return
	}
	if strings.TrimSpace(question) == "" {
		question = t.Description
	}
	t.Status = StatusNeedsClarification
	p.State.PendingClarificationFor = &RequestClarification{t.ID, question, attachment}
}

// answer merges an answer into the task that waits for it.
func (p *Planner) answer(t *Task, e ClarificationProvided) {
	pending := p.State.PendingClarificationFor
	p.State.PendingClarificationFor = nil

	a := Answer{Question: pending.Question, Answer: strings.TrimSpace(valid(e.Answer)), By: cmp.Or(valid(e.By), "user")}
	if t.Kind == Clarification {
		t.Kind = NodeKind(tasks.Work(t.Description))
	}
	t.Command = ""
	t.Attachments = answered(t.Attachments, pending.Attachment, a.Answer)
	asked := ""
	if a.Question != t.Description {
		asked = "Question: " + a.Question + "\n"
	}
	t.Description += "\n\n" + asked + "Answer: " + a.Answer
	t.Answers = append(t.Answers, a)
	t.Attempts = 0
	t.Status = StatusPlanned
}

// answered is the list of attachments after an answer: what it names is added,
// and takes the place of the one that is missing. An answer of one word about a
// missing attachment is a reference, whatever it looks like.
func answered(list []Attachment, missing, answer string) []Attachment {
	named := tasks.Attachments(answer)
	if missing != "" && len(named) == 0 && !strings.ContainsAny(answer, " \t\n") {
		named = []tasks.Attachment{tasks.NewAttachment(answer, "")}
	}
	i := slices.IndexFunc(list, func(a Attachment) bool { return a.Ref == missing })
	if missing == "" || i < 0 {
		return merge(list, attachmentsOf(named))
	}
	return merge(merge(list[:i], attachmentsOf(named)), list[i+1:])
}

// merge adds the attachments to a list that are not in it.
func merge(list, more []Attachment) []Attachment {
	list = slices.Clip(list)
	for _, a := range more {
		if !slices.ContainsFunc(list, func(b Attachment) bool { return a.Ref == b.Ref }) {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return nil // as it is read back
	}
	return list
}

// summary is the request for a summary that is outstanding, if there is one.
func (p *Planner) summary() *SummaryRequest {
	if p.Compactor == nil || p.State.Stopped {
		return nil
	}
	return p.Compactor.Request()
}

// outstanding returns the command that the state calls for, beginning the next
// task if there is none under way.
func (p *Planner) outstanding() PlannerCmd {
	s := &p.State
	for s.Cursor < len(s.Tasks) && s.Tasks[s.Cursor].settled() {
		s.Cursor++
	}
	if s.Stopped || s.Cursor == len(s.Tasks) {
		return nil
	}
	if request := p.summary(); request != nil {
		return CompactContext{p.Compactor.now, *request}
	}
	t := &s.Tasks[s.Cursor]
	if t.Status == StatusPlanned {
		if t.Kind == Clarification {
			p.ask(t, t.Description, "", "")
		} else {
			t.Status = StatusRunning
			t.Attempts++
		}
	}
	if pending := s.PendingClarificationFor; pending != nil {
		return *pending
	}
	if p.Compactor != nil {
		s.ContextSummary = p.Compactor.Context()
	}
	return ExecuteTask{NodeID: t.ID, Kind: t.Kind, Parameters: Parameters{
		Text: t.Description, Command: t.Command, Attachments: slices.Clone(t.Attachments), Headings: slices.Clone(t.Headings),
		Attempt: t.Attempts, Round: len(t.Answers), ContextSummary: s.ContextSummary,
	}}
}

// maxExcerpt is how many characters of a result the state keeps.
const maxExcerpt = 240

func excerpt(text string) string {
	// What is left out need not be looked at.
	if limit := 16 * maxExcerpt; len(text) > limit {
		text = text[:limit]
	}
	return clip.Words(strings.ToValidUTF8(text, ""), maxExcerpt)
}
