package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

// queue is that of runs that any worker can do, and with a home that of runs whose tools need its
// folders. Workers of another version have others: they could not go on with a history of this one.
func queue(version int, home string) string {
	q := "maker"
	if version > 1 {
		q = fmt.Sprintf("maker.v%d", version)
	}
	if home != "" {
		q += "@" + home
	}
	return q
}

// homeFlag adds the flag for the home of tools.
func homeFlag(cmd *cobra.Command, home *string, usage string) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	cmd.Flags().StringVar(home, "home", host, usage)
}

func checkHome(home string) error {
	if home == "" || strings.ContainsAny(home, "@/ \t\n") {
		return usagef("--home: %q is no name of a home: want one without blanks, @ and /", home)
	}
	return nil
}

// work is what a worker is told.
type work struct {
	home  string
	parts int
	lost  time.Duration
}

func (a *app) worker() *cobra.Command {
	var w work
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Do runs until interrupted",
		Long: `worker does runs, whoever started them: it asks models, counts votes and calls tools. It
takes its keys, prices and prepared answers from where it runs: variables, and maker.yaml.

Runs of agents with tools have a home: the machine whose folders they work in. They are
done by workers of that home only; all others by any worker. Machines that share the
folders under the same paths may share a home.

With Ctrl-C or SIGTERM it ends in order: what it was at goes on with other workers, at
no loss. One that is killed counts as lost once nothing was heard of it for --lost. Votes
that it took then are taken again, and the part of a budget that it was lent counts as
spent. What it may have changed is asked about.`,
		Example: `  maker-temporal worker --store /shared/maker
  maker-temporal worker --home build-machines --parts 32`,
		Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.work(cmd.Context(), w) },
	}
	homeFlag(cmd, &w.home, "home of the tools: whose folders this worker has")
	cmd.Flags().IntVar(&w.parts, "parts", 100, "how many parts of runs to be at, at most, of each of its two queues")
	cmd.Flags().DurationVar(&w.lost, "lost", 30*time.Second, "after how long without a word a worker counts as lost; the same for all workers")
	return cmd
}

// stopTime is how long a worker that is stopped may take to say what it has done.
const stopTime = 20 * time.Second

func (a *app) work(ctx context.Context, w work) error {
	if err := checkHome(w.home); err != nil {
		return err
	}
	if w.parts < 1 {
		return usagef("--parts: %d is too small, want at least 1", w.parts)
	}
	if w.lost < time.Second {
		return usagef("--lost: %v is too short, want at least 1s", w.lost)
	}
	c, err := a.connect(ctx, warnings(a.Err))
	if err != nil {
		return err
	}
	defer c.Close()
	r, end, err := a.runner(c, w.lost)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	options := worker.Options{
		MaxConcurrentActivityExecutionSize: w.parts, WorkerStopTimeout: stopTime, MaxHeartbeatThrottleInterval: w.lost / 5,
		DefaultHeartbeatThrottleInterval: w.lost / 5, OnFatalError: func(err error) { failed <- err },
	}
	var workers []worker.Worker
	for _, q := range []string{queue(wire.Version, ""), queue(wire.Version, w.home)} {
		one := worker.New(c.Client, q, options)
		r.Register(one)
		if err = one.Start(); err != nil {
			err = c.explain("the worker", err)
			break
		}
		workers = append(workers, one)
	}
	if err == nil {
		a.say("worker %d is ready: runs at %s, and tools of %s", os.Getpid(), a.server.address, w.home)
		select {
		case <-ctx.Done():
			a.say("stopping: what is under way goes on with other workers")
		case err = <-failed:
			err = fmt.Errorf("the server does not work with this worker any more: %w", err)
		}
	}
	var stopping sync.WaitGroup
	for _, one := range workers {
		stopping.Go(one.Stop)
	}
	stopping.Wait()
	return errors.Join(err, end())
}

// runner is what runs are done with, by the settings that are here.
func (a *app) runner(c *cluster, lost time.Duration) (*runner.Runner, func() error, error) {
	o, err := cli.Settings(a.Streams)
	if err != nil {
		return nil, nil, usageError{err}
	}
	prepared, err := person.ReadAnswers(o.Answers)
	if err != nil {
		return nil, nil, usageError{err}
	}
	e, err := engine.New(engine.Options(*o))
	if err != nil {
		return nil, nil, usageError{err}
	}
	temp, err := os.MkdirTemp("", "maker-temporal-")
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	r := &runner.Runner{Engine: e, Store: c.store, Person: prepared, Temp: temp, Lost: lost}
	return r, func() error { return errors.Join(r.Close(), e.Close(), os.RemoveAll(temp)) }, nil
}

// warnings are what a worker says beside, one line each, without the keys of providers.
func warnings(w io.Writer) log.Logger {
	clean := secret.NewSet(route.AllKeys(os.Getenv)...)
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string, at slog.Attr) slog.Attr {
		switch at.Key {
		case slog.TimeKey:
			return slog.String(at.Key, at.Value.Time().Format(time.TimeOnly))
		case "Namespace", "WorkerID", "WorkflowType", "StackTrace":
			return slog.Attr{}
		}
		return slog.String(at.Key, show.Line(clean.Redact(at.Value.String())))
	}})))
}
