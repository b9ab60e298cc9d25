package history

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/maker-mdap/maker/event"
)

// emitted is what the log holds under the key of an event.
type emitted struct {
	kind event.Type
	sum  [16]byte // of what was committed with it
	edit int      // which parameters of the run it is from
}

// A DivergedError says that a run that was resumed went another way than its log.
// It must not go on: what it has done stands under other keys than it looks for.
type DivergedError struct {
	Key  string
	Was  event.Type
	Is   event.Type
	What string
}

func (e *DivergedError) Error() string {
	if e.Was == e.Is {
		return fmt.Sprintf("the run goes another way than its log: the %s %q had another %s; was it begun by another version of the program?", e.Is, e.Key, e.What)
	}
	return fmt.Sprintf("the run goes another way than its log: %q was %s and is %s now; was it begun by another version of the program?", e.Key, e.Was, e.Is)
}

// emit notes an event of an orchestrator. Of one that this version does not know
// nobody can say whose it is.
func (h *History) emit(key string, e event.Event) {
	if _, unknown := e.(event.Unknown); unknown {
		return
	}
	switch {
	case key != "":
		_, sum := committed(e, nil)
		if was, again := h.emitted[key]; again && was.edit == h.Edits && h.audit != nil {
			h.audit.again(key, was.kind, e.Type())
		}
		h.emitted[key] = emitted{e.Type(), sum, h.Edits}
	case !h.compact:
		h.Unkeyed = true
	}
}

// Edit takes other parameters of the run: its script was edited. What is recorded stays, but
// that a step failed is to be said anew, and who was asked something is asked if the run still
// wants to know.
func (h *History) Edit(params json.RawMessage) {
	h.Params = params
	h.Edits++
	maps.DeleteFunc(h.emitted, func(_ string, e emitted) bool { return e.kind == event.TypeStepFailed })
	for _, q := range h.Waiting {
		h.Stale[q.Question] = true
	}
	h.Waiting = nil
}

// IsCommitted reports whether a step was committed under a key.
func (h *History) IsCommitted(key string) bool { return h.emitted[key].kind == event.TypeStepCompleted }

// Outdated reports whether the event under a key was emitted before the parameters of the run
// were changed, so that there may be another one now.
func (h *History) Outdated(key string) bool { return h.emitted[key].edit < h.Edits }

// Emitted reports whether an earlier session emitted an event under the key. It is an
// error if that was not the same event. redact is what the log takes out of events.
func (h *History) Emitted(key string, e event.Event, redact func([]byte) []byte) (bool, error) {
	was, ok := h.emitted[key]
	if !ok {
		return false, nil
	}
	what, sum := committed(e, redact)
	_, plain := committed(e, nil) // the log may have been written when a key was not known yet
	if was.kind != e.Type() || was.sum != sum && was.sum != plain {
		return true, &DivergedError{Key: key, Was: was.kind, Is: e.Type(), What: what}
	}
	return true, nil
}

// committed stands for that part of an event on which others were built. The rest,
// such as how long it took, may come out differently when the run goes on after a
// failure.
func committed(e event.Event, redact func([]byte) []byte) (what string, sum [16]byte) {
	var v event.Value
	switch e := e.(type) {
	case event.StepCompleted:
		what, v = "output", e.Output
	case event.PlanCreated:
		what, v = "plan", e.Plan
	case event.ValidationPassed:
		what, v = "plan", e.Plan
	default:
		return "", sum
	}
	data, err := json.Marshal(v)
	if err != nil {
		data = nil // not an event that the log could hold either
	}
	if redact != nil {
		data = redact(data)
	}
	full := sha256.Sum256(data)
	return what, [16]byte(full[:])
}
