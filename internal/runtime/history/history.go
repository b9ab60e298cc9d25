// Package history is the one fold over a run's log: what was decided, seen, done and
// answered so far, what it cost, and where the run goes on.
//
// A runtime that resumes a run looks up here what earlier sessions recorded, and
// whoever reads a run gets its result from here. It needs no models.
//
// # Parts
//
// A [History] is fed line by line. What it learns from an event has up to three parts,
// each in a file of its own:
//
//   - the journal: what is recorded under keys, for a resume;
//   - the [Report]: what came of the run, for a result;
//   - the [Audit]: what does not fit, for a replay.
//
// The journal is always there. The report needs the effects that the journal knows,
// and the audit the samples, verdicts and keys, so that what a resume goes by, what a
// result tells and what a replay checks cannot come apart.
//
// A resume of a chain decodes no step but the last. A report decodes each, unless the
// index has what it counts; it holds a bounded number of them.
package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// A History is what a log says about the run so far.
type History struct {
	Submitted event.TaskSubmitted
	Config    json.RawMessage // the latest
	Params    json.RawMessage // of the kind, the latest
	Edits     int             // how often they were changed
	Steps     int             // committed
	Spent     usage.Spent
	Duration  time.Duration // of the earlier sessions
	End       event.Event   // the event that ended the last session, nil if it crashed

	// Checkpoint is where a chain goes on.
	Checkpoint chain.Checkpoint

	// Records are how those of a table ended, and Outputs what they came to.
	Records Records
	Outputs Outputs

	// Contested is how many decisions had more than one answer, and Contests are the latest
	// of them.
	Contested int
	Contests  []Contest

	// Verdicts, Looks, Answers and Effects are what was recorded under keys. An answer
	// is nil while the person has not given it.
	Verdicts map[string]Verdict
	Looks    map[string]json.RawMessage
	Answers  map[string]*flow.Answer
	Effects  effect.States

	// Holds is what questions to the person said of a file.
	Holds map[string]string

	// Loops are how those of the run stand, by their keys, once the log was read. Of their
	// turns the journal has only what happened in those under way.
	Loops map[string]flow.Turn

	// Reopened are the keys of the calls that the person refused and is asked about
	// again, since the last session failed over them.
	Reopened []string

	// Answered are the questions to the person that have an answer and were not asked
	// again since, reopened or not.
	Answered map[string]bool

	// Stale are the questions to the person that had no answer when the parameters of the run
	// were changed: it may not ask them any more.
	Stale map[string]bool

	// Numbers are those of the steps; nil as long as the parameters are what they were, since
	// then the steps have the numbers that they come to.
	Numbers *Numbers

	// Changed are the questions of which the log says that they would now be asked
	// differently.
	Changed map[string]bool

	// Votes are those that were under way when the last session ended.
	Votes map[string]*Vote

	// Waiting are the questions that no person has answered yet, in the order in which
	// they were asked.
	Waiting []event.ClarificationRequested

	// Unkeyed says that an orchestrator's events have no keys: the log is of an early
	// release, and what a resume would emit again cannot be told from it.
	Unkeyed bool

	emitted map[string]emitted
	loops   map[string]*loop
	held    []heldVote

	Framings Framings // how they did; of a chain by its steps
	Policies Policies // of an adaptive rule

	report *Report // nil unless it is wanted
	audit  *Audit  // nil unless it is wanted; it goes with a report

	claim  event.BudgetClaimed // of a session that has not ended in an orderly way
	unpaid usage.Spent         // by samples since the last event that says what was spent

	sessions []event.Session

	dir          string
	bare         bool   // large values are not needed
	asksFor      string // the key of an answer that is wanted in any case
	compact      bool   // only what happened after the last committed step is needed
	records      bool   // its steps are those of records
	sessionStart time.Time
	last         []byte      // the last line
	lastStep     runlog.Line // the last step_completed line; no Raw if there is none
}

// Simulator is how the names of the simulator's models begin.
const Simulator = "sim/"

// A Verdict is a verdict with the question that it answers.
type Verdict struct {
	*flow.Verdict
	Rule  vote.Rule         // by which it was reached
	Asked map[string]string // hashes of the parts of the question; nil in early logs

	// Stands says that it was acted upon, so that another rule is not for it: the record was
	// asked about further.
	Stands bool
}

