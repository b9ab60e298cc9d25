package history

import (
	"bytes"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// A heldVote is the line of a verdict in a turn of a loop that says nothing which outlives the
// turn. Most turns are committed next, so that it never needs to be decoded.
type heldVote struct {
	loop string
	line runlog.Line
}

// holdVote holds the line of a verdict back, if it can.
func (h *History) holdVote(l runlog.Line) bool {
	if l.Type != event.TypeVoteCompleted || h.Policies.policy != nil || !unremarkable(l.Raw) {
		return false
	}
	_, rest, ok := bytes.Cut(l.Raw, []byte(`,"question":"`)) // in a text the quotes would be escaped
	question, _, _ := bytes.Cut(rest, []byte(`"`))
	name := loopOf(string(question))
	if !ok || name == "" || bytes.IndexByte(question, '\\') >= 0 {
		return false
	}
	l.Raw = bytes.Clone(l.Raw)
	h.held = append(h.held, heldVote{name, l})
	h.End = nil
	return true
}

// unremarkable reports whether a verdict is one on which all agreed, and says nothing about
// framings.
func unremarkable(line []byte) bool {
	if bytes.Contains(line, []byte(`,"shares":`)) || bytes.Contains(line, []byte(`,"intent":`)) {
		return false
	}
	i := bytes.LastIndex(line, []byte(`,"voting":{"strategy":"`)) // no JSON of others comes after it
	if i < 0 {
		return false
	}
	samples, ok1 := field(line[i:], `,"samples":`)
	flagged, ok2 := field(line[i:], `,"red_flagged":`)
	margin, ok3 := field(line[i:], `,"margin":`)
	return ok1 && ok2 && ok3 && margin == samples-flagged
}

// dropHeld drops the verdicts that were held back in the turn of a loop, which is committed,
// and learns from the others.
func (h *History) dropHeld(loop string) error {
	kept := h.held[:0]
	for _, v := range h.held {
		if v.loop != loop {
			kept = append(kept, v)
		}
	}
	h.held = kept
	return h.learnHeld()
}

// learnHeld learns from the lines that were held back.
func (h *History) learnHeld() error {
	held := h.held
	h.held = h.held[:0]
	for _, v := range held {
		if err := h.decode(v.line); err != nil {
			return err
		}
	}
	return nil
}
