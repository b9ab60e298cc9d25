package kind

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
	do "github.com/maker-mdap/maker/internal/orchestrator/outline"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/plan"
)

// doKind does tasks as a person wrote them.
var doKind = Kind{Name: Do, Form: event.FormTasks, Settings: config.Do, job: doJob}

// Do is its name.
const Do = "do"

// DoParams are what a run is about, as its log has it.
type DoParams struct {
	Text   string   `json:"text"`
	Attach []string `json:"attach,omitempty"`
}

func doJob(_ Env, _ string, params json.RawMessage, cfg config.Config) (*Job, error) {
	var p DoParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	tasks, err := outline.PlanTasks(p.Text, p.Attach...)
	if err != nil {
		return nil, &config.Error{Field: "attach", Err: err}
	}
	if len(tasks) == 0 {
		return nil, config.Errorf("text", "there is no task in it")
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	readers := planReaders() // of tasks that are split
	maps.Copy(readers, do.Readers())
	j := &Job{
		Task: tasks[0].Title(), Agents: true, Prompts: set,
		Readers: readers,
		NoModel: !slices.ContainsFunc(tasks, func(t outline.Task) bool { return t.NeedsModel() }),
	}
	for _, t := range tasks {
		if !t.Done {
			j.Steps++
		}
	}
	if n := len(tasks); n > 1 {
		j.Task = fmt.Sprintf("%s … (%d tasks)", tasks[0].Title(), n)
	}
	j.Run = func(f flow.Flow, _ chain.Checkpoint) error {
		return do.Run(f, tasks, doConfig(cfg, set))
	}
	return j, nil
}

func doConfig(cfg config.Config, set *prompts.Set) do.Config {
	return do.Config{
		Prompts: set,
		Planner: outline.PlannerConfig{
			OnFailure: outline.Policy(cfg.Outline.OnFailure), Retries: cfg.Outline.Retries, ContextBudget: cfg.Outline.ContextBudget,
		},
		Terms: terms(cfg), Repair: flow.Repair(cfg.Plan.Repair),
		AskTool: plan.LastResort, ShellTool: "Bash", ReadAttachments: true,
		RetryDelayMS: cfg.RetryDelay.Milliseconds(),
		Meaning:      meaning(cfg),
		Ladder:       ladder(cfg), Split: executor.NewSplit(executorConfig(cfg, set), planner.New(plannerConfig(cfg, set)).Split),
	}
}
