package flow

import (
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// An Outcome is what came of a question that may take several moves.
type Outcome struct {
	// Verdict is the last one. It has an answer, unless the step failed.
	Verdict *Verdict

	// Moves are the calls that were decided and executed, in order.
	Moves []Move

	// Open are the keys of the questions that led to nothing since something was last
	// decided, and of the calls that the person refused since something last happened:
	// what [event.TaskFailed] names if the step is given up.
	Open []string

	// Voting, CostUSD and DurationMS are of all moves together: samples and faults
	// added up, the votes and the margin of the closest decision.
	Voting     event.Voting
	CostUSD    *float64
	DurationMS int64

	// First is how those stood who were asked before something else was tried: see
	// [Outcome.Escalate].
	First *event.Voting
}

// Escalate sets aside how the voters stand, who gave no result: something else is tried.
func (o *Outcome) Escalate() {
	all := o.All()
	o.First, o.Voting = &all, event.Voting{Strategy: vote.None, Votes: map[string]int{}}
}

// All is what was voted for and what was discarded, whoever was asked.
func (o *Outcome) All() event.Voting {
	if o.First == nil {
		return o.Voting
	}
	return o.First.With(o.Voting)
}

// Forget leaves the votes of what was tried last out: they were about something else. What
// they took stays.
func (o *Outcome) Forget() {
	first := o.First.Plus(o.Voting)
	o.First, o.Voting = nil, first
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
	var refused []string // since the person refused a call and nothing has happened
	for n := 0; ; n++ {
		question := moveKey(key, n)
		v, err := f.Decide(question, &asked)
		if err != nil {
			return nil, err
		}
		asked.DelayMS, asked.Known = 0, nil // they were for the first move
		if c := asked.Confirm; c != nil {
			asked.Model, asked.Confirm = c.Model, nil // so was this
		}
		out.Take(v)
		out.Open = append(slices.Clip(refused), question)
		if v.Status != Decided || v.Intent == nil || stop(*v.Intent) {
			return &out, nil
		}
		if n >= maxMoves {
			out.fail("it made %d calls and came to no answer", n)
			return &out, nil
		}
		effect := fmt.Sprintf("%s/effect/%d", key, n)
		result, err := f.Perform(effect, &Effect{Step: q.Step, Scope: q.Scope, Intent: *v.Intent, Voting: v.Voting})
		if err != nil {
			return nil, err
		}
		switch {
		case !result.Refused:
			refused = nil // what was decided before has led to something
		case refused == nil:
			refused = []string{effect} // the call stays decided
		default:
			refused = append(refused, question, effect) // this one, because another was refused
		}
		out.Open = refused
		move := MoveOf(*v.Intent, *result)
		out.Moves = append(out.Moves, move)
		if result.Unknown {
			out.fail("%s", result.Text)
			return &out, nil
		}
		asked.Work.Done = append(slices.Clip(asked.Work.Done), move)
	}
}

// FirstMove is the key of the first question that [Act] asks.
func FirstMove(key string) string { return moveKey(key, 0) }

func moveKey(key string, n int) string { return fmt.Sprintf("%s/move/%d", key, n) }

// MoveOf is a call that was decided on with what came of it. If the person changed the call,
// it is the changed one: that is what happened.
func MoveOf(i event.Intent, r Result) Move {
	if r.Ran != nil {
		i.Input = r.Ran
		r.Text += "\n(A person changed the arguments before the call was made.)"
	}
	return Move{Intent: i, Result: r}
}

// fail turns the outcome into a failure.
func (o *Outcome) fail(format string, args ...any) {
	failed := *o.Verdict
	failed.Status, failed.Intent, failed.Reason = Failed, nil, fmt.Sprintf(format, args...)
	o.Verdict = &failed
}

// Add takes another try at the same step into account: its verdict is the last one.
// The votes are those of the last try that had samples.
func (o *Outcome) Add(try *Outcome) {
	open := try.Open
	if !try.Happened() {
		open = slices.Concat(o.Open, open)
	}
	o.plus(try, o.Voting.Samples == 0 || try.Voting.Samples > 0)
	if try.First != nil {
		o.Voting = o.Voting.Plus(*try.First)
		o.settled()
	}
	o.Open = open
}

// Happened reports whether a call was made, or may have been.
func (o *Outcome) Happened() bool {
	return slices.ContainsFunc(o.Moves, func(m Move) bool { return !m.Result.Refused })
}

// Unknown reports whether the last call may or may not have happened: then nothing
// may be tried again.
func (o *Outcome) Unknown() bool {
	return len(o.Moves) > 0 && o.Moves[len(o.Moves)-1].Result.Unknown
}

// Take takes the verdict of a move, or of another question of the same step, into account.
// The votes are those of the closest decision.
func (o *Outcome) Take(v *Verdict) {
	closer := v.Voting.Margin < o.Voting.Margin || v.Voting.Margin == o.Voting.Margin && len(v.Voting.Votes) > len(o.Voting.Votes)
	o.plus(&Outcome{Verdict: v, Voting: v.Voting, CostUSD: v.CostUSD, DurationMS: v.DurationMS}, closer)
}

// plus adds what came next up with o. The votes are those of one of them.
func (o *Outcome) plus(next *Outcome, itsVotes bool) {
	if o.Verdict == nil {
		*o = *next
		o.First = nil
		return
	}
	shown, other := &o.Voting, &next.Voting
	if itsVotes {
		shown, other = other, shown
	}
	sum := Outcome{
		Verdict: next.Verdict, Moves: slices.Concat(o.Moves, next.Moves),
		Voting: shown.Plus(*other), DurationMS: o.DurationMS + next.DurationMS, First: o.First,
	}
	if o.CostUSD != nil && next.CostUSD != nil {
		cost := usage.AddUSD(*o.CostUSD, *next.CostUSD)
		sum.CostUSD = &cost
	}
	*o = sum
	o.settled()
}

// settled leaves out what was discarded if something won in the end.
func (o *Outcome) settled() {
	if o.Verdict.Status == Decided {
		o.Voting.Discarded = nil
	}
}
