package runs

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// A Step is a committed step.
type Step struct {
	Time time.Time `json:"timestamp"` // of the commit
	event.StepCompleted
}

// Result is the step as a result lists it.
func (s *Step) Result() StepResult { return stepResult(s.StepCompleted) }

// A NoStepError says that a step is not committed.
type NoStepError struct {
	Step  int
	Steps int // how many are
}

func (e *NoStepError) Error() string {
	return fmt.Sprintf("step %d is not committed; the run has %d steps", e.Step, e.Steps)
}

// StepOptions choose steps. The zero value chooses all.
type StepOptions struct {
	From, To  int  // the numbers of the first one and of the first one behind; To 0 means no end
	Contested bool // only those whose votes named more than one answer

	// Closest yields those first that were won most closely: by the lowest share of their
	// votes, and of these by the lowest margin. At most 10,000 are found.
	Closest bool

	Limit int // how many at most; 0 means all
}

func limited(all iter.Seq2[Step, error], n int) iter.Seq2[Step, error] {
	if n <= 0 {
		return all
	}
	return func(yield func(Step, error) bool) {
		left := n
		for s, err := range all {
			if left--; !yield(s, err) || left == 0 {
				return
			}
		}
	}
}

// Step returns a committed step by its number, or a [*NoStepError]. It is one look into
// the run's index, however long the run is.
func (r *Run) Step(n int) (Step, error) {
	if n >= 0 {
		for s, err := range r.Steps(&StepOptions{From: n, To: n + 1}) {
			return s, err
		}
	}
	committed, err := r.committed()
	if err != nil {
		return Step{}, err
	}
	return Step{}, &NoStepError{Step: n, Steps: committed}
}

// Steps yields committed steps in order, or those first that were closest, or the error that ends them. Nil options
// choose all. It reads the events of those that it yields and no others; a run without
// an index is read from the log.
func (r *Run) Steps(o *StepOptions) iter.Seq2[Step, error] {
	if o == nil {
		o = &StepOptions{}
	}
	chosen := func(step, answers int) bool {
		return step >= o.From && (o.To == 0 || step < o.To) && (answers > 1 || !o.Contested)
	}
	if o.Closest {
		return r.closest(*o, chosen)
	}
	return limited(r.inOrder(o, chosen), o.Limit)
}

// inOrder yields steps in the order of their commits.
func (r *Run) inOrder(o *StepOptions, chosen func(step, answers int) bool) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		x, err := runlog.OpenIndex(r.dir)
		if err != nil { // everything but the log can be lost
			for rec, err := range r.Events(0) {
				e, ok := rec.Event.(event.StepCompleted)
				answers := len(e.Voting.Votes)
				if e.First != nil {
					answers = max(answers, len(e.First.Votes))
				}
				if err == nil && !(ok && chosen(e.Step, answers)) {
					continue
				}
				if !yield(Step{Time: rec.Time, StepCompleted: e}, err) {
					return
				}
			}
			return
		}
		defer x.Close()
		// The numbers of a chain are places in its index, as are most of those of a script,
		// which commits each once. Other runs leave steps out, and may come back to one that
		// failed.
		begin, inRow := 0, false
		places := r.Form() == event.FormChain || r.Form() == event.FormScript && o.To == o.From+1
		if s, err := x.At(max(o.From, 0)); err == nil && s.Step == o.From && places {
			begin, inRow = o.From, true
		}
		for s, err := range x.From(begin) {
			if err == nil && !chosen(s.Step, s.Answers) {
				if inRow && o.To > 0 && s.Step >= o.To {
					return
				}
				continue
			}
			var e event.StepCompleted
			if err == nil {
				e, err = x.Event(s)
			}
			if !yield(Step{Time: s.Time, StepCompleted: e}, err) || err != nil {
				return
			}
		}
	}
}

// committed is how many steps are.
func (r *Run) committed() (int, error) {
	if x, err := runlog.OpenIndex(r.dir); err == nil {
		return x.Len(), x.Close()
	}
	n := 0
	for line, err := range runlog.Read(r.dir) {
		if err != nil {
			return n, err
		}
		if line.Type == event.TypeStepCompleted {
			n++
		}
	}
	return n, nil
}

// Effects returns the calls of a step that won a vote and were executed, or refused. Steps of
// chains and records make none, so that there they are not looked for.
func (r *Run) Effects(step int) ([]EffectResult, error) {
	if r.Form() == event.FormChain || r.Form() == event.FormRecords {
		return nil, nil
	}
	return history.ReadEffects(r.dir, step)
}

// Changed names the parts of the questions of a step, such as prompt or tools, that a
// resume would have asked differently. What was decided stands. A chain decides each
// step once, so that there it is not looked for.
func (r *Run) Changed(step int) ([]string, error) {
	if r.Form() == event.FormChain {
		return nil, nil
	}
	var parts []string
	for line, err := range runlog.Read(r.dir) {
		if err != nil {
			return nil, err
		}
		if line.Type != event.TypeQuestionChanged {
			continue
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, damaged(r.dir, line, err)
		}
		if e, ok := rec.Event.(event.QuestionChanged); ok && e.Step == step {
			parts = append(parts, e.Changed...)
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts), nil
}