// A Vote is a question that has samples and no verdict.
type Vote struct {
	Samples []event.Event // SampleCompleted and SampleRedFlagged, as they arrived
	Faults  int

	stale bool // a new session has begun since
}

// New returns a history to be filled by Visit. dir is the run folder.
func New(dir string) *History {
	return &History{
		dir:      dir,
		Verdicts: map[string]Verdict{}, Looks: map[string]json.RawMessage{}, Answers: map[string]*flow.Answer{},
		Effects: effect.States{}, Holds: map[string]string{}, Answered: map[string]bool{}, Votes: map[string]*Vote{}, Changed: map[string]bool{}, emitted: map[string]emitted{}, Stale: map[string]bool{},
		Loops: map[string]flow.Turn{}, loops: map[string]*loop{},
	}
}

// Visit takes the next line of the log.
func (h *History) Visit(l runlog.Line) error {
	if l.Type == event.TypeStepCompleted && h.records && h.report == nil {
		if n, right, ok := stepOf(l.Raw); ok {
			h.Records.completed(n, right)
			h.Outputs.addLine(l.Raw)
			h.forgetRecord(n)
			return h.committed(l)
		}
	}
	if l.Type == event.TypeStepCompleted && h.compact && h.report == nil {
		// The hot path of a million-step log: remember, decode later.
		clear(h.Verdicts)
		clear(h.Votes)
		return h.committed(l)
	}
	if l.Type == event.TypeStepCompleted && h.report == nil {
		turn, err := h.turnLine(l)
		if err != nil {
			return err
		}
		if turn {
			return h.committed(l)
		}
	}
	if h.passesOver(l.Type) || h.report == nil && h.holdVote(l) {
		return nil
	}
	if err := h.learnHeld(); err != nil {
		return err
	}
	return h.decode(l)
}

// decode learns from a line.
func (h *History) decode(l runlog.Line) error {
	rec, err := l.Decode()
	if err != nil {
		return h.damaged(l, err.Error())
	}
	switch rec.Event.(type) {
	case event.SampleCompleted, event.SampleRedFlagged: // what most samples said is not needed again
	default:
		if h.bare {
			break
		}
		rec.Event, err = event.WithValues(rec.Event, func(v event.Value) (event.Value, error) { return runlog.Load(h.dir, v) })
	}
	if err == nil {
		err = h.learn(rec)
	}
	if err != nil {
		return fmt.Errorf("the run log in %s, line %d: %w", h.dir, l.Seq+1, err)
	}
	if l.Type == event.TypeStepCompleted {
		h.keepStep(l)
	}
	h.last = append(h.last[:0], l.Raw...)
	return nil
}

// committed takes a step that is not decoded.
func (h *History) committed(l runlog.Line) error {
	h.Steps++
	h.keepStep(l)
	h.last = append(h.last[:0], l.Raw...)
	h.End = nil
	h.unpaid = usage.Spent{}
	if !h.Submitted.ByStep() {
		return nil // its votes were counted one by one
	}
	if err := h.countStep(l); err != nil {
		return err
	}
	return h.countShares(l)
}

// keepStep remembers the last step, to be decoded when there is no later one.
func (h *History) keepStep(l runlog.Line) {
	raw := append(h.lastStep.Raw[:0], l.Raw...)
	h.lastStep = l
	h.lastStep.Raw = raw
}

// damaged is a line that is no event.
func (h *History) damaged(l runlog.Line, reason string) error {
	return &runlog.CorruptError{Dir: h.dir, Line: int64(l.Seq) + 1, Offset: l.Offset, Reason: reason}
}

// learn gives an event to each part: to the audit before the others know of it, to the
// report after.
func (h *History) learn(rec event.Record) error {
	if h.report != nil && !h.report.begun {
		if err := h.report.begin(rec); err != nil {
			return err
		}
	}
	if h.audit != nil {
		if err := h.audit.take(h, rec); err != nil {
			return err
		}
	}
	h.take(rec)
	h.countVotes(rec.Event)
	h.countPolicies(rec.Event)
	if h.report != nil {
		h.report.take(h, rec.Event)
	}
	return nil
}

