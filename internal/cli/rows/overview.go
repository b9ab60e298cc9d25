package rows

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// What of a sample is shown.
const (
	mostAnswers   = 10
	mostContested = 20
	mostDissent   = 3 // lines of a record, where it takes several
	longestAnswer = 60
	longestLine   = 160 // where there is no terminal
)

// Overview shows people what the records of a run came to, in lines of a width, 0 for any: how
// often each answer came, and over which records voters did not agree, with what the others
// wanted. More is the command that shows all of these.
func Overview(w io.Writer, run *runs.Run, more string, width int) error {
	p, err := run.RecordParams()
	if err != nil {
		return err
	}
	o, err := run.Overview(mostAnswers, mostContested)
	if err == nil {
		printOverview(w, p, o, more, width)
	}
	return err
}

func printOverview(w io.Writer, p *runs.RecordParams, o *runs.RecordOverview, more string, width int) {
	columns := longestLine
	if width > 0 {
		columns = max(width-1, 20)
	}
	line := func(format string, a ...any) { fmt.Fprintln(w, screen.Cut(fmt.Sprintf(format, a...), columns)) }
	share := func(n int, what string) {
		line("  %7s %3.0f %%  %s", report.Thousands(n), 100*float64(n)/float64(o.Records), what)
	}
	fmt.Fprintln(w)
	line("Answers to %s:", report.Count(o.Records, "record"))
	for _, answer := range slices.SortedFunc(maps.Keys(o.Answers), func(a, b string) int {
		return cmp.Or(o.Answers[b]-o.Answers[a], strings.Compare(a, b))
	}) {
		share(o.Answers[answer], answerText(event.JSONValue([]byte(answer))))
	}
	if n := o.OtherAnswers; n > 0 && len(o.Answers) == 0 {
		share(n, "all different, or too long to tell apart")
	} else if n > 0 {
		share(n, "others")
	}
	if n := o.Records - o.Answered; n > 0 {
		share(n, "no answer")
	}
	if o.Contested == 0 {
		return
	}
	line("Contested (%s): votes, answer, and what others wanted", report.Count(o.Contested, "record"))
	for i := range o.Split {
		contested(line, p, &o.Split[i], columns)
	}
	if rest := o.Contested - len(o.Split); rest > 0 {
		fmt.Fprintf(w, "  and %s more: %s\n", report.Thousands(rest), more) // a command is never cut
	}
}

// EachSplit calls f for each record without an answer whose votes named several, or which lost
// all of them.
func EachSplit(run *runs.Run, f func(*runs.FailedStep) error) error {
	for r, err := range run.Records() {
		if err == nil && !r.Same && r.Status != "" && r.Status != "decided" && (r.Voting.Contested() || r.Voting.RedFlagged > 0) {
			failed := runs.FailedStep{Step: r.Number, Status: r.Status, Reason: r.Reason, Voting: r.Voting, Candidates: r.Voting.Answers}
			failed.Voting.Answers = nil // they are the candidates
			err = f(&failed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contested shows a record in a line, or in several where that is too long.
func contested(line func(string, ...any), p *runs.RecordParams, r *runs.RecordResult, columns int) {
	answer := "no answer"
	if r.Status == "decided" {
		answer = answerText(r.Output)
	}
	head := fmt.Sprintf("  %s %s: %s", whichRecord(p, r), r.Voting.Split(), answer)
	dissent := r.Dissent()
	if all := head + "; " + strings.Join(dissent, "; "); screen.Width(all) <= columns {
		line("%s", all)
		return
	}
	line("%s", head)
	for _, others := range dissent[:min(len(dissent), mostDissent)] {
		line("    %s", others)
	}
	if rest := len(dissent) - mostDissent; rest > 0 {
		line("    and %s more", report.Thousands(rest))
	}
}

// whichRecord says where a record is: in what is written, and in what was read.
func whichRecord(p *runs.RecordParams, r *runs.RecordResult) string {
	name := report.StepOf(event.FormRecords, r.Number)
	if slices.Equal(p.Columns, []string{"file", "text"}) { // a folder has no lines
		if file, ok := r.Values["file"].(string); ok {
			return name + " (" + clip.Text(show.Line(file), longestAnswer) + ")"
		}
	}
	return fmt.Sprintf("%s (line %s)", name, report.Thousands(r.Line))
}

// answerText is an answer in a few words.
func answerText(v event.Value) string {
	text := v.Compact()
	if strings.HasPrefix(text, `"`) {
		text = v.Text()
	}
	return clip.Text(show.Line(text), longestAnswer)
}
