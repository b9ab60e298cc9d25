package ballot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/vote"
)

// A Room is what a verdict is kept in. Whoever needs one verdict after the other, and none
// of them for long, lends the same one each time.
type Room struct {
	verdict flow.Verdict
	cost    float64
}

// Holds reports whether a cost is that of the verdict in the room.
func (r *Room) Holds(cost *float64) bool { return r != nil && cost == &r.cost }

// empty returns the room as it was before there was a verdict in it; a new one for nil.
func (r *Room) empty() *Room {
	if r == nil {
		return new(Room)
	}
	votes := r.verdict.Voting.Votes
	clear(votes)
	r.verdict = flow.Verdict{}
	r.verdict.Voting.Votes = votes
	return r
}

// verdict is how the race ended, with the answer of a key if it was decided.
func (r *race) verdict(status flow.Status, key string) *flow.Verdict {
	room := r.room.empty()
	room.cost = r.cost
	v := &room.verdict // filled in where it is: it is large
	v.Status, v.DurationMS = status, r.now.Sub(r.started).Milliseconds()
	voting, counts := &v.Voting, r.tally.Counts()
	voting.Strategy, voting.Margin = r.q.Rule.Strategy, r.tally.Margin()
	voting.Samples, voting.RedFlagged = r.tally.Samples(), r.tally.Flags()
	voting.Faults, voting.Cancelled = r.before+r.faults, r.inFlight
	if voting.Votes == nil {
		voting.Votes = make(map[string]int, len(counts))
	}
	for _, c := range counts {
		voting.Votes[vote.ShortKey(c.Key)] += c.Votes
	}
	for i, votes := range r.byVoter {
		if votes != nil {
			if v.Voting.ByModel == nil {
				v.Voting.ByModel = map[string]map[string]int{}
			}
			name := r.voters[i].Name
			if v.Voting.ByModel[name] == nil {
				v.Voting.ByModel[name] = map[string]int{}
			}
			for key, n := range votes { // one model may vote at several temperatures
				v.Voting.ByModel[name][key] += n
			}
		}
	}
	if len(r.shares) > 0 {
		voting.Shares = r.sharesFor(status, key)
	}
	if status != flow.Decided {
		v.Voting.Discarded = slices.Clone(r.discarded)
	}
	if !r.unpriced {
		v.CostUSD = &room.cost
	}
	switch status {
	case flow.Decided:
		if v.Intent = r.intents[key]; v.Intent == nil {
			a := r.answerOf(key)
			v.Answer, v.Repaired, v.Tokens = a.Value, a.repaired, a.tokens
		}
		if v.Voting.Contested() {
			v.Voting.Answers = r.shown(key)
		}
	case flow.Undecided:
		v.Candidates = r.candidates()
		v.Tokens = r.answerOf(r.standing()[0].Key).tokens
		v.Voting.Answers = v.Candidates
		v.Voting.GivenUp = r.tally.GivenUp()
		v.Reason = r.whyUndecided() + r.split() + r.uncompared()
	case flow.FlaggedOut:
		v.Reason = r.whyFlaggedOut()
	case flow.Failed:
		if r.lastErr != nil {
			v.Fault = string(r.lastErr.Kind)
		}
		v.Voting.Faults = max(v.Voting.Faults, r.before+int(r.attempts.Load()))
		v.Reason = fmt.Sprintf("%d failed attempts; the last one: %v", v.Voting.Faults, r.lastErr)
		if r.lastErr != nil && r.neverAnswered(r.lastErr) {
			v.Reason += "; nothing was ever answered: see that the server is up and the address is right (`maker doctor --online`)"
		}
	}
	return v
}

// whyUndecided says why there are votes and no winner.
func (r *race) whyUndecided() string {
	t := &r.tally
	best := fmt.Sprintf("the best one has %s of %d votes, a margin of %d", bestOf(t), t.Votes(), t.Margin())
	switch {
	case t.Decision().Outcome == vote.Won:
		return fmt.Sprintf("the voters who were asked after them (%s) agree on another answer than those before were about to give (%s): %s",
			r.q.Model, clip.Line(strings.Join(r.q.Confirm.Leads, " or "), longestQuote), best)
	case r.scattered():
		return fmt.Sprintf("the first %d answers are all different", t.Votes())
	case t.GivenUp():
		return "no answer has won, and other voters are thought to settle it for less: " + best
	default:
		return fmt.Sprintf("no answer won within %d samples: %s", r.q.Rule.MaxSamples, best)
	}
}

// scattered reports whether there are so many different answers, and no two alike, that the
// question is given up. Calls of tools are no prose: those that differ may well agree later.
func (r *race) scattered() bool {
	n := r.q.Scattered
	if n <= 0 || r.tally.Votes() < n {
		return false
	}
	counts := r.tally.Counts()
	return len(counts) == r.tally.Votes() && !slices.ContainsFunc(counts, func(c vote.Count) bool { return strings.HasPrefix(c.Key, callKey) })
}

func bestOf(t *vote.Tally) string {
	best := 0
	for _, c := range t.Counts() {
		best = max(best, c.Votes)
	}
	return fmt.Sprint(best)
}
