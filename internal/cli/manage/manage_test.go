package manage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/runs"
)

var now = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 9000 * time.Hour: "375d",
	} {
		if got := age(d); got != want {
			t.Errorf("age(%s) = %s, want %s", d, got, want)
		}
	}
}

// TestOld: what prune takes away.
func TestOld(t *testing.T) {
	list := []runs.Summary{}
	add := func(name, state string, days int) {
		at := now.Add(-time.Duration(days) * 24 * time.Hour)
		list = append(list, runs.Summary{Run: name, State: state, Started: at.Add(-time.Hour), Updated: at})
	}
	add("done50", "completed", 50)
	add("failed40", "failed", 40)
	add("waiting40", "waiting", 40)
	add("paused40", "paused", 40)
	add("running40", "running", 40)
	list[len(list)-1].PID = 7
	add("cancelled10", "cancelled", 10)
	add("done1", "completed", 1)
	list = append(list, runs.Summary{Run: "unreadable45", State: "unreadable", Updated: now.Add(-45 * 24 * time.Hour)})
	// It was begun long ago and was active yesterday.
	list = append(list, runs.Summary{Run: "long", State: "completed", Started: now.Add(-90 * 24 * time.Hour), Updated: now.Add(-24 * time.Hour)})
	month := now.Add(-30 * 24 * time.Hour)
	for _, test := range []struct {
		states string
		before time.Time
		keep   int
		want   string
	}{
		{"", month, 0, "done50 failed40 unreadable45"},
		{"", month, 7, "done50 unreadable45"},
		{"", month, 100, ""},
		{"", now, 3, "done50 failed40 unreadable45"},
		{"", now, 0, "cancelled10 done1 done50 failed40 long unreadable45"},
		{"waiting,failed", month, 0, "failed40 waiting40"},
		{"running", now, 0, ""},
	} {
		f := &filter{}
		if test.states != "" {
			f.states = strings.Split(test.states, ",")
		}
		got := map[string]bool{}
		for _, s := range old(list, f, test.before, test.keep) {
			got[s.Run] = true
		}
		want := map[string]bool{}
		for _, name := range strings.Fields(test.want) {
			want[name] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("old(%s, before %s, keep %d): -want +got\n%s", test.states, test.before.Format(time.DateOnly), test.keep, diff)
		}
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	cost := 0.5
	list := []runs.Summary{
		{Run: "hanoi-20260331-110000-abcde", State: "running", PID: 12, Kind: "hanoi", Task: strings.Repeat("日本語 ", 40), Steps: 3, Total: 7, CostUSD: &cost, Simulated: true, Started: now.Add(-time.Hour)},
		{Run: "bad\x1b[2J", State: "unreadable", Error: "line 1\nis\x1b broken", Updated: now},
	}
	list = append(list, runs.Summary{Run: "hanoi-20260331-110000-abxyz", State: "completed", Kind: "hanoi", Task: "Towers of Hanoi with 9 disks", CostUSD: &cost, Started: now.Add(-time.Hour)})
	for width, want := range map[int]string{
		160: "hanoi-20260331-110000-abxyz  completed         hanoi  0      $0.50      1h   Towers of Hanoi with 9 disks",
		90:  "hanoi-20260331-110000-abxyz  completed   hanoi  0      $0.50      1h   Towers of Hanoi wi…",
		80:  "hanoi-20260331-110000-abxyz  completed   hanoi  $0.50      1h   Towers of Hanoi…",
		60:  "hanoi-20260331-110000-abxyz  completed   Towers of Hanoi wi…",
		40:  "hanoi-20260331-110000-abxyz  completed\n  1h  $0.50  Towers of Hanoi with 9 dis…",
		30:  "hanoi-20260331-110000-abxyz  …\n  1h  $0.50  Towers of Hanoi …",
	} {
		got := string(table(list, width, now))
		for line := range strings.Lines(got) {
			if n := screen.Width(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("at %d columns a line has %d: %s", width, n, line)
			}
			if strings.Contains(line, "\x1b") {
				t.Errorf("a control character is shown: %q", line)
			}
		}
		if !strings.HasSuffix(strings.TrimRight(got, "\n"), "\n"+want) {
			t.Errorf("at %d columns the last line of\n%s is not %q", width, got, want)
		}
	}
	whole := string(table(list, 0, now))
	if want := "running (pid 12)"; !strings.Contains(whole, want) || !strings.Contains(whole, " 1h ") || !strings.Contains(whole, "$0.50 sim") {
		t.Errorf("table() = %s, want %s, 1h and the cost", whole, want)
	}
}

func TestChanged(t *testing.T) {
	shown := map[string]string{}
	list := func(steps int) []runs.Summary {
		return []runs.Summary{{Run: "a", State: "running", Steps: steps}, {Run: "b", State: "completed", Steps: 3}}
	}
	for i, want := range []string{"a b", "", "a"} {
		var names []string
		for _, s := range changed(list(i/2), shown) {
			names = append(names, s.Run)
		}
		if got := fmt.Sprint(strings.Join(names, " ")); got != want {
			t.Errorf("changed() the %d. time = %q, want %q", i+1, got, want)
		}
	}
}

// TestScreenful: a list that is kept up to date fits into the window, however many runs there are,
// and those that come first are seen.
func TestScreenful(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	var list []runs.Summary
	for i := range 100 {
		list = append(list, runs.Summary{Run: fmt.Sprintf("hanoi-20260331-%06d-abcde", i), State: "waiting", Kind: "hanoi", Task: "a task", Started: now})
	}
	for _, size := range [][2]int{{120, 30}, {80, 24}, {80, 10}, {40, 25}, {40, 6}, {20, 4}} {
		text := screenful(list, 50, size[0], size[1], now)
		lines := strings.Split(text, "\n")
		if len(lines) > size[1] || len(lines) < size[1]-2 {
			t.Errorf("%v: there are %d lines", size, len(lines))
		}
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "and ") || !strings.HasSuffix(last, " more; Ctrl-C ends") {
			t.Errorf("%v: the last line is %q", size, last)
		}
		if !strings.Contains(text, "hanoi-20260331-000000"[:18]) {
			t.Errorf("%v: the first one is missing:\n%s", size, text)
		}
	}
	if text := screenful(list[:2], 50, 120, 30, now); strings.Count(text, "\n") != 3 || !strings.HasSuffix(text, "\nCtrl-C ends") {
		t.Errorf("two runs are\n%s", text)
	}
}
