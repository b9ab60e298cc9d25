package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	do "github.com/maker-mdap/maker/internal/orchestrator/outline"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/plan"
)

// KindDo is the kind of run that does tasks as a person wrote them.
const KindDo = event.KindDo

var doKind = kind{names: []string{KindDo}, settings: config.Do, job: (*Engine).outlineJob}

// outlineParams are what a run is about, as its log has it.
type outlineParams struct {
	Text   string   `json:"text"`
	Attach []string `json:"attach,omitempty"`
}

// Do starts to do the tasks of a text.
func (e *Engine) Do(ctx context.Context, text string, attach ...string) (*Run, error) {
	if !utf8.ValidString(text) {
		return nil, config.Errorf("text", "the text is not valid UTF-8")
	}
	return e.launchParams(ctx, KindDo, outlineParams{text, attach})
}

func (e *Engine) outlineJob(_ string, params json.RawMessage, cfg config.Config) (*job, error) {
	var p outlineParams
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
	j := &job{
		kind: KindDo, task: tasks[0].Title(), agents: true, prompts: set,
		readers: do.Readers(),
		noModel: !slices.ContainsFunc(tasks, func(t outline.Task) bool { return t.NeedsModel() }),
	}
	for _, t := range tasks {
		if !t.Done {
			j.steps++
		}
	}
	if n := len(tasks); n > 1 {
		j.task = fmt.Sprintf("%s … (%d tasks)", tasks[0].Title(), n)
	}
	j.run = func(f flow.Flow, s *stack, _ chain.Checkpoint) error {
		return do.Run(f, tasks, outlineConfig(cfg, s))
	}
	return j, nil
}

func outlineConfig(cfg config.Config, s *stack) do.Config {
	return do.Config{
		Prompts: s.prompts,
		Planner: outline.PlannerConfig{
			OnFailure: outline.Policy(cfg.Outline.OnFailure), Retries: cfg.Outline.Retries, ContextBudget: cfg.Outline.ContextBudget,
		},
		Terms: terms(cfg), Repair: flow.Repair(cfg.Plan.Repair),
		AskTool: plan.LastResort, ShellTool: "Bash", ReadAttachments: true,
		RetryDelayMS: cfg.RetryDelay.Milliseconds(),
	}
}
