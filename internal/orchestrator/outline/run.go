// Package outline carries out the tasks of an outline: it drives an [outline.Planner]
// through a [flow.Flow].
//
// Each execution of a task has a key made of the task, the number of answers it has got
// and the attempt, so that an effect, a verdict or an answer can never be taken for that
// of another. Calls that were made are part of what later attempts see, across failures
// and questions; a task that is settled is one event.
package outline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/summary"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/vote"
)

// Config is how the tasks of a run are carried out.
type Config struct {
	Prompts *prompts.Set
	Planner outline.PlannerConfig

	flow.Terms // of every question
	Repair     flow.Repair

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

	// RetryDelayMS is how long to wait before the second attempt at a task; it
	// doubles with each further one, up to a minute.
	RetryDelayMS int64

	// Meaning has results that are texts compared by what they say.
	Meaning bool

	// Ladder is what is done when the voters of a task do not agree, and Split does a task
	// in several steps then; nil leaves that out.
	Ladder flow.Ladder
	Split  flow.SplitFunc
}

// Run carries out tasks one after another. It emits outline_created, the events of
// the steps, whose numbers are those of the tasks less one, and at the end
// task_completed, or task_failed if a task failed. Its error is the flow's: the run
// is over for a reason outside the tasks.
func Run(f flow.Flow, tasks []outline.Task, c Config) error {
	p, err := outline.NewPlanner(tasks, &c.Planner)
	if err != nil {
		return err
	}
	if c.MaxMoves <= 0 {
		c.MaxMoves = flow.DefaultMaxMoves
	}
	r := &runner{flow: f, config: c, planner: p}
	if err := r.look(); err != nil {
		return err
	}
	list, err := json.Marshal(p.State.Tasks)
	if err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	f.Emit("outline", event.OutlineCreated{Tasks: event.JSONValue(list)})
	if err := r.run(); err != nil {
		return err
	}
	r.end()
	return nil
}

// runner drives a planner.
type runner struct {
	flow    flow.Flow
	config  Config
	planner *outline.Planner

	tools   []string // that agents may use
	askTool string   // the one among them that asks the person, if there is one

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
	final   bool         // it failed for good
	by      string       // who settled it, if its own voters did not

	escalated bool // something else than another attempt was tried

	options []string // to choose from, of the question that it waits for

	summaries int // asked for since the task before it was settled
	before    int // tokens of the context before the last of them
}

func (r *runner) run() error {
	var incoming outline.ExecutorEvent
	id := 0 // of the task that it is about
	for {
		command, err := r.planner.Step(incoming)
		if err != nil {
			return err
		}
		if incoming != nil {
			r.settle(id, incoming)
			r.sayLeftOut(id)
		}
		switch c := command.(type) {
		case nil:
			return nil
		case outline.ExecuteTask:
			id = c.NodeID
			incoming, err = r.execute(&c)
		case outline.RequestClarification:
			id = c.NodeID
			incoming, err = r.ask(&c)
		case outline.CompactContext:
			id = c.NodeID
			incoming, err = r.compact(&c)
		default:
			err = fmt.Errorf("outline: nobody carries out %T", c)
		}
		if err != nil {
			return err
		}
	}
}

// task is the state of a task. Tasks are numbered from 1 without a gap.
func (r *runner) task(id int) *outline.Task { return &r.planner.State.Tasks[id-1] }

// taskKey is the key of a task.
func taskKey(id int) string { return fmt.Sprintf("task/%d", id) }

// key tells an execution of a task from any other of the run.
func (r *runner) key(t *outline.Task) string {
	return fmt.Sprintf("%s/round/%d/attempt/%d", taskKey(t.ID), len(t.Answers), t.Attempts)
}

// start says once that a task begins.
func (r *runner) start(t *outline.Task) {
	if !r.now.started {
		r.now.started = true
		r.flow.Emit(taskKey(t.ID)+"/started", event.StepStarted{Step: t.ID - 1, Title: t.Title()})
	}
}

// ask puts a question to the person.
func (r *runner) ask(c *outline.RequestClarification) (outline.ExecutorEvent, error) {
	t := r.task(c.NodeID)
	r.start(t)
	a, err := r.flow.Ask(r.key(t)+"/question", &flow.HumanQuestion{
		Step: c.NodeID - 1, Kind: event.ClarifyQuestion, Text: c.Question,
		Options: r.now.options, Free: len(r.now.options) > 0,
	})
	if err != nil {
		return nil, err
	}
	r.now.options, r.now.tries.Open = nil, nil
	r.now.round = len(r.now.tries.Moves)
	return outline.ClarificationProvided{NodeID: c.NodeID, Answer: a.Text, By: a.By}, nil
}

