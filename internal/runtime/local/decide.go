package local

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// Decide implements flow.Flow.
func (b *branch) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if b.line != nil {
		b.line.Unlock()
		defer b.line.Lock()
	}
	if b.opts.Width != nil {
		b.pass = &pass{width: b.opts.Width, need: func() int { return b.need(q) }, first: q.Confirm != nil}
		if err := b.gate.enter(b.ctx, b.pass); err != nil {
			return nil, err
		}
		defer b.gate.leave(b.pass)
	}
	return b.decide(key, q)
}

func (b *branch) decide(key string, q *flow.Question) (*flow.Verdict, error) {
	unbranched := key
	key, err := b.fullKey(byDecide, key)
	if err != nil {
		return nil, err
	}
	if v, ok := b.past.Verdicts[key]; ok && (!b.opts.Checkpoints || v.Stands || v.Rule == q.Rule) {
		// What was decided may have been acted upon: another rule, or another question,
		// is for what is still to be decided.
		b.progress.Known.Add(1)
		return v.Verdict, b.compare(key, q, v)
	}
	if err := pause(b.ctx, time.Duration(q.DelayMS)*time.Millisecond); err != nil {
		return nil, err
	}
	policy := b.margins(q)
	var v *flow.Verdict
	d, err := b.guessed(key, q, policy)
	if d != nil {
		v = d.verdict
	} else {
		d = b.begin(key, q)
		d.policy = policy
		v, err = d.vote(unbranched)
	}
	defer b.end(d)
	if err != nil {
		d.stage.clear()
		d.logHeld() // they are paid for: a resume counts them
		return nil, err
	}
	if v.Status == flow.Decided && b.line != nil {
		b.line.ahead = d.stage.take()
	} else {
		d.stage.clear()
	}
	b.progress.Decided.Add(1)
	b.extra.use(v.Voting.Samples)
	v.Voting.Policy, v.Voting.Disputed = d.policy.Policy, b.settled(d, v.Status == flow.Decided)
	if v.Status == flow.FlaggedOut {
		v.Said = d.said
	}
	if v.Voting.Contested() {
		b.progress.Contested.Add(1)
		b.Runtime.watch.contested(key, q.Step, v)
	}
	if !b.compact() || d.spilled || v.Status != flow.Decided || v.Voting.Contested() || d.resumed || q.Confirm != nil {
		d.logHeld()
	} else if b.opts.Checkpoints {
		b.lent = d.watch.Room // nobody else knows the verdict
		return v, nil
	}
	var asked map[string]string
	if !b.opts.Checkpoints && !b.loops { // these go on after their verdicts
		asked = partsOf(q)
	}
	e := event.VoteCompleted{
		Question: key, Class: q.Class, Pool: q.Model, Step: q.Step, Scope: q.Scope, Status: string(v.Status), Answer: event.JSONValue(v.Answer),
		Intent: v.Intent, Repaired: v.Repaired,
		Reason: v.Reason, Voting: v.Voting, CostUSD: v.CostUSD, DurationMS: v.DurationMS,
		Rule: q.Rule, Spent: b.opts.Ledger.Spent(), Asked: asked, Said: v.Said, Second: q.Second,
	}
	if q.Confirm != nil {
		e.Leads = q.Confirm.Leads
	}
	if b.byStep() || !teaches(&v.Voting) { // its votes count when the step is committed, or say nothing further
		b.failed.set(b.opts.Log.AppendVote(&e))
	} else {
		b.appendVoted("", e, voted{class: q.Class, policy: b.policyClass(q), voting: v.Voting, decided: v.Status == flow.Decided})
	}
	return v, b.failed.get()
}

// compact reports whether samples on which all agree are left out of the log.
func (b *branch) compact() bool { return b.opts.Compact && (b.opts.Checkpoints || b.loops) }

// vote has the question of a decision voted on.
func (d *decision) vote(unbranched string) (*flow.Verdict, error) {
	watch := d.watch
	if open := d.past.Votes[d.key]; open != nil {
		d.resumed = true
		watch.Earlier, watch.EarlierFaults = earlier(open), open.Faults
		watch.Resumed = func(counted []int) {
			_ = d.append(event.VoteResumed{Question: d.key, Step: d.q.Step, Samples: counted}) // it is remembered
		}
	}
	if d.q.Meaning != nil && d.opts.Same != nil {
		watch.Judge = func(first, other string) (bool, *flow.Verdict, error) { return d.judge(unbranched, d.q, first, other) }
	}
	return d.opts.Ballot.DecideBy(d.ctx, d.q, d.policy.Margins, d.policy.GiveUp, watch)
}

// A decision is a question that a branch is deciding, with what is told of it on the way.
type decision struct {
	*branch
	key     string
	q       *flow.Question
	policy  adaptive.Change // by which it is decided
	held    []ballot.Sample // until it is known whether they belong in the log
	shown   *openQuestion   // to whoever watches; nil if nobody does
	counted bool            // as one that is being decided
	spilled bool            // into the log: there were too many to hold
	resumed bool            // an earlier session took some of its samples
	led     string          // the key of the first vote
	split   bool            // there is a vote for another answer
	said    string          // the last discarded answer
	watch   ballot.Watch
	stage   stage
	ahead   bool          // it was begun as a guess
	verdict *flow.Verdict // of one
}

