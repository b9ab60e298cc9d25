package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// workFlags are the settings of runs whose steps are done by agents.
type workFlags struct {
	engine     engineFlags
	tools      toolFlags
	people     peopleFlags
	plan       maker.PlanConfig
	planVoting bool
	onFailure  string
	promptsDir string
	outline    maker.OutlineConfig
}

// register adds the flags of runs that carry out a plan.
func (w *workFlags) register(f *pflag.FlagSet) {
	w.registerAgentWork(f)
	p := &w.plan
	intFlag(f, &p.StepMaxRetries, "step-max-retries", "", 2, 0, "further attempts at a step that failed, with --voting none")
	intFlag(f, &p.Parallel, "parallel", "", 1, 1, "independent steps that may run at once")
	w.registerLoops(f)
	intFlag(f, &p.MaxSteps, "max-steps", "", 1000, 1, "steps after which a plan with loops fails")
	p.Context = "inputs"
	f.Var(&choice{value: &p.Context, allowed: []string{"inputs", "summary"}}, "context", "what a step is told of those before it: inputs, the outputs that it names, or summary, also a summary of all of them")
	budgetFlag(f, &p.ContextBudget)
}

// registerAgentWork adds the flags of all runs with agents.
func (w *workFlags) registerAgentWork(f *pflag.FlagSet) {
	w.engine.registerAgents(f)
	c := &w.engine.config
	c.Agent = maker.AgentNative
	f.Var(&choice{value: &c.Agent, allowed: []string{maker.AgentNative, maker.AgentClaudeCode}}, "agent", "who does the steps: native (any model with our loop) or claude-code (the claude program)")
	f.StringVar(&c.ClaudeProgram, "claude-path", "", "the claude program, if it is not in PATH")
	names(f, "claude-path", byPath)
	p := &w.plan
	p.Repair = "llm"
	f.Var(&choice{value: &p.Repair, allowed: []string{"off", "syntax", "llm"}}, "repair", "what may be repaired in an answer that is not YAML before it is a red flag: off, syntax or llm")
	w.tools.register(f)
	w.tools.registerNames(f)
	w.people.register(f)
	promptsFlag(f, &w.promptsDir)
}

// registerPlanner adds the flags of runs that make a plan.
func (w *workFlags) registerPlanner(f *pflag.FlagSet) {
	p := &w.plan
	f.BoolVar(&w.planVoting, "plan-voting", false, "sample several plans and vote on their structure, by the rule of --voting")
	intFlag(f, &p.MaxRetries, "max-planner-retries", "", 2, 0, "further attempts at a plan that its checks rejected")
	w.registerQuality(f)
}

func (w *workFlags) registerQuality(f *pflag.FlagSet) {
	f.BoolVar(&w.plan.QualityChecks, "quality-checks", false, "have the cheap model judge the plan too")
	floatFlag(f, &w.plan.Threshold, "quality-threshold", 0.7, 0, "score from 0 to 1 that a plan needs")
}

func (w *workFlags) registerLoops(f *pflag.FlagSet) {
	f.BoolVar(&w.plan.AllowLoops, "allow-loops", false, "let a plan go back to earlier steps")
}

// registerReplan adds the flags of runs that may plan anew.
func (w *workFlags) registerReplan(f *pflag.FlagSet) {
	w.onFailure = "stop"
	f.Var(&choice{value: &w.onFailure, allowed: []string{"stop", "replan", "continue"}}, "on-failure", "what to do when a step fails: stop, replan what remains, or, with --planner outline and its default, continue")
	intFlag(f, &w.plan.MaxReplans, "max-replans", "", 2, 1, "how often, with --on-failure replan")
}

