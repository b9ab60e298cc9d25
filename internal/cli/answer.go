package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/consent"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

func (a *app) answer() *cobra.Command {
	var text, question string
	var replace bool
	cmd := &cobra.Command{
		Use:   "answer RUN",
		Short: "Answer what a run is waiting for",
		Long: `answer shows what a run waits for and takes the answer: from --text, or from the
terminal. A run that is asking in another process takes it within a second; another one
when it is resumed. It is logged first. Without --text and without a terminal it only
shows the questions.

An approval is answered with yes, with no, or with why not, which the agents read;
with run or always and perhaps a rule, for this call and others like it; or with edit
and other arguments as JSON.
An answer that was given before stays, unless --replace is given.`,
		Example: `  maker answer run-20260102
  maker answer run-20260102 --text yes
  maker resume run-20260102`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := a.open(args[0])
			if err != nil {
				return err
			}
			a.tasks.Store(run.Form() == event.FormTasks)
			if cfg, err := run.Config(); err == nil {
				_, _ = a.newEngine(&maker.Options{Config: cfg}) // which says what a plan will take, if it can
			}
			open, err := run.Waiting()
			if err != nil {
				return err
			}
			if len(open) == 0 {
				return usageError{errors.New("the run waits for no answer")}
			}
			if question != "" {
				open = slices.DeleteFunc(open, func(q runs.Question) bool { return q.Key != question })
				if len(open) == 0 {
					return usageError{fmt.Errorf("--question: %w", &runs.NotAskedError{Key: question})}
				}
			}
			return a.takeAnswer(cmd, run, open, text, replace)
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "the answer")
	cmd.Flags().BoolVar(&replace, "replace", false, "put the answer in the place of one that was given before")
	cmd.Flags().StringVar(&question, "question", "", "which question, by its key, if there are several")
	return cmd
}

// asked is an open question in the form in which people are asked.
func asked(q runs.Question) maker.Question {
	return maker.Question{Step: q.Step, Kind: q.Kind, Text: q.Text, Options: q.Options, Free: q.Free, Call: q.Call, Voting: q.Voting, Folder: q.Folder, Plan: q.Plan, Against: q.Against}
}

func (a *app) takeAnswer(cmd *cobra.Command, run *runs.Run, open []runs.Question, text string, replace bool) error {
	if text != "" && len(open) > 1 {
		keys := make([]string, len(open))
		for i, q := range open {
			keys[i] = q.Key
		}
		return usageError{fmt.Errorf("the run waits for %d answers; say with --question which one is meant: %s", len(open), strings.Join(keys, ", "))}
	}
	name := filepath.Base(run.Dir())
	for _, q := range open {
		if text == "" && !a.hasTerminal() {
			if a.json {
				if err := a.printJSON(q); err != nil {
					return err
				}
				continue
			}
			if q.Kind == event.ClarifyPlan {
				fmt.Fprintf(a.Out, "\n%s\n\n%s\n\n  %s, or edit with another one on the lines below it; --json shows it as it is\n",
					show.Text(q.Text), a.planLines(q.Plan), strings.Join(q.Options, ", "))
			} else {
				consent.Show(a.Out, a.stepName(q.Step), asked(q), true)
			}
			fmt.Fprintf(a.Err, "answer with: maker answer %s --text ...\n", name)
			continue
		}
		answer := text
		var err error
		if answer == "" {
			if answer, err = a.ask(cmd.Context(), asked(q)); err != nil {
				return err
			}
		}
		meant, err := q.Understand(answer)
		if err != nil {
			return usageError{err}
		}
		kept := ""
		if rule := consent.Remembered(q.Kind, meant); rule != "" && text != "" { // on the terminal it was done
			where, err := settingsfile.Remember(rule)
			if err != nil {
				return fmt.Errorf("the rule %s cannot be kept, and nothing is answered: %w; run is for this run only", rule, err)
			}
			kept = "; the rule is in " + where
		}
		before, err := a.leaveAnswer(run, q.Key, answer, replace)
		if err != nil {
			return err
		}
		next := "continue with: " + a.resumeCommand(name)
		if open, err := run.Waiting(); err == nil && !slices.ContainsFunc(open, func(o runs.Question) bool { return o.Key == q.Key }) {
			next = "the run has taken it"
		}
		fmt.Fprintf(a.Err, "%s%s%s; %s\n", consent.Understood(q.Kind, meant), kept, before, next)
	}
	if text == "" && !a.hasTerminal() {
		return exitError{exitWaiting}
	}
	return nil
}

// leaveAnswer leaves an answer for a run, and says what it is in place of.
func (a *app) leaveAnswer(run *runs.Run, key, answer string, replace bool) (before string, err error) {
	const by = "maker answer"
	// It lies in a file until it is used, and is in the log from then on.
	if clean := secret.NewSet(route.AllKeys(os.Getenv)...).Redact(answer); clean != answer {
		fmt.Fprintln(a.Err, "a key of yours was left out of the answer")
		answer = clean
	}
	if !replace {
		err = run.Answer(key, answer, by)
		if e, ok := errors.AsType[*runs.AnsweredError](err); ok && !e.Used {
			err = usageError{fmt.Errorf("%s; maker answer --replace gives another", show.Line(e.Error()))}
		}
		return "", err
	}
	was, whose, err := run.Left(key)
	if err != nil {
		return "", err
	}
	if was != "" {
		before = fmt.Sprintf(", in place of %s (%s)", show.Line(was), show.Line(whose))
	}
	return before, run.ReplaceAnswer(key, answer, by)
}
