package flow

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/maker-mdap/maker/event"
)

// A Module is one part of a pipeline: an event goes in, events come out. A module
// ignores what is not for it. It obeys the rules for orchestrators, and when the
// flow gives it an error it stops.
//
// An event that a module yields may be [Keyed]. The others are appended under a key
// made of their type and how many of that type came before: enough for a module
// whose events come in the same order whenever it runs again.
type Module interface {
	Process(f Flow, e event.Event) iter.Seq[event.Event]
}

// A Keyed event says under which key [Pipe] is to emit it. Modules are shown the
// event itself.
type Keyed struct {
	event.Event
	Key string
}

// Bare is an event without its key.
func Bare(e event.Event) event.Event {
	if keyed, ok := e.(Keyed); ok {
		return keyed.Event
	}
	return e
}

// maxRouted bounds the events of one pipeline: modules that answer each other
// without end are a mistake, not a long run.
const maxRouted = 1_000_000

// Pipe routes events between modules, beginning with first: every event that a
// module yields is appended to the run and then shown to all modules, in order.
// It returns when no event is left, with the error of the flow, if there was one. A
// task that no module has ended by then has failed.
func Pipe(f Flow, first event.Event, modules ...Module) error {
	w := &watched{Flow: f, err: new(error)}
	queue := []event.Event{first}
	count := map[event.Type]int{}
	ended := false
	for n := 0; len(queue) > 0; n++ {
		if n == maxRouted {
			return fmt.Errorf("flow: %d events and no end; do two modules answer each other?", n)
		}
		e := queue[0]
		queue = queue[1:]
		for _, m := range modules {
			for out := range m.Process(w, e) {
				key := fmt.Sprintf("event/%s/%d", out.Type(), count[out.Type()])
				if keyed, ok := out.(Keyed); ok {
					key, out = keyed.Key, keyed.Event
				} else {
					count[out.Type()]++
				}
				w.Emit(key, out)
				queue = append(queue, out)
				switch out.(type) {
				case event.TaskCompleted, event.TaskFailed:
					ended = true
				}
			}
			if *w.err != nil {
				return *w.err
			}
		}
	}
	if !ended {
		w.Emit("end", event.TaskFailed{Status: event.StatusFailed, Reason: "no module said how the task ended"})
	}
	return nil
}

// watched remembers the first error of a flow, which a module cannot return.
type watched struct {
	Flow
	err *error
}

func (w *watched) note(err error) {
	if err != nil && *w.err == nil {
		*w.err = err
	}
}

func (w *watched) Decide(key string, q *Question) (*Verdict, error) {
	v, err := w.Flow.Decide(key, q)
	w.note(err)
	return v, err
}

func (w *watched) Perform(key string, e *Effect) (*Result, error) {
	r, err := w.Flow.Perform(key, e)
	w.note(err)
	return r, err
}

func (w *watched) Ask(key string, q *HumanQuestion) (*Answer, error) {
	a, err := w.Flow.Ask(key, q)
	w.note(err)
	return a, err
}

func (w *watched) Observe(key string, l Look) (json.RawMessage, error) {
	seen, err := w.Flow.Observe(key, l)
	w.note(err)
	return seen, err
}

// Ended implements [Ender].
func (w *watched) Ended() error {
	err := Ended(w.Flow)
	w.note(err)
	return err
}

// Loop implements [Looper], as far as the flow does.
func (w *watched) Loop(key string) (Turns, error) {
	turns, err := Loop(w.Flow, key)
	w.note(err)
	return watchedTurns{turns, w.err}, err
}

// watchedTurns are turns whose flows are watched too: there is one at a time.
type watchedTurns struct {
	Turns
	err *error
}

func (t watchedTurns) Turn(n int) Flow { return &watched{t.Turns.Turn(n), t.err} }

// Parallel notes the error of all branches together: their own flows are not
// watched, because they run at the same time.
func (w *watched) Parallel(key string, n int, f func(i int, f Flow) error) error {
	err := w.Flow.Parallel(key, n, f)
	w.note(err)
	return err
}
