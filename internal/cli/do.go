package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/outline"
)

func (a *app) do() *cobra.Command {
	var flags settings
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "do TEXT|FILE",
		Short: "Do the tasks of a text one after another, as they are written",
		Long: `do takes a text, or a file with one, as a list of tasks: bullets, numbered lines,
check boxes and sentences, split without a model. A task that is a command given
literally (Run ` + "`make test`" + `) runs as it is; the others are done by voting agents, like
the steps of a plan. A task that needs to know something pauses the run until you
answer. What tasks found out is kept small for the ones after them.

TEXT may be - for stdin. --dry-run lists the tasks and does nothing.
docs/outline.md has the rules.`,
		Example: `  maker do "Read notes.txt. Then write a summary to summary.md."
  maker do todo.md --voting first_to_k --approve none
  maker do todo.md --dry-run`,
		Args: exactArgs("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.outlineArg(args[0])
			if err != nil {
				return err
			}
			if flags.onFailure == "replan" {
				return usageError{errReplan}
			}
			return a.doOutline(cmd.Context(), &flags, text, dryRun)
		},
	}
	flags.register(cmd, config.Do, nil)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "list the tasks and do nothing")
	return cmd
}

var errReplan = errors.New("--on-failure: an outline has no plan to make anew; want stop or continue")

// checkPlanner refuses flags that the planner has no use for, and sets what the
// outline takes from the flags of plans.
func (s *settings) checkPlanner() error {
	isOutline := s.planner == plannerOutline
	switch {
	case isOutline && s.onFailure == "replan":
		return usageError{errReplan}
	case !isOutline && s.onFailure == string(outline.Continue):
		return usageError{errors.New("--on-failure: steps of a plan need those before them; continue is for --planner outline")}
	case !isOutline && len(s.attach) > 0:
		return usageError{errors.New("--attach is for --planner outline; name the file or address in the task")}
	}
	if isOutline && !s.flags.Changed("on-failure") {
		s.onFailure = string(outline.Continue)
	}
	s.config.Outline.Retries = s.config.Plan.StepMaxRetries
	return nil
}

// doOutline carries out a text, or lists its tasks.
func (a *app) doOutline(ctx context.Context, flags *settings, text string, dryRun bool) error {
	if !utf8.ValidString(text) {
		return usageError{errors.New("the text is not UTF-8")}
	}
	tasks, err := outline.PlanTasks(text, flags.attach...)
	if err != nil {
		return usageError{fmt.Errorf("--attach: %w", err)}
	}
	if len(tasks) == 0 {
		return usageError{errors.New("there is no task in the text")}
	}
	if dryRun {
		return a.listTasks(tasks)
	}
	flags.config.Outline.OnFailure = flags.onFailure
	return a.start(ctx, flags, func(e *maker.Engine) (*maker.Run, error) { return e.Do(ctx, text, flags.attach...) })
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
		return a.planArg(arg)
	case err == nil:
		return "", usageError{fmt.Errorf("%s is a folder, want a text or a file", arg)}
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, " \t") && strings.Contains(arg, "."):
		return "", usageError{fmt.Errorf("there is no file %s", arg)}
	}
	return a.textArg(arg)
}

// listTasks shows how a text is split.
func (a *app) listTasks(tasks []outline.Task) error {
	for i := range tasks {
		t := &tasks[i]
		if a.json {
			if err := a.printJSON(t); err != nil {
				return err
			}
			continue
		}
		box := screen.Mark(outline.StatusPlanned)
		if t.Done {
			box = screen.Mark(outline.StatusCompleted)
		}
		fmt.Fprintf(a.Out, "%s %d. %s  (%s)\n", box, t.ID, show.Text(t.Title()), strings.ReplaceAll(string(t.Kind), "_", " "))
		label := "runs: "
		for line := range strings.Lines(t.Command) {
			fmt.Fprintf(a.Out, "       %s%s\n", label, show.Line(strings.TrimRight(line, "\n")))
			label = "      "
		}
		for _, att := range t.Attachments {
			note := ""
			if att.Output {
				note = " (made by the task)"
			}
			fmt.Fprintf(a.Out, "       %s: %s%s\n", att.Kind, show.Text(att.Ref), note)
		}
	}
	return nil
}

// stepName is how a step of the run is called for people.
func (a *app) stepName(step int) string {
	if a.tasks.Load() {
		return report.StepOf(event.FormTasks, step)
	}
	return report.StepOf("", step)
}
