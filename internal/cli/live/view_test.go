package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/usage"
)

func TestBar(t *testing.T) {
	tests := []struct {
		percent float64
		want    string
	}{
		{0, "░░░░"}, {24.9, "░░░░"}, {25, "█░░░"}, {99.9, "███░"}, {100, "████"}, {140, "████"}, {-5, "░░░░"},
	}
	for _, test := range tests {
		if got := bar(test.percent, 4); got != test.want {
			t.Errorf("bar(%v, 4) = %q, want %q", test.percent, got, test.want)
		}
	}
}

func TestFit(t *testing.T) {
	tests := []struct {
		text string
		n    int
		want string
	}{
		{"", 5, ""},
		{"hello", 5, "hello"},
		{"hello!", 5, "hello"},
		{"hello", 0, ""},
		{"hello", -1, ""},
		{"█░█░", 2, "█░"},
		{"\x1b[36mhello\x1b[0m world", 7, "\x1b[36mhello\x1b[0m w"},
		{"\x1b[36mhello\x1b[0m", 2, "\x1b[36mhe\x1b[0m"}, // the colour ends, though the text is cut
	}
	for _, test := range tests {
		if got := fit(test.text, test.n); got != test.want {
			t.Errorf("fit(%q, %d) = %q, want %q", test.text, test.n, got, test.want)
		}
	}
}

func TestRateAndPercent(t *testing.T) {
	for speed, want := range map[float64]string{0: "0.0", 9.94: "9.9", 10: "10", 12_345.6: "12,345"} {
		if got := rate(speed); got != want {
			t.Errorf("rate(%v) = %q, want %q", speed, got, want)
		}
	}
	for of, want := range map[[2]int]float64{{0, 0}: 0, {1, 4}: 25, {4, 4}: 100, {3, 0}: 0} { // the length may not be known
		if got := percent(maker.Progress{Steps: of[0], Total: of[1]}); got != want {
			t.Errorf("percent(%d of %d) = %v, want %v", of[0], of[1], got, want)
		}
	}
}

func TestAnswerShares(t *testing.T) {
	for _, test := range []struct {
		counts map[string]int
		want   string
	}{
		{nil, ""},
		{map[string]int{`"bug"`: 1, `"other"`: 2, "7": 1}, "other 50 %, bug 25 %, 7 25 %"},
		{map[string]int{"1": 1, "2": 1, "3": 1, "4": 1, "5": 1, "6": 1, "7": 1, "8": 1, "9": 1, "10": 1}, "1 10 %, 10 10 %, 2 10 %, 3 10 %, 4 10 %, 5 10 %, 6 10 %, 7 10 %, ..."},
	} {
		if got := answerShares(test.counts); got != test.want {
			t.Errorf("answerShares(%v) = %q, want %q", test.counts, got, test.want)
		}
	}
}

func TestMeter(t *testing.T) {
	var m meter
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration, steps int) float64 { return m.update(start.Add(d), steps) }
	if got := at(0, 100); got != 0 {
		t.Errorf("the first look = %v steps/s, want 0: one look tells no speed", got)
	}
	if got := at(time.Second, 300); got != 200 {
		t.Errorf("200 steps in a second = %v steps/s, want 200", got)
	}
	if got := at(time.Second, 300); got != 200 {
		t.Errorf("two looks at one moment = %v steps/s, want 200 still", got)
	}
	if got := at(2*time.Second, 300); got != 180 {
		t.Errorf("a second without a step = %v steps/s, want 180: it slows down, but not at once", got)
	}
}

var progress = maker.Progress{
	Steps: 262_144, Total: 1_048_575, Session: 200_000, Samples: 610_000, Contested: 1234, RedFlagged: 20_000, Faults: 7,
	Spent: usage.Spent{USD: 12.5},
}

