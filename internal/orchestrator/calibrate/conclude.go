package calibrate

import (
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/stats"
	"github.com/maker-mdap/maker/vote"
)

// Whether a vote gains anything.
const (
	Gains   = "yes"
	NoGain  = "no"
	Unclear = "unclear"
)

// The gain below which a vote is not worth its cost: two items in a hundred, or a tenth
// of the errors, if that is more.
const (
	worth  = 0.02
	worthy = 0.1
)

// DrawnAlike is what a forecast from a distribution assumes.
const DrawnAlike = "steps are drawn as these items were, samples are independent given the item, wrong answers to an item agree, and no cap ends a vote"

const notMeasured = "; how p differs between items was not measured"

// conclude works out what the samples mean.
func (m *measuring) conclude() event.Calibrated {
	e := event.Calibrated{
		Problems: len(m.chosen), Basis: Known, Confidence: stats.Confidence,
		Target: m.Target, Steps: m.Steps, MaxK: m.MaxK, PHigh: 1, VHigh: 1,
	}
	var right, valid, voted []stats.Cluster
	for _, list := range m.taken {
		c := counted(list)
		voted = append(voted, counted(voting(list)))
		e.Samples, e.Valid, e.Right = e.Samples+len(list), e.Valid+c.Total, e.Right+c.Good
		right, valid = append(right, c), append(valid, stats.Cluster{Good: c.Total, Total: len(list)})
	}
	p, v := stats.Share(right), stats.Share(valid)
	e.P, e.PLow, e.PHigh, e.PUsed = p.Value, p.Low, p.High, p.Low
	e.V, e.VLow, e.VHigh = v.Value, v.Low, v.High
	if e.Valid == 0 {
		if o := m.discarded(); o != nil {
			e.Reason = nothingValid(e.Samples, o.said, o.flag)
		}
		return e
	}

	d := &event.Measured{Items: len(m.chosen), Of: len(m.Items.Items), Repeated: m.Repeated, Cells: cells(voted)}
	for _, list := range m.taken {
		if c := counted(list); c.Total == 0 {
			d.Silent++
		} else if len(voting(list)) >= DeepSamples {
			d.Deep++
		}
	}
	m.parts(d)
	if d.Deep < DeepItems {
		m.alike(&e)
		d.Gain = Unclear
		d.Says = []string{fmt.Sprintf("Whether a vote gains anything was not measured: that takes %d samples of at least %d items, and there are %d such items.",
			DeepSamples, DeepItems, d.Deep)}
	} else {
		fit := Fit(d.Cells)
		m.margin(&e, d, fit)
		m.gain(max(e.K, usualK), e.P, d, fit)
	}
	d.Says = append(d.Says, m.advice(&e, d)...)
	e.Measured = d
	if e.V > 0 {
		e.SamplesPerStep /= e.V
	}
	return e
}

// discarded is a sample that was not valid.
func (m *measuring) discarded() *outcome {
	for _, list := range m.taken {
		for i := range list {
			if !list[i].valid {
				return &list[i]
			}
		}
	}
	return nil
}

// cells count the items with the same result, best first.
func cells(items []stats.Cluster) []event.Cell {
	var list []event.Cell
	for _, c := range items {
		if c.Total == 0 {
			continue
		}
		i := slices.IndexFunc(list, func(x event.Cell) bool { return x.Right == c.Good && x.Valid == c.Total })
		if i < 0 {
			i, list = len(list), append(list, event.Cell{Right: c.Good, Valid: c.Total})
		}
		list[i].Items++
	}
	slices.SortFunc(list, func(a, b event.Cell) int {
		if a.Valid != b.Valid {
			return b.Valid - a.Valid
		}
		return b.Right - a.Right
	})
	return list
}

// Fit is the distribution that the cells of a measurement tell.
func Fit(list []event.Cell) *stats.Mixture {
	var of []stats.Cell
	for _, c := range list {
		of = append(of, stats.Cell(c))
	}
	return stats.Fit(of)
}

func rangeOf(i stats.Interval) *event.Range {
	r := event.Range(i)
	return &r
}

// parts fills in what is known of voters and framings, and of what they have in common.
func (m *measuring) parts(d *event.Measured) {
	var samples []stats.Sample
	framings := 1
	for item, list := range m.taken {
		for _, o := range list {
			framings = max(framings, o.framing+1)
			if o.valid {
				samples = append(samples, stats.Sample{Item: item, Framing: o.framing, Voter: o.voter, Right: o.right, Answer: o.key})
			}
		}
	}
	for i, v := range m.Voters {
		d.Voters = append(d.Voters, m.part(v.Name, func(o outcome) bool { return o.voter == i }))
	}
	for i := range framings {
		d.Framings = append(d.Framings, m.part(fmt.Sprint(i+1), func(o outcome) bool { return o.framing == i }))
	}
	icc := stats.Correlations(samples)
	for r, to := range [...]**event.Range{stats.SameFraming: &d.SameFraming, stats.OtherFraming: &d.AcrossFramings, stats.OtherVoter: &d.AcrossVoters} {
		if icc[r] != nil {
			*to = rangeOf(*icc[r])
		}
	}
	for _, t := range stats.ErrTogether(samples, len(m.Voters)) {
		both := event.ErrTogether{A: m.Voters[t.A].Name, B: m.Voters[t.B].Name, Items: t.Pairs, Both: event.Range(t.Both), IfAlone: t.Chance}
		if t.Both.Value > 0 {
			both.SameAnswer = &t.Alike
		}
		d.Together = append(d.Together, both)
	}
	m.baseline(d)
}

