package live

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
)

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

var progress = maker.Progress{
	Steps: 262_144, Total: 1_048_575, Session: 200_000, Samples: 610_000, Contested: 1234, RedFlagged: 20_000, Faults: 7,
	Spent: usage.Spent{USD: 12.5},
}

func TestDrawInAPipe(t *testing.T) {
	var b bytes.Buffer
	v := New(&b, nil, nil)
	if v.screen != nil {
		t.Errorf("New(a pipe) = %+v, want plain lines", v)
	}
	v.draw(event.FormChain, progress, 5000)
	trouble := maker.Progress{Total: 10, Spent: usage.Spent{Unpriced: 1}, Trouble: "sim is failing"}
	v.draw(event.FormChain, trouble, 0)
	v.draw(event.FormMeasurement, maker.Progress{Steps: 120, Total: 800, Session: 100, Samples: 99, RedFlagged: 3, Faults: 1}, 20)
	v.draw(event.FormRecords, maker.Progress{Steps: 120, Total: 800, Session: 120, Samples: 240, Known: 90, Right: 83, Answers: map[string]int{`"bug"`: 120}}, 20)
	want := " 25.0 %  262,144/1,048,575 steps, 5,000 steps/s, ETA 2m37s; 3.05 samples/step, 1,234 contested, 20,000 flagged, 7 faults, cost $12.50\n" +
		"  0.0 %  0/10 steps, 0.0 steps/s, ETA unknown; 0.00 samples/step, 0 contested, 0 flagged, 0 faults, cost unknown\n" +
		"        sim is failing\n" +
		" 15.0 %  120/800 samples, 20 samples/s, ETA 34s; 3 flagged, 1 fault, cost $0.00\n" +
		" 15.0 %  120/800 steps, 20 steps/s, ETA 34s; 2.00 samples/step, 0 contested, 0 flagged, 0 faults, cost $0.00; known: 83 of 90 right; bug 100 %\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("draw in a pipe: -want +got\n%s", diff)
	}
}
