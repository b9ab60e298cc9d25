// Package local is the runtime on this machine: goroutines and a run log.
//
// It implements flow.Flow by journalling. A verdict is appended to the log
// under its key; after a restart the orchestrator runs again from its start (or
// from a checkpoint), gets the recorded verdicts back, and goes on where they
// end.
package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/approval"
	"github.com/maker-mdap/maker/internal/ballot"
	"github.com/maker-mdap/maker/internal/budget"
	"github.com/maker-mdap/maker/internal/person"
	"github.com/maker-mdap/maker/internal/runlog"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// Options configure a Runtime.
type Options struct {
	Log    *runlog.Log
	Ballot *ballot.Ballot
	Ledger *budget.Ledger

	// Setup is stamped on the events that end a session.
	Setup event.Setup

	// Checkpoints says that the orchestrator resumes from its last committed step,
	// each of which carries its own verdict, and numbers its questions by step.
	// Others run again from their start, so their keys must be unique.
	Checkpoints bool

	// Compact keeps only contested verdicts and their samples in the log. It goes
	// with Checkpoints.
	Compact bool

	// Redact is what the log takes out of events, nil for nothing.
	Redact runlog.Redact

	// Tools execute effects, Approve lets them pass, and Person answers what only a
	// person can. Without them there are no effects, all pass, and nobody answers.
	Tools   *tool.Registry
	Approve approval.Policy
	Person  person.Person

	// Past is what the log held when it was opened.
	Past *Past
}

// A Runtime runs one orchestrator.
type Runtime struct {
	opts    Options
	started time.Time
	before  time.Duration // spent by earlier sessions
	verdict map[string]pastVerdict
	effect  map[string]pastEffect
	answer  map[string]*flow.Answer
	usedMu  sync.Mutex
	used    map[string]bool // keys of this session
	emitted *emitted

	progress  Progress
	simulated atomic.Bool // an answer came from a simulator, whatever its model is called
}

// Progress is where a run stands. Its fields may be read at any time.
type Progress struct {
	Steps      atomic.Int64 // committed, those of earlier sessions included
	Session    atomic.Int64 // committed in this session
	Samples    atomic.Int64 // of this session's committed steps
	RedFlagged atomic.Int64
	Faults     atomic.Int64
	Contested  atomic.Int64
}

// New returns a runtime.
func New(opts Options) *Runtime {
	r := &Runtime{opts: opts, started: time.Now()}
	if p := opts.Past; p != nil {
		r.before = p.Duration
		r.verdict, r.effect, r.answer = p.verdicts, p.effects, p.answers
		r.emitted = p.emitted
		r.progress.Steps.Store(int64(p.Steps))
	}
	return r
}

// Progress returns the run's live counters.
func (r *Runtime) Progress() *Progress { return &r.progress }

// Flow returns the flow of the run's main line. It ends with ctx.
func (r *Runtime) Flow(ctx context.Context) flow.Flow {
	return &branch{Runtime: r, ctx: ctx, failed: new(failure)}
}

// Elapsed is how long the run took, over all its sessions.
func (r *Runtime) Elapsed() time.Duration { return r.before + time.Since(r.started) }

// failure remembers the first error of an Emit, which cannot return one.
type failure struct {
	mu  sync.Mutex
	err error
}

func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// branch is one line of execution: the main one, or one of a Parallel.
type branch struct {
	*Runtime
	ctx       context.Context // bounds the branch, which is itself one call of the orchestrator
	prefix    string          // of its keys
	failed    *failure
	spilled   bool
	parallels int             // calls of Parallel so far
	held      []ballot.Sample // of the question being decided, until it is known whether they belong in the log
}

func (b *branch) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	key, err := b.fullKey(key)
	if err != nil {
		return nil, err
	}
	if v, ok := b.verdict[key]; ok && (v.rule == q.Rule || !b.opts.Checkpoints && (v.final || v.verdict.Status == flow.Decided)) {
		// What was decided may have been acted upon: another rule is for what is
		// still to be decided.
		return v.verdict, nil
	}
	if err := pause(b.ctx, time.Duration(q.DelayMS)*time.Millisecond); err != nil {
		return nil, err
	}
	b.held, b.spilled = b.held[:0], false
	v, err := b.opts.Ballot.Decide(b.ctx, q, func(s *ballot.Sample) {
		b.progress.Faults.Add(int64(len(s.Faults())))
		if s.Flag != nil {
			b.progress.RedFlagged.Add(1)
		}
		if s.Response != nil && strings.HasPrefix(s.Response.Model, simulator) {
			b.simulated.Store(true)
		}
		if b.opts.Compact && !b.spilled {
			if b.held = append(b.held, *s); len(b.held) < maxHeld {
				return
			}
			b.spilled = true
			b.logHeld(key, q.Step)
			return
		}
		b.logSample(key, q.Step, s)
	})
	if err != nil {
		return nil, err
	}
	b.progress.Samples.Add(int64(v.Voting.Samples))
	if v.Voting.Contested() {
		b.progress.Contested.Add(1)
	}
	if b.opts.Compact && !b.spilled && v.Status == flow.Decided && !v.Voting.Contested() {
		return v, nil
	}
	b.logHeld(key, q.Step)
	b.append(event.VoteCompleted{
		Question: key, Step: q.Step, Status: string(v.Status), Answer: event.JSONValue(v.Answer),
		Intent: v.Intent, Candidates: v.Candidates,
		Reason: v.Reason, Voting: v.Voting, CostUSD: v.CostUSD, DurationMS: v.DurationMS,
		Rule: q.Rule, Spent: b.opts.Ledger.Spent(), PromptHash: promptHash(q),
	})
	return v, b.failed.get()
}

