package history

import (
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
)

// Solve are the figures of a run that solves a problem, beyond what its steps say: a
// step may have taken several questions.
type Solve struct {
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
}

// solving is what is remembered while the figures are counted.
type solving struct {
	batch     int             // samples that a round has
	escalated map[int]bool    // steps
	known     map[string]bool // nodes, by path
}

func newSolving(batch int) solving {
	return solving{batch: max(batch, 1), escalated: map[int]bool{}, known: map[string]bool{}}
}

// takeSolve adds what an event says about solving a problem.
func (r *Report) takeSolve(e event.Event) {
	s, at := r.Solve, &r.solving
	if s == nil {
		return
	}
	switch e := e.(type) {
	case event.VoteCompleted:
		if IsCalibration(e.Question) && r.Form == event.FormTree {
			return // it is not part of solving
		}
		s.Questions++
		decided := e.Status == string(flow.Decided)
		if !decided {
			s.Undecided++
		}
		s.MaxRounds = max(s.MaxRounds, (e.Voting.Samples+at.batch-1)/at.batch)
		r.Voting.question(e.Voting, decided)
		if e.Voting.Contested() && len(r.Questions) < MaxListed {
			r.Questions = append(r.Questions, e)
		}
	case event.Escalated:
		s.Escalations++
		if !isDirect(e.Question) { // that is how the tree begins
			at.escalated[e.Step] = true
		}
	case event.StepCompleted:
		if at.escalated[e.Step] {
			s.Recoveries++
		}
	case event.DecompositionSelected:
		r.grow(e.Path)
		if e.By == event.ByDefault {
			delete(at.escalated, e.Step) // it was given up
		}
	case event.SubproblemSolved:
		r.grow(e.Path)
		if e.By == event.ByMemo {
			s.Memo++
		}
	case event.AnswerComposed:
		r.grow(e.Path)
		if e.Draft {
			r.draft = e.Answer // the best so far
		}
	case event.Calibrated:
		s.Calibrated = &e
	}
}

// question adds a question.
func (t *Totals) question(v event.Voting, decided bool) {
	if decided {
		t.won(v.Margin)
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
func (r *Report) grow(path string) {
	if r.solving.known[path] {
		return
	}
	r.solving.known[path] = true
	r.Solve.Nodes++
	depth := strings.Count(path, ".")
	if strings.HasPrefix(path, "f") {
		depth-- // what was found missing is numbered "f<round>.<item>"
	}
	r.Solve.Depth = max(r.Solve.Depth, depth)
}

// finishSolve works out what depends on the whole run.
func (r *Report) finishSolve() {
	s, t := r.Solve, &r.Voting
	if r.Committed > 0 {
		s.SamplesPerStep = float64(t.Samples) / float64(r.Committed)
	}
	if t.Samples > 0 {
		s.RejectionRate = float64(t.RedFlagged) / float64(t.Samples)
	}
	if s.Calibrated != nil && r.Form == event.FormTree {
		t.Rule = calibrate.Rule(t.Rule, s.Calibrated.K)
	}
	if !r.draft.IsZero() && r.Status != event.StatusCompleted {
		r.Output = r.draft
	}
}

// IsCalibration reports whether a question was asked to measure the voters.
func IsCalibration(question string) bool { return strings.Contains(question, calibrate.KeyPrefix) }

// directKey is how the key of the question about the whole problem as it is ends.
const directKey = "solve/direct"

func isDirect(question string) bool { return strings.HasSuffix(question, directKey) }
