package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/consent"
	"github.com/maker-mdap/maker/internal/cli/live"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/runs"
)

// start begins a run with the settings of a command and follows it.
func (a *app) start(ctx context.Context, s *settings, begin func(*maker.Engine) (*maker.Run, error)) error {
	engine, err := s.engine(a)
	if err != nil {
		return err
	}
	run, err := begin(engine)
	if err != nil {
		return err
	}
	return a.follow(ctx, run)
}

// follow shows a run until it ends, prints its result and returns its exit code
// as an error.
func (a *app) follow(ctx context.Context, run *maker.Run) error {
	result, err := a.watch(ctx, run)
	if err != nil {
		return err
	}
	return a.finish(result)
}

// watch shows a run until it ends, in the way of its kind.
func (a *app) watch(ctx context.Context, run *maker.Run) (*maker.Result, error) {
	if a.hold != nil { // somebody else shows it
		if _, err := run.Result(); err != nil {
			return nil, err
		}
		return nil, exitError{exitDone}
	}
	a.tasks.Store(run.Form() == event.FormTasks)
	if run.Form() == event.FormRecords {
		collectAt(100) // hundreds are under way: more is alive, and models take most of the time
	}
	switch {
	case a.json:
		if err := a.printLines(ctx, run); err != nil {
			return nil, err
		}
	case a.quiet:
	default:
		v := live.New(a.Err, a.keys(), a.end)
		if a.saysPlan {
			v.OnPlan(a.planLines)
		}
		a.view.Store(v)
		a.shown.Do(func() { close(a.watched) })
		defer a.view.Store(nil)
		for v.Watch(ctx, run) {
			if ctx = a.interruptible(ctx); !v.Hold(ctx) {
				break
			}
			again, err := a.engines[len(a.engines)-1].Resume(ctx, run.Dir(), nil)
			if err != nil {
				return nil, err
			}
			run = again
		}
	}
	return run.Result()
}

// printLines prints the events of a run as they come.
func (a *app) printLines(ctx context.Context, run *maker.Run) error {
	for line, err := range run.Lines(context.WithoutCancel(ctx)) {
		if err != nil {
			return err
		}
		// A reader that has gone away must not end the run: its log stays.
		if _, err := fmt.Fprintf(a.Out, "%s\n", line); err != nil {
			break
		}
	}
	return nil
}

// finish prints a result and returns its exit code.
func (a *app) finish(r *maker.Result) error {
	if err := a.sayResult(r); err != nil {
		return err
	}
	if hint := a.nextAction(r); hint != "" {
		fmt.Fprintf(a.Err, "%s\n", hint)
	}
	if code := resultCode(r); code != exitDone {
		return exitError{code}
	}
	return nil
}

// sayResult prints a result, and what the run has changed.
func (a *app) sayResult(r *maker.Result) error {
	var err error
	switch {
	case a.json:
		err = a.printJSON(struct {
			Type string `json:"type"`
			*maker.Result
		}{"result", r})
	case r.Kind == maker.KindAsk:
		err = a.finishAsk(r)
	case r.Form == event.FormRecords:
		err = a.finishRecords(r)
	default:
		report.Result(a.Out, r, a.outputOf(r))
	}
	if err == nil {
		a.sayChanges(r)
	}
	return err
}

// sayChanges lists what a run has changed.
func (a *app) sayChanges(r *maker.Result) {
	if a.json || a.quiet || len(r.Effects) == 0 {
		return
	}
	if run, err := a.open(r.Run); err == nil {
		consent.Changes(a.Err, r, run.Dir(), run.Workspace())
	}
}

// resumeCommand is how a run is continued.
func (a *app) resumeCommand(run string) string {
	if a.logDir != maker.DefaultLogDir {
		return fmt.Sprintf("maker resume --log-dir %s %s", a.logDir, run)
	}
	return "maker resume " + run
}

// onTheServer is how a session of the gateway goes on.
func onTheServer(run string) string {
	return fmt.Sprintf("a session goes on where it is asked: resume it on the page of maker serve, or by POST /api/runs/%s/resume", run)
}

