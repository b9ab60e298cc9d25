package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/vote"
)

// MaxDifferences is where an audit stops listing what is wrong.
const MaxDifferences = 20

// Chains finds the chain of a task family that this program knows; nil if it does not
// know it.
type Chains func(kind string, params json.RawMessage) domain.Chain

// An Audit holds a log against itself: that each vote was counted by the rule, that
// steps follow each other, and that nothing happened twice.
type Audit struct {
	Races int // votes that were counted again sample by sample

	chains Chains
	chain  domain.Chain
	begun  bool
	form   event.Form
	rule   vote.Rule // in force
	full   bool      // the log has all samples, of loops too
	steps  int       // committed so far
	output json.RawMessage

	policies map[int]event.PolicyChanged // by their numbers

	committed row            // steps, by number, unless they are those of a chain
	open      map[int]bool   // steps of a script in which something happened and that are not committed
	dropped   row            // steps that were open when the script was edited: it need not come to them again
	scopes    map[int]string // the key under which each of them happens, where the log has it and it matters still

	found []difference
}

// difference is something that does not fit.
type difference struct {
	text string

	// wrong says that a step is not what the family says it should be, which is no
	// difference if the log says so too.
	wrong bool
}

func newAudit(chains Chains) *Audit {
	return &Audit{chains: chains, scopes: map[int]string{}, open: map[int]bool{}}
}

// Differences are what does not fit, in the order of the log, at most
// [MaxDifferences].
func (a *Audit) Differences() []string {
	list := []string{}
	for _, d := range a.found[:min(len(a.found), MaxDifferences)] {
		list = append(list, d.text)
	}
	return list
}

func (a *Audit) differ(format string, args ...any) {
	a.note(difference{fmt.Sprintf(format, args...), false})
}

func (a *Audit) note(d difference) {
	const spare = 2 * MaxDifferences // some may turn out to be none
	if len(a.found) < spare {
		a.found = append(a.found, d)
	}
}

// stored checks the values that an event refers to. Those of steps are read anyway.
func (a *Audit) stored(dir string, rec event.Record) {
	if rec.Event.Type() == event.TypeStepCompleted {
		return
	}
	if _, err := event.WithValues(rec.Event, func(v event.Value) (event.Value, error) { return runlog.Load(dir, v) }); err != nil {
		a.differ("line %d (%s): %v", rec.Seq+1, rec.Event.Type(), err)
	}
}

// take holds an event against what h knows from those before it.
func (a *Audit) take(h *History, rec event.Record) error {
	a.stored(h.dir, rec)
	a.happened(rec.Event)
	switch e := rec.Event.(type) {
	case event.TaskSubmitted:
		if a.begun {
			a.differ("event %d submits a task, but the run has one", rec.Seq)
			return nil
		}
		a.begun, a.form = true, e.Form
		if a.chains != nil && e.Form == event.FormChain {
			a.chain = a.chains(e.Kind, e.Params)
		}
		return a.configured(e.Config)
	case event.RunResumed:
		if e.Params != nil {
			a.edited()
		}
		if e.Config != nil {
			return a.configured(e.Config)
		}
	case event.VoteResumed:
		a.resumed(h, e)
	case event.FramingRetired:
		a.retired(h, e)
	case event.PolicyChanged:
		a.policy(e)
	case event.VoteCompleted:
		a.under(e.Step, e.Scope, "voted on")
		a.decided(h, e)
	case event.StepStarted:
		a.under(e.Step, scopeOf(rec.Key, "/started"), "started")
	case event.StepFailed:
		a.under(e.Step, scopeOf(rec.Key, "/failed"), "failed")
	case event.StepCompleted:
		if a.under(e.Step, scopeOf(rec.Key, "/completed"), "committed"); e.Loop {
			a.turn(h, rec.Key, e.Step)
		}
		a.step(h, e)
	case event.TaskFailed:
		for _, v := range e.Open {
			a.left(h, v)
		}
	case event.EffectClaimed:
		a.acted(e)
		a.settled(e.Step, e.Effect, "claimed")
		if was := standing(h.Effects[e.Effect]); was == claimed && !e.Again || was == done || was == refused {
			a.differ("the effect %s is claimed after it was %s", e.Effect, was)
		}
	case event.EffectDone:
		a.settled(e.Step, e.Effect, "done")
		if was := standing(h.Effects[e.Effect]); was != claimed {
			a.differ("the effect %s is done, but it was not claimed before (%s)", e.Effect, was)
		}
	case event.EffectRefused:
		if was := standing(h.Effects[e.Effect]); was != "" && was != released {
			a.differ("the effect %s is refused after it was %s", e.Effect, was)
		}
	}
	return nil
}