// never turns a count of 0 into the value that means 0 in a configuration, where 0
// means the default.
func never(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func (w *workFlags) options(a *app) (*maker.Options, error) {
	o, err := w.engine.options(a)
	if err != nil {
		return nil, err
	}
	p := w.plan
	if p.Threshold == 0 {
		p.Threshold = anyScore
	}
	p.MaxRetries, p.StepMaxRetries = never(p.MaxRetries), never(p.StepMaxRetries)
	if w.onFailure != "replan" {
		p.MaxReplans = 0
	}
	if w.planVoting {
		p.Voting = o.Config.Voting
		if p.Voting.Strategy == vote.None {
			p.Voting.Strategy = vote.FirstToK
		}
	}
	if w.outline.ContextBudget == 0 {
		w.outline.ContextBudget = p.ContextBudget
	}
	o.Config.Plan, o.Config.Tools, o.Config.Outline = p, w.tools.config, w.outline
	if o.Config.Tools.MCPConfig != "" {
		// A run may be resumed from elsewhere.
		if o.Config.Tools.MCPConfig, err = filepath.Abs(o.Config.Tools.MCPConfig); err != nil {
			return nil, err
		}
	}
	if o.Config.Tools.Workspace, err = filepath.Abs(o.Config.Tools.Workspace); err != nil {
		return nil, err
	}
	w.people.apply(&o.Config.Tools)
	if err := w.people.options(a, o); err != nil {
		return nil, err
	}
	o.Config.Prompts, err = readPrompts(w.promptsDir)
	return o, err
}

// anyScore is a threshold that every plan reaches: 0 stands for the default.
const anyScore = 1e-9

// engineOf makes the engine of a command.
func (w *workFlags) engineOf(a *app) (*maker.Engine, error) {
	o, err := w.options(a)
	if err != nil {
		return nil, err
	}
	e, err := a.newEngine(o)
	if c, ok := errors.AsType[*maker.ConfigError](err); ok {
		// Here the numbers of the rule have the names that plans use.
		if name, ok := map[string]string{"ahead_by": "voting_k", "max_samples": "max_voting_samples"}[c.Field]; ok {
			return nil, &maker.ConfigError{Field: name, Err: c.Err}
		}
	}
	return e, err
}

// The ways to come to steps.
const (
	plannerModel   = "model"
	plannerOutline = "outline"
)

func (a *app) run() *cobra.Command {
	var flags workFlags
	var attach []string
	var dryRun bool
	planner := plannerModel
	cmd := &cobra.Command{
		Use:   "run TASK",
		Short: "Plan a task, check the plan, and carry it out step by step",
		Long: `run turns a task in words into a plan of tiny steps, checks the plan before
anything is spent on it, and has each step done by isolated agents: with --voting
first_to_k by several of them, whose answers and calls must agree. A call that
changes something is made once, after the vote, and waits for your approval unless
--approve or --allow say otherwise.

TASK may be - to read it from stdin. Plain maker "TASK" means the same.`,
		Example: `  maker run "Count the TODO comments per file and write them to todo.md"
  maker run "..." --voting first_to_k --voting-k 3 --approve none
  maker run "..." --tools Read,Grep,Write --allow 'Write(docs/)' --max-usd 1
  maker run "..." --dry-run`,
		Args: exactArgs("TASK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			task, err := a.textArg(args[0])
			if err != nil {
				return err
			}
			if err := flags.checkPlanner(planner, cmd.Flags().Changed("on-failure"), attach); err != nil {
				return err
			}
			if planner == plannerOutline {
				return a.doOutline(cmd.Context(), &flags, task, attach, dryRun)
			}
			if dryRun {
				return a.dryRun(cmd.Context(), &flags, task)
			}
			engine, err := flags.engineOf(a)
			if err != nil {
				return err
			}
			run, err := engine.Run(cmd.Context(), task)
			if err != nil {
				return err
			}
			return a.follow(cmd.Context(), run)
		},
	}
	flags.register(cmd.Flags())
	flags.registerPlanner(cmd.Flags())
	flags.registerReplan(cmd.Flags())
	cmd.Flags().Var(&choice{value: &planner, allowed: []string{plannerModel, plannerOutline}}, "planner", "who makes the steps: model, or outline, which takes the text as the list of tasks (see maker do)")
	attachFlag(cmd.Flags(), &attach)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "plan and estimate the cost, but do nothing")
	return cmd
}

func (a *app) plan() *cobra.Command {
	var flags workFlags
	cmd := &cobra.Command{
		Use:   "plan TASK",
		Short: "Make a plan for a task and check it",
		Long: `plan makes a plan as run does, checks it and prints it. Nothing is carried out.
The output is a plan for maker exec, which you may edit first; maker validate says
whether it is still sound.`,
		Example: `  maker plan "Count the TODO comments per file" > plan.yaml
  maker validate plan.yaml
  maker exec plan.yaml`,
		Args: exactArgs("TASK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			task, err := a.textArg(args[0])
			if err != nil {
				return err
			}
			engine, err := flags.engineOf(a)
			if err != nil {
				return err
			}
			run, err := engine.Plan(cmd.Context(), task)
			if err != nil {
				return err
			}
			_, err = a.followPlan(cmd.Context(), run)
			return err
		},
	}
	flags.register(cmd.Flags())
	flags.registerPlanner(cmd.Flags())
	return cmd
}

