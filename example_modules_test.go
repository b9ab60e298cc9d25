package maker_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// oneStep is a planner that asks nobody: every task is a plan of one step.
type oneStep struct{}

// Process answers the task with a plan.
func (oneStep) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		task, ok := e.(event.TaskSubmitted)
		if !ok {
			return
		}
		yield(event.PlanCreated{Plan: event.TextValue(fmt.Sprintf(`{"reasoning": "It is small.", "plan": [{
			"step": 0, "task_type": "action_step", "title": "all of it", "task_description": %q,
			"primary_tools": [], "fallback_tools": [], "primary_tool_instructions": "", "fallback_tool_instructions": "",
			"input_variables": [], "output_variable": "step_0_output", "output_schema": "result: number", "next_step_sequence_number": -1}]}`, task.Task))})
	}
}

// unanimous is a voting rule: n votes, all of them for one answer.
func unanimous(rule vote.Rule, t *vote.Tally) vote.Decision {
	counts := t.Counts()
	switch {
	case len(counts) > 1:
		return vote.Decision{Outcome: vote.Stuck}
	case len(counts) == 1 && counts[0].Votes >= rule.N:
		return vote.Decision{Outcome: vote.Won, Key: counts[0].Key}
	default:
		return vote.Decision{Outcome: vote.Open, Need: rule.N - t.Votes()}
	}
}

// noNegatives is a red flag: nothing that is counted here can be less than nothing.
func noNegatives(_ *flow.Question, a *redflag.Answer) *redflag.Flag {
	if strings.Contains(string(a.Value), ":-") {
		return redflag.New("negative", "there is a number below 0")
	}
	return nil
}

// The planner, the validator, the executor, the voting rule and the red flags of a run can
// be replaced one by one; whatever is not replaced is the built-in one.
func ExampleOptions_modules() {
	dir, err := os.MkdirTemp("", "maker-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	engine, err := maker.New(&maker.Options{
		LogDir: dir,
		Config: maker.Config{
			Model:  "sim/default",
			Voting: vote.Rule{Strategy: vote.Own, N: 4, MaxSamples: 12},
			Tools:  maker.ToolConfig{Workspace: dir, Builtin: []string{"Read"}},
		},
		Modules: func(m maker.Modules) []flow.Module {
			m.Planner = oneStep{} // the validator and the executor stay
			return m.List()
		},
		Decide:  unanimous,
		RedFlag: noNegatives,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	run, err := engine.Run(context.Background(), "Compute: (12 + 3) * 4.")
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result()
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range result.Steps {
		fmt.Printf("%s: %s, %d votes\n", step.Title, step.Output.Compact(), step.Voting.Margin)
	}
	fmt.Println(result.Status)
	// Output:
	// all of it: {"result":60}, 4 votes
	// completed
}