// configured takes the rule that is in force from here on.
func (a *Audit) configured(raw json.RawMessage) error {
	c, err := readConfig(raw)
	if err == nil {
		err = c.Voting.Validate()
	}
	if err != nil {
		return fmt.Errorf("the rule in the log: %w", err)
	}
	a.rule, a.full = c.Voting, c.FullLog
	return nil
}

// How an effect stands.
const (
	claimed  = "claimed"
	released = "released"
	done     = "done"
	refused  = "refused"
)

// standing is how an effect stands; empty if nobody has heard of it.
func standing(s effect.State) string {
	switch {
	case s.Result != nil && s.Claims == 0:
		return refused
	case s.Result != nil:
		return done
	case s.Claims > 0:
		return claimed
	case s.Intent.Tool != "":
		return released
	}
	return ""
}

// settled reports an effect of a step that is over.
func (a *Audit) settled(step int, key, what string) {
	if a.committed.has(step) {
		a.differ("the effect %s is %s after step %d was committed", key, what, step)
	}
}

// scopeOf is the key of a step by that of one of its events; empty if it does not tell.
func scopeOf(key, suffix string) string {
	scope, ok := strings.CutSuffix(key, suffix)
	if !ok {
		return ""
	}
	return scope
}

// under notes that something about a step happened under the key of a step: it has
// only one. Early logs do not have it. Nothing happens in a step of a script after it was
// committed, so that the keys of a million of them are not kept.
func (a *Audit) under(step int, scope, what string) {
	if scope == "" || a.form.Alone() {
		return
	}
	if a.form == event.FormScript && a.committed.has(step) {
		if what != "committed" { // which is said anyway
			a.differ("step %d is %s under %s after it was committed", step, what, scope)
		}
		return
	}
	if was, ok := a.scopes[step]; ok && was != scope {
		a.differ("step %d happens under two keys: it is %s, and it was %s under %s", step, was, what, scope)
		return
	}
	a.scopes[step] = scope
}

// stepKey matches the key of a step at the beginning of that of one of its effects.
// Those of steps that run at once begin with their branch instead.
var stepKey = regexp.MustCompile(`^(plan/[0-9.]+/step/\d+(/visit/\d+)?|task/\d+)/`)

// acted notes under which key a step acts. A claim that does not say so is judged by
// its own key, if that tells, and if the key of the step is known.
func (a *Audit) acted(e event.EffectClaimed) {
	scope := e.Scope
	if was := a.scopes[e.Step]; scope == "" && stepKey.MatchString(was+"/") {
		scope = strings.TrimSuffix(stepKey.FindString(e.Effect), "/")
	}
	a.under(e.Step, scope, "acted on")
}

// again reports a key under which the log holds two events.
func (a *Audit) again(key string, was, is event.Type) {
	a.differ("the key %s is that of two events: %s and %s", key, was, is)
}

// resumed holds the samples with which a vote goes on against those there are.
func (a *Audit) resumed(h *History, e event.VoteResumed) {
	known := map[int]bool{}
	if v := h.Votes[e.Question]; v != nil {
		for _, s := range v.Samples {
			known[numberOf(s)] = true
		}
	}
	for _, n := range e.Samples {
		if !known[n] {
			a.differ("step %d: the vote goes on with sample %d, which is not in the log or counted already", e.Step, n)
		}
		known[n] = false
	}
}

// retired holds the end of a framing against the votes before it.
func (a *Audit) retired(h *History, e event.FramingRetired) {
	due, ok := h.Framings.page(e.Class, e.Voter).worse()
	due.Class, due.Voter = e.Class, e.Voter
	if !ok || due != e {
		a.differ("framing %d of %q is retired for %s, but the votes do not show that it is clearly worse than the others", e.Framing, e.Class, e.Voter)
	}
}

