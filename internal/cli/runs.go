package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/runlog"
)

func (a *app) printJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", data)
	return err
}

func (a *app) runs() *cobra.Command {
	return &cobra.Command{
		Use:   "runs",
		Short: "List the runs",
		Long: `runs lists the runs in the folder that --log-dir names, oldest first.
A run that is "interrupted" has no process any more: continue it with maker resume.`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			list, err := maker.List(a.logDir)
			if err != nil {
				return err
			}
			if a.json {
				for _, s := range list {
					if err := a.printJSON(s); err != nil {
						return err
					}
				}
				return nil
			}
			if len(list) == 0 {
				fmt.Fprintf(a.Err, "there are no runs in %s yet; start one: maker hanoi --disks 8\n", a.logDir)
				return nil
			}
			w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "RUN\tSTATUS\tSTEPS\tCOST\tTASK")
			for _, s := range list {
				if s.Error != "" {
					fmt.Fprintf(w, "%s\t%s\t\t\t%s\n", s.Run, s.Status, s.Error)
					continue
				}
				cost := maker.DescribeCost(s.CostUSD)
				if s.Simulated {
					cost += " sim"
				}
				status := s.Status
				if s.PID != 0 {
					status = fmt.Sprintf("%s (pid %d)", status, s.PID)
				}
				steps := strconv.Itoa(s.Steps)
				if s.Total > 0 {
					steps += "/" + strconv.Itoa(s.Total)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Run, status, steps, cost, short(s.Task))
			}
			return w.Flush()
		},
	}
}

func (a *app) show() *cobra.Command {
	var step int
	var contested bool
	var page string
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show a run, or one of its steps",
		Long: `show prints what a run did: its result, or with --step one committed step, found
through the run's index without reading the log. RUN is a run's name, the
beginning of one, or the path of its folder. Of a run of maker solve it prints the
tree of parts with their votes, or writes it as one page with --html.`,
		Example: `  maker show hanoi-20260102
  maker show hanoi-20260102 --step 4711
  maker show hanoi-20260102 --contested
  maker show solve-20260102 --html tree.html`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := maker.FindRun(a.logDir, args[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("step") {
				return a.showStep(dir, step)
			}
			if contested {
				return a.showContested(dir)
			}
			r, err := maker.BuildResult(dir)
			if err != nil {
				return err
			}
			if page != "" && r.Kind != maker.KindSolve {
				return usageError{fmt.Errorf("--html: %s is not a run of maker solve, which has a tree to show", r.Run)}
			}
			switch {
			case a.json:
				return a.printJSON(r)
			case r.Kind == maker.KindSolve:
				err = a.showSolve(dir, r, page)
			default:
				a.printResult(r)
			}
			if err != nil {
				return err
			}
			if r.Status == maker.StatusInterrupted {
				fmt.Fprintln(a.Err, a.nextAction(r))
			}
			return nil
		},
	}
	intFlag(cmd.Flags(), &step, "step", "", 0, 0, "show this committed step")
	cmd.Flags().BoolVar(&contested, "contested", false, "list every step whose votes named more than one answer")
	cmd.Flags().StringVar(&page, "html", "", "write a run of maker solve to this file, as one page that needs nothing else (-: stdout)")
	return cmd
}

func (a *app) showStep(dir string, step int) error {
	x, err := runlog.OpenIndex(dir)
	if err != nil {
		return err
	}
	defer x.Close()
	s, err := findStep(x, step)
	if err != nil {
		return err
	}
	e, err := x.Event(s)
	if err != nil {
		return err
	}
	if e.Output, err = runlog.Load(dir, e.Output); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(e)
	}
	fmt.Fprintf(a.Out, "step %s, committed %s\n", thousands(e.Step), s.Time.Local().Format("2006-01-02 15:04:05.000"))
	fmt.Fprintf(a.Out, "  output    %s\n", e.Output.JSON)
	fmt.Fprintf(a.Out, "  votes     %s, margin %d\n", e.Voting.Split(), e.Voting.Margin)
	fmt.Fprintf(a.Out, "  samples   %d, %d flagged, %d faults, %d cancelled\n",
		e.Voting.Samples, e.Voting.RedFlagged, e.Voting.Faults, e.Voting.Cancelled)
	fmt.Fprintf(a.Out, "  cost      %s, %s for the run so far\n", maker.DescribeCost(e.CostUSD), maker.DescribeCost(e.Spent.CostUSD()))
	fmt.Fprintf(a.Out, "  time      %d ms\n", e.DurationMS)
	return nil
}