// begin returns a decision for a question. A branch decides one at a time, but for
// judgements on the way, so that it mostly uses the same one again.
func (b *branch) begin(key string, q *flow.Question) *decision {
	d := b.idle
	if b.idle = nil; d == nil {
		d = newDecision(b)
	}
	d.branch = b // which may be the next turn of a loop
	d.key, d.q, d.held, d.spilled, d.said, d.led, d.split = key, q, d.held[:0], false, "", "", false
	d.resumed = false
	d.shown, d.watch.Gauge, d.counted = b.Runtime.watch.begin(key, q.Step)
	if d.watch.Room, b.room = b.room, nil; d.watch.Room == nil && b.opts.Checkpoints && b.opts.Compact {
		d.watch.Room = new(ballot.Room)
	}
	d.stage.over, d.stage.answer = false, domain.Answer{}
	d.stage.lead.Store(0)
	return d
}

func newDecision(b *branch) *decision {
	d := &decision{branch: b}
	d.watch = ballot.Watch{
		Sample:  d.sampled,
		Retired: func(voter string) []int { return d.retired(d.class(d.q), voter) },
		Stopped: func(s ballot.Standing) { d.leftOpen(d.key, d.q.Step, s) },
		Waits:   func() { d.gate.leave(d.pass) },
	}
	if b.opts.Extra > 0 {
		d.watch.Hedge = &ballot.Hedge{May: b.mayHedge, Wasted: b.waste}
	}
	if b.line != nil {
		d.watch.Leads = d.leads
	}
	return d
}

func (b *branch) end(d *decision) {
	b.Runtime.watch.end(d.shown, d.counted)
	if d.ahead {
		return // it is told of its samples in another way
	}
	d.q = nil
	clear(d.held)
	b.idle = d
}

// judge asks whether two answers to a question say the same. The judgement is logged like
// every verdict: a resume finds it there.
func (b *branch) judge(key string, q *flow.Question, first, other string) (bool, *flow.Verdict, error) {
	ask, err := b.opts.Same(first, other)
	if err != nil {
		return false, nil, err
	}
	ask.Step, ask.Scope = q.Step, q.Scope
	ask.Model = cmp.Or(q.Meaning.Model, ask.Model)
	v, err := b.decide(fmt.Sprintf("%s/same/%s-%s", key, sumOf(first), sumOf(other)), ask)
	if err != nil {
		return false, nil, err
	}
	return v.Status == flow.Decided && string(v.Answer) == SaysSame, v, nil
}

// SaysSame is the answer to the question whether two texts say the same, if they do.
const SaysSame = `"same"`

// leftOpen notes how a vote stands that the session ends without a verdict on.
func (r *Runtime) leftOpen(key string, step int, s ballot.Standing) {
	if s.Voting.Samples == 0 && s.Voting.Faults == 0 {
		return // nothing came of it
	}
	v := event.OpenVote{Question: key, Step: step, Voting: s.Voting}
	if s.Flag != nil {
		v.Flag, v.Reason = s.Flag.Name, s.Flag.Reason
	}
	if s.Fault != nil {
		v.Fault = s.Fault.Error()
	}
	r.openMu.Lock()
	defer r.openMu.Unlock()
	r.open = append(r.open, v)
}

// openVotes are those that the session ends without a verdict on, in the order of the
// steps.
func (r *Runtime) openVotes() []event.OpenVote {
	r.openMu.Lock()
	defer r.openMu.Unlock()
	slices.SortStableFunc(r.open, func(a, b event.OpenVote) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Question, b.Question))
	})
	return r.open[:min(len(r.open), event.MaxOpen)]
}

// sampled takes a sample that has arrived into the log, or holds it back.
func (d *decision) sampled(s *ballot.Sample) {
	s.Framing = cmp.Or(s.Framing, d.q.Framing)
	if faults := s.Faults(); len(faults) > 0 {
		d.progress.Faults.Add(int64(len(faults)))
	}
	d.shown.take(s)
	if s.Flag != nil || s.Err == nil && s.Response != nil {
		d.progress.Samples.Add(1)
	}
	d.gate.sampled(d.pass)
	d.dispute(s)
	if s.Flag != nil {
		d.progress.RedFlagged.Add(1)
		if s.Response != nil {
			d.said = clip.Text(ballot.Said(s.Response), maxSaid)
		}
	}
	if s.Response != nil && !d.simulated.Load() && strings.HasPrefix(s.Response.Model, history.Simulator) {
		d.simulated.Store(true)
	}
	if d.compact() && !d.spilled {
		if d.held = append(d.held, *s); len(d.held) < maxHeld && !d.worthKeeping() {
			return
		}
		d.spilled = true
		d.logHeld()
		return
	}
	d.logSample(d.key, d.q.Step, s)
}

