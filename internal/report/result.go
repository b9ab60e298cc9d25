package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// Result shows a result to people. The output is that of the run, with its content.
func Result(w io.Writer, r *runs.Result, output event.Value) {
	printHead(w, r)
	if r.Form == event.FormMeasurement {
		printMeasured(w, r)
		return
	}
	printRule(w, r)
	if r.StepsTotal > 0 {
		fmt.Fprintf(w, "  steps       %s of %s\n", Thousands(r.StepsCompleted), Thousands(r.StepsTotal))
	} else {
		fmt.Fprintf(w, "  steps       %s\n", Thousands(r.StepsCompleted))
	}
	if len(r.Effects) > 0 {
		fmt.Fprintf(w, "  calls       %s\n", countEffects(r.Effects))
	}
	if r.Solve != nil {
		printSolve(w, r)
	}
	v := r.Voting
	if v.Samples > 0 || len(r.Open) == 0 { // otherwise the open votes are all there is
		printVoting(w, r)
	}
	for i := range r.Open {
		fmt.Fprintf(w, "  open        %s: %s\n", StepOf(r.Form, r.Open[i].Step), show.Line(runs.DescribeOpen(&r.Open[i])))
		for _, line := range runs.DescribeVotes(r.Open[i].Voting) {
			fmt.Fprintf(w, "              %s\n", line)
		}
	}
	for i := range r.Unsettled[:min(len(r.Unsettled), most)] {
		f := &r.Unsettled[i]
		fmt.Fprintf(w, "  %-11s %s: %s samples, %s red flags, %s faults\n", f.Label(), StepOf(r.Form, f.Step),
			Thousands(f.Voting.Samples), Thousands(f.Voting.RedFlagged), Thousands(f.Voting.Faults))
		Votes(w, f)
	}
	if rest := len(r.Unsettled) - most; rest > 0 {
		fmt.Fprintf(w, "  failed      %s more: maker show %s --contested\n", Thousands(rest), r.Run)
	}
	printSettled(w, r)
	printUnvoted(w, r)
	printProved(w, r)
	printCost(w, r)
	contests := r.Contests()
	for i := range contests[:min(len(contests), most)] {
		if i == 0 {
			fmt.Fprintf(w, "\nContested %s (votes for each answer):\n", r.VotedOn())
		}
		text := Contest(&contests[i])
		if r.Form == event.FormScript && contests[i].Title != "" { // its steps are not listed anywhere else
			text = clip.Words(contests[i].Title, 40) + ": " + text
		}
		fmt.Fprintf(w, "  %-14s %s\n", StepOf(r.Form, contests[i].Step), clip.Line(text, 120))
	}
	if rest := v.Contested - most; rest > 0 {
		fmt.Fprintf(w, "  and %s more: maker show %s --contested\n", Thousands(rest), r.Run)
	}
	if r.Form == event.FormTree {
		printAnswer(w, output)
	} else if r.Form == event.FormTasks {
		printOutcome(w, r, output)
	} else if r.Solve == nil && r.Kind != hanoi.Name && r.Status == event.StatusCompleted {
		if out := runs.DescribeOutput(r.Output); out != "" {
			fmt.Fprintf(w, "\n%s\n", show.Text(strings.TrimRight(out, "\n")))
		}
	}
}

// printHead says which run it is and what came of it.
func printHead(w io.Writer, r *runs.Result) {
	fmt.Fprintf(w, "%s: %s\n", show.Line(r.Task), r.Status)
	if r.Reason != "" {
		fmt.Fprintf(w, "  reason      %s\n", show.Line(r.Reason))
	}
	fmt.Fprintf(w, "  run         %s\n", r.Run)
	fmt.Fprintf(w, "  model       %s\n", runs.DescribeModel(r))
}

// printRule says how it voted, in each session that did so differently.
func printRule(w io.Writer, r *runs.Result) {
	fmt.Fprintf(w, "  voting      %s\n", runs.DescribeVoting(r))
	for _, s := range r.Sessions {
		fmt.Fprintf(w, "    from step %s: %s, %s\n", Thousands(s.Step), s.Model, runs.DescribeRule(s.Rule))
	}
}

// printProved says what the run proved, and that it was futile if it went on all the same:
// otherwise that is why it ended.
func printProved(w io.Writer, r *runs.Result) {
	if r.Certificate == nil {
		return
	}
	fmt.Fprintf(w, "  proved      %s\n", describeCertificate(r.Certificate))
	if f := r.Certificate.Votes.Futile; f != nil && r.Stop != event.StopFutile {
		fmt.Fprintf(w, "  futile      %s; --on-futile stop ends a run there\n", f.Says())
	}
}

