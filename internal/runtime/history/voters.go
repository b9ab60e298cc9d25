package history

import (
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
)

// A Voter is what one of several voters contributed to a run.
type Voter struct {
	Voter   string  `json:"voter"`
	Votes   int     `json:"votes"`
	Dissent int     `json:"dissent"` // those of them that were for an answer that lost
	Flagged int     `json:"flagged"`
	CostUSD float64 `json:"cost_usd"` // as far as it is known
}

// countVoters adds what an event says about the voters. In a chain the steps say it,
// elsewhere the votes.
func (r *Report) countVoters(e event.Event) {
	var shares []event.Share
	switch e := e.(type) {
	case event.StepCompleted:
		if r.Form == event.FormChain {
			shares = e.Voting.Shares
		}
	case event.VoteCompleted:
		if r.Form != event.FormChain {
			shares = e.Voting.Shares
		}
	}
	for _, s := range shares {
		i := slices.IndexFunc(r.voters, func(v Voter) bool { return v.Voter == s.Voter })
		if i < 0 {
			i = len(r.voters)
			r.voters = append(r.voters, Voter{Voter: s.Voter})
		}
		v := &r.voters[i]
		v.Votes += s.Votes
		v.Dissent += s.Dissent
		v.Flagged += s.Flagged
		v.CostUSD = usage.AddUSD(v.CostUSD, s.CostUSD)
	}
}

// Voters are those of a run that has several.
func (r *Report) Voters() []Voter {
	if len(r.voters) < 2 {
		return nil
	}
	return r.voters
}
