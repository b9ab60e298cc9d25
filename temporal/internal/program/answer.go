package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/internal/cli/consent"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/session"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

// patience is how long a worker may take to answer.
const patience = 30 * time.Second

func (a *app) answer() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "answer RUN [KEY] [TEXT]",
		Short: "Answer what a run is waiting for",
		Long: `answer shows what a run waits for, each question with its key, and takes the answer to one.
The key may be left out where there is one question. The run goes on at once, and the answer
is kept before that is said.

An approval is answered with yes, with no, or with why not, which the agents read;
with run or always and perhaps a rule, for this call and others like it; or with edit
and other arguments as JSON.`,
		Example: `  maker-temporal answer run-20260102
  maker-temporal answer run-20260102 yes
  maker-temporal answer run-20260102 task/2/ask main`,
		Args: between(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			c, run, err := a.run(ctx, args[0])
			if err != nil {
				return err
			}
			defer c.Close()
			if err := c.checkVersion(ctx, run); err != nil {
				return err
			}
			open, err := c.open(ctx, run)
			if err != nil {
				return err
			}
			if len(open) == 0 {
				return usagef("%s waits for no answer; see it with: %s follow %s", run, name, run)
			}
			q, text, err := chosen(open, args[1:])
			if err != nil {
				return err
			}
			if text == "" {
				return a.showOpen(run, open, q, asJSON)
			}
			return a.give(ctx, c, run, *q, text)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "show the questions as JSON lines")
	return cmd
}

// open is what a run asks.
func (c *cluster) open(ctx context.Context, run string) ([]wire.Question, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var open []wire.Question
	got, err := c.QueryWorkflow(ctx, run, "", session.OpenQuery)
	if err == nil {
		err = got.Get(&open)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, noWorker(run)
	}
	return open, c.explain(run, err)
}

func noWorker(run string) error {
	return fmt.Errorf("no worker says what %s waits for: start one with: %s worker (`%s list` says of which home)", run, name, name)
}

// chosen is which question is meant and the answer to it; empty if they are to be shown.
func chosen(open []wire.Question, args []string) (*wire.Question, string, error) {
	var keys []string
	for i := range open {
		if keys = append(keys, open[i].Key); len(args) > 0 && open[i].Key == args[0] {
			return &open[i], strings.Join(args[1:], ""), nil
		}
	}
	switch {
	case len(args) == 0:
		return nil, "", nil
	case len(args) == 1 && len(open) == 1:
		return &open[0], args[0], nil
	case len(args) == 1:
		return nil, "", usagef("the run waits for %d answers; say which one is meant, before the text: %s", len(open), strings.Join(keys, ", "))
	}
	return nil, "", usagef("the run does not ask %q; it asks %s", args[0], strings.Join(keys, ", "))
}

// showOpen shows what a run asks, or one question of it.
func (a *app) showOpen(run string, open []wire.Question, one *wire.Question, asJSON bool) error {
	if one != nil {
		open = []wire.Question{*one}
	}
	for _, q := range open {
		if asJSON {
			if err := a.printJSON(q); err != nil {
				return err
			}
			continue
		}
		step := report.StepOf("", q.Question.Step)
		consent.Show(a.Out, step, q.Question, true)
		if q.Question.Plan != "" {
			fmt.Fprintf(a.Out, "\n%s\n", report.Indented(q.Question.Plan))
		}
		a.say("answer with: %s answer %s %s ...", name, run, q.Key)
	}
	return exitError{exitWaiting}
}

// give gives a run an answer.
func (a *app) give(ctx context.Context, c *cluster, run string, q wire.Question, text string) error {
	if clean := secret.NewSet(route.AllKeys(os.Getenv)...).Redact(text); clean != text {
		a.say("a key of yours was left out of the answer")
		text = clean
	}
	meant, err := person.Resolve(&q.Question, text)
	if err != nil {
		return usageError{err}
	}
	id, err := updateID(q)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	update, err := c.UpdateWorkflow(wait, client.UpdateWorkflowOptions{
		WorkflowID: run, UpdateID: id, UpdateName: session.AnswerUpdate, WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{session.Answer{Question: q.Key, Text: text, By: name + " answer"}},
	})
	if err == nil {
		err = update.Get(wait, nil)
	}
	switch {
	case ctx.Err() == nil && wait.Err() != nil:
		return fmt.Errorf("no worker has taken the answer yet; it is there once one does: %s worker", name)
	case err != nil:
		return usageError{c.explain(run, cause(err))}
	}
	a.say("%s; %s has taken it", consent.Understood(q.Question.Kind, meant), run)
	if rule := consent.Remembered(q.Question.Kind, meant); rule != "" {
		_, err = settingsfile.Remember(rule) // for runs that are started here
	}
	return err
}

// updateID is the same for whoever says the same answer twice, and another one when the same
// question is about something else than before.
func updateID(q wire.Question) (string, error) {
	about, err := json.Marshal(q.Question)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(about)
	return q.Key + "#" + hex.EncodeToString(sum[:6]), nil
}

func (a *app) cancel() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run",
		Long: `cancel ends a run in order: what is under way is ended and recorded, and all that was
committed is kept. It waits until that is done. The run can go on later: maker-temporal start RUN.`,
		Example: `  maker-temporal cancel run-20260102`,
		Args:    between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			c, run, err := a.run(ctx, args[0])
			if err != nil {
				return err
			}
			defer c.Close()
			if err := c.CancelWorkflow(ctx, run, ""); err != nil {
				return c.explain(run, err)
			}
			a.say("%s is being ended; that takes a worker", run)
			var out runner.Output
			err = c.GetWorkflow(ctx, run, "").Get(ctx, &out)
			switch {
			case ctx.Err() != nil:
				return exitError{exitInterrupted}
			case err != nil:
				return c.explain(run, cause(err))
			}
			a.say("%s: %s", run, stateOf(&out))
			return nil
		},
	}
}

func (a *app) export() *cobra.Command {
	return &cobra.Command{
		Use:   "export RUN [DIR]",
		Short: "Write a run into a run folder of maker",
		Long: `export writes what happened in a run into a folder, which maker show, replay, certify,
serve and the others take as any run: where maker has its runs, or DIR. Of a run that goes
on it is what there is. It takes the store and no server.`,
		Example: `  maker-temporal export run-20260102
  maker replay run-20260102`,
		Args: between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := a.place.open(ctx)
			if err != nil {
				return err
			}
			run, err := (&cluster{store: s}).find(ctx, args[0])
			if err != nil {
				return err
			}
			var dir string
			if len(args) > 1 {
				dir = args[1]
			} else {
				o, err := cli.Settings(a.Streams)
				if err != nil {
					return usageError{err}
				}
				dir = filepath.Join(o.LogDir, run)
			}
			if err := runner.Export(ctx, s, run, dir); err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Out, dir)
			return err
		},
	}
}