// nextAction says what to do about a run that did not complete.
func (a *app) nextAction(r *maker.Result) string {
	resume := a.resumeCommand(r.Run)
	switch {
	case r.Status == event.StatusCompleted:
		return ""
	case r.Wrong:
		return "a wrong step is committed, so there is nothing to resume; a larger --ahead-by makes that rarer"
	case r.Status == event.StatusRunning:
		return ""
	case r.Form == event.FormRequests && r.Status == runs.StatusInterrupted:
		return "its process is gone; everything committed is kept. It goes on with its next request to maker serve"
	case r.Form == event.FormRequests:
		return onTheServer(r.Run)
	case r.Status == runs.StatusInterrupted:
		return "its process is gone; everything committed is kept. Continue with: " + resume
	case r.Stop == event.StopCancelled && r.Reason != maker.ErrInterrupted.Error():
		return r.Reason + "; everything committed is kept. If it is wanted after all: " + resume
	case r.Stop == event.StopCancelled, r.Stop == event.StopPaused:
		return r.Reason + "; everything committed is kept. Continue with: " + resume
	case r.Stop == event.StopDeclined:
		return "nothing was carried out; you are asked about the plan again with: " + resume
	case r.Stop == event.StopWaiting:
		return answerFirst(resume)
	case r.Stop == event.StopConfiguration:
		return "once the cause is mended, continue with: " + resume
	case r.Stop == "deadline":
		return "continue with: " + resume
	case r.Stop == event.StopFutile:
		return "go on all the same with: " + resume + " --on-futile warn"
	case r.Status == event.StatusStopped:
		return fmt.Sprintf("raise the budget to continue: %s --%s ...", resume, strings.ReplaceAll(r.Stop, "_", "-"))
	case r.Status == event.StatusUndecided && r.Form == event.FormRecords:
		return fmt.Sprintf("ask about those again with: %s --retry failed,undecided --max-samples %d", resume, 2*r.Voting.Rule.MaxSamples)
	case r.Status == event.StatusUndecided && r.Form == event.FormTree:
		return "what was not agreed on is asked again with: " + resume
	case r.Status == event.StatusUndecided && strings.Contains(r.Reason, event.Uncompared):
		return "name a model that can compare texts, or mend the cause, to continue: " + resume + " --model-cheap ..."
	case r.Status == event.StatusUndecided:
		return fmt.Sprintf("allow more samples to continue: %s --max-samples %d", resume, 2*r.Voting.Rule.MaxSamples)
	}
	switch ahead := a.outlook(r); {
	case a.asks(r): // whether a call took effect, which nobody knows
		return answerFirst(resume)
	case ahead.AsksAgain:
		return "you are asked again about the call that you refused with: " + resume
	case ahead.Further:
		return "once the cause is gone, continue with: " + resume
	case r.Kind == "script" && strings.Contains(r.Reason, event.NoArgument):
		_, missing, _ := strings.Cut(r.Reason, event.NoArgument)
		missing, _, _ = strings.Cut(missing, "\n") // the calls that led there
		return "the arguments of a run stay as they are; start anew with: maker script FILE.star --arg " + missing
	case r.Form == event.FormScript:
		return "once the script is mended, continue with: " + resume + " --script FILE.star"
	default:
		return "" // it would end in the same way
	}
}

// answerFirst says what to do about a run that needs the person.
func answerFirst(resume string) string {
	return fmt.Sprintf("answer with: %s\nthen continue with: %s", strings.Replace(resume, "resume", "answer", 1), resume)
}

// asks reports whether a run has a question to the person that is open.
func (a *app) asks(r *maker.Result) bool {
	run, err := a.open(r.Run)
	if err != nil {
		return false
	}
	open, err := run.Waiting()
	return err == nil && len(open) > 0
}

// outlook is what a resume would do. Where that cannot be told it may help.
func (a *app) outlook(r *maker.Result) runs.Outlook {
	if run, err := a.open(r.Run); err == nil {
		if ahead, err := run.Outlook(); err == nil {
			return ahead
		}
	}
	return runs.Outlook{Further: true}
}

// outputOf is the output of a run with its content.
func (a *app) outputOf(r *maker.Result) event.Value {
	if r.Output.Ref == nil {
		return r.Output
	}
	if run, err := a.open(r.Run); err == nil {
		if loaded, err := run.Load(r.Output); err == nil {
			return loaded
		}
	}
	return r.Output
}

// loadFrom returns a value of the run in a folder with its content.
func loadFrom(dir string, v event.Value) (event.Value, error) {
	run, err := runs.Open(dir)
	if err != nil {
		return v, err
	}
	return run.Load(v)
}
