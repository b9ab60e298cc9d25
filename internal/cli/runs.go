package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/certify"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
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
			list, err := runs.List(a.logDir)
			if err != nil {
				return ofLogDir(err)
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
				cost := runs.DescribeCost(s.CostUSD)
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
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Run, status, steps, cost, report.Short(s.Task))
			}
			return w.Flush()
		},
	}
}

func (a *app) show() *cobra.Command {
	var step int
	var contested bool
	var page, out string
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
			run, err := a.open(args[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("step") {
				return a.showStep(run, step)
			}
			if contested {
				return a.showContested(run)
			}
			if out != "" {
				return writeRecords(run, out)
			}
			r, err := run.Result()
			if err != nil {
				return err
			}
			if page != "" && r.Form != event.FormTree {
				return usageError{fmt.Errorf("--html: %s is not a run of maker solve, which has a tree to show", r.Run)}
			}
			switch {
			case a.json:
				return a.printJSON(r)
			case r.Form == event.FormTree:
				err = a.showSolve(run, r, page)
			case r.Form == event.FormRecords:
				var p *runs.RecordParams
				if p, err = run.RecordParams(); err == nil {
					report.Records(a.Out, r, p)
				}
			default:
				report.Result(a.Out, r, a.outputOf(r))
			}
			if err != nil {
				return err
			}
			if r.Status == runs.StatusInterrupted {
				fmt.Fprintln(a.Err, a.nextAction(r))
			}
			return nil
		},
	}
	numberFlag(cmd.Flags(), &step, "step", "", "0", 0, "show this committed step")
	cmd.Flags().StringVar(&out, "out", "", "write the records of a run of maker map with their answers to this file: .csv, .tsv or .jsonl")
	cmd.Flags().BoolVar(&contested, "contested", false, "list every step whose votes named more than one answer, and one that failed over discarded answers")
	cmd.Flags().StringVar(&page, "html", "", "write a run of maker solve to this file, as one page that needs nothing else (-: stdout)")
	return cmd
}

// open opens a run by its name, the beginning of one, or the path of its folder.
func (a *app) open(name string) (*runs.Run, error) {
	dir, err := runs.Find(a.logDir, name)
	if err != nil {
		return nil, ofLogDir(err)
	}
	return runs.Open(dir)
}

// ofLogDir is an error about the folder of runs as one about the setting that names it.
func ofLogDir(err error) error {
	if f, ok := errors.AsType[*runs.FolderError](err); ok {
		return &maker.ConfigError{Field: "log_dir", Err: f.Err}
	}
	return err
}

func (a *app) showStep(run *runs.Run, step int) error {
	s, err := run.Step(step)
	if isA[*runs.NoStepError](err) {
		if r, failed := run.Result(); failed == nil && r.FailedStep != nil && r.FailedStep.Step == step {
			return a.showFailedStep(r)
		}
		return usageError{fmt.Errorf("--step: %w", err)}
	}
	if err != nil {
		return err
	}
	if s.Output, err = run.Load(s.Output); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(s.StepCompleted)
	}
	changed, err := run.Changed(step)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "step %s, committed %s\n", report.Thousands(s.Step), s.Time.Local().Format("2006-01-02 15:04:05.000"))
	fmt.Fprintf(a.Out, "  output    %s\n", s.Output.JSON)
	fmt.Fprintf(a.Out, "  votes     %s, margin %d\n", cmp.Or(s.Voting.Split(), "none"), s.Voting.Margin)
	if by := runs.DescribeBy(s.By); by != "" {
		fmt.Fprintf(a.Out, "  settled   %s\n", show.Line(by))
	}
	for _, line := range runs.DescribeDissent(s.Voting, s.Output) {
		fmt.Fprintf(a.Out, "  dissent   %s\n", line)
	}
	if paths := report.Unvoted(s.Voting); paths != "" {
		fmt.Fprintf(a.Out, "  not voted %s (one agent's words)\n", paths)
	}
	fmt.Fprintf(a.Out, "  samples   %d, %d flagged, %d faults, %d cancelled\n",
		s.Voting.Samples, s.Voting.RedFlagged, s.Voting.Faults, s.Voting.Cancelled)
	fmt.Fprintf(a.Out, "  cost      %s, %s for the run so far\n", runs.DescribeCost(s.CostUSD), runs.DescribeCost(s.Spent.CostUSD()))
	fmt.Fprintf(a.Out, "  time      %d ms\n", s.DurationMS)
	if len(changed) > 0 {
		fmt.Fprintf(a.Out, "  %s\n", report.AskedDifferently(changed))
	}
	return nil
}

