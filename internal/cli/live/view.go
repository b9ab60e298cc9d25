// Package live shows a run on a terminal while it goes on.
package live

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// A View shows the progress of a run: a few live lines on a terminal, a plain
// line now and then elsewhere.
type View struct {
	w      io.Writer
	width  func() int // of the terminal; nil if there is none
	color  bool
	lines  int        // drawn and still on the screen
	drawn  string     // what they are
	height func() int // of the terminal; nil if there is none
	list   checklist  // of the tasks, if the run has some
	period time.Duration

	mu      sync.Mutex
	paused  bool     // somebody else is writing
	waiting []string // lines that came meanwhile

	asked chan struct{} // gets one for each question that was announced
}

// Pause takes the live lines away until [View.Resume], once the question that is about to be
// put was announced: its event may still be on its way.
func (v *View) Pause() {
	select {
	case <-v.asked:
	case <-time.After(time.Second):
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.leaveList()
	v.clear()
	v.paused = true
}

// Resume lets the view go on.
func (v *View) Resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = false
	for _, line := range v.waiting {
		fmt.Fprintf(v.w, "%s\n", line)
	}
	v.waiting = nil
}

// New returns a view that is written to w.
func New(w io.Writer) *View {
	v := &View{w: w, period: 10 * time.Second, asked: make(chan struct{}, 64)}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return v
	}
	v.period = 100 * time.Millisecond
	v.color = os.Getenv("NO_COLOR") == ""
	v.width = func() int {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
		return 80
	}
	v.height = func() int {
		if _, n, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
		return 24
	}
	return v
}

// Watch returns when the run has ended.
func (v *View) Watch(run *maker.Run) {
	fmt.Fprintf(v.w, "run %s\n", run.ID())
	sayRule(v.w, run.Rule())
	tick := time.NewTicker(v.period)
	defer tick.Stop()
	var speed meter
	for {
		select {
		case <-tick.C:
			p := run.Progress()
			v.draw(p, speed.update(time.Now(), p.Session))
		case <-run.Done():
			v.clear()
			return
		}
	}
}

// sayRule says how a run votes, if that is not what the reader knows from the command line.
func sayRule(w io.Writer, rule vote.Rule) {
	if rule.Strategy == vote.Adaptive {
		fmt.Fprintf(w, "votes by %s\n", runs.DescribeRule(rule))
	}
}

// outlook is how a run stands whose margins adapt, and how it is thought to end.
func outlook(p maker.Progress) string {
	o := p.Outlook
	to := fmt.Sprintf("about %s votes to come", report.Thousands(o.VotesToCome))
	if usd := p.Spent.CostUSD(); usd != nil && p.Spent.Calls > 0 {
		rest := *usd / float64(p.Spent.Calls) * float64(o.VotesToCome)
		to += " for " + runs.DescribeCost(&rest)
	}
	text := fmt.Sprintf("P(all likeliest) %.1f %% so far, %.1f %% at the end, %.2g expected wrong, %s", 100*o.Bound, 100*o.Forecast, o.ExpectedWrong, to)
	if o.Dearest != "" {
		text += ", most votes: " + show.Line(o.Dearest)
	}
	return text
}

func (v *View) draw(p maker.Progress, perSecond float64) {
	eta := "unknown"
	if perSecond > 0 {
		eta = time.Duration(float64(p.Total-p.Steps) / perSecond * float64(time.Second)).Round(time.Second).String()
	}
	counts := fmt.Sprintf("%s/%s steps, %s steps/s, ETA %s", report.Thousands(p.Steps), report.Thousands(p.Total), rate(perSecond), eta)
	perStep := 0.0
	if p.Session > 0 {
		perStep = float64(p.Samples) / float64(p.Session)
	}
	votes := fmt.Sprintf("%.2f samples/step, %s contested, %s flagged, %s faults, %s",
		perStep, report.Thousands(p.Contested), report.Thousands(p.RedFlagged), report.Thousands(p.Faults), runs.DescribeCost(p.Spent.CostUSD()))
	if p.Outlook != nil {
		votes += "; " + outlook(p)
	}
	trouble := show.Line(p.Trouble)
	if v.width == nil {
		fmt.Fprintf(v.w, "%5.1f %%  %s; %s\n", percent(p), counts, votes)
		if trouble != "" {
			fmt.Fprintf(v.w, "        %s\n", trouble)
		}
		return
	}
	lines := []string{
		fmt.Sprintf("%s %5.1f %%  %s", v.paint("36", bar(percent(p), 24)), percent(p), counts),
	}
	lines = append(lines, strings.Split(votes, "; ")...)
	if trouble != "" {
		lines = append(lines, v.paint("33", trouble))
	}
	v.redraw(lines)
}

// redraw puts live lines in the place of those that are on the screen. It is one
// write that overwrites line by line, so that nothing flickers, and none at all if
// nothing has changed.
func (v *View) redraw(lines []string) {
	columns := v.width() - 1
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(fit(line, columns) + "\x1b[K\n")
	}
	if b.String() == v.drawn && v.lines == len(lines) {
		return
	}
	up := ""
	if v.lines > 0 {
		up = fmt.Sprintf("\x1b[%dA", v.lines)
	}
	rest := ""
	if v.lines > len(lines) {
		rest = "\x1b[J"
	}
	fmt.Fprint(v.w, up+b.String()+rest)
	v.lines, v.drawn = len(lines), b.String()
}

// clear removes the live lines.
func (v *View) clear() {
	if v.lines > 0 {
		fmt.Fprintf(v.w, "\x1b[%dA\x1b[J", v.lines)
		v.lines = 0
	}
}

func (v *View) paint(code, s string) string {
	if !v.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// fit cuts a line to n columns, so that it never wraps: a wrapped line could not be
// redrawn in place.
func fit(s string, n int) string {
	var b strings.Builder
	used, escape := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			if used += columnsOf(r); used > n {
				continue
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// columnsOf is how many columns a character takes: text that others wrote has some
// that take two, or none.
func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

func bar(percent float64, width int) string {
	full := min(width, max(0, int(percent/100*float64(width))))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

func percent(p maker.Progress) float64 {
	if p.Total == 0 {
		return 0
	}
	return 100 * float64(p.Steps) / float64(p.Total)
}

// meter measures the recent speed.
type meter struct {
	at    time.Time
	steps int
	speed float64
}

func (m *meter) update(now time.Time, steps int) float64 {
	if !m.at.IsZero() {
		if seconds := now.Sub(m.at).Seconds(); seconds > 0 {
			latest := float64(steps-m.steps) / seconds
			if m.speed == 0 {
				m.speed = latest
			} else {
				m.speed = 0.9*m.speed + 0.1*latest
			}
		}
	}
	m.at, m.steps = now, steps
	return m.speed
}

func rate(perSecond float64) string {
	if perSecond < 10 {
		return fmt.Sprintf("%.1f", perSecond)
	}
	return report.Thousands(int(perSecond))
}
