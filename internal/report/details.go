package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// mostDetails is how many steps, calls and questions are listed.
const mostDetails = 50

// Details lists the steps of a run with their dissent, its calls, and what it asked the
// person. A chain has too many steps, and a tree shows its own.
func Details(w io.Writer, r *runs.Result, asked []runs.Asked) {
	if !r.Form.Alone() && r.Form != event.FormTree {
		details(w, "Steps", r.Steps, func(s runs.StepResult) { stepLine(w, r.Form, s) })
		if n := r.StepsOmitted; n > 0 {
			fmt.Fprintf(w, "  and %s more: maker show %s --step N\n", Thousands(n), r.Run)
		}
	}
	details(w, "Calls", r.Effects, func(e runs.EffectResult) {
		Effect(w, StepOf(r.Form, e.Step), &e)
	})
	details(w, "Questions", asked, func(q runs.Asked) {
		answer := "not answered yet"
		if q.Answered {
			answer = fmt.Sprintf("%s (%s)", clip.Line(show.Line(q.Answer), 120), show.Line(q.By))
		}
		fmt.Fprintf(w, "  %-9s %s %s\n", StepOf(r.Form, q.Step), clip.Line(show.Line(q.Text), 120), answer)
	})
}

// Effect shows a call in a line with its vote, its outcome and who let it pass or refused it,
// and in others what the voters wanted instead.
func Effect(w io.Writer, label string, e *runs.EffectResult) {
	by := ""
	if e.By != "" {
		by = " (" + show.Line(e.By) + ")"
	}
	fmt.Fprintf(w, "  %-9s %-8s %s%s%s\n", label, e.Status, Call(e.Tool, e.Input), votesOf(e.Voting), by)
	for _, line := range runs.CallDissent(e) {
		fmt.Fprintf(w, "            %s\n", clip.Line(line, 120))
	}
}

func details[T any](w io.Writer, title string, list []T, print func(T)) {
	for i, item := range list {
		if i == 0 {
			fmt.Fprintf(w, "\n%s:\n", title)
		}
		if i == mostDetails {
			fmt.Fprintf(w, "  and %s more: --json has them\n", Thousands(len(list)-i))
			return
		}
		print(item)
	}
}

// stepLine shows a committed step in a line, and in others what was not agreed on.
func stepLine(w io.Writer, form event.Form, s runs.StepResult) {
	votes := "not voted"
	if s.Took().Samples > 1 {
		votes = "votes " + s.Split()
	}
	if by := runs.DescribeBy(s.By); by != "" {
		votes += ", settled " + show.Line(by)
	}
	if n := s.Took().RedFlagged; n > 0 {
		votes += fmt.Sprintf(", %d flagged", n)
	}
	fmt.Fprintf(w, "  %-9s %s: %s, %s, %s\n", StepOf(form, s.Step), clip.Line(show.Line(s.Title), 60), votes,
		runs.DescribeCost(s.CostUSD), (time.Duration(s.DurationMS) * time.Millisecond).Round(time.Millisecond))
	if s.Contested() {
		for _, line := range s.Dissent() {
			fmt.Fprintf(w, "            dissent: %s\n", clip.Line(line, 120))
		}
	}
}

// putAsked prints what a request said, if there is one.
func putAsked(w io.Writer, asked string) {
	if asked == "" {
		return
	}
	label := "asked"
	for line := range strings.SplitSeq(strings.TrimSpace(asked), "\n") {
		fmt.Fprintf(w, "  %-9s %s\n", label, show.Line(line))
		label = ""
	}
}

// Step shows a committed step as a whole, with what was asked, if that is known, and its calls.
// Changed are the parts of its question that would be asked differently now.
func Step(w io.Writer, s *runs.Step, asked string, calls []runs.EffectResult, changed []string) {
	fmt.Fprintf(w, "step %s, committed %s\n", Thousands(s.Step), s.Time.Local().Format("2006-01-02 15:04:05.000"))
	putAsked(w, asked)
	fmt.Fprintf(w, "  output    %s\n", s.Output.JSON)
	result := s.Result()
	fmt.Fprintf(w, "  votes     %s, margin %d\n", result.Split(), s.Voting.Margin)
	if by := runs.DescribeBy(s.By); by != "" {
		fmt.Fprintf(w, "  settled   %s\n", show.Line(by))
	}
	for _, line := range result.Dissent() {
		fmt.Fprintf(w, "  dissent   %s\n", line)
	}
	if paths := Unvoted(s.Voting); paths != "" {
		fmt.Fprintf(w, "  not voted %s (one agent's words)\n", paths)
	}
	for i := range calls {
		Effect(w, "call", &calls[i])
	}
	took := result.Took()
	fmt.Fprintf(w, "  samples   %d, %d flagged, %d faults, %d cancelled\n", took.Samples, took.RedFlagged, took.Faults, took.Cancelled)
	fmt.Fprintf(w, "  cost      %s, %s for the run so far\n", runs.DescribeCost(s.CostUSD), runs.DescribeCost(s.Spent.CostUSD()))
	fmt.Fprintf(w, "  time      %d ms\n", s.DurationMS)
	if len(changed) > 0 {
		fmt.Fprintf(w, "  %s\n", AskedDifferently(changed))
	}
}

// Repaired says how many samples of a step are what was made of an answer that could not be read.
func Repaired(w io.Writer, samples []runs.Sample) {
	n := 0
	for _, s := range samples {
		if s.Repaired {
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(w, "  repaired  %d of %d samples could not be read as they were, and count as what --repair made of them\n", n, len(samples))
	}
}

// Unsettled shows a step without a result, with the calls that it made.
func Unsettled(w io.Writer, f *runs.FailedStep, asked string, calls []runs.EffectResult) {
	fmt.Fprintf(w, "step %s, not committed: %s\n", Thousands(f.Step), f.Status)
	putAsked(w, asked)
	fmt.Fprintf(w, "  reason    %s\n", show.Line(f.Reason))
	for _, line := range f.Votes() {
		fmt.Fprintf(w, "            %s\n", line)
	}
	for i := range calls {
		Effect(w, "call", &calls[i])
	}
	fmt.Fprintf(w, "  samples   %d, %d flagged, %d faults\n", f.Voting.Samples, f.Voting.RedFlagged, f.Voting.Faults)
}
