package ballot

import (
	"cmp"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/usage"
)

// framings are those that a voter is asked in, from 1.
type framings struct{ fresh, asked []int } // asked are those in which it has answered before

// activeFramings are those that each voter is asked in: all that are not retired, and the
// plain one if nothing else is left.
func activeFramings(q *flow.Question, voters []Voter, retired func(voter string) []int) []framings {
	if len(q.Variants) == 0 {
		return nil
	}
	all := make([]framings, len(voters))
	for i, v := range voters {
		var out []int
		if retired != nil {
			out = retired(v.Name)
		}
		own := &all[i]
		for n := 1; n <= len(q.Variants); n++ {
			switch {
			case slices.Contains(out, n):
			case slices.Contains(q.Asked[v.Name], n):
				own.asked = append(own.asked, n)
			default:
				own.fresh = append(own.fresh, n)
			}
		}
		if own.fresh == nil && own.asked == nil {
			own.fresh = []int{1}
		}
	}
	return all
}

// A share counts the samples that one voter was asked for in one framing.
type share struct {
	voter, framing int
	votes          map[string]int // by key
	flagged        int
	cost           float64
	unpriced       bool // not all of the cost is known
}

// countShare counts a sample that has arrived, where there is more than one share.
func (r *race) countShare(s *Sample) {
	if len(r.q.Variants) < 2 && len(r.voters) < 2 || s.voter < 0 || s.Flag == nil && s.Err != nil {
		return
	}
	i := slices.IndexFunc(r.shares, func(have share) bool { return have.voter == s.voter && have.framing == s.Framing })
	if i < 0 {
		i = len(r.shares)
		r.shares = append(r.shares, share{voter: s.voter, framing: s.Framing, votes: map[string]int{}})
	}
	have := &r.shares[i]
	switch {
	case s.Response == nil:
	case s.Response.CostUSD == nil:
		have.unpriced = true
	default:
		have.cost = usage.AddUSD(have.cost, *s.Response.CostUSD)
	}
	if s.Flag != nil {
		have.flagged++
	} else {
		have.votes[s.Answer.Key]++
	}
}

// sharesFor are the shares in a decision for a key. Where nothing won nobody dissents.
func (r *race) sharesFor(status flow.Status, key string) []event.Share {
	var list []event.Share
	// In one order, whichever sample came first.
	slices.SortFunc(r.shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.voter, b.voter), cmp.Compare(a.framing, b.framing))
	})
	for _, s := range r.shares {
		e := event.Share{Voter: r.voters[s.voter].Name, Framing: s.framing, Flagged: s.flagged}
		if !s.unpriced {
			e.CostUSD = &s.cost
		}
		for k, n := range s.votes {
			e.Votes += n
			if status == flow.Decided && k != key {
				e.Dissent += n
			}
		}
		list = append(list, e)
	}
	return list
}
