package runs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/vote"
)

// Markdown is the result for people.
func (r *Result) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**%s**", show.Markdown(r.Task), capital(r.Status))
	if r.Reason != "" {
		fmt.Fprintf(&b, ": %s", show.Markdown(r.Reason))
	}
	b.WriteString("\n\n| | |\n|---|---|\n")
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, fmt.Sprintf(format, args...))
	}
	row("run", "`%s`", r.Run)
	row("model", "%s", show.Markdown(DescribeModel(r)))
	row("voting", "%s", DescribeVoting(r))
	for _, s := range r.Sessions {
		row("from step "+strconv.Itoa(s.Step), "%s, %s", show.Markdown(s.Model), DescribeRule(s.Rule))
	}
	row("steps", "%s", DescribeSteps(r))
	row("samples", "%d (%.3f per step, at most %d)", r.Voting.Samples, r.Voting.SamplesPerStep, r.Voting.MostSamples)
	row("contested "+r.VotedOn(), "%d%s", r.Voting.Contested, DescribeMargin(r.Voting.LeastMargin))
	row("red flags", "%d", r.Voting.RedFlagged)
	row("faults", "%d", r.Voting.Faults)
	for _, v := range r.Voters {
		row("voter", "%s: %s", show.Markdown(v.Voter), DescribeVoter(v))
	}
	if s := r.Solve; s != nil && r.Form == event.FormTree {
		row("questions", "%d, %d without agreement, at most %d rounds", s.Questions, s.Undecided, s.MaxRounds)
		row("rejection rate", "%.1f %%", 100*s.RejectionRate)
		row("escalations", "%d, after which %d steps were decided", s.Escalations, s.Recoveries)
		row("tree", "%d nodes, depth %d, %d known already", s.Nodes, s.Depth, s.Memo)
	}
	if s := r.Solve; s != nil && s.Calibrated != nil {
		c := s.Calibrated
		row("calibration", "p %.3f (%.3f to %.3f, %s), v %.3f, k %d", c.P, c.PLow, c.PHigh, c.Basis, c.V, c.K)
	}
	for _, f := range r.Unsettled {
		row(f.Label()+" step", "%d: %s; %d samples, %d red flags, %d faults", f.Step, show.Markdown(f.Status), f.Voting.Samples, f.Voting.RedFlagged, f.Voting.Faults)
	}
	for i := range r.Open {
		row("open", "step %d: %s", r.Open[i].Step, show.Markdown(DescribeOpen(&r.Open[i])))
	}
	row("tokens", "%d in, %d out", r.Usage.Tokens.Total()-r.Usage.Tokens.Output-r.Usage.Tokens.Reasoning, r.Usage.Tokens.Output+r.Usage.Tokens.Reasoning)
	row("cost", "%s", DescribeCost(r.TotalCostUSD))
	row("time", "%s", (time.Duration(r.TotalDurationMS) * time.Millisecond).Round(10*time.Millisecond))
	for _, f := range slices.Concat(r.Unsettled, r.OpenSteps()) {
		for i, line := range f.Votes() {
			if i == 0 {
				fmt.Fprintf(&b, "\n## What the voters of the %s step %d said\n\n", f.Label(), f.Step)
			}
			fmt.Fprintf(&b, "- %s\n", show.Markdown(line))
		}
	}
	if r.Form != event.FormChain {
		r.writeSteps(&b)
	}
	r.writeContests(&b)
	b.WriteString("\nA vote says what the voters agreed on, not that it is true.\n")
	return b.String()
}

// writeContests tells what was not agreed on at once.
func (r *Result) writeContests(b *strings.Builder) {
	list := r.Contests()
	shown := min(len(list), 50)
	for i, s := range list[:shown] {
		if i == 0 {
			fmt.Fprintf(b, "\n## Contested %s\n\n| step | samples | red flags | votes | margin | dissent |\n|---|---|---|---|---|---|\n", r.VotedOn())
		}
		took := s.Took()
		fmt.Fprintf(b, "| %d | %d | %d | %s | %d | %s |\n", s.Step, took.Samples, took.RedFlagged, s.Split(), s.Voting.Margin,
			strings.ReplaceAll(show.Markdown(strings.Join(s.Dissent(), "; ")), "|", "\\|"))
	}
	if rest := r.Voting.Contested - shown; rest > 0 {
		fmt.Fprintf(b, "\n… and %d more; see `maker show %s`.\n", rest, r.Run)
	}
}

// VotedOn is what votes are counted for.
func (r *Result) VotedOn() string {
	if r.Solve != nil {
		return "questions"
	}
	return "steps"
}

// DescribeOpen says how a vote stood that had no verdict when the run was stopped.
func DescribeOpen(v *event.OpenVote) string {
	votes := "no votes"
	if len(v.Voting.Votes) > 0 {
		votes = "votes " + v.Voting.Split()
	}
	text := fmt.Sprintf("%d samples, %s, %d red flags, %d faults", v.Voting.Samples, votes, v.Voting.RedFlagged, v.Voting.Faults)
	if v.Flag != "" {
		text += fmt.Sprintf("; last red flag: %s (%s)", v.Reason, v.Flag)
	}
	if v.Fault != "" {
		text += "; last fault: " + v.Fault
	}
	return text
}

// DescribeSteps says how far a run came.
func DescribeSteps(r *Result) string {
	if r.StepsTotal == 0 {
		return strconv.Itoa(r.StepsCompleted)
	}
	return fmt.Sprintf("%d of %d", r.StepsCompleted, r.StepsTotal)
}

