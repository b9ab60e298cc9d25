package executor

import (
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/plan"
)

// expect tells the summaries what the steps of the plan mention: what they do is
// carried over. A step of a plan with loops may come at any time.
func (r *run) expect() {
	if r.summaries == nil {
		return
	}
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		number := r.base + s.Number
		if r.config.AllowLoops {
			number = r.base + r.config.MaxSteps
		}
		r.summaries.Expect(number, wordsOf(s))
	}
}

// wordsOf is all that a plan says about a step.
func wordsOf(s *plan.Step) string {
	return strings.Join([]string{s.TaskDescription, s.PrimaryToolInstructions, s.FallbackToolInstructions}, "\n")
}

// told is what steps are told of what was before them.
func (r *run) told() string {
	if r.summaries == nil {
		return r.context
	}
	return r.summaries.Text()
}

// summarise takes the output of a step into what the steps after it are told. Its
// error is the flow's.
func (r *run) summarise(f flow.Flow, a *attempt) error {
	if r.summaries == nil || a.next == plan.End {
		return nil
	}
	answer := a.outcome.Verdict.Answer
	text, err := prompts.YAML(inputTag, answer)
	if err != nil {
		text = string(answer) // it is JSON, which can be read as well
	}
	text = prompts.Unvoted(inputTag, a.outcome.Voting.Unvoted) + text
	return r.summaries.Add(f, a.key(), a.number, a.step.Title, text)
}