// Records shows what came of the records of a table.
func Records(w io.Writer, r *runs.Result, p *runs.RecordParams) {
	printHead(w, r)
	printRule(w, r)
	fmt.Fprintf(w, "  records     %s of %s answered", Thousands(r.StepsCompleted), Thousands(p.Records-p.Same))
	if p.Same > 0 {
		fmt.Fprintf(w, ", %s more are the same as one of these", Thousands(p.Same))
	}
	if p.Mixed > 0 {
		fmt.Fprintf(w, "; %s of all are known ones that were mixed in", Thousands(p.Mixed))
	}
	fmt.Fprintln(w)
	if c := r.Certificate; c != nil && c.Truth.Basis == certificate.BasisGold {
		fmt.Fprintf(w, "  known       %s of %s answers are right, of those that are known\n", Thousands(c.Truth.Checked-c.Truth.Wrong), Thousands(c.Truth.Checked))
	}
	printVoting(w, r)
	printProved(w, r)
	printCost(w, r)
	if p.Of > p.Records && r.StepsCompleted > 0 {
		fmt.Fprintf(w, "  forecast    %s\n", forecastOf(r, p))
	}
	if r.Voting.Contested > 0 {
		fmt.Fprintf(w, "  dissent     maker show %s --contested\n", r.Run)
	}
}

// forecastOf says what all records will take, by a sample of them.
func forecastOf(r *runs.Result, p *runs.RecordParams) string {
	of := float64(p.Of) / float64(p.Records)
	cost := "an unknown sum"
	if r.TotalCostUSD != nil {
		usd := *r.TotalCostUSD * of
		cost = "about " + runs.DescribeCost(&usd)
	}
	took := time.Duration(float64(r.TotalDurationMS)*of) * time.Millisecond
	what := "records"
	if p.Dedupe {
		what = "different records"
	}
	return fmt.Sprintf("all %s %s: %s or more for %s calls, in at most %s", Thousands(p.Of), what, cost, Thousands(int(float64(r.Usage.Calls)*of)), took.Round(time.Second))
}

// printVoting shows what the votes of the committed steps took.
func printVoting(w io.Writer, r *runs.Result) {
	v, of := r.Voting, r.VotedOn()
	fmt.Fprintf(w, "  samples     %s, %.3f per step, at most %d for one\n", Thousands(v.Samples), v.SamplesPerStep, v.MostSamples)
	fmt.Fprintf(w, "  contested   %s%s\n", Count(v.Contested, strings.TrimSuffix(of, "s")), runs.DescribeMargin(v.LeastMargin))
	fmt.Fprintf(w, "  discarded   %s, %s in these %s\n", Count(v.RedFlagged, "red flag"), Count(v.Faults, "fault"), of)
	Voters(w, r)
}

// Voters tells what each of several voters contributed.
func Voters(w io.Writer, r *runs.Result) {
	for _, v := range r.Voters {
		fmt.Fprintf(w, "  voter       %s: %s\n", show.Line(v.Voter), runs.DescribeVoter(v))
	}
}

// Votes tells what the voters of a step without a result said.
func Votes(w io.Writer, f *runs.FailedStep) {
	for _, line := range f.Votes() {
		fmt.Fprintf(w, "              %s\n", line)
	}
}

// Contest tells how a contested step was decided, and against what.
func Contest(s *runs.StepResult) string {
	took := s.Took()
	return fmt.Sprintf("%s after %d samples, %d flagged: %s", s.Split(), took.Samples, took.RedFlagged, strings.Join(s.Dissent(), "; "))
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
			parts = append(parts, fmt.Sprintf("%s %s", Thousands(n), status))
		}
	}
	return strings.Join(parts, ", ")
}

