package manage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/moment"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/runs"
)

func (a App) remove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm RUN...",
		Short: "Remove runs with all that they have logged",
		Long: `rm removes the folders of runs: logs, results, answers. It asks first; without a
terminal it needs --yes. A run that is going on is not removed. There is no way back.`,
		Example: `  maker rm last
  maker rm hanoi-20260102-1 run-20260102-2 --yes`,
		Args: a.someRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			var doomed []runs.Summary
			for _, name := range args {
				dir, err := a.Find(name)
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(doomed, func(s runs.Summary) bool { return s.Dir == dir }) {
					doomed = append(doomed, runs.Summary{Dir: dir})
				}
			}
			return a.removeAll(cmd.Context(), doomed, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a App) prune() *cobra.Command {
	var f filter
	var yes, dry bool
	var older string
	var keep int
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old runs",
		Long: `prune removes the runs whose last event is older than --older-than says, but for the
newest --keep of all. With only one of the two that one decides. It shows what it would remove
and asks first; without a terminal it needs --yes. A run that is going on is never removed, and
one that waits for a person, is paused or was interrupted only if --state names that.`,
		Example: `  maker prune --older-than 30d --keep 20
  maker prune --older-than 1w --state cancelled,failed --yes
  maker prune --keep 100 --dry-run`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cmd.Flags().Changed
			before := time.Now()
			switch {
			case !given("older-than") && !given("keep"):
				return a.Usage(errors.New("say what may go: --older-than 30d, --keep 20, or both"))
			case keep < 0:
				return a.Usage(fmt.Errorf("--keep: %d is too small, want at least 0", keep))
			}
			if err := f.check(); err != nil {
				return a.Usage(err)
			}
			if given("older-than") {
				var err error
				if before, err = moment.Ago(older, before); err != nil {
					return a.Usage(fmt.Errorf("--older-than: %w", err))
				}
			}
			list, err := runs.List(a.LogDir())
			if err != nil {
				return a.OfFolder(err)
			}
			doomed := old(list, &f, before, keep)
			if len(doomed) == 0 {
				fmt.Fprintf(a.Err, "none of the %s runs in %s is to be removed\n", report.Thousands(len(list)), a.LogDir())
				return nil
			}
			if dry || !yes || a.JSON() {
				if err := a.print(doomed, 0, true); err != nil || dry {
					return err
				}
			}
			return a.removeAll(cmd.Context(), doomed, yes)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&older, "older-than", "", "remove runs without an event since: 12h, 30d, 2w or a date")
	cmd.Flags().IntVar(&keep, "keep", 0, "keep so many of the newest runs, however old they are")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be removed")
	return cmd
}

// unfinished are states of runs that somebody may still want to go on with.
var unfinished = []string{event.StopWaiting, runs.StateAnswered, event.StopPaused, runs.StatusInterrupted}

// old are the runs that may go: not among the newest ones, and without an event since.
func old(list []runs.Summary, f *filter, before time.Time, keep int) []runs.Summary {
	newest := slices.Clone(list)
	slices.SortStableFunc(newest, func(x, y runs.Summary) int { return last(y).Compare(last(x)) })
	return slices.DeleteFunc(newest[min(keep, len(newest)):], func(s runs.Summary) bool {
		return s.PID != 0 || !f.has(s) || len(f.states) == 0 && slices.Contains(unfinished, s.State) || last(s).After(before)
	})
}

func last(s runs.Summary) time.Time {
	if s.Updated.After(s.Started) {
		return s.Updated
	}
	return s.Started
}

// removeAll removes runs once somebody has agreed.
func (a App) removeAll(ctx context.Context, doomed []runs.Summary, yes bool) error {
	what := fmt.Sprintf("%s runs", report.Thousands(len(doomed)))
	if len(doomed) == 1 {
		what = filepath.Base(doomed[0].Dir)
	}
	if !yes {
		if !a.Attended() {
			return a.Usage(errors.New("nobody is there to say that this is meant; say so with --yes"))
		}
		if agreed, err := a.Confirm(ctx, fmt.Sprintf("Remove %s for good?", what)); err != nil || !agreed {
			return errors.Join(err, a.say("nothing was removed"))
		}
	}
	var failed error
	removed, kept := 0, 0
	for _, s := range doomed {
		if ctx.Err() != nil {
			failed = errors.Join(failed, context.Cause(ctx))
			break
		}
		if err := runs.Remove(s.Dir); err != nil {
			if kept++; kept <= mostReasons {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", filepath.Base(s.Dir), err))
			}
			continue
		}
		removed++
	}
	if removed == len(doomed) {
		return a.say("removed " + what)
	}
	return errors.Join(a.say(fmt.Sprintf("removed %s of %s runs", report.Thousands(removed), report.Thousands(len(doomed)))), failed)
}

// mostReasons is how many of the runs that could not be removed are named.
const mostReasons = 10

func (a App) say(text string) error {
	_, err := fmt.Fprintln(a.Err, text)
	return err
}
