package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/redflag"
)

// The kinds of run about plans.
const (
	KindRun      = event.KindRun      // plan, validate, execute
	KindPlan     = event.KindPlan     // plan and validate
	KindExec     = event.KindExec     // execute a given plan
	KindValidate = event.KindValidate // check a given plan
)

var planKinds = []kind{
	{names: []string{KindRun}, settings: config.Run, job: (*Engine).planJob},
	{names: []string{KindPlan}, settings: config.PlanOnly, job: (*Engine).planJob},
	{names: []string{KindExec}, settings: config.Exec, job: (*Engine).planJob},
	{names: []string{KindValidate}, settings: config.Validate, job: (*Engine).planJob},
}

// Plan starts a run that makes a plan for a task.
func (e *Engine) Plan(ctx context.Context, kind, task string) (*Run, error) {
	return e.launchParams(ctx, kind, planParams{Task: task})
}

// Exec starts a run that is about a given plan.
func (e *Engine) Exec(ctx context.Context, kind, planText string) (*Run, error) {
	return e.launchParams(ctx, kind, planParams{Plan: planText})
}

type planParams struct {
	Task string `json:"task,omitempty"`
	Plan string `json:"plan,omitempty"`
}

func (e *Engine) planJob(kind string, params json.RawMessage, cfg config.Config) (*job, error) {
	var p planParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	j := &job{kind: kind, task: p.Task, agents: true, prompts: set, readers: planner.Readers()}
	maps.Copy(j.readers, executor.Readers())
	var first event.Event = event.TaskSubmitted{Task: p.Task}
	if kind == KindExec || kind == KindValidate {
		first = event.PlanCreated{Plan: event.TextValue(p.Plan)}
		if parsed, findings := plan.Parse(p.Plan); len(findings) == 0 {
			j.task, j.steps = describePlan(parsed), len(parsed.Steps)
		} else {
			j.task = "a plan that cannot be read"
		}
	} else if strings.TrimSpace(p.Task) == "" {
		return nil, config.Errorf("task", "the task is empty")
	}
	j.run = func(f flow.Flow, s *stack, _ chain.Checkpoint) error {
		return flow.Pipe(f, first, e.modules(kind, cfg, s)...)
	}
	return j, nil
}

// describePlan names a plan by its steps.
func describePlan(p *plan.Plan) string {
	if len(p.Steps) == 1 {
		return p.Steps[0].Title
	}
	return fmt.Sprintf("%s … %s (%d steps)", p.Steps[0].Title, p.Steps[len(p.Steps)-1].Title, len(p.Steps))
}

// modules are the parts of the pipeline of one run.
func (e *Engine) modules(kind string, cfg config.Config, s *stack) []flow.Module {
	if e.opts.Modules != nil {
		return e.opts.Modules()
	}
	p := cfg.Plan
	ofPlans := terms(cfg)
	ofPlans.Rule, ofPlans.Flags, ofPlans.MaxOutput = p.Voting, redflag.Format(), p.MaxPlan
	ofPlans.Flags.ExcessiveLength.MaxTokens = int64(p.MaxPlan)
	validator := planner.NewValidator(planner.ValidatorConfig{
		AllowLoops: p.AllowLoops, Quality: p.QualityChecks, Threshold: p.Threshold, Prompts: s.prompts,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults, Final: kind == KindExec || kind == KindValidate,
	})
	maker := planner.New(planner.Config{
		Prompts: s.prompts,
		Terms:   ofPlans, Repair: flow.RepairLLM, Retries: max(p.MaxRetries, 0),
	})
	replans := p.MaxReplans
	if kind == KindExec {
		replans = 0 // nobody makes another plan
	}
	doer := executor.New(executor.Config{
		Prompts: s.prompts,
		Terms:   terms(cfg), Repair: flow.Repair(p.Repair),
		Retries: max(p.StepMaxRetries, 0), Parallel: p.Parallel,
		AllowLoops: p.AllowLoops, MaxSteps: p.MaxSteps, MaxReplans: replans,
		Context: executor.Context(p.Context), ContextBudget: p.ContextBudget,
	})
	switch kind {
	case KindPlan:
		return []flow.Module{maker, validator, planner.AsPlan{}}
	case KindValidate:
		return []flow.Module{validator, planner.AsPlan{}}
	case KindExec:
		return []flow.Module{validator, doer}
	default:
		return []flow.Module{maker, validator, doer}
	}
}
