package screen

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var p Pace
	now, steps := start, 0
	run := func(seconds int, perSecond float64, outage bool) {
		for i := range seconds * 10 {
			now = now.Add(100 * time.Millisecond)
			p.Update(now, steps+int(float64(i)*perSecond/10), outage)
		}
		steps += int(float64(seconds) * perSecond)
	}
	near := func(what string, want float64) {
		t.Helper()
		if got := p.Speed(); got < 0.9*want || got > 1.1*want {
			t.Errorf("%s: %.2f steps/s, want about %.2f", what, got, want)
		}
	}
	p.Update(now, 0, false)
	if got := p.Speed(); got != 0 {
		t.Errorf("at first: %v steps/s, want 0", got)
	}
	run(30, 100, false)
	near("half a minute", 100)
	run(300, 0, true)
	near("after an outage of five minutes", 100)
	run(120, 10, false)
	near("slower for two minutes", 10)
	now = now.Add(time.Hour)
	run(1, 10, false)
	near("after it was stopped for an hour", 10)
	now, steps = now.Add(10*time.Minute), steps+60_000
	run(1, 10, false)
	near("after it went on faster behind a shell", 10)

	p, now, steps = Pace{}, start, 0
	p.Update(now, 0, false)
	run(600, 0.02, false)
	near("a step in fifty seconds", 0.02)
}

func TestETA(t *testing.T) {
	for _, test := range []struct {
		steps  int
		speed  float64
		outage bool
		want   string
	}{
		{786_431, 5000, false, "ETA 2m37s"}, {10, 0, false, "ETA unknown"}, {1_000_000, 1, false, "ETA 12 days"}, {1 << 40, 0.001, false, "ETA unknown"},
		{100, 10, true, "ETA 10s once it answers again"}, {5, 0.02, false, "ETA 4m10s"},
	} {
		if got := eta(test.steps, test.speed, test.outage); got != test.want {
			t.Errorf("eta(%d, %v, %t) = %q, want %q", test.steps, test.speed, test.outage, got, test.want)
		}
	}
	for speed, want := range map[float64]string{0.05: "3.0/min", 0.5: "0.5/s", 9.94: "9.9/s", 12_345.6: "12,345/s"} {
		if got := rate(speed); got != want {
			t.Errorf("rate(%v) = %q, want %q", speed, got, want)
		}
	}
}

func TestBar(t *testing.T) {
	for percent, want := range map[float64]string{0: "░░░░", 24.9: "░░░░", 25: "█░░░", 99.9: "███░", 100: "████", 140: "████", -5: "░░░░"} {
		if got := bar(percent, 4); got != want {
			t.Errorf("bar(%v, 4) = %q, want %q", percent, got, want)
		}
	}
}
