package solver

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/maker-mdap/maker/flow"
)

// The verifiers are code. They look at what voters agreed on, and what they reject
// counts as not agreed on: a vote finds the likeliest answer, not the true one.

// verifyProposal holds an agreed proposal against the rules for proposals.
func (s *solver) verifyProposal(n *node, mustSplit bool, p *Proposal) error {
	if flag := (proposals{s.proposalParams(n, mustSplit)}).check(p); flag != nil {
		return fmt.Errorf("%s: %s", flag.Name, flag.Reason)
	}
	return nil
}

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

// verifySolution says what is wrong with the solution of a problem that is a part of
// another, or that was solved without being split. The error is the flow's.
func (s *solver) verifySolution(f flow.Flow, key, problem string, solution *Solution) (wrong string, err error) {
	switch {
	case blank(solution.Solution):
		return "the solution is empty", nil
	case s.cfg.RequireWork && blank(solution.Work):
		return "no work is shown", nil
	case !isShare(solution.Confidence):
		return fmt.Sprintf("the confidence is %v", solution.Confidence), nil
	}
	return s.verify(f, key, problem, solution.Solution)
}

// verifyAnswer is the global verifier: it says what is wrong with the answer to the
// whole task.
func (s *solver) verifyAnswer(f flow.Flow, key string, a *Answer) (wrong string, err error) {
	switch {
	case blank(a.Answer):
		return "there is no answer", nil
	case !isShare(a.Confidence):
		return fmt.Sprintf("the confidence is %v", a.Confidence), nil
	}
	return s.verify(f, key, s.problem, a.Answer)
}

// verify asks the domain. It may ask a computer algebra system in turn, so it is a
// part of the world.
func (s *solver) verify(f flow.Flow, key, problem, solution string) (wrong string, err error) {
	return flow.Verify(f, key+"/verify", flow.Claim{Domain: s.cfg.Domain, Problem: problem, Solution: solution})
}

func isShare(f float64) bool { return f >= 0 && f <= 1 }
