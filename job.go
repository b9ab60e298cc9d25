package maker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/chain"
	"github.com/maker-mdap/maker/internal/executor"
	"github.com/maker-mdap/maker/internal/person"
	"github.com/maker-mdap/maker/internal/planner"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
)

// The kinds of run that are not task families.
const (
	KindRun  = "run"  // plan, validate, execute
	KindPlan = "plan" // plan and validate
	KindExec = "exec" // execute a given plan

	KindValidate = "validate" // check a given plan
)

// isAgentKind reports whether the steps of a kind of run are done by agents.
func isAgentKind(kind string) bool {
	switch kind {
	case KindRun, KindPlan, KindExec, KindValidate, KindDo:
		return true
	}
	return false
}

// tellsItsOutput reports whether a kind of run says itself what came of it. Of the
// others it is the output of the last step.
func tellsItsOutput(kind string) bool { return isAgentKind(kind) || isSolveKind(kind) }

// job is what a run does: all that its kind and parameters say.
type job struct {
	kind    string
	task    string
	steps   int // how many there will be, if known
	readers domain.Readers
	chain   bool                                // it numbers its questions by step and resumes from its last one
	agents  bool                                // its steps are done by agents with tools
	roles   []string                            // groups of voters that its questions name, if it has no agents
	open    func(context.Context, *stack) error // what it needs besides; nil for nothing
	prompts *prompts.Set
	run     func(f flow.Flow, s *stack, at chain.Checkpoint) error

	attachments bool // its tasks refer to files and addresses
	noModel     bool // it asks none
}

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

// isChain reports whether a kind of run is a chain.
func (e *Engine) isChain(kind string) bool {
	return slices.ContainsFunc(e.opts.Families, func(f domain.Family) bool { return f.Name == kind })
}

func (e *Engine) defaultsOf(kind string) defaults {
	switch {
	case e.isChain(kind):
		return chainDefaults
	case isSolveKind(kind):
		return solveDefaults
	default:
		return agentDefaults
	}
}

func (e *Engine) newJob(kind string, params json.RawMessage, cfg Config) (*job, error) {
	if kind == KindDo {
		return e.outlineJob(params, cfg)
	}
	if isAgentKind(kind) {
		return e.planJob(kind, params, cfg)
	}
	if isSolveKind(kind) {
		return e.solveJob(kind, params, cfg)
	}
	return e.chainJob(kind, params, cfg)
}

func (e *Engine) chainJob(family string, params json.RawMessage, cfg Config) (*job, error) {
	c, task, readers, err := e.newChain(family, params)
	if err != nil {
		return nil, err
	}
	return &job{
		kind: family, task: task, steps: c.Steps(), readers: readers, chain: true,
		run: func(f flow.Flow, _ *stack, at chain.Checkpoint) error {
			return chain.Run(f, c, chain.Config{
				Rule: cfg.Voting, Flags: *cfg.Flags,
				FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
				Structured: cfg.StructuredMode, MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults,
			}, at)
		},
	}, nil
}

func (e *Engine) newChain(family string, params json.RawMessage) (domain.Chain, string, domain.Readers, error) {
	readers := domain.Readers{}
	var found *domain.Family
	for i := range e.opts.Families {
		f := &e.opts.Families[i]
		for name, r := range f.Readers {
			readers[name] = r
		}
		if f.Name == family {
			found = f
		}
	}
	if found == nil || found.NewChain == nil {
		return nil, "", nil, fmt.Errorf("maker: no task family is called %q", family)
	}
	c, task, err := found.NewChain(params)
	if err != nil {
		return nil, "", nil, err
	}
	return c, task, readers, nil
}

