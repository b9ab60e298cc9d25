package ballot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/flow"
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

// whyFlaggedOut says why there is no vote at all, and what the last answer was.
func (r *race) whyFlaggedOut() string {
	flag, n := r.lastFlag, r.tally.Flags()
	why := fmt.Sprintf("all %d samples were discarded; the last one: %s (%s)", n, flag.Reason, flag.Name)
	switch {
	case n == 1:
		why = fmt.Sprintf("the only sample was discarded: %s (%s)", flag.Reason, flag.Name)
	case r.hopeless():
		var names []string
		for _, d := range r.discarded {
			if !slices.Contains(names, d.Flag) {
				names = append(names, d.Flag)
			}
		}
		why = fmt.Sprintf("%d answers in a row were discarded as %s, and none became a vote; the last one: %s (%s)",
			n, strings.Join(names, ", "), flag.Reason, flag.Name)
	}
	if text := r.quote(r.lastFlagged); text != "" {
		why += "; it was: " + text
	}
	return why
}
