package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
)

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
	a.tasks.Store(run.Kind() == maker.KindDo)
	switch {
	case a.json:
		if err := a.printLines(ctx, run); err != nil {
			return nil, err
		}
	case a.quiet:
	case run.Kind() == hanoi.Name:
		newView(a.Err).watch(run)
	default:
		a.watchSteps(ctx, run)
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
	if a.json {
		data, err := json.Marshal(struct {
			Type string `json:"type"`
			*maker.Result
		}{"result", r})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "%s\n", data)
	} else {
		a.printResult(r)
	}
	if hint := a.nextAction(r); hint != "" {
		fmt.Fprintf(a.Err, "%s\n", hint)
	}
	if code := resultCode(r); code != exitDone {
		return exitError{code}
	}
	return nil
}

// nextAction says what to do about a run that did not complete.
func (a *app) nextAction(r *maker.Result) string {
	resume := "maker resume " + r.Run
	if a.logDir != maker.DefaultLogDir {
		resume = fmt.Sprintf("maker resume --log-dir %s %s", a.logDir, r.Run)
	}
	switch {
	case r.Status == event.StatusCompleted:
		return ""
	case r.Wrong:
		return "a wrong step is committed, so there is nothing to resume; a larger --ahead-by makes that rarer"
	case r.Status == runs.StatusInterrupted:
		return "its process is gone; everything committed is kept. Continue with: " + resume
	case r.Status == event.StatusRunning:
		return ""
	case r.Stop == event.StopCancelled:
		return "interrupted; everything committed is kept. Continue with: " + resume
	case r.Stop == event.StopWaiting:
		return fmt.Sprintf("answer with: %s\nthen continue with: %s", strings.Replace(resume, "resume", "answer", 1), resume)
	case r.Stop == event.StopConfiguration:
		return "once the cause is mended, continue with: " + resume
	case r.Stop == "deadline":
		return "continue with: " + resume
	case r.Status == event.StatusStopped:
		return fmt.Sprintf("raise the budget to continue: %s --%s ...", resume, dashed(r.Stop))
	case r.Status == event.StatusUndecided && r.Kind == maker.KindSolve:
		return "what was not agreed on is asked again with: " + resume
	case r.Status == event.StatusUndecided:
		return fmt.Sprintf("allow more samples to continue: %s --max-samples %d", resume, 2*r.Voting.Rule.MaxSamples)
	}
	switch ahead := a.outlook(r); {
	case ahead.AsksAgain:
		return "you are asked again about the call that you refused with: " + resume
	case ahead.Further:
		return "once the cause is gone, continue with: " + resume
	default:
		return "" // it would end in the same way
	}
}

// outlook is what a resume would do. Where that cannot be told it may help.
func (a *app) outlook(r *maker.Result) runs.Outlook {
	dir, err := runs.Find(a.logDir, r.Run)
	if err != nil {
		return runs.Outlook{Further: true}
	}
	run, err := runs.Open(dir)
	if err != nil {
		return runs.Outlook{Further: true}
	}
	ahead, err := run.Outlook()
	if err != nil {
		return runs.Outlook{Further: true}
	}
	return ahead
}

// countEffects says in a few words what came of the calls that won a vote.
func countEffects(effects []runs.EffectResult) string {
	counts := map[string]int{}
	for _, e := range effects {
		counts[e.Status]++
	}
	var parts []string
	for _, status := range []string{runs.EffectDone, runs.EffectFailed, runs.EffectRefused, runs.EffectUnknown} {
		if n := counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(n), status))
		}
	}
	return strings.Join(parts, ", ")
}

