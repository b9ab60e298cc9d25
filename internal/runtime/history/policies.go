package history

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// Policies are the margins of an adaptive rule. What they are follows from the events that
// they were told, in their order: so a resume goes on as the run would have.
type Policies struct {
	policy  *adaptive.Policy // nil if nothing is decided by an adaptive rule
	partial bool             // some steps were decided by another rule
	futile  bool             // it was said

	// due is what follows from the log and is not in it: that of a session which was killed
	// in between.
	due []event.Event
}

// A Length is how long a run will be, as far as that is known: so many questions will be
// put to voters, or at least it has so many steps.
type Length struct {
	Races, Steps int
	Records      bool // that end in another order than they begin
}

// lengthOf is how long a run will be, as its log says.
func lengthOf(e event.TaskSubmitted) Length {
	records := e.Form.Apart()
	if e.ByStep() {
		return Length{Races: e.Steps, Records: records}
	}
	return Length{e.Races, e.Steps, records}
}

// Options are those of an adaptive rule in a run of the length. A step takes a question or
// two, unless it uses tools.
func (l Length) Options(rule vote.Rule, warm map[string]adaptive.Learnt) adaptive.Options {
	o := adaptive.Options{Target: rule.Target, Steps: l.Races, MaxSamples: rule.MaxSamples, Unordered: l.Records, Warm: warm}
	if l.Races == 0 {
		o.Estimate = 2 * l.Steps
	}
	return o
}

// Adapting is the rule whose margins adapt in a run, given that of the run: each request of a
// session may have a rule of its own, but all that adapt share the target of the session.
func Adapting(form event.Form, own vote.Rule, target float64) vote.Rule {
	if form == event.FormRequests && own.Strategy != vote.Adaptive {
		return vote.Rule{Strategy: vote.Adaptive, Target: cmp.Or(target, adaptive.DefaultTarget)}
	}
	return own
}

// Configure takes the rule that is in force from here on.
func (p *Policies) Configure(o adaptive.Options, rule vote.Rule) {
	switch {
	case rule.Strategy != vote.Adaptive || rule.Validate() != nil:
		p.policy = nil
	case p.policy == nil:
		p.policy = adaptive.New(o)
	default:
		p.due = append(p.due, p.changed(p.policy.Adjust(o))...)
	}
}

// changed makes events of changes.
func (p *Policies) changed(changes []adaptive.Change) []event.Event {
	var list []event.Event
	for _, c := range changes {
		list = append(list, event.PolicyChanged{Change: c, Outlook: p.policy.Outlook()})
	}
	return list
}

// Now is the policy of a class. One that is new begins with an event.
func (p *Policies) Now(class string) (now adaptive.Change, begins []event.Event) {
	if p.policy == nil {
		return now, nil
	}
	now, ok := p.policy.Now(class)
	if !ok {
		now = p.policy.Start(class)
		begins = p.changed([]adaptive.Change{now})
	}
	return now, begins
}

// CountStep takes in the votes of a committed step, whose class is this one unless it names
// another, and returns what follows. Where others settled it, its own voters were undecided
// before.
func (p *Policies) CountStep(class string, e *event.StepCompleted) []event.Event {
	var list []event.Event
	p.partial = p.partial || e.Voting.Strategy != vote.Adaptive
	if e.First != nil {
		list = p.Count(cmp.Or(e.Class, class), *e.First, false)
	}
	return append(list, p.Count(stepClass(class, e), e.Voting, true)...)
}

// stepClass is the class of the vote that decided a step of a chain.
func stepClass(class string, e *event.StepCompleted) string {
	return adaptive.ClassOf(cmp.Or(e.Class, class), e.Pool)
}

// Count takes in how a race ended and returns what follows.
func (p *Policies) Count(class string, v event.Voting, decided bool) []event.Event {
	return p.count(class, certificate.CellOf(v.Votes), decided, v.Strategy, v.Disputed)
}

func (p *Policies) count(class string, c adaptive.Cell, decided bool, by vote.Strategy, disputed int) []event.Event {
	if p.policy == nil || by != vote.Adaptive || c.Lead == 0 {
		return nil
	}
	if _, ok := p.policy.Now(class); !ok {
		return nil // a log of ours has its beginning
	}
	p.policy.Disputed(class, disputed)
	list := p.changed(p.policy.Count(class, c, decided))
	if f := p.policy.Futile(); f != nil && !p.futile {
		p.futile = true
		list = append(list, event.PolicyFutile{Futility: *f})
	}
	return list
}

// Due is what follows from the log and is not in it.
func (p *Policies) Due() []event.Event { return p.due }

// Futile is why more votes will not make the run right, nil if they may.
func (p *Policies) Futile() *adaptive.Futility {
	if p.policy == nil {
		return nil
	}
	return p.policy.Futile()
}

