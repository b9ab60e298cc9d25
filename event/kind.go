package event

// The kinds of run that have names of their own. Every other kind is the name of a task family,
// whose runs are chains: steps in a row, each made from the one before, numbered from
// 0 without a gap.
const (
	KindRun       = "run"       // plan, validate, execute
	KindPlan      = "plan"      // plan and validate
	KindExec      = "exec"      // execute a given plan
	KindValidate  = "validate"  // check a given plan
	KindDo        = "do"        // do tasks as a person wrote them
	KindSolve     = "solve"     // split, solve the parts, compose
	KindCalibrate = "calibrate" // measure the voters

	// KindAsk is one question. It is a chain, of one step.
	KindAsk = "ask"
)

// IsBuiltin reports whether a kind of run is built in and no chain. Such a run says itself what came
// of it; of a chain it is the output of the last step.
func IsBuiltin(kind string) bool {
	switch kind {
	case KindRun, KindPlan, KindExec, KindValidate, KindDo, KindSolve, KindCalibrate:
		return true
	}
	return false
}

// IsSolving reports whether runs of a kind put their questions to groups of voters
// without tools.
func IsSolving(kind string) bool { return kind == KindSolve || kind == KindCalibrate }
