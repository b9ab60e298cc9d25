package outline

import (
	"encoding/json"
	"errors"
	"fmt"

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

	// Tools are what agents may use, AskTool among them is the one that asks the
	// person, ShellTool executes literal commands, and AttachTool reads attachments.
	Tools      []string
	AskTool    string
	ShellTool  string
	AttachTool string

	// MaxMoves bounds the calls that one task may have executed.
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
	compactor, err := NewCompactor(c.ContextBudget, nil)
	if err != nil {
		return err
	}
	r := &runner{flow: f, config: c, machine: m, compactor: compactor, moves: map[int][]flow.Move{}, started: map[int]bool{}}
	state := m.State()
	list, err := json.Marshal(state.Tasks)
	if err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	f.Emit(event.OutlineCreated{Tasks: event.JSONValue(list)})
	for i := range state.Tasks {
		compactor.Expect(state.Tasks[i].ID, state.Tasks[i].Text)
	}
	if err := r.run(); err != nil {
		return err
	}
	r.end()
	return nil
}

// runner drives a machine.
type runner struct {
	flow      flow.Flow
	config    Config
	machine   *Machine
	compactor *Compactor
	moves     map[int][]flow.Move // of the task under way: what was done stays done
	started   map[int]bool
	tally     work // of the task under way, over all its attempts
}

// work is what an attempt took.
type work struct {
	voting     event.Voting
	cost       *float64
	unpriced   bool
	durationMS int64
}

func (w *work) add(o *flow.Outcome) {
	sum := w.voting
	if sum.Samples == 0 || o.Voting.Samples > 0 {
		sum.Strategy, sum.Votes, sum.Margin, sum.ByModel = o.Voting.Strategy, o.Voting.Votes, o.Voting.Margin, o.Voting.ByModel
	}
	sum.Samples += o.Voting.Samples
	sum.RedFlagged += o.Voting.RedFlagged
	sum.Faults += o.Voting.Faults
	sum.Cancelled += o.Voting.Cancelled
	w.voting = sum
	w.durationMS += o.DurationMS
	if o.CostUSD == nil {
		w.unpriced = true
		w.cost = nil
	} else if !w.unpriced {
		cost := *o.CostUSD
		if w.cost != nil {
			cost += *w.cost
		}
		w.cost = &cost
	}
}

func (r *runner) run() error {
	var incoming *ExecutorEvent
	for {
		if next, ok := r.machine.Next(); ok {
			r.machine.SetSummary(r.compactor.Context(next.Text).Text)
		}
		commands := r.machine.Step(incoming)
		if len(commands) == 0 {
			return nil
		}
		var e Event
		var err error
		switch c := commands[0].(type) {
		case ExecuteTask:
			e, err = r.execute(&c)
		case RequestClarification:
			e, err = r.ask(c)
		case Refused:
			err = errors.New("outline: " + c.Reason)
		}
		if err != nil {
			return err
		}
		incoming = &ExecutorEvent{e}
		if err := r.settle(e); err != nil {
			return err
		}
	}
}

// ask puts a question to the person.
func (r *runner) ask(c RequestClarification) (Event, error) {
	state := r.machine.State()
	round := 0
	for i := range state.Tasks {
		if state.Tasks[i].ID == c.ID {
			round = len(state.Tasks[i].Answers)
		}
	}
	r.start(c.ID, "")
	a, err := r.flow.Ask(fmt.Sprintf("task/%d/question/%d", c.ID, round), &flow.HumanQuestion{
		Step: c.ID - 1, Kind: event.ClarifyQuestion, Text: c.Question,
	})
	if err != nil {
		return nil, err
	}
	answer := Answer{Question: c.Question, Answer: a.Text, By: a.By}
	r.compactor.Decided(c.ID, answer)
	return ClarificationProvided{ID: c.ID, Answer: a.Text, By: a.By}, nil
}

// start says once that a task begins.
func (r *runner) start(id int, title string) {
	if r.started[id] {
		return
	}
	r.started[id] = true
	if title == "" {
		for _, t := range r.machine.State().Tasks {
			if t.ID == id {
				title = t.Title()
			}
		}
	}
	r.flow.Emit(event.StepStarted{Step: id - 1, Title: title})
}

