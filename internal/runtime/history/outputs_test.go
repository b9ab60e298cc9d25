package history

import (
	"encoding/json"
	"fmt"
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
	if diff := cmp.Diff(map[string]int{`"odd \"one\","`: 150, `"even"`: 150}, h.Outputs.Counts()); diff != "" {
		t.Errorf("outputs: -want +got\n%s", diff)
	}
	var many Outputs
	for i := range 2 * mostOutputs {
		many.Add(json.RawMessage(fmt.Sprint(i)))
	}
	if got := many.Counts(); got != nil {
		t.Errorf("Counts() = %v, want nothing of too many", got)
	}
}
