package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// TestOverTheRun: what was contested and what records came to is known of all sessions.
func TestOverTheRun(t *testing.T) {
	events := []event.Event{event.TaskSubmitted{Format: event.Format, Form: event.FormRecords}}
	for i := range 300 {
		votes := map[string]int{"a": 3}
		if i%2 == 0 {
			votes["b"] = 1
		}
		v := event.Voting{Samples: 4, Votes: votes}
		events = append(events, event.VoteCompleted{Question: fmt.Sprint("q", i), Step: i, Status: string(flow.Decided), Voting: v},
			event.StepCompleted{Step: i, Title: `,"output":"title"`, Output: event.TextValue([]string{`odd "one",`, "even"}[i%2]), Voting: v})
	}
	h, err := read(t, written(t, append(events, event.RunResumed{})...))
	if err != nil {
		t.Fatal(err)
	}
	if last := h.Contests[len(h.Contests)-1]; h.Contested != 150 || len(h.Contests) < mostContests || last.Step != 298 {
		t.Errorf("%d contested, the last of %d is %+v, want 150 and step 298", h.Contested, len(h.Contests), last)
	}
	got, others := h.Outputs.Top(10)
	if diff := cmp.Diff(map[string]int{`"odd \"one\","`: 150, `"even"`: 150}, got); diff != "" || others != 0 {
		t.Errorf("outputs, and %d others: -want +got\n%s", others, diff)
	}
}

// TestOutputs: whatever the answers are, the frequent ones are told, and all are counted.
func TestOutputs(t *testing.T) {
	long := strings.Repeat("x", longestOutput)
	for name, test := range map[string]struct {
		answer func(i int) string // of 5,000
		want   map[string]int
		others int
	}{
		"few":             {func(i int) string { return fmt.Sprint(i % 2) }, map[string]int{"0": 2500, "1": 2500}, 0},
		"a few that lead": {func(i int) string { return fmt.Sprint(i % 2 * i % 100) }, map[string]int{"0": 2500, "1": 50, "11": 50}, 2400},
		"more than are kept": {func(i int) string {
			if i%5 == 4 {
				return "often"
			}
			return fmt.Sprint("a", i)
		}, map[string]int{"often": 1000}, 4000},
		"all different": {func(i int) string { return fmt.Sprint(i) }, map[string]int{}, 5000},
		"long ones":     {func(i int) string { return []string{long, long + "y"}[i%2] }, map[string]int{long: 2500}, 2500},
		"stored ones":   {func(int) string { return "" }, map[string]int{}, 5000},
	} {
		var o Outputs
		for i := range 5000 {
			o.Add(json.RawMessage(test.answer(i)))
		}
		got, others := o.Top(3)
		if diff := cmp.Diff(test.want, got); diff != "" || others != test.others {
			t.Errorf("%s: %d others, want %d: -want +got\n%s", name, others, test.others, diff)
		}
		if len(o.counts) > mostOutputs {
			t.Errorf("%s: %d answers are kept, want at most %d", name, len(o.counts), mostOutputs)
		}
	}
	var once Outputs
	once.Add(json.RawMessage("7"))
	if got, others := once.Top(3); got["7"] != 1 || others != 0 {
		t.Errorf("Top() of one = %v, %d others, want it", got, others)
	}
	if got, others := (*Outputs)(nil).Top(3); got != nil || others != 0 {
		t.Errorf("Top() of none = %v, %d others, want nothing", got, others)
	}
}
