package screen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/runs"
)

// A block is a part of the screen. Where there is not enough room those with the highest
// rank are left out first.
type block struct {
	rank  int
	lines []string
}

// columns is how wide a line may be: one that reaches the last column makes some terminals
// wrap.
func (m *Model) columns() int { return max(m.width-1, 8) }

// lines draw the model in no more rows than there are.
func (m *Model) lines() []string {
	rows := max(m.height-1, 1)
	blocks := []block{
		{2, []string{m.style(bold, m.cut(" "+show.Line(m.head.Task)))}},
		{0, nil}, // entries, in what is left
		{1, m.progress()},
		{3, m.money()},
		{5, m.outlook()},
		{4, m.deciding()},
		{6, m.servers()},
		{7, m.contested()},
		{8, m.shares()},
		{0, []string{m.help()}},
	}
	if m.opened {
		blocks[4].lines, blocks[5].lines, blocks[7].lines, blocks[8].lines = nil, nil, nil, nil
	}
	for rank := 8; count(blocks)+m.fewest() > rows && rank > 0; rank-- {
		for i := range blocks {
			if blocks[i].rank == rank {
				blocks[i].lines = nil
			}
		}
	}
	blocks[1].lines = m.shown(rows - count(blocks))
	var out []string
	for _, b := range blocks {
		out = append(out, b.lines...)
	}
	if len(out) > rows {
		out = out[len(out)-rows:]
	}
	return out
}

func count(blocks []block) int {
	n := 0
	for _, b := range blocks {
		n += len(b.lines)
	}
	return n
}

// fewest is how many rows the entries need at least to be of use.
func (m *Model) fewest() int {
	if m.opened {
		return 8
	}
	return min(len(m.list.items), 5)
}

// entries are what a person can choose one of: the steps, or where those are too many to
// list the contested ones.
func (m *Model) entries() []item {
	if len(m.list.items) > 0 {
		return m.list.items
	}
	out := make([]item, len(m.p.Contests))
	for i, c := range m.p.Contests {
		out[i] = item{step: c.Step, name: report.StepOf(m.head.Form, c.Step), status: outline.StatusCompleted, votes: c.Voting.Split()}
		out[i].title = "contested"
		if c.Status != "decided" {
			out[i].status, out[i].title = outline.StatusFailed, c.Status
		}
		if m.head.Form == event.FormScript { // whose steps have no name before they are over
			out[i].title += " " + askedBy(c.Question)
		}
		out[i].contest = &m.p.Contests[i]
	}
	return out
}

// askedBy is what of the key of a script's question tells a person who asks it: the functions,
// and which item or turn.
func askedBy(key string) string {
	if i := strings.LastIndex(key, "/ask/"); i >= 0 {
		return key[:i]
	}
	if i := strings.LastIndex(key, "/act/"); i >= 0 {
		return key[:i]
	}
	return key
}

// choices is how many entries there are.
func (m *Model) choices() int {
	if n := len(m.list.items); n > 0 {
		return n
	}
	return len(m.p.Contests)
}

// tellContest says how a contested step was decided. Most are never looked into.
func tellContest(c *runs.Contest) []string {
	lines := []string{
		fmt.Sprintf("%d samples, %d flagged, %d faults", c.Voting.Samples, c.Voting.RedFlagged, c.Voting.Faults), "won: " + show.Line(c.Output.Compact()),
	}
	return append(lines, runs.DescribeDissent(c.Voting, c.Output)...)
}

