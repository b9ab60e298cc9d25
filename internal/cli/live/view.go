// Package live shows a run while it goes on: on a terminal by a [screen.Screen], elsewhere
// by plain lines.
package live

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/internal/cli/tty"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// A View shows the progress of a run.
type View struct {
	w      io.Writer
	screen *screen.Screen    // nil if there is no terminal
	end    func(cause error) // ends the run
	plan   func(text string) string
	begun  bool
	next   uint64 // the number of the first event that has no line yet

	mu      sync.Mutex
	paused  bool     // somebody else is writing
	waiting []string // lines that came meanwhile
	halt    bool     // the person wants the run to pause

	asked chan struct{} // gets one for each question that was announced
}

// New returns a view that is written to w, which is on a terminal or not. Keys are read
// from the keyboard, if there is one; end ends the run.
func New(w io.Writer, keyboard *tty.Terminal, end func(cause error)) *View {
	v := &View{w: w, end: end, asked: make(chan struct{}, 64)}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		v.screen = screen.New(f, keyboard)
	}
	return v
}

// OnPlan has plans printed before they are carried out, in the words that f finds.
func (v *View) OnPlan(f func(text string) string) { v.plan = f }

// Pause gives the terminal to whoever asks something until [View.Resume], once the question
// that is about to be put was announced: its event may still be on its way.
func (v *View) Pause() {
	select {
	case <-v.asked:
	case <-time.After(time.Second):
	}
	if v.screen != nil {
		v.screen.Release()
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = true
}

// Resume lets the view go on.
func (v *View) Resume() {
	if v.screen != nil {
		v.screen.Restore()
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = false
	for _, line := range v.waiting {
		fmt.Fprintf(v.w, "%s\n", line)
	}
	v.waiting = nil
}

// Abandon puts the terminal right because the program is about to end at once.
func (v *View) Abandon() {
	if v.screen != nil {
		v.screen.Abandon()
	}
}

// Watch shows a run until it has ended. It reports whether the person here has paused
// it.
func (v *View) Watch(ctx context.Context, run *maker.Run) (halted bool) {
	if !v.begun {
		v.begun = true
		v.print("run " + run.ID())
		if !hasLines(run) {
			v.print(report.Voting(run.Form(), run.Rule())) // elsewhere the first event says it
		}
	}
	if v.screen == nil {
		v.watchPlainly(ctx, run)
		return false
	}
	v.halt = false
	v.screen.Begin(headOf(run), screen.Controls{Pause: v.pauseRun, Cancel: func() { v.end(maker.ErrInterrupted) }}, run.Progress, func() bool { return ctx.Err() != nil })
	if hasLines(run) {
		v.lines(ctx, run)
	}
	<-run.Done()
	v.mu.Lock()
	halted = v.halt
	v.mu.Unlock()
	if result, err := run.Result(); err != nil || result.Stop != event.StopPaused {
		halted = false // it came to its end before
	}
	v.screen.End(!halted)
	return halted
}

// Hold waits until the person has decided whether a run that is paused goes on.
func (v *View) Hold(ctx context.Context) bool { return v.screen.Hold(ctx.Done()) }

func (v *View) pauseRun() {
	v.mu.Lock()
	v.halt = true
	v.mu.Unlock()
	v.end(maker.ErrPaused)
}

// headOf is what does not change about a run.
func headOf(run *maker.Run) screen.Head {
	h := screen.Head{Run: run.ID(), Task: run.Task(), Form: run.Form()}
	if r := run.Rule(); r.Strategy != vote.None && r.Strategy != "" && run.Form() != event.FormMeasurement {
		h.Rule = runs.DescribeRule(r)
	}
	return h
}

// hasLines reports whether what happens in a run is told line by line. In others every step
// is like the one before.
func hasLines(run *maker.Run) bool {
	return !run.Form().Alone()
}

// looksALine is how many looks at a run there are for each plain line.
const looksALine = int(10 * time.Second / screen.Look)

func (v *View) watchPlainly(ctx context.Context, run *maker.Run) {
	if hasLines(run) && run.Form() != event.FormMeasurement {
		v.lines(ctx, run)
		return
	}
	if hasLines(run) {
		var telling sync.WaitGroup
		telling.Go(func() { v.lines(ctx, run) })
		defer telling.Wait()
	}
	tick := time.NewTicker(screen.Look)
	defer tick.Stop()
	var pace screen.Pace
	warned := hasLines(run) // there the event says it
	warn := func(p maker.Progress) {
		if p.Futile != nil && !warned {
			warned = true
			v.print(report.Futile(p.Futile))
		}
	}
	for looks := 0; ; looks++ {
		p := run.Progress()
		warn(p)
		pace.Update(time.Now(), p.Session, screen.Outage(p))
		if looks > 0 && looks%looksALine == 0 {
			v.draw(run.Form(), p, pace.Speed())
		}
		select {
		case <-tick.C:
		case <-run.Done():
			warn(run.Progress())
			return
		}
	}
}

// lines writes a line for everything that happens, or has the screen show it.
func (v *View) lines(ctx context.Context, run *maker.Run) {
	load := func(v event.Value) (event.Value, error) { return v, nil }
	if reader, err := runs.Open(run.Dir()); err == nil {
		load = reader.Load
	}
	titles := map[int]string{}
	for rec, err := range run.Events(context.WithoutCancel(ctx)) {
		if err != nil {
			break // the result will say what is wrong
		}
		line := report.Describe(run.Form(), rec.Event, titles)
		listed := v.screen != nil && v.screen.Take(rec.Event, load)
		if rec.Seq < v.next {
			continue // it was told before the run was paused
		}
		v.next = rec.Seq + 1
		if !listed {
			v.print(line)
		}
		if e, ok := rec.Event.(event.ValidationPassed); ok && v.plan != nil {
			if text, err := load(e.Plan); err == nil {
				v.print(v.plan(text.Text()))
			}
		}
		if _, ok := rec.Event.(event.ClarificationRequested); ok {
			select {
			case v.asked <- struct{}{}:
			default:
			}
		}
	}
}

// print writes a line, unless it is empty.
func (v *View) print(text string) {
	if text == "" {
		return
	}
	if v.screen != nil {
		v.screen.Print(text)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.paused {
		v.waiting = append(v.waiting, text)
		return
	}
	fmt.Fprintf(v.w, "%s\n", text)
}

// outlook is how a run stands whose margins adapt, and how it is thought to end.
func outlook(o *adaptive.Outlook) string {
	to := ""
	if o.VotesToCome > 0 {
		to = fmt.Sprintf(", about %s votes to come", report.Thousands(o.VotesToCome))
	}
	if o.USDToCome != nil && to != "" {
		to += " for " + runs.DescribeCost(o.USDToCome)
	}
	text := fmt.Sprintf("P(all likeliest) %.1f %% so far, %.1f %% at the end, %.2g expected wrong%s", 100*o.Bound, 100*o.Forecast, o.ExpectedWrong, to)
	if o.Dearest != "" {
		text += ", most votes: " + show.Line(o.Dearest)
	}
	return text
}

// draw writes how a run stands in a line, and what is wrong in another.
func (v *View) draw(form event.Form, p maker.Progress, perSecond float64) {
	eta := "unknown"
	if perSecond > 0 && p.Trouble == "" {
		eta = time.Duration(float64(p.Total-p.Steps) / perSecond * float64(time.Second)).Round(time.Second).String()
	}
	name, votes := "samples", ""
	if form != event.FormMeasurement {
		perStep := float64(p.Samples) / float64(max(p.Session, 1))
		name, votes = "steps", fmt.Sprintf("%.2f samples/step, %s contested, ", perStep, report.Thousands(p.Contested))
	}
	counts := fmt.Sprintf("%s/%s %s, %s %s/s, ETA %s", report.Thousands(p.Steps), report.Thousands(p.Total), name, rate(perSecond), name, eta)
	votes += fmt.Sprintf("%s flagged, %s, cost %s", report.Thousands(p.RedFlagged), report.Count(p.Faults, "fault"), runs.DescribeCost(p.Spent.CostUSD()))
	if p.Outlook != nil {
		votes += "; " + outlook(p.Outlook)
	}
	for _, more := range []string{screen.Known(p), screen.Shares(p)} {
		if more != "" {
			votes += "; " + more
		}
	}
	v.print(fmt.Sprintf("%5.1f %%  %s; %s", percent(p), counts, votes))
	if trouble := show.Line(p.Trouble); trouble != "" {
		v.print("        " + trouble)
	}
}

func percent(p maker.Progress) float64 {
	if p.Total == 0 {
		return 0
	}
	return 100 * float64(p.Steps) / float64(p.Total)
}

func rate(perSecond float64) string {
	if perSecond < 10 {
		return fmt.Sprintf("%.1f", perSecond)
	}
	return report.Thousands(int(perSecond))
}
