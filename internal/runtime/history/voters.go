package history

import (
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
)

// A Voter is what one of several voters contributed to a run.
type Voter struct {
	Voter   string   `json:"voter"`
	Votes   int      `json:"votes"`
	Dissent int      `json:"dissent"` // those of them that were for an answer that lost
	Flagged int      `json:"flagged"`
	CostUSD *float64 `json:"cost_usd"` // null if that of any answer is not known
}

// countVoters adds what an event says about the voters. In a chain the steps say it,
// elsewhere the votes.
func (r *Report) countVoters(e event.Event) {
	switch e := e.(type) {
	case event.StepCompleted:
		if r.byStep {
			own := e.Voting
			if e.First != nil {
				own = *e.First
			}
			r.voters = addShares(r.voters, own.Shares)
		}
	case event.StepFailed:
		if r.byStep && r.Form.Apart() {
			r.voters = addShares(r.voters, e.Voting.Shares)
		}
	case event.VoteCompleted:
		if !r.byStep {
			r.voters = addShares(r.voters, e.Voting.Shares)
		}
	}
}

func addShares(voters []Voter, shares []event.Share) []Voter {
	for _, s := range shares {
		i := slices.IndexFunc(voters, func(v Voter) bool { return v.Voter == s.Voter })
		if i < 0 {
			i = len(voters)
			voters = append(voters, Voter{Voter: s.Voter, CostUSD: new(float64)})
		}
		v := &voters[i]
		v.Votes += s.Votes
		v.Dissent += s.Dissent
		v.Flagged += s.Flagged
		if v.CostUSD != nil && s.CostUSD != nil {
			sum := usage.AddUSD(*v.CostUSD, *s.CostUSD)
			v.CostUSD = &sum
		} else {
			v.CostUSD = nil
		}
	}
	return voters
}

// Voters are those of a run that has several. In a chain those of the step that ended the
// run count too: it is tried again if the run goes on.
func (r *Report) Voters() []Voter {
	voters := r.voters
	if r.Failed != nil && r.Form == event.FormChain {
		voters = addShares(slices.Clone(voters), r.Failed.Voting.Shares)
	}
	if len(voters) < 2 {
		return nil
	}
	return voters
}
