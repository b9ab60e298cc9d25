package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/certify"
	"github.com/maker-mdap/maker/internal/cli/manage"
	"github.com/maker-mdap/maker/internal/cli/rows"
	"github.com/maker-mdap/maker/internal/cli/scriptfile"
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

// manager is what the commands that find, end and remove runs need.
func (a *app) manager() manage.App {
	return manage.App{
		Out: a.Out, Err: a.Err, LogDir: func() string { return a.logDir }, Open: a.open,
		Find: func(run string) (string, error) {
			dir, err := runs.Find(a.logDir, run)
			return dir, ofLogDir(err)
		},
		JSON: func() bool { return a.json }, PrintJSON: a.printJSON, Finish: a.finish, Resume: a.resumeCommand, Next: a.nextAction,
		Confirm: a.confirm, Attended: a.hasTerminal, Size: func() (width, height int) { return sizeOf(a.Out) },
		Usage: func(err error) error { return usageError{err} }, OfFolder: ofLogDir, Interrupt: exitError{exitInterrupted},
	}
}

// sizeOf is that of the terminal which is written to; 0 if it is none.
func sizeOf(w io.Writer) (width, height int) {
	if out, ok := w.(*output); ok {
		w = out.w
	}
	if f, ok := w.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil {
			return width, height
		}
	}
	return 0, 0
}

