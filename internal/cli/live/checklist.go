package live

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/outline"
)

// checklist is the list of an outline's tasks with where each of them stands.
type checklist struct {
	tasks   []checkItem
	current int // the index of the task that was last heard of
}

type checkItem struct {
	id     int
	title  string
	status outline.TaskStatus
}

// take learns from an event. load fetches what is stored beside the log.
func (c *checklist) take(e event.Event, load func(event.Value) (event.Value, error)) {
	switch e := e.(type) {
	case event.OutlineCreated:
		value, err := load(e.Tasks)
		if err != nil {
			return // lines will do
		}
		var tasks []outline.Task
		if json.Unmarshal(value.JSON, &tasks) != nil {
			return
		}
		c.tasks = make([]checkItem, len(tasks))
		for i := range tasks {
			c.tasks[i] = checkItem{tasks[i].ID, tasks[i].Title(), tasks[i].Status}
		}
	case event.StepStarted:
		c.set(e.Step, outline.StatusRunning)
	case event.StepCompleted:
		c.set(e.Step, outline.StatusCompleted)
	case event.StepFailed:
		c.set(e.Step, outline.StatusFailed)
	case event.ClarificationRequested:
		c.set(e.Step, outline.StatusNeedsClarification)
	case event.ClarificationProvided:
		c.set(e.Step, outline.StatusRunning)
	}
}

func (c *checklist) set(step int, status outline.TaskStatus) {
	if step >= 0 && step < len(c.tasks) {
		c.tasks[step].status, c.current = status, step
	}
}

// shows reports whether the list says what an event does.
func (c *checklist) shows(e event.Event) bool {
	switch e.(type) {
	case event.StepStarted, event.StepCompleted:
		return len(c.tasks) > 0
	}
	return false // why a task failed, what is asked and what is called is not in the list
}

// mostTasks is how many tasks are shown at once.
const mostTasks = 15

// window chooses the tasks that are shown in so many rows: those around the current
// one, with a little of what is done before it.
func (c *checklist) window(rows int) (from, to int) {
	n := len(c.tasks)
	rows = min(rows, mostTasks)
	if n <= rows {
		return 0, n
	}
	rows = max(rows-2, 1) // a line above and one below say what is left out
	from = max(0, min(c.current-rows/3, n-rows))
	return from, from + rows
}

// fewestRows is how many rows a list that is longer takes at least.
const fewestRows = 4

// lines draws the list in at most so many rows, or not at all if they are too few.
func (c *checklist) lines(rows int, paint func(code, s string) string) []string {
	if rows < len(c.tasks) && rows < fewestRows {
		return nil
	}
	from, to := c.window(rows)
	var out []string
	if from > 0 {
		out = append(out, paint("2", "  … "+countTasks(c.tasks[:from])))
	}
	for _, t := range c.tasks[from:to] {
		out = append(out, paint(colourOf(t.status), fmt.Sprintf("%s %d. %s", Mark(t.status), t.id, show.Line(t.title))))
	}
	if to < len(c.tasks) {
		out = append(out, paint("2", "  … "+countTasks(c.tasks[to:])))
	}
	return out
}

// countTasks says how many tasks there are, by status.
func countTasks(tasks []checkItem) string {
	count := map[outline.TaskStatus]int{}
	for _, t := range tasks {
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

func colourOf(s outline.TaskStatus) string {
	switch s {
	case outline.StatusRunning:
		return "36"
	case outline.StatusCompleted:
		return "32"
	case outline.StatusFailed:
		return "31"
	case outline.StatusNeedsClarification:
		return "33"
	default:
		return "0"
	}
}

// beforeQuestion is how many rows the list takes above a question.
const beforeQuestion = 7

// leaveList leaves the list on the screen, above what is written next: whoever is
// asked sees for which task.
func (v *View) leaveList() {
	if v.width == nil || len(v.list.tasks) == 0 {
		return
	}
	v.redraw(v.list.lines(min(beforeQuestion, v.height()-3), v.paint))
	v.lines, v.drawn = 0, ""
}
