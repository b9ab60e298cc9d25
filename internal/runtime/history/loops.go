package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// A loop is how a loop stands. There may be a million turns, so that what is recorded in one
// is listed: it is forgotten when the turn is committed, without a look at all the rest.
type loop struct {
	n     int             // turns committed
	state json.RawMessage // after the last of them
	last  runlog.Line     // that of its commit, if it was not decoded
	keys  []string        // under which something is recorded in the turn under way
}

// loopOf is the innermost loop in whose turn a key lies; empty if there is none.
func loopOf(key string) string {
	for {
		i := strings.LastIndexByte(key, '/')
		if i < 0 {
			return ""
		}
		key = key[:i]
		if name, _, ok := flow.CutTurn(key); ok {
			return name
		}
	}
}

func (h *History) loop(name string) *loop {
	l := h.loops[name]
	if l == nil {
		l = &loop{}
		h.loops[name] = l
		h.note(name) // it may be in a turn of another
	}
	return l
}

// note lists a key if it lies in a turn of a loop.
func (h *History) note(key string) {
	name := loopOf(key)
	if name == "" {
		return
	}
	l := h.loop(name)
	if n := len(l.keys); n == 0 || l.keys[n-1] != key {
		l.keys = append(l.keys, key)
	}
}

// recordedUnder is the key of what the journal takes from an event.
func recordedUnder(rec event.Record) string {
	switch e := rec.Event.(type) {
	case event.SampleCompleted:
		return e.Question
	case event.SampleRedFlagged:
		return e.Question
	case event.SampleFaulted:
		return e.Question
	case event.VoteCompleted:
		return e.Question
	case event.QuestionChanged:
		return e.Question
	case event.ClarificationRequested:
		return e.Question
	case event.ClarificationProvided:
		return e.Question
	case event.Observed:
		return e.Look
	case event.EffectClaimed:
		return e.Effect
	case event.EffectReleased:
		return e.Effect
	case event.EffectRefused:
		return e.Effect
	case event.EffectUnknown:
		return e.Effect
	case event.EffectDone:
		return e.Effect
	case event.StepCompleted:
		if e.Loop {
			return "" // it is taken as how the loop stands
		}
	}
	return rec.Key
}

// turn takes a committed turn of a loop. It reports whether the key is that of one.
func (h *History) turn(key string, state json.RawMessage) bool {
	l, ok := h.committedTurn(key)
	if ok {
		l.state, l.last.Raw = state, nil
	}
	return ok
}

// turnLine takes the line of a committed step if it is a turn of a loop, to be decoded when
// there is no later one. It reports whether it is.
func (h *History) turnLine(line runlog.Line) (bool, error) {
	if !saysLoop(line.Raw) {
		return false, nil
	}
	head, err := event.DecodeHeader(line.Raw)
	if err != nil {
		return false, nil // whoever decodes it says so
	}
	name, _, ok := flow.CutTurn(head.Key)
	if !ok {
		return false, nil
	}
	if err := h.dropHeld(name); err != nil {
		return false, err
	}
	l, _ := h.committedTurn(head.Key)
	raw := append(l.last.Raw[:0], line.Raw...)
	l.last = line
	l.last.Raw = raw
	return true, nil
}

// saysLoop reports whether the line of a step says that it is a turn of a loop. Only a
// checksum comes after that.
func saysLoop(line []byte) bool {
	const says, checksum = `,"loop":true`, `,"crc":"00000000"`
	line = bytes.TrimSuffix(line, []byte("}"))
	return bytes.HasSuffix(line, []byte(says)) || bytes.HasSuffix(line[:max(0, len(line)-len(checksum))], []byte(says))
}

// committedTurn counts the turn of a key and forgets what was recorded in it.
func (h *History) committedTurn(key string) (*loop, bool) {
	name, n, ok := flow.CutTurn(key)
	if !ok {
		return nil, false
	}
	l := h.loop(name)
	l.n = n + 1
	h.forgetTurn(l)
	return l, true
}

// forgetTurn forgets what was recorded in the turn of a loop that is under way, other loops in
// it included. What the person has allowed for the rest of the run stays.
func (h *History) forgetTurn(l *loop) {
	for _, key := range l.keys {
		if _, stays := effect.Allows(key, h.Answers[key]); !stays && key != h.asksFor {
			delete(h.Answers, key)
		}
		delete(h.Verdicts, key)
		delete(h.Looks, key)
		delete(h.Effects, key)
		delete(h.Answered, key)
		delete(h.Changed, key)
		delete(h.Votes, key)
		delete(h.emitted, key)
		if inner := h.loops[key]; inner != nil {
			h.forgetTurn(inner)
			delete(h.loops, key)
		}
	}
	clear(l.keys)
	l.keys = l.keys[:0]
}

// finishLoops tells how loops stand.
func (h *History) finishLoops() error {
	for name, l := range h.loops {
		if l.last.Raw != nil {
			step, err := h.decodeStep(l.last)
			if err != nil {
				return err
			}
			l.state = step.Output.JSON
		}
		if l.n > 0 {
			h.Loops[name] = flow.Turn{N: l.n, State: l.state}
		}
	}
	return nil
}

// decodeStep reads a step that was kept as a line, with its output.
func (h *History) decodeStep(l runlog.Line) (event.StepCompleted, error) {
	rec, err := l.Decode()
	if err != nil {
		return event.StepCompleted{}, h.damaged(l, err.Error())
	}
	e, ok := rec.Event.(event.StepCompleted)
	if !ok {
		return e, h.damaged(l, "it has two types")
	}
	if e.Output, err = runlog.Load(h.dir, e.Output); err != nil {
		return e, fmt.Errorf("the run log in %s, line %d: %w", h.dir, l.Seq+1, err)
	}
	return e, nil
}