// printResult shows a result to people.
func (a *app) printResult(r *maker.Result) {
	w := a.Out
	fmt.Fprintf(w, "%s: %s\n", oneLine(r.Task), r.Status)
	if r.Reason != "" {
		fmt.Fprintf(w, "  reason      %s\n", oneLine(r.Reason))
	}
	fmt.Fprintf(w, "  run         %s\n", r.Run)
	fmt.Fprintf(w, "  model       %s\n", runs.DescribeModel(r))
	if r.Kind == maker.KindCalibrate {
		printMeasured(w, r)
		return
	}
	fmt.Fprintf(w, "  voting      %s\n", runs.DescribeRule(r.Voting.Rule))
	for _, s := range r.Sessions {
		fmt.Fprintf(w, "    from step %s: %s, %s\n", thousands(s.Step), s.Model, runs.DescribeRule(s.Rule))
	}
	if r.StepsTotal > 0 {
		fmt.Fprintf(w, "  steps       %s of %s\n", thousands(r.StepsCompleted), thousands(r.StepsTotal))
	} else {
		fmt.Fprintf(w, "  steps       %s\n", thousands(r.StepsCompleted))
	}
	if len(r.Effects) > 0 {
		fmt.Fprintf(w, "  calls       %s\n", countEffects(r.Effects))
	}
	if r.Solve != nil {
		printSolve(w, r)
	}
	v := r.Voting
	fmt.Fprintf(w, "  samples     %s, %.3f per step, at most %d for one\n", thousands(v.Samples), v.SamplesPerStep, v.MostSamples)
	of := "steps"
	if r.Solve != nil {
		of = "questions"
	}
	fmt.Fprintf(w, "  contested   %s %s, smallest margin %d\n", thousands(v.Contested), of, v.LeastMargin)
	fmt.Fprintf(w, "  discarded   %s red flags, %s faults in these %s\n", thousands(v.RedFlagged), thousands(v.Faults), of)
	if f := r.FailedStep; f != nil {
		fmt.Fprintf(w, "  failed      %s: %s samples, %s red flags, %s faults\n", stepOf(r.Kind, f.Step),
			thousands(f.Voting.Samples), thousands(f.Voting.RedFlagged), thousands(f.Voting.Faults))
	}
	printCost(w, r)
	const most = 10
	shown := 0
	for _, s := range r.Steps {
		if !s.Voting.Contested() {
			continue
		}
		if shown++; shown > most {
			break
		}
		if shown == 1 {
			fmt.Fprintf(w, "\nContested steps (votes for each answer):\n")
		}
		fmt.Fprintf(w, "  %-14s %s after %d samples, %d flagged\n", stepOf(r.Kind, s.Step), s.Voting.Split(), s.Voting.Samples, s.Voting.RedFlagged)
	}
	if rest := v.Contested - most; rest > 0 {
		fmt.Fprintf(w, "  and %s more: maker show %s --contested\n", thousands(rest), r.Run)
	}
	if r.Kind == maker.KindSolve {
		a.printAnswer(r)
	} else if r.Kind == maker.KindDo {
		a.printOutcome(r)
	} else if r.Solve == nil && r.Kind != hanoi.Name && r.Status == event.StatusCompleted {
		if out := runs.DescribeOutput(r.Output); out != "" {
			fmt.Fprintf(w, "\n%s\n", printable(strings.TrimRight(out, "\n")))
		}
	}
}

// printCost shows what a run took.
func printCost(w io.Writer, r *maker.Result) {
	fmt.Fprintf(w, "  cost        %s for %s calls, %s tokens\n", runs.DescribeCost(r.TotalCostUSD),
		thousands(int(r.Usage.Calls)), thousands(int(r.Usage.Tokens.Total())))
	if u := r.Usage; u.HeldUSD > 0 || u.Abandoned > 0 {
		fmt.Fprintf(w, "  held        up to %s more for %s calls that were given up and may be billed\n",
			runs.DescribeCost(&u.HeldUSD), thousands(int(u.Abandoned)))
	}
	fmt.Fprintf(w, "  time        %s\n", (time.Duration(r.TotalDurationMS) * time.Millisecond).Round(time.Millisecond))
}

// outputOf is the output of a run with its content.
func (a *app) outputOf(r *maker.Result) event.Value {
	if r.Output.Ref == nil {
		return r.Output
	}
	run, err := a.open(r.Run)
	if err != nil {
		return r.Output
	}
	loaded, err := run.Load(r.Output)
	if err != nil {
		return r.Output
	}
	return loaded
}

// loadFrom returns a value of the run in a folder with its content.
func loadFrom(dir string, v event.Value) (event.Value, error) {
	run, err := runs.Open(dir)
	if err != nil {
		return v, err
	}
	return run.Load(v)
}
