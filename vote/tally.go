package vote

import (
	"fmt"
	"slices"
)

// Outcome is the state of a race.
type Outcome int

// The outcomes.
const (
	Open  Outcome = iota // more votes are needed and allowed
	Won                  // the rule is satisfied
	Stuck                // the rule cannot be satisfied within the cap any more
)

// String returns the outcome in lower case, for messages.
func (o Outcome) String() string {
	switch o {
	case Open:
		return "open"
	case Won:
		return "won"
	case Stuck:
		return "stuck"
	default:
		return fmt.Sprintf("Outcome(%d)", int(o))
	}
}

// A Decision is what a [Tally] says after each sample.
type Decision struct {
	Outcome Outcome

	// Key is the winner's, if there is one. It may be empty: an empty answer
	// can win like any other, so test Outcome, never Key.
	Key string

	// Need is the least number of further votes that could decide the race: all
	// of them for the leader. If that many are launched, none comes after a win.
	Need int
}

// A Count is how many votes a key has.
type Count struct {
	Key   string
	Votes int
}

// A Tally counts the samples of one question under one rule. It is a plain
// state machine: the same samples in the same order give the same decision.
//
// A race that is over stays over: samples that come after the decision change
// nothing, so a stray late answer can neither undo a win nor win beyond the cap.
// The zero value is not usable; see [NewTally] and [Tally.Begin].
type Tally struct {
	rule   Rule
	leads  []int   // of an Adaptive rule: margins, by the votes of the runner-up
	giveUp []Leads // with which such a race is left to others, by the same
	counts []Count // in order of first appearance; races have few candidates
	votes  int
	flags  int
	leader int // index into counts: the most votes, the first to get there among equals
	second int // votes of the best other candidate
	room   [2]Count
	decide Decider // of a rule that is [Own]
}

// NewTally returns an empty tally under rule. An [Adaptive] rule goes with the margins
// that are in force, by the votes of the runner-up; the last one holds for all further
// votes. NewTally panics if the rule is not valid, or has no margins where it needs them:
// a rule without a meaning must not decide anything.
func NewTally(rule Rule, margins ...int) *Tally { return NewTallyBy(rule, nil, margins...) }

// Begin makes t an empty tally as [NewTallyBy] returns one, whatever it was before: who
// decides a million questions needs one.
func (t *Tally) Begin(rule Rule, decide Decider, margins ...int) {
	if err := rule.Validate(); err != nil {
		panic(err)
	}
	if rule.Strategy == Adaptive && (len(margins) == 0 || slices.Min(margins) < 1 || rule.MaxSamples < 1) {
		panic(fmt.Sprintf("vote: an adaptive rule with the margins %v and at most %d samples", margins, rule.MaxSamples))
	}
	*t = Tally{rule: rule, leads: margins}
	t.counts = t.room[:0] // most races have one candidate or two
	if rule.Strategy == Own {
		t.decide = decide
	}
}

// Leads are margins from the first to the last one, none if that is smaller.
type Leads [2]int

// GiveUpAt says with which leads a race under an [Adaptive] rule is given up, because
// others can settle it for less, by the votes of the runner-up; the last ones hold for all
// further votes.
func (t *Tally) GiveUpAt(leads []Leads) { t.giveUp = leads }

// GivenUp reports whether the race is left to others before its cap.
func (t *Tally) GivenUp() bool {
	if t.rule.Strategy != Adaptive || len(t.giveUp) == 0 || t.need() <= 0 {
		return false
	}
	leads, m := t.giveUp[min(t.second, len(t.giveUp)-1)], t.Margin()
	return leads[0] <= m && m <= leads[1]
}

// Vote counts one vote for key.
func (t *Tally) Vote(key string) {
	if t.over() {
		return
	}
	t.votes++
	i := 0
	for i < len(t.counts) && t.counts[i].Key != key {
		i++
	}
	if i == len(t.counts) {
		t.counts = append(t.counts, Count{Key: key})
	}
	t.counts[i].Votes++

	switch n := t.counts[i].Votes; {
	case i == t.leader:
	case n > t.counts[t.leader].Votes:
		t.second = t.counts[t.leader].Votes
		t.leader = i
	default:
		t.second = max(t.second, n)
	}
}

// Flag counts one sample that was discarded.
func (t *Tally) Flag() {
	if !t.over() {
		t.flags++
	}
}

// Votes is the number of valid votes.
func (t *Tally) Votes() int { return t.votes }

// Flags is the number of discarded samples.
func (t *Tally) Flags() int { return t.flags }

// Samples is the number of votes and discarded samples: what the cap limits.
func (t *Tally) Samples() int { return t.votes + t.flags }

// Counts returns the candidates in the order in which they first appeared. The
// slice belongs to the tally and is valid until the next vote.
func (t *Tally) Counts() []Count { return t.counts }

// Margin is how far the leader is ahead of the runner-up. A lone candidate's
// runner-up has no votes; there is no other special case for unanimity.
func (t *Tally) Margin() int {
	if t.votes == 0 {
		return 0
	}
	return t.counts[t.leader].Votes - t.second
}

// Ahead is the key that has more votes than any other, and how many; none if there is no
// such key.
func (t *Tally) Ahead() (key string, votes int) {
	if t.Margin() == 0 {
		return "", 0
	}
	return t.counts[t.leader].Key, t.counts[t.leader].Votes
}

// Contested reports whether the votes named more than one answer.
func (t *Tally) Contested() bool { return len(t.counts) > 1 }

// Decision says whether the race is over, and if not, what it still needs.
func (t *Tally) Decision() Decision {
	if t.rule.Strategy == Own {
		return t.own()
	}
	need := t.need()
	switch {
	case need <= 0:
		return Decision{Outcome: Won, Key: t.counts[t.leader].Key}
	case need > t.left() || t.GivenUp():
		return Decision{Outcome: Stuck, Need: need}
	default:
		return Decision{Outcome: Open, Need: need}
	}
}

func (t *Tally) over() bool {
	if t.rule.Strategy == Own {
		return t.own().Outcome != Open
	}
	need := t.need()
	return need <= 0 || need > t.left() || t.GivenUp()
}

// left is how many samples the cap still permits.
func (t *Tally) left() int { return t.rule.MaxSamples - t.Samples() }

// need is how many more votes the leader wants, if all of them are for it.
func (t *Tally) need() int {
	top := 0
	if t.votes > 0 {
		top = t.counts[t.leader].Votes
	}
	switch t.rule.Strategy {
	case Majority:
		// The leader wants more than half of the quorum, which may come before
		// the quorum is full, and more than half of the votes. Each further vote
		// for it closes the first gap by one and so does the second, because
		// top+m > (votes+m)/2 means m > votes-2*top.
		return max(t.rule.N/2+1-top, t.votes-2*top+1, t.rule.MinVotes-t.votes)
	case FirstToK:
		return max(t.rule.K-t.Margin(), t.rule.MinVotes-t.votes)
	case Adaptive:
		return t.leads[min(t.second, len(t.leads)-1)] - t.Margin()
	default: // None
		return 1 - top
	}
}
