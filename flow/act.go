package flow

import (
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/event"
)

// An Outcome is what came of a question that may take several moves.
type Outcome struct {
	// Verdict is the last one. It has an answer, unless the step failed.
	Verdict *Verdict

	// Moves are the calls that were decided and executed, in order.
	Moves []Move

	// Voting, CostUSD and DurationMS are of all moves together: samples and faults
	// added up, the votes and the margin of the closest decision.
	Voting     event.Voting
	CostUSD    *float64
	DurationMS int64
}

// DefaultMaxMoves is how many calls a step may have executed.
const DefaultMaxMoves = 10

// Act decides a question move by move: each move is voted on, and is either a call
// of a tool, which is performed once and becomes part of what the voters of the
// next move see, or the answer. The keys of its decisions and effects begin with
// key. A step whose calls lead nowhere within maxMoves (0 means DefaultMaxMoves),
// or one of whose calls has an outcome that nobody knows, has failed.
func Act(f Flow, key string, q *Question, maxMoves int) (*Outcome, error) {
	return ActUntil(f, key, q, maxMoves, func(event.Intent) bool { return false })
}

// ActUntil is Act for orchestrators that deal with some calls themselves: one that
// stop reports is not performed, and is the intent of the last verdict.
func ActUntil(f Flow, key string, q *Question, maxMoves int, stop func(event.Intent) bool) (*Outcome, error) {
	if maxMoves <= 0 {
		maxMoves = DefaultMaxMoves
	}
	asked := *q
	if q.Work != nil {
		work := *q.Work
		asked.Work = &work
	}
	var out Outcome
	for n := 0; ; n++ {
		v, err := f.Decide(fmt.Sprintf("%s/move/%d", key, n), &asked)
		if err != nil {
			return nil, err
		}
		asked.DelayMS = 0 // it was for the first move
		out.add(v)
		if v.Status != Decided || v.Intent == nil || stop(*v.Intent) {
			return &out, nil
		}
		if n >= maxMoves {
			out.fail("it made %d calls and came to no answer", n)
			return &out, nil
		}
		result, err := f.Perform(fmt.Sprintf("%s/effect/%d", key, n), &Effect{Step: q.Step, Intent: *v.Intent, Voting: v.Voting})
		if err != nil {
			return nil, err
		}
		move := Move{Intent: *v.Intent, Result: *result}
		out.Moves = append(out.Moves, move)
		if result.Unknown {
			out.fail("%s", result.Text)
			return &out, nil
		}
		asked.Work.Done = append(slices.Clip(asked.Work.Done), move)
	}
}

// fail turns the outcome into a failure.
func (o *Outcome) fail(format string, args ...any) {
	failed := *o.Verdict
	failed.Status, failed.Intent, failed.Reason = Failed, nil, fmt.Sprintf(format, args...)
	o.Verdict = &failed
}

// add takes the verdict of a move into account.
func (o *Outcome) add(v *Verdict) {
	first := o.Verdict == nil
	o.Verdict = v
	o.DurationMS += v.DurationMS
	switch {
	case v.CostUSD == nil:
		o.CostUSD = nil
	case first:
		cost := *v.CostUSD
		o.CostUSD = &cost
	case o.CostUSD != nil:
		*o.CostUSD += *v.CostUSD
	}
	if first {
		o.Voting = v.Voting
		return
	}
	sum := o.Voting
	closer := v.Voting.Margin < sum.Margin || v.Voting.Margin == sum.Margin && len(v.Voting.Votes) > len(sum.Votes)
	if closer {
		sum.Votes, sum.Margin, sum.ByModel = v.Voting.Votes, v.Voting.Margin, v.Voting.ByModel
	}
	sum.Samples += v.Voting.Samples
	sum.RedFlagged += v.Voting.RedFlagged
	sum.Faults += v.Voting.Faults
	sum.Cancelled += v.Voting.Cancelled
	o.Voting = sum
}
