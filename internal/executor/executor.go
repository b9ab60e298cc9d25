// Package executor carries out plans: step by step, each one decided by voting
// agents that see nothing but their step.
package executor

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// Config is how steps are carried out.
type Config struct {
	Prompts *prompts.Set

	// What every question has in common.
	Rule             vote.Rule
	Flags            redflag.Config
	FirstTemperature *float64
	Temperature      *float64
	MaxOutput        int
	MaxFaults        int
	Repair           flow.Repair

	// AskTool is the tool that asks the person, if steps have one.
	AskTool string

	// Retries is how often a step that failed is tried again where it has one
	// sample only; voting has its own way to try again.
	Retries int

	// MaxMoves bounds the calls that one step may have executed.
	MaxMoves int

	// Parallel is how many steps may run at once. Steps that Alone reports do not:
	// they can depend on others through the world, which a plan does not show.
	Parallel int
	Alone    func(s *plan.Step) bool

	// AllowLoops lets a plan go back; MaxSteps bounds how many steps it may then
	// take in all.
	AllowLoops bool
	MaxSteps   int

	// MaxReplans is how often a task that failed is planned anew.
	MaxReplans int
}

// DefaultMaxSteps bounds a plan with loops that was given no bound.
const DefaultMaxSteps = 1000

// An Executor turns validation_passed into the events of the steps, and then
// task_completed or task_failed; or, where it may, replan_requested.
type Executor struct {
	config Config

	outputs   map[string]json.RawMessage // of all completed steps, by variable
	order     []string                   // of the variables, as they were produced
	committed int                        // steps, over all plans
	base      int                        // the number of the present plan's step 0
}

// New returns an executor for one run.
func New(c Config) *Executor {
	if c.MaxSteps <= 0 {
		c.MaxSteps = DefaultMaxSteps
	}
	return &Executor{config: c, outputs: map[string]json.RawMessage{}}
}

// Process implements [flow.Module].
func (x *Executor) Process(f flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		valid, ok := e.(event.ValidationPassed)
		if !ok {
			return
		}
		p, findings := plan.Parse(valid.Plan.Text())
		if len(findings) > 0 { // it passed a moment ago
			yield(event.TaskFailed{Status: event.StatusFailed, Reason: findings[0].String()})
			return
		}
		r := run{Executor: x, plan: p, replan: valid.Replan, yield: yield, visits: map[int]int{}}
		r.steps(f)
	}
}

// run is one plan being carried out.
type run struct {
	*Executor
	plan   *plan.Plan
	replan int
	yield  func(event.Event) bool
	visits map[int]int // of each step, where there are loops
	taken  int
}

// attempt is one step of a batch.
type attempt struct {
	step    *plan.Step
	number  int // in the run
	key     string
	outcome *flow.Outcome
}

func (r *run) steps(f flow.Flow) {
	var last json.RawMessage
	for next := 0; next != plan.End; {
		batch := r.batch(next)
		for _, a := range batch {
			if !r.yield(event.StepStarted{Step: a.number, Title: a.step.Title}) {
				return
			}
		}
		if err := r.decide(f, batch); err != nil {
			return // the run is over; the pipeline knows why
		}
		for _, a := range batch {
			var reason string
			if next, reason = r.commit(a); reason != "" {
				r.fail(a, reason)
				return
			}
			last = a.outcome.Verdict.Answer
		}
		if r.taken > r.config.MaxSteps && next != plan.End {
			r.yield(event.TaskFailed{
				Status: event.StatusFailed, Step: r.base + next,
				Reason: fmt.Sprintf("the plan took %d steps and is not at its end; raise --max-steps if that is right", r.taken-1),
			})
			return
		}
	}
	r.yield(event.TaskCompleted{Steps: r.committed, Output: event.JSONValue(last)})
}

// batch are the steps to do next, at once.
func (r *run) batch(from int) []*attempt {
	var batch []*attempt
	for _, n := range r.plan.Batch(from, plan.BatchOptions{Limit: r.config.Parallel, Alone: r.config.Alone}) {
		visit := r.visits[n]
		r.visits[n]++
		r.taken++
		a := &attempt{step: r.plan.Step(n), number: r.base + n, key: fmt.Sprintf("plan/%d/step/%d", r.replan, n)}
		if visit > 0 {
			a.key = fmt.Sprintf("%s/visit/%d", a.key, visit)
		}
		if r.config.AllowLoops {
			a.number = r.base + r.taken - 1 // every execution is a step of its own
		}
		batch = append(batch, a)
	}
	return batch
}

