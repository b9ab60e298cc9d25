// Package chain runs a task of many steps in a row: ask, commit, go on. It is
// the paper's solution loop as an orchestrator.
package chain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// Config is what every question of the chain has in common.
type Config struct {
	flow.Terms

	// Pool names the voters who are asked where those of the chain do not agree; empty if
	// there are none.
	Pool string
}

// A Checkpoint is where to begin: the first step to do and the output of the
// one before. The zero value is the beginning.
type Checkpoint struct {
	Step   int
	Output json.RawMessage

	// Ended is how records ended that do not depend on each other, see package mapper;
	// nil at the beginning.
	Ended func(record int) (flow.Status, *bool)
}

// Run does the steps of c that remain after the checkpoint. It emits
// step_completed for each, then task_completed; or step_failed and task_failed.
// Its error is the flow's: the run is over for a reason outside the task.
func Run(f flow.Flow, c domain.Chain, cfg Config, at Checkpoint) error {
	output := at.Output
	if at.Step > 0 {
		// The last session may have ended between the step and this check.
		if err := c.Check(at.Step-1, output); err != nil {
			f.Emit("end", event.TaskFailed{Status: event.StatusFailed, Reason: err.Error(), Step: at.Step - 1, Wrong: true})
			return nil
		}
	}
	round := newCircle(c)
	s := &steps{Config: cfg, chain: c}
	var done event.StepCompleted
	for step := at.Step; step < c.Steps(); step++ {
		q, err := s.question(step, output)
		if err != nil {
			fail(f, step, event.StepFailed{Status: string(flow.Failed), Reason: err.Error()})
			return nil
		}
		key := Key(step)
		v, err := f.Decide(key, q)
		if err != nil {
			return err
		}
		done = event.StepCompleted{Step: step, Class: q.Class, Voting: v.Voting, CostUSD: v.CostUSD, DurationMS: v.DurationMS}
		if v.Status != flow.Decided && cfg.Pool != "" {
			if v, err = flow.AskSecond(f, key, cfg.Pool, q, v, &done); err != nil {
				return err
			}
		}
		if v.Status != flow.Decided {
			fail(f, step, event.StepFailed{Status: string(v.Status), Reason: v.Reason, Voting: v.Voting})
			return nil
		}
		output = v.Answer
		done.Output = event.JSONValue(output)
		flow.Commit(f, key, &done)
		if err := cmp.Or(s.chain.Check(step, output), round.take(step, output)); err != nil {
			f.Emit("end", event.TaskFailed{Status: event.StatusFailed, Reason: err.Error(), Step: step, Wrong: true})
			return nil
		}
	}
	if err := c.Finish(output); err != nil {
		f.Emit("end", event.TaskFailed{Status: event.StatusFailed, Reason: err.Error(), Step: c.Steps() - 1, Wrong: true})
		return nil
	}
	f.Emit("end", event.TaskCompleted{Steps: c.Steps(), Output: event.JSONValue(output)})
	return nil
}

// steps are the questions of a chain.
type steps struct {
	Config
	chain domain.Chain
}

// question is that of a step, after the output of the one before.
func (s *steps) question(step int, previous json.RawMessage) (*flow.Question, error) {
	q, err := s.chain.Question(step, previous)
	if err != nil {
		return nil, err
	}
	q.Step, q.Terms, q.Second = step, s.Terms, s.Pool != ""
	q.Next = func(answer json.RawMessage) (string, *flow.Question) {
		if step+1 == s.chain.Steps() || s.chain.Check(step, answer) != nil {
			return "", nil
		}
		next, err := s.question(step+1, answer)
		if err != nil {
			return "", nil
		}
		return Key(step + 1), next
	}
	return q, nil
}

// A circle notices that outputs come again, without keeping them: it holds on to one, for
// twice as many steps each time (Brent's algorithm).
type circle struct {
	watched bool
	kept    json.RawMessage
	since   int // steps since it was kept
	until   int // that many it is kept for
}

func newCircle(c domain.Chain) circle {
	onward, ok := c.(domain.Onward)
	return circle{watched: ok && onward.NeverRepeats()}
}

// take takes the output of a step, and returns an error if there was the same before.
func (c *circle) take(step int, output json.RawMessage) error {
	if !c.watched {
		return nil
	}
	c.since++
	if c.kept != nil && bytes.Equal(c.kept, output) {
		return fmt.Errorf("step %d comes to the same as step %d: the run goes round in a circle of %d steps, which no right solution does, "+
			"so at least one committed step is wrong, although its voters agreed", step, step-c.since, c.since)
	}
	if c.since >= c.until {
		c.kept, c.since, c.until = output, 0, max(1, 2*c.until)
	}
	return nil
}

// Key is the key under which a step is asked.
func Key(step int) string {
	var room [32]byte
	return string(strconv.AppendInt(append(room[:0], "step/"...), int64(step), 10))
}

func fail(f flow.Flow, step int, e event.StepFailed) {
	e.Step = step
	f.Emit(Key(step)+"/failed", e)
	status := event.StatusFailed
	if e.Status == string(flow.Undecided) {
		status = event.StatusUndecided
	}
	f.Emit("end", event.TaskFailed{Status: status, Reason: e.Reason, Step: step, Reopen: []string{Key(step)}})
}
