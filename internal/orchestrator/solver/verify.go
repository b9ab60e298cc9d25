package solver

import (
	"math"
	"unicode/utf8"

	"github.com/maker-mdap/maker/flow"
)

// score says how much a split simplifies a problem: 0 if a part is as long as the
// whole, near 1 if both parts are much shorter.
func score(whole string, p *Proposal) float64 {
	if p.IsAtomic {
		return 0
	}
	longest := max(utf8.RuneCountInString(p.PartA), utf8.RuneCountInString(p.PartB))
	gain := 1 - float64(longest)/float64(max(utf8.RuneCountInString(whole), 1))
	return math.Round(max(gain, 0)*100) / 100
}

// verify says what is wrong with what voters, a person or code found: what it rejects
// counts as not agreed on, because a vote finds the likeliest answer, not the true one.
// It asks the domain, which may ask a computer algebra system in turn, so it is a part of
// the world. The error is the flow's.
func (s *solver) verify(f flow.Flow, key, problem, solution string) (wrong string, err error) {
	if blank(solution) {
		return "the solution is empty", nil
	}
	return flow.Verify(f, key+"/verify", flow.Claim{Domain: s.cfg.Domain, Problem: problem, Solution: solution})
}
