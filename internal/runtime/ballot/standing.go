package ballot

import (
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// A Standing is how a vote stands that has not come to its end.
type Standing struct {
	Voting event.Voting
	Flag   *redflag.Flag // of the last answer that was discarded, nil if none was
	Fault  error         // of the last attempt that failed, nil if none did
}

// stopped tells how the vote stands when an error ends it.
func (r *race) stopped(w *Watch, err error) {
	if err == nil || w.Stopped == nil {
		return
	}
	s := Standing{Voting: r.verdict(flow.Status(""), "").Voting, Flag: r.lastFlag}
	s.Voting.Faults = max(s.Voting.Faults, r.before+int(r.attempts.Load()))
	if e := r.lastFault.Load(); e != nil {
		s.Fault = e
	}
	w.Stopped(s)
}

// maxCandidates bounds the answers that a verdict without a winner lists.
const maxCandidates = 8

// candidates are the answers that got votes, most of them first, then in order of
// arrival.
func (r *race) candidates() []event.Candidate {
	counts := slices.Clone(r.tally.Counts())
	slices.SortStableFunc(counts, func(a, b vote.Count) int { return b.Votes - a.Votes })
	var list []event.Candidate
	for _, c := range counts[:min(len(counts), maxCandidates)] {
		answer := r.firstAnswer
		if c.Key != answer.Key {
			answer = r.answers[c.Key]
		}
		if answer.Value != nil {
			list = append(list, event.Candidate{Answer: answer.Value, Votes: c.Votes})
		}
	}
	return list
}
