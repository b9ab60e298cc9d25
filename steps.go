package maker

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/reader"
)

// Steps is a chain of one's own: a function for the question of each step and a type for
// its answer. Its [Steps.Family] goes into [Options], and [Engine.Chain] runs it by its
// name, with nil parameters. A chain that takes parameters is a [domain.Family].
type Steps[T any] struct {
	Name  string // of the family
	Task  string // in words; the default is the name
	Count int    // how many there are

	// Question asks for a step, given the answer of the step before. It may use nothing
	// else, so that a run can be resumed at any step. How to answer is added to it.
	Question func(step int, previous T) (string, error)

	// Start is what the first step is given.
	Start T

	// As says how answers are read, where it does not follow from T; see [reader.For].
	As reader.Reader

	// Class, if not nil, names the class of a step, where some are harder than others: an
	// adaptive rule learns by class how hard questions are.
	Class func(step int) string

	// NeverRepeats says that no answer comes twice if all are right, and that each says all
	// there is to know about what is still to be done: one that comes again ends the run,
	// as in [domain.Onward].
	NeverRepeats bool

	// Check, if not nil, returns an error if the answer of a step is known to be wrong.
	Check func(step int, answer T) error

	// Finish, if not nil, says whether the last answer reaches the goal.
	Finish func(last T) error
}

// Family is the chain as the engine takes it.
func (s Steps[T]) Family() domain.Family {
	return domain.Family{Name: s.Name, NewChain: func(json.RawMessage) (domain.Chain, string, error) {
		c := steps[T]{of: s, as: s.As}
		var err error
		if c.as == nil {
			c.as, err = reader.For[T]()
		} else {
			err = c.as.Validate()
		}
		switch {
		case err != nil:
			return nil, "", err
		case s.Count < 1:
			return nil, "", fmt.Errorf("maker: %s has %d steps, want at least 1", s.Name, s.Count)
		case s.Question == nil:
			return nil, "", errors.New("maker: " + s.Name + " has no question")
		}
		if c.of.Task == "" {
			c.of.Task = s.Name
		}
		return c, c.of.Task, nil
	}}
}

type steps[T any] struct {
	of Steps[T]
	as reader.Reader
}

// Steps implements [domain.Chain].
func (s steps[T]) Steps() int { return s.of.Count }

// Question implements [domain.Chain].
func (s steps[T]) Question(step int, previous json.RawMessage) (*flow.Question, error) {
	given := s.of.Start
	if step > 0 {
		var err error
		if given, err = reader.Decode[T](previous); err != nil {
			return nil, err
		}
	}
	prompt, err := s.of.Question(step, given)
	if err != nil {
		return nil, err
	}
	q := &flow.Question{Prompt: prompt + "\n\n" + s.as.Instruction()}
	reader.Put(q, s.as)
	if s.of.Class != nil {
		q.Class = s.of.Class(step)
	}
	return q, nil
}

// NeverRepeats implements [domain.Onward].
func (s steps[T]) NeverRepeats() bool { return s.of.NeverRepeats }

// Check implements [domain.Chain].
func (s steps[T]) Check(step int, output json.RawMessage) error {
	if s.of.Check == nil {
		return nil
	}
	answer, err := reader.Decode[T](output)
	if err != nil {
		return err
	}
	return s.of.Check(step, answer)
}

// Finish implements [domain.Chain].
func (s steps[T]) Finish(last json.RawMessage) error {
	if s.of.Finish == nil {
		return nil
	}
	answer, err := reader.Decode[T](last)
	if err != nil {
		return err
	}
	return s.of.Finish(answer)
}
