// Package mapper has the same questions answered for each record of a table: many at a
// time, each on its own. A record without an answer does not end the others.
package mapper

import (
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// Config says what to do.
type Config struct {
	Records   int
	Questions []string // their names, in the order in which they are asked

	// Pool names the voters who are asked where others do not agree; empty if there are
	// none.
	Pool string

	// Open is a record. Its error ends the run.
	Open func(record int) (Record, error)

	// Ended is how a record ended in an earlier session, and whether its answer was right;
	// empty if it has to be asked about.
	Ended func(record int) (flow.Status, *bool)

	// Same are the records that are not asked about, by number, with those that stand for
	// them.
	Same map[int]int
}

// A Record can be asked about.
type Record interface {
	// Ask is a question, given the answers to those before it, by name. Its error is what
	// is wrong with the record.
	Ask(question int, earlier map[string]json.RawMessage) (*flow.Question, error)

	// Right reports whether the answers are the known ones; nil if that is not known.
	Right(answers map[string]json.RawMessage) *bool
}

// Outcome is how the records ended.
type Outcome struct {
	Records   int `json:"records"`
	Decided   int `json:"decided"`
	Undecided int `json:"undecided"`
	Failed    int `json:"failed"`
	Same      int `json:"same,omitempty"` // as another, which is counted among the others

	// Known are those with a known answer, and Right those of them that are decided and
	// have it.
	Known int `json:"known,omitempty"`
	Right int `json:"right,omitempty"`
}

// Run asks about each record. It emits step_completed or step_failed for each, and then
// task_completed, or task_failed if some have no answer.
func Run(f flow.Flow, c Config) error {
	ended := make([]end, c.Records) // what a million records take is a megabyte
	err := f.Parallel(flow.Records, c.Records, func(i int, f flow.Flow) error {
		if _, ok := c.Same[i]; ok {
			ended[i] = same
			return nil
		}
		status, right := c.Ended(i)
		if status == "" {
			var err error
			if status, right, err = c.record(f, i); err != nil {
				return err
			}
		}
		ended[i] = newEnd(status, right)
		return nil
	})
	if err != nil {
		return err
	}
	out, more := Outcome{Records: c.Records}, 0
	for i, e := range ended {
		if out.add(e); e == same && ended[c.Same[i]]&3 != decided {
			more++
		}
	}
	end, err := out.End(more)
	if err == nil {
		f.Emit("end", end)
	}
	return err
}

// End is the event that ends a run whose records ended so. More are the records that are the
// same as one without an answer.
func (o Outcome) End(more int) (event.Event, error) {
	output, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	missing := o.Undecided + o.Failed
	if missing == 0 {
		return event.TaskCompleted{Steps: o.Decided, Output: event.JSONValue(output)}, nil
	}
	reason := fmt.Sprintf("%d of %d records have no answer: %d undecided, %d failed", missing, o.Records-o.Same, o.Undecided, o.Failed)
	if more > 0 {
		reason += fmt.Sprintf(", and %d more that are the same as one of these", more)
	}
	return event.TaskFailed{Status: event.StatusUndecided, Output: event.JSONValue(output), Step: o.Records, Reason: reason}, nil
}

// An end is how a record ended, in a byte.
type end byte

const (
	failed end = iota
	decided
	undecided
	same
	known end = 4 // and its answer is known,
	right end = 8 // and right
)

func newEnd(s flow.Status, isRight *bool) end {
	e := failed
	switch s {
	case flow.Decided:
		e = decided
	case flow.Undecided:
		e = undecided
	}
	if isRight != nil {
		if e |= known; *isRight {
			e |= right
		}
	}
	return e
}

func (o *Outcome) add(e end) {
	switch e & 3 {
	case decided:
		o.Decided++
	case undecided:
		o.Undecided++
	case same:
		o.Same++
	default:
		o.Failed++
	}
	if e&known != 0 {
		o.Known++
	}
	if e&right != 0 {
		o.Right++
	}
}

// record asks about one record.
func (c *Config) record(f flow.Flow, i int) (flow.Status, *bool, error) {
	record, err := c.Open(i)
	if err != nil {
		return "", nil, err
	}
	answers := map[string]json.RawMessage{}
	done := event.StepCompleted{Step: i}
	var all flow.Outcome
	for n, name := range c.Questions {
		q, err := record.Ask(n, answers)
		if err != nil {
			return c.fail(f, event.StepFailed{Step: i, Status: string(flow.Failed), Reason: err.Error(), Voting: all.Voting, CostUSD: all.CostUSD}, answers)
		}
		q.Step, q.Second = i, c.Pool != ""
		v, err := f.Decide(name, q)
		if err != nil {
			return "", nil, err
		}
		before := all.Voting
		if all.Take(v); v.Status != flow.Decided && c.Pool != "" {
			second, err := flow.AskSecond(f, name, c.Pool, q, v, &done)
			if err != nil {
				return "", nil, err
			}
			if v = second; v.Status == flow.Decided {
				all.Take(v)
			}
		}
		if v.Status != flow.Decided {
			reason := v.Reason
			if len(c.Questions) > 1 {
				reason = name + ": " + reason
			}
			return c.fail(f, event.StepFailed{Step: i, Status: string(v.Status), Reason: reason, Voting: v.Voting.Plus(before), CostUSD: all.CostUSD}, answers)
		}
		answers[name] = v.Answer
	}
	output, err := outputOf(c.Questions, answers)
	if err != nil {
		return "", nil, err
	}
	known := record.Right(answers)
	done.Output, done.Right, done.CostUSD, done.DurationMS = event.JSONValue(output), known, all.CostUSD, all.DurationMS
	if done.First == nil || len(c.Questions) > 1 { // what settled one of several is not what settled the record
		done.Pool, done.First, done.Voting = "", nil, all.Voting
	}
	f.Emit("completed", done)
	return flow.Decided, known, nil
}

// fail ends a record without an answer to one of its questions, with those to the others.
func (c *Config) fail(f flow.Flow, e event.StepFailed, answers map[string]json.RawMessage) (flow.Status, *bool, error) {
	if len(answers) > 0 {
		output, err := json.Marshal(answers)
		if err != nil {
			return "", nil, err
		}
		e.Output = event.JSONValue(output)
	}
	f.Emit("failed", e)
	return flow.Status(e.Status), nil, nil
}

// outputOf is what a record comes to: its answer, or its answers by name.
func outputOf(names []string, answers map[string]json.RawMessage) (json.RawMessage, error) {
	if len(names) == 1 {
		return answers[names[0]], nil
	}
	return json.Marshal(answers)
}
