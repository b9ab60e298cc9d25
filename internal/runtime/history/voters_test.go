package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
)

// TestVoters: what each voter contributed counts if nothing won too, and a cost that is
// not known is none.
func TestVoters(t *testing.T) {
	usd := func(x float64) *float64 { return &x }
	shares := func(cost *float64) event.Voting {
		return event.Voting{Shares: []event.Share{{Voter: "a", Votes: 2, CostUSD: usd(0.25)}, {Voter: "b", Votes: 1, Dissent: 1, Flagged: 3, CostUSD: cost}}}
	}
	begin := event.TaskSubmitted{Format: event.Format, Kind: "ask", Form: event.FormChain, Steps: 2, Config: []byte(`{"voters":["a","b"]}`)}
	committed := event.StepCompleted{Voting: shares(usd(0))}
	failed := event.StepFailed{Step: 1, Status: "undecided", Voting: shares(nil)}
	ended := event.TaskFailed{Status: event.StatusUndecided}
	for name, test := range map[string]struct {
		events []event.Event
		want   []Voter
	}{
		"decided":         {[]event.Event{begin, committed}, []Voter{{"a", 2, 0, 0, usd(0.25)}, {"b", 1, 1, 3, usd(0)}}},
		"undecided":       {[]event.Event{begin, failed, ended}, []Voter{{"a", 2, 0, 0, usd(0.25)}, {"b", 1, 1, 3, nil}}},
		"both":            {[]event.Event{begin, committed, failed, ended}, []Voter{{"a", 4, 0, 0, usd(0.5)}, {"b", 2, 2, 6, nil}}},
		"tried once more": {[]event.Event{begin, failed, ended, event.RunResumed{}, committed}, []Voter{{"a", 2, 0, 0, usd(0.25)}, {"b", 1, 1, 3, usd(0)}}},
	} {
		r := report(t, test.events...)
		for range 2 { // asking changes nothing
			if diff := cmp.Diff(test.want, r.Voters()); diff != "" {
				t.Errorf("%s: Voters() -want +got\n%s", name, diff)
			}
		}
	}
}
