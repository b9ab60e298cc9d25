package history

import (
	"sync"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// Numbers are those of the steps of a run whose script was edited. Steps are numbered in the
// order in which code comes to them, and an edit changes that: so a step is found by its key, as
// its answers are, and one that is not in the log gets a number that nobody has.
//
// A step that is committed stays as it is. If it comes to something else now, or if more is
// asked in it, it is made again, as a step of its own.
type Numbers struct {
	mu        sync.Mutex
	known     map[string]int // the latest number of what is recorded under a key or below it
	used      row
	committed row         // by earlier sessions
	again     map[int]int // numbers of steps that are made again, by those that they had
	next      int         // those below are used
}

// ReadNumbers reads those that the log in dir has.
func ReadNumbers(dir string) (*Numbers, error) {
	n := &Numbers{known: map[string]int{}, again: map[int]int{}}
	h := reader(dir, nil, nil)
	for line, err := range runlog.Read(dir) {
		if err != nil {
			return nil, err
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, h.damaged(line, err.Error())
		}
		n.take(rec)
	}
	return n, nil
}

// take learns from an event that is about a step.
func (n *Numbers) take(rec event.Record) {
	step, ok := stepIn(rec.Event)
	if !ok {
		return
	}
	if e, commits := rec.Event.(event.StepCompleted); commits {
		n.committed.add(step)
		if e.Loop {
			n.used.add(step)
			delete(n.known, rec.Key) // nobody comes to it again
			return
		}
	}
	n.note(recordedUnder(rec), step)
}

// stepIn is the step in which something happens with an event; false if that is none, or the
// event is only about one.
func stepIn(e event.Event) (step int, ok bool) {
	switch e := e.(type) {
	case event.SampleCompleted:
		return e.Step, true
	case event.SampleRedFlagged:
		return e.Step, true
	case event.SampleFaulted:
		return e.Step, true
	case event.VoteCompleted:
		return e.Step, true
	case event.ClarificationRequested:
		return e.Step, true
	case event.EffectClaimed:
		return e.Step, true
	case event.EffectRefused:
		return e.Step, true
	case event.StepFailed:
		return e.Step, true
	case event.StepCompleted:
		return e.Step, true
	}
	return 0, false
}

// note takes the number of a step by the key of something that belongs to it. All that lies in
// a turn of a loop is one step.
func (n *Numbers) note(key string, step int) {
	n.used.add(step)
	if key == "" {
		return
	}
	for i := range len(key) {
		if key[i] != '/' {
			continue
		}
		n.known[key[:i]] = step
		if _, _, turn := flow.CutTurn(key[:i]); turn {
			return
		}
	}
	n.known[key] = step
}

// Of is the number of the step with a key, once in a session: that which it has in the log, or
// a new one.
func (n *Numbers) Of(key string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if step, ok := n.known[key]; ok {
		return step
	}
	return n.free()
}

// free is a number that nobody has.
func (n *Numbers) free() int {
	for n.used.has(n.next) {
		n.next++
	}
	n.used.add(n.next)
	return n.next
}

// Now is the number that a step has now, if it is made again.
func (n *Numbers) Now(step int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if again, ok := n.again[step]; ok {
		return again
	}
	return step
}

// Begun is the number of a step in which something happens that is not in the log: a step that
// is committed is made again.
func (n *Numbers) Begun(step int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.committed.has(step) {
		return step
	}
	again, ok := n.again[step]
	if !ok {
		again = n.free()
		n.again[step] = again
	}
	return again
}

// Committed reports whether an earlier session committed a step.
func (n *Numbers) Committed(step int) bool { return n.committed.has(step) }
