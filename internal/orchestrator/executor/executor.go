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
	"github.com/maker-mdap/maker/internal/text/summary"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/vote"
)

// Config is how steps are carried out.
type Config struct {
	Prompts *prompts.Set

	flow.Terms // of every question
	Repair     flow.Repair

	// Retries is how often a step that failed is tried again where it has one
	// sample only; voting has its own way to try again.
	Retries int

	// MaxMoves bounds the calls that one step may have executed, all tries together;
	// 0 means [flow.DefaultMaxMoves].
	MaxMoves int

	// Parallel is how many steps may run at once. Steps that may change something do
	// not: others can depend on them through the world, which a plan does not show.
	Parallel int

	// AllowLoops lets a plan go back; MaxSteps bounds how many steps it may then
	// take in all.
	AllowLoops bool
	MaxSteps   int

	// MaxReplans is how often a task that failed is planned anew.
	MaxReplans int

	// Meaning has prose compared by what it says, instead of leaving it out of the vote.
	Meaning bool

	// Ladder is what is done when the voters of a step do not agree, and Split does a step
	// in several then; nil leaves that out.
	Ladder flow.Ladder
	Split  flow.SplitFunc

	// Context says what steps are told of those before them besides their inputs;
	// ContextBudget is how many tokens a summary may take.
	Context       Context
	ContextBudget int
}

// Context is what a step is told of the steps before it.
type Context string

// The contexts. The zero value is [Inputs].
const (
	Inputs  Context = "inputs"  // the outputs that it names, and nothing else
	Summary Context = "summary" // also a summary of all outputs so far
)

// DefaultMaxSteps bounds a plan with loops that was given no bound.
const DefaultMaxSteps = 1000

// An Executor turns validation_passed into the events of the steps, and then
// task_completed or task_failed; or, where it may, replan_requested.
type Executor struct {
	config Config

	outputs   map[string]output // of all completed steps, by variable
	order     []string          // of the variables, as they were produced
	committed int               // steps, over all plans
	base      int               // the number of the present plan's step 0

	summaries *summary.Context // nil if steps are told their inputs only
	err       error            // why there are none although there should be
}

// An output is what a step came to.
type output struct {
	value   json.RawMessage
	unvoted []string // paths of what nobody voted on, see [event.Voting]
}

// New returns an executor for one run.
func New(c Config) *Executor {
	if c.MaxSteps <= 0 {
		c.MaxSteps = DefaultMaxSteps
	}
	if c.MaxMoves <= 0 {
		c.MaxMoves = flow.DefaultMaxMoves
	}
	x := &Executor{config: c, outputs: map[string]output{}}
	if c.Context == Summary {
		x.summaries, x.err = summary.NewContext(c.ContextBudget, summary.Config{
			Prompts: c.Prompts,
			Terms:   c.Terms,
		})
	}
	return x
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
		if x.err != nil {
			yield(event.TaskFailed{Status: event.StatusFailed, Reason: x.err.Error()})
			return
		}
		r := run{Executor: x, plan: p, replan: valid.Replan, key: planKey(valid), visits: map[int]int{}}
		r.yield = func(key string, e event.Event) bool { return yield(flow.Keyed{Event: e, Key: key}) }
		if r.look(f) == nil { // otherwise the run is over; the pipeline knows why
			r.steps(f)
		}
	}
}

// run is one plan being carried out.
type run struct {
	*Executor
	plan   *plan.Plan
	replan int
	key    string
	yield  func(key string, e event.Event) bool
	visits map[int]int // of each step, where there are loops
	taken  int

	safe    map[string]bool // tools that change nothing
	askTool string          // that asks the person, if there is one

	// What the whole was told and shown that the steps are parts of, if they are.
	context string
	images  []flow.Image
}

// look learns which tools there are. They stay the same for the plan, whatever comes
// and goes: which steps run together depends on them.
func (r *run) look(f flow.Flow) error {
	tools, err := flow.Tools(f, r.key+"/tools")
	if err != nil {
		return err
	}
	r.safe = map[string]bool{}
	for _, t := range tools {
		r.safe[t.Name] = t.Safe && t.Unavailable == ""
		if t.Name == plan.LastResort && t.Human && t.Unavailable == "" {
			r.askTool = t.Name
		}
	}
	return nil
}

// alone reports whether a step may change the world, so that steps beside it could
// see it half done.
func (r *run) alone(s *plan.Step) bool {
	return slices.ContainsFunc(slices.Concat(s.PrimaryTools, s.FallbackTools), func(name string) bool { return !r.safe[name] })
}

func (r *run) steps(f flow.Flow) {
	r.expect()
	var last json.RawMessage
	for next := 0; next != plan.End; {
		if r.config.AllowLoops && r.taken >= r.config.MaxSteps {
			r.yield("end", event.TaskFailed{
				Status: event.StatusFailed, Step: r.base + r.taken, Final: true, // the bound belongs to the run
				Reason: fmt.Sprintf("the plan took %d steps and is not at its end; raise --max-steps if that is right", r.taken),
			})
			return
		}
		batch := r.batch(next)
		for _, a := range batch {
			if !r.yield(a.key()+"/started", event.StepStarted{Step: a.number, Title: a.step.Title}) {
				return
			}
		}
		if err := r.decide(f, batch); err != nil {
			return // the run is over; the pipeline knows why
		}
		// What is decided is committed even if a step beside it failed.
		for _, a := range batch {
			if a.problem != "" {
				continue
			}
			if !r.commit(a) || r.summarise(f, a) != nil {
				return
			}
			next, last = a.next, a.outcome.Verdict.Answer
		}
		if slices.ContainsFunc(batch, func(a *attempt) bool { return a.problem != "" }) {
			r.fail(batch)
			return
		}
	}
	r.yield("end", event.TaskCompleted{Steps: r.committed, Output: event.JSONValue(last)})
}

