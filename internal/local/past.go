package local

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/chain"
	"github.com/maker-mdap/maker/internal/runlog"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// Past is what a log says about the run so far.
type Past struct {
	Submitted event.TaskSubmitted
	Config    json.RawMessage // the latest
	Steps     int             // committed
	Spent     usage.Spent
	Duration  time.Duration // of the earlier sessions
	End       event.Event   // the event that ended the last session, nil if it crashed

	// Checkpoint is where a chain goes on.
	Checkpoint chain.Checkpoint

	passed   map[[2]int]bool // plans that passed their checks, by replan and attempt
	verdicts map[string]pastVerdict
	effects  map[string]pastEffect
	answers  map[string]*flow.Answer
	emitted  *emitted

	claim event.BudgetClaimed // of a session that has not ended in an orderly way

	// What may have ended a session: it is asked again, not taken as it was.
	open   map[string]int // questions without a winner, with their steps, if nothing came of those yet
	failed []event.Event  // step_failed since the last other event

	sessions []event.Session

	dir          string
	compactKind  func(kind string) bool
	compact      bool
	sessionStart time.Time
	last         []byte // the last line
	lastStep     []byte // the last step_completed line
}

// pastVerdict is a verdict and the rule that it was reached by. After a resume
// with another rule it does not count.
type pastVerdict struct {
	verdict *flow.Verdict
	rule    vote.Rule
	final   bool // its step went on, whatever the rule was
}

// NewPast returns a Past to be filled by Visit. dir is the run folder. compact says
// of a kind of run whether only what happened after the last committed step is
// needed.
func NewPast(dir string, compact func(kind string) bool) *Past {
	return &Past{
		dir: dir, compactKind: compact, emitted: newEmitted(),
		open: map[string]int{}, passed: map[[2]int]bool{}, verdicts: map[string]pastVerdict{}, effects: map[string]pastEffect{}, answers: map[string]*flow.Answer{},
	}
}

// Visit takes the next line of the log.
func (p *Past) Visit(l runlog.Line) error {
	if l.Type == event.TypeStepCompleted && p.compact {
		// The hot path of a million-step log: remember, decode later.
		p.Steps++
		p.lastStep = append(p.lastStep[:0], l.Raw...)
		p.last = append(p.last[:0], l.Raw...)
		p.End, p.failed = nil, nil
		clear(p.open)
		clear(p.verdicts)
		return nil
	}
	rec, err := l.Decode()
	if err != nil {
		return &runlog.CorruptError{Dir: p.dir, Line: int64(l.Seq) + 1, Offset: l.Offset, Reason: err.Error()}
	}
	switch e := rec.Event.(type) {
	case event.SampleCompleted, event.SampleRedFlagged: // what samples said is not needed again
	case event.Carrier:
		rec.Event, err = e.WithValues(func(v event.Value) (event.Value, error) { return runlog.Load(p.dir, v) })
		if err != nil {
			return err
		}
	}
	p.take(rec)
	if l.Type == event.TypeStepCompleted {
		p.lastStep = append(p.lastStep[:0], l.Raw...)
	}
	p.last = append(p.last[:0], l.Raw...)
	return nil
}

// take learns from an event.
func (p *Past) take(rec event.Record) {
	switch e := rec.Event.(type) {
	case event.BudgetClaimed:
		p.claim = e
		return // it says nothing about how the session stands
	case event.StepFailed:
		p.Spent = e.Spent
		p.failed = append(p.failed, e)
		return
	case event.BudgetExhausted:
		p.Spent = e.Spent
		return
	case event.RunCancelled:
		p.Spent = e.Spent
		return
	case event.TaskFailed:
		p.Spent, p.End, p.claim = e.Spent, e, event.BudgetClaimed{}
		if n := len(p.sessions); n > 0 && e.Simulated {
			p.sessions[n-1].Simulated = true // as its answers showed
		}
		for question := range p.open {
			delete(p.verdicts, question)
		}
		clear(p.open)
		p.failed = nil
		return
	case event.TaskCompleted:
		p.Spent, p.End, p.claim = e.Spent, e, event.BudgetClaimed{}
		return
	}
	// The orchestrator went on after what failed.
	for _, e := range p.failed {
		p.emitted.add(e)
	}
	p.End, p.failed = nil, nil
	switch e := rec.Event.(type) {
	case event.TaskSubmitted:
		p.Submitted, p.Config, p.sessionStart = e, e.Config, rec.Time
		p.compact = p.compactKind(e.Kind)
		p.begin(0, e.Setup)
	case event.RunResumed:
		p.endSession()
		p.sessionStart = rec.Time
		p.begin(e.Step, e.Setup)
		if e.Config != nil {
			p.Config = e.Config
		}
		if e.Spent.Calls > 0 {
			p.Spent = e.Spent
		} else {
			p.hold()
		}
		p.claim = event.BudgetClaimed{}
	case event.VoteCompleted:
		if e.Status == string(flow.Decided) {
			// It was decided in the knowledge that the ones before it had no winner.
			p.close(e.Step)
		}
		p.verdicts[e.Question] = pastVerdict{rule: e.Rule, verdict: &flow.Verdict{
			Status: flow.Status(e.Status), Answer: e.Answer.JSON, Intent: e.Intent, Reason: e.Reason, Voting: e.Voting,
			Candidates: e.Candidates, CostUSD: e.CostUSD, DurationMS: e.DurationMS,
		}}
		if e.Status != string(flow.Decided) {
			p.open[e.Question] = e.Step
		}
		if e.Spent.Calls > 0 {
			p.Spent = e.Spent
		}
	case event.StepCompleted:
		p.Steps++
		p.Spent = e.Spent
		p.close(e.Step)
		p.emitted.add(e)
	case event.ValidationPassed:
		p.passed[[2]int{e.Replan, e.Attempt}] = true
		p.emitted.add(e)
	case event.ContextCompacted:
		p.close(e.Step)
		p.emitted.add(e)
	case event.ReplanRequested:
		for question := range p.open {
			p.finalise(question) // another plan stands on its failure
		}
		clear(p.open)
		p.emitted.add(e)
	case event.EffectClaimed, event.EffectDone, event.EffectRefused, event.EffectUnknown:
		p.takeEffect(e)
	case event.ClarificationRequested, event.ClarificationProvided:
		p.takeAnswer(e)
	case event.SampleCompleted:
		// A simulator behind HTTP says in its answers what it is.
		if n := len(p.sessions); n > 0 && strings.HasPrefix(e.Model, simulator) {
			p.sessions[n-1].Simulated = true
		}
	case event.SampleRedFlagged, event.SampleFaulted:
	default:
		p.emitted.add(e)
	}
}

