package flow

import (
	"fmt"
	"iter"

	"github.com/maker-mdap/maker/event"
)

// A Module is one part of a pipeline: an event goes in, events come out. A module
// ignores what is not for it. It obeys the rules for orchestrators, and when the
// flow gives it an error it stops.
type Module interface {
	Process(f Flow, e event.Event) iter.Seq[event.Event]
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
	ended := false
	for n := 0; len(queue) > 0; n++ {
		if n == maxRouted {
			return fmt.Errorf("flow: %d events and no end; do two modules answer each other?", n)
		}
		e := queue[0]
		queue = queue[1:]
		for _, m := range modules {
			for out := range m.Process(w, e) {
				w.Emit(out)
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
		w.Emit(event.TaskFailed{Status: event.StatusFailed, Reason: "no module said how the task ended"})
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

// Parallel notes the error of all branches together: their own flows are not
// watched, because they run at the same time.
func (w *watched) Parallel(n int, f func(i int, f Flow) error) error {
	err := w.Flow.Parallel(n, f)
	w.note(err)
	return err
}
