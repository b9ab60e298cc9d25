package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote/adaptive"
)

//go:embed certificate.html
var certificateText string

var certificateTemplate = template.Must(template.New("certificate").Funcs(template.FuncMap{
	"clip":    func(s string) string { return clip.Text(show.Text(s), maxPageText) },
	"oneline": Short,
	"percent": certificate.Percent,
	"call":    describeCall,
	"class":   className,
	"perRace": func(votes, races int) string { return fmt.Sprintf("%.2f", float64(votes)/float64(max(1, races))) },
}).Parse(certificateText))

// CertificatePage is a certificate as one page that needs nothing else.
func CertificatePage(c *runs.Certificate) ([]byte, error) {
	var out bytes.Buffer
	err := certificateTemplate.Execute(&out, c)
	return out.Bytes(), err
}

// Certificate shows a certificate to people: what it says in words, then the figures.
func Certificate(w io.Writer, c *runs.Certificate) {
	fmt.Fprintf(w, "%s: %s (%s)\n\n", show.Line(c.Task), c.Status, c.Run)
	for _, s := range c.Says {
		fmt.Fprintln(w, s)
	}
	if len(c.NearTies) > 0 {
		fmt.Fprintf(w, "\nNear ties:\n")
		for _, k := range c.NearTies {
			fmt.Fprintf(w, "  %s\n", describeCall(k))
		}
	}
	if len(c.ClosestCalls) > 0 {
		fmt.Fprintf(w, "\nClosest calls (chance that the answer is not the likeliest):\n")
		for _, k := range c.ClosestCalls {
			fmt.Fprintf(w, "  %-8.2g %s\n", k.Wrong, describeCall(k))
		}
	}
	if len(c.Classes) > 0 {
		fmt.Fprintf(w, "\nClasses of questions:\n")
		for _, k := range c.Classes {
			fmt.Fprintf(w, "  %s: %s races, %.2f votes each, %s undecided, %.2g expected wrong, about %.1f hard and %.1f near ties\n", className(k.Class),
				Thousands(k.Races), float64(k.Votes)/float64(max(1, k.Races)), Thousands(k.Undecided), k.ExpectedWrong, k.Hard, k.NearTies)
			for _, at := range k.Drifts {
				fmt.Fprintf(w, "    harder from race %s on\n", Thousands(at))
			}
		}
	}
	fmt.Fprintf(w, "\nThis holds if:\n")
	for _, s := range c.Assumptions {
		fmt.Fprintf(w, "  - %s\n", s)
	}
	fmt.Fprintf(w, "\nlog %s (SHA-256)\n", c.LogHash)
}

// describeCall is a race in words.
func describeCall(k certificate.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %s: %d to %d", Thousands(k.Step), k.Lead, k.Second)
	if !k.Decided {
		b.WriteString(", undecided")
	}
	if k.Question != "" {
		fmt.Fprintf(&b, " (%s)", show.Line(clip.Line(k.Question, 80)))
	}
	if k.Races > 1 {
		fmt.Fprintf(&b, ", and %s more like it", Thousands(k.Races-1))
	}
	return b.String()
}

// className is a class by a name, which that of a chain has not.
func className(name string) string {
	if name == "" {
		return "all steps"
	}
	return show.Line(name)
}

// describeCertificate is the short form in a line.
func describeCertificate(c *runs.CertificateSummary) string {
	v := c.Votes
	says := "nothing: there are no votes"
	switch decided := v.Races - v.Undecided; {
	case v.Bound > 0 && decided == 1:
		says = "the voted answer is its voters' likeliest with at least " + certificate.Percent(v.Bound)
	case v.Bound > 0:
		says = fmt.Sprintf("all %s voted answers are their voters' likeliest with at least %s", Thousands(decided), certificate.Percent(v.Bound))
	case v.Races > 0 && decided == 0:
		says = "nothing: no vote was decided"
	case v.Races > 0:
		says = fmt.Sprintf("not that all voted answers are their voters' likeliest: %.2g of %s are expected not to be", v.ExpectedWrong, Thousands(decided))
	}
	truth := "truth not assessed"
	switch {
	case c.Truth.Basis == certificate.BasisGold:
		truth = fmt.Sprintf("%d of %d known answers wrong", c.Truth.Wrong, c.Truth.Checked)
	case c.Truth.Wrong > 0:
		truth = "known to be wrong"
	case c.Truth.Last:
		truth = "last output checked by code"
	case c.Truth.Basis == certificate.BasisCheck:
		truth = "each step checked by code"
	}
	return says + "; " + truth
}

// describePolicy says how far answers must lead from now on. That a run learns is not worth
// a line.
func describePolicy(e event.PolicyChanged) string {
	why := map[string]string{
		adaptive.WhyStart: "to begin with", adaptive.WhyDrift: "questions have become harder",
		adaptive.WhySteps: "there are more questions than thought", adaptive.WhyRule: "the rule was changed",
	}[e.Why]
	if why == "" {
		return ""
	}
	line := fmt.Sprintf("  margin %s: %s, by the votes of the runner-up (%s)", className(e.Class), leads(e.Margins), why)
	if e.Races > 0 {
		line += fmt.Sprintf("; P(all right) so far %s, at the end %s", certificate.Percent(e.Outlook.Bound), certificate.Percent(e.Outlook.Forecast))
	}
	return line
}

// Futile says when it happens that more votes will not make a run right.
func Futile(f *adaptive.Futility) string { return "  futile " + f.Says() }

// leads are the first margins.
func leads(margins []int) string {
	const shown = 4
	var list []string
	for _, m := range margins[:min(shown, len(margins))] {
		list = append(list, fmt.Sprint(m))
	}
	if len(margins) > shown {
		list = append(list, "…")
	}
	return strings.Join(list, " ")
}
