package outline

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// Config is how the tasks of a run are carried out.
type Config struct {
	Prompts *prompts.Set
	Machine Options

	// What every question has in common.
	Rule             vote.Rule
	Flags            redflag.Config
	FirstTemperature *float64
	Temperature      *float64
	MaxOutput        int
	MaxFaults        int
	Repair           flow.Repair

	// AskTool is the tool that asks the person, if it is there, and ShellTool executes
	// literal commands.
	AskTool   string
	ShellTool string

	// ReadAttachments has what tasks refer to looked at before they are begun.
	ReadAttachments bool

	// MaxMoves bounds the calls that one task may have executed before its end or
	// its next question to the person, all attempts together; 0 means
	// [flow.DefaultMaxMoves].
	MaxMoves int

	// ContextBudget is how many tokens the results of earlier tasks may take in a
	// prompt.
	ContextBudget int

	// RetryDelayMS is how long to wait before the second attempt at a task; it
	// doubles with each further one, up to a minute.
	RetryDelayMS int64
}

// Run carries out tasks one after another. It emits outline_created, the events of
// the steps, whose numbers are those of the tasks less one, and at the end
// task_completed, or task_failed if a task failed. Its error is the flow's: the run
// is over for a reason outside the tasks.
func Run(f flow.Flow, tasks []Task, c Config) error {
	m, err := New(tasks, &c.Machine)
	if err != nil {
		return err
	}
	s, err := NewSummaries(c.ContextBudget, SummaryConfig{
		Prompts: c.Prompts, Rule: c.Rule, Flags: c.Flags, FirstTemperature: c.FirstTemperature, Temperature: c.Temperature,
		MaxOutput: c.MaxOutput, MaxFaults: c.MaxFaults,
	})
	if err != nil {
		return err
	}
	if c.MaxMoves <= 0 {
		c.MaxMoves = flow.DefaultMaxMoves
	}
	r := &runner{flow: f, config: c, machine: m, summaries: s}
	if err := r.look(); err != nil {
		return err
	}
	list, err := json.Marshal(m.State.Tasks)
	if err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	f.Emit("outline", event.OutlineCreated{Tasks: event.JSONValue(list)})
	for i := range m.State.Tasks {
		t := &m.State.Tasks[i]
		if t.NeedsModel() {
			r.lastPrompt = t.ID
			s.Expect(t.ID-1, t.Text)
		}
	}
	if err := r.run(); err != nil {
		return err
	}
	r.end()
	return nil
}

// runner drives a machine.
type runner struct {
	flow    flow.Flow
	config  Config
	machine *Machine

	tools   []string // that agents may use
	askTool string   // the one among them that asks the person, if there is one

	// summaries keep the context of the tasks that a model is asked to do. What
	// comes after the last of these is nobody's context.
	summaries  *Summaries
	lastPrompt int

	now       progress // of the task under way
	committed int      // tasks that this run completed
	undecided int      // tasks that failed because no answer won
	reopen    []string // what a resume asks again
	further   bool     // a resume may come to something else
	again     bool     // there is something to ask among it
}

// look learns which tools there are. They stay the same for the run, whatever comes
// and goes.
func (r *runner) look() error {
	list, err := flow.Tools(r.flow, "tools")
	if err != nil {
		return err
	}
	for _, t := range list {
		if t.Unavailable != "" {
			continue
		}
		if t.Human && t.Name == r.config.AskTool {
			r.askTool = t.Name
		}
		r.tools = append(r.tools, t.Name)
	}
	return nil
}

// progress is how far a task has come, over all its attempts and questions.
type progress struct {
	started bool
	tries   flow.Outcome // of the agents; what was done stays done
	round   int          // moves of the rounds before
	status  flow.Status  // of the last attempt
	report  string       // all that a failed command said
	final   bool         // it failed for good

	options []string // to choose from, of the question that it waits for
}