// DescribeMargin says what the smallest margin of votes was, after how many were contested. It is
// empty if nothing was voted on.
func DescribeMargin(least int) string {
	if least == 0 {
		return ""
	}
	return fmt.Sprintf(", smallest margin %d", least)
}

// DescribeOutput is a value for people: YAML, or the text that it is.
func DescribeOutput(v event.Value) string {
	if v.Ref != nil {
		return fmt.Sprintf("(%d bytes, stored beside the log)", v.Ref.Bytes)
	}
	if len(v.JSON) == 0 {
		return ""
	}
	if v.JSON[0] == '"' {
		return v.Text()
	}
	text, err := yamlclean.Encode(v.JSON)
	if err != nil {
		return string(v.JSON)
	}
	return text
}

// writeSteps tells what each step came to and which calls were made.
func (r *Result) writeSteps(b *strings.Builder) {
	if out := DescribeOutput(r.Output); out != "" {
		fmt.Fprintf(b, "\n## Output\n\n%s\n", show.Fenced(out))
	}
	if len(r.Steps) > 0 {
		b.WriteString("\n## Steps\n")
	}
	for _, s := range r.Steps {
		fmt.Fprintf(b, "\n### %d. %s\n\n%s\n\nvotes %s, margin %d, %d samples, %s\n", s.Step, show.Markdown(s.Title), show.Fenced(DescribeOutput(s.Output)),
			s.Split(), s.Voting.Margin, s.Took().Samples, DescribeCost(s.CostUSD))
		if by := DescribeBy(s.By); by != "" {
			fmt.Fprintf(b, "\nSettled %s\n", show.Markdown(by))
		}
		if paths := DescribeUnvoted(s.Voting); paths != "" {
			fmt.Fprintf(b, "\nNot voted on, one agent's words: %s\n", show.Markdown(paths))
		}
		for _, e := range r.Effects {
			if e.Step == s.Step {
				fmt.Fprintf(b, "\n- %s\n", markdownCall(&e))
			}
		}
	}
	var rest []EffectResult
	for _, e := range r.Effects {
		if !r.hasStep(e.Step) {
			rest = append(rest, e)
		}
	}
	if len(rest) > 0 {
		b.WriteString("\n## Calls of steps that were not completed\n\n")
		for _, e := range rest {
			fmt.Fprintf(b, "- step %d, %s\n", e.Step, markdownCall(&e))
		}
	}
}

// markdownCall tells what came of a call, and how its voters stood.
func markdownCall(e *EffectResult) string {
	text := fmt.Sprintf("**%s** %s: %s (%s)", show.Markdown(e.Tool), code(e.Input.Compact()), e.Status, show.Markdown(e.By))
	if votes := e.Voting.Split(); votes != "" {
		text += ", votes " + votes
	}
	for _, line := range CallDissent(e) {
		text += "; " + show.Markdown(line)
	}
	return text
}

func (r *Result) hasStep(step int) bool {
	for i := range r.Steps {
		if r.Steps[i].Step == step {
			return true
		}
	}
	return false
}

// capital begins a word with a capital letter.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// code is a text in a few words, as code.
func code(s string) string { return show.Code(clip.Text(show.Line(s), 300)) }

// DescribeModel says who answered.
func DescribeModel(r *Result) string {
	simulated := false
	for _, s := range r.Sessions {
		simulated = simulated || s.Simulated
	}
	switch {
	case r.Simulated:
		return r.Model + "  (simulated: no real model answered; the cost is what it would have been)"
	case simulated:
		return r.Model + "  (part of the run was simulated)"
	default:
		return r.Model
	}
}

// DescribeVoting says in words when the questions of a run are decided.
func DescribeVoting(r *Result) string {
	text := DescribeRule(r.Voting.Rule)
	if r.Form == event.FormRequests {
		text += "; a request may name another model, and another rule"
	}
	return text
}

// DescribeRule says in words when a question is decided.
func DescribeRule(r vote.Rule) string {
	switch r.Strategy {
	case vote.FirstToK:
		return fmt.Sprintf("first to lead by %d, at most %d samples", r.K, r.MaxSamples)
	case vote.Adaptive:
		return fmt.Sprintf("margins that adapt, so that all answers of the run are the likeliest but for a chance of %g; at most %d samples", r.Target, r.MaxSamples)
	case vote.Majority:
		return fmt.Sprintf("majority of %d, at most %d samples", r.N, r.MaxSamples)
	case vote.Own:
		return fmt.Sprintf("by a rule of the program's own, at most %d samples", r.MaxSamples)
	default:
		return "one sample"
	}
}

// DescribeVoter says what a voter contributed.
func DescribeVoter(v VoterResult) string {
	text := plural(v.Votes, "vote")
	if v.Dissent > 0 {
		text += fmt.Sprintf(", %d against the winner", v.Dissent)
	}
	text += fmt.Sprintf(", %d discarded", v.Flagged)
	if v.CostUSD == nil {
		return text + ", cost unknown"
	}
	return text + ", " + DescribeCost(v.CostUSD)
}

// DescribeCost formats a cost that may not be known.
func DescribeCost(usd *float64) string {
	switch {
	case usd == nil:
		return "unknown"
	case *usd != 0 && *usd < 0.1:
		return fmt.Sprintf("$%.6f", *usd)
	default:
		return fmt.Sprintf("$%.2f", *usd)
	}
}