// printCost shows what a run took.
func printCost(w io.Writer, r *runs.Result) {
	fmt.Fprintf(w, "  cost        %s for %s calls, %s tokens\n", runs.DescribeCost(r.TotalCostUSD),
		Thousands(int(r.Usage.Calls)), Thousands(int(r.Usage.Tokens.Total())))
	u := &r.Usage
	switch {
	case u.HeldUSD > 0 && u.Abandoned == 0:
		fmt.Fprintf(w, "  held        up to %s more for calls whose cost is not known\n", runs.DescribeCost(&u.HeldUSD))
	case u.HeldUSD > 0:
		fmt.Fprintf(w, "  held        up to %s more for %s calls that were given up and may be billed\n",
			runs.DescribeCost(&u.HeldUSD), Thousands(int(u.Abandoned)))
	case u.Abandoned > 0:
		fmt.Fprintf(w, "  held        %s calls were given up and may be billed\n", Thousands(int(u.Abandoned)))
	}
	if u.Wasted > 0 {
		fmt.Fprintf(w, "  extra       %s calls came to nothing for the sake of speed\n", Thousands(int(u.Wasted)))
	}
	fmt.Fprintf(w, "  time        %s\n", (time.Duration(r.TotalDurationMS) * time.Millisecond).Round(time.Millisecond))
}

// printSolve shows the figures of a run that solved a problem.
func printSolve(w io.Writer, r *runs.Result) {
	s := r.Solve
	fmt.Fprintf(w, "  questions   %s, %s without agreement, %s escalations, %s recoveries, at most %d rounds\n", Thousands(s.Questions),
		Thousands(s.Undecided), Thousands(s.Escalations), Thousands(s.Recoveries), s.MaxRounds)
	fmt.Fprintf(w, "  tree        %s nodes, depth %d, %s known already\n", Thousands(s.Nodes), s.Depth, Thousands(s.Memo))
	fmt.Fprintf(w, "  rejected    %.1f %% of the samples\n", 100*s.RejectionRate)
	if c := s.Calibrated; c != nil {
		printCalibrated(w, c)
	}
}

// printAnswer shows the answer, or the best draft.
func printAnswer(w io.Writer, output event.Value) {
	answer, ok := runs.ReadAnswer(output)
	if !ok {
		fmt.Fprintln(w, "\nThere is no draft of an answer.")
		return
	}
	fmt.Fprintf(w, "\nAnswer (%s, confidence %g):\n\n%s\n", answer.Status, answer.Confidence, Indented(answer.Answer))
	for _, remark := range answer.Remarks {
		fmt.Fprintf(w, "\nRemark: %s\n", show.Line(remark))
	}
	if text := strings.TrimSpace(answer.Support.Summary); text != "" {
		fmt.Fprintf(w, "\n%s\n", show.Text(text))
	}
	for _, fact := range slices.Concat(answer.Support.Equations, answer.Support.Points) {
		fmt.Fprintf(w, "- %s\n", show.Line(fact))
	}
}

// Indented is a text of others, set off from what this program says.
func Indented(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(show.Text(s), "\n"), "\n", "\n  ")
}

// printOutcome shows how the tasks of an outline went.
func printOutcome(w io.Writer, r *runs.Result, output event.Value) {
	if text := runs.DescribeOutput(output); text != "" && r.Stop == "" {
		fmt.Fprintf(w, "\n%s\n", show.Text(shortOutcome(r.Run, strings.TrimRight(text, "\n"))))
	}
}

// mostDone is how many of the tasks that are done are listed for people; those that
// failed or are left are all.
const mostDone = 50

// shortOutcome leaves out most of a long list of what is done.
func shortOutcome(run, text string) string {
	head, rest, ok := strings.Cut(text, "\n## Done\n\n")
	if !ok {
		return text
	}
	done, after, more := strings.Cut(rest, "\n## ")
	tasks := strings.Split(done, "\n- ")
	if len(tasks) <= mostDone {
		return text
	}
	text = fmt.Sprintf("%s\n## Done\n\n%s\n… and %s more: maker show %s --step N\n",
		head, strings.Join(tasks[:mostDone], "\n- "), Thousands(len(tasks)-mostDone), run)
	if more {
		text += "\n## " + after
	}
	return text
}

// StepOf is how a step is called for people: the tasks of an outline and records count from 1.
func StepOf(form event.Form, step int) string {
	switch form {
	case event.FormTasks:
		return "task " + Thousands(step+1)
	case event.FormRecords:
		return "record " + Thousands(step+1)
	}
	return "step " + Thousands(step)
}

// Count is so many of something: 1 fault, 1,024 faults.
func Count(n int, name string) string {
	if n != 1 {
		name += "s"
	}
	return Thousands(n) + " " + name
}

// Thousands writes 1048575 as 1,048,575.
func Thousands(n int) string { return show.Thousands(n) }