func (r *runner) run() error {
	var incoming *ExecutorEvent
	for {
		commands := r.machine.Step(incoming)
		if len(commands) > 0 {
			if refused, ok := commands[0].(Refused); ok {
				return errors.New("outline: " + refused.Reason)
			}
		}
		if incoming != nil {
			if err := r.settle(incoming.Event); err != nil {
				return err
			}
		}
		if len(commands) == 0 {
			return nil
		}
		var e Event
		var err error
		switch c := commands[0].(type) {
		case ExecuteTask:
			r.machine.SetSummary(r.summaries.Context())
			c = r.machine.Step(nil)[0].(ExecuteTask)
			e, err = r.execute(&c)
		case RequestClarification:
			e, err = r.ask(&c)
		default:
			return fmt.Errorf("outline: nobody carries out %T", c)
		}
		if err != nil {
			return err
		}
		incoming = &ExecutorEvent{e}
	}
}

// task is the state of a task. Tasks are numbered from 1 without a gap.
func (r *runner) task(id int) *TaskState { return &r.machine.State.Tasks[id-1] }

// taskKey is the key of a task.
func taskKey(id int) string { return fmt.Sprintf("task/%d", id) }

// key tells an execution of a task from any other of the run.
func (r *runner) key(t *TaskState) string {
	return fmt.Sprintf("%s/round/%d/attempt/%d", taskKey(t.ID), len(t.Answers), t.Attempts)
}

// start says once that a task begins.
func (r *runner) start(t *TaskState) {
	if !r.now.started {
		r.now.started = true
		r.flow.Emit(taskKey(t.ID)+"/started", event.StepStarted{Step: t.ID - 1, Title: t.Title()})
	}
}

// ask puts a question to the person.
func (r *runner) ask(c *RequestClarification) (Event, error) {
	t := r.task(c.ID)
	r.start(t)
	a, err := r.flow.Ask(r.key(t)+"/question", &flow.HumanQuestion{
		Step: c.ID - 1, Kind: event.ClarifyQuestion, Text: c.Question,
		Options: r.now.options, Free: len(r.now.options) > 0,
	})
	if err != nil {
		return nil, err
	}
	r.now.options, r.now.tries.Open = nil, nil
	r.now.round = len(r.now.tries.Moves)
	return ClarificationProvided{ID: c.ID, Answer: a.Text, By: a.By}, nil
}

// execute makes one attempt at a task.
func (r *runner) execute(c *ExecuteTask) (Event, error) {
	t := r.task(c.ID)
	r.start(t)
	if c.Parameters.Command != "" {
		return r.command(c)
	}
	files, missing, err := r.attach(c)
	if err != nil || missing != nil {
		return missing, err
	}
	return r.think(c, files)
}

// command executes a literal command: no model is asked.
func (r *runner) command(c *ExecuteTask) (Event, error) {
	intent, err := intentOf(r.config.ShellTool, map[string]string{"command": c.Parameters.Command})
	if err != nil {
		return nil, err
	}
	key := r.key(r.task(c.ID)) + "/command"
	result, err := r.flow.Perform(key, &flow.Effect{Step: c.ID - 1, Scope: taskKey(c.ID), Intent: intent, Voting: event.Voting{Strategy: vote.None}})
	switch {
	case err != nil:
		return nil, err
	case result.IsError || result.Unknown:
		r.now.status, r.now.report = flow.Failed, result.Text
		if result.Refused {
			r.now.tries.Open = append(r.now.tries.Open, key)
		}
		r.now.final = !result.Refused && !result.Unknown
		return TaskFailed{ID: c.ID, Error: lastWords(result.Text), Final: true, Unknown: result.Unknown}, nil
	}
	return TaskCompleted{ID: c.ID, Result: result.Text, By: "command"}, nil
}

// lastWords is the end of what a command said, where the reason for a failure and
// the exit code stand.
func lastWords(text string) string {
	text = oneLine(valid(text), len(text))
	if len(text) <= maxExcerpt {
		return text
	}
	text = text[runeStart(text, len(text)-maxExcerpt+len("… ")):]
	if i := strings.IndexByte(text, ' '); i < len(text)/2 {
		text = text[i+1:] // from the next word on, if there is one soon
	}
	return "… " + text
}

