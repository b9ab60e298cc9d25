package vote

// Outcome is the state of a race.
type Outcome int

// The outcomes.
const (
	Open  Outcome = iota // more votes are needed and allowed
	Won                  // the rule is satisfied
	Stuck                // the rule cannot be satisfied within the cap any more
)

// A Decision is what a [Tally] says after each sample.
type Decision struct {
	Outcome Outcome

	// Key is the winner's, if there is one. It may be empty: an empty answer
	// can win like any other, so test Outcome, never Key.
	Key string

	// Need is the least number of further votes that could decide the race: all
	// of them for the leader. Launching that many can never be one too many.
	Need int
}

// A Count is how many votes a key has.
type Count struct {
	Key   string
	Votes int
}

// A Tally counts the samples of one question under one rule. It is a plain
// state machine: the same samples in the same order give the same decision.
// The zero value is not usable; see [NewTally].
type Tally struct {
	rule   Rule
	counts []Count // in order of first appearance; races have few candidates
	votes  int
	flags  int
	leader int // index into counts: the most votes, the earliest among equals
	second int // votes of the best other candidate
}

// NewTally returns an empty tally under rule, which must be valid.
func NewTally(rule Rule) *Tally {
	return &Tally{rule: rule}
}

// Vote counts one vote for key.
func (t *Tally) Vote(key string) {
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
func (t *Tally) Flag() { t.flags++ }

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

// Contested reports whether the votes named more than one answer.
func (t *Tally) Contested() bool { return len(t.counts) > 1 }

// Decision says whether the race is over, and if not, what it still needs.
func (t *Tally) Decision() Decision {
	need := t.need()
	switch {
	case need <= 0:
		return Decision{Outcome: Won, Key: t.counts[t.leader].Key}
	case need > t.rule.MaxSamples-t.Samples():
		return Decision{Outcome: Stuck, Need: need}
	default:
		return Decision{Outcome: Open, Need: need}
	}
}

// need is how many more votes the leader wants, if all of them are for it.
func (t *Tally) need() int {
	top := 0
	if t.votes > 0 {
		top = t.counts[t.leader].Votes
	}
	switch t.rule.Strategy {
	case Majority:
		if half := t.rule.N/2 + 1; t.votes < t.rule.N {
			// More than half of the quorum is settled before the quorum is full.
			return half - top
		}
		// (top + m) > (votes + m) / 2
		return t.votes - 2*top + 1
	case FirstToK:
		return t.rule.K - t.Margin()
	default: // None
		return 1 - top
	}
}