// Learn takes an event of the run, as Visit takes a line of its log.
func (h *History) Learn(rec event.Record) error {
	if err := h.learnHeld(); err != nil {
		return err
	}
	return h.learn(rec)
}

// ending learns from the events that end a session or are about its budget, and reports
// whether it was one.
func (h *History) ending(e event.Event) bool {
	switch e := e.(type) {
	case event.BudgetClaimed:
		h.claim = e
	case event.BudgetExhausted:
		h.paid(e.Spent)
	case event.RunCancelled:
		h.paid(e.Spent)
	case event.RunPaused:
		h.paid(e.Spent)
	case event.TaskFailed:
		h.paid(e.Spent)
		h.End, h.claim = e, event.BudgetClaimed{}
		if n := len(h.sessions); n > 0 && e.Simulated {
			h.sessions[n-1].Simulated = true // as its answers showed
		}
		h.reopen(e.Reopen)
	case event.TaskCompleted:
		h.paid(e.Spent)
		h.End, h.claim = e, event.BudgetClaimed{}
	default:
		return false
	}
	return true
}

// take is what the journal learns from an event.
func (h *History) take(rec event.Record) {
	if h.ending(rec.Event) {
		return // it says nothing more about how the session stands
	}
	h.End = nil
	h.note(recordedUnder(rec))
	switch e := rec.Event.(type) {
	case event.TaskSubmitted:
		h.Submitted, h.Config, h.Params, h.sessionStart = e, e.Config, e.Params, rec.Time
		h.compact, h.records = e.Form == event.FormChain, e.Form.Apart()
		h.configurePolicies()
		h.begin(0, e.Setup)
	case event.RunResumed:
		h.resumed(rec.Time, e)
	case event.SampleCompleted:
		// A simulator behind HTTP says in its answers what it is.
		if n := len(h.sessions); n > 0 && strings.HasPrefix(e.Model, Simulator) {
			h.sessions[n-1].Simulated = true
		}
		h.sample(e.Sample, e)
	case event.SampleRedFlagged:
		h.sample(e.Sample, e)
	case event.SampleFaulted:
		h.vote(e.Question).Faults++
	case event.VoteResumed:
		h.continued(e)
	case event.FramingRetired:
		h.Framings.Retire(e)
	case event.VoteCompleted:
		if !h.goesOn() || e.Status != string(flow.Undecided) {
			delete(h.Votes, e.Question)
		} // otherwise a resume that allows more samples goes on with the votes there are
		h.Verdicts[e.Question] = Verdict{Rule: e.Rule, Asked: e.Asked, Verdict: &flow.Verdict{
			Status: flow.Status(e.Status), Answer: e.Answer.JSON, Intent: e.Intent, Reason: e.Reason, Voting: e.Voting,
			Repaired: e.Repaired, Said: e.Said, Candidates: e.Voted(), CostUSD: e.CostUSD, DurationMS: e.DurationMS,
		}}
		h.takeContest(e.Question, e.Step, h.Verdicts[e.Question].Verdict)
		h.paid(e.Spent)
	case event.Observed:
		h.Looks[e.Look] = e.Result.JSON
		if e.Result.JSON == nil {
			h.Looks[e.Look] = json.RawMessage("null")
		}
	case event.EffectClaimed, event.EffectReleased, event.EffectRefused, event.EffectUnknown:
		h.Effects.Take(e)
	case event.EffectDone:
		h.Effects.Take(e)
		h.paid(e.Spent)
	case event.ClarificationRequested:
		h.asked(e)
	case event.ClarificationProvided:
		h.answered(e)
	case event.QuestionChanged:
		h.Changed[e.Question] = true
	case event.PolicyChanged, event.PolicyFutile: // the runtime's own: see countPolicies
	default:
		if step, ok := e.(event.StepCompleted); ok {
			h.Steps++
			h.paid(step.Spent)
			if h.compact { // what led to it is not needed any more
				clear(h.Verdicts)
				clear(h.Votes)
			}
		} else if failed, ok := e.(event.StepFailed); ok {
			h.paid(failed.Spent)
		}
		if h.records {
			h.takeRecord(e)
			return // they have no keys
		}
		if step, ok := e.(event.StepCompleted); ok && step.Loop && h.turn(rec.Key, step.Output.JSON) {
			return
		}
		h.emit(rec.Key, e)
	}
}

