package runs

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/records"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/internal/text/table"
	"github.com/maker-mdap/maker/plan"
)

// kindAsk is the kind of a run that asks one question.
const kindAsk = "ask"

// asked is what the voters of a step were asked, as far as it follows from the log: in full in a
// chain, in its first framing, and of a request; elsewhere what it is about, in the words of the
// person or the planner. It is empty where nothing follows. Families are the user's own.
func (r *Run) asked(step int, output event.Value, families []domain.Family) (string, error) {
	switch r.Form() {
	case event.FormRequests:
		return r.Request(step)
	case event.FormRecords:
		return r.askedOfRecord(step, output)
	case event.FormPlan, event.FormTasks, event.FormTree:
		return r.described(step)
	case event.FormChain:
		if r.Kind() == kindAsk {
			return r.Task(), nil
		}
		return r.askedInChain(step, families)
	}
	return "", nil
}

func (r *Run) askedInChain(step int, families []domain.Family) (string, error) {
	c := chainOf(append([]domain.Family{hanoi.Family()}, families...), r.Kind(), r.task.Params)
	if c == nil {
		return "", nil
	}
	var previous json.RawMessage
	if step > 0 {
		before, err := r.Step(step - 1)
		if err != nil {
			return "", err
		}
		output, err := r.Load(before.Output)
		if err != nil {
			return "", err
		}
		previous = output.JSON
	}
	q, err := c.Question(step, previous)
	if err != nil {
		return "", err
	}
	return q.Prompt, nil
}

// askedOfRecord are the questions about a record. Those after an answer that there is none to
// were not asked.
func (r *Run) askedOfRecord(n int, output event.Value) (string, error) {
	var about struct {
		Questions []struct{ Name, Prompt, Gold string }
	}
	if json.Unmarshal(r.task.Params, &about) != nil {
		return "", nil
	}
	file := records.NewReader(filepath.Join(r.dir, records.File), func(other int) bool { return other != n })
	defer file.Close()
	record, err := file.Record(n)
	if err != nil {
		return "", nil // everything but the log can be lost
	}
	values := maps.Clone(record.Values)
	var hidden []string
	for _, q := range about.Questions {
		if q.Gold != "" {
			hidden = append(hidden, q.Gold)
		}
	}
	if len(about.Questions) > 1 {
		var answers map[string]any
		_ = json.Unmarshal(output.JSON, &answers) // without an output there are none
		maps.Copy(values, answers)
	}
	var asked []string
	for _, q := range about.Questions {
		prompt, err := table.NewPrompt(q.Prompt, hidden...)
		if err != nil {
			break
		}
		text, err := prompt.Render(table.Record{Line: record.Line, Values: values})
		if err != nil {
			break
		}
		asked = append(asked, text)
	}
	return strings.Join(asked, "\n\n"), nil
}

// described is what a step of a plan, a task or a part of a problem is about.
func (r *Run) described(step int) (string, error) {
	text := ""
	for line, err := range runlog.Read(r.dir) {
		if err != nil {
			return "", err
		}
		switch line.Type {
		case event.TypeValidationPassed, event.TypeOutlineCreated, event.TypeDecompositionSelected, event.TypeSubproblemSolved:
		default:
			continue
		}
		rec, err := line.Decode()
		if err != nil {
			return "", damaged(r.dir, line, err)
		}
		switch e := rec.Event.(type) {
		case event.ValidationPassed:
			v, err := r.Load(e.Plan)
			if err != nil {
				return "", err
			}
			p, _ := plan.Parse(v.Text())
			for i := 0; p != nil && i < len(p.Steps); i++ {
				if p.Steps[i].Number == step {
					text = p.Steps[i].TaskDescription
				}
			}
		case event.OutlineCreated:
			v, err := r.Load(e.Tasks)
			if err != nil {
				return "", err
			}
			var tasks []struct{ Text string }
			if json.Unmarshal(v.JSON, &tasks) == nil && step < len(tasks) {
				text = tasks[step].Text
			}
		case event.DecompositionSelected:
			if e.Step == step {
				text = e.Problem.Text()
			}
		case event.SubproblemSolved:
			if e.Step == step {
				text = e.Problem.Text()
			}
		}
	}
	return text, nil
}
