package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// MaxListed is how many steps and effects a report lists. Of a longer run it lists the
// contested steps and the last; all of them are in the log.
const MaxListed = 1000

// A Report is what a log says came of a run. A log has a million steps, a report at
// most [MaxListed].
type Report struct {
	Run     string
	Kind    string
	Form    event.Form
	Task    string
	Owner   string
	Started time.Time
	Updated time.Time // the last event, of a glance

	Status string // as in package event: running if the log does not say how the run ended
	Reason string
	Stop   string
	Wrong  bool

	Model     string
	Simulated bool
	Sessions  []event.Session

	Output event.Value
	Failed *event.StepFailed // the step that ended the run, if one did
	Open   []event.OpenVote  // votes that had no verdict when it ended

	// Unsettled are the steps without a result, at most [MaxListed]: that failed, or that a
	// person is asked for. Questions are the contested ones of a problem that is solved, whose
	// steps may have taken several. Other forms have neither.
	Unsettled []event.StepFailed
	Questions []event.VoteCompleted

	Total     int // steps of the task, if known
	Committed int
	Steps     []event.StepCompleted // those that are listed
	Effects   []Effect
	Voting    Totals
	Solve     *Solve // nil if the run is of another kind

	CostUSD    *float64
	Waiting    bool // for an answer
	DurationMS int64
	Usage      usage.Spent

	Evidence *certificate.Evidence // how its races ended
	Params   json.RawMessage       // of the kind
	Checks   string                // what the family's checks are worth, if the log says so

	// Known is how many records have an answer and a known one, and Right how many of these
	// are right.
	Known, Right int

	// What is listed depends on how many steps there are in the end.
	early     []event.StepCompleted
	contested []event.StepCompleted
	last      event.StepCompleted

	begun   bool
	class   string                         // of its steps
	pool    bool                           // it began with several voters
	byStep  bool                           // each step is one vote
	givenUp map[int]race                   // of records without a winner
	unsure  map[string]event.VoteCompleted // likewise, where there are several questions about one
	voters  []Voter                        // see Voters
	ends    []event.Event                  // the last ones, at most maxEnds; nil for those that were passed over
	draft   event.Value                    // the best answer that is not final
	solving solving
}

// maxEnds is how many events at the end of a log say how the run ended: a step that
// failed and the task that failed with it, a limit and the task that it stopped.
const maxEnds = 2

// An Effect is a call that won a vote, and what came of it.
type Effect struct {
	Effect string      `json:"effect"` // the key that the log has it under
	Step   int         `json:"step"`
	Tool   string      `json:"tool"`
	Input  event.Value `json:"input"`
	Status string      `json:"status"`       // done, failed, refused or unknown
	By     string      `json:"by,omitempty"` // who let it pass or refused it
	Result event.Value `json:"result"`

	// Before is what the file that it changed held, if that was kept.
	Before *event.Before `json:"before,omitempty"`

	// Looks says that the tool only looks, and changes nothing.
	Looks bool `json:"looks,omitempty"`

	// Voting is the vote that it won, which early logs do not have of a refused one. Voted is
	// the input that won it, if the person changed that.
	Voting event.Voting `json:"voting,omitzero"`
	Voted  event.Value  `json:"voted,omitzero"`
}

// The statuses of an effect.
const (
	EffectDone    = "done"
	EffectFailed  = "failed" // the tool reported an error
	EffectRefused = "refused"
	EffectUnknown = "unknown" // claimed, and nobody knows what came of it
)

// Totals sum up the voting of the committed steps; of a run that solves a problem that
// of all questions, because a step may take several.
type Totals struct {
	Rule           vote.Rule `json:"rule"`
	Samples        int       `json:"samples"`
	RedFlagged     int       `json:"red_flagged"`
	Faults         int       `json:"faults"`
	Contested      int       `json:"contested"` // steps with more than one answer
	MostSamples    int       `json:"most_samples"`
	LeastMargin    int       `json:"least_margin"`
	SamplesPerStep float64   `json:"samples_per_step"`
}

// config is what a report needs to know of the configuration of a run.
type config struct {
	Model          string    `json:"model"`
	ModelExecution string    `json:"model_execution"`
	Voters         []string  `json:"voters"`
	Voting         vote.Rule `json:"voting"`
	TargetError    float64   `json:"target_error"`
	BatchSize      int       `json:"batch_size"`
	FullLog        bool      `json:"full_log"`

	Warm map[string]adaptive.Learnt `json:"warm"`

	Solve struct {
		ModelEscalation string  `json:"model_escalation"`
		EscalationPrice float64 `json:"escalation_price"`
	} `json:"solve"`
}