// showFailedStep shows the step that ended a run.
func (a *app) showFailedStep(r *runs.Result) error {
	f := r.FailedStep
	if a.json {
		return a.printJSON(f)
	}
	fmt.Fprintf(a.Out, "step %s, not committed: %s\n", report.Thousands(f.Step), f.Status)
	fmt.Fprintf(a.Out, "  reason    %s\n", show.Line(f.Reason))
	for _, line := range f.Votes() {
		fmt.Fprintf(a.Out, "            %s\n", line)
	}
	fmt.Fprintf(a.Out, "  samples   %d, %d flagged, %d faults\n", f.Voting.Samples, f.Voting.RedFlagged, f.Voting.Faults)
	return nil
}

func (a *app) showContested(run *runs.Run) error {
	for s, err := range run.Steps(&runs.StepOptions{Contested: true}) {
		if err != nil {
			return err
		}
		if a.json {
			err = a.printJSON(s.StepCompleted)
		} else {
			_, err = fmt.Fprintf(a.Out, "step %-9d %s\n", s.Step, report.Contest(s.Voting, s.Output))
		}
		if err != nil {
			return err
		}
	}
	r, err := run.Result()
	if err != nil || r.FailedStep == nil {
		return err
	}
	if v := r.FailedStep.Voting; v.Contested() || v.RedFlagged > 0 {
		return a.showFailedStep(r)
	}
	return nil
}

func (a *app) resume() *cobra.Command {
	var flags settings
	var setAside bool
	var retry []string
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
			engine, err := a.newEngine(opts)
			if err != nil {
				return err
			}
			run, err := engine.Resume(cmd.Context(), args[0], &maker.ResumeOptions{
				Change:   func(c *maker.Config) { flags.change(c, opts) },
				SetAside: setAside, Retry: trimmed(retry),
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
	cmd.Flags().StringSliceVar(&retry, "retry", nil, "of maker map: ask again about the records that are failed, undecided, or both")
	cmd.Flags().BoolVar(&setAside, "set-aside", false, "move the damaged rest of a log aside and go on before it")
	flags.register(cmd, config.All, func(d *config.Setting) bool { return !d.Stays && d.Name != "max_rounds" })
	flags.initially("model", "sim/default")
	return cmd
}

// trimmed are texts without the spaces around them.
func trimmed(list []string) []string {
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

func (a *app) showFinished(name string) error {
	run, err := a.open(name)
	if err != nil {
		return err
	}
	r, err := run.Result()
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
exactly once, that no call was made twice, and compares the result that follows
with the stored one. It asks no model. Exit code 1 means that something does not
fit.`,
		Args: exactArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			run, err := a.open(args[0])
			if err != nil {
				return err
			}
			r, err := run.Replay(nil)
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

func (a *app) certify() *cobra.Command {
	cmd := certify.Command(certify.App{
		Out: a.Out, Err: a.Err, Open: a.open, JSON: func() bool { return a.json }, PrintJSON: a.printJSON,
		Usage: func(err error) error { return usageError{err} },
	})
	cmd.Args = exactArgs("RUN")
	return cmd
}

func (a *app) printReplay(r *runs.Replay) {
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
		r.Result.Status, report.Thousands(r.Result.StepsCompleted), report.Thousands(r.Races))
}