// shown are the entries in so many rows, or the one that is open.
func (m *Model) shown(rows int) []string {
	if rows < 1 || m.choices() == 0 || len(m.list.items) == 0 && !m.choosing {
		return nil
	}
	entries := m.entries()
	at := m.list.current
	if m.choosing {
		at = min(m.chosen, len(entries)-1)
	}
	if m.opened {
		return m.openedEntry(entries[at], rows)
	}
	if rows < len(entries) && rows < 4 {
		return nil
	}
	from, to := around(at, len(entries), rows)
	var out []string
	if from > 0 {
		out = append(out, m.style(dim, m.cut("  … "+countItems(entries[:from]))))
	}
	for i := from; i < to; i++ {
		out = append(out, m.entry(entries[i], m.choosing && i == at))
	}
	if to < len(entries) {
		out = append(out, m.style(dim, m.cut("  … "+countItems(entries[to:]))))
	}
	return out
}

func (m *Model) entry(e item, chosen bool) string {
	text := fmt.Sprintf("%s %s %s", Mark(e.status), e.name, show.Line(e.title))
	if chosen {
		text = "> " + text
	}
	if e.votes != "" {
		votes := "  " + e.votes
		text = Cut(text, m.columns()-lipgloss.Width(votes)) + votes
	}
	look := look(0)
	switch e.status {
	case outline.StatusRunning:
		look = cyan
	case outline.StatusCompleted:
		look = green
	case outline.StatusFailed:
		look = red
	case outline.StatusNeedsClarification:
		look = yellow
	}
	if chosen {
		look = bold
	}
	return m.style(look, m.cut(text))
}

// openedEntry is what happened in one of the entries.
func (m *Model) openedEntry(e item, rows int) []string {
	out := []string{m.entry(e, true)}
	if e.contest != nil {
		e.lines = tellContest(e.contest)
	}
	var lines []string
	for _, line := range e.lines {
		for part := range strings.Lines(lipgloss.Wrap(line, max(m.columns()-4, 8), "")) {
			lines = append(lines, "    "+strings.TrimRight(part, "\n"))
		}
	}
	if len(lines) == 0 {
		lines = []string{"    nothing happened yet"}
	}
	room := max(min(rows-2, 30), 1)
	m.scroll = max(0, min(m.scroll, len(lines)-room))
	part := lines[m.scroll:min(len(lines), m.scroll+room)]
	for _, line := range part {
		out = append(out, m.cut(line))
	}
	if len(part) < len(lines) {
		out = append(out, m.style(dim, m.cut(fmt.Sprintf("    lines %d to %d of %d", m.scroll+1, m.scroll+len(part), len(lines)))))
	}
	return out
}

// progress says how far the run is and how fast.
func (m *Model) progress() []string {
	done, total, name := m.p.Steps, m.p.Total, "step"
	switch m.head.Form {
	case event.FormRecords:
		name = "record"
	case event.FormMeasurement:
		name = "sample"
	}
	if n := len(m.list.items); n > 0 {
		done, total = m.list.done(), n
		if m.head.Form == event.FormTasks {
			name = "task"
		}
	}
	speed := m.pace.Speed()
	var parts []string
	if total > 0 {
		percent := min(100, 100*float64(done)/float64(total))
		parts = append(parts, m.style(cyan, bar(percent, min(24, m.columns()-8)))+fmt.Sprintf(" %5.1f %%", percent),
			fmt.Sprintf("%s of %s", report.Thousands(done), report.Count(total, name)))
	} else {
		what := report.Count(done, name)
		if done == 0 && m.head.Form == event.FormPlan {
			what = "a plan is being made"
		}
		parts = append(parts, what)
	}
	if speed > 0 {
		parts = append(parts, rate(speed))
	}
	if total > done && m.phase == running {
		parts = append(parts, eta(total-done, speed, Outage(m.p)))
	}
	return m.flow(append(parts, m.p.Elapsed.Round(time.Second).String()+" so far"))
}

