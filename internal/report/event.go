// Package report shows runs to people: what happens in a line, what came of a run, how a
// problem was taken apart, as text and as a page.
package report

import (
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// Describe is an event of a run in one line for people; empty if they need not see it.
func Describe(form event.Form, e event.Event, titles map[int]string) string {
	switch e := e.(type) {
	case event.TaskSubmitted:
		return saySetup(form, e.Setup)
	case event.RunResumed:
		if e.Params != nil {
			return "script   an edited one from here on\n" + saySetup(form, e.Setup)
		}
		return saySetup(form, e.Setup)
	case event.PlanCreated:
		if e.Voting.Samples == 0 {
			return planColumn(form) + "given"
		}
		return fmt.Sprintf("%smade, attempt %d%s", planColumn(form), e.Attempt+1, votesOf(e.Voting))
	case event.ValidationPassed:
		return planColumn(form) + passedChecks(e)
	case event.ValidationFailed:
		return planColumn(form) + failedChecks(e)
	case event.ReplanRequested:
		return fmt.Sprintf("plan     anew, because of %s", show.Line(e.Reason))
	case event.StepStarted:
		titles[e.Step] = e.Title
		return fmt.Sprintf("%s %s …", stepColumn(form, e.Step), show.Line(e.Title))
	case event.StepCompleted:
		return stepDone(form, e)
	case event.StepFailed:
		return stepFailed(form, e, titles[e.Step])
	case event.EffectClaimed:
		again := ""
		if e.Again {
			again = " again"
		}
		return fmt.Sprintf("  call   %s%s (%s)", Call(e.Tool, e.Input), again, strings.TrimPrefix(votesOf(e.Voting)+", "+show.Line(e.Approved), ", "))
	case event.EffectDone:
		if e.IsError {
			return fmt.Sprintf("         failed: %s", brief(e.Result))
		}
		return ""
	case event.EffectReleased:
		return fmt.Sprintf("         %s was not called: the run was ended before", e.Tool)
	case event.EffectRefused:
		return fmt.Sprintf("  call   %s refused: %s", Call(e.Tool, e.Input), show.Line(e.Reason))
	case event.EffectUnknown:
		return fmt.Sprintf("  call   %s: OUTCOME UNKNOWN: %s", Call(e.Tool, e.Input), show.Line(e.Reason))
	case event.ClarificationRequested:
		return fmt.Sprintf("  asks   %s", show.Line(e.Text))
	case event.ClarificationProvided:
		answer := e.Answer
		if _, ok := strings.CutPrefix(answer, "edit\n"); ok {
			answer = "another plan"
		}
		return fmt.Sprintf("  answer %s (%s)", clip.Text(show.Line(answer), 120), e.By)
	case event.FramingRetired:
		return fmt.Sprintf("         %s is not asked in framing %d of %s any more: %d of %d answers were wrong or discarded, of the others %d of %d",
			show.Line(e.Voter), e.Framing, show.Line(e.Class), e.Own.Bad, e.Own.Samples, e.Others.Bad, e.Others.Samples)
	case event.PolicyChanged:
		return describePolicy(e)
	case event.PolicyFutile:
		return Futile(&e.Futility)
	case event.QuestionChanged:
		return "         " + AskedDifferently(e.Changed)
	case event.Noted:
		return "  log    " + show.Text(e.Text)
	case event.ContextCompacted:
		text := fmt.Sprintf("         context compacted from %d to %d tokens", e.Before, e.After)
		if e.LeftOut != "" {
			text += ". " + show.Line(e.LeftOut)
		}
		return text
	default:
		return describeSolve(e)
	}
}

// stepDone says how a step was decided.
func stepDone(form event.Form, e event.StepCompleted) string {
	title := show.Line(e.Title)
	if title != "" {
		title += ": "
	}
	line := fmt.Sprintf("%s %sdone%s", stepColumn(form, e.Step), title, votesOf(e.Voting))
	if by := runs.DescribeBy(e.By); by != "" {
		line += ", settled " + show.Line(by)
	}
	if paths := Unvoted(e.Voting); paths != "" {
		line += "; not voted on: " + paths
	}
	return line
}

// planColumn is what a line about what was planned begins with.
func planColumn(form event.Form) string {
	if form == event.FormScript {
		return "script   "
	}
	return "plan     "
}

// failedChecks says what is wrong with a plan.
func failedChecks(e event.ValidationFailed) string {
	lines := []string{"rejected: " + Count(len(e.Checks), "problem")}
	for _, c := range e.Checks {
		lines = append(lines, fmt.Sprintf("         - %s (%s)", show.Line(c.Message), c.Name))
	}
	return strings.Join(lines, "\n")
}

// passedChecks says how a plan passed, and what was not taken as it is written.
func passedChecks(e event.ValidationPassed) string {
	text := "passed its checks"
	if e.ChecksPassed > 0 {
		text = fmt.Sprintf("passed its %d checks", e.ChecksPassed)
	}
	if e.ChecksSkipped > 0 {
		text += fmt.Sprintf(" (%d more could not be judged)", e.ChecksSkipped)
	}
	if e.Score != nil {
		text += fmt.Sprintf(", quality %.2f", *e.Score)
	}
	for _, note := range e.Notes {
		text += "\n         note: " + show.Line(note)
	}
	return text
}

// AskedDifferently says what of a question that is decided a resume would now ask in
// another way.
func AskedDifferently(parts []string) string {
	return "asked differently now: " + show.Line(strings.Join(parts, ", "))
}

// stepFailed tells of a step that came to nothing, with what was voted for.
func stepFailed(form event.Form, e event.StepFailed, title string) string {
	if title = show.Line(title); title != "" {
		title += ": "
	}
	lines := []string{fmt.Sprintf("%s %sFAILED: %s", stepColumn(form, e.Step), title, show.Line(e.Reason))}
	for _, line := range runs.DescribeVotes(e.Voting) {
		lines = append(lines, "         "+line)
	}
	return strings.Join(lines, "\n")
}

// stepColumn is StepOf at the beginning of a line, above others.
func stepColumn(form event.Form, step int) string {
	if form == event.FormTasks {
		return fmt.Sprintf("task %-3d", step+1)
	}
	return fmt.Sprintf("step %-3d", step)
}

// saySetup says how a session votes, and what confines its commands.
func saySetup(form event.Form, s event.Setup) string {
	line := Voting(form, s.Rule)
	if s.Sandbox != "" {
		line = strings.TrimPrefix(line+"\nsandbox  "+s.Sandbox, "\n")
	}
	return line
}

// Voting says in a line how a run votes; empty if it does not go by a rule.
func Voting(form event.Form, r vote.Rule) string {
	one := "step"
	switch form {
	case event.FormTasks:
		one = "task"
	case event.FormRecords:
		one = "record"
	case event.FormRequests:
		one = "request"
	}
	switch {
	case form == event.FormMeasurement, r.Strategy == "":
		return ""
	case r.Strategy == vote.None:
		return fmt.Sprintf("voting   not voted: one sample a %s; -k 2 votes", one)
	case r.Strategy == vote.FirstToK && r.K == 1, r.Strategy == vote.Majority && r.N == 1:
		return fmt.Sprintf("voting   not voted: the first answer a %s that is not discarded, of at most %d samples; -k 2 votes", one, r.MaxSamples)
	}
	return "voting   " + runs.DescribeRule(r)
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

// Call is a call in a few words: what a file or a command is about, and not all that is in it.
func Call(tool string, input event.Value) string {
	if input.Ref != nil {
		return show.Line(tool) + " " + brief(input)
	}
	return show.CallLine(tool, input.JSON)
}

// brief is a value in a few words.
func brief(v event.Value) string {
	if v.Ref != nil {
		return fmt.Sprintf("(%d bytes)", v.Ref.Bytes)
	}
	text := v.Compact()
	if strings.HasPrefix(text, `"`) {
		text = v.Text()
	}
	return clip.Text(show.Line(text), 120)
}

// describeSolve is an event of solving in one line for people.
func describeSolve(e event.Event) string {
	switch e := e.(type) {
	case event.Calibrated:
		return fmt.Sprintf("measured p %.3f (%.3f to %.3f, %s), v %.3f: k is %d", e.P, e.PLow, e.PHigh, e.Basis, e.V, e.K)
	case event.DecompositionSelected:
		if e.Atomic {
			return fmt.Sprintf("  atomic %s: %s%s", e.Path, brief(e.Problem), because(e.By, e.Reason))
		}
		return fmt.Sprintf("  split  %s: %s | %s%s", e.Path, brief(e.PartA), brief(e.PartB), because(e.By, e.Reason))
	case event.SubproblemSolved:
		return fmt.Sprintf("  solved %s: %s%s", e.Path, brief(e.Solution), because(e.By, ""))
	case event.AnswerComposed:
		answer := e.Answer
		if full, ok := runs.ReadAnswer(answer); ok {
			answer = event.TextValue(full.Answer)
		}
		switch {
		case e.Draft:
			return fmt.Sprintf("  draft  %s (%s)", brief(answer), show.Line(e.Reason))
		case e.Final:
			return ""
		default:
			return fmt.Sprintf("  made   %s: %s%s", e.Path, brief(answer), because(e.By, ""))
		}
	case event.CompletenessChecked:
		if e.Complete {
			return "  check  nothing is missing"
		}
		return fmt.Sprintf("  check  missing: %s", show.Line(strings.Join(e.Missing, "; ")))
	case event.Escalated:
		return fmt.Sprintf("  no agreement on %s: %s is next (%s)", e.Path, e.To, show.Line(e.Reason))
	default:
		return ""
	}
}

// because says who settled something, if that was not a vote.
func because(by, reason string) string {
	if by == event.ByVote {
		return ""
	}
	if reason != "" {
		reason = ": " + show.Line(reason)
	}
	return fmt.Sprintf(" (by %s%s)", by, reason)
}