// execute makes one attempt at a task.
func (r *runner) execute(c *ExecuteTask) (Event, error) {
	task := Task{Text: c.Parameters.Text}
	r.start(c.ID, task.Title())
	if c.Parameters.Command != "" {
		return r.command(c)
	}
	found, missing, err := r.attach(c)
	if err != nil || missing != nil {
		return missing, err
	}
	return r.think(c, found)
}

// command executes a literal command: no model is asked.
func (r *runner) command(c *ExecuteTask) (Event, error) {
	intent, err := intentOf(r.config.ShellTool, map[string]string{"command": c.Parameters.Command})
	if err != nil {
		return nil, err
	}
	result, err := r.flow.Perform(r.key(c)+"/command", &flow.Effect{Step: c.ID - 1, Intent: intent, Voting: event.Voting{Strategy: vote.None}})
	switch {
	case err != nil:
		return nil, err
	case result.IsError || result.Unknown:
		return TaskFailed{ID: c.ID, Error: result.Text, Final: true}, nil
	}
	return TaskCompleted{ID: c.ID, Result: result.Text, By: "command"}, nil
}

// key tells an execution from any other of the run.
func (r *runner) key(c *ExecuteTask) string {
	return fmt.Sprintf("task/%d/round/%d/attempt/%d", c.ID, c.Parameters.Round, c.Parameters.Attempt)
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

// settle writes down what became of a task, if that is settled now.
func (r *runner) settle(e Event) error {
	switch e := e.(type) {
	case TaskCompleted:
		r.flow.Emit(event.StepCompleted{
			Step: e.ID - 1, Title: r.title(e.ID), Output: event.TextValue(e.Result),
			Voting: r.tally.voting, CostUSD: r.cost(), DurationMS: r.tally.durationMS,
		})
		r.finish(e.ID)
		r.compactor.Add(e.ID, r.title(e.ID), e.Result)
		return r.compact(e.ID)
	case TaskFailed:
		state := r.machine.State()
		if !willFail(&state, e) {
			return nil // it is tried again
		}
		r.flow.Emit(event.StepFailed{Step: e.ID - 1, Status: string(flow.Failed), Reason: e.Error, Voting: r.tally.voting})
		r.finish(e.ID)
		r.compactor.Add(e.ID, r.title(e.ID), "It failed: "+e.Error)
		return r.compact(e.ID)
	}
	return nil
}

// willFail reports whether the machine will take a failure as the last one.
func willFail(s *State, e TaskFailed) bool {
	m := &Machine{state: s.clone()}
	m.Step(&ExecutorEvent{e})
	for _, t := range m.state.Tasks {
		if t.ID == e.ID {
			return t.Status == Failed
		}
	}
	return true
}

func (r *runner) finish(id int) {
	delete(r.moves, id)
	r.tally = work{}
}

// cost is what the task took; nothing, if no model was asked.
func (r *runner) cost() *float64 {
	if r.tally.cost == nil && !r.tally.unpriced {
		return new(float64)
	}
	return r.tally.cost
}

func (r *runner) title(id int) string {
	for i := range r.machine.state.Tasks {
		if t := &r.machine.state.Tasks[i]; t.ID == id {
			return t.Title()
		}
	}
	return ""
}

// end says how the run went.
func (r *runner) end() {
	state := r.machine.State()
	failed := 0
	first := 0
	for i := range state.Tasks {
		if state.Tasks[i].Status == Failed {
			if failed == 0 {
				first = state.Tasks[i].ID - 1
			}
			failed++
		}
	}
	summary := event.TextValue(Final(state))
	if failed == 0 {
		r.flow.Emit(event.TaskCompleted{Steps: len(state.Tasks), Output: summary})
		return
	}
	r.flow.Emit(event.TaskFailed{
		Status: event.StatusFailed, Step: first, Output: summary,
		Reason: fmt.Sprintf("%d of %d tasks failed; the first: %s", failed, len(state.Tasks), state.Tasks[first].Outcome),
	})
}