func intentOf(tool string, input map[string]string) (event.Intent, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return event.Intent{}, fmt.Errorf("outline: %w", err)
	}
	var i event.Intent
	data, err := json.Marshal(event.Intent{Tool: tool, Input: raw})
	if err == nil {
		err = json.Unmarshal(data, &i) // which makes it canonical
	}
	return i, err
}

// settle writes down what became of a task, if the event settled it, and takes that
// into the context of the others.
func (r *runner) settle(e Event) error {
	t := r.task(e.Task())
	step, text := t.ID-1, ""
	tries := &r.now.tries
	if tries.Verdict == nil { // nobody was asked
		tries.Voting.Strategy, tries.CostUSD = vote.None, new(float64)
	}
	switch t.Status {
	case Complete:
		text = e.(TaskCompleted).Result
		r.committed++
		r.flow.Emit(taskKey(t.ID)+"/completed", event.StepCompleted{
			Step: step, Title: t.Title(), Output: event.TextValue(text),
			Voting: tries.Voting, CostUSD: tries.CostUSD, DurationMS: tries.DurationMS,
		})
	case Failed:
		reason := t.Outcome
		if failed, ok := e.(TaskFailed); ok {
			reason = failed.Error
		} else {
			r.now.status = flow.Failed // it asked once too often
		}
		text = "It failed: " + reason + callsOf(tries.Moves)
		if r.now.report != "" {
			text = "It failed: " + r.now.report
		}
		if r.now.status == flow.Undecided {
			r.undecided++
		}
		r.further = r.further || !r.now.final
		key := taskKey(t.ID) + "/failed"
		r.reopen = append(append(r.reopen, tries.Open...), key)
		r.again = r.again || len(tries.Open) > 0
		r.flow.Emit(key, event.StepFailed{Step: step, Status: string(r.now.status), Reason: reason, Voting: tries.Voting})
	default:
		return nil // it is tried again, or waits
	}
	r.now = progress{}
	if t.ID >= r.lastPrompt {
		return nil
	}
	for _, a := range t.Answers {
		r.summaries.Decided(step, a)
	}
	return r.summaries.Add(r.flow, taskKey(t.ID), step, t.Title(), text)
}

// callsOf tells the tasks after a failed one what it has done all the same.
func callsOf(moves []flow.Move) string {
	var b strings.Builder
	for _, m := range moves {
		if b.Len() == 0 {
			b.WriteString("\nThese calls were made before:")
		}
		fmt.Fprintf(&b, "\n%s %s: %s", m.Intent.Tool, oneLine(string(m.Intent.Input), maxExcerpt), oneLine(m.Result.Text, maxTitle))
	}
	return b.String()
}

// end says how the run went.
func (r *runner) end() {
	state := &r.machine.State
	var failed []*TaskState
	for i := range state.Tasks {
		if t := &state.Tasks[i]; t.Status == Failed {
			failed = append(failed, t)
		}
	}
	summary := event.TextValue(Final(*state))
	if len(failed) == 0 {
		r.flow.Emit("end", event.TaskCompleted{Steps: r.committed, Output: summary})
		return
	}
	// A resume tries what failed again, with the tools that there are then, and tells
	// those after it what came of it.
	reopen := r.reopen
	if r.again {
		reopen = append(reopen, "tools")
		for id := failed[0].ID; id <= len(state.Tasks); id++ {
			reopen = append(reopen, taskKey(id)+"/summary")
		}
	}
	end := event.TaskFailed{Status: event.StatusFailed, Step: failed[0].ID - 1, Output: summary, Reopen: reopen, Final: !r.further}
	if len(failed) == r.undecided {
		end.Status = event.StatusUndecided
	}
	end.Reason = fmt.Sprintf("%d of %d tasks failed; task %d (%s): %s", len(failed), len(state.Tasks), failed[0].ID, failed[0].Title(), failed[0].Outcome)
	r.flow.Emit("end", end)
}
