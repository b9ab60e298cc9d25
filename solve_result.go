package maker

import (
	"encoding/json"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/calibrate"
	"github.com/maker-mdap/maker/internal/solver"
)

// SolveFigures say how a problem was solved, beyond what its steps say: a step may
// have taken several questions.
type SolveFigures struct {
	Questions   int `json:"questions"` // that were put to voters
	Undecided   int `json:"undecided"` // of them without a winner
	Escalations int `json:"escalations"`
	Recoveries  int `json:"recoveries"` // steps that were committed after an escalation

	SamplesPerStep float64 `json:"samples_per_step"`
	RejectionRate  float64 `json:"rejection_rate"` // share of samples that were discarded
	MaxRounds      int     `json:"max_rounds"`     // batches of samples that the longest question took

	Nodes int `json:"nodes"` // of the tree
	Depth int `json:"depth"` // of the tree; 0 if the problem was not split
	Memo  int `json:"memo"`  // parts that were known already

	// Calibrated is what the margin follows from, if the voters were measured.
	Calibrated *event.Calibrated `json:"calibrated,omitempty"`

	batch     int
	escalated map[int]bool    // steps
	known     map[string]bool // nodes, by path
}

// newSolveFigures begins to count; batch is how many samples a round has.
func newSolveFigures(batch int) *SolveFigures {
	return &SolveFigures{batch: max(batch, 1), escalated: map[int]bool{}, known: map[string]bool{}}
}

// takeSolve adds what an event says about solving a problem.
func (r *Result) takeSolve(e event.Event) {
	s := r.Solve
	if s == nil {
		return
	}
	switch e := e.(type) {
	case event.VoteCompleted:
		if isCalibration(e.Question) && r.Kind == KindSolve {
			return // it is not part of solving
		}
		s.Questions++
		if e.Status != string(flow.Decided) {
			s.Undecided++
		}
		s.MaxRounds = max(s.MaxRounds, (e.Voting.Samples+s.batch-1)/s.batch)
		r.Voting.count(e.Voting, e.Status == string(flow.Decided))
	case event.Escalated:
		s.Escalations++
		if !isDirect(e.Question) { // that is how the tree begins
			s.escalated[e.Step] = true
		}
	case event.StepCompleted:
		if s.escalated[e.Step] {
			s.Recoveries++
		}
	case event.DecompositionSelected:
		s.grow(e.Path)
		if e.By == event.ByDefault {
			delete(s.escalated, e.Step) // it was given up
		}
	case event.SubproblemSolved:
		s.grow(e.Path)
		if e.By == event.ByMemo {
			s.Memo++
		}
	case event.AnswerComposed:
		s.grow(e.Path)
		if e.Draft && r.Status != event.StatusCompleted {
			r.Output = e.Answer // the best so far
		}
	case event.Calibrated:
		s.Calibrated = &e
		if r.Kind == KindSolve {
			r.Voting.Rule = calibratedRule(r.Voting.Rule, e.K)
		}
	}
}

// count adds a question.
func (t *VotingTotals) count(v event.Voting, decided bool) {
	if decided && (t.LeastMargin == 0 || v.Margin < t.LeastMargin) {
		t.LeastMargin = v.Margin
	}
	t.Samples += v.Samples
	t.RedFlagged += v.RedFlagged
	t.Faults += v.Faults
	t.MostSamples = max(t.MostSamples, v.Samples)
	if v.Contested() {
		t.Contested++
	}
}

// grow notes that there is a node.
func (s *SolveFigures) grow(path string) {
	if s.known[path] {
		return
	}
	s.known[path] = true
	s.Nodes++
	depth := strings.Count(path, ".")
	if strings.HasPrefix(path, "f") {
		depth-- // what was found missing is numbered "f<round>.<item>"
	}
	s.Depth = max(s.Depth, depth)
}

// finish works out what depends on the whole run.
func (s *SolveFigures) finish(t *VotingTotals, steps int) {
	if steps > 0 {
		s.SamplesPerStep = float64(t.Samples) / float64(steps)
	}
	if t.Samples > 0 {
		s.RejectionRate = float64(t.RedFlagged) / float64(t.Samples)
	}
}

// isCalibration reports whether a question was asked to measure the voters.
func isCalibration(question string) bool { return strings.Contains(question, calibrate.KeyPrefix) }

// isDirect reports whether a question is about the whole problem as it is.
func isDirect(question string) bool { return strings.HasSuffix(question, solver.DirectKey) }

// An AnswerOutput is the output of a run that solved a problem.
type AnswerOutput struct {
	Answer     string  `json:"answer"`
	Confidence float64 `json:"confidence"`
	Support    struct {
		Summary   string   `json:"summary"`
		Equations []string `json:"equations"`
		Points    []string `json:"points"`
	} `json:"support"`

	// Status is "direct" if the problem was solved as it is, "composed" if it was
	// split, and "draft" if the run ended without success.
	Status  string   `json:"status"`
	Remarks []string `json:"remarks,omitempty"`
}

// ReadAnswer reads the output of a run that solved a problem; false if it has none.
func ReadAnswer(v event.Value) (AnswerOutput, bool) {
	var out AnswerOutput
	if len(v.JSON) == 0 || json.Unmarshal(v.JSON, &out) != nil || out.Status == "" {
		return out, false
	}
	return out, true
}
