package solver

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
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

// verifySolution checks the solution of a problem that is a part of another, or
// that was solved without being split.
func (s *solver) verifySolution(problem string, solution *Solution) error {
	switch {
	case blank(solution.Solution):
		return errors.New("the solution is empty")
	case s.cfg.RequireWork && blank(solution.Work):
		return errors.New("no work is shown")
	case !isShare(solution.Confidence):
		return fmt.Errorf("the confidence is %v", solution.Confidence)
	}
	return s.cfg.Adapter.Verify(problem, solution.Solution)
}

// verifyAnswer is the global verifier: it checks the answer to the whole task.
func (s *solver) verifyAnswer(a *Answer) error {
	switch {
	case blank(a.Answer):
		return errors.New("there is no answer")
	case !isShare(a.Confidence):
		return fmt.Errorf("the confidence is %v", a.Confidence)
	}
	return s.cfg.Adapter.Verify(s.problem, a.Answer)
}

func isShare(f float64) bool { return f >= 0 && f <= 1 }
