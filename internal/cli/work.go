package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/preview"
	"github.com/maker-mdap/maker/internal/cli/scripting"
)

// plannerOutline is the planner that takes a text as its list of tasks.
const plannerOutline = "outline"

func (a *app) run() *cobra.Command {
	var flags settings
	var dryRun, yes bool
	var as *scripting.As
	cmd := &cobra.Command{
		Use:   "run TASK",
		Short: "Plan a task, check the plan, and carry it out step by step",
		Long: `run turns a task in words into a plan of tiny steps, checks the plan before
anything is spent on it, and has each step done by isolated agents: with --voting
first_to_k by several of them, whose answers and calls must agree. A call that
changes something is made once, after the vote, and waits for your approval unless
--approve or --allow say otherwise.

On a terminal you see the plan first and may run, edit or stop it; with --yes,
--approve none or --no-input it is printed and carried out.

TASK may be - to read it from stdin. Plain maker "TASK" means the same.

--as script (experimental) has the planner write a script instead of a plan, as maker
script runs them: it is checked, shown and run in the same way.`,
		Example: `  maker run "Count the TODO comments per file and write them to todo.md"
  maker run "..." --voting first_to_k -k 3 --approve none
  maker run "..." --tools Read,Grep,Write --allow 'Write(docs/)' --max-usd 1
  maker run "..." --dry-run`,
		Args: exactArgs("TASK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			task, err := a.textArg(args[0])
			if err != nil {
				return err
			}
			if err := flags.checkPlanner(); err != nil {
				return err
			}
			if err := as.Check(flags.planner == plannerOutline, dryRun); err != nil {
				return usageError{err}
			}
			if flags.planner == plannerOutline {
				return a.doOutline(cmd.Context(), &flags, task, dryRun)
			}
			if dryRun {
				return a.dryRun(cmd.Context(), &flags, task)
			}
			flags.config.Plan.Confirm = a.hasTerminal() && !yes && flags.config.Tools.Approve != "none"
			a.saysPlan = !flags.config.Plan.Confirm
			return a.start(cmd.Context(), &flags, func(e *maker.Engine) (*maker.Run, error) { return as.Start(cmd.Context(), e, task) })
		},
	}
	flags.register(cmd, config.Run, nil)
	as = scripting.RegisterAs(cmd.Flags())
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "carry out the plan without asking first; calls that change something still wait for you")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what the planner would be asked, the tools and a range of the cost; asks no model")
	return cmd
}

func (a *app) plan() *cobra.Command {
	var flags settings
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
			engine, err := flags.engine(a)
			if err != nil {
				return err
			}
			run, err := engine.Plan(cmd.Context(), task)
			if err != nil {
				return err
			}
			text, err := a.followPlan(cmd.Context(), run)
			if err != nil || a.json || a.quiet {
				return err
			}
			e, err := engine.Estimate(text)
			if err == nil {
				preview.Plan(a.Err, e)
			}
			return err
		},
	}
	flags.register(cmd, config.PlanOnly, nil)
	return cmd
}

func (a *app) exec() *cobra.Command {
	var flags settings
	cmd := &cobra.Command{
		Use:   "exec PLAN",
		Short: "Carry out a plan",
		Long: `exec carries out a plan from a YAML or JSON file, or from stdin if PLAN is -. The
plan is checked first, as maker validate does. docs/plans.md describes the form.`,
		Example: `  maker exec plan.yaml
  maker exec plan.yaml --voting first_to_k -k 3 --approve none`,
		Args: exactArgs("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.planArg(args[0])
			if err != nil {
				return err
			}
			return a.start(cmd.Context(), &flags, func(e *maker.Engine) (*maker.Run, error) { return e.Exec(cmd.Context(), text) })
		},
	}
	flags.register(cmd, config.Exec, nil)
	return cmd
}

// dryRun says what a task would begin with and may take. No model is asked.
func (a *app) dryRun(ctx context.Context, flags *settings, task string) error {
	engine, err := flags.engine(a)
	if err != nil {
		return err
	}
	p, err := engine.PreviewRun(ctx, task)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Type string `json:"type"`
			*maker.RunPreview
		}{"preview", p})
	}
	preview.Run(a.Out, p)
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