// compact asks for a summary of what tasks found out.
func (r *runner) compact(c *outline.CompactContext) (outline.ExecutorEvent, error) {
	cfg := &r.config
	r.now.before = r.planner.Compactor.Size()
	text, err := summary.Ask(r.flow, r.summaryKey(c.NodeID), c.NodeID-1, &c.Request, &summary.Config{
		Prompts: cfg.Prompts,
		Terms:   cfg.Terms,
	})
	return outline.ContextCompacted{NodeID: c.NodeID, Summary: text}, err
}

// summaryKey is the key of the next summary after a task.
func (r *runner) summaryKey(id int) string {
	return fmt.Sprintf("%s/summary/%d", taskKey(id), r.now.summaries)
}

// execute makes one attempt at a task.
func (r *runner) execute(c *outline.ExecuteTask) (outline.ExecutorEvent, error) {
	t := r.task(c.NodeID)
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
func (r *runner) command(c *outline.ExecuteTask) (outline.ExecutorEvent, error) {
	intent, err := intentOf(r.config.ShellTool, map[string]string{"command": c.Parameters.Command})
	if err != nil {
		return nil, err
	}
	key := r.key(r.task(c.NodeID)) + "/command"
	result, err := r.flow.Perform(key, &flow.Effect{Step: c.NodeID - 1, Scope: taskKey(c.NodeID), Intent: intent, Voting: event.Voting{Strategy: vote.None}})
	switch {
	case err != nil:
		return nil, err
	case result.IsError || result.Unknown:
		r.now.status = flow.Failed
		if result.Refused {
			r.now.tries.Open = append(r.now.tries.Open, key)
		}
		r.now.final = !result.Refused && !result.Unknown
		return outline.TaskFailed{NodeID: c.NodeID, Error: lastWords(result.Text), Report: result.Text, Final: true, Unknown: result.Unknown}, nil
	}
	return outline.TaskCompleted{NodeID: c.NodeID, Details: flow.MoveOf(intent, *result).Result.Text, By: "command"}, nil
}

// maxExcerpt is how much of a text is shown where it is not the point.
const maxExcerpt = 240

// lastWords is the end of what a command said, where the reason for a failure and
// the exit code stand.
func lastWords(text string) string {
	text = clip.Words(strings.ToValidUTF8(text, "\uFFFD"), len(text))
	if len(text) <= maxExcerpt {
		return text
	}
	text = strings.ToValidUTF8(text[len(text)-maxExcerpt+len("… "):], "") // the first character may be cut
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
	return event.NewIntent(tool, raw)
}

// settle writes down what became of a task, if the event settled it, or of the context.
func (r *runner) settle(id int, e outline.ExecutorEvent) {
	if _, ok := e.(outline.ContextCompacted); ok {
		r.flow.Emit(r.summaryKey(id), summary.Compacted(id-1, r.now.before, r.planner.Compactor))
		r.now.summaries++
		return
	}
	t, tries := r.task(id), &r.now.tries
	if tries.Verdict == nil { // nobody was asked
		tries.Voting.Strategy, tries.CostUSD = vote.None, new(float64)
	}
	switch t.Status {
	case outline.StatusCompleted:
		r.committed++
		done := e.(outline.TaskCompleted)
		if done.Unvoted {
			tries.Voting.Unvoted = []string{"details"}
		}
		r.flow.Emit(taskKey(t.ID)+"/completed", event.StepCompleted{
			Step: t.ID - 1, Title: t.Title(), By: r.now.by, Output: event.TextValue(done.Text()),
			First: tries.First, Voting: tries.Voting, CostUSD: tries.CostUSD, DurationMS: tries.DurationMS,
		})
	case outline.StatusFailed:
		reason := t.Outcome
		if failed, ok := e.(outline.TaskFailed); ok {
			reason = failed.Error
		} else {
			r.now.status = flow.Failed // it asked once too often
		}
		if r.now.status == flow.Undecided {
			r.undecided++
		}
		r.further = r.further || !r.now.final
		key := taskKey(t.ID) + "/failed"
		r.reopen = append(append(r.reopen, tries.Open...), key)
		r.again = r.again || len(tries.Open) > 0
		r.flow.Emit(key, event.StepFailed{Step: t.ID - 1, Status: string(r.now.status), Reason: reason, Voting: tries.All()})
	default:
		return // it is tried again, or waits
	}
	r.now = progress{}
}

// sayLeftOut writes down that something was left out of the context for lack of room.
func (r *runner) sayLeftOut(id int) {
	if c := r.planner.Compactor; c != nil {
		if before := c.Dropped(); before > 0 {
			r.flow.Emit(fmt.Sprintf("%s/left_out/%d", taskKey(id), r.now.summaries), summary.Compacted(id-1, before, c))
		}
	}
}

// end says how the run went.
func (r *runner) end() {
	state := &r.planner.State
	var failed []*outline.Task
	for i := range state.Tasks {
		if t := &state.Tasks[i]; t.Status == outline.StatusFailed {
			failed = append(failed, t)
		}
	}
	summary := event.TextValue(state.Report())
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
