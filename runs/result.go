package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
	"github.com/maker-mdap/maker/usage"
)

// Names of the files that hold a result. They are written when a session ends.
const (
	ResultFile  = "result.json"
	SummaryFile = "result.md"
)

// A Result says what a run did: what was agreed and how closely, what it cost, and why
// it ended.
type Result struct {
	Run    string     `json:"run"`
	Kind   string     `json:"kind"`
	Form   event.Form `json:"-"` // how its steps hang together, as the log says
	Task   string     `json:"task"`
	Status string     `json:"status"` // completed, failed, undecided or stopped; running or interrupted
	Reason string     `json:"reason,omitempty"`

	// Stop names the limit that stopped the run: max_calls, max_tokens, max_usd
	// or deadline; or says "cancelled", "paused", "waiting" or "configuration".
	Stop string `json:"stop,omitempty"`

	// Wrong says that what is committed is known to be wrong.
	Wrong bool `json:"wrong,omitempty"`

	Model     string `json:"model"`
	Simulated bool   `json:"simulated"` // no real model answered

	// Sessions say what each part of the run was done with, if that changed on a
	// resume. Model, Simulated and the rule in Voting are those of the last part;
	// Simulated is true only if all parts were.
	Sessions []event.Session `json:"sessions,omitempty"`

	// Output is that of the last committed step, or what the run says itself. Of a
	// problem that was not solved it is the best draft, if there is one.
	Output event.Value `json:"output"`

	// FailedStep is the step that ended the run, if one did.
	FailedStep *FailedStep `json:"failed_step,omitempty"`

	// Unsettled are the steps without a result: that failed, or that a person is asked for
	// because their voters did not agree.
	Unsettled []FailedStep `json:"unsettled,omitempty"`

	// Open are the votes that were under way when the run was stopped, at most
	// event.MaxOpen. A resume goes on with them.
	Open []event.OpenVote `json:"open,omitempty"`

	// Steps are at most a thousand: of a longer run those that were contested, and the
	// last.
	Steps          []StepResult `json:"steps"`
	StepsTotal     int          `json:"steps_total"`     // of the task, if known
	StepsCompleted int          `json:"steps_completed"` // committed
	StepsOmitted   int          `json:"steps_omitted"`   // committed, but not listed in Steps

	// Questions are the contested ones of a problem that was solved, at most a thousand: a
	// step may have taken several. One without a winner has no output.
	Questions []StepResult `json:"contested_questions,omitempty"`

	// Effects are the calls that won a vote and were executed, or refused.
	Effects []EffectResult `json:"effects,omitempty"`

	Voting VotingTotals `json:"voting"`

	// Voters say what each of them contributed, if there are several.
	Voters []VoterResult `json:"voters,omitempty"`

	// Solve is there if the run solved a problem or measured voters.
	Solve *SolveFigures `json:"solve,omitempty"`

	// TotalCostUSD is null if the cost of any answer is not known.
	TotalCostUSD    *float64    `json:"total_cost_usd"`
	TotalDurationMS int64       `json:"total_duration_ms"`
	Usage           usage.Spent `json:"usage"`

	// Certificate is what the run proved, in short; see [Run.Certify].
	Certificate *CertificateSummary `json:"certificate,omitempty"`
}

// StatusInterrupted is the status of a run whose process ended without a word.
const StatusInterrupted = "interrupted"

// A StepResult is one committed step.
type StepResult struct {
	Step   int          `json:"step"`
	Title  string       `json:"title"`
	By     string       `json:"by,omitempty"` // who settled it, if its own voters did not: person, split or model
	Output event.Value  `json:"output"`
	Voting event.Voting `json:"voting"`

	// First is how those stood who were asked before and gave no result, if others than
	// them, or other framings, settled it.
	First *event.Voting `json:"first,omitempty"`

	CostUSD    *float64 `json:"cost_usd"`
	DurationMS int64    `json:"duration_ms"`
}

// A FailedStep is a step without a result.
type FailedStep struct {
	Step   int          `json:"step"`
	Status string       `json:"status"` // of the verdict, or "waiting"
	Reason string       `json:"reason"`
	Voting event.Voting `json:"voting"`

	// Candidates are the answers that got votes, most of them first, if none won.
	Candidates []event.Candidate `json:"candidates,omitempty"`
}

// Label says in a word why there is no result: it failed, or it waits for a person.
func (f *FailedStep) Label() string {
	if f.Status == event.StopWaiting {
		return "waiting"
	}
	return "failed"
}

// StatusOpen is that of a step that was being decided when the run was stopped.
const StatusOpen = "open"

