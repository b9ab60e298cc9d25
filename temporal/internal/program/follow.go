package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/internal/cli/manage"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

func (a *app) follow() *cobra.Command {
	var b beginning
	cmd := &cobra.Command{
		Use:   "follow RUN",
		Short: "Show what happens in a run until it ends",
		Long: `follow shows what has happened in a run and what happens, until it ends, and then what
came of it. The exit code is that of the run. With Ctrl-C the run goes on.`,
		Example: `  maker-temporal follow run-20260102
  maker-temporal follow run-20260102 --json`,
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, run, err := a.run(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer c.Close()
			err = c.checkVersion(cmd.Context(), run)
			if _, gone := errors.AsType[*serviceerror.NotFound](err); err != nil && !gone {
				return err
			}
			return a.watch(cmd.Context(), c, b, run)
		},
	}
	cmd.Flags().BoolVar(&b.json, "json", false, "print events and result as JSON lines")
	return cmd
}

// run connects and finds a run.
func (a *app) run(ctx context.Context, name string) (*cluster, string, error) {
	c, err := a.connect(ctx, quiet{})
	if err != nil {
		return nil, "", err
	}
	run, err := c.find(ctx, name)
	if err != nil {
		c.Close()
		return nil, "", err
	}
	return c, run, nil
}

// lookEvery is how often the store is looked at for news.
const lookEvery = 200 * time.Millisecond

// watch prints the name of a run, and what happens until it ends.
func (a *app) watch(ctx context.Context, c *cluster, b beginning, run string) error {
	if b.detach {
		_, err := fmt.Fprintln(a.Out, run)
		return err
	}
	a.say("run %s", run)
	visit, err := a.visitor(ctx, c, b.json, run)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.GetWorkflow(ctx, run, "").Get(ctx, nil) }()
	tail := runner.Follow{Store: c.store, Run: run}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case err = <-ended:
			over = true
		case <-tick.C:
		}
		if ctx.Err() != nil {
			a.say("%s goes on; see it with: %s follow %s", run, name, run)
			return exitError{exitInterrupted}
		}
		if err := tail.Read(ctx, visit); err != nil {
			return err
		}
	}
	return a.finish(ctx, c, b.json, run, err)
}

// visitor shows the events of a run.
func (a *app) visitor(ctx context.Context, c *cluster, asJSON bool, run string) (func(json.RawMessage) error, error) {
	if asJSON {
		return func(line json.RawMessage) error {
			_, err := fmt.Fprintf(a.Out, "%s\n", line)
			return err
		}, nil
	}
	submitted, err := wire.ReadSubmitted(ctx, c.store, run)
	if err != nil {
		return nil, err
	}
	t := manage.Teller{Out: a.Err, Form: submitted.Form, Answer: name + " answer " + run}
	return func(line json.RawMessage) error {
		rec, err := event.Decode(line)
		if err == nil {
			t.Take(rec)
		}
		return err
	}, nil
}

// finish says what came of a run whose workflow ended with an error or none.
func (a *app) finish(ctx context.Context, c *cluster, asJSON bool, run string, failed error) error {
	if _, gone := errors.AsType[*serviceerror.NotFound](failed); gone {
		failed = nil // the server has forgotten it; the store has not
	}
	end, err := c.end(ctx, run)
	if err != nil {
		return err
	}
	switch {
	case failed != nil:
		return fmt.Errorf("%s was ended from outside: %w\nit goes on with: %s start %s", run, cause(failed), name, run)
	case end == nil:
		return fmt.Errorf("%s has come to no end, and nothing goes on with it at %s\nit goes on with: %s start %s", run, c.address, name, run)
	}
	temp, err := os.MkdirTemp("", "maker-temporal-result-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, run)
	if err := runner.Export(ctx, c.store, run, dir); err != nil {
		return err
	}
	code, err := cli.Finish(dir, asJSON, a.Streams)
	if err != nil {
		return err
	}
	if !asJSON {
		a.say("look into it with: %s export %s", name, run)
	}
	if code == exitDone {
		return nil
	}
	a.say("all of it is kept. It goes on with: %s start %s", name, run)
	return exitError{code}
}

// cause is what a workflow failed of, without what wraps it.
func cause(err error) error {
	if e, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return errors.New(e.Message())
	}
	if e, ok := errors.AsType[*temporal.TerminatedError](err); ok {
		return e
	}
	return err
}

// end is the event with which a run has ended; nil if it has not, or has gone on since.
func (c *cluster) end(ctx context.Context, run string) (event.Event, error) {
	var end event.Event
	tail := runner.Follow{Store: c.store, Run: run}
	err := tail.Read(ctx, func(line json.RawMessage) error {
		rec, err := event.Decode(line)
		if err != nil {
			return err
		}
		if _, goesOn := rec.Event.(event.RunResumed); goesOn {
			end = nil
		} else if local.EndsSession(rec.Event) {
			end = rec.Event
		}
		return nil
	})
	return end, err
}
