package kind

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// planKinds are those about plans: to make one, to carry it out, or both.
var planKinds = []Kind{
	{Name: Run, Form: event.FormPlan, Settings: config.Run, job: planJob},
	{Name: Plan, Form: event.FormPlan, Settings: config.PlanOnly, job: planJob},
	{Name: Exec, Form: event.FormPlan, Settings: config.Exec, job: planJob},
	{Name: Validate, Form: event.FormPlan, Settings: config.Validate, job: planJob},
}

// The names of these.
const (
	Run      = "run"      // plan, validate, execute
	Plan     = "plan"     // plan and validate
	Exec     = "exec"     // execute a given plan
	Validate = "validate" // check a given plan
)

// PlanParams are what a run is about, as its log has it: a task, or a plan.
type PlanParams struct {
	Task string `json:"task,omitempty"`
	Plan string `json:"plan,omitempty"`
	As   string `json:"as,omitempty"` // what the planner makes, if it is no plan: [AsScript]
}

func planJob(env Env, kind string, params json.RawMessage, cfg config.Config) (*Job, error) {
	var p PlanParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	j := &Job{Task: p.Task, Agents: true, Prompts: set, Readers: planReaders()}
	if p.As != "" {
		if err := checkWritten(p, cfg); err != nil {
			return nil, err
		}
		j.Form = event.FormScript
	}
	var first event.Event = event.TaskSubmitted{Task: p.Task}
	given := kind == Exec || kind == Validate
	if given {
		first = event.PlanCreated{Plan: event.TextValue(p.Plan), Voting: event.Voting{Strategy: vote.None}, CostUSD: new(float64)}
		if parsed, findings := plan.Parse(p.Plan); len(findings) == 0 {
			j.Task, j.Steps = describePlan(parsed), len(parsed.Steps)
		} else {
			j.Task = "a plan that cannot be read"
		}
	} else if strings.TrimSpace(p.Task) == "" {
		return nil, config.Errorf("task", "the task is empty")
	}
	j.Run = func(f flow.Flow, _ chain.Checkpoint) error {
		if given {
			f.Emit("plan/given", first)
		}
		m := modules(kind, cfg, set)
		if p.As != "" {
			m = writtenModules(cfg, set)
		}
		list := m.List()
		if env.Modules != nil {
			list = env.Modules(m)
		}
		return flow.Pipe(f, first, list...)
	}
	return j, nil
}

// planReaders are those of planners and of steps.
func planReaders() domain.Readers {
	readers := planner.Readers()
	maps.Copy(readers, executor.Readers())
	return readers
}

// describePlan names a plan by its steps.
func describePlan(p *plan.Plan) string {
	if len(p.Steps) == 1 {
		return p.Steps[0].Title
	}
	return fmt.Sprintf("%s … %s (%d steps)", p.Steps[0].Title, p.Steps[len(p.Steps)-1].Title, len(p.Steps))
}

// executorConfig is how steps are carried out.
func executorConfig(cfg config.Config, set *prompts.Set) executor.Config {
	p := cfg.Plan
	return executor.Config{
		Prompts: set,
		Terms:   terms(cfg), Repair: flow.Repair(p.Repair),
		Retries: max(p.StepMaxRetries, 0), Parallel: p.Parallel,
		AllowLoops: p.AllowLoops, MaxSteps: p.MaxSteps,
		Context: executor.Context(p.Context), ContextBudget: p.ContextBudget,
		Ladder: ladder(cfg), Meaning: meaning(cfg),
	}
}

// plannerConfig is how plans are made.
func plannerConfig(cfg config.Config, set *prompts.Set) planner.Config {
	if cfg.Plan.Voting.Strategy == "" { // a task that is split
		cfg = cfg.WithDefaults(config.Run)
	}
	p := cfg.Plan
	ofPlans := terms(cfg)
	flags := redflag.Format()
	flags.ExcessiveLength.MaxTokens = int64(p.MaxPlan)
	ofPlans.Rule, ofPlans.Flags, ofPlans.MaxOutput = p.Voting, &flags, p.MaxPlan
	return planner.Config{
		Prompts: set,
		Terms:   ofPlans, Repair: flow.Repair(p.Repair), Retries: max(p.MaxRetries, 0),
		Panel: cfg.Voting, AllowLoops: p.AllowLoops,
	}
}

// ladder is what is done when voters do not agree.
func ladder(cfg config.Config) flow.Ladder {
	l := flow.Ladder{Model: cfg.Solve.ModelEscalation}
	for _, e := range cfg.Solve.Escalate {
		l.Order = append(l.Order, flow.Escalation(e))
	}
	return l
}

// Modules are the parts of the pipeline of one run. One that the kind of run has no use
// for is nil: a plan that is given needs no planner. What ends a run that only makes or
// checks a plan takes the place of the executor.
type Modules struct{ Planner, Validator, Executor flow.Module }

// List lists those that there are, in the order in which they are shown events.
func (m Modules) List() []flow.Module {
	return slices.DeleteFunc([]flow.Module{m.Planner, m.Validator, m.Executor}, func(m flow.Module) bool { return m == nil })
}

// modules are the built-in parts of the pipeline of one run.
func modules(kind string, cfg config.Config, set *prompts.Set) Modules {
	p := cfg.Plan
	planning := plannerConfig(cfg, set)
	validator := planner.NewValidator(planner.ValidatorConfig{
		AllowLoops: p.AllowLoops, Quality: p.QualityChecks, Threshold: p.Threshold, Prompts: set,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults, Final: kind == Exec || kind == Validate,
		Structured: planning.Structured,
	})
	maker := planner.New(planning)
	replans := p.MaxReplans
	if kind == Exec {
		replans = 0 // nobody makes another plan
	}
	doing := executorConfig(cfg, set)
	doing.MaxReplans = replans
	doing.Split = executor.NewSplit(doing, maker.Split)
	doer := executor.New(doing)
	switch kind {
	case Plan:
		return Modules{maker, validator, planner.AsPlan{}}
	case Validate:
		return Modules{nil, validator, planner.AsPlan{}}
	case Exec:
		return Modules{nil, validator, doer}
	default:
		if p.Confirm {
			return Modules{maker, validator, &planner.Confirm{Validator: validator, Next: doer}}
		}
		return Modules{maker, validator, doer}
	}
}