// OpenSteps are the steps on which votes were under way when the run was stopped.
func (r *Result) OpenSteps() []FailedStep {
	list := make([]FailedStep, len(r.Open))
	for i := range r.Open {
		v := &r.Open[i]
		list[i] = FailedStep{Step: v.Step, Status: StatusOpen, Reason: "the run was stopped before it was decided", Voting: v.Voting, Candidates: v.Voting.Answers}
		if v.Fault != "" {
			list[i].Reason += "; last fault: " + v.Fault
		}
	}
	return list
}

// What a log tells of a run beside its steps.
type (
	// An EffectResult is a call that won a vote, and what came of it.
	EffectResult = history.Effect

	// VotingTotals sum up the voting of the committed steps; of a run that solves a
	// problem that of all questions, because a step may take several.
	VotingTotals = history.Totals

	// VoterResult is what one of several voters contributed.
	VoterResult = history.Voter

	// SolveFigures say how a problem was solved, beyond what its steps say: a step may
	// have taken several questions.
	SolveFigures = history.Solve

	// An Outlook is what a resume of a run would do.
	Outlook = history.Outlook
)

// The statuses of an effect. One that was claimed and taken back before it was begun
// is no effect.
const (
	EffectDone    = history.EffectDone
	EffectFailed  = history.EffectFailed // the tool reported an error
	EffectRefused = history.EffectRefused
	EffectUnknown = history.EffectUnknown // claimed, and nobody knows what came of it
)

// Outlook tells what a resume of the run would do.
func (r *Run) Outlook() (Outlook, error) { return history.ReadOutlook(r.dir) }

// Result derives the result of the run from its log. That of a run that goes on is how
// it stands.
func (r *Run) Result() (*Result, error) {
	_, written := r.Writer()
	report, err := history.ReadReport(r.dir)
	if err != nil {
		return nil, err
	}
	return newResult(report, written), nil
}

// Store writes the result of the run into its folder, for people and for programs. The
// process that writes the run does so when a session ends.
func (r *Run) Store() (*Result, error) {
	result, err := r.Result()
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("runs: result: %w", err)
	}
	err = errors.Join(
		wholefile.Replace(filepath.Join(r.dir, ResultFile), append(data, '\n')),
		wholefile.Replace(filepath.Join(r.dir, SummaryFile), []byte(result.Markdown())),
	)
	if err != nil {
		return result, fmt.Errorf("runs: result: %w", err)
	}
	return result, nil
}

// newResult is a report as a result. A run whose log does not say how it ended was
// interrupted, unless a process had it open for writing before the log was read: one
// that ends in between says so in the log.
func newResult(p *history.Report, written bool) *Result {
	r := &Result{
		Run: p.Run, Kind: p.Kind, Form: p.Form, Task: p.Task, Status: p.Status, Reason: p.Reason, Stop: p.Stop, Wrong: p.Wrong,
		Model: p.Model, Simulated: p.Simulated, Sessions: p.Sessions, Output: p.Output, Open: p.Open,
		Steps: make([]StepResult, 0, len(p.Steps)), StepsTotal: p.Total, StepsCompleted: p.Committed, StepsOmitted: p.Committed - len(p.Steps),
		Voting: p.Voting, Voters: p.Voters(), Solve: p.Solve,
		Effects: p.Effects, TotalCostUSD: p.CostUSD, TotalDurationMS: p.DurationMS, Usage: p.Usage,
	}
	r.Certificate = &CertificateSummary{Votes: p.Evidence.Votes(), Truth: p.Truth(checksOf(p))}
	switch {
	case r.Status == event.StatusRunning && !written:
		r.Status = StatusInterrupted
	case r.Status == event.StatusRunning && p.Waiting:
		r.Stop, r.Reason = event.StopWaiting, "it waits for an answer"
	}
	if f := p.Failed; f != nil {
		failed := failedStep(f)
		r.FailedStep = &failed
	}
	for i := range p.Unsettled {
		r.Unsettled = append(r.Unsettled, failedStep(&p.Unsettled[i]))
	}
	for _, s := range p.Steps {
		r.Steps = append(r.Steps, stepResult(s))
	}
	for _, q := range p.Questions {
		r.Questions = append(r.Questions, StepResult{
			Step: q.Step, Title: q.Question, Output: q.Answer, Voting: q.Voting, CostUSD: q.CostUSD, DurationMS: q.DurationMS,
		})
	}
	return r
}

func failedStep(f *event.StepFailed) FailedStep {
	step := FailedStep{f.Step, f.Status, f.Reason, f.Voting, f.Voted()}
	step.Voting.Answers = nil // they are the candidates
	return step
}

func stepResult(s event.StepCompleted) StepResult {
	return StepResult{
		Step: s.Step, Title: s.Title, By: s.By, Output: s.Output, Voting: s.Voting, First: s.First, CostUSD: s.CostUSD, DurationMS: s.DurationMS,
	}
}

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
