package ballot

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// discard counts a sample with a red flag.
func (r *race) discard(s *Sample) {
	r.lastFlag, r.lastFlagged = s.Flag, ""
	if s.Response != nil {
		r.lastFlagged = s.Response.Text
	}
	r.tally.Flag()
	known := len(r.discarded)
	r.discarded = event.AddDiscarded(r.discarded, event.Discarded{Flag: s.Flag.Name, Count: 1, Reason: s.Flag.Reason})
	if len(r.discarded) > known {
		r.discarded[known].Said = r.quote(r.lastFlagged)
	}
}

// longestQuote is how much of a discarded answer is shown, in characters.
const longestQuote = 120

// quote is the beginning of what a model said, for people.
func (r *race) quote(text string) string {
	if redact := r.ballot.opts.Redact; redact != nil {
		text = redact(text) // of a secret that is cut nobody could tell that it is one
	}
	return clip.Line(show.Line(strings.TrimSpace(text)), longestQuote)
}

// What a verdict lists of the answers that got votes.
const (
	maxCandidates = 8
	maxShown      = 4       // where one won
	maxShownBytes = 4 << 10 // of each
)

// candidates are the answers that got votes, most of them first, then in order of
// arrival.
func (r *race) candidates() []event.Candidate {
	counts := r.standing()
	var list []event.Candidate
	for _, c := range counts[:min(len(counts), maxCandidates)] {
		if a := r.answerOf(c.Key); a.Value != nil {
			found := event.Candidate{Answer: a.Value, Votes: c.Votes}
			if r.q.Meaning != nil {
				found.Key = c.Key
			}
			list = append(list, found)
		}
	}
	return list
}

// shown are the answers of a contested vote, if not all of their keys can be read. The
// one that won is what came of the vote, unless it is a call.
func (r *race) shown(winner string) []event.Candidate {
	if !slices.ContainsFunc(r.tally.Counts(), func(c vote.Count) bool { return vote.ShortKey(c.Key) != c.Key }) {
		return nil
	}
	list := r.candidates()
	if r.intents[winner] == nil {
		list = list[1:]
	}
	return clipped(list[:min(len(list), maxShown)])
}

// clipped are answers to look at: nobody has to agree with them any more.
func clipped(list []event.Candidate) []event.Candidate {
	for i := range list {
		list[i].Key = ""
		if len(list[i].Answer) > maxShownBytes {
			list[i].Answer, _ = json.Marshal(clip.Line(string(list[i].Answer), maxShownBytes)) // a text never fails
		}
	}
	return list
}

// standing are the votes, most of them first, then in order of arrival.
func (r *race) standing() []vote.Count {
	counts := slices.Clone(r.tally.Counts())
	slices.SortStableFunc(counts, func(a, b vote.Count) int { return b.Votes - a.Votes })
	return counts
}

// answerOf is the answer that stands for a key.
func (r *race) answerOf(key string) standing {
	if key == r.firstAnswer.Key {
		return r.firstAnswer
	}
	return r.answers[key]
}

// standing is an answer that stands for all that agree with it: what is committed if they
// win.
type standing struct {
	domain.Answer
	n        int          // of its sample
	repaired bool         // its text had to be
	tokens   usage.Tokens // that it took, of a turn
}

// keepFirst remembers the answer of the first key, and what it was read from.
func (r *race) keepFirst(a standing, text string, from *model.Response) {
	r.firstAnswer, r.firstText, r.firstStop, r.firstTokens = a, text, from.Stop, from.Usage.Output
}

// keep remembers the answer of each key that came from the first sample, in the order in
// which they were asked for: it must not matter which came first. Where texts were compared
// it is the one that others were compared with.
func (r *race) keep(s *Sample, text string) {
	a := standing{Answer: s.Answer, n: s.N, repaired: s.Work != nil && s.Work.Repaired}
	if r.q.Chat != nil {
		a.tokens = s.Response.Usage
	}
	if r.tally.Votes() == 0 {
		r.keepFirst(a, text, s.Response)
		return
	}
	before, known := r.answers[a.Key]
	if a.Key == r.firstAnswer.Key {
		before, known = r.firstAnswer, true
	}
	switch {
	case known && (before.n < a.n || r.q.Meaning != nil):
	case a.Key == r.firstAnswer.Key:
		r.keepFirst(a, text, s.Response)
	default:
		if r.answers == nil {
			r.answers = make(map[string]standing)
		}
		r.answers[a.Key] = a
	}
}