func (a *app) show() *cobra.Command {
	var step int
	var contested bool
	var follow bool
	var page, out string
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show a run, or one of its steps",
		Long: `show prints what a run did: its result, or with --step one committed step, found
through the run's index without reading the log. RUN is a run's name, the
beginning of one, last, or the path of its folder. Of a run of maker solve it prints the
tree of parts with their votes, or writes it as one page with --html. With --follow it
shows what happens while another process writes the run, and ends with the exit code that
the run ends with.`,
		Example: `  maker show hanoi-20260102
  maker show hanoi-20260102 --step 4711
  maker show hanoi-20260102 --contested
  maker show last --follow
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
			if follow {
				return manage.Follow(cmd.Context(), a.manager(), run)
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
				return a.printResult(run, r)
			case r.Form == event.FormTree:
				err = a.showSolve(run, r, page)
			case r.Form == event.FormRecords:
				err = a.sayRecords(a.Out, run, r)
			default:
				report.Result(a.Out, r, a.outputOf(r))
			}
			if err == nil && page == "" {
				err = a.showDetails(run, r)
			}
			if err == nil && r.Status == runs.StatusInterrupted {
				fmt.Fprintln(a.Err, a.nextAction(r))
			}
			return err
		},
	}
	numberFlag(cmd.Flags(), &step, "step", "", "0", 0, "show this committed step")
	cmd.Flags().StringVar(&out, "out", "", "write the records of a run of maker map with their answers to this file: .csv, .tsv or .jsonl")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "show what happens until no process writes the run any more, and then how it ended")
	cmd.Flags().BoolVar(&contested, "contested", false, "list every step and call whose votes named more than one answer, and a step that failed over discarded answers")
	cmd.Flags().StringVar(&page, "html", "", "write a run of maker solve to this file, as one page that needs nothing else (-: stdout)")
	return cmd
}

// showDetails lists what a run did. One of a chain or of records asks nobody.
func (a *app) showDetails(run *runs.Run, r *runs.Result) error {
	if r.Form.Alone() {
		return nil
	}
	asked, err := run.Questions()
	if err == nil {
		report.Details(a.Out, r, asked)
	}
	return err
}

// printResult prints a result with the questions that the run has asked.
func (a *app) printResult(run *runs.Run, r *runs.Result) error {
	asked, err := run.Questions()
	if err != nil {
		return err
	}
	return a.printJSON(struct {
		*runs.Result
		Questions []runs.Asked `json:"questions,omitempty"`
	}{r, asked})
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
	calls, err := run.Effects(step)
	if err != nil {
		return err
	}
	s, err := run.Step(step)
	if isA[*runs.NoStepError](err) {
		f, failed := run.Unsettled(step)
		if failed == nil {
			asked, err := run.Request(step)
			if err != nil {
				return err
			}
			return a.showUnsettled(f, asked, calls)
		}
		if !isA[*runs.NoStepError](failed) {
			return failed
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
		return a.printJSON(struct {
			event.StepCompleted
			Effects []runs.EffectResult `json:"effects,omitempty"`
		}{s.StepCompleted, calls})
	}
	changed, err := run.Changed(step)
	if err != nil {
		return err
	}
	asked, err := run.Request(step)
	if err != nil {
		return err
	}
	samples, err := run.Samples(step)
	if err != nil {
		return err
	}
	report.Step(a.Out, &s, asked, calls, changed)
	report.Repaired(a.Out, samples)
	return nil
}

// showUnsettled shows a step without a result, with the calls that it made.
func (a *app) showUnsettled(f *runs.FailedStep, asked string, calls []runs.EffectResult) error {
	if a.json {
		return a.printJSON(struct {
			*runs.FailedStep
			Effects []runs.EffectResult `json:"effects,omitempty"`
		}{f, calls})
	}
	report.Unsettled(a.Out, f, asked, calls)
	return nil
}

func (a *app) showContested(run *runs.Run) error {
	r, err := run.Result()
	if err != nil {
		return err
	}
	for i := range r.Questions { // the steps of a problem that is solved may take several
		q := &r.Questions[i]
		if err := a.showContest(q, q, q.Title); err != nil {
			return err
		}
	}
	for s, err := range run.Steps(&runs.StepOptions{Contested: true}) {
		if err == nil && len(r.Questions) == 0 {
			result := s.Result()
			err = a.showContest(&result, s.StepCompleted, "")
		}
		if err != nil {
			return err
		}
	}
	for i := range r.Effects {
		e := &r.Effects[i]
		if vote := runs.CallVote(e); vote.Contested() {
			if err := a.showContest(&vote, e, e.Status+" "+report.Call(e.Tool, e.Input)); err != nil {
				return err
			}
		}
	}
	for _, f := range slices.Concat(r.Unsettled, r.OpenSteps()) {
		if f.Voting.Contested() || f.Voting.RedFlagged > 0 {
			if err := a.showUnsettled(&f, "", nil); err != nil {
				return err
			}
		}
	}
	if r.Form == event.FormRecords {
		return rows.EachSplit(run, func(f *runs.FailedStep) error { return a.showUnsettled(f, "", nil) })
	}
	return nil
}

// showContest shows what was contested, of a problem that was solved with the question.
func (a *app) showContest(s *runs.StepResult, whole any, question string) error {
	if a.json {
		return a.printJSON(whole)
	}
	if question != "" {
		question = show.Line(question) + ": "
	}
	_, err := fmt.Fprintf(a.Out, "step %-9d %s%s\n", s.Step, question, report.Contest(s))
	return err
}

func (a *app) resume() *cobra.Command {
	var flags settings
	var setAside, yes bool
	var retry []string
	var out, script string
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Continue a run from its last committed step",
		Long: `resume continues a run that was stopped, interrupted or killed. It keeps the
configuration that the run had, except for the flags given here. What earlier
sessions spent counts against its budgets. A run that is finished already is
shown as it ended. A run of maker script goes on with the script that it was begun
with; --script names an edited one, and says which recorded answers still fit.`,
		Example: `  maker resume hanoi-20260102
  maker resume hanoi-20260102 --max-usd 20
  maker resume script-20260102 --script triage.star`,
		Args:        exactArgs("RUN"),
		Annotations: map[string]string{ownSettings: ofTheRun},
		RunE: func(cmd *cobra.Command, args []string) error {
			finish, err := a.ending(args[0], out)
			if err != nil {
				return err
			}
			opts, err := flags.options(a)
			if err != nil {
				return err
			}
			engine, err := a.newEngine(opts)
			if err != nil {
				return err
			}
			goOn := maker.ResumeOptions{Change: func(c *maker.Config) { flags.change(c, opts) }, SetAside: setAside, Retry: trimmed(retry)}
			goOn.Script, err = scriptfile.App{
				Err: a.Err, Quiet: a.quiet, Attended: a.hasTerminal(), Confirm: a.confirm, Usage: func(err error) error { return usageError{err} },
				Rehearse: func(s *maker.Script) (*maker.Rehearsal, error) {
					with := goOn
					with.Script = s
					return engine.Rehearse(args[0], &with)
				},
			}.Edited(cmd.Context(), script, yes)
			if err != nil {
				return err
			}
			run, err := engine.Resume(cmd.Context(), args[0], &goOn)
			if errors.Is(err, maker.ErrFinished) {
				return a.showFinished(args[0], finish)
			}
			if err != nil {
				return err
			}
			result, err := a.watch(cmd.Context(), run)
			if err != nil {
				return err
			}
			return finish(result)
		},
	}
	cmd.Flags().StringSliceVar(&retry, "retry", nil, "of maker map: ask again about the records that are failed, undecided, or both")
	cmd.Flags().StringVar(&out, "out", "", "of maker map: file to write the records with their answers to: .csv, .tsv or .jsonl")
	cmd.Flags().StringVar(&script, "script", "", "of maker script: go on with this edited script; says which recorded answers fit, and asks first")
	cmd.Flags().BoolVar(&yes, "yes", false, "go on with the edited script without asking")
	cmd.Flags().BoolVar(&setAside, "set-aside", false, "move the damaged rest of a log aside and go on before it")
	flags.resume = true
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

func (a *app) showFinished(name string, finish func(*maker.Result) error) error {
	run, err := a.open(name)
	if err != nil {
		return err
	}
	r, err := run.Result()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "the run is finished already\n")
	return finish(r)
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
				report.Replay(a.Out, r)
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
