package flowtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

func (s *suite) cancelled() {
	over := errors.New("over")
	orchestrate := func(f flow.Flow, between func()) error {
		for n := range 4 {
			if n == 2 {
				between()
			}
			if _, err := ask(f, fmt.Sprint(n), fmt.Sprint("p", n)); err != nil {
				return err
			}
			f.Emit(fmt.Sprint("step/", n), event.StepCompleted{Step: n})
		}
		return nil
	}
	ctx, cancel := context.WithCancelCause(s.Context())
	err := s.runtime.Session(ctx, func(f flow.Flow) error {
		return orchestrate(f, func() { cancel(over) })
	})
	if !errors.Is(err, over) {
		s.Errorf("Session(cancelled) = %v, want %v", err, over)
	}
	s.wantCount("vote p3", 0)
	s.session(func(f flow.Flow) error { return orchestrate(f, func() {}) })
	for n := range 4 {
		s.wantCount(fmt.Sprint("vote p", n), votes)
	}
	want := []string{"step/0", "step/1", "step/2", "step/3"}
	if got := s.emitted(); !slices.Equal(got, want) {
		s.Errorf("the events have the keys %q, want %q", got, want)
	}
}

func (s *suite) cancelledEffect() {
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(s.Context())
	s.world.set(func(w *World) {
		w.absent = true
		w.acting = func(ctx context.Context) error {
			cancel(over)
			<-ctx.Done()
			return context.Cause(ctx)
		}
	})
	var last *flow.Result
	orchestrate := func(f flow.Flow) (err error) {
		last, err = act(f, "effect", "pay")
		return err
	}
	if err := s.runtime.Session(ctx, orchestrate); !errors.Is(err, over) {
		s.Errorf("Session(cancelled) = %v, want %v", err, over)
	}
	s.world.set(func(w *World) { w.acting = nil })
	for range 2 {
		s.session(orchestrate)
		if last == nil || !last.Unknown {
			s.Errorf("Perform(what was interrupted) = %+v, want that nobody knows what came of it", last)
		}
	}
	s.wantCount("act pay", 1)
}

func (s *suite) budget() {
	over := errors.New("the budget is used up")
	orchestrate := func(f flow.Flow, between func()) error {
		if _, err := ask(f, "0", "p0"); err != nil {
			return err
		}
		between()
		_, err := ask(f, "1", "p1")
		return err
	}
	err := s.runtime.Session(s.Context(), func(f flow.Flow) error {
		return orchestrate(f, func() { s.world.set(func(w *World) { w.refuse = over }) })
	})
	if !errors.Is(err, over) {
		s.Errorf("Session(without a budget) = %v, want %v", err, over)
	}
	s.world.set(func(w *World) { w.refuse = nil })
	s.session(func(f flow.Flow) error { return orchestrate(f, func() {}) })
	s.wantCount("vote p0", votes)
	s.wantCount("vote p1", votes)
}

// errUnknown is how the orchestrator of the crash test ends if an effect has no known
// outcome.
var errUnknown = errors.New("unknown")

// everything is an orchestrator that does all that one can.
func everything(f flow.Flow) error {
	if _, err := look(f, "look"); err != nil {
		return err
	}
	if _, err := question(f, "question", "How?"); err != nil {
		return err
	}
	for n := range 2 {
		key := fmt.Sprint("step/", n)
		f.Emit(key+"/started", event.StepStarted{Step: n})
		said, err := ask(f, key+"/move/0", fmt.Sprint("part ", n))
		if err != nil {
			return err
		}
		if err := effect(f, key+"/effect/0", said); err != nil {
			return err
		}
		f.Emit(key+"/completed", event.StepCompleted{Step: n, Output: event.TextValue(said)})
	}
	err := f.Parallel("both", 2, func(i int, f flow.Flow) error {
		if _, err := ask(f, "move", fmt.Sprint("branch ", i)); err != nil {
			return err
		}
		f.Emit("started", event.StepStarted{Step: 2 + i})
		return effect(f, "effect", fmt.Sprint("branch ", i))
	})
	if err != nil {
		return err
	}
	f.Emit("end", event.TaskCompleted{})
	return nil
}

func effect(f flow.Flow, key, what string) error {
	r, err := act(f, key, what)
	if err != nil {
		return err
	}
	if r.Unknown {
		return errUnknown
	}
	return nil
}

// crashes kills the run at each of its appends, and then resumes it until it ends.
func (s *suite) crashes() {
	if _, ok := s.runtime.(Crasher); !ok {
		s.Skip("the runtime cannot be killed")
	}
	s.session(everything)
	want := s.emitted()
	slices.Sort(want) // branches come in any order
	effects := []string{"act yes to part 0", "act yes to part 1", "act branch 0", "act branch 1"}
	for _, what := range effects {
		s.wantCount(what, 1)
	}
	unknown := 0
	for n := 0; ; n++ {
		w := NewWorld()
		one := &suite{T: s.T, world: w, runtime: s.open(s.T, w), waiting: s.waiting}
		crashed, err := one.runtime.(Crasher).Crash(n, everything)
		if !crashed {
			if err != nil {
				s.Fatalf("Crash(%d) = %v", n, err)
			}
			if n < len(want) {
				s.Errorf("the run had %d appends, want at least its %d events", n, len(want))
			}
			break
		}
		// The person's answer says nothing about the outcome of an effect.
		err = one.runtime.Session(s.Context(), everything)
		switch {
		case errors.Is(err, errUnknown):
			unknown++
		case err != nil:
			s.Errorf("killed after %d appends: Session() = %v", n, err)
		default:
			got := one.emitted()
			slices.Sort(got)
			if !slices.Equal(got, want) {
				s.Errorf("killed after %d appends: the events have the keys %q, want %q", n, got, want)
			}
		}
		for _, what := range effects {
			if got := w.count(what); got > 1 || got == 0 && err == nil {
				s.Errorf("killed after %d appends: %s: %d times, want once", n, what, got)
			}
		}
	}
	s.Logf("of all kills %d left an effect of which nobody knows the outcome", unknown)
}
