package outline

import (
	"errors"
	"fmt"
	"strings"
)

// A RejectedError says why a summary is not accepted.
type RejectedError struct {
	Empty    bool
	Missing  []string // identifiers that a later task mentions
	Invented []string // addresses and paths that are not in the text
	Tokens   int      // of the summary, if there are too many
	Max      int
}

// Error implements error.
func (e *RejectedError) Error() string {
	var why []string
	if e.Empty {
		why = append(why, "it is empty")
	}
	if e.Tokens > e.Max {
		why = append(why, fmt.Sprintf("it has %d tokens, want at most %d", e.Tokens, e.Max))
	}
	if len(e.Missing) > 0 {
		why = append(why, fmt.Sprintf("it drops what later tasks mention: %q", e.Missing))
	}
	if len(e.Invented) > 0 {
		why = append(why, fmt.Sprintf("it has what is not in the text: %q", e.Invented))
	}
	return "outline: the summary is rejected: " + strings.Join(why, "; ")
}

// Accept takes a summary of what [Compactor.Request] returned. If it is not good
// enough, nothing changes and the error is a [*RejectedError].
func (c *Compactor) Accept(summary string) error {
	r := c.request
	if r == nil {
		return errors.New("outline: a summary came, but none was asked for")
	}
	summary = strings.TrimSpace(valid(summary))
	seen := indexOf(summary)
	rejected := &RejectedError{Empty: summary == "", Max: r.MaxTokens}
	if n := EstimateTokens(summary); n > r.MaxTokens {
		rejected.Tokens = n
	}
	for _, m := range r.must {
		if !seen.has(m) {
			rejected.Missing = append(rejected.Missing, m.text)
		}
	}
	for _, id := range seen.identifiers {
		if (id.Kind == Address || id.Kind == Path) && !strings.Contains(r.Text, id.Text) {
			rejected.Invented = append(rejected.Invented, id.Text)
		}
	}
	if rejected.Empty || rejected.Tokens > 0 || len(rejected.Missing) > 0 || len(rejected.Invented) > 0 {
		return rejected
	}
	c.replace(summary, seen)
	return nil
}

// replace puts a summary in the place of what it is about.
func (c *Compactor) replace(summary string, seen *index) {
	r := c.request
	c.request = nil
	c.summary = note{kind: summaryNote, first: r.First, last: r.Last, text: summary + "\n\n"}
	c.summary.tokens = EstimateTokens(c.summary.text)
	for _, m := range r.all {
		if seen.has(m) {
			c.summary.marks = append(c.summary.marks, m)
		}
	}
	kept := c.notes[:0]
	c.size = c.summary.tokens
	for i, n := range c.notes {
		if i >= len(r.taken) || !r.taken[i] {
			kept = append(kept, n)
			c.size += n.tokens
		}
	}
	clear(c.notes[len(kept):])
	c.notes = kept
}