// readConfig reads the configuration that a log has. One that is not there says nothing.
func readConfig(raw json.RawMessage) (config, error) {
	var c config
	if raw == nil {
		return c, nil
	}
	err := json.Unmarshal(raw, &c)
	return c, err
}

// voters are all models that share the samples of a question, separated by commas.
func (c config) voters() string {
	if len(c.Voters) > 0 {
		return strings.Join(c.Voters, ",")
	}
	return cmp.Or(c.ModelExecution, c.Model)
}

// begin takes the first event of a log.
func (r *Report) begin(rec event.Record) error {
	e, ok := rec.Event.(event.TaskSubmitted)
	if !ok {
		return fmt.Errorf("it does not begin with a task, but with %s", rec.Event.Type())
	}
	c, err := readConfig(e.Config)
	if err != nil {
		return fmt.Errorf("the configuration of the run: %w", err)
	}
	r.Run, r.Kind, r.Form, r.Task, r.Owner, r.Started, r.Total = rec.Run, e.Kind, e.Form, e.Task, e.Owner, rec.Time, e.Steps
	r.class = e.StepClass()
	r.Model, r.Simulated, r.Voting.Rule = c.voters(), e.Simulated, c.Voting
	r.Status, r.begun, r.pool = event.StatusRunning, true, len(c.Voters) > 1
	r.byStep = e.ByStep()
	r.Params, r.Checks = e.Params, e.Checks
	r.Evidence = certificate.New(lengthOf(e).Options(vote.Rule{Target: adaptive.DefaultTarget}, c.Warm))
	if e.Form == event.FormTree || e.Form == event.FormMeasurement {
		r.Solve = &Solve{}
		r.solving = newSolving(c.BatchSize)
	}
	return nil
}

// note keeps the last events.
func (r *Report) note(e event.Event) {
	if len(r.ends) == maxEnds {
		r.ends = append(r.ends[:0], r.ends[1:]...)
	}
	r.ends = append(r.ends, e)
}

// take learns from an event, after h did.
func (r *Report) take(h *History, e event.Event) {
	r.note(e)
	r.takeSolve(e)
	r.countVoters(e)
	r.countRaces(e)
	r.takeEffect(h.Effects, e)
	switch e := e.(type) {
	case event.StepCompleted:
		r.count(e)
		r.settled(e.Step)
	case event.StepFailed:
		r.unsettled(e)
	case event.ClarificationRequested:
		if e.Voting != nil && len(e.Call) == 0 {
			r.unsettled(event.StepFailed{Step: e.Step, Status: event.StopWaiting, Reason: "its voters gave no result, and a person is asked", Voting: *e.Voting})
		}
	}
}

// takeEffect learns from an event about a call, after states did.
func (r *Report) takeEffect(states effect.States, e event.Event) {
	switch e := e.(type) {
	case event.EffectClaimed:
		r.claimed(e)
	case event.EffectReleased:
		if states[e.Effect].Claims == 0 { // otherwise it is as unknown as it was
			r.Effects = slices.DeleteFunc(r.Effects, func(made Effect) bool { return made.Effect == e.Effect && made.Status == EffectUnknown })
		}
	case event.EffectDone:
		if made := r.effect(e.Effect); made != nil {
			made.Status, made.Result = EffectDone, e.Result
			if e.IsError {
				made.Status = EffectFailed
			}
			made.By = cmp.Or(e.By, made.By)
		}
	case event.EffectRefused:
		r.addEffect(Effect{Effect: e.Effect, Step: e.Step, Tool: e.Tool, Input: e.Input, Status: EffectRefused, By: e.By, Voting: e.Voting})
	}
}

// unsettled notes a step without a result.
func (r *Report) unsettled(e event.StepFailed) {
	if r.settled(e.Step); (!r.byStep || r.Form == event.FormRequests) && len(r.Unsettled) < MaxListed {
		r.Unsettled = append(r.Unsettled, e)
	}
}

// settled notes that a step has a result now, or another reason why it has none.
func (r *Report) settled(step int) {
	r.Unsettled = slices.DeleteFunc(r.Unsettled, func(e event.StepFailed) bool { return e.Step == step })
}

func (r *Report) claimed(e event.EffectClaimed) {
	made := Effect{
		Effect: e.Effect, Step: e.Step, Tool: e.Tool, Input: e.Input, Status: EffectUnknown, By: e.Approved,
		Before: e.Before, Looks: e.Looks, Voting: e.Voting, Voted: e.Voted,
	}
	if was := r.effect(e.Effect); e.Again && was != nil {
		made.Before = cmp.Or(made.Before, was.Before)
		*was = made
		return
	}
	r.addEffect(made)
}

