// Package program is the maker-temporal command.
//
// As with maker, results go to stdout and everything else to stderr. Errors end with what to do
// next, and the exit code says what kind they are.
package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/internal/version"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

// The exit codes are maker's.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitWaiting     = 5
	exitInterrupted = 130
)

// Name is what the program is called.
const name = "maker-temporal"

// An exitError ends the program with a code after everything was said.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// A usageError is a command line that makes no sense.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errInterrupted ends what a person interrupts.
var errInterrupted = errors.New("interrupted")

// app is one invocation of the program.
type app struct {
	cli.Streams
	server connection
	place  place
}

// Main runs the command line and returns the exit code.
func Main(args []string, s cli.Streams) int {
	a := &app{Streams: s}
	ctx, stop := interruptible(context.Background())
	defer stop()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	if ctx.Err() != nil {
		return exitInterrupted
	}
	fmt.Fprintf(a.Err, "%s: %s\n", name, show.Text(err.Error()))
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// interruptible returns a context that ends with the first Ctrl-C or SIGTERM. The second one ends
// the program at once.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			case <-signals:
				if n > 0 {
					os.Exit(exitInterrupted)
				}
				cancel(errInterrupted)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel(nil)
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   name,
		Short: "Do maker's runs on Temporal",
		Long: `maker-temporal does the runs of maker on Temporal: on as many machines as there are
workers. A run that loses its worker goes on with another one.

  temporal server start-dev                # a server, for a try
  maker-temporal worker                    # here, and wherever else the store is
  maker-temporal start -- solve "Multiply 48163 by 729" --domain math --model sim/default

All of it shares a store: a folder that start and all workers reach, named with --store
or MAKER_TEMPORAL_STORE. What runs say and do is there; Temporal's histories have hashes
of it. Other flags have variables too: MAKER_TEMPORAL_ADDRESS, and so on.

Settings of runs are maker's: flags after --, MAKER_* variables, and maker.yaml.

Exit codes: 0 done, 1 the task failed, 2 wrong usage or configuration,
3 undecided, 4 a budget or deadline stopped it, 5 waiting for a person,
130 interrupted.`,
		Version:       maker.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q; `%s --help` lists what there is", args[0], name)
			}
			return nil
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return variables(cmd.Flags()) },
	}
	root.SetVersionTemplate(versionLine() + "\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see `%s --help`", err, cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.SortFlags = false
	a.server.register(flags)
	a.place.register(flags)
	root.AddCommand(a.worker(), a.start(), a.list(), a.follow(), a.answer(), a.cancel(), a.export())
	return root
}

// versionLine says which version this is, and of what its workflows are.
func versionLine() string {
	line := fmt.Sprintf("%s %s, workflows of version %d, %s, %s/%s", name, maker.Version, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if revision := version.Revision(); revision != "" {
		line += ", " + revision
	}
	return line
}

// variables takes from the environment what flags do not say.
func variables(flags *pflag.FlagSet) error {
	var wrong error
	flags.VisitAll(func(f *pflag.Flag) {
		variable := variableOf(f.Name)
		text := os.Getenv(variable)
		if text == "" || f.Changed || f.Name == "help" || f.Name == "version" {
			return
		}
		if err := flags.Set(f.Name, text); err != nil {
			wrong = cmp.Or(wrong, usagef("%s: %w", variable, err))
		}
	})
	return wrong
}

func variableOf(flag string) string {
	return "MAKER_TEMPORAL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// between demands so many arguments.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		_, takes, _ := strings.Cut(cmd.Use, " ")
		if takes == "" {
			return usagef("%s takes no arguments, but got %q", cmd.CommandPath(), args)
		}
		return usagef("%s takes %s; see `%s --help`", cmd.CommandPath(), takes, cmd.CommandPath())
	}
}

// say tells the person something.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.Err, show.Text(fmt.Sprintf(format, args...)))
}

func (a *app) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(a.Out, "%s\n", line)
	}
	return err
}