// baseline is what the greedy samples of each voter came to, and of the best of them.
func (m *measuring) baseline(d *event.Measured) {
	for i := range m.Voters {
		var greedy []stats.Cluster
		for _, list := range m.greedy {
			if list = by(i, list); len(list) > 0 { // one that cannot be read is no right answer
				greedy = append(greedy, stats.Cluster{Good: counted(list).Good, Total: 1})
			}
		}
		if len(greedy) == 0 {
			continue
		}
		v := &d.Voters[i]
		v.Greedy = rangeOf(stats.Share(greedy))
		if d.Greedy == nil || v.Greedy.Low > d.Greedy.Low || v.Greedy.Low == d.Greedy.Low && v.Name < m.Voters[m.best].Name {
			m.best, d.Greedy = i, v.Greedy
		}
	}
	if len(m.Voters) > 1 && d.Greedy != nil {
		d.GreedyBy = m.Voters[m.best].Name
	}
}

// part is what some of the samples came to.
func (m *measuring) part(name string, of func(outcome) bool) event.MeasuredPart {
	p := event.MeasuredPart{Name: name}
	var right, valid []stats.Cluster
	for _, list := range m.taken {
		var some []outcome
		for _, o := range list {
			if of(o) {
				some = append(some, o)
			}
		}
		c := counted(some)
		p.Samples += len(some)
		right, valid = append(right, c), append(valid, stats.Cluster{Good: c.Total, Total: len(some)})
	}
	if p.V = event.Range(stats.Share(valid)); p.V.Value > 0 {
		p.P = rangeOf(stats.Share(right))
	}
	return p
}

// alike sets the margin where nothing but p is known: from its lower end.
func (m *measuring) alike(e *event.Calibrated) {
	c := Config{Target: m.Target, Steps: m.Steps, MaxK: m.MaxK}
	c.margin(e)
	e.SamplesPerStep = vote.ExpectedVotes(e.PUsed, e.K)
	e.Assumes = alike + notMeasured
}

// margin sets the margin by the distribution, at the bad end of what was measured.
func (m *measuring) margin(e *event.Calibrated, d *event.Measured, fit *stats.Mixture) {
	d.BelowHalf, d.Middling, d.Easy = rangeOf(fit.Between(0, 0.5)), rangeOf(fit.Between(0.5, 0.8)), rangeOf(fit.Between(0.8, 1))
	k, ok := fit.MinK(m.Steps, m.Target, m.MaxK)
	f := fit.Forecast(k, max(m.Steps, 1))
	e.K, e.Limited, e.Assumes = k, !ok, DrawnAlike
	e.StepError, e.SamplesPerStep = f.StepError.Value, f.Votes
	d.StepError = rangeOf(f.StepError)
	if m.Steps > 0 {
		e.RunError = f.RunError.Value
	}
	switch {
	case ok:
	case stats.AnyWrong(d.BelowHalf.Low, max(m.Steps, 1)) > m.Target:
		e.Reason = "no margin reaches the target: too many items are below one half"
	case stats.AnyWrong(f.StepError.Value, max(m.Steps, 1)) <= m.Target:
		e.Reason = "the target may be reached, but so few items do not show it: at the bad end of what was measured no margin reaches it"
	default:
		e.Reason = fmt.Sprintf("no margin up to %d reaches the target", m.MaxK)
	}
}

// usualK is the margin that a vote has at least, to say what one is worth.
const usualK = 3

// gain says what a vote with margin k is worth.
func (m *measuring) gain(k int, p float64, d *event.Measured, fit *stats.Mixture) {
	over := fit.Gain(k)
	d.GainOverSample = rangeOf(over)
	most, least := over.High, over.Low
	if d.Greedy != nil {
		var differences []float64
		for i, list := range m.greedy {
			if c := counted(voting(m.taken[i])); len(by(m.best, list)) > 0 && c.Total > 0 {
				voted := fit.Posterior(c.Good, c.Total, func(p float64) float64 { return vote.StepSuccess(p, k) })
				differences = append(differences, voted-float64(counted(by(m.best, list)).Good))
			}
		}
		greedy := stats.Mean(differences)
		d.GainOverGreedy = rangeOf(greedy)
		most, least = min(most, greedy.High), min(least, greedy.Low)
	}
	voted := fit.Mean(func(p float64) float64 { return vote.StepSuccess(p, k) })
	outcome := fmt.Sprintf("with k = %d one is right on %s of the items", k, percents(voted))
	switch {
	case most < max(worth, worthy*(1-p)):
		d.Gain = NoGain
		d.Says = []string{fmt.Sprintf("A vote gains nothing worth having here: %s, %s.", outcome, m.against(d))}
	case least > 0:
		d.Gain = Gains
		d.Says = []string{fmt.Sprintf("A vote gains: %s, %s.", outcome, m.against(d))}
	default:
		d.Gain = Unclear
		d.Says = []string{fmt.Sprintf("Whether a vote gains is not clear yet: %s, %s. More items would tell.", outcome, m.against(d))}
	}
}

