package manage

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/moment"
	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// mostListed is how many runs people see if they do not say how many.
const mostListed = 50

func (a App) list() *cobra.Command {
	var f filter
	var limit int
	var watch bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs",
		Long: `runs lists the runs in the folder that --log-dir names: those first that wait for a
person, then the newest first. A run is called by its name, by the beginning of one that
fits no other, or last.

The states: waiting (answer it with maker answer), answered (maker resume takes the answer),
running, paused, interrupted (its process is gone: continue it with maker resume), stopped (by
a limit), undecided, failed, cancelled, completed, unreadable.`,
		Example: `  maker runs --state waiting,running
  maker runs --since 12h
  maker runs -w`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return a.Usage(err)
			}
			if _, err := f.begin(); err != nil {
				return a.Usage(err)
			}
			if !cmd.Flags().Changed("limit") && a.JSON() {
				limit = 0
			}
			if limit < 0 {
				return a.Usage(fmt.Errorf("--limit: %d is too small, want at least 0, which means all", limit))
			}
			if watch {
				return a.watch(cmd.Context(), &f, limit)
			}
			list, err := a.find(&f)
			if err != nil {
				return err
			}
			return a.print(list, limit, len(f.states) > 0 || f.since != "")
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.since, "since", "", "only runs that were begun since: 90m, 12h, 30d, 2w or a date")
	cmd.Flags().IntVar(&limit, "limit", mostListed, "how many to list at most; 0 means all (with --json the default)")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on and show changes, until Ctrl-C")
	return cmd
}

// begin is since when runs are chosen; zero if it does not matter.
func (f *filter) begin() (time.Time, error) {
	if f.since == "" {
		return time.Time{}, nil
	}
	t, err := moment.Ago(f.since, time.Now())
	if err != nil {
		return t, fmt.Errorf("--since: %w", err)
	}
	return t, nil
}

// find lists the chosen runs in the order in which people want them.
func (a App) find(f *filter) ([]runs.Summary, error) {
	list, err := runs.List(a.LogDir())
	if err != nil {
		return nil, a.OfFolder(err)
	}
	begin, err := f.begin()
	if err != nil {
		return nil, a.Usage(err)
	}
	list = slices.DeleteFunc(list, func(s runs.Summary) bool {
		return !f.has(s) || cmp.Or(s.Started, s.Updated).Before(begin)
	})
	first := func(s runs.Summary) int {
		switch s.State {
		case event.StopWaiting:
			return 0
		case runs.StatusUnreadable:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(list, func(x, y runs.Summary) int {
		return cmp.Or(first(x)-first(y), y.Started.Compare(x.Started))
	})
	return list, nil
}

func (a App) print(list []runs.Summary, limit int, chosen bool) error {
	rest := 0
	if limit > 0 && len(list) > limit {
		list, rest = list[:limit], len(list)-limit
	}
	if a.JSON() {
		for _, s := range list {
			if err := a.PrintJSON(s); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Err, a.none(chosen))
		return nil
	}
	width, _ := a.Size()
	if _, err := a.Out.Write(table(list, width, time.Now())); err != nil {
		return err
	}
	if rest > 0 {
		fmt.Fprintf(a.Err, "and %s more: maker runs --limit 0\n", report.Thousands(rest))
	}
	return nil
}

// none says that there are no runs to show.
func (a App) none(chosen bool) string {
	if chosen {
		return fmt.Sprintf("none of the runs in %s is like that", a.LogDir())
	}
	return fmt.Sprintf("there are no runs in %s yet; start one: maker hanoi --disks 8", a.LogDir())
}

// columns are what is shown of runs, with those that are left out first if there is no room for
// all: names begin with the kind. Two are always there, and the task gets what is left.
var columns = []struct {
	title string
	drop  int // the lower the earlier; 0 for never
}{{"RUN", 0}, {"STATE", 0}, {"KIND", 2}, {"STEPS", 1}, {"COST", 3}, {"AGE", 4}, {"TASK", 0}}

// leastTask is how much room a task needs to say something.
const leastTask = 16

// table shows runs in lines of a width; 0 means any. On a narrow screen each has two.
func table(list []runs.Summary, width int, now time.Time) []byte {
	rows := [][]string{nil}
	for _, c := range columns {
		rows[0] = append(rows[0], c.title)
	}
	for _, s := range list {
		rows = append(rows, row(s, now))
	}
	widths := widthsOf(rows)
	if all := sum(widths[:len(widths)-1]) + 2*(len(widths)-1); width > 0 && all+leastTask > width {
		for _, r := range rows { // who writes a run, and which limit stopped it, go first
			r[1], _, _ = strings.Cut(r[1], " (")
		}
		widths = widthsOf(rows)
	}
	kept := func(i, dropped int) bool { return columns[i].drop == 0 || columns[i].drop > dropped }
	dropped := 0
	for ; width > 0 && dropped <= 4; dropped++ {
		room := width
		for i := range len(columns) - 1 {
			if kept(i, dropped) {
				room -= widths[i] + 2
			}
		}
		if room >= leastTask {
			break
		}
	}
	var out bytes.Buffer
	for n, r := range rows {
		if dropped > 4 && n > 0 { // what there is no room for is on a line of its own
			fmt.Fprintf(&out, "%s\n", screen.Cut(r[0]+"  "+r[1], width))
			fmt.Fprintf(&out, "%s\n", screen.Cut("  "+strings.Join(slices.DeleteFunc([]string{r[5], r[4], r[6]}, isEmpty), "  "), width))
			continue
		}
		line := ""
		for i, cell := range r {
			if kept(i, dropped) && (dropped <= 4 || i < 2) {
				line += cell + strings.Repeat(" ", widths[i]-screen.Width(cell)+2)
			}
		}
		if line = strings.TrimRight(line, " "); width > 0 {
			line = screen.Cut(line, width)
		}
		fmt.Fprintln(&out, line)
	}
	return out.Bytes()
}

// widthsOf are how wide columns have to be.
func widthsOf(rows [][]string) []int {
	widths := make([]int, len(columns))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], screen.Width(cell))
		}
	}
	return widths
}

