// Package moment reads moments as people write them: as a date, or as how far away they are.
package moment

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Ago reads a moment that is over.
func Ago(text string, now time.Time) (time.Time, error) {
	t, d, err := read(text, now)
	if err != nil {
		return now, fmt.Errorf("%q: want how long ago, such as 90m, 12h, 30d or 2w, or a date such as 2026-01-31", text)
	}
	return t.Add(-d), nil
}

// Ahead reads a moment that is yet to come.
func Ahead(text string, now time.Time) (time.Time, error) {
	t, d, err := read(text, now)
	if err != nil || !t.Add(d).After(now) {
		return now, fmt.Errorf("%q: want in how long, such as 12h, 30d or 2w, or a date such as 2030-01-31 that is yet to come", text)
	}
	return t.Add(d), nil
}

var errNeither = errors.New("neither a date nor a time")

// read reads a date, or how long something takes from now. Days and weeks are 24 hours and seven
// days.
func read(text string, now time.Time) (time.Time, time.Duration, error) {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, 0, nil
		}
	}
	plain := text
	for unit, hours := range map[string]float64{"d": 24, "w": 7 * 24} {
		if n, ok := strings.CutSuffix(text, unit); ok {
			days, err := time.ParseDuration(n + "h")
			if err != nil || days.Hours()*hours > 1e6 { // a century
				return now, 0, errNeither
			}
			plain = fmt.Sprintf("%.6fh", days.Hours()*hours)
		}
	}
	d, err := time.ParseDuration(plain)
	if err != nil || d < 0 {
		return now, 0, errNeither
	}
	return now, d, nil
}