func (e *Engine) planJob(kind string, params json.RawMessage, cfg Config) (*job, error) {
	var p planParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	set, err := prompts.New(cfg.Prompts)
	if err != nil {
		return nil, &ConfigError{Field: "prompts_dir", Err: err}
	}
	j := &job{kind: kind, task: p.Task, agents: true, prompts: set, readers: domain.Readers{}}
	for _, readers := range []domain.Readers{planner.Readers(), executor.Readers()} {
		for name, r := range readers {
			j.readers[name] = r
		}
	}
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
		Static:  plan.Options{Tools: s.registry().Validate, Models: s.canUse, Rule: cfg.Voting, AllowLoops: p.AllowLoops},
		Quality: p.QualityChecks, Threshold: p.Threshold, Prompts: s.prompts,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults, Final: kind == KindExec || kind == KindValidate, Passed: s.passed,
	})
	maker := planner.New(planner.Config{
		Prompts: s.prompts, Catalogue: catalogue(s.registry()), Rule: p.Voting, Flags: planFlags,
		FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		MaxOutput: p.MaxPlan, MaxFaults: cfg.MaxFaults, Repair: flow.RepairLLM, Retries: max(p.MaxRetries, 0),
	})
	replans := p.MaxReplans
	if kind == KindExec {
		replans = 0 // nobody makes another plan
	}
	ask := ""
	if s.registry().Validate(plan.LastResort) == nil {
		ask = plan.LastResort
	}
	doer := executor.New(executor.Config{
		Prompts: s.prompts, Rule: cfg.Voting, Flags: *cfg.Flags,
		FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults, Repair: flow.Repair(p.Repair),
		AskTool: ask, Retries: max(p.StepMaxRetries, 0), Parallel: p.Parallel, Alone: mutates(s.registry()),
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

// catalogue describes the tools to the planner, but for the one that every step has
// without listing it.
func catalogue(r *tool.Registry) string {
	var b strings.Builder
	for line := range strings.Lines(r.Catalogue()) {
		if !strings.HasPrefix(line, "- "+plan.LastResort+" ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// mutates reports of a step whether it may change the world, so that steps beside
// it could see it half done.
func mutates(r *tool.Registry) func(*plan.Step) bool {
	return func(s *plan.Step) bool {
		return slices.ContainsFunc(slices.Concat(s.PrimaryTools, s.FallbackTools), func(name string) bool {
			t, err := r.Get(name)
			return err != nil || !t.Effect.BySample()
		})
	}
}

// promptHashes are the hashes of the prompts that the run asks with.
func (j *job) promptHashes() map[string]string {
	if j.prompts == nil {
		return nil
	}
	return j.prompts.Hashes()
}

// A Question is put to the person that a run works for.
type Question struct {
	Step    int
	Kind    string // "question", "approval" or "outcome"
	Text    string
	Options []string // to choose from
	Free    bool     // another answer than the options is fine

	// Call is what the question is about, for approvals and outcomes, and Voting
	// the vote that it won.
	Call   *event.Intent
	Voting *event.Voting
}

// ErrAbsent is what Options.Ask returns if nobody is there to answer.
var ErrAbsent = person.ErrAbsent

// people are the ways in which a run reaches the person.
func (e *Engine) people(dir string) (person.Person, error) {
	ways := []person.Person{person.Inbox(dir)}
	if e.opts.Answers != nil {
		prepared, err := person.ReadAnswers(e.opts.Answers)
		if err != nil {
			return nil, &ConfigError{Field: "answers", Err: err}
		}
		ways = append(ways, prepared)
	}
	if ask := e.opts.Ask; ask != nil {
		ways = append(ways, person.Func(func(ctx context.Context, _ string, q *flow.HumanQuestion) (*flow.Answer, error) {
			text, err := ask(ctx, Question{Step: q.Step, Kind: q.Kind, Text: q.Text, Options: q.Options, Free: q.Free, Call: q.Call, Voting: q.Voting})
			if err != nil {
				return nil, err
			}
			text, err = person.Resolve(q, text)
			if err != nil {
				return nil, errors.Join(ErrAbsent, err)
			}
			return &flow.Answer{Text: text, By: "terminal"}, nil
		}))
	}
	return person.First(ways...), nil
}
