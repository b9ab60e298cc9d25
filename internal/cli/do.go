package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/outline"
)

func (a *app) do() *cobra.Command {
	var flags workFlags
	var attach []string
	var dryRun bool
	onFailure := "continue"
	retries := outline.DefaultRetries
	budget := maker.DefaultContextBudget
	cmd := &cobra.Command{
		Use:   "do TEXT|FILE",
		Short: "Do the tasks of a text one after another, as they are written",
		Long: `do takes a text, or a file with one, as a list of tasks: bullets, numbered lines,
check boxes and sentences, split without a model. A task that is a command given
literally (Run ` + "`make test`" + `) runs as it is; the others are done by voting agents, like
the steps of a plan. A task that needs to know something pauses the run until you
answer. What tasks found out is kept small for the ones after them.

TEXT may be - for stdin. --dry-run lists the tasks and does nothing.`,
		Example: `  maker do "Read notes.txt. Then write a summary to summary.md."
  maker do todo.md --voting first_to_k --approve none
  maker do todo.md --dry-run`,
		Args: exactArgs("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.outlineArg(args[0])
			if err != nil {
				return err
			}
			if dryRun {
				return a.listTasks(text)
			}
			o, err := flags.options(a)
			if err != nil {
				return err
			}
			o.Config.Outline = maker.OutlineConfig{OnFailure: onFailure, Retries: never(retries), ContextBudget: budget}
			engine, err := maker.New(o)
			if err != nil {
				return err
			}
			return a.doOutline(cmd.Context(), engine, text, attach)
		},
	}
	f := cmd.Flags()
	flags.registerAgentWork(f)
	f.StringArrayVar(&attach, "attach", nil, "file or address to show with the tasks that mention it, or with all; repeatable")
	f.Var(&choice{value: &onFailure, allowed: []string{"stop", "continue"}}, "on-failure", "what to do when a task has failed: stop, or continue with the next")
	intFlag(f, &retries, "task-retries", "", outline.DefaultRetries, 0, "further attempts at a task that failed")
	intFlag(f, &budget, "context-budget", "", maker.DefaultContextBudget, outline.MinBudget, "tokens that the results of earlier tasks may take in a prompt")
	f.BoolVar(&dryRun, "dry-run", false, "list the tasks and do nothing")
	return cmd
}

func (a *app) doOutline(ctx context.Context, engine *maker.Engine, text string, attach []string) error {
	run, err := engine.Do(ctx, text, attach...)
	if err != nil {
		return err
	}
	return a.followSteps(ctx, run)
}

// outlineArg is a text given as an argument, on stdin, or in a file if there is one
// of that name.
func (a *app) outlineArg(arg string) (string, error) {
	if arg == "-" || strings.ContainsAny(arg, "\n") {
		return a.textArg(arg)
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && !info.IsDir():
		return a.fileArg(arg)
	case err == nil:
		return "", usageError{fmt.Errorf("%s is a folder, want a text or a file", arg)}
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, " \t") && strings.Contains(arg, "."):
		return "", usageError{fmt.Errorf("there is no file %s", arg)}
	}
	return a.textArg(arg)
}

// listTasks shows how a text is split.
func (a *app) listTasks(text string) error {
	for _, t := range outline.Split(text) {
		if a.json {
			if err := a.printJSON(t); err != nil {
				return err
			}
			continue
		}
		box := " "
		if t.Done {
			box = "x"
		}
		fmt.Fprintf(a.Out, "[%s] %d. %s  (%s)\n", box, t.ID, printable(t.Title()), strings.ReplaceAll(string(t.Kind), "_", " "))
		if t.Command != "" {
			fmt.Fprintf(a.Out, "       runs: %s\n", oneLine(t.Command))
		}
		for _, att := range t.Attachments {
			fmt.Fprintf(a.Out, "       %s: %s\n", att.Kind, printable(att.Ref))
		}
	}
	return nil
}
