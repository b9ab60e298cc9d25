// Package consent shows a person what an agent wants to do and takes the answer.
//
// What is approved is what is on the screen: a change as a difference, a command with its
// folder, arguments one by one, every character of which that could not be seen as an escape.
package consent

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/change"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// What is shown of a question, in characters and options: it has to fit on a screen,
// because what is above it is not seen. The end is always there.
const (
	questionHead = 1000
	questionTail = 600
	mostOptions  = 20
)

// ShowAll is what to type to see a question as a whole.
const ShowAll = "?"

// Show shows a question of a step without a prompt for its answer: what the call would do,
// if it is about one, and the vote that the call won. What others wrote cannot look like what
// the program says. It reports whether something was left out, which it is not if the whole
// is wanted.
func Show(w io.Writer, step string, q maker.Question, whole bool) (folded bool) {
	fold := func(text string) string {
		if whole {
			return text
		}
		return show.Fold(text, questionHead, questionTail, func(n, all int) string {
			folded = true
			return fmt.Sprintf("[… %s of %s characters are not shown: %s shows them …]", report.Thousands(n), report.Thousands(all), ShowAll)
		})
	}
	fmt.Fprintf(w, "\n%s: %s\n", step, strings.ReplaceAll(fold(show.Text(q.Text)), "\n", "\n  | "))
	if q.Call != nil {
		fmt.Fprintf(w, "  call   %s, %s bytes of input\n", show.Exact(q.Call.Tool), report.Thousands(len(q.Call.Input)))
		for line := range strings.Lines(fold(describe(q.Call, q.Folder))) {
			fmt.Fprintf(w, "         %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if v := q.Voting; q.Call != nil && v != nil && v.Samples > 0 { // a literal command was not voted on
		fmt.Fprintf(w, "  vote   %s of %d samples, %d discarded\n", v.Split(), v.Samples, v.RedFlagged)
		won, _ := json.Marshal(q.Call)
		for _, line := range runs.DescribeDissent(*v, event.JSONValue(won)) {
			fmt.Fprintf(w, "  but    %s\n", fold(line))
		}
	}
	for i, option := range q.Options {
		if q.Kind == event.ClarifyApproval {
			break // the prompt names them
		}
		if last := len(q.Options) - 1; i >= mostOptions && i < last && !whole {
			if folded = true; i == mostOptions {
				fmt.Fprintf(w, "  [… %s options are not shown: %s shows them …]\n", report.Thousands(last-i), ShowAll)
			}
			continue
		}
		fmt.Fprintf(w, "  %s) %s%s\n", person.Label(&q, i), fold(show.Line(option)), votesFor(q, i))
	}
	if q.Kind == event.ClarifyApproval && q.Call != nil {
		choices(w, q)
	}
	return folded
}

// votesFor says how many votes an option got, if that is what they were about.
func votesFor(q maker.Question, i int) string {
	if q.Call != nil || q.Voting == nil || i >= len(q.Voting.Answers) {
		return ""
	}
	return fmt.Sprintf("  (votes: %d)", q.Voting.Answers[i].Votes)
}

// choices says what can be answered to whether a call may be made.
func choices(w io.Writer, q maker.Question) {
	fmt.Fprintln(w, "  yes    this once")
	policy := approval.Policy{Workspace: q.Folder}
	if rule, ok := policy.Suggest(*q.Call); ok {
		fmt.Fprintf(w, "  run    for the rest of this run, for calls that fit %s; run RULE for another rule\n", show.Line(rule))
		fmt.Fprintln(w, "  always the same in all runs, by a rule in your own settings")
	}
	if v := q.Voting; v != nil && v.Samples == 0 { // nobody proposed it
		fmt.Fprintln(w, "  edit   with other arguments; no, or why not: the log has it")
	} else {
		fmt.Fprintln(w, "  edit   with other arguments; no, or why not: the agents read it")
	}
}

// hasRule reports whether there is a rule that lets calls like that of a question pass.
func hasRule(q maker.Question) bool {
	_, ok := (&approval.Policy{Workspace: q.Folder}).Suggest(*q.Call)
	return ok
}

// describe says what a call would do.
func describe(call *event.Intent, folder string) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(call.Input, &in) != nil || in == nil {
		return show.Call(call.Input)
	}
	switch call.Tool {
	case "Write", "Edit":
		if c, ok := change.Of(call, folder); ok {
			return fmt.Sprintf("%s, %s\n%s", show.Exact(c.Path), c.State, c.Diff)
		}
	case "Bash":
		var command string
		if json.Unmarshal(in["command"], &command) == nil {
			delete(in, "command")
			text := commandLines(command)
			if folder != "" {
				text += "\nin " + show.Exact(folder)
			}
			if len(in) > 0 {
				text += "\n" + table(in)
			}
			return text
		}
	}
	return table(in)
}

// commandLines are the lines of a command as a shell gets them. A command that is more than a
// line could look like something that the program says, so that it stays on one.
func commandLines(command string) string {
	if !strings.Contains(command, "\n") {
		return "$ " + show.Exact(command)
	}
	quoted, err := show.JSON(command)
	if err != nil {
		return show.Exact(command)
	}
	return "$ " + show.Exact(quoted)
}

// table has an argument on each line.
func table(in map[string]json.RawMessage) string {
	width := 0
	arguments := show.Arguments(in)
	for _, a := range arguments {
		width = max(width, len([]rune(a.Name)))
	}
	var b strings.Builder
	for _, a := range arguments {
		fmt.Fprintf(&b, "%-*s  %s\n", width, a.Name, a.Value)
	}
	return b.String()
}
