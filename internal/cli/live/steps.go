package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// WatchSteps writes a line for everything that happens and, on a terminal, a live
// one below them.
func (v *View) WatchSteps(ctx context.Context, run *maker.Run) {
	fmt.Fprintf(v.w, "run %s\n", run.ID())
	sayRule(v.w, run.Rule())
	stop := make(chan struct{})
	live := make(chan struct{})
	go func() {
		defer close(live)
		v.liveLine(run, stop)
	}()
	load := func(v event.Value) (event.Value, error) { return v, nil }
	if reader, err := runs.Open(run.Dir()); err == nil {
		load = reader.Load
	}
	titles := map[int]string{}
	for rec, err := range run.Events(context.WithoutCancel(ctx)) {
		if err != nil {
			break // the result will say what is wrong
		}
		line, listed := report.Describe(run.Form(), rec.Event, titles), v.listed(rec.Event, load)
		if line != "" && !listed {
			v.line(line)
		}
		if _, ok := rec.Event.(event.ClarificationRequested); ok {
			select {
			case v.asked <- struct{}{}:
			default:
			}
		}
	}
	close(stop)
	<-live
}

// line writes a line above the live one.
func (v *View) line(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.paused {
		v.waiting = append(v.waiting, text)
		return
	}
	if v.lines == 0 {
		fmt.Fprintf(v.w, "%s\n", text)
		return
	}
	// In one write, so that what is live does not go away for a moment.
	fmt.Fprintf(v.w, "\x1b[%dA%s\x1b[K\n%s\x1b[J", v.lines, strings.ReplaceAll(text, "\n", "\x1b[K\n"), v.drawn)
}

// listed takes an event into the list of tasks and reports whether it is enough to
// show it there. Without a terminal every event has its line.
func (v *View) listed(e event.Event, load func(event.Value) (event.Value, error)) bool {
	if v.width == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list.take(e, load)
	return v.list.shows(e)
}

// liveLine keeps a line with the state of the run on a terminal, and above it the
// list of its tasks, if it has one.
func (v *View) liveLine(run *maker.Run, stop <-chan struct{}) {
	if v.width == nil {
		<-stop
		return
	}
	tick := time.NewTicker(v.period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			v.mu.Lock()
			if !v.paused {
				p := run.Progress()
				done := fmt.Sprintf("%d steps", p.Steps)
				if len(v.list.tasks) > 0 {
					done = countTasks(v.list.tasks)
				}
				text := fmt.Sprintf("%s, %d samples, %d flagged, %d faults, %s, %s", done, p.Samples,
					p.RedFlagged, p.Faults, runs.DescribeCost(p.Spent.CostUSD()), p.Elapsed.Round(time.Second))
				if p.Trouble != "" {
					text += "; " + show.Line(p.Trouble)
				}
				v.redraw(append(v.list.lines(v.height()-3, v.paint), v.paint("36", text)))
			}
			v.mu.Unlock()
		case <-stop:
			v.mu.Lock()
			v.clear()
			v.mu.Unlock()
			return
		}
	}
}