// worthKeeping reports whether samples belong in the log before there is a verdict, so that a
// kill does not lose them: those of a contested vote get there anyway, and others if so much
// room is not to be spared.
func (d *decision) worthKeeping() bool {
	if !d.opts.Ballot.Dear() {
		return false
	}
	rule := d.q.Rule
	several := rule.Strategy == vote.Adaptive || rule.Strategy == vote.Own || rule.Least() > 1
	return d.split || d.opts.KeepSamples && several
}

// compare says in the log if a question that was decided would now be asked
// differently.
func (b *branch) compare(key string, q *flow.Question, v history.Verdict) error {
	if v.Asked == nil || b.past.Changed[key] {
		return nil
	}
	changed := ChangedParts(q, v.Asked)
	if len(changed) == 0 {
		return nil
	}
	return b.append(event.QuestionChanged{Question: key, Step: q.Step, Changed: changed})
}

// ChangedParts names what of a question is not as it was asked, by the hashes of its parts.
func ChangedParts(q *flow.Question, asked map[string]string) []string {
	var changed []string
	now := partsOf(q)
	all := maps.Clone(asked)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if asked[name] != now[name] {
			changed = append(changed, name)
		}
	}
	return changed
}

// partsOf are hashes of what a question consists of, but for its rule, which the
// verdict has in full, and for what only bounds how long it takes. A part that is not
// there has none.
func partsOf(q *flow.Question) map[string]string {
	parts := map[string]string{
		"prompt":   sumOf(q.System, q.Prompt, q.Variants, q.Images),
		"answer":   sumOf(q.Answer, q.Structured, q.Schema),
		"sampling": sumOf(q.FirstTemperature, q.Temperature, q.MaxOutput, q.Flags),
	}
	if q.Model != "" {
		parts["model"] = sumOf(q.Model)
	}
	if w := q.Work; w != nil {
		parts["tools"] = sumOf(w.Tools, w.Repair)
		parts["calls"] = sumOf(w.Done)
	}
	return parts
}

func sumOf(parts ...any) string {
	data, err := json.Marshal(parts)
	if err != nil {
		return "" // a question is plain data
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// pause waits, unless the run ends.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// maxSaid is how much of a discarded answer a verdict has.
const maxSaid = 200

// maxHeld bounds the samples that wait for a verdict. A question with more is
// logged in full, whatever comes of it.
const maxHeld = 1000

// logHeld appends the samples that were held back.
func (d *decision) logHeld() {
	for i := range d.held {
		d.logSample(d.key, d.q.Step, &d.held[i])
	}
	d.held = d.held[:0]
}

func (b *branch) logSample(key string, step int, s *ballot.Sample) {
	for _, f := range s.Faults() {
		_ = b.append(event.SampleFaulted{
			Question: key, Step: step, Sample: s.N,
			Kind: string(f.Kind), Status: f.Status, Message: f.Error(),
		})
	}
	if s.Response == nil && s.Flag == nil {
		return // nothing but faults
	}
	common := event.Sample{
		Question: key, Step: step, Sample: s.N, Model: s.Voter,
		Temperature: s.Temperature, DurationMS: s.Duration.Milliseconds(), Framing: s.Framing,
	}
	text := ""
	if r := s.Response; r != nil {
		common.Tokens, common.CostUSD, text = r.Usage, r.CostUSD, ballot.Said(r)
		if r.Model != "" && r.Model != s.Voter {
			common.Model, common.Voter = r.Model, s.Voter
		}
	}
	read := event.Value{}
	if w := s.Work; w != nil {
		common.ToolCalls, common.Repaired, common.Intent = w.Calls, w.Repaired, w.Intent
		if w.Repaired {
			read = event.JSONValue(w.Output)
		}
	}
	if s.Flag != nil {
		_ = b.append(event.SampleRedFlagged{Sample: common, Flag: s.Flag.Name, Reason: s.Flag.Reason, Text: event.TextValue(text)})
		return
	}
	_ = b.append(event.SampleCompleted{Sample: common, Vote: vote.ShortKey(s.Answer.Key), Text: event.TextValue(text), Read: read})
}

// earlier are the samples of a vote that an earlier session left open. One that had a
// key of ours in it is not what it was, and does not count.
func earlier(open *history.Vote) []ballot.Earlier {
	var list []ballot.Earlier
	for _, e := range open.Samples {
		switch e := e.(type) {
		case event.SampleCompleted:
			if bytes.Contains(e.Text.JSON, []byte(secret.Redacted)) {
				continue
			}
			list = append(list, ballot.Earlier{
				N: e.Sample.Sample, Voter: cmp.Or(e.Voter, e.Model), Framing: e.Framing, Text: e.Text.Text(), Read: e.Read.JSON, Intent: e.Intent, Vote: e.Vote,
				Tokens: e.Tokens, CostUSD: e.CostUSD,
			})
		case event.SampleRedFlagged:
			list = append(list, ballot.Earlier{
				N: e.Sample.Sample, Voter: cmp.Or(e.Voter, e.Model), Framing: e.Framing, Text: e.Text.Text(), Flag: redflag.New(e.Flag, "%s", e.Reason),
				Tokens: e.Tokens, CostUSD: e.CostUSD,
			})
		}
	}
	return list
}