// PlanPassed reports whether a plan passed its checks in an earlier session. What it
// was checked against may have changed since; what it led to has happened.
func (p *Past) PlanPassed(replan, attempt int) bool {
	return p != nil && p.passed[[2]int{replan, attempt}]
}

// close says that a step went on after its questions without a winner: asked again,
// they could lead elsewhere than to what has happened since.
func (p *Past) close(step int) {
	maps.DeleteFunc(p.open, func(question string, of int) bool {
		if of != step {
			return false
		}
		p.finalise(question)
		return true
	})
}

// finalise keeps a verdict whatever the rule is.
func (p *Past) finalise(question string) {
	v := p.verdicts[question]
	v.final = true
	p.verdicts[question] = v
}

// begin notes what a session is done with. One that got nowhere does not count.
func (p *Past) begin(step int, s event.Setup) {
	if s.Model == "" {
		return // from before this was logged
	}
	if n := len(p.sessions); n > 0 && p.sessions[n-1].Step == step {
		p.sessions = p.sessions[:n-1]
	}
	p.sessions = append(p.sessions, event.Session{Step: step, Model: s.Model, Rule: s.Rule, Simulated: s.Simulated})
}

// sessionsWith are the parts of the run that were done differently, the present
// one included; nil if all were done alike.
func (p *Past) sessionsWith(now event.Setup) []event.Session {
	all := Past{sessions: slices.Clone(p.sessions)}
	all.begin(p.Checkpoint.Step, now)
	parts := slices.CompactFunc(all.sessions, func(a, b event.Session) bool {
		return a.Model == b.Model && a.Rule == b.Rule && a.Simulated == b.Simulated
	})
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// endSession adds the time between the first and the last line of a session.
func (p *Past) endSession() {
	var h event.Header
	if json.Unmarshal(p.last, &h) == nil && h.Timestamp.After(p.sessionStart) {
		p.Duration += h.Timestamp.Sub(p.sessionStart)
	}
}

// Finish is called after the last line.
func (p *Past) Finish() error {
	p.endSession()
	if err := p.takeLastStep(); err != nil {
		return err
	}
	p.hold()
	return nil
}

// hold counts what the last session claimed and did not account for as spent:
// it may have been.
func (p *Past) hold() {
	s := &p.Spent
	if lost := p.claim.Calls - s.Calls; lost > 0 {
		s.Calls, s.Abandoned = p.claim.Calls, s.Abandoned+lost
	}
	if lost := p.claim.Tokens - s.Tokens.Total() - s.HeldTokens; lost > 0 {
		s.HeldTokens += lost
	}
	if lost := p.claim.USD - s.USD - s.HeldUSD; lost > 0 {
		s.HeldUSD += lost
	}
}

func (p *Past) takeLastStep() error {
	if p.lastStep == nil {
		return nil
	}
	rec, err := event.Decode(p.lastStep)
	if err != nil {
		return err
	}
	e := rec.Event.(event.StepCompleted)
	out, err := runlog.Load(p.dir, e.Output)
	if err != nil {
		return err
	}
	p.Checkpoint = chain.Checkpoint{Step: e.Step + 1, Output: out.JSON}
	if e.Spent.Calls > p.Spent.Calls {
		p.Spent = e.Spent
	}
	return nil
}

// emitted knows the events that earlier sessions appended, by content, so that
// an orchestrator that runs again does not append them twice. Orchestrators are
// deterministic: what they emit again is equal but for what the runtime stamps.
type emitted struct {
	mu   sync.Mutex
	left map[[16]byte]int
}

func newEmitted() *emitted { return &emitted{left: map[[16]byte]int{}} }

func (s *emitted) add(e event.Event) { s.left[contentOf(e, nil)]++ }

// take reports whether e was appended before, once for each time it was.
func (s *emitted) take(e event.Event, redact runlog.Redact) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 {
		return false
	}
	key := contentOf(e, redact)
	if s.left[key] == 0 {
		return false
	}
	s.left[key]--
	return true
}

// contentOf stands for an event as the log has it: redacted, and without what
// the runtime stamps on it.
func contentOf(e event.Event, redact runlog.Redact) [16]byte {
	switch s := e.(type) {
	case event.StepCompleted:
		s.Spent = usage.Spent{}
		e = s
	case event.StepFailed:
		s.Spent = usage.Spent{}
		e = s
	}
	data, err := json.Marshal(e)
	if err != nil {
		data = nil // not an event that the log could hold either
	}
	if redact != nil {
		data = redact(data)
	}
	sum := sha256.Sum256(append([]byte(e.Type()), data...))
	return [16]byte(sum[:])
}