func sum(list []int) int {
	total := 0
	for _, n := range list {
		total += n
	}
	return total
}

func isEmpty(s string) bool { return s == "" }

// nameOf is what a run is found by.
func nameOf(s runs.Summary) string {
	if s.Dir == "" {
		return show.Line(s.Run)
	}
	return show.Line(filepath.Base(s.Dir))
}

// row has a cell for each column.
func row(s runs.Summary, now time.Time) []string {
	if s.Error != "" {
		return []string{nameOf(s), s.State, "", "", "", age(now.Sub(s.Updated)), show.Line(s.Error)}
	}
	cost := runs.DescribeCost(s.CostUSD)
	if s.Simulated {
		cost += " sim"
	}
	state := s.State
	switch {
	case s.PID != 0:
		state = fmt.Sprintf("%s (pid %d)", state, s.PID)
	case state == event.StatusStopped && s.Stop != "":
		state = fmt.Sprintf("%s (%s)", state, s.Stop)
	}
	steps := strconv.Itoa(s.Steps)
	if s.Total > 0 {
		steps += "/" + strconv.Itoa(s.Total)
	}
	return []string{nameOf(s), state, s.Kind, steps, cost, age(now.Sub(s.Started)), report.Short(s.Task)}
}

// watchInterval is how often the runs are looked at again.
const watchInterval = time.Second

// watch shows the runs until ctx ends: all of them anew on a terminal, and those that have
// changed elsewhere.
func (a App) watch(ctx context.Context, f *filter, limit int) error {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	shown := map[string]string{}
	if _, height := a.Size(); height > 0 && !a.JSON() {
		fmt.Fprint(a.Out, strings.Repeat("\n", height-1)) // what is on the screen is kept above it
		defer fmt.Fprintln(a.Out)
	}
	for {
		list, err := a.find(f)
		if err != nil {
			return err
		}
		if width, height := a.Size(); height > 0 && !a.JSON() {
			text := a.none(len(f.states) > 0 || f.since != "") + "\n" + ends
			if len(list) > 0 {
				text = screenful(list, limit, width, height, time.Now())
			}
			fmt.Fprint(a.Err, erase)
			_, err = fmt.Fprint(a.Out, text)
		} else {
			if limit > 0 {
				list = list[:min(limit, len(list))]
			}
			slices.Reverse(list) // the latest news last
			if list = changed(list, shown); len(list) > 0 {
				err = a.print(list, 0, true)
			}
		}
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return a.Interrupt
		}
	}
}

// erase erases the screen in two parts, because tmux keeps a copy of one that is erased as a
// whole.
const erase = "\x1b[H\x1b[K\x1b[B\x1b[J\x1b[H"

// ends is how one leaves the list that is kept up to date.
const ends = "Ctrl-C ends"

// screenful shows as many runs as there is room for in a window.
func screenful(list []runs.Summary, limit, width, height int, now time.Time) string {
	n := min(len(list), height) // each takes a line at least
	if limit > 0 {
		n = min(n, limit)
	}
	text := table(list[:n], width, now)
	for ; n > 1 && bytes.Count(text, []byte("\n")) >= height; text = table(list[:n], width, now) {
		n--
	}
	if rest := len(list) - n; rest > 0 {
		return fmt.Sprintf("%sand %s more; %s", text, report.Thousands(rest), ends)
	}
	return string(text) + ends
}

// changed are the runs that are not as they were shown.
func changed(list []runs.Summary, shown map[string]string) []runs.Summary {
	return slices.DeleteFunc(list, func(s runs.Summary) bool {
		now := fmt.Sprint(s.State, s.Steps, s.Total, s.Error)
		if shown[nameOf(s)] == now {
			return true
		}
		shown[nameOf(s)] = now
		return false
	})
}
