package report

import (
	"fmt"
	"io"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// Unvoted names the parts of an answer that no vote was about; empty if there are none.
func Unvoted(v event.Voting) string {
	return show.Line(runs.DescribeUnvoted(v))
}

// most is how many steps are listed for people.
const most = 10

// printSettled names the steps that others than their voters settled.
func printSettled(w io.Writer, r *runs.Result) {
	n := 0
	for i := range r.Steps {
		if by := runs.DescribeBy(r.Steps[i].By); by != "" {
			if n++; n <= most {
				fmt.Fprintf(w, "  settled     %s: %s\n", StepOf(r.Form, r.Steps[i].Step), show.Line(by))
			}
		}
	}
	if rest := n - most; rest > 0 {
		fmt.Fprintf(w, "  settled     %s more steps not by their voters: maker show %s --step N\n", Thousands(rest), r.Run)
	}
}

// printUnvoted names what of the outputs of steps is one agent's words.
func printUnvoted(w io.Writer, r *runs.Result) {
	var left []string
	for i := range r.Steps {
		if paths := Unvoted(r.Steps[i].Voting); paths != "" {
			left = append(left, fmt.Sprintf("%s: %s", StepOf(r.Form, r.Steps[i].Step), paths))
		}
	}
	for _, line := range left[:min(len(left), most)] {
		fmt.Fprintf(w, "  not voted   %s (one agent's words)\n", line)
	}
	if rest := len(left) - most; rest > 0 {
		fmt.Fprintf(w, "  not voted   parts of %s more steps: maker show %s --step N\n", Thousands(rest), r.Run)
	}
}
