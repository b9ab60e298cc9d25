package ballot

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestCrewLeaves: goroutines wait for the next attempt, but not for ever: a run may go on for
// long after it had much to do.
func TestCrewLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{fail: always(nil)}
		ballot := New([]Voter{s.voter("a")}, readers, nil)
		defer ballot.Close()
		for range 3 {
			if _, err := ballot.Decide(t.Context(), question(firstToK(3, 30)), Watch{}); err != nil {
				t.Fatal(err)
			}
			ballot.Settle()
			begin := time.Now()
			ballot.crew.members.Wait() // synctest fails the test if they never leave
			if waited := time.Since(begin); waited > crewWaits {
				t.Errorf("they left after %s, want %s at most", waited, crewWaits)
			}
		}
	})
}
