package maker

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runlog"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// Names of the files that hold a result.
const (
	ResultFile  = "result.json"
	SummaryFile = "result.md"
)

// maxListed is how many steps a result lists. A longer run lists the contested
// ones and the last; all of them are in its log.
const maxListed = 1000

// A Result says what a run did: what was agreed and how closely, what it cost,
// and why it ended.
type Result struct {
	Run    string `json:"run"`
	Kind   string `json:"kind"`
	Task   string `json:"task"`
	Status string `json:"status"` // completed, failed, undecided or stopped
	Reason string `json:"reason,omitempty"`

	// Stop names the limit that stopped the run: max_calls, max_tokens, max_usd
	// or deadline; or says "cancelled", "waiting", "configuration" or "error".
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

	Steps          []StepResult `json:"steps"`
	StepsTotal     int          `json:"steps_total"`     // of the task, if known
	StepsCompleted int          `json:"steps_completed"` // committed
	StepsOmitted   int          `json:"steps_omitted"`   // committed, but not listed in Steps

	// Effects are the calls that won a vote and were executed, or refused.
	Effects []EffectResult `json:"effects,omitempty"`

	Voting VotingTotals `json:"voting"`

	// Solve is there if the run solved a problem or measured voters.
	Solve *SolveFigures `json:"solve,omitempty"`

	// TotalCostUSD is null if the cost of any answer is not known.
	TotalCostUSD    *float64    `json:"total_cost_usd"`
	TotalDurationMS int64       `json:"total_duration_ms"`
	Usage           usage.Spent `json:"usage"`
}

// A StepResult is one committed step.
type StepResult struct {
	Step       int          `json:"step"`
	Title      string       `json:"title"`
	Output     event.Value  `json:"output"`
	Voting     event.Voting `json:"voting"`
	CostUSD    *float64     `json:"cost_usd"`
	DurationMS int64        `json:"duration_ms"`
}

// An EffectResult is a call that won a vote, and what came of it.
type EffectResult struct {
	Effect string      `json:"effect"` // the key that the log has it under
	Step   int         `json:"step"`
	Tool   string      `json:"tool"`
	Input  event.Value `json:"input"`
	Status string      `json:"status"`       // done, failed, refused or unknown
	By     string      `json:"by,omitempty"` // who let it pass or refused it
	Result event.Value `json:"result"`
}

// The statuses of an effect.
const (
	EffectDone    = "done"
	EffectFailed  = "failed" // the tool reported an error
	EffectRefused = "refused"
	EffectUnknown = "unknown" // claimed, and nobody knows what came of it
)

// take adds what an event says about an effect.
func (r *Result) take(e event.Event) {
	switch e := e.(type) {
	case event.EffectClaimed:
		made := EffectResult{Effect: e.Effect, Step: e.Step, Tool: e.Tool, Input: e.Input, Status: EffectUnknown, By: e.Approved}
		r.list(made, e.Again)
	case event.EffectDone:
		if made := r.effect(e.Effect); made != nil {
			made.Status, made.Result = EffectDone, e.Result
			if e.IsError {
				made.Status = EffectFailed
			}
			if e.By != "" {
				made.By = e.By
			}
		}
	case event.EffectRefused:
		r.list(EffectResult{Effect: e.Effect, Step: e.Step, Tool: e.Tool, Input: e.Input, Status: EffectRefused, By: e.By}, false)
	}
}

// list adds an effect. One that is claimed again, or was refused before, is listed once.
func (r *Result) list(e EffectResult, again bool) {
	if was := r.effect(e.Effect); was != nil && (again || was.Status == EffectRefused) {
		*was = e
	} else if len(r.Effects) < maxListed {
		r.Effects = append(r.Effects, e)
	}
}

func (r *Result) effect(key string) *EffectResult {
	for i := range slices.Backward(r.Effects) {
		if r.Effects[i].Effect == key {
			return &r.Effects[i]
		}
	}
	return nil
}

// A FailedStep is a step without a result.
type FailedStep struct {
	Step   int          `json:"step"`
	Status string       `json:"status"`
	Reason string       `json:"reason"`
	Voting event.Voting `json:"voting"`
}

// VotingTotals sum up the voting of the committed steps; of a run that solves a
// problem that of all questions, because a step may take several.
type VotingTotals struct {
	Rule           vote.Rule `json:"rule"`
	Samples        int       `json:"samples"`
	RedFlagged     int       `json:"red_flagged"`
	Faults         int       `json:"faults"`
	Contested      int       `json:"contested"` // steps with more than one answer
	MostSamples    int       `json:"most_samples"`
	LeastMargin    int       `json:"least_margin"`
	SamplesPerStep float64   `json:"samples_per_step"`
}

// BuildResult derives the result of the run in dir from its log, with the help
// of its index.
func BuildResult(dir string) (*Result, error) {
	r, err := newResult(dir)
	if err != nil {
		return nil, err
	}
	if tellsItsOutput(r.Kind) {
		return scanResult(dir, r) // there is more to tell than steps
	}
	x, err := runlog.OpenIndex(dir)
	if err != nil {
		return scanResult(dir, r) // everything but the log can be lost
	}
	defer x.Close()
	i := -1
	for s, err := range x.All() {
		if err != nil {
			return nil, err
		}
		i++
		r.Voting.add(s.Samples, s.RedFlagged, s.Faults, s.Margin, s.Answers)
		if x.Len() > maxListed && i != x.Len()-1 && (s.Answers < 2 || len(r.Steps) >= maxListed-1) {
			continue
		}
		e, err := x.Event(s)
		if err != nil {
			return nil, err
		}
		r.Steps = append(r.Steps, stepResult(e))
	}
	r.finish(x.Len())
	return r, nil
}

