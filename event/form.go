package event

import "encoding/json"

// A Form is how the steps of a run hang together: all that a reader of its log has to
// know about its kind.
type Form string

// The forms of runs.
const (
	// FormChain has steps in a row, each made from the one before and numbered from 0
	// without a gap. What comes of it is the output of the last one.
	FormChain Form = "chain"

	FormPlan  Form = "plan"  // the steps of a plan, some of which may be left out
	FormTasks Form = "tasks" // tasks as a person wrote them, which people count from 1
	FormTree  Form = "tree"  // a problem, its parts, and how they are put together

	// FormScript has steps as a script comes to them, numbered from 0. Those that it takes at
	// once are committed in any order; none is left out.
	FormScript Form = "script"

	// FormRecords has a step for each record of a table. They do not depend on each other
	// and are committed in any order, each once; some may fail.
	FormRecords Form = "records"

	// FormRequests has a step for each request that came from outside while the run went on.
	// They do not depend on each other and end in any order; some may fail, or be given up.
	FormRequests Form = "requests"

	// FormMeasurement has questions whose answers are known. They are put to the voters
	// to measure these.
	FormMeasurement Form = "measurement"
)

// Alone reports whether the event that ends a step says all that a resume needs to know of
// it.
func (f Form) Alone() bool { return f == FormChain || f.Apart() }

// Apart reports whether steps do not depend on each other: they end in any order, and one
// that fails does not end the run.
func (f Form) Apart() bool { return f == FormRecords || f == FormRequests }

// ByStep reports whether each step is one vote, of which the event that ends it says how it
// went: elsewhere a step has several, which have events of their own.
func (t *TaskSubmitted) ByStep() bool { return t.Form.Alone() && t.Races <= t.Steps }

// UnmarshalJSON gives tasks from before there were forms that of their kind.
func (t *TaskSubmitted) UnmarshalJSON(data []byte) error {
	type plain TaskSubmitted
	if err := json.Unmarshal(data, (*plain)(t)); err != nil {
		return err
	}
	if t.Form == "" {
		t.Form = formerly(t.Kind)
	}
	return nil
}

// formerly is the form of a kind in logs that do not say it.
func formerly(kind string) Form {
	switch kind {
	case "run", "plan", "exec", "validate":
		return FormPlan
	case "do":
		return FormTasks
	case "solve":
		return FormTree
	case "calibrate":
		return FormMeasurement
	}
	return FormChain
}
