package prompts

import (
	"encoding/json"
	"fmt"
	"strings"
)

// SolveDecompose asks how to split a problem, or whether to.
type SolveDecompose struct {
	Problem   string   `json:"problem"`
	Facts     []string `json:"facts,omitempty"`
	MustSplit bool     `json:"must_split,omitempty"` // solving it as it is has failed
	apart
}

// Split implements [Splitter].
func (d SolveDecompose) Split() (shared, rest Data, err error) {
	in, err := d.Input()
	d.apart = true
	return SolveInput{in}, d, err
}

// Prompt implements [Data].
func (SolveDecompose) Prompt() string { return "solve_decompose" }

// Input is the problem as data, on one line: whatever is in it cannot be taken
// for a part of the prompt.
func (d SolveDecompose) Input() (string, error) {
	if d.apart {
		return "", nil
	}
	return input(struct {
		Ask string `json:"ask"`
		SolveDecompose
	}{"decompose", d})
}

// SolvePick asks which of several decompositions is best.
type SolvePick struct {
	Problem string        `json:"problem"`
	Options []SolveOption `json:"options"`
	apart
}

// A SolveOption is a decomposition to choose. Its label says nothing about it.
type SolveOption struct {
	Label    string `json:"label"`
	IsAtomic bool   `json:"is_atomic"`
	PartA    string `json:"subproblem_a,omitempty"`
	PartB    string `json:"subproblem_b,omitempty"`
	Compose  string `json:"compose_fn,omitempty"`
}

// Split implements [Splitter].
func (d SolvePick) Split() (shared, rest Data, err error) {
	in, err := d.Input()
	d.apart = true
	return SolveInput{in}, d, err
}

// Prompt implements [Data].
func (SolvePick) Prompt() string { return "solve_pick" }

// Input is what is asked about, on one line.
func (d SolvePick) Input() (string, error) {
	if d.apart {
		return "", nil
	}
	return input(struct {
		Ask string `json:"ask"`
		SolvePick
	}{"pick", d})
}

// SolveAtom asks for the solution of a problem that is not split.
type SolveAtom struct {
	Problem string   `json:"problem"`
	Facts   []string `json:"facts,omitempty"`
	apart
}

// Split implements [Splitter].
func (d SolveAtom) Split() (shared, rest Data, err error) {
	in, err := d.Input()
	d.apart = true
	return SolveInput{in}, d, err
}

// Prompt implements [Data].
func (SolveAtom) Prompt() string { return "solve_atom" }

// Input is what is asked about, on one line.
func (d SolveAtom) Input() (string, error) {
	if d.apart {
		return "", nil
	}
	return input(struct {
		Ask string `json:"ask"`
		SolveAtom
	}{"solve", d})
}

// SolvePart is a subproblem with its solution.
type SolvePart struct {
	Problem  string `json:"problem"`
	Solution string `json:"solution"`
}

// SolveCompose asks for a solution that is made from those of two parts.
type SolveCompose struct {
	Problem string    `json:"problem"`
	Compose string    `json:"compose_fn,omitempty"` // as the decomposition has it
	A       SolvePart `json:"a"`
	B       SolvePart `json:"b"`
	Facts   []string  `json:"facts,omitempty"`
	apart
}

// Split implements [Splitter].
func (d SolveCompose) Split() (shared, rest Data, err error) {
	in, err := d.Input()
	d.apart = true
	return SolveInput{in}, d, err
}

// Prompt implements [Data].
func (SolveCompose) Prompt() string { return "solve_compose" }

// Input is what is asked about, on one line.
func (d SolveCompose) Input() (string, error) {
	if d.apart {
		return "", nil
	}
	return input(struct {
		Ask string `json:"ask"`
		SolveCompose
	}{"compose", d})
}

// SolveAnswer asks for the final answer to the whole task.
type SolveAnswer struct {
	Problem string    `json:"problem"`
	Compose string    `json:"compose_fn,omitempty"`
	A       SolvePart `json:"a"`
	B       SolvePart `json:"b"`
	Facts   []string  `json:"facts,omitempty"`
	Work    string    `json:"work,omitempty"`          // shown on the way
	Wrong   string    `json:"known_problem,omitempty"` // what is wrong with the answer so far
	apart
}

// Split implements [Splitter].
func (d SolveAnswer) Split() (shared, rest Data, err error) {
	in, err := d.Input()
	d.apart = true
	return SolveInput{in}, d, err
}

// AddMissing is how an answer and what it lacked are put together.
const AddMissing = "add to the answer a what was missing from it, b"

// WrongAnswer says what is wrong with an answer.
func WrongAnswer(answer, why string) string { return fmt.Sprintf("%q is wrong: %s", answer, why) }

// Prompt implements [Data].
func (SolveAnswer) Prompt() string { return "solve_answer" }

// Input is what is asked about, on one line.
func (d SolveAnswer) Input() (string, error) {
	if d.apart {
		return "", nil
	}
	return input(struct {
		Ask string `json:"ask"`
		SolveAnswer
	}{"answer", d})
}

// SolveCheck asks whether an answer deals with everything that the task asks for.
type SolveCheck struct {
	Problem string   `json:"problem"`
	Answer  string   `json:"answer"`
	Notes   []string `json:"notes,omitempty"` // what was found on the way
	apart
}

// Split implements [Splitter].
func (d SolveCheck) Split() (shared, rest Data, err error) {
	in, err := d.Input()
	d.apart = true
	return SolveInput{in}, d, err
}

// Prompt implements [Data].
func (SolveCheck) Prompt() string { return "solve_check" }

// Input is what is asked about, on one line.
func (d SolveCheck) Input() (string, error) {
	if d.apart {
		return "", nil
	}
	return input(struct {
		Ask string `json:"ask"`
		SolveCheck
	}{"check", d})
}

// apart says that the input of a prompt stands before it, not in it.
type apart bool

// SolveInput is the input of a prompt on its own.
type SolveInput struct{ Input string }

// Prompt implements [Data].
func (SolveInput) Prompt() string { return "solve_input" }

// input writes data as a model reads it best: on one line, without the escapes
// that only web pages need.
func input(data any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(data); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

var solveSamples = []Data{
	SolveInput{`{"ask":"solve","problem":"12 * 4"}`},
	SolveDecompose{Problem: "12 * 34", Facts: []string{"no calculator"}, MustSplit: true},
	SolvePick{Problem: "12 * 34", Options: []SolveOption{
		{Label: "KRTM", PartA: "12 * 30", PartB: "12 * 4", Compose: "add them"},
		{Label: "BZQW", IsAtomic: true},
	}},
	SolveAtom{Problem: "12 * 4", Facts: []string{"no calculator"}},
	SolveCompose{
		Problem: "12 * 34", Compose: "add them", Facts: []string{"no calculator"},
		A: SolvePart{Problem: "12 * 30", Solution: "360"}, B: SolvePart{Problem: "12 * 4", Solution: "48"},
	},
	SolveAnswer{
		Problem: "12 * 34", Compose: "add them", Facts: []string{"no calculator"}, Work: "360 + 48", Wrong: "it is empty",
		A: SolvePart{Problem: "12 * 30", Solution: "360"}, B: SolvePart{Problem: "12 * 4", Solution: "48"},
	},
	SolveCheck{Problem: "12 * 34, in words too", Answer: "408", Notes: []string{"12 * 4: 48"}},
}
