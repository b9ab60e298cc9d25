package ballot

import (
	"fmt"

	"github.com/maker-mdap/maker/domain"
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
	s.Voting.Answers = clipped(r.candidates())
	s.Voting.Faults = max(s.Voting.Faults, r.before+int(r.attempts.Load()))
	if e := r.lastFault.Load(); e != nil {
		s.Fault = e
	}
	w.Stopped(s)
}

// votersOf are those whom the question is for.
func (b *Ballot) votersOf(q *flow.Question) ([]Voter, error) {
	if q.Model == flow.Voters {
		return b.voters, nil
	}
	if b.opts.Group == nil {
		return nil, fmt.Errorf("ballot: nobody is called %q", q.Model)
	}
	return b.opts.Group(q.Model)
}

// fewestSplit are the votes below which nobody can tell whether voters are split.
const fewestSplit = 10

// split says of an adaptive race without a winner that voters are split over it, if they
// are.
func (r *race) split() string {
	if votes := r.tally.Votes(); r.q.Rule.Strategy != vote.Adaptive || votes < fewestSplit || r.tally.Margin() > votes/4 {
		return ""
	}
	return "; it is a near tie, where other voters, other words or smaller steps help more than further samples"
}

// tellLead tells which answer is ahead. A call has no value: nothing follows on it before
// it was made.
func (r *race) tellLead(told func(domain.Answer, int)) {
	key, votes := r.tally.Ahead()
	if votes == 0 {
		told(domain.Answer{}, 0)
		return
	}
	if r.intents[key] != nil {
		told(domain.Answer{Key: key}, votes)
		return
	}
	told(r.answerOf(key).Answer, votes)
}
