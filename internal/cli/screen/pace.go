package screen

import (
	"fmt"
	"time"

	"github.com/maker-mdap/maker/internal/report"
)

// window is the time over which speed is measured: long enough for slow steps, short
// enough to show what happens now.
const window = time.Minute

// Look is how often a [Pace] is to be told at least where a run stands, and asleep how long
// it is not only if the program was stopped or was behind a shell.
const (
	Look   = time.Second
	asleep = 3 * Look
)

// A Pace measures how fast steps are made. Neither time nor steps count in an outage and
// while nobody looks: how long that lasts says nothing about how fast the run is.
type Pace struct {
	at     time.Time // of the last look
	steps  int       // then
	active time.Duration
	made   int    // steps in that time
	marks  []mark // of the last window, at most one a second, after the first one
}

type mark struct {
	active time.Duration
	made   int
}

// Update tells how many steps were made until now.
func (p *Pace) Update(now time.Time, steps int, outage bool) {
	if gap := now.Sub(p.at); !p.at.IsZero() && !outage && gap < asleep {
		p.active += max(0, gap)
		p.made += steps - p.steps
	}
	p.at, p.steps = now, steps
	if n := len(p.marks); n == 0 || p.active-p.marks[n-1].active >= time.Second {
		p.marks = append(p.marks, mark{p.active, p.made})
	}
	for len(p.marks) > 2 && p.active-p.marks[1].active > window {
		p.marks = append(p.marks[:1], p.marks[2:]...)
	}
}

// Speed is in steps a second; 0 if there is none yet. A run that makes less than a few in
// the window is measured from its beginning.
func (p *Pace) Speed() float64 {
	var from mark
	if len(p.marks) > 1 && p.made-p.marks[1].made >= 5 {
		from = p.marks[1]
	}
	seconds := (p.active - from.active).Seconds()
	if seconds <= 0 || p.made <= from.made {
		return 0
	}
	return float64(p.made-from.made) / seconds
}

// eta says when so many steps more are made.
func eta(steps int, speed float64, outage bool) string {
	if speed <= 0 {
		return "ETA unknown"
	}
	seconds := float64(steps) / speed
	const day = 24 * 3600
	text := ""
	switch {
	case seconds > 3650*day:
		return "ETA unknown"
	case seconds > 3*day:
		text = fmt.Sprintf("ETA %s days", report.Thousands(int(seconds/day+0.5)))
	default:
		text = "ETA " + time.Duration(seconds*float64(time.Second)).Round(time.Second).String()
	}
	if outage {
		text += " once it answers again"
	}
	return text
}

func rate(perSecond float64) string {
	switch {
	case perSecond >= 10:
		return report.Thousands(int(perSecond)) + "/s"
	case perSecond >= 0.1 || perSecond == 0:
		return fmt.Sprintf("%.1f/s", perSecond)
	default:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	}
}
