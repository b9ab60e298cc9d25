package domain

// An Adapter is what a family of problems brings to recursive solving: how to
// tell that two solutions say the same, and that one cannot be right. It is
// code; no model is asked. Further abilities are optional interfaces, found by
// assertion: [Composer], [Evidencer], [Calibrated], [Flagger].
//
// Implementations hold no state that changes.
type Adapter interface {
	// Equivalent reports whether two solutions of one problem say the same. It is
	// reflexive and symmetric.
	Equivalent(a, b string) bool

	// Verify returns what is known to be wrong with a solution of the problem, and
	// nil if nothing is.
	Verify(problem, solution string) error
}

// A Composer can put two partial solutions together without a model.
type Composer interface {
	// Compose returns the solution of problem, made from those of its parts by
	// how, the words of the decomposition; false if it takes a model.
	Compose(problem, how string, a, b Part) (string, bool)
}

// A Part is a subproblem with its solution.
type Part struct {
	Problem  string
	Solution string
}

// An Evidencer finds what in a text can be checked.
type Evidencer interface {
	Evidence(text string) Evidence
}

// Evidence is what a text claims in a form that code can check.
type Evidence struct {
	Equations []string `json:"equations,omitempty"`
	Points    []string `json:"points,omitempty"`
}

// Calibrated has problems to measure voters with.
type Calibrated interface {
	Calibration() []Trial
}

// A Trial is a problem, and its solution if that is known.
type Trial struct {
	Problem  string
	Solution string
}

// A Flagger knows patterns (regular expressions) of answers that are no answers
// in its family.
type Flagger interface {
	FlagPatterns() []string
}
