package domain

import (
	"encoding/json"

	"github.com/maker-mdap/maker/flow"
)

// A Chain is a task of many steps in a row, each of which needs nothing but the
// output of the one before. It holds no state that changes, so that a run can
// start again from any committed step.
type Chain interface {
	// Steps is how many there are.
	Steps() int

	// Question asks for step, given the output of the step before; previous is
	// nil for step 0. It fills in what is asked, the schema of a structured
	// answer if it has one, and how an answer is read, structured or not; the
	// rule and the limits are the engine's. Where some steps are harder than others it may
	// name their class: an adaptive rule learns how hard questions are by class.
	Question(step int, previous json.RawMessage) (*flow.Question, error)

	// Check looks at the output that was committed for step and returns an
	// error if it is known to be wrong. A chain that cannot know returns nil.
	Check(step int, output json.RawMessage) error

	// Finish says whether the output of the last step reaches the goal.
	Finish(last json.RawMessage) error
}

// A Checker is a chain that says what its checks are worth. That of another one is taken
// to know nothing.
type Checker interface {
	Chain

	// Checks says whether Check knows the right output of each step, and Finish that of
	// the last one.
	Checks() (steps, last bool)
}

// Onward is a chain that never comes back: if its steps are right, all of their outputs are
// different, and each says all there is to know about what is still to be done. An output
// that comes again then proves that a step was wrong, and that there will be no end: the
// run stops and says so, also where nothing else is checked.
type Onward interface {
	Chain

	NeverRepeats() bool
}

// A Family is a kind of task that the engine can run by name: what it needs to
// resume a run from its log.
type Family struct {
	Name    string
	Readers Readers

	// NewChain makes the chain with the given parameters, and says in words
	// what it does.
	NewChain func(params json.RawMessage) (c Chain, task string, err error)
}
