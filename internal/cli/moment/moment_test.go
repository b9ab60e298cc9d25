package moment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/internal/cli/moment"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAgo(t *testing.T) {
	for text, want := range map[string]time.Time{
		"90m": now.Add(-90 * time.Minute), "12h": now.Add(-12 * time.Hour), "0s": now,
		"30d": now.Add(-30 * 24 * time.Hour), "1.5d": now.Add(-36 * time.Hour), "2w": now.Add(-14 * 24 * time.Hour),
		"2026-01-31": time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), "2026-01-31 09:30": time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC),
		"2026-01-31T09:30:00Z": time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC),
	} {
		if got, err := moment.Ago(text, now); err != nil || !got.Equal(want) {
			t.Errorf("Ago(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "soon", "30", "-1h", "-3d", "1d2h", "1000000w", "2026-13-01", "NaNd", "Infd"} {
		if got, err := moment.Ago(text, now); err == nil || !strings.Contains(err.Error(), "want how long ago") {
			t.Errorf("Ago(%q) = %v, %v, want an error that says what is wanted", text, got, err)
		}
	}
}

func FuzzAgo(f *testing.F) {
	for _, text := range []string{"90m", "30d", "2w", "2026-01-31", "-1d", "1e9d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := moment.Ago(text, now)
		if _, dated := time.Parse(time.DateOnly, text); err == nil && got.After(now) && dated != nil && !strings.Contains(text, ":") {
			t.Errorf("Ago(%q) = %v, which is yet to come", text, got)
		}
	})
}

func TestAhead(t *testing.T) {
	for text, want := range map[string]time.Time{
		"90m": now.Add(90 * time.Minute), "30d": now.Add(30 * 24 * time.Hour), "2w": now.Add(14 * 24 * time.Hour),
		"2027-01-31": time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := moment.Ahead(text, now); err != nil || !got.Equal(want) {
			t.Errorf("Ahead(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "0s", "-1h", "2020-01-31", "NaNd"} {
		if got, err := moment.Ahead(text, now); err == nil || !strings.Contains(err.Error(), "yet to come") {
			t.Errorf("Ahead(%q) = %v, %v, want an error that says what is wanted", text, got, err)
		}
	}
}
