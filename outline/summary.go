package outline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/internal/text/tasks"
	"github.com/maker-mdap/maker/redflag"
)

// Check says what is wrong with a summary, or nil. One that drops what later tasks
// mention is no good, and neither is one with a number, a path or an address that is
// not in the text.
func (r *SummaryRequest) Check(summary string) *redflag.Flag {
	if strings.TrimSpace(summary) == "" {
		return redflag.New(redflag.Empty, "the summary is empty")
	}
	if n := EstimateTokens(summary); n > r.MaxTokens {
		return redflag.New(redflag.ExcessiveLength, "the summary has %d tokens, want at most %d", n, r.MaxTokens)
	}
	seen := tasks.IndexOf(summary)
	for _, m := range r.Must {
		if !seen.Has(m.Text, m.Exact) {
			return redflag.New(redflag.MissingField, "the summary drops %q, which a later task mentions", m.Text)
		}
	}
	for word, kind := range tasks.Words(summary) {
		if !r.has(word, kind) {
			return redflag.New(redflag.SchemaInvalid, "the summary has the %s %q, which is not in the text", kind, word)
		}
	}
	return nil
}

// has reports whether an identifier may be in a summary of the text.
func (r *SummaryRequest) has(word string, kind tasks.IdentifierKind) bool {
	switch kind {
	case tasks.Address, tasks.Path:
		return strings.Contains(r.Text, word)
	case tasks.Number:
		plain := func(s string) string { return strings.ReplaceAll(s, ",", "") } // 1,000 is 1000
		return tasks.StandsIn(r.Text, word) || tasks.StandsIn(plain(r.Text), plain(word))
	default:
		return true
	}
}

// Accept takes a summary of what [Compactor.Request] returned. If it is not good
// enough, nothing changes.
func (c *Compactor) Accept(summary string) error {
	if c.request == nil {
		return errors.New("outline: a summary came, but none was asked for")
	}
	summary = strings.TrimSpace(valid(summary))
	if flag := c.request.Check(summary); flag != nil {
		return fmt.Errorf("outline: %s", flag.Reason)
	}
	c.replace(summary)
	return nil
}

// replace puts a summary in the place of what it is about.
func (c *Compactor) replace(summary string) {
	r := c.request
	c.request = nil
	c.summary = note{kind: summaryNote, first: r.first, last: r.last, text: summary + "\n\n"}
	c.summary.tokens = EstimateTokens(c.summary.text)
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
