package screen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/runs"
)

// A list has the tasks of an outline or the steps of a plan, with where each of them stands
// and what happened in it.
type list struct {
	items   []item
	current int // the index of the one that was last heard of
}

type item struct {
	step   int    // as events number it
	name   string // as people do
	title  string
	status outline.TaskStatus
	votes  string   // how it was decided
	lines  []string // what happened

	contest *runs.Contest // that it is, if it is one
}

// longestStory is how many lines are kept of what happened in a step.
const longestStory = 200

// take learns from an event. load fetches what is stored beside the log.
func (l *list) take(form event.Form, e event.Event, load func(event.Value) (event.Value, error)) {
	switch e := e.(type) {
	case event.OutlineCreated:
		l.takeTasks(e, load)
	case event.ValidationPassed:
		l.takePlan(e, load)
	case event.StepStarted:
		if at := l.at(e.Step); at == nil && len(l.items) > 0 { // a step that is repeated
			l.add(e.Step, e.Title)
		} else if at != nil && e.Title != "" {
			at.title = e.Title
		}
		l.set(e.Step, outline.StatusRunning)
	case event.StepCompleted:
		l.set(e.Step, outline.StatusCompleted)
		if at := l.at(e.Step); at != nil {
			at.votes = e.Voting.Split()
			at.tell("came to " + show.Line(e.Output.Compact()))
			for _, line := range runs.DescribeDissent(e.Voting, e.Output) {
				at.tell("  dissent: " + line)
			}
		}
	case event.StepFailed:
		l.set(e.Step, outline.StatusFailed)
		l.tell(form, e.Step, e)
	case event.ClarificationRequested:
		if e.Kind != event.ClarifyPlan { // which is about no step
			l.set(e.Step, outline.StatusNeedsClarification)
			l.tell(form, e.Step, e)
		}
	case event.ClarificationProvided:
		if at := l.at(e.Step); at != nil && at.status == outline.StatusNeedsClarification {
			l.set(e.Step, outline.StatusRunning)
			l.tell(form, e.Step, e)
		}
	case event.SampleCompleted:
		l.story(e.Step, "vote %s, %s", e.Model, show.ExactLine(e.Vote))
	case event.SampleRedFlagged:
		l.story(e.Step, "discarded, %s: %s (%s)", e.Model, show.Line(e.Reason), e.Flag)
	case event.SampleFaulted:
		l.story(e.Step, "fault %s", show.Line(e.Message))
	case event.VoteCompleted:
		l.takeVote(e)
	case event.EffectClaimed:
		l.tell(form, e.Step, e)
	case event.EffectRefused:
		l.tell(form, e.Step, e)
	case event.EffectUnknown:
		l.tell(form, e.Step, e)
	case event.EffectDone:
		l.tell(form, e.Step, e)
	}
}

func (l *list) takeTasks(e event.OutlineCreated, load func(event.Value) (event.Value, error)) {
	value, err := load(e.Tasks)
	if err != nil {
		return // lines will do
	}
	var tasks []outline.Task
	if json.Unmarshal(value.JSON, &tasks) != nil {
		return
	}
	l.items = make([]item, len(tasks))
	for i := range tasks {
		l.items[i] = item{step: i, name: fmt.Sprintf("%d.", tasks[i].ID), title: tasks[i].Title(), status: tasks[i].Status}
	}
}

func (l *list) takePlan(e event.ValidationPassed, load func(event.Value) (event.Value, error)) {
	value, err := load(e.Plan)
	if err != nil {
		return
	}
	p, findings := plan.Parse(value.Text())
	if len(findings) > 0 {
		return
	}
	// What is planned anew is numbered on after what was begun.
	base := 0
	l.items = slices.DeleteFunc(l.items, func(i item) bool { return i.status == outline.StatusPlanned || e.Replan == 0 })
	for _, i := range l.items {
		base = max(base, i.step+1)
	}
	for i := range p.Steps {
		l.add(base+p.Steps[i].Number, p.Steps[i].Title)
	}
}