// money says what was spent, what is left, and what for.
func (m *Model) money() []string {
	p := &m.p
	usd := p.Spent.CostUSD()
	cost := runs.DescribeCost(usd)
	switch {
	case usd == nil:
		cost = "cost unknown"
	case p.Limits.USD > 0:
		left := max(0, p.Limits.USD-*usd)
		cost += fmt.Sprintf(" of %s (%s left)", runs.DescribeCost(&p.Limits.USD), runs.DescribeCost(&left))
	}
	parts := []string{cost}
	if n := p.Limits.Tokens; n > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s tokens", report.Thousands(int(p.Spent.Tokens.Total())), report.Thousands(int(n))))
	}
	if n := p.Limits.Calls; n > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", report.Thousands(int(p.Spent.Calls)), report.Count(int(n), "call")))
	}
	if m.head.Form != event.FormMeasurement { // whose samples are its progress
		samples := report.Count(p.Samples, "sample")
		if p.Session > 0 {
			samples = fmt.Sprintf("%.2f samples a step", float64(p.Samples)/float64(p.Session))
		}
		parts = append(parts, samples, report.Thousands(p.Contested)+" contested")
	}
	if known := Known(*p); known != "" {
		parts = append(parts, known)
	}
	faults := report.Count(p.Faults, "fault")
	if p.Steps > p.Session { // not all of those before are in the log
		faults += " (both since the resume)"
	}
	parts = append(parts, report.Thousands(p.RedFlagged)+" flagged", faults)
	if m.head.Rule != "" {
		parts = append(parts, m.head.Rule)
	}
	return m.flow(parts)
}

// outlook says how likely it is that everything is right, where that is known.
func (m *Model) outlook() []string {
	o := m.p.Outlook
	if o == nil {
		return nil
	}
	parts := []string{
		fmt.Sprintf("P(all likeliest) %.1f %% so far", 100*o.Bound), fmt.Sprintf("%.1f %% at the end", 100*o.Forecast),
		fmt.Sprintf("%.2g expected wrong", o.ExpectedWrong),
	}
	if o.VotesToCome > 0 { // otherwise it is not known yet, or there are none
		to := fmt.Sprintf("about %s votes to come", report.Thousands(o.VotesToCome))
		if o.USDToCome != nil {
			to += " for " + runs.DescribeCost(o.USDToCome)
		}
		parts = append(parts, to)
	}
	if o.Dearest != "" {
		parts = append(parts, "most votes: "+show.Line(o.Dearest))
	}
	out := m.flow(parts)
	if f := m.p.Futile; f != nil {
		warning := fmt.Sprintf("more votes will not make it right: about %.0f of %s are near ties", f.NearTies, report.Count(f.Races, "question"))
		out = append(out, m.style(red, m.cut(warning)))
	}
	return out
}