// promptHash stands for what was asked.
func promptHash(q *flow.Question) string {
	h := sha256.New()
	for _, text := range append([]string{q.System, q.Prompt}, q.Variants...) {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
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

// fullKey is a key with that of its branch before it, if the run can go on with it.
func (b *branch) fullKey(key string) (string, error) {
	if err := b.failed.get(); err != nil {
		return "", err
	}
	key = b.prefix + key
	return key, b.claimKey(key)
}

// claimKey refuses a key that was used before: after a resume both questions
// would get one verdict. An orchestrator that numbers its steps may do so a
// million times, and is not watched.
func (r *Runtime) claimKey(key string) error {
	if r.opts.Checkpoints {
		return nil
	}
	r.usedMu.Lock()
	defer r.usedMu.Unlock()
	if r.used[key] {
		return fmt.Errorf("local: the key %q is used twice", key)
	}
	if r.used == nil {
		r.used = map[string]bool{}
	}
	r.used[key] = true
	return nil
}

// maxHeld bounds the samples that wait for a verdict. A question with more is
// logged in full, whatever comes of it.
const maxHeld = 1000

// simulator is how the models of the simulator are called.
const simulator = "sim/"

// logHeld appends the samples that were held back.
func (b *branch) logHeld(key string, step int) {
	for i := range b.held {
		b.logSample(key, step, &b.held[i])
	}
	b.held = b.held[:0]
}

func (b *branch) logSample(key string, step int, s *ballot.Sample) {
	for _, f := range s.Faults() {
		b.append(event.SampleFaulted{
			Question: key, Step: step, Sample: s.N,
			Kind: string(f.Kind), Status: f.Status, Message: f.Error(),
		})
	}
	if s.Response == nil && s.Flag == nil {
		return // nothing but faults
	}
	common := event.Sample{
		Question: key, Step: step, Sample: s.N, Model: s.Voter,
		Temperature: s.Temperature, DurationMS: s.Duration.Milliseconds(),
	}
	text := ""
	if r := s.Response; r != nil {
		common.Tokens, common.CostUSD, text = r.Usage, r.CostUSD, r.Text
		if r.Model != "" {
			common.Model = r.Model
		}
	}
	if w := s.Work; w != nil {
		common.ToolCalls, common.Repaired, common.Intent = w.Calls, w.Repaired, w.Intent
	}
	if s.Flag != nil {
		b.append(event.SampleRedFlagged{Sample: common, Flag: s.Flag.Name, Reason: s.Flag.Reason, Text: event.TextValue(text)})
		return
	}
	b.append(event.SampleCompleted{Sample: common, Vote: vote.ShortKey(s.Answer.Key), Text: event.TextValue(text)})
}

func (b *branch) append(e event.Event) {
	if err := b.opts.Log.Append(e); err != nil {
		b.failed.set(err)
	}
}

func (b *branch) Emit(e event.Event) {
	e = b.stamp(e)
	if b.emitted.take(e, b.opts.Redact) {
		return // an earlier session appended it
	}
	if _, ok := e.(event.StepCompleted); ok {
		b.progress.Steps.Add(1)
		b.progress.Session.Add(1)
	}
	b.append(e)
}

// setup is what the session was done with.
func (r *Runtime) setup() event.Setup {
	s := r.opts.Setup
	s.Simulated = s.Simulated || r.simulated.Load()
	if r.opts.Past != nil {
		s.Sessions = r.opts.Past.sessionsWith(s)
	}
	return s
}

// stamp fills in what an orchestrator cannot know.
func (r *Runtime) stamp(e event.Event) event.Event {
	switch e := e.(type) {
	case event.StepCompleted:
		e.Spent = r.opts.Ledger.Spent()
		return e
	case event.StepFailed:
		e.Spent = r.opts.Ledger.Spent()
		return e
	case event.TaskCompleted:
		r.opts.Ballot.Settle()
		e.Setup = r.setup()
		e.Spent, e.DurationMS = r.opts.Ledger.Spent(), r.Elapsed().Milliseconds()
		return e
	case event.TaskFailed:
		r.opts.Ballot.Settle()
		e.Setup = r.setup()
		e.Spent, e.DurationMS = r.opts.Ledger.Spent(), r.Elapsed().Milliseconds()
		return e
	case event.BudgetExhausted:
		e.Spent = r.opts.Ledger.Spent()
		return e
	case event.RunCancelled:
		e.Spent = r.opts.Ledger.Spent()
		return e
	default:
		return e
	}
}

func (b *branch) Parallel(n int, f func(i int, f flow.Flow) error) error {
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	b.parallels++
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			// The number of the call keeps the branches of one Parallel apart from
			// those of the next.
			prefix := fmt.Sprintf("%s%d.%d/", b.prefix, b.parallels, i)
			sub := &branch{Runtime: b.Runtime, ctx: ctx, prefix: prefix, failed: b.failed}
			if errs[i] = f(i, sub); errs[i] != nil {
				cancel(errBranch)
			}
		})
	}
	wg.Wait()
	// A branch that ended only because a sibling failed does not hide it.
	var aborted error
	for _, err := range errs {
		if err != nil && !errors.Is(err, errBranch) {
			return err
		}
		if aborted == nil {
			aborted = err
		}
	}
	return aborted
}

var errBranch = errors.New("another branch of the run failed")