func (l *list) add(step int, title string) {
	l.items = append(l.items, item{step: step, name: fmt.Sprint(step), title: title, status: outline.StatusPlanned})
}

func (l *list) takeVote(e event.VoteCompleted) {
	at := l.at(e.Step)
	if at == nil {
		return
	}
	what := e.Answer.Compact()
	if e.Intent != nil {
		what = "call " + show.CallLine(e.Intent.Tool, e.Intent.Input)
	}
	if e.Status != "decided" {
		what = e.Status + " " + e.Reason
	}
	at.tell(fmt.Sprintf("votes %s: %s", e.Voting.Split(), show.Line(what)))
}

// at is the item of a step, the last one if it was planned twice; nil if there is none.
func (l *list) at(step int) *item {
	for i := range slices.Backward(l.items) {
		if l.items[i].step == step {
			return &l.items[i]
		}
	}
	return nil
}

func (l *list) set(step int, status outline.TaskStatus) {
	for i := range slices.Backward(l.items) {
		if l.items[i].step == step {
			l.items[i].status, l.current = status, i
			return
		}
	}
}

func (l *list) story(step int, format string, args ...any) {
	if at := l.at(step); at != nil {
		at.tell(fmt.Sprintf(format, args...))
	}
}

// tell notes an event in the words of the report.
func (l *list) tell(form event.Form, step int, e event.Event) {
	if at := l.at(step); at != nil {
		for line := range strings.Lines(report.Describe(form, e, map[int]string{step: at.title})) {
			at.tell(strings.TrimSpace(line))
		}
	}
}

func (i *item) tell(line string) {
	if len(i.lines) == longestStory {
		i.lines = append(i.lines[:0], i.lines[1:]...)
	}
	i.lines = append(i.lines, line)
}

// shows reports whether the list says what an event does.
func (l *list) shows(e event.Event) bool {
	switch e.(type) {
	case event.StepStarted, event.StepCompleted:
		return len(l.items) > 0
	}
	return false // why a task failed, what is asked and what is called is not in the list
}

// done is how many items are over.
func (l *list) done() int {
	n := 0
	for i := range l.items {
		if s := l.items[i].status; s == outline.StatusCompleted || s == outline.StatusFailed {
			n++
		}
	}
	return n
}

// mostItems is how many items are shown at once.
const mostItems = 15

// around chooses which of n are shown in so many rows: those around one of them, with a
// little of what is before it.
func around(at, n, rows int) (from, to int) {
	if rows = min(rows, mostItems); n <= rows {
		return 0, n
	}
	rows = max(rows-2, 1) // a line above and one below say what is left out
	from = max(0, min(at-rows/3, n-rows))
	return from, from + rows
}

// countItems says how many there are, by status.
func countItems(items []item) string {
	count := map[outline.TaskStatus]int{}
	for _, t := range items {
		count[t.status]++
	}
	var parts []string
	for _, s := range []struct {
		status outline.TaskStatus
		words  string
	}{{outline.StatusCompleted, "done"}, {outline.StatusFailed, "failed"}, {outline.StatusRunning, "running"}, {outline.StatusNeedsClarification, "waiting for you"}, {outline.StatusPlanned, "to do"}} {
		if n := count[s.status]; n > 0 {
			parts = append(parts, report.Thousands(n)+" "+s.words)
		}
	}
	return strings.Join(parts, ", ")
}

// Mark is the box of a task.
func Mark(s outline.TaskStatus) string {
	switch s {
	case outline.StatusRunning:
		return "[>]"
	case outline.StatusCompleted:
		return "[x]"
	case outline.StatusFailed:
		return "[!]"
	case outline.StatusNeedsClarification:
		return "[?]"
	default:
		return "[ ]"
	}
}