// policy takes margins that are in force from here on. Votes are counted again by the
// margins that the log has: what they follow from is not looked at.
func (a *Audit) policy(e event.PolicyChanged) {
	switch {
	case e.Policy != len(a.policies)+1:
		a.differ("policy %d comes where policy %d belongs", e.Policy, len(a.policies)+1)
	case len(e.Margins) == 0 || e.Margins[0] < 1 || !slices.IsSorted(e.Margins):
		a.differ("policy %d has the margins %v, which no policy has", e.Policy, e.Margins)
		return
	}
	if a.policies == nil {
		a.policies = map[int]event.PolicyChanged{}
	}
	a.policies[e.Policy] = e
}

// margins are those by which a question was decided, nil if its rule is not adaptive.
func (a *Audit) margins(step int, rule vote.Rule, policy int) (margins []int, ok bool) {
	if rule.Strategy != vote.Adaptive {
		return nil, true
	}
	if margins = a.policies[policy].Margins; margins == nil || rule.MaxSamples < 1 {
		a.differ("step %d was decided by policy %d, which the log does not have", step, policy)
		return nil, false
	}
	return margins, true
}

// decided holds a verdict against the samples before it.
func (a *Audit) decided(h *History, e event.VoteCompleted) {
	rule, chain := a.rule, a.form == event.FormChain
	if (!chain || IsJudgement(e.Question)) && e.Rule.Validate() == nil {
		rule = e.Rule
	}
	if was, ok := h.Verdicts[e.Question]; ok && !chain && was.Status == flow.Decided {
		a.differ("step %d: the question %s is decided twice", e.Step, e.Question)
	}
	margins, ok := a.margins(e.Step, rule, e.Voting.Policy)
	if !ok {
		return
	}
	var giveUp []vote.Leads
	if e.Second {
		giveUp = a.policies[e.Voting.Policy].GiveUp
	}
	samples := h.vote(e.Question).Samples
	if a.leftOut(h, e) {
		samples = agreeing(e.Voting)
	} else {
		a.Races++
	}
	tally, late := recount(rule, margins, giveUp, samples)
	votes := map[string]int{}
	for _, c := range tally.Counts() {
		votes[c.Key] = c.Votes
	}
	d := tally.Decision()
	won := d.Outcome == vote.Won && (len(e.Leads) == 0 || slices.Contains(e.Leads, d.Key))
	switch {
	case !maps.Equal(votes, e.Voting.Votes) || tally.Flags() != e.Voting.RedFlagged:
		a.differ("step %d: the samples give the votes %v and %d red flags, the verdict says %v and %d",
			e.Step, votes, tally.Flags(), e.Voting.Votes, e.Voting.RedFlagged)
	case rule.Strategy == vote.Own: // which only the program that ran it knows
	case won != (e.Status == string(flow.Decided)):
		a.differ("step %d: the verdict is %s, the rule says otherwise (margin %d)", e.Step, e.Status, tally.Margin())
	case late:
		a.differ("step %d: samples were counted after the decision", e.Step)
	case e.Status == string(flow.FlaggedOut) && e.Rule.Validate() == nil && !gaveUpRightly(tally):
		a.differ("step %d: the question was given up after %d red flags and %d votes, which is too early", e.Step, tally.Flags(), tally.Votes())
	}
	if s := h.report.Solve; s != nil && s.Calibrated != nil && !IsCalibration(e.Question) && e.Rule.K != s.Calibrated.K {
		a.differ("step %d: the margin of the vote is %d, calibration gave %d", e.Step, e.Rule.K, s.Calibrated.K)
	}
}

// IsJudgement reports whether a question was whether two answers to another one say the
// same.
func IsJudgement(question string) bool { return strings.Contains(question, "/same/") }

// left holds a vote that was left open against the samples before it.
func (a *Audit) left(h *History, e event.OpenVote) {
	votes, flags := map[string]int{}, 0
	if v := h.Votes[e.Question]; v != nil {
		for _, s := range v.Samples {
			if voted, ok := s.(event.SampleCompleted); ok {
				votes[voted.Vote]++
			} else {
				flags++
			}
		}
	}
	if !maps.Equal(votes, e.Voting.Votes) || flags != e.Voting.RedFlagged {
		a.differ("step %d: the samples give the votes %v and %d red flags, the open vote says %v and %d",
			e.Step, votes, flags, e.Voting.Votes, e.Voting.RedFlagged)
	}
}