// Outlook is how the run stands, if all of its steps were decided by an adaptive rule.
func (p *Policies) Outlook() (adaptive.Outlook, bool) {
	if p.policy == nil || p.partial {
		return adaptive.Outlook{}, false
	}
	return p.policy.Outlook(), true
}

// logged takes an event that the log has.
func (p *Policies) logged(e event.Event) {
	changed, isChange := e.(event.PolicyChanged)
	if p.policy == nil {
		return
	}
	if isChange && changed.Why == adaptive.WhyStart {
		p.Now(changed.Class)
		return
	}
	p.due = slices.DeleteFunc(p.due, func(d event.Event) bool {
		due, ok := d.(event.PolicyChanged)
		return ok == isChange && (!ok || due.Policy == changed.Policy)
	})
}

// configurePolicies takes the rule of a session.
func (h *History) configurePolicies() {
	c, err := readConfig(h.Config)
	if err != nil {
		return // whoever reads the rest says so
	}
	rule := Adapting(h.Submitted.Form, c.Voting, c.TargetError)
	o := lengthOf(h.Submitted).Options(rule, c.Warm)
	o.Pool, o.Price = c.Solve.ModelEscalation, c.Solve.EscalationPrice
	h.Policies.Configure(o, rule)
}

// countPolicies counts what an event says about how hard questions are.
func (h *History) countPolicies(e event.Event) {
	switch e := e.(type) {
	case event.PolicyChanged, event.PolicyFutile:
		h.Policies.logged(e)
	case event.StepCompleted:
		if h.Submitted.ByStep() {
			h.follows(h.Policies.CountStep(h.Submitted.StepClass(), &e))
		}
	case event.StepFailed:
		if h.records && h.Submitted.ByStep() {
			h.follows(h.Policies.Count(adaptive.ClassOf(h.Submitted.StepClass(), e.Pool), e.Voting, false))
		}
	case event.VoteCompleted:
		if !h.Submitted.ByStep() {
			h.follows(h.Policies.Count(adaptive.ClassOf(e.Class, e.Pool), e.Voting, e.Status == string(flow.Decided)))
		}
	}
}

func (h *History) follows(due []event.Event) { h.Policies.due = append(h.Policies.due, due...) }

// countStep counts a step of a chain by its line. Most steps are unanimous, and tell how
// many votes they have without being decoded.
func (h *History) countStep(l runlog.Line) error {
	if h.Policies.policy == nil {
		return nil
	}
	if !bytes.Contains(l.Raw, []byte(`"strategy":"adaptive"`)) { // as most requests of a session
		h.Policies.partial = true
		return nil
	}
	if votes, disputed, ok := unanimous(l.Raw); ok && !special(l.Raw) {
		h.follows(h.Policies.count(h.Submitted.StepClass(), adaptive.Cell{Lead: votes}, true, vote.Adaptive, disputed))
		return nil
	}
	rec, err := l.Decode()
	if err != nil {
		return h.damaged(l, err.Error())
	}
	h.countPolicies(rec.Event)
	return nil
}

// special reports whether a committed step may be of a class of its own, or settled by
// others than its own voters.
func special(line []byte) bool {
	return bytes.Contains(line, []byte(`,"class":`)) || bytes.Contains(line, []byte(`,"pool":`)) || bytes.Contains(line, []byte(`,"first":`))
}

// unanimous reads how many votes a committed step has that were all for one answer, by an
// adaptive rule, and how many others were disputed. A quote inside of a text is escaped, and what
// comes after the voting has no texts, so the last place that looks like the beginning of
// the voting is it.
func unanimous(line []byte) (votes, disputed int, ok bool) {
	const begin = `,"voting":{"strategy":"adaptive","samples":`
	i := bytes.LastIndex(line, []byte(begin))
	if i < 0 {
		return 0, 0, false
	}
	rest := line[i+len(begin):]
	samples, rest, ok1 := number(rest, `,"red_flagged":`)
	flagged, rest, ok2 := number(rest, `,"faults":`)
	lead, ok3 := field(rest, `,"margin":`)
	const over = `,"disputed":` // it is not there if there are none; models may be called so
	disputed, _ = field(rest[max(0, bytes.LastIndex(rest, []byte(over))):], over)
	return lead, disputed, ok1 && ok2 && ok3 && lead > 0 && lead == samples-flagged
}

// field reads the number of a field.
func field(text []byte, name string) (n int, ok bool) {
	i := bytes.Index(text, []byte(name))
	if i < 0 {
		return 0, false
	}
	text = text[i+len(name):]
	n, err := strconv.Atoi(string(text[:max(0, bytes.IndexAny(text, ",}"))]))
	return n, err == nil
}

// number reads a number up to what follows it.
func number(text []byte, follows string) (n int, rest []byte, ok bool) {
	i := bytes.Index(text, []byte(follows))
	if i < 0 {
		return 0, nil, false
	}
	n, err := strconv.Atoi(string(text[:i]))
	return n, text[i+len(follows):], err == nil
}