// deciding are the votes of what is being decided, as they come.
func (m *Model) deciding() []string {
	if len(m.p.Open) == 0 || m.head.Form == event.FormMeasurement { // which has no votes
		return nil
	}
	// The one with votes says most; what has none yet was just begun.
	q := slices.MaxFunc(m.p.Open, func(a, b runs.OpenQuestion) int { return cmp.Compare(len(a.Votes), len(b.Votes)) })
	name := report.StepOf(m.head.Form, q.Step)
	if at := m.list.at(q.Step); at != nil {
		name += " " + show.Line(at.title)
	}
	if more := m.p.Deciding - 1; more > 0 {
		name += fmt.Sprintf(" (and %s more)", report.Thousands(more))
	}
	var counts []string
	votes := slices.Clone(q.Votes)
	slices.SortStableFunc(votes, func(a, b runs.OpenVotes) int { return b.Votes - a.Votes })
	for _, v := range votes {
		counts = append(counts, fmt.Sprint(v.Votes))
	}
	parts := []string{m.style(bold, Cut(name, m.columns()))}
	if len(counts) > 0 {
		parts = append(parts, "votes "+strings.Join(counts, "-"))
	}
	for _, c := range []struct {
		n    int
		what string
	}{{q.InFlight, "in flight"}, {q.RedFlagged, "flagged"}, {q.Retried, "retried"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	out := m.flow(parts)
	for _, v := range votes[:min(len(votes), 4)] {
		dots := strings.Repeat("●", min(v.Votes, 10))
		if v.Votes > 10 {
			dots += fmt.Sprintf(" %d", v.Votes)
		}
		out = append(out, m.cut("  "+dots+" "+show.ExactLine(v.Answer)))
	}
	return out
}

// servers are how those that answer do, and which of their models do not.
func (m *Model) servers() []string {
	var out []string
	line := func(name, state string, look look) {
		out = append(out, m.style(look, m.cut(Cut(show.Line(name), m.columns()/2)+"  "+show.Line(state))))
	}
	for _, s := range m.p.Servers {
		state, look := serverState(s, time.Now())
		if len(s.Models) == 1 {
			line(s.Models[0].Name, state, look)
			continue
		}
		line(s.Provider, state, look)
		for _, model := range s.Models {
			if model.LastError != "" {
				line("  "+model.Name, "failing: "+model.LastError, yellow)
			} else {
				line("  "+model.Name, fmt.Sprintf("%d in flight", model.InFlight), dim)
			}
		}
	}
	return out
}

func serverState(s runs.Server, now time.Time) (string, look) {
	wait := max(0, s.Until.Sub(now)).Round(100 * time.Millisecond)
	why := ""
	if s.LastError != "" {
		why = ": " + s.LastError
	}
	switch {
	case s.Failing:
		return fmt.Sprintf("open circuit, next try in %s%s", wait, why), red
	case wait > 0:
		return fmt.Sprintf("limited, next call in %s%s", wait, why), yellow
	case why != "":
		return fmt.Sprintf("failing, %d of %d in flight%s", s.InFlight, s.Limit, why), yellow
	case s.Waiting > 0:
		return fmt.Sprintf("limited to %d at once, %s waiting", s.Limit, report.Thousands(s.Waiting)), yellow
	default:
		return fmt.Sprintf("%d of %d in flight", s.InFlight, s.Limit), dim
	}
}

// contested are the latest contested steps.
func (m *Model) contested() []string {
	if len(m.p.Contests) == 0 || m.choosing && len(m.list.items) == 0 {
		return nil
	}
	var parts []string
	for i := range slices.Backward(m.p.Contests) {
		c := &m.p.Contests[i]
		parts = append(parts, fmt.Sprintf("%s %s", report.StepOf(m.head.Form, c.Step), c.Voting.Split()))
		if len(parts) == 10 {
			break
		}
	}
	return []string{m.cut("contested lately: " + strings.Join(parts, ", "))}
}

// shares are how often each answer came.
func (m *Model) shares() []string {
	if text := Shares(m.p); text != "" {
		return []string{m.cut("answers: " + text)}
	}
	return nil
}

// mostShares is how many answers are named.
const mostShares = 8

// Shares are how often each answer came, the most frequent first and the others together, or
// why none is named; empty where there is nothing to tell.
func Shares(p maker.Progress) string {
	total := p.OtherAnswers
	for _, n := range p.Answers {
		total += n
	}
	if total == 0 {
		return ""
	}
	share := func(name string, n int) string { return fmt.Sprintf("%s %.0f %%", name, 100*float64(n)/float64(total)) }
	others := total
	var parts []string
	for _, answer := range slices.SortedFunc(maps.Keys(p.Answers), func(a, b string) int {
		return cmp.Or(p.Answers[b]-p.Answers[a], strings.Compare(a, b))
	}) {
		if len(parts) == mostShares {
			break
		}
		parts = append(parts, share(clip.Text(show.Line(strings.Trim(answer, `"`)), 40), p.Answers[answer]))
		others -= p.Answers[answer]
	}
	switch {
	case len(parts) == 0:
		return "too different or too long to tell how often each came"
	case others > 0:
		parts = append(parts, share("others", others))
	}
	return strings.Join(parts, ", ")
}

// Known says how many of the known answers are right; empty if none is known.
func Known(p maker.Progress) string {
	if p.Known == 0 {
		return ""
	}
	return fmt.Sprintf("known: %s of %s right", report.Thousands(p.Right), report.Thousands(p.Known))
}

// help is what keys do now.
func (m *Model) help() string {
	switch {
	case m.phase == cancelling:
		return m.style(yellow, m.cut("cancelling; Ctrl-C again leaves at once"))
	case m.phase == pausing:
		return m.style(yellow, m.cut("pausing"))
	case m.asking:
		return m.style(yellow, m.cut("cancel the run? what is committed stays. y cancels, any other key does not"))
	case m.phase == paused:
		return m.style(yellow, m.cut("paused: p goes on, q leaves it so, maker resume goes on later"))
	case !m.keys:
		return m.style(dim, m.cut("Ctrl-C cancels; what is committed stays"))
	}
	parts := []string{"p pause", "q cancel"}
	switch {
	case m.opened:
		parts = append(parts, "↑↓ scroll", "enter close")
	case m.choices() > 0:
		parts = append(parts, "↑↓ enter show a step")
	}
	keys := strings.Join(parts, "  ")
	if closer := strings.Join(parts, " "); Width(keys) > m.columns() && Width(closer) <= m.columns() {
		keys = closer
	}
	return m.style(dim, m.cut(keys))
}

// before is what stays above a question: whoever is asked sees what it is about.
func (m *Model) before() []string {
	begun := func(i item) bool { return i.status != outline.StatusPlanned }
	if !slices.ContainsFunc(m.list.items, begun) {
		return nil
	}
	m.choosing, m.opened = false, false
	return m.shown(min(7, m.height-3))
}

// last is what stays when the run has ended.
func (m *Model) last() []string {
	m.choosing, m.opened = false, false
	return slices.Concat(m.shown(max(1, min(mostItems, m.height-5))), m.progress(), m.money())
}

// flow puts parts on lines, as many on one as fit.
func (m *Model) flow(parts []string) []string {
	var out []string
	line := ""
	for _, part := range parts {
		part = Cut(part, m.columns())
		switch {
		case line == "":
			line = part
		case lipgloss.Width(line)+2+lipgloss.Width(part) > m.columns():
			out, line = append(out, line), part
		default:
			line += "  " + part
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

func (m *Model) cut(s string) string { return Cut(s, m.columns()) }

// Wrap is a text in lines of a width at most, broken between words.
func Wrap(text string, width int) []string {
	lines := strings.Split(lipgloss.Wrap(text, width, ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// Width is how many columns a line takes.
func Width(s string) int { return lipgloss.Width(s) }

// Cut cuts a line, which may be styled, to so many columns.
func Cut(s string, n int) string {
	if lipgloss.Width(s) <= n {
		return s
	}
	return lipgloss.NewStyle().MaxWidth(max(n-1, 0)).Render(s) + "…"
}

// A look is how a text is drawn where there are colours.
type look int

const (
	bold look = iota + 1
	dim
	red
	green
	yellow
	cyan
)

var looks = map[look]lipgloss.Style{
	bold: lipgloss.NewStyle().Bold(true), dim: lipgloss.NewStyle().Faint(true), red: lipgloss.NewStyle().Foreground(lipgloss.Red),
	green: lipgloss.NewStyle().Foreground(lipgloss.Green), yellow: lipgloss.NewStyle().Foreground(lipgloss.Yellow), cyan: lipgloss.NewStyle().Foreground(lipgloss.Cyan),
}

func (m *Model) style(l look, s string) string {
	if style, ok := looks[l]; ok && m.color && s != "" {
		return style.Render(s)
	}
	return s
}

func bar(percent float64, width int) string {
	full := min(width, max(0, int(percent/100*float64(width))))
	return strings.Repeat("█", full) + strings.Repeat("░", max(0, width-full))
}
