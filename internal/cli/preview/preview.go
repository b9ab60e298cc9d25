// Package preview shows what a run would begin with and what it may take.
package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/runs"
)

// Run shows what a task in words would begin with.
func Run(w io.Writer, p *maker.RunPreview) {
	fmt.Fprintf(w, "asked first, for the plan, of %s:\n\n%s\n\n%s\n\n", show.Line(p.Model), report.Indented(p.System), report.Indented(p.Prompt))
	fmt.Fprintf(w, "tools: %s\n", show.Line(strings.Join(p.Tools, ", ")))
	fmt.Fprintf(w, "steps: %s, by %s\n\n", show.Line(runs.DescribeRule(p.Rule)), show.Line(p.Steps))
	for _, e := range p.Estimates {
		cost := "at a cost that is not known"
		if e.AtLeast.CostUSD != nil && e.AtMost.CostUSD != nil {
			cost = fmt.Sprintf("about %s to %s", runs.DescribeCost(e.AtLeast.CostUSD), runs.DescribeCost(e.AtMost.CostUSD))
		}
		fmt.Fprintf(w, "  a plan of %2d steps takes %4d to %5d calls, %s\n", e.Steps, e.AtLeast.Calls, e.AtMost.Calls, cost)
	}
	fmt.Fprint(w, "nobody knows before how long it will be. No model was asked; maker plan \"TASK\" has the plan made,\nprints it and says what it takes, and maker exec carries it out\n")
}

// Plan says what carrying out a plan will take.
func Plan(w io.Writer, e *maker.Estimate) {
	fmt.Fprintf(w, "%s, some %s and %s tokens of %s if voters agree: about %s\n",
		report.Count(e.Steps, "step"), report.Count(e.Calls, "call"), report.Thousands(int(e.Tokens.Total())), e.Model, runs.DescribeCost(e.CostUSD))
}

// Steps lists the steps of a plan with their tools, and says which of them may change
// something.
func Steps(w io.Writer, p *plan.Plan) {
	titles := 0
	for i := range p.Steps {
		titles = max(titles, min(screen.Width(show.Line(p.Steps[i].Title)), 40))
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		tools := slices.Concat(s.PrimaryTools, s.FallbackTools)
		changing := slices.DeleteFunc(slices.Clone(tools), func(name string) bool { return slices.Contains(harmless, name) })
		what := "without tools"
		if len(tools) > 0 {
			what = strings.Join(tools, ", ")
		}
		if len(changing) > 0 {
			what += "   may change something: " + strings.Join(changing, ", ")
		}
		title := show.Line(s.Title)
		fmt.Fprintf(w, "  %2d  %s%s  %s\n", s.Number, title, strings.Repeat(" ", max(0, titles-screen.Width(title))), show.Line(what))
	}
}

// harmless tools change nothing. Of a server's tools nobody knows that here.
var harmless = []string{"Read", "Glob", "Grep", "WebFetch", "WebSearch", plan.LastResort}

// Solve shows what solving a problem would begin with.
func Solve(w io.Writer, p *maker.SolvePreview) {
	fmt.Fprintf(w, "asked first, %s, by %s:\n\n", show.Line(runs.DescribeRule(p.Rule)), show.Line(p.Model))
	fmt.Fprintf(w, "%s\n\nif voters agree at once:\n", report.Indented(p.Prompt))
	for _, e := range p.Estimates {
		name := "solved as it is"
		if e.Parts > 0 {
			name = fmt.Sprintf("in %d parts", e.Parts)
		}
		fmt.Fprintf(w, "  %-16s %3d steps, some %4d calls and %7s tokens: about %s\n",
			name, e.Steps, e.Calls, report.Thousands(int(e.Tokens.Total())), runs.DescribeCost(e.CostUSD))
	}
	limit := "no limit of tokens"
	if p.MaxTokens > 0 {
		limit = fmt.Sprintf("it stops at %s tokens", report.Thousands(int(p.MaxTokens)))
	}
	fmt.Fprintf(w, "nobody knows before how far it will be split; %s\n", limit)
}