// gaveUpRightly reports whether a question without a vote had had its samples.
func gaveUpRightly(t *vote.Tally) bool {
	return t.Votes() == 0 && (t.Decision().Outcome == vote.Stuck || t.Flags() >= flow.Hopeless)
}

// recount holds a race again; late says that samples came after the decision.
func recount(rule vote.Rule, margins []int, giveUp []vote.Leads, samples []event.Event) (tally *vote.Tally, late bool) {
	tally = vote.NewTally(rule, margins...)
	tally.GiveUpAt(giveUp)
	for _, s := range samples {
		late = late || tally.Decision().Outcome == vote.Won
		if voted, ok := s.(event.SampleCompleted); ok {
			tally.Vote(voted.Vote)
		} else {
			tally.Flag()
		}
	}
	return tally, late
}

// step holds a committed step against the rule, the steps before it and the family.
func (a *Audit) step(h *History, e event.StepCompleted) {
	if a.form.Apart() {
		if status, _ := h.Records.Ended(e.Step); status == flow.Decided {
			a.differ("step %d is committed twice", e.Step)
		}
	} else if a.form == event.FormPlan || a.form == event.FormTasks || a.form == event.FormScript { // in any order
		if !a.committed.add(e.Step) {
			a.differ("step %d is committed twice", e.Step)
		}
		if a.form == event.FormScript {
			delete(a.scopes, e.Step)
			delete(a.open, e.Step)
		}
	} else if e.Step != a.steps {
		a.differ("step %d is committed where step %d belongs", e.Step, a.steps)
	}
	a.steps++
	output, err := runlog.Load(h.dir, e.Output)
	if err != nil {
		a.differ("step %d: %v", e.Step, err)
	}
	rule := a.rule
	if e.Rule != nil && a.form == event.FormRequests {
		rule = *e.Rule
	}
	if a.form.Apart() && rule.Strategy == vote.FirstToK && e.Voting.Margin < rule.K {
		a.differ("step %d was committed with a margin of %d, the rule asks for %d", e.Step, e.Voting.Margin, rule.K)
	}
	if a.form != event.FormChain {
		return // its moves were counted one by one
	}
	if votes, margin := addUp(e.Voting.Votes); margin != e.Voting.Margin || votes+e.Voting.RedFlagged != e.Voting.Samples {
		a.differ("step %d: the votes %v and %d red flags do not give %d samples and a margin of %d",
			e.Step, e.Voting.Votes, e.Voting.RedFlagged, e.Voting.Samples, e.Voting.Margin)
	} else if a.rule.Strategy == vote.FirstToK && (margin < a.rule.K || margin > max(a.rule.K, a.rule.MinVotes)) {
		a.differ("step %d was committed with a margin of %d, the rule asks for %d", e.Step, margin, a.rule.K)
	} else if margins, ok := a.margins(e.Step, a.rule, e.Voting.Policy); ok && margins != nil {
		if need := margins[min(certificate.CellOf(e.Voting.Votes).Second, len(margins)-1)]; margin < need {
			a.differ("step %d was committed with a margin of %d, policy %d asks for %d", e.Step, margin, e.Voting.Policy, need)
		}
	}
	a.output = output.JSON
	if a.chain != nil {
		if err := a.chain.Check(e.Step, output.JSON); err != nil {
			a.note(difference{err.Error(), true})
		}
	}
}

// addUp is how many votes there are, and by how many the first leads.
func addUp(votes map[string]int) (total, margin int) {
	top, second := 0, 0
	for _, n := range votes {
		total += n
		if n > top {
			top, second = n, top
		} else {
			second = max(second, n)
		}
	}
	return total, top - second
}

// finish checks that a task that calls itself completed is.
func (a *Audit) finish(r *Report) {
	if r.Wrong {
		a.found = slices.DeleteFunc(a.found, func(d difference) bool { return d.wrong })
	}
	if r.Status == event.StatusCompleted && a.form == event.FormScript {
		a.complete()
	}
	if r.Status != event.StatusCompleted || !a.form.Alone() {
		return
	}
	if r.Total != 0 && a.steps != r.Total {
		a.differ("the run is completed with %d of %d steps", a.steps, r.Total)
	}
	if a.chain != nil {
		if err := a.chain.Finish(a.output); err != nil {
			a.differ("%v", err)
		}
	}
}
