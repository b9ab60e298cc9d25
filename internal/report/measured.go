package report

import (
	"fmt"
	"io"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// printMeasured shows what a run that measured voters found out.
func printMeasured(w io.Writer, r *runs.Result) {
	if c := r.Solve.Calibrated; c == nil {
		fmt.Fprintf(w, "  samples     %s so far, %s of them discarded; p and v are worked out when all of them are in\n", Thousands(r.Voting.Samples), Thousands(r.Voting.RedFlagged))
	} else if c.Valid > 0 || c.Samples == 0 {
		printCalibrated(w, c)
	}
	fmt.Fprintf(w, "  faults      %s\n", Thousands(r.Voting.Faults))
	printCost(w, r)
	if c := r.Solve.Calibrated; c != nil && c.Measured != nil {
		fmt.Fprintln(w)
		for _, text := range c.Measured.Says {
			fmt.Fprintln(w, show.Line(text))
		}
	}
}

// printCalibrated shows what is known about the voters.
func printCalibrated(w io.Writer, c *event.Calibrated) {
	switch c.Basis {
	case "known":
		fmt.Fprintf(w, "  p           %.3f: %d of %d valid answers to %d problems are right; %.0f %% interval %.3f to %.3f\n",
			c.P, c.Right, c.Valid, c.Problems, 100*c.Confidence, c.PLow, c.PHigh)
	case "agreement":
		fmt.Fprintf(w, "  p           at most %.3f, by agreement; %.0f %% interval %.3f to %.3f\n", c.P, 100*c.Confidence, c.PLow, c.PHigh)
	default:
		fmt.Fprintf(w, "  p           %.3f, a guess\n", c.P)
	}
	fmt.Fprintf(w, "  v           %.3f: %d of %d samples are valid; %.0f %% interval %.3f to %.3f\n",
		c.V, c.Valid, c.Samples, 100*c.Confidence, c.VLow, c.VHigh)
	if c.Measured != nil {
		printItems(w, c.Measured)
	}
	of := "one step"
	if c.Steps > 0 {
		of = fmt.Sprintf("%s steps", Thousands(c.Steps))
	}
	from := fmt.Sprintf("computed with p = %.3f", c.PUsed)
	if c.Measured != nil && c.Measured.StepError != nil {
		from = "by the distribution, at the bad end of its interval"
	}
	fmt.Fprintf(w, "  k           %d for an error of %g in %s, %s", c.K, c.Target, of, from)
	if c.Limited {
		fmt.Fprint(w, ": LIMITED")
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "  expected    error %s per step", Chance(c.StepError))
	if c.Measured != nil && c.Measured.StepError != nil {
		fmt.Fprintf(w, " (%s to %s)", Chance(c.Measured.StepError.Low), Chance(c.Measured.StepError.High))
	}
	if c.Steps > 0 {
		fmt.Fprintf(w, ", %s in all", Chance(c.RunError))
	}
	fmt.Fprintf(w, "; %.1f samples per step\n", c.SamplesPerStep)
	if c.Assumes != "" {
		fmt.Fprintf(w, "  assumes     %s\n", show.Line(c.Assumes))
	}
	if c.Reason != "" {
		fmt.Fprintf(w, "  note        %s\n", show.Line(c.Reason))
	}
}

// printItems shows what items of the user's own told.
func printItems(w io.Writer, m *event.Measured) {
	of := Thousands(m.Of)
	if m.Repeated > 0 {
		of += fmt.Sprintf(" different questions (%s more repeat one of them and were left out)", Thousands(m.Repeated))
	}
	fmt.Fprintf(w, "  items       %s of %s, %s of them with at least 5 samples, %s without a valid answer\n",
		Thousands(m.Items), of, Thousands(m.Deep), Thousands(m.Silent))
	if m.Greedy != nil {
		by := ""
		if m.GreedyBy != "" {
			by = " of " + show.Line(m.GreedyBy) + ", the best alone,"
		} else if len(m.Voters) > 1 { // as early releases measured it
			by = " of " + show.Line(m.Voters[0].Name)
		}
		fmt.Fprintf(w, "  greedy      one greedy sample%s is right on %s of the items\n", by, percent(m.Greedy))
	}
	if m.BelowHalf == nil {
		fmt.Fprintf(w, "  spread      not measured: how p differs between items takes 5 samples of at least 50 items\n")
	} else {
		fmt.Fprintf(w, "  spread      p is below 0.5 for %s of the items, which no vote can mend,\n", percent(m.BelowHalf))
		fmt.Fprintf(w, "              from 0.5 to 0.8 for %s, and above for %s\n", percent(m.Middling), percent(m.Easy))
	}
	fmt.Fprintf(w, "  alike       correlation of errors within items: %s in one framing, %s across framings, %s across voters\n",
		correlation(m.SameFraming), correlation(m.AcrossFramings), correlation(m.AcrossVoters))
	for _, v := range m.Voters {
		if len(m.Voters) > 1 {
			fmt.Fprintf(w, "  voter       %s\n", part(v))
		}
	}
	for _, f := range m.Framings {
		if len(m.Framings) > 1 {
			fmt.Fprintf(w, "  framing     %s\n", part(f))
		}
	}
	for _, t := range m.Together {
		who := fmt.Sprintf("%s and %s", show.Line(t.A), show.Line(t.B))
		if t.A == t.B {
			who = "two samples of " + show.Line(t.A)
		}
		fmt.Fprintf(w, "  together    %s are both wrong on %s of %s items, %.1f %% if errors were independent",
			who, percent(&t.Both), Thousands(t.Items), 100*t.IfAlone)
		if t.SameAnswer != nil && t.Both.Value > 0 {
			fmt.Fprintf(w, "; with the same answer %.0f %% of the time", 100**t.SameAnswer)
		}
		fmt.Fprintln(w)
	}
}

func part(p event.MeasuredPart) string {
	known := "not measured: no answer is valid"
	if p.P != nil && p.V.Value > 0 { // early releases have a p in any case
		known = fmt.Sprintf("%.3f (%.3f to %.3f)", p.P.Value, p.P.Low, p.P.High)
	}
	text := fmt.Sprintf("%s: p %s, v %.3f, %s samples", show.Line(p.Name), known, p.V.Value, Thousands(p.Samples))
	if p.Greedy != nil {
		text += ", greedy " + percent(p.Greedy)
	}
	return text
}

func correlation(r *event.Range) string {
	if r == nil {
		return "not measured"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", r.Value, r.Low, r.High)
}

func percent(r *event.Range) string {
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*r.Value, 100*r.Low, 100*r.High)
}

// Chance writes a chance that something goes wrong. It is never 0: what is too small to
// tell is said to be.
func Chance(x float64) string {
	if x < 1e-300 {
		return "below 1e-300"
	}
	return fmt.Sprintf("%.2g", x)
}

// Success writes the chance that nothing goes wrong, given the chance that something does:
// it is never 1.
func Success(wrong float64) string {
	switch {
	case wrong < 5e-5:
		return "1 - " + Chance(wrong)
	case 1-wrong < 5e-5:
		return "below 0.0001"
	}
	return fmt.Sprintf("%.4f", 1-wrong)
}