func (a *app) exec() *cobra.Command {
	var flags workFlags
	cmd := &cobra.Command{
		Use:   "exec PLAN",
		Short: "Carry out a plan",
		Long: `exec carries out a plan from a YAML or JSON file, or from stdin if PLAN is -. The
plan is checked first, as maker validate does. docs/plans.md describes the form.`,
		Example: `  maker exec plan.yaml
  maker exec plan.yaml --voting first_to_k --voting-k 3 --approve none`,
		Args: exactArgs("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.planArg(args[0])
			if err != nil {
				return err
			}
			engine, err := flags.engineOf(a)
			if err != nil {
				return err
			}
			run, err := engine.Exec(cmd.Context(), text)
			if err != nil {
				return err
			}
			return a.follow(cmd.Context(), run)
		},
	}
	flags.register(cmd.Flags())
	return cmd
}

// dryRun makes the plan of a task, prints it, and says what carrying it out would
// take.
func (a *app) dryRun(ctx context.Context, flags *workFlags, task string) error {
	engine, err := flags.engineOf(a)
	if err != nil {
		return err
	}
	run, err := engine.Plan(ctx, task)
	if err != nil {
		return err
	}
	text, err := a.followPlan(ctx, run)
	if err != nil {
		return err
	}
	e, err := engine.Estimate(text)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Type string `json:"type"`
			*maker.Estimate
		}{"estimate", e})
	}
	fmt.Fprintf(a.Err, "%d steps, some %d calls and %s tokens of %s if voters agree: about %s\n",
		e.Steps, e.Calls, thousands(int(e.Tokens.Total())), e.Model, runs.DescribeCost(e.CostUSD))
	return nil
}

// followPlan waits for a plan, prints it and returns it.
func (a *app) followPlan(ctx context.Context, run *maker.Run) (string, error) {
	result, err := a.watch(ctx, run)
	if err != nil {
		return "", err
	}
	if a.json || resultCode(result) != exitDone {
		if err := a.finish(result); err != nil {
			return "", err
		}
	}
	output, err := loadFrom(run.Dir(), result.Output)
	if err != nil {
		return "", err
	}
	if !a.json {
		_, err = fmt.Fprint(a.Out, output.Text())
	}
	return output.Text(), err
}

// longest bounds what is read from a file or from stdin as a whole.
const longest = 2 << 20

// textArg is a text given as an argument, or on stdin.
func (a *app) textArg(arg string) (string, error) {
	if arg == "-" {
		text, err := readAll(a.In, "stdin")
		return text, notEmpty(arg, text, err)
	}
	return arg, notEmpty("the task", arg, nil)
}

// planArg is the content of a file with a plan to carry out.
func (a *app) planArg(name string) (string, error) {
	text, err := a.fileArg(name)
	return text, notEmpty(name, text, err)
}

func notEmpty(name, text string, err error) error {
	if err == nil && strings.TrimSpace(text) == "" {
		if name == "-" {
			name = "stdin"
		}
		return usageError{fmt.Errorf("%s is empty", name)}
	}
	return err
}

// fileArg is the content of a file, or of stdin. It may be empty.
func (a *app) fileArg(name string) (string, error) {
	if name == "-" {
		return readAll(a.In, "stdin")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", usageError{err}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", usageError{fmt.Errorf("%s is a folder, want a file", name)}
	}
	return readAll(f, name)
}

func readAll(r io.Reader, name string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, longest+1))
	switch {
	case err != nil:
		return "", usageError{fmt.Errorf("%s: %w", name, err)}
	case len(data) > longest:
		return "", usageError{fmt.Errorf("%s is longer than %d bytes", name, longest)}
	}
	return string(data), nil
}

// asTask turns maker "TASK" into maker run "TASK": words with spaces between them
// are no command.
func asTask(root *cobra.Command, args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		// A text that begins with a bullet is no flag.
		if strings.HasPrefix(arg, "- ") || strings.HasPrefix(arg, "-\t") {
			args[i] = " " + arg
		}
	}
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		return args
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if strings.HasPrefix(arg, "-") {
			if takesValue(root, run, arg) {
				i++
			}
			continue
		}
		isCommand := slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == arg || c.HasAlias(arg) })
		if !isCommand && strings.ContainsAny(arg, " \n\t") {
			return append([]string{"run"}, args...)
		}
		return args
	}
	return args
}

// takesValue reports whether the value of a flag is the next argument.
func takesValue(root, run *cobra.Command, arg string) bool {
	for _, flags := range []*pflag.FlagSet{root.PersistentFlags(), run.Flags()} {
		f := flags.Lookup(strings.TrimPrefix(arg, "--"))
		if len(arg) == 2 {
			f = flags.ShorthandLookup(arg[1:])
		}
		if f != nil {
			return f.NoOptDefVal == ""
		}
	}
	return false
}
