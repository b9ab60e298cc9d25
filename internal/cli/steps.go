package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// watchSteps writes a line for everything that happens and, on a terminal, a live
// one below them.
func (a *app) watchSteps(ctx context.Context, run *maker.Run) {
	v := newView(a.Err)
	a.view.Store(v)
	fmt.Fprintf(a.Err, "run %s\n", run.ID())
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
		line, listed := describe(run.Kind(), rec.Event, titles), v.listed(rec.Event, load)
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
	a.view.Store(nil)
}

// line writes a line above the live one.
func (v *view) line(text string) {
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
func (v *view) listed(e event.Event, load func(event.Value) (event.Value, error)) bool {
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
func (v *view) liveLine(run *maker.Run, stop <-chan struct{}) {
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
					text += "; " + oneLine(p.Trouble)
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

// describe is an event of a kind of run in one line for people; empty if they need
// not see it.
func describe(kind string, e event.Event, titles map[int]string) string {
	switch e := e.(type) {
	case event.TaskSubmitted:
		return saySandbox(e.Setup)
	case event.RunResumed:
		return saySandbox(e.Setup)
	case event.PlanCreated:
		return fmt.Sprintf("plan     made, attempt %d%s", e.Attempt+1, votesOf(e.Voting))
	case event.ValidationPassed:
		if e.Score != nil {
			return fmt.Sprintf("plan     passed its checks, quality %.2f", *e.Score)
		}
		return "plan     passed its checks"
	case event.ValidationFailed:
		lines := []string{fmt.Sprintf("plan     rejected: %d problems", len(e.Checks))}
		for _, c := range e.Checks {
			lines = append(lines, fmt.Sprintf("         - %s (%s)", oneLine(c.Message), c.Name))
		}
		return strings.Join(lines, "\n")
	case event.ReplanRequested:
		return fmt.Sprintf("plan     anew, because of %s", oneLine(e.Reason))
	case event.StepStarted:
		titles[e.Step] = e.Title
		return fmt.Sprintf("%s %s …", stepColumn(kind, e.Step), oneLine(e.Title))
	case event.StepCompleted:
		return fmt.Sprintf("%s %s: done%s", stepColumn(kind, e.Step), oneLine(e.Title), votesOf(e.Voting))
	case event.StepFailed:
		return fmt.Sprintf("%s %s: FAILED: %s", stepColumn(kind, e.Step), oneLine(titles[e.Step]), oneLine(e.Reason))
	case event.EffectClaimed:
		again := ""
		if e.Again {
			again = " again"
		}
		return fmt.Sprintf("  call   %s %s%s (%s)", e.Tool, brief(e.Input), again, strings.TrimPrefix(votesOf(e.Voting)+", "+oneLine(e.Approved), ", "))
	case event.EffectDone:
		if e.IsError {
			return fmt.Sprintf("         failed: %s", brief(e.Result))
		}
		return ""
	case event.EffectReleased:
		return fmt.Sprintf("         %s was not called: the run was ended before", e.Tool)
	case event.EffectRefused:
		return fmt.Sprintf("  call   %s %s refused: %s", e.Tool, brief(e.Input), oneLine(e.Reason))
	case event.EffectUnknown:
		return fmt.Sprintf("  call   %s %s: OUTCOME UNKNOWN: %s", e.Tool, brief(e.Input), oneLine(e.Reason))
	case event.ClarificationRequested:
		return fmt.Sprintf("  asks   %s", oneLine(e.Text))
	case event.ClarificationProvided:
		return fmt.Sprintf("  answer %s (%s)", oneLine(e.Answer), e.By)
	case event.QuestionChanged:
		return "         " + askedDifferently(e.Changed)
	case event.ContextCompacted:
		return fmt.Sprintf("         context compacted from %d to %d tokens", e.Before, e.After)
	default:
		return describeSolve(e)
	}
}

// askedDifferently says what of a question that is decided a resume would now ask in
// another way.
func askedDifferently(parts []string) string {
	return "asked differently now: " + oneLine(strings.Join(parts, ", "))
}

// stepColumn is stepOf at the beginning of a line, above others.
func stepColumn(kind string, step int) string {
	if kind == maker.KindDo {
		return fmt.Sprintf("task %-3d", step+1)
	}
	return fmt.Sprintf("step %-3d", step)
}

func saySandbox(s event.Setup) string {
	if s.Sandbox == "" {
		return ""
	}
	return "sandbox  " + s.Sandbox
}

// votesOf says how a decision came about.
func votesOf(v event.Voting) string {
	if v.Samples == 0 {
		return ""
	}
	text := fmt.Sprintf(", votes %s", v.Split())
	if v.Split() == "" {
		text = ", no votes"
	}
	if v.RedFlagged > 0 {
		text += fmt.Sprintf(", %d flagged", v.RedFlagged)
	}
	return text
}

// brief is a value in a few words.
func brief(v event.Value) string {
	const most = 120
	if v.Ref != nil {
		return fmt.Sprintf("(%d bytes)", v.Ref.Bytes)
	}
	text := v.Compact()
	if strings.HasPrefix(text, `"`) {
		text = v.Text()
	}
	text = oneLine(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// printable is a text of several lines that others wrote, safe to show.
func printable(s string) string { return show.Text(s) }