// asked takes a question to the person.
func (h *History) asked(e event.ClarificationRequested) {
	h.Answers[e.Question] = nil // not yet
	h.Holds[e.Question] = e.Holds
	h.unwait(e.Question) // if it is put anew
	h.Waiting = append(h.Waiting, e)
	delete(h.Stale, e.Question)
	delete(h.Answered, e.Question)
}

// answered takes the answer to one.
func (h *History) answered(e event.ClarificationProvided) {
	h.Answers[e.Question] = &flow.Answer{Text: e.Answer, By: e.By, Holds: h.Holds[e.Question]}
	h.unwait(e.Question)
	h.Answered[e.Question] = true
}

func (h *History) unwait(question string) {
	h.Waiting = slices.DeleteFunc(h.Waiting, func(q event.ClarificationRequested) bool { return q.Question == question })
}

// paid takes what the run says it has spent.
func (h *History) paid(s usage.Spent) {
	if s.Calls > 0 {
		h.Spent, h.unpaid = s, usage.Spent{}
	}
}

// vote is the vote on a question that has no verdict yet. One that a later session
// begins anew, without a word about the samples there are, begins with none.
func (h *History) vote(question string) *Vote {
	v := h.Votes[question]
	if v == nil || v.stale {
		v = &Vote{}
		h.Votes[question] = v
	}
	return v
}

// sample takes a sample of a question into account.
func (h *History) sample(s event.Sample, e event.Event) {
	v := h.vote(s.Question)
	v.Samples = append(v.Samples, e)
	paid := usage.Spent{Calls: int64(1 + s.ToolCalls), Tokens: s.Tokens}
	if s.CostUSD != nil {
		paid.USD = *s.CostUSD
	} else {
		paid.Unpriced = 1
	}
	h.unpaid = h.unpaid.Add(paid)
}

// continued says which samples of the sessions before count.
func (h *History) continued(e event.VoteResumed) {
	v := h.Votes[e.Question]
	if v == nil {
		return
	}
	var counted []event.Event
	for i, n := range e.Samples {
		at := slices.IndexFunc(v.Samples, func(s event.Event) bool { return numberOf(s) == n })
		if at >= 0 && !slices.Contains(e.Samples[:i], n) {
			counted = append(counted, v.Samples[at])
		}
	}
	v.Samples, v.stale = counted, false
}

// numberOf is the number of a sample in its question.
func numberOf(e event.Event) int {
	switch e := e.(type) {
	case event.SampleCompleted:
		return e.Sample.Sample
	case event.SampleRedFlagged:
		return e.Sample.Sample
	}
	return -1
}

// goesOn reports whether questions that were not decided go on with the votes they have once
// more samples are allowed. Of other runs the same question may be put in other words then.
func (h *History) goesOn() bool {
	return h.compact || h.records || h.Submitted.Form == event.FormScript
}

// reopen forgets what is recorded under keys and below them. Effects and answers of
// the person stay, but for calls that the person refused and answers that are named.
func (h *History) reopen(keys []string) {
	h.Reopened = nil
	if len(keys) == 0 {
		return
	}
	below := flow.Below(keys)
	h.Reopened = h.Effects.Reopen(below)
	for _, refused := range h.Reopened {
		forget(h.Answers, flow.Below([]string{effect.Approval(refused)}))
	}
	for _, key := range keys {
		delete(h.Answers, key)
	}
	forget(h.Verdicts, below)
	forget(h.Looks, below)
	if !h.goesOn() {
		forget(h.Votes, below)
	}
	forget(h.emitted, below)
}

func forget[V any](m map[string]V, below func(key string) bool) {
	maps.DeleteFunc(m, func(key string, _ V) bool { return below(key) })
}

