package ballot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/vote"
)

// hopeless reports whether a question has got nothing but red flags for so long that
// nothing else is to be expected. It follows from the samples that count, so that a
// resume and a replay come to the same.
func (r *race) hopeless() bool {
	return r.tally.Votes() == 0 && r.tally.Flags() >= flow.Hopeless
}

// over reports whether further samples change nothing.
func (r *race) over() bool { return r.tally.Decision().Outcome != vote.Open || r.hopeless() }

// discard counts a sample with a red flag.
func (r *race) discard(s *Sample) {
	r.lastFlag, r.lastFlagged = s.Flag, ""
	if s.Response != nil {
		r.lastFlagged = s.Response.Text
	}
	if r.tally.Votes() == 0 && !slices.Contains(r.flagNames, s.Flag.Name) {
		r.flagNames = append(r.flagNames, s.Flag.Name)
	}
	r.tally.Flag()
}

// whyFlaggedOut says why there is no vote at all, and what the last answer was.
func (r *race) whyFlaggedOut() string {
	flag, n := r.lastFlag, r.tally.Flags()
	why := fmt.Sprintf("all %d samples were discarded; the last one: %s (%s)", n, flag.Reason, flag.Name)
	switch {
	case n == 1:
		why = fmt.Sprintf("the only sample was discarded: %s (%s)", flag.Reason, flag.Name)
	case r.hopeless():
		why = fmt.Sprintf("%d answers in a row were discarded as %s, and none became a vote; the last one: %s (%s)",
			n, strings.Join(r.flagNames, ", "), flag.Reason, flag.Name)
	}
	text := strings.TrimSpace(r.lastFlagged)
	if text == "" {
		return why
	}
	if redact := r.ballot.opts.Redact; redact != nil {
		text = redact(text) // of a secret that is cut nobody could tell that it is one
	}
	return why + "; it was: " + clip.Line(show.Line(text), longestQuote)
}

// longestQuote is how much of an answer a reason shows, in characters.
const longestQuote = 120