// decide has all steps of a batch decided.
func (r *run) decide(f flow.Flow, batch []*attempt) error {
	if len(batch) == 1 {
		return r.decideOne(f, batch[0])
	}
	return f.Parallel(len(batch), func(i int, f flow.Flow) error { return r.decideOne(f, batch[i]) })
}

// decideOne decides a step. Where there is one sample only, a step that failed is
// tried again; calls that were made stay made.
func (r *run) decideOne(f flow.Flow, a *attempt) error {
	q, err := r.question(a)
	if err != nil {
		a.outcome = failed(err.Error())
		return nil
	}
	for try := 0; ; try++ {
		key := a.key
		if try > 0 {
			key = fmt.Sprintf("%s/try/%d", key, try)
		}
		if a.outcome, err = flow.Act(f, key, q, r.config.MaxMoves); err != nil {
			return err
		}
		status := a.outcome.Verdict.Status
		if status == flow.Decided || q.Rule.Strategy != vote.None || try >= r.config.Retries || unknown(a.outcome) {
			return nil
		}
		q.Work.Done = append(slices.Clip(q.Work.Done), a.outcome.Moves...)
	}
}

// unknown reports whether a call of the step may or may not have happened: then
// nothing is tried again.
func unknown(o *flow.Outcome) bool {
	return len(o.Moves) > 0 && o.Moves[len(o.Moves)-1].Result.Unknown
}

func failed(reason string) *flow.Outcome {
	return &flow.Outcome{Verdict: &flow.Verdict{Status: flow.Failed, Reason: reason}}
}

// commit takes the outcome of a step and returns the number of the one after it,
// or why there is none.
func (r *run) commit(a *attempt) (next int, reason string) {
	v := a.outcome.Verdict
	if v.Status != flow.Decided {
		return 0, v.Reason
	}
	next = a.step.NextStep
	if a.step.TaskType == plan.ConditionalStep {
		var err error
		if next, err = r.route(a, v.Answer); err != nil {
			return 0, err.Error()
		}
	}
	if _, again := r.outputs[a.step.OutputVariable]; !again {
		r.order = append(r.order, a.step.OutputVariable)
	}
	r.outputs[a.step.OutputVariable] = v.Answer
	r.committed++
	r.yield(event.StepCompleted{
		Step: a.number, Title: a.step.Title, Output: event.JSONValue(v.Answer),
		Voting: a.outcome.Voting, CostUSD: a.outcome.CostUSD, DurationMS: a.outcome.DurationMS,
	})
	return next, ""
}

// route reads the answer of a conditional step.
func (r *run) route(a *attempt, answer json.RawMessage) (int, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(answer, &fields); err != nil {
		return 0, fmt.Errorf("the answer of the conditional step is no mapping")
	}
	raw, ok := fields["next_step"]
	if !ok {
		return 0, fmt.Errorf("the answer of the conditional step has no next_step")
	}
	var next int
	if err := json.Unmarshal(raw, &next); err != nil {
		return 0, fmt.Errorf("next_step is %s, want the number of a step", raw)
	}
	return next, r.plan.Route(a.step.Number, next, r.config.AllowLoops)
}

// fail ends the step and the task, or has what remains planned anew.
func (r *run) fail(a *attempt, reason string) {
	v := a.outcome.Verdict
	status := v.Status
	if status == flow.Decided {
		status = flow.Failed // the answer led nowhere
	}
	if !r.yield(event.StepFailed{Step: a.number, Status: string(status), Reason: reason, Voting: a.outcome.Voting}) {
		return
	}
	if r.replan < r.config.MaxReplans && !unknown(a.outcome) {
		done := r.rename()
		outputs, err := json.Marshal(done)
		if err == nil {
			r.base = a.number + 1
			r.yield(event.ReplanRequested{
				Replan: r.replan + 1, Step: a.number, Outputs: event.JSONValue(outputs),
				Reason: fmt.Sprintf("step %d (%s): %s", a.number, a.step.Title, reason),
			})
			return
		}
	}
	end := event.TaskFailed{Status: event.StatusFailed, Reason: fmt.Sprintf("step %d (%s): %s", a.number, a.step.Title, reason), Step: a.number}
	if status == flow.Undecided {
		end.Status = event.StatusUndecided
	}
	r.yield(end)
}

// rename gives the outputs so far names that no step of the next plan takes, and
// lists them in order.
func (r *run) rename() []event.NamedOutput {
	var list []event.NamedOutput
	for i, variable := range r.order {
		list = append(list, event.NamedOutput{Name: fmt.Sprintf("done_%d_output", i), Output: r.outputs[variable]})
	}
	clear(r.outputs)
	r.order = r.order[:0]
	for _, o := range list {
		r.outputs[o.Name] = o.Output
		r.order = append(r.order, o.Name)
	}
	return list
}
