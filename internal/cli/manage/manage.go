// Package manage has the commands that find, follow, end and remove runs.
package manage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/runs"
)

// An App is what the commands need of the program.
type App struct {
	Out, Err  io.Writer
	LogDir    func() string
	Find      func(run string) (dir string, err error)
	Open      func(run string) (*runs.Run, error)
	JSON      func() bool // whether to print JSON
	PrintJSON func(v any) error
	Finish    func(r *runs.Result) error                               // shows the result of a run as it is shown when it ends
	Resume    func(run string) string                                  // how it is continued
	Next      func(r *runs.Result) string                              // what to do about a run that did not complete
	Confirm   func(ctx context.Context, question string) (bool, error) // asks the person on the terminal
	Attended  func() bool                                              // somebody is there to be asked
	Size      func() (width, height int)                               // of the terminal that Out is, 0 if it is none

	Usage     func(error) error // makes an error one about usage
	OfFolder  func(error) error // names the setting in an error about the folder of runs
	Interrupt error             // the error of a command that Ctrl-C has ended
}

// Commands are all of them.
func Commands(a App) []*cobra.Command {
	return []*cobra.Command{a.list(), a.pause(), a.cancel(), a.remove(), a.prune()}
}

// someRuns demands at least one argument.
func (a App) someRuns(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return a.Usage(fmt.Errorf("%s takes at least one RUN; see `%[1]s --help`", cmd.CommandPath()))
	}
	return nil
}

// filter chooses runs.
type filter struct {
	states []string
	since  string
}

func (f *filter) register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "only runs in these states: "+strings.Join(runs.States(), ", "))
}

// check reads the states.
func (f *filter) check() error {
	for _, s := range f.states {
		if slices.Contains(runs.States(), s) {
			continue
		}
		return fmt.Errorf("--state: there is no state %q; %s", s, nearest.Among(s, runs.States()))
	}
	return nil
}

func (f *filter) has(s runs.Summary) bool {
	return len(f.states) == 0 || slices.Contains(f.states, s.State)
}

// age is how long ago something was, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// pause is the command that ends the process of a run.
func (a App) pause() *cobra.Command {
	return &cobra.Command{
		Use:   "pause RUN",
		Short: "End the process of a run that is going on, to go on later",
		Long: `pause ends the process that writes a run as Ctrl-C does: calls in flight are cancelled,
what is committed is kept, and maker resume goes on with it. It works from any terminal,
and returns when the process has let go of the run.`,
		Example: `  maker pause last
  maker resume last`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.end(cmd.Context(), args[0], "maker pause", (*runs.Run).Pause, func(run *runs.Run) string {
				if r, err := run.Result(); err == nil && r.Form == event.FormRequests { // which only a server can go on with
					return "paused, and refuses requests until it is resumed; everything committed is kept: " + a.Next(r)
				}
				return "paused; everything committed is kept. Continue with: " + a.Resume(run.ID())
			})
		},
	}
}

// cancel is the command that ends a run.
func (a App) cancel() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run that is not wanted any more",
		Long: `cancel ends a run: one that is going on in another process, within a second or so, or
one that is paused, interrupted or waiting, which is then marked as cancelled and waits for
nobody any more. What is committed is kept. If you want it after all, maker resume goes on
with it.`,
		Example: `  maker cancel last
  maker runs --state cancelled`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.end(cmd.Context(), args[0], "maker cancel", (*runs.Run).Cancel, func(*runs.Run) string { return "cancelled; everything committed is kept" })
		},
	}
}

// patience is how long a process has to end a run: a call that it is making may take its
// time.
const patience = time.Minute

var errPatience = errors.New("it is busy with a call that cannot be broken off; look again with: maker runs")

func (a App) end(ctx context.Context, name, by string, end func(r *runs.Run, ctx context.Context, by string) error, done func(*runs.Run) string) error {
	run, err := a.Open(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	if err := end(run, ctx, by); err != nil {
		if e, ok := errors.AsType[*runs.NotRunningError](err); ok {
			if r, err := run.Result(); err == nil && a.Next(r) != "" {
				return a.Usage(fmt.Errorf("%w\n%s", e, a.Next(r)))
			}
		}
		return err
	}
	if a.JSON() {
		r, err := run.Result()
		if err != nil {
			return err
		}
		return a.PrintJSON(map[string]any{"run": run.ID(), "status": r.Status, "stop": r.Stop})
	}
	fmt.Fprintf(a.Err, "%s is %s\n", run.ID(), done(run))
	return nil
}