// resumed begins a session.
func (h *History) resumed(at time.Time, e event.RunResumed) {
	h.endSession()
	h.sessionStart = at
	h.begin(e.Step, e.Setup)
	if e.Config != nil {
		h.Config = e.Config
		h.configurePolicies()
	}
	if e.Params != nil {
		h.Edit(e.Params)
	}
	if e.Spent.Calls > 0 {
		h.paid(e.Spent)
	} else {
		h.hold()
	}
	h.claim = event.BudgetClaimed{}
	h.Reopened = nil
	h.Records.Retry(e.Retry)
	for _, v := range h.Votes {
		v.stale = true
	}
}

// begin notes what a session is done with. One that got nowhere does not count.
func (h *History) begin(step int, s event.Setup) {
	if s.Model == "" {
		return // from before this was logged
	}
	if n := len(h.sessions); n > 0 && h.sessions[n-1].Step == step {
		h.sessions = h.sessions[:n-1]
	}
	h.sessions = append(h.sessions, event.Session{Step: step, Model: s.Model, Rule: s.Rule, Simulated: s.Simulated})
}

// SessionsWith are the parts of the run that were done differently, the present
// one included; nil if all were done alike.
func (h *History) SessionsWith(now event.Setup) []event.Session {
	all := History{sessions: slices.Clone(h.sessions)}
	all.begin(h.Checkpoint.Step, now)
	parts := slices.CompactFunc(all.sessions, func(a, b event.Session) bool {
		return a.Model == b.Model && a.Rule == b.Rule && a.Simulated == b.Simulated
	})
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// LastSetup is what the session before was done with, as far as the log says so.
func (h *History) LastSetup() event.Setup {
	var last event.Setup
	if n := len(h.sessions); n > 0 {
		s := h.sessions[n-1]
		last = event.Setup{Model: s.Model, Rule: s.Rule, Simulated: s.Simulated}
		last.Sessions = h.SessionsWith(last)
	}
	return last
}

// endSession adds the time between the first and the last line of a session.
func (h *History) endSession() {
	var head event.Header
	if json.Unmarshal(h.last, &head) == nil && head.Timestamp.After(h.sessionStart) {
		h.Duration += head.Timestamp.Sub(h.sessionStart)
	}
}

// Finish is called after the last line.
func (h *History) Finish() error {
	if err := h.learnHeld(); err != nil {
		return err
	}
	h.endSession()
	if err := h.takeLastStep(); err != nil {
		return err
	}
	if err := h.finishLoops(); err != nil {
		return err
	}
	h.hold()
	for _, v := range h.Votes {
		v.load(h.dir)
	}
	if h.compact {
		// A chain does nothing about a question without a winner but end.
		for key, v := range h.Verdicts {
			if v.Status != flow.Decided {
				delete(h.Verdicts, key)
			}
		}
	}
	return nil
}

// load fetches what the samples said. One that is lost is asked again.
func (v *Vote) load(dir string) {
	load := func(v event.Value) (event.Value, error) { return runlog.Load(dir, v) }
	kept := v.Samples[:0]
	for _, e := range v.Samples {
		if e, err := event.WithValues(e, load); err == nil {
			kept = append(kept, e)
		}
	}
	v.Samples = kept
}

// hold counts what the last session claimed and did not account for as spent:
// it may have been.
func (h *History) hold() {
	s := &h.Spent
	*s, h.unpaid = s.Add(h.unpaid), usage.Spent{}
	if lost := h.claim.Calls - s.Calls; lost > 0 {
		s.Calls, s.Abandoned = h.claim.Calls, s.Abandoned+lost
	}
	if lost := h.claim.Tokens - s.Tokens.Total() - s.HeldTokens; lost > 0 {
		s.HeldTokens += lost
	}
	if lost := h.claim.USD - s.USD - s.HeldUSD; lost > 0 {
		s.HeldUSD += lost
	}
}

func (h *History) takeLastStep() error {
	if h.lastStep.Raw == nil {
		return nil
	}
	e, err := h.decodeStep(h.lastStep)
	if err != nil {
		return err
	}
	h.Checkpoint = chain.Checkpoint{Step: e.Step + 1, Output: e.Output.JSON}
	if e.Spent.Calls > h.Spent.Calls {
		h.Spent = e.Spent
	}
	return nil
}