// scanResult fills in the steps from the log itself.
func scanResult(dir string, r *Result) (*Result, error) {
	p := newPlayer(r)
	for line, err := range runlog.Read(dir) {
		if err != nil {
			return nil, err
		}
		switch line.Type {
		case event.TypeStepCompleted, event.TypeEffectClaimed, event.TypeEffectDone, event.TypeEffectRefused:
		case event.TypeSampleCompleted, event.TypeSampleRedFlagged, event.TypeSampleFaulted:
			continue
		default:
			if r.Solve == nil {
				continue
			}
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, err
		}
		r.takeSolve(rec.Event)
		if step, ok := rec.Event.(event.StepCompleted); ok {
			p.count(step)
		} else {
			r.take(rec.Event)
		}
	}
	r.Steps = p.listed()
	r.finish(p.steps)
	return r, nil
}

// newResult fills in what the first and the last event say.
func newResult(dir string) (*Result, error) {
	r := &Result{Status: event.StatusRunning, Steps: []StepResult{}}
	for line, err := range runlog.Read(dir) {
		if err != nil {
			return nil, err
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, err
		}
		head, ok := rec.Event.(event.TaskSubmitted)
		if !ok {
			return nil, fmt.Errorf("maker: the log in %s does not begin with a task", dir)
		}
		cfg, err := parseConfig(head.Config)
		if err != nil {
			return nil, err
		}
		r.Run, r.Kind, r.Task = rec.Run, head.Kind, head.Task
		r.Model, r.Simulated, r.Voting.Rule = strings.Join(cfg.voters(), ","), head.Simulated, cfg.Voting
		r.StepsTotal = head.Steps
		if isSolveKind(head.Kind) {
			r.Solve = newSolveFigures(cfg.BatchSize)
		}
		break
	}
	if r.Run == "" {
		return nil, fmt.Errorf("maker: the log in %s is empty: the run never started", dir)
	}
	last, err := runlog.Tail(dir, 2)
	if err != nil {
		return nil, err
	}
	for _, rec := range last {
		r.end(rec.Event)
	}
	if r.Status == event.StatusRunning {
		if _, held := runlog.HolderOf(filepath.Join(dir, runlog.LockFile)); !held {
			r.Status = StatusInterrupted
		}
	}
	return r, nil
}

// end takes what one of the last events says.
func (r *Result) end(e event.Event) {
	var spent usage.Spent
	switch e := e.(type) {
	case event.TaskCompleted:
		r.Status, r.TotalDurationMS, spent = event.StatusCompleted, e.DurationMS, e.Spent
		r.Output = e.Output
		r.setup(e.Setup)
	case event.TaskFailed:
		r.Status, r.Reason, r.Wrong = e.Status, e.Reason, e.Wrong
		r.Stop, r.TotalDurationMS, spent = e.Stop, e.DurationMS, e.Spent
		r.Output = e.Output
		r.setup(e.Setup)
	case event.StepFailed:
		r.FailedStep = &FailedStep{e.Step, e.Status, e.Reason, e.Voting}
		return
	case event.StepCompleted:
		spent = e.Spent
	case event.RunResumed: // the session before has ended, this one has not
		r.Status, r.Reason, r.Stop, r.Wrong, r.FailedStep = event.StatusRunning, "", "", false, nil
		return
	default:
		return
	}
	r.Usage, r.TotalCostUSD = spent, spent.CostUSD()
}

// setup takes what the last session was done with.
func (r *Result) setup(s event.Setup) {
	if s.Model != "" {
		r.Model, r.Voting.Rule, r.Simulated = s.Model, s.Rule, s.Simulated
	}
	for _, part := range s.Sessions {
		r.Simulated = r.Simulated && part.Simulated
	}
	r.Sessions = s.Sessions
}

func stepResult(e event.StepCompleted) StepResult {
	return StepResult{
		Step: e.Step, Title: e.Title, Output: e.Output, Voting: e.Voting,
		CostUSD: e.CostUSD, DurationMS: e.DurationMS,
	}
}

func (t *VotingTotals) add(samples, flagged, faults, margin, answers int) {
	if t.Samples == 0 || margin < t.LeastMargin {
		t.LeastMargin = margin
	}
	t.Samples += samples
	t.RedFlagged += flagged
	t.Faults += faults
	t.MostSamples = max(t.MostSamples, samples)
	if answers > 1 {
		t.Contested++
	}
}

func (r *Result) finish(committed int) {
	r.StepsCompleted = committed
	r.StepsOmitted = committed - len(r.Steps)
	if committed > 0 {
		r.Voting.SamplesPerStep = float64(r.Voting.Samples) / float64(committed)
		if last := r.Steps[len(r.Steps)-1].Output; r.Output.IsZero() && r.Solve == nil || !tellsItsOutput(r.Kind) {
			r.Output = last
		}
	}
	if r.Solve != nil {
		r.Solve.finish(&r.Voting, committed)
	}
}

// LoadValue returns a value of the run in dir with its content: large values are
// stored beside the log, and stand in results and events as references.
func LoadValue(dir string, v event.Value) (event.Value, error) { return runlog.Load(dir, v) }

// writeResult derives the result of a run that has ended and stores it, in case
// the session that ended it could not.
func writeResult(dir string) error {
	r, err := BuildResult(dir)
	if err != nil {
		return err
	}
	return r.write(dir)
}

// write puts the result into the run folder, whole or not at all.
func (r *Result) write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("maker: result: %w", err)
	}
	err = errors.Join(
		runlog.ReplaceFile(filepath.Join(dir, ResultFile), append(data, '\n')),
		runlog.ReplaceFile(filepath.Join(dir, SummaryFile), []byte(r.Markdown())),
	)
	if err != nil {
		return fmt.Errorf("maker: result: %w", err)
	}
	return nil
}