// findStep finds a step by its number: at its place where steps are in a row, or
// else one by one, because a plan leaves out the steps of branches not taken.
func findStep(x *runlog.Index, step int) (runlog.Step, error) {
	if step < x.Len() {
		if s, err := x.At(step); err != nil || s.Step == step {
			return s, err
		}
	}
	for s, err := range x.All() {
		if err != nil || s.Step == step {
			return s, err
		}
	}
	return runlog.Step{}, usageError{fmt.Errorf("--step: step %d is not committed; the run has %d steps", step, x.Len())}
}

func (a *app) showContested(dir string) error {
	x, err := runlog.OpenIndex(dir)
	if err != nil {
		return err
	}
	defer x.Close()
	for s, err := range x.All() {
		if err != nil {
			return err
		}
		if s.Answers < 2 {
			continue
		}
		e, err := x.Event(s)
		if err != nil {
			return err
		}
		if a.json {
			err = a.printJSON(e)
		} else {
			_, err = fmt.Fprintf(a.Out, "step %-9d %s after %d samples, %d flagged\n", e.Step, e.Voting.Split(), e.Voting.Samples, e.Voting.RedFlagged)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) resume() *cobra.Command {
	var flags engineFlags
	var people peopleFlags
	var setAside bool
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Continue a run from its last committed step",
		Long: `resume continues a run that was stopped, interrupted or killed. It keeps the
configuration that the run had, except for the flags given here. What earlier
sessions spent counts against its budgets. A run that is finished already is
shown as it ended.`,
		Example: `  maker resume hanoi-20260102
  maker resume hanoi-20260102 --max-usd 20`,
		Args:        exactArgs("RUN"),
		Annotations: map[string]string{ownSettings: "the run's"},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options(a)
			if err != nil {
				return err
			}
			if err := people.options(a, opts); err != nil {
				return err
			}
			engine, err := a.newEngine(opts)
			if err != nil {
				return err
			}
			change := flags.change(cmd.Flags(), opts.Config.Flags)
			run, err := engine.Resume(cmd.Context(), args[0], &maker.ResumeOptions{
				Change: func(c *maker.Config) {
					change(c)
					people.change(cmd.Flags(), &c.Tools)
				},
				SetAside: setAside,
			})
			if errors.Is(err, maker.ErrFinished) {
				return a.showFinished(args[0])
			}
			if err != nil {
				return err
			}
			return a.follow(cmd.Context(), run)
		},
	}
	cmd.Flags().BoolVar(&setAside, "set-aside", false, "move the damaged rest of a log aside and go on before it")
	flags.registerResume(cmd.Flags())
	// The numbers of the rule have other names where a plan is carried out.
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "voting-k":
			name = "ahead-by"
		case "max-voting-samples":
			name = "max-samples"
		}
		return pflag.NormalizedName(name)
	})
	people.register(cmd.Flags())
	return cmd
}

func (a *app) showFinished(run string) error {
	dir, err := maker.FindRun(a.logDir, run)
	if err != nil {
		return err
	}
	r, err := maker.BuildResult(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "the run is finished already\n")
	return a.finish(r)
}

func (a *app) replay() *cobra.Command {
	return &cobra.Command{
		Use:   "replay RUN",
		Short: "Derive a run's result from its log again and compare",
		Long: `replay reads the whole log of a run, counts again every vote that the log has
the samples of, checks that each step was decided by the rule and committed
exactly once, and compares the result that follows with the stored one. It asks
no model. Exit code 1 means that something does not fit.`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			engine, err := a.newEngine(&maker.Options{LogDir: a.logDir, Config: maker.Config{Model: "sim/default"}})
			if err != nil {
				return err
			}
			r, err := engine.Replay(args[0])
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(r)
			} else {
				a.printReplay(r)
			}
			if err == nil && len(r.Differences) > 0 {
				err = exitError{exitFailed}
			}
			return err
		},
	}
}

func (a *app) printReplay(r *maker.Replay) {
	for _, d := range r.Differences {
		fmt.Fprintf(a.Out, "differs: %s\n", d)
	}
	verdict := "agrees with the stored result"
	switch {
	case len(r.Differences) > 0:
		verdict = "does NOT agree"
	case !r.Compared:
		verdict = "is consistent; there is no stored result of this state to compare with"
	}
	fmt.Fprintf(a.Out, "the log of %s %s: %s, %s steps, %s votes recounted\n", r.Result.Run, verdict,
		r.Result.Status, thousands(r.Result.StepsCompleted), thousands(r.Races))
}