// addEffect lists an effect. One that was refused before, and that the person was asked
// about again, is listed once.
func (r *Report) addEffect(e Effect) {
	if was := r.effect(e.Effect); was != nil && was.Status == EffectRefused {
		*was = e
	} else if len(r.Effects) < MaxListed {
		r.Effects = append(r.Effects, e)
	}
}

func (r *Report) effect(key string) *Effect {
	for i := range slices.Backward(r.Effects) {
		if r.Effects[i].Effect == key {
			return &r.Effects[i]
		}
	}
	return nil
}

// count adds a committed step to the totals and the lists.
func (r *Report) count(e event.StepCompleted) {
	if r.Solve == nil { // which counts all questions
		all, answers := e.Taken()
		r.Voting.add(all.Samples, all.RedFlagged, all.Faults, answers)
		if e.By == "" && all.Samples > 0 { // others were not won by a vote, and have no margin
			r.Voting.won(all.Margin)
		}
	}
	r.last = e
	if r.Committed < MaxListed {
		r.early = append(r.early, e)
	}
	if (e.Voting.Contested() || e.First != nil) && len(r.contested) < MaxListed {
		r.contested = append(r.contested, e)
	}
	if e.Right != nil {
		r.Known++
		if *e.Right {
			r.Right++
		}
	}
	r.Committed++
}

// listed chooses the steps that the report lists.
func (r *Report) listed() []event.StepCompleted {
	if r.Committed <= MaxListed {
		return r.early
	}
	list := r.contested[:min(len(r.contested), MaxListed-1)]
	if n := len(list); n > 0 && list[n-1].Step == r.last.Step {
		return list
	}
	return append(slices.Clip(list), r.last)
}

// won counts the margin by which a vote was won, which is at least 1.
func (t *Totals) won(margin int) {
	if t.LeastMargin == 0 || margin < t.LeastMargin {
		t.LeastMargin = margin
	}
}

func (t *Totals) add(samples, flagged, faults, answers int) {
	t.Samples += samples
	t.RedFlagged += flagged
	t.Faults += faults
	t.MostSamples = max(t.MostSamples, samples)
	if answers > 1 {
		t.Contested++
	}
}

// finish works out what only the end of the log tells.
func (r *Report) finish() {
	for _, e := range r.ends {
		r.end(e)
	}
	r.Steps = r.listed()
	r.finishRaces()
	if r.byStep && r.Failed != nil {
		r.Unsettled = []event.StepFailed{*r.Failed}
	}
	if r.Committed > 0 {
		r.Voting.SamplesPerStep = float64(r.Voting.Samples) / float64(r.Committed)
	}
	switch {
	case r.Solve != nil:
		r.finishSolve()
	case r.Committed > 0 && (r.Output.IsZero() || r.Form == event.FormChain):
		r.Output = r.last.Output
	}
}

// end takes what one of the last events says about the end.
func (r *Report) end(e event.Event) {
	switch e := e.(type) {
	case event.TaskCompleted:
		r.Status, r.DurationMS, r.Output = event.StatusCompleted, e.DurationMS, e.Output
		r.Unsettled = nil // what was planned anew
		r.Evidence.Futile(e.Futile)
		r.spent(e.Spent)
		r.setup(e.Setup)
	case event.TaskFailed:
		r.Status, r.Reason, r.Wrong, r.Stop, r.Open = e.Status, e.Reason, e.Wrong, e.Stop, e.Open
		r.DurationMS, r.Output = e.DurationMS, e.Output
		r.Evidence.Futile(e.Futile)
		r.spent(e.Spent)
		r.setup(e.Setup)
	case event.StepFailed:
		r.Failed = &e
	case event.StepCompleted:
		r.spent(e.Spent)
	case event.RunResumed: // the session before has ended, this one has not
		r.Status, r.Reason, r.Stop, r.Wrong, r.Failed, r.Open = event.StatusRunning, "", "", false, nil, nil
	}
}

func (r *Report) spent(s usage.Spent) { r.Usage, r.CostUSD = s, s.CostUSD() }

// setup takes what the last session was done with.
func (r *Report) setup(s event.Setup) {
	if s.Model != "" {
		r.Model, r.Voting.Rule, r.Simulated = s.Model, s.Rule, s.Simulated
	}
	for _, part := range s.Sessions {
		r.Simulated = r.Simulated && part.Simulated
	}
	r.Sessions = s.Sessions
}
