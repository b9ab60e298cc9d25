package manage

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/runs"
)

// followInterval is how often people hear of a run that has a step for every blink.
const followInterval = 2 * time.Second

// Follow shows what happens in a run, whichever process writes it, until no process does,
// and then how it stands. With --json it is the events, and then the result.
func Follow(ctx context.Context, a App, run *runs.Run) error {
	fmt.Fprintf(a.Err, "run %s\n", run.ID())
	follow := a.describe
	if a.JSON() {
		follow = a.printLines
	}
	if err := follow(ctx, run); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return a.Interrupt
	}
	r, err := run.Result()
	if err != nil {
		return err
	}
	return a.Finish(r)
}

// printLines prints the events as they are in the log.
func (a App) printLines(ctx context.Context, run *runs.Run) error {
	for line, err := range run.FollowLines(ctx, 0) {
		if err == nil {
			_, err = fmt.Fprintf(a.Out, "%s\n", line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describe tells people what happens.
func (a App) describe(ctx context.Context, run *runs.Run) error {
	t := Teller{Out: a.Err, Form: run.Form(), Answer: "maker answer " + run.ID()}
	for rec, err := range run.Follow(ctx, 0) {
		if err != nil {
			return err
		}
		t.Take(rec)
	}
	return nil
}

// A Teller tells people what happens in a run, event by event.
type Teller struct {
	Out    io.Writer
	Form   event.Form
	Answer string // the command with which people answer

	titles  map[int]string
	asked   map[string]bool
	counted progress
}

// Take takes the next event.
func (t *Teller) Take(rec event.Record) {
	if t.titles == nil {
		t.titles, t.asked = map[int]string{}, map[string]bool{}
	}
	if t.Form.Alone() {
		t.counted.take(t.Out, rec)
		return
	}
	if line := report.Describe(t.Form, rec.Event, t.titles); line != "" {
		fmt.Fprintln(t.Out, line)
	}
	if e, ok := rec.Event.(event.ClarificationRequested); ok && !t.asked[e.Question] && time.Since(rec.Time) < time.Minute {
		t.asked[e.Question] = true
		fmt.Fprintf(t.Out, "         answer with: %s\n", t.Answer)
	}
}

// progress counts the steps of a long run.
type progress struct {
	steps, total, contested int
	known, right            int // of the answers that are known
	said                    time.Time
}

// take counts an event, and says how it stands every now and then.
func (p *progress) take(w io.Writer, rec event.Record) {
	switch e := rec.Event.(type) {
	case event.TaskSubmitted:
		p.total = e.Steps
	case event.StepCompleted:
		p.steps++
		if e.Voting.Contested() {
			p.contested++
		}
		if e.Right != nil {
			p.known++
			if *e.Right {
				p.right++
			}
		}
	default:
		if line := report.Describe(event.FormChain, rec.Event, map[int]string{}); line != "" {
			fmt.Fprintln(w, line)
		}
	}
	// What was before is counted, and said with the first thing that happens now.
	if time.Since(p.said) < followInterval || p.steps == 0 || time.Since(rec.Time) > followInterval {
		return
	}
	p.said = time.Now()
	line := fmt.Sprintf("%s/%s steps, %s contested", report.Thousands(p.steps), report.Thousands(p.total), report.Thousands(p.contested))
	if known := screen.Known(runs.Progress{Known: p.known, Right: p.right}); known != "" {
		line += "; " + known
	}
	fmt.Fprintln(w, line)
}