// planKey tells the plans of a run apart: steps of different ones are different
// steps, whatever their numbers.
func planKey(e event.ValidationPassed) string {
	if e.Attempt == 0 {
		return fmt.Sprintf("plan/%d", e.Replan)
	}
	return fmt.Sprintf("plan/%d.%d", e.Replan, e.Attempt)
}

// batch are the steps to do next, at once.
func (r *run) batch(from int) []*attempt {
	limit := r.config.Parallel
	if r.config.AllowLoops {
		limit = min(limit, r.config.MaxSteps-r.taken)
	}
	var batch []*attempt
	for _, n := range r.plan.Batch(from, plan.BatchOptions{Limit: limit, Alone: r.alone}) {
		a := &attempt{step: r.plan.Step(n), number: r.base + n, plan: r.key, name: fmt.Sprintf("step/%d", n)}
		if visit := r.visits[n]; visit > 0 {
			a.name = fmt.Sprintf("%s/visit/%d", a.name, visit)
		}
		if r.config.AllowLoops {
			a.number = r.base + r.taken // every execution is a step of its own
		}
		r.visits[n]++
		r.taken++
		batch = append(batch, a)
	}
	return batch
}

// decide has all steps of a batch decided.
func (r *run) decide(f flow.Flow, batch []*attempt) error {
	if len(batch) == 1 {
		return r.decideOne(f, batch[0].key(), batch[0])
	}
	key := r.key + "/batch/" + batch[0].name
	err := f.Parallel(key, len(batch), func(i int, f flow.Flow) error { return r.decideOne(f, batch[i].name, batch[i]) })
	for i, a := range batch {
		for j, question := range a.outcome.Open {
			a.outcome.Open[j] = flow.Branch(key, i) + question
		}
	}
	return err
}

// commit takes the output of a step. It returns false if nobody wants to hear more.
func (r *run) commit(a *attempt) bool {
	answer := a.outcome.Verdict.Answer
	if _, again := r.outputs[a.step.OutputVariable]; !again {
		r.order = append(r.order, a.step.OutputVariable)
	}
	r.outputs[a.step.OutputVariable] = output{answer, a.unvoted()}
	r.committed++
	return r.yield(a.key()+"/completed", event.StepCompleted{
		Step: a.number, Title: a.step.Title, Output: event.JSONValue(answer),
		By: a.by, First: a.outcome.First, Voting: a.outcome.Voting, CostUSD: a.outcome.CostUSD, DurationMS: a.outcome.DurationMS,
	})
}

// fail ends the steps of a batch that failed, and with the first of them the task;
// or it has what remains planned anew.
func (r *run) fail(batch []*attempt) {
	var first *attempt
	var reopen []string
	final := true
	mayReplan := r.replan < r.config.MaxReplans
	for _, a := range batch {
		reopen = append(reopen, a.key()+"/summary") // of what all of them came to
		if a.problem == "" {
			continue
		}
		if first == nil {
			first = a
		}
		mayReplan = mayReplan && !a.outcome.Unknown()
		final = final && len(a.outcome.Open) == 0 && !a.outcome.Unknown()
		failed := a.key() + "/failed"
		reopen = append(append(reopen, a.outcome.Open...), failed)
		if !r.yield(failed, event.StepFailed{Step: a.number, Status: string(a.status()), Reason: a.problem, Voting: a.outcome.All()}) {
			return
		}
	}
	reason := fmt.Sprintf("step %d (%s): %s", first.number, first.step.Title, first.problem)
	if mayReplan {
		outputs, err := json.Marshal(r.rename())
		if err == nil {
			r.base = batch[len(batch)-1].number + 1
			r.yield(r.key+"/replan", event.ReplanRequested{Replan: r.replan + 1, Step: first.number, Outputs: event.JSONValue(outputs), Reason: reason})
			return
		}
	}
	end := event.TaskFailed{Status: event.StatusFailed, Reason: reason, Step: first.number, Reopen: reopen, Final: final}
	if first.status() == flow.Undecided {
		end.Status = event.StatusUndecided
	}
	r.yield("end", end)
}

// rename gives the outputs so far names that no step of the next plan takes, and
// lists them in order.
func (r *run) rename() []event.NamedOutput {
	list, renamed := []event.NamedOutput{}, map[string]output{}
	for i, variable := range r.order {
		name := fmt.Sprintf("done_%d_output", i)
		o := r.outputs[variable]
		list = append(list, event.NamedOutput{Name: name, Output: o.value, Unvoted: r.marked(o)})
		renamed[name], r.order[i] = o, name
	}
	r.outputs = renamed
	return list
}

// marked are the paths that whoever plans anew is told nobody voted on. Where nobody votes,
// that goes without saying.
func (r *run) marked(o output) []string {
	if r.config.Rule.Strategy == vote.None && slices.Contains(o.unvoted, event.WholeAnswer) {
		return nil
	}
	return o.unvoted
}