func TestDrawOnATerminal(t *testing.T) {
	for _, color := range []bool{false, true} {
		s := &terminal{t: t, width: 100, height: 20, whole: true}
		v := s.view(color)
		fmt.Fprintln(s, "run hanoi-1")

		v.draw(maker.Progress{Total: 1_048_575}, 0)
		want := []string{
			"run hanoi-1",
			"░░░░░░░░░░░░░░░░░░░░░░░░   0.0 %  0/1,048,575 steps, 0.0 steps/s, ETA unknown",
			"0.00 samples/step, 0 contested, 0 flagged, 0 faults, $0.00",
		}
		if diff := cmp.Diff(want, s.text()); diff != "" {
			t.Errorf("the first drawing: -want +got\n%s", diff)
		}

		trouble := progress
		trouble.Trouble = "openai is failing: overloaded; next try in 2s"
		v.draw(trouble, 5000)
		want = []string{
			"run hanoi-1",
			"██████░░░░░░░░░░░░░░░░░░  25.0 %  262,144/1,048,575 steps, 5,000 steps/s, ETA 2m37s",
			"3.05 samples/step, 1,234 contested, 20,000 flagged, 7 faults, $12.50",
			"openai is failing: overloaded; next try in 2s",
		}
		if diff := cmp.Diff(want, s.text()); diff != "" {
			t.Errorf("the second drawing: -want +got\n%s", diff)
		}

		v.draw(progress, 5000)
		if diff := cmp.Diff(want[:3], s.text()); diff != "" {
			t.Errorf("when the trouble is over: -want +got\n%s", diff)
		}
		v.clear()
		v.clear()
		if diff := cmp.Diff(want[:1], s.text()); diff != "" {
			t.Errorf("after the end: -want +got\n%s", diff)
		}
	}
}

// TestDrawNeverWraps draws on terminals of every width: a line that wraps could
// not be cleared.
func TestDrawNeverWraps(t *testing.T) {
	long := progress
	long.Trouble = strings.Repeat("failing ", 40)
	for width := 1; width < 130; width++ {
		s := &terminal{t: t, width: width, height: 20, whole: true}
		v := s.view(true)
		v.draw(long, 1)
		v.drawn = "" // so that it draws again
		v.draw(long, 1)
		if len(s.rows) != 4 { // with that of the cursor
			t.Errorf("on %d columns there are %d lines, want 3", width, len(s.rows)-1)
		}
	}
}

// TestDrawKeepsTheProvidersTextInItsPlace: what a server says can be anything. It
// must not break the drawing nor command the terminal.
func TestDrawKeepsTheProvidersTextInItsPlace(t *testing.T) {
	s := &terminal{t: t, width: 80, height: 20, whole: true}
	v := s.view(false)
	odd := progress
	odd.Trouble = "compat is failing: down\nfor \x1b[2Jmaintenance\r\a" + strings.Repeat(" until tomorrow", 10)
	v.draw(odd, 1)
	v.drawn = "" // so that it draws again
	v.draw(odd, 1)
	if len(s.rows) != 4 { // with that of the cursor
		t.Errorf("the screen is %q, want 3 lines", s.text())
	}
}

func TestDrawInAPipe(t *testing.T) {
	var b bytes.Buffer
	v := New(&b)
	if v.width != nil || v.color || v.period < time.Second {
		t.Errorf("New(a pipe) = %+v, want plain lines now and then", v)
	}
	v.draw(progress, 5000)
	trouble := maker.Progress{Total: 10, Spent: usage.Spent{Unpriced: 1}, Trouble: "sim is failing"}
	v.draw(trouble, 0)
	v.clear()
	want := " 25.0 %  262,144/1,048,575 steps, 5,000 steps/s, ETA 2m37s; 3.05 samples/step, 1,234 contested, 20,000 flagged, 7 faults, $12.50\n" +
		"  0.0 %  0/10 steps, 0.0 steps/s, ETA unknown; 0.00 samples/step, 0 contested, 0 flagged, 0 faults, unknown\n" +
		"        sim is failing\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("draw in a pipe: -want +got\n%s", diff)
	}
}