// against is what a vote is held against, in words.
func (m *measuring) against(d *event.Measured) string {
	text := fmt.Sprintf("which is %s points over one of its samples", points(d.GainOverSample))
	if d.GainOverGreedy != nil {
		text += fmt.Sprintf(" and %s over one greedy sample", points(d.GainOverGreedy))
		if d.GreedyBy != "" {
			text += fmt.Sprintf(" of %s, the best alone", d.GreedyBy)
		}
	}
	return text
}

func percents(i stats.Interval) string {
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*i.Value, 100*i.Low, 100*i.High)
}

func points(r *event.Range) string {
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*r.Value, 100*r.Low, 100*r.High)
}

const (
	copies    = 0.9  // a correlation from which samples say nothing new
	lessAlike = 0.1  // a difference of correlations that is worth something
	someFlags = 0.05 // a share of discarded answers that is worth a word
	hopeless  = 0.01 // a share of items below one half that is worth a word
)

// advice says what would help.
func (m *measuring) advice(e *event.Calibrated, d *event.Measured) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if d.BelowHalf != nil && d.BelowHalf.Value >= hopeless {
		say("%.1f %% of the items (%.1f to %.1f) are right less often than not, which no vote can mend: the larger the margin, the nearer a vote comes to %.1f %%.",
			100*d.BelowHalf.Value, 100*d.BelowHalf.Low, 100*d.BelowHalf.High, 100*(1-d.BelowHalf.Value))
	}
	if 1-e.V >= someFlags {
		say("%.1f %% of the answers cannot be read or are discarded: a shorter form of answer, or --structured-mode, would save them.", 100*(1-e.V))
	}
	if d.SameFraming != nil && d.SameFraming.Value >= copies {
		say("Samples in one framing are nearly copies of each other (correlation %.2f): another --temperature or other framings would make opinions of them.", d.SameFraming.Value)
	}
	if i := m.worse(len(d.Framings), func(o outcome) int { return o.framing }); i >= 0 {
		say("Framing %s is clearly worse than the others: leave it out, or mend it.", d.Framings[i].Name)
	}
	if i := m.worse(len(d.Voters), func(o outcome) int { return o.voter }); i >= 0 {
		say("The voter %s is clearly worse than the others: leave it out.", d.Voters[i].Name)
	}
	if d.Gain == Gains && e.P >= 0.5 && (d.BelowHalf == nil || d.BelowHalf.Value < hopeless) {
		return list
	}
	switch same, across := d.SameFraming, d.AcrossFramings; {
	case len(d.Framings) == 1:
		say("Other examples and other framings of the prompt often err elsewhere. They were not measured: this prompt has one framing (--prompts-dir with ask_2.tmpl adds one).")
	case same == nil || across == nil:
	case same.Value-across.Value >= lessAlike:
		say("Asking in several framings helps: errors are less alike across them (correlation %.2f) than within one (%.2f).", across.Value, same.Value)
	default:
		say("The framings do not help: errors are as alike across them (correlation %.2f) as within one (%.2f).", across.Value, same.Value)
	}
	if len(m.Voters) == 1 {
		say("Another model may not share these errors (--voters A,B). It was not measured.")
	} else if text := apart(d); text != "" {
		say("%s", text)
	}
	say("Where code can check an answer, let it: a check sees what no vote can.")
	return list
}

// worse is which of several framings or voters is clearly worse than the others; -1 if
// none is.
func (m *measuring) worse(several int, which func(outcome) int) int {
	if several < 2 {
		return -1
	}
	records := make([]vote.Record, several)
	for _, list := range m.taken {
		for _, o := range list {
			records[which(o)].Samples++
			if !o.right {
				records[which(o)].Bad++
			}
		}
	}
	return vote.Worse(records)
}

// apart says which voters err least together. Nothing is known about the errors of one
// that made none.
func apart(d *event.Measured) string {
	var best *event.ErrTogether
	for i := range d.Together {
		if t := &d.Together[i]; t.A != t.B && (best == nil || t.Both.Value < best.Both.Value) {
			best = t
		}
	}
	switch {
	case best == nil || best.IfAlone == 0:
		return ""
	case best.Both.Value == 1:
		return "None of the voters was right once: another model would be worth more."
	case d.AcrossVoters == nil:
		return ""
	}
	verdict := "they share their errors, so that another model would be worth more"
	if d.AcrossVoters.Value < 0.5 {
		verdict = "they err apart, so that voting together helps"
	}
	return fmt.Sprintf("%s and %s are both wrong on %.1f %% of the items, %.1f %% if they erred independently: %s.",
		best.A, best.B, 100*best.Both.Value, 100*best.IfAlone, verdict)
}
