package solver

import (
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
)

// way is how a question is put: as usual, or differently after an escalation.
type way = flow.Way

// form is what the answers to a question look like and who reads them.
type form struct {
	reader string
	params json.RawMessage
	schema string
}

// question puts what data says in words.
func (c *Config) question(step int, w way, model string, answer form, data prompts.Data) (*flow.Question, error) {
	q := &flow.Question{
		Step: step, Model: model, Answer: flow.Format{Reader: answer.reader, Params: answer.params},
		Terms: c.Terms,
	}
	if c.Structured != "" {
		q.Schema = json.RawMessage(answer.schema)
	}
	w.Put(q)
	return q, c.Prompts.Put(q, data)
}

// solutionForm is that of solutions of problem, answerForm that of answers to it.
func (c *Config) solutionForm(problem string) form {
	return form{ReadSolution, encode(solutionParams{c.Domain, problem, c.RequireWork, c.VerifyVotes}), solutionSchema}
}

func (c *Config) answerForm(problem string) form {
	return form{ReadAnswer, encode(solutionParams{c.Domain, problem, false, c.VerifyVotes}), answerSchema}
}

// atomQuestion asks for the solution of a problem that is not split.
func (c *Config) atomQuestion(step int, w way, problem string, facts []string) (*flow.Question, error) {
	q, err := c.question(step, w, c.Models.Execution, c.solutionForm(problem), prompts.SolveAtom{Problem: problem, Facts: facts})
	if err != nil {
		return nil, err
	}
	q.MaxOutput = c.AtomOutput
	return q, nil
}

// Atoms asks for solutions in the way that a run with a configuration does. It is
// for measuring the voters before the run.
type Atoms struct{ cfg Config }

// NewAtoms returns the atoms of a configuration.
func NewAtoms(cfg Config) (*Atoms, error) {
	return &Atoms{cfg}, cfg.check()
}

// Question asks for the solution of problem.
func (a *Atoms) Question(problem string) (*flow.Question, error) {
	return a.cfg.atomQuestion(0, way{}, problem, a.cfg.Facts)
}

// Solution returns the solution in an answer to such a question.
func (a *Atoms) Solution(answer json.RawMessage) (string, error) {
	s, err := decode[Solution](answer)
	return s.Solution, err
}

// Domain is that of the configuration.
func (a *Atoms) Domain() string { return a.cfg.Domain }

// The schemas of the answers, for models that are asked for structured output. They are as
// tight as the readers, for a server that keeps to them: a weak model gives no valid answer
// otherwise. What is voted on has no greatest length, because it would be cut there; what
// is only said beside it has, or a model that rambles comes to no end.
var (
	prose = `{"type":"string","maxLength":600}`
	said  = `{"type":"string","minLength":1}`
	share = `{"type":"number","minimum":0,"maximum":1}`

	proposalSchema = object(`"subproblem_a":{"type":"string"},"subproblem_b":{"type":"string"},"compose_fn":{"type":"string"},"is_atomic":{"type":"boolean"},"rationale":`+prose,
		"subproblem_a", "subproblem_b", "compose_fn", "is_atomic", "rationale")
	solutionSchema = object(`"solution":`+said+`,"confidence":`+share+`,"work_shown":`+prose, "solution", "confidence", "work_shown")
	answerSchema   = object(`"answer":`+said+`,"confidence":`+share+`,"support":`+object(
		`"summary":`+prose+`,"equations":`+listOf(`{"type":"string"}`, 0, maxListed)+`,"points":`+listOf(`{"type":"string"}`, 0, maxListed),
		"summary", "equations", "points"),
		"answer", "confidence", "support")
	checkSchema = object(`"requirements":`+listOf(object(
		`"requirement":`+said+`,"status":{"type":"string","enum":["ADDRESSED","MISSING"]},"reason":{"type":"string"}`,
		"requirement", "status", "reason"), 1, maxListed)+`,"complete":{"type":"boolean"},"missing_work":`+listOf(said, 0, maxItems),
		"requirements", "complete", "missing_work")
)

// maxListed is how many items an answer may list beside what is voted on.
const maxListed = 20

// pickSchema is that of a choice among labels.
func pickSchema(labels []string) string {
	return object(`"pick":{"type":"string","enum":`+string(encode(labels))+`},"reason":`+prose, "pick", "reason")
}

func listOf(item string, least, most int) string {
	return fmt.Sprintf(`{"type":"array","items":%s,"minItems":%d,"maxItems":%d}`, item, least, most)
}

func object(properties string, required ...string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}`, properties, encode(required))
}
