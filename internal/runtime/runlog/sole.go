package runlog

import (
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// A script that loops has turns by the million, most of which are a question on which all
// agreed and nothing else: two lines, a verdict and the step. The index says of which steps
// that is so, and what it has of these is all there is to count.

// SoleClass is the class of the question of a sole step.
const SoleClass = "ask"

// since is what was logged after the last step.
type since struct {
	lines int

	// If the only line is a plain verdict, the step that it belongs to and what it took; step
	// is -1 otherwise.
	step, samples, flagged, faults int
}

var sinceNothing = since{step: -1}

// add takes an event that is no step.
func (s *since) add(e event.Event) {
	if v, ok := e.(event.VoteCompleted); ok {
		s.addVote(&v)
		return
	}
	s.lines++
	s.step = -1
}

// addVote takes a verdict.
func (s *since) addVote(v *event.VoteCompleted) {
	s.lines++
	s.step = -1
	if s.lines == 1 && isPlainVerdict(v) {
		s.step, s.samples, s.flagged, s.faults = v.Step, v.Voting.Samples, v.Voting.RedFlagged, v.Voting.Faults
	}
}

// isPlainVerdict reports whether the run's own voters all gave one answer to a question of the
// class, and nothing else is to be said of it.
func isPlainVerdict(v *event.VoteCompleted) bool {
	if v.Status != string(flow.Decided) || v.Class != SoleClass || v.Pool != "" || v.Intent != nil || len(v.Leads) > 0 || v.Repaired || v.Second {
		return false
	}
	return isUnanimous(&v.Voting) && v.Voting.Strategy != vote.Adaptive
}

// isUnanimous reports whether how a vote stood is told by how many samples it took.
func isUnanimous(v *event.Voting) bool {
	if len(v.Votes) != 1 || len(v.Shares) > 0 || len(v.ByModel) > 0 || len(v.Answers) > 0 || len(v.Discarded) > 0 || v.Policy != 0 || v.Disputed != 0 || v.GivenUp {
		return false
	}
	for _, n := range v.Votes {
		return n == v.Samples-v.RedFlagged && n == v.Margin
	}
	return false
}

// sole reports whether a step that is logged next is a turn of a loop that consists of one
// plain verdict.
func (s *since) sole(e *event.StepCompleted) bool {
	return s.lines == 1 && s.step == e.Step && e.Loop && e.First == nil && e.By == "" && e.Class == "" && e.Pool == "" &&
		isUnanimous(&e.Voting) && e.Voting.Samples == s.samples && e.Voting.RedFlagged == s.flagged && e.Voting.Faults == s.faults
}
