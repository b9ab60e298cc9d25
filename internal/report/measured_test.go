package report

import (
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/runs"
)

func measured(c *event.Calibrated, v runs.VotingTotals) string {
	var b strings.Builder
	Result(&b, &runs.Result{
		Run: "calibrate-items-1", Form: event.FormMeasurement, Task: "Measure", Status: event.StatusStopped,
		Solve: &history.Solve{Calibrated: c, Questions: v.Samples}, Voting: v,
	}, event.Value{})
	return b.String()
}

// TestPrintMeasured: a figure that nothing is known about is not printed.
func TestPrintMeasured(t *testing.T) {
	half, none := 0.5, 0.0
	full := event.Range{Value: 1, Low: 0.9, High: 1}
	text := measured(&event.Calibrated{Basis: "known", Valid: 10, Samples: 20, Measured: &event.Measured{
		Items: 60, Of: 60, Repeated: 3, Greedy: &full, GreedyBy: "a",
		Voters: []event.MeasuredPart{
			{Name: "a", Samples: 5, P: &full, V: full, Greedy: &full}, {Name: "b", Samples: 5},
			{Name: "old", Samples: 5, P: &event.Range{High: 1}}, // in a log of an early release
		},
		Together: []event.ErrTogether{
			{A: "a", B: "b", Both: event.Range{Value: 0.2}, SameAnswer: &half}, {A: "a", B: "c"},
			{A: "a", B: "old", SameAnswer: &none},
		},
	}}, runs.VotingTotals{})
	for _, want := range []string{
		"one greedy sample of a, the best alone, is right on 100.0 % (90.0 to 100.0) of the items",
		"a: p 1.000 (0.900 to 1.000), v 1.000, 5 samples, greedy 100.0 % (90.0 to 100.0)\n",
		"b: p not measured: no answer is valid, v 0.000, 5 samples\n",
		"old: p not measured: no answer is valid, v 0.000, 5 samples\n",
		"with the same answer 50 % of the time\n",
		"60 of 60 different questions (3 more repeat one of them and were left out),",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("Result() = %s\nwant %q in it", text, want)
		}
	}
	if n := strings.Count(text, "with the same answer"); n != 1 {
		t.Errorf("Result() tells %d times how often errors are the same answer, want 1:\n%s", n, text)
	}
}

// TestPrintGreedyOfEarlyReleases: they measured the first voter alone.
func TestPrintGreedyOfEarlyReleases(t *testing.T) {
	text := measured(&event.Calibrated{Basis: "known", Valid: 10, Measured: &event.Measured{
		Greedy: &event.Range{Value: 1, Low: 1, High: 1}, Voters: []event.MeasuredPart{{Name: "a"}, {Name: "b"}},
	}}, runs.VotingTotals{})
	if want := "one greedy sample of a is right on"; !strings.Contains(text, want) {
		t.Errorf("Result() = %s\nwant %q in it", text, want)
	}
}

// TestPrintStoppedMeasurement: what was asked before a stop is told.
func TestPrintStoppedMeasurement(t *testing.T) {
	text := measured(nil, runs.VotingTotals{Samples: 1100, RedFlagged: 33, Faults: 2})
	for _, want := range []string{"samples     1,100 so far, 33 of them discarded; p and v are worked out when all of them are in\n", "faults      2\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("Result() = %s\nwant %q in it", text, want)
		}
	}
}
