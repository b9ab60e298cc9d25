package maker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/internal/outline"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// The kinds of run about plans.
const (
	KindRun      = event.KindRun      // plan, validate, execute
	KindPlan     = event.KindPlan     // plan and validate
	KindExec     = event.KindExec     // execute a given plan
	KindValidate = event.KindValidate // check a given plan
)

// Run starts a task in words: it is planned, the plan is checked and then carried
// out step by step. It returns at once, and the run ends with ctx.
func (e *Engine) Run(ctx context.Context, task string) (*Run, error) {
	return e.launchPlan(ctx, KindRun, planParams{Task: task})
}

// Plan makes a plan for a task and checks it, without carrying it out. The plan is
// the output of the run, as YAML.
func (e *Engine) Plan(ctx context.Context, task string) (*Run, error) {
	return e.launchPlan(ctx, KindPlan, planParams{Task: task})
}

// Exec carries out a plan that is given as YAML or JSON.
func (e *Engine) Exec(ctx context.Context, planText string) (*Run, error) {
	return e.launchPlan(ctx, KindExec, planParams{Plan: planText})
}

// Validate checks a plan that is given as YAML or JSON, with the quality checks if
// the configuration asks for them, without carrying it out.
func (e *Engine) Validate(ctx context.Context, planText string) (*Run, error) {
	return e.launchPlan(ctx, KindValidate, planParams{Plan: planText})
}

// planParams are what a run is about, as its log has it.
type planParams struct {
	Task string `json:"task,omitempty"`
	Plan string `json:"plan,omitempty"`
}

func (e *Engine) launchPlan(ctx context.Context, kind string, p planParams) (*Run, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	return e.launch(ctx, kind, raw)
}

// A PlanConfig is how a task is planned and the plan carried out. It stays as it is
// when a run is resumed.
type PlanConfig struct {
	// Voting is how plans are voted on; the default takes one as it comes.
	Voting vote.Rule `json:"voting,omitzero"`

	// MaxRetries is how often a plan that was rejected is made anew (2; -1 for
	// never), MaxReplans how often the rest of a task is planned anew after a step
	// failed (0).
	MaxRetries int `json:"max_planner_retries,omitempty"`
	MaxReplans int `json:"max_replans,omitempty"`

	// QualityChecks has a model judge each plan; Threshold is the score it needs
	// (0.7).
	QualityChecks bool    `json:"quality_checks,omitempty"`
	Threshold     float64 `json:"quality_threshold,omitempty"`

	// StepMaxRetries is how often a step that failed is tried again if it has one
	// sample only (2; -1 for never).
	StepMaxRetries int `json:"step_max_retries,omitempty"`

	// Repair says what may be repaired in a step's answer before it is a red flag:
	// off, syntax or llm, which is the default.
	Repair string `json:"repair,omitempty"`

	// Parallel is how many independent steps may run at once (1).
	Parallel int `json:"parallel,omitempty"`

	// AllowLoops lets a plan go back, for MaxSteps steps in all (1000).
	AllowLoops bool `json:"allow_loops,omitempty"`
	MaxSteps   int  `json:"max_steps,omitempty"`

	// MaxPlan bounds a plan, in tokens (16,000).
	MaxPlan int `json:"max_plan,omitempty"`

	// Context says what a step is told of those before it: "inputs", the outputs that
	// it names, which is the default, or "summary", also a summary of all of them, of
	// ContextBudget tokens (4,000).
	Context       string `json:"context,omitempty"`
	ContextBudget int    `json:"context_budget,omitempty"`
}

func (c PlanConfig) withDefaults() PlanConfig {
	if c.Voting.Strategy == "" {
		c.Voting = vote.Rule{Strategy: vote.None}
	}
	c.Voting.MaxSamples = cmp.Or(c.Voting.MaxSamples, 10)
	c.MaxRetries = cmp.Or(c.MaxRetries, 2)
	c.StepMaxRetries = cmp.Or(c.StepMaxRetries, 2)
	c.Repair = cmp.Or(c.Repair, string(flow.RepairLLM))
	c.Parallel = cmp.Or(c.Parallel, 1)
	c.MaxSteps = cmp.Or(c.MaxSteps, executor.DefaultMaxSteps)
	c.Threshold = cmp.Or(c.Threshold, planner.DefaultThreshold)
	c.MaxPlan = cmp.Or(c.MaxPlan, DefaultMaxPlan)
	c.Context = cmp.Or(c.Context, string(executor.Inputs))
	c.ContextBudget = cmp.Or(c.ContextBudget, DefaultContextBudget)
	return c
}

func (c PlanConfig) validate() error {
	if err := c.Voting.Validate(); err != nil {
		return &ConfigError{Field: "plan_voting", Err: err}
	}
	switch flow.Repair(c.Repair) {
	case flow.RepairOff, flow.RepairSyntax, flow.RepairLLM:
	default:
		return badConfig("repair", "%q, want off, syntax or llm", c.Repair)
	}
	switch executor.Context(c.Context) {
	case executor.Inputs, executor.Summary:
	default:
		return badConfig("context", "%q, want %s or %s", c.Context, executor.Inputs, executor.Summary)
	}
	if c.Threshold < 0 || c.Threshold > 1 || math.IsNaN(c.Threshold) {
		return badConfig("quality_threshold", "%v, want 0 to 1", c.Threshold)
	}
	return checkBounds(
		bound{"max_planner_retries", int64(c.MaxRetries), -1, maxCount},
		bound{"max_replans", int64(c.MaxReplans), 0, maxCount},
		bound{"step_max_retries", int64(c.StepMaxRetries), -1, maxCount},
		bound{"parallel", int64(c.Parallel), 1, maxAtOnce},
		bound{"max_steps", int64(c.MaxSteps), 1, maxCount},
		bound{"max_plan", int64(c.MaxPlan), 1, maxCount},
		bound{"context_budget", int64(c.ContextBudget), outline.MinBudget, maxCount},
	)
}

func (e *Engine) planJob(kind string, params json.RawMessage, cfg Config) (*job, error) {
	var p planParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	set, err := cfg.promptSet()
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
		return nil, badConfig("task", "the task is empty")
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
func (e *Engine) modules(kind string, cfg Config, s *stack) []flow.Module {
	if e.opts.Modules != nil {
		return e.opts.Modules()
	}
	p := cfg.Plan
	planFlags := redflag.Format()
	planFlags.ExcessiveLength.MaxTokens = int64(p.MaxPlan)
	validator := planner.NewValidator(planner.ValidatorConfig{
		AllowLoops: p.AllowLoops, Quality: p.QualityChecks, Threshold: p.Threshold, Prompts: s.prompts,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults, Final: kind == KindExec || kind == KindValidate,
	})
	maker := planner.New(planner.Config{
		Prompts: s.prompts, Rule: p.Voting, Flags: planFlags,
		FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		MaxOutput: p.MaxPlan, MaxFaults: cfg.MaxFaults, Repair: flow.RepairLLM, Retries: max(p.MaxRetries, 0),
	})
	replans := p.MaxReplans
	if kind == KindExec {
		replans = 0 // nobody makes another plan
	}
	doer := executor.New(executor.Config{
		Prompts: s.prompts, Rule: cfg.Voting, Flags: *cfg.Flags,
		FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults, Repair: flow.Repair(p.Repair),
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
