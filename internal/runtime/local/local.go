// Package local is the runtime on this machine: goroutines and a run log.
//
// It implements flow.Flow by journalling. What was decided, seen, done and answered
// is appended to the log under its key; after a restart the orchestrator runs again
// from its start (or from a checkpoint), gets all that back, and goes on where it
// ends.
package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
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

	// Apart says that steps do not depend on each other, Alike that their outputs are answers
	// to the same question, and Several that a step may be several votes.
	Apart, Alike, Several bool

	// Arrivals are what [flow.Receive] gets.
	Arrivals <-chan *Arrival

	// Compact keeps only the samples of contested verdicts in the log, with Checkpoints and
	// in loops; with Checkpoints it has no other verdicts either.
	// KeepSamples has others there too if answers take time, as long as a vote takes more than
	// one.
	Compact, KeepSamples bool

	// Redact is what the log takes out of events, nil for nothing.
	Redact runlog.Redact

	// Tools execute effects, Approve lets them pass, and Person answers what only a
	// person can. Without them there are no effects, all pass, and nobody answers.
	Tools   *tool.Registry
	Approve approval.Policy
	Person  person.Person

	// Keep keeps what effects are about to change, and Holds stands for it; see
	// [effect.Performer].
	Keep  func(key string, i event.Intent) *event.Before
	Holds func(i event.Intent) string

	// Same asks whether two texts say the same; it is answered with "same" if so. Nil means
	// that nobody can be asked.
	Same func(first, other string) (*flow.Question, error)

	// Extra is the share of calls that may come to nothing for the sake of speed. 0 means
	// none. Calm says whether providers take what they get, without which there are none
	// either; nil if they do.
	Extra float64
	Calm  func() bool

	// Width is how many calls servers take at once: votes begin as these can take their
	// samples. Nil means at once.
	Width func() int

	// Guess says that what will be asked next is asked ahead, on the answer that leads, and
	// GuessTools that tools which look at the world may be used for that.
	Guess, GuessTools bool

	// Looks are the kinds of looks at the world that orchestrators can take.
	Looks Looks

	// Class is that of the questions of a chain, or about records, that name no other.
	Class string

	// Adapting is the rule whose margins adapt, if it is not that of the run: see
	// [history.Adapting]. Length is how long the run will be, and Warm what an earlier run
	// learnt, for an adaptive rule. GoOnIfFutile goes on when more votes will not help.
	Adapting     vote.Rule
	Length       history.Length
	Warm         map[string]adaptive.Learnt
	GoOnIfFutile bool

	// Told, if not nil, is what is known about questions by whoever has them decided here one by
	// one: then nothing is learnt here.
	Told *Told

	// Pool names the voters who are asked where others are split, and PoolPrice is what
	// they cost, as in [adaptive.Options].
	Pool      string
	PoolPrice float64

	// Past is what the log held when it was opened, nil for a new run.
	Past *history.History
}

// Told is what a runtime is told about questions.
type Told struct {
	Policies map[string]adaptive.Change  // of an adaptive rule, by class
	Retired  map[string]map[string][]int // framings in which voters are not asked any more, by class and voter
}

// Looks are ways to look at the world, by the kind of look. What one sees must be
// something that can be encoded as JSON.
type Looks map[string]func(ctx context.Context, params json.RawMessage) (any, error)

// A Runtime runs one orchestrator.
type Runtime struct {
	opts    Options
	started time.Time
	past    *history.History

	counting sync.Mutex     // held while a vote is counted in past.Framings and past.Policies
	disputed map[string]int // questions under way over which voters differ, by class
	other    atomic.Bool    // a step was decided by a rule that does not adapt

	effects effect.Performer
	keys    keys // of this session, outside of loops
	extra   extra
	gate    gate
	openMu  sync.Mutex
	open    []event.OpenVote // votes that ended without a verdict

	progress  Progress
	watch     watch
	simulated atomic.Bool // an answer came from a simulator, whatever its model is called
}

// Progress is where a run stands. Its fields may be read at any time.
type Progress struct {
	Steps      atomic.Int64 // committed, those of earlier sessions included
	Session    atomic.Int64 // committed in this session
	Samples    atomic.Int64 // votes and red flags of this session
	RedFlagged atomic.Int64
	Faults     atomic.Int64
	Contested  atomic.Int64 // decisions with more than one answer, those of earlier sessions included

	Decided  atomic.Int64 // questions of this session
	Known    atomic.Int64 // questions that an earlier session decided
	Expected atomic.Int64 // questions in all, if the orchestrator says so

	// Answers counts the outputs of steps where these are alike; nil elsewhere. Gold is how
	// many of them have a known answer, and Right how many of these are right.
	Answers     *history.Outputs
	Gold, Right atomic.Int64
}

// commit counts a step.
func (p *Progress) commit(step *event.StepCompleted) {
	p.Steps.Add(1)
	p.Session.Add(1)
	if p.Answers != nil {
		p.Answers.Add(step.Output.JSON)
	}
	if step.Right != nil {
		p.Gold.Add(1) // first, and read last: no more are right than are known
		if *step.Right {
			p.Right.Add(1)
		}
	}
}

// New returns a runtime.
func New(opts Options) *Runtime {
	r := &Runtime{opts: opts, started: time.Now(), past: opts.Past, disputed: map[string]int{}}
	spent := opts.Ledger.Spent()
	r.extra.share, r.extra.calmNow = opts.Extra, opts.Calm
	r.extra.useful.Store(spent.Calls - spent.Wasted)
	r.extra.wasted.Store(spent.Wasted)
	if r.past == nil {
		r.past = history.New("")
	}
	rule := opts.Adapting
	if rule.Strategy == "" {
		rule = opts.Setup.Rule
	}
	o := opts.Length.Options(rule, opts.Warm)
	o.Pool, o.Price = opts.Pool, opts.PoolPrice
	r.past.Policies.Configure(o, rule)
	r.effects = effect.Performer{
		Journal: journal{r}, Tools: opts.Tools, Approve: opts.Approve, Redact: opts.Redact, Spent: opts.Ledger.Spent, Keep: opts.Keep, Holds: opts.Holds,
	}
	r.effects.Recall(r.past.Answers)
	r.progress.Steps.Store(int64(r.past.Steps))
	r.progress.Contested.Store(int64(r.past.Contested))
	for _, c := range r.past.Contests {
		r.watch.contested(c.Question, c.Step, c.Verdict)
	}
	if opts.Alike {
		r.progress.Answers = &r.past.Outputs
		known, right := r.past.Records.Known()
		r.progress.Gold.Store(int64(known))
		r.progress.Right.Store(int64(right))
	}
	return r
}

// Progress returns the run's live counters.
func (r *Runtime) Progress() *Progress { return &r.progress }

// Flow returns the flow of the run's main line. It ends with ctx.
func (r *Runtime) Flow(ctx context.Context) flow.Flow {
	return &branch{Runtime: r, ctx: ctx, failed: new(failure), keys: &r.keys}
}

// Run runs an orchestrator on the run's main line, which ends with ctx. Its error is
// also that of an Emit, which cannot return one.
func (r *Runtime) Run(ctx context.Context, orchestrate func(flow.Flow) error) error {
	b := &branch{Runtime: r, ctx: ctx, failed: new(failure), keys: &r.keys}
	if err := b.settle(); err != nil {
		return err
	}
	if r.opts.Guess {
		b.line = new(line)
		b.line.Lock()
	}
	err := orchestrate(b.numbered())
	if b.line != nil {
		b.line.Unlock()
		if b.line.ahead != nil {
			b.line.ahead.drop()
		}
	}
	if err != nil {
		return err
	}
	return b.failed.get()
}

// numbered is a branch with the numbers of steps that the log has, if code may come to others.
func (b *branch) numbered() flow.Flow {
	if b.past.Numbers == nil {
		return b
	}
	return &renumbered{b, b.past.Numbers}
}

// byStep reports whether each step is one vote, which counts when it is committed.
func (r *Runtime) byStep() bool { return r.opts.Checkpoints && !r.opts.Several }

// Elapsed is how long the run took, over all its sessions.
func (r *Runtime) Elapsed() time.Duration { return r.past.Duration + time.Since(r.started) }

// failure remembers the first error of an Emit, which cannot return one.
type failure struct{ err atomic.Pointer[error] }

func (f *failure) set(err error) {
	if err != nil {
		f.err.CompareAndSwap(nil, &err)
	}
}

func (f *failure) get() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

// branch is one line of execution: the main one, or one of a Parallel.
type branch struct {
	*Runtime
	ctx    context.Context // bounds the branch, which is itself one call of the orchestrator
	prefix string          // of its keys
	keys   *keys           // that are used in it, and beside it
	loops  bool            // it is part of a turn of a loop
	failed *failure
	idle   *decision    // to use again
	lent   *ballot.Room // has the verdict that was returned last, if nobody else knows it
	room   *ballot.Room // for the next verdict
	pass   *pass        // through the gate; nil if there is none
	line   *line        // if it is the main one; nil where nothing is guessed

	unsettled string // the class of a question that its voters differed over and that others are asked now
}

// errNoJournal is why a chain cannot have effects: its log leaves out verdicts,
// so that a resume may decide differently from what was executed.
var errNoJournal = errors.New("local: effects, looks and questions to the person need a run that keeps all its verdicts")

// journalKey is the full key of something that must be in the journal.
func (b *branch) journalKey(m method, key string) (string, error) {
	if b.opts.Checkpoints {
		return "", errNoJournal
	}
	return b.fullKey(m, key)
}

// fullKey is a key with that of its branch before it, if the run can go on with it.
func (b *branch) fullKey(m method, key string) (string, error) {
	if err := b.failed.get(); err != nil {
		return "", err
	}
	key = b.prefix + key
	return key, b.claimKey(m, key)
}

// claimKey refuses a key that was used before: after a resume both calls would get
// one result. An orchestrator that numbers its steps may do so a million times, and
// is not watched.
func (b *branch) claimKey(m method, key string) error {
	if b.opts.Checkpoints {
		return nil
	}
	return b.keys.claim(m, key)
}

// Perform implements flow.Flow.
func (b *branch) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	key, err := b.journalKey(byPerform, key)
	if err != nil {
		return nil, err
	}
	return b.effects.Perform(b.ctx, key, e)
}

// Observe implements flow.Flow. What was seen need not be durable before it is used:
// whatever is done in its knowledge is recorded after it.
func (b *branch) Observe(key string, l flow.Look) (json.RawMessage, error) {
	key, err := b.journalKey(byObserve, key)
	if err != nil {
		return nil, err
	}
	if seen, ok := b.past.Looks[key]; ok {
		return seen, nil
	}
	look, ok := b.opts.Looks[l.Kind]
	if !ok {
		return nil, fmt.Errorf("local: nobody knows how to look at %q", l.Kind)
	}
	if b.ctx.Err() != nil {
		return nil, context.Cause(b.ctx)
	}
	what, err := look(b.ctx, l.Params)
	if err != nil {
		return nil, err
	}
	seen, err := json.Marshal(what)
	if err != nil {
		return nil, fmt.Errorf("local: what the look %q saw: %w", key, err)
	}
	return seen, b.append(event.Observed{Look: key, Kind: l.Kind, Params: l.Params, Result: event.JSONValue(seen)})
}

// Ask implements flow.Flow.
func (b *branch) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	key, err := b.journalKey(byAsk, key)
	if err != nil {
		return nil, err
	}
	return journal{b.Runtime}.Ask(b.ctx, key, q)
}

// journal is the run log as effects see it.
type journal struct{ *Runtime }

func (j journal) Effect(key string) effect.State { return j.past.Effects[key] }

func (j journal) Asked(key string) bool {
	_, asked := j.past.Answers[key]
	return asked
}

func (j journal) Append(e event.Event) error { return j.opts.Log.Append(e) }

func (j journal) Sync() error { return j.opts.Log.Sync(context.Background()) }

// Ask asks the person, once for each key.
func (j journal) Ask(ctx context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	past, asked := j.past.Answers[key]
	if past != nil {
		return past, nil
	}
	holds := j.past.Holds[key]
	if asked && holds != q.Holds {
		// Whoever is asked now sees what there is now; whoever left an answer did not.
		left, err := person.Left(j.opts.Log.Dir(), key)
		asked = err != nil || left != nil
	}
	if !asked {
		holds = q.Holds
	}
	if !asked || j.past.Stale[key] {
		request, err := Request(key, q, holds)
		if err == nil {
			err = j.Append(request)
		}
		if err != nil {
			return nil, err
		}
		if err := j.opts.Log.Sync(ctx); err != nil {
			return nil, err
		}
	}
	if j.opts.Person == nil {
		return nil, &person.WaitingError{Key: key, Question: *q}
	}
	a, err := j.opts.Person.Ask(ctx, key, q)
	switch {
	case errors.Is(err, person.ErrAbsent):
		return nil, &person.WaitingError{Key: key, Question: *q}
	case err != nil:
		return nil, err
	}
	if err := j.Append(event.ClarificationProvided{Question: key, Step: q.Step, Answer: a.Text, By: a.By}); err != nil {
		return nil, err
	}
	if err := j.Sync(); err != nil {
		return nil, err
	}
	_ = person.Discard(j.opts.Log.Dir(), key) // it is in the log; what stays is thrown away by a resume
	a.Holds = holds
	return a, nil
}

// Request is the event that puts a question to the person, with what the file holds that it is
// about.
func Request(key string, q *flow.HumanQuestion, holds string) (event.ClarificationRequested, error) {
	request := event.ClarificationRequested{
		Question: key, Step: q.Step, Kind: q.Kind, Text: q.Text, Options: q.Options, Free: q.Free, Voting: q.Voting, Folder: q.Folder, Plan: q.Plan,
		Holds: holds, Against: q.Against,
	}
	if q.Call != nil {
		call, err := json.Marshal(q.Call)
		if err != nil {
			return request, fmt.Errorf("local: %w", err)
		}
		request.Call = call
	}
	return request, nil
}

// append adds an event to the log and remembers if that failed.
func (b *branch) append(e event.Event) error { return b.appendKeyed("", e) }

func (b *branch) appendKeyed(key string, e event.Event) error {
	err := b.opts.Log.AppendKeyed(key, e)
	if err != nil {
		b.failed.set(err)
	}
	return err
}

// Emit implements flow.Flow. Chains resume after their last event, so that theirs
// need no keys.
func (b *branch) Emit(key string, e event.Event) {
	if b.failed.get() != nil {
		return
	}
	if step, ok := e.(event.StepCompleted); ok && b.opts.Checkpoints {
		b.Commit(key, &step)
		return
	}
	e = b.stamp(e)
	if b.opts.Checkpoints {
		key = ""
	} else {
		var err error
		key = b.prefix + key
		known := false
		if !EndsSession(e) {
			if err = b.claimKey(byEmit, key); err == nil {
				known, err = b.past.Emitted(key, e, b.opts.Redact)
			}
		}
		if err != nil {
			b.failed.set(err)
		}
		if known || err != nil {
			return // an earlier session appended it
		}
	}
	b.emit(key, e)
}

// emit appends an event that the log does not hold.
func (b *branch) emit(key string, e event.Event) {
	if step, ok := e.(event.StepCompleted); ok {
		b.progress.commit(&step)
	}
	if step, ok := e.(event.StepFailed); ok && b.opts.Apart && b.byStep() { // the run goes on without it
		b.appendVoted(key, e, voted{policy: adaptive.ClassOf(b.opts.Class, step.Pool), voting: step.Voting})
		return
	}
	_ = b.appendKeyed(key, e) // it is remembered
}

// Ended implements flow.Ender.
func (b *branch) Ended() error {
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	return b.failed.get()
}

// Expect implements flow.Expecter.
func (b *branch) Expect(questions int) { b.progress.Expected.Store(int64(questions)) }

// Commit implements flow.Committer. A step of a chain carries its own verdict. There may be
// a million of them, so that most of them get to the log without a copy on the heap.
func (b *branch) Commit(key string, step *event.StepCompleted) {
	if !b.opts.Checkpoints {
		b.Emit(key, *step)
		return
	}
	if b.failed.get() != nil {
		return
	}
	step.Spent = b.opts.Ledger.Spent()
	b.progress.commit(step)
	if b.byStep() && (teaches(&step.Voting) || b.isOther()) {
		b.appendLearnt(step)
	} else if err := b.opts.Log.AppendStep("", step); err != nil {
		b.failed.set(err)
	}
	if b.lent.Holds(step.CostUSD) {
		b.room, b.lent = b.lent, nil
	}
}

// isOther reports whether a step is the first one of a run with margins that adapt which was
// decided by another rule: that is worth knowing once.
func (b *branch) isOther() bool {
	return b.opts.Adapting.Strategy == vote.Adaptive && !b.other.Swap(true)
}

// EndsSession reports whether an event ends a session: there is one in each.
func EndsSession(e event.Event) bool {
	switch e.(type) {
	case event.TaskCompleted, event.TaskFailed, event.BudgetExhausted, event.RunCancelled, event.RunPaused:
		return true
	}
	return false
}

// setup is what the session was done with.
func (r *Runtime) setup() event.Setup {
	s := r.opts.Setup
	s.Simulated = s.Simulated || r.simulated.Load()
	s.Sessions = r.past.SessionsWith(s)
	return s
}

// stamp fills in what an orchestrator cannot know.
func (r *Runtime) stamp(e event.Event) event.Event {
	switch e := e.(type) {
	case event.StepCompleted:
		e.Spent, e.Loop = r.opts.Ledger.Spent(), false // a loop commits its turns itself
		return e
	case event.StepFailed:
		e.Spent = r.opts.Ledger.Spent()
		return e
	case event.TaskCompleted:
		r.opts.Ballot.Settle()
		e.Setup, e.Futile = r.setup(), r.futility()
		e.Spent, e.DurationMS = r.opts.Ledger.Spent(), r.Elapsed().Milliseconds()
		return e
	case event.TaskFailed:
		r.opts.Ballot.Settle()
		e.Open = r.openVotes()
		e.Setup, e.Futile = r.setup(), r.futility()
		e.Spent, e.DurationMS = r.opts.Ledger.Spent(), r.Elapsed().Milliseconds()
		return e
	case event.BudgetExhausted:
		e.Spent = r.opts.Ledger.Spent()
		return e
	case event.RunCancelled:
		e.Spent = r.opts.Ledger.Spent()
		return e
	case event.RunPaused:
		e.Spent = r.opts.Ledger.Spent()
		return e
	default:
		return e
	}
}

// Parallel implements flow.Flow.
func (b *branch) Parallel(key string, n int, f func(i int, f flow.Flow) error) error {
	key, err := b.fullKey(byParallel, key)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	var mu sync.Mutex
	next, broke := 0, false
	errs := map[int]error{}
	// take is the next branch to begin, if there is one.
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == n || broke {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var wg sync.WaitGroup
	for range min(n, window) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				child := &branch{Runtime: b.Runtime, ctx: ctx, prefix: flow.Branch(key, i), keys: b.keys, loops: b.loops, failed: b.failed}
				if n == 1 { // it is the main line for a while
					child.ctx, child.line = b.ctx, b.line
				}
				err := f(i, child)
				if err == nil {
					continue
				}
				mu.Lock()
				errs[i] = err
				broke = broke || !isWaiting(err) // the others would fare no better
				mu.Unlock()
				if !endsAlone(err) {
					cancel(errBranch)
				}
			}
		})
	}
	wg.Wait()
	// A branch that ended only because a sibling failed does not hide it, and one that
	// waits does not hide a failure.
	var alone, aborted error
	for _, i := range slices.Sorted(maps.Keys(errs)) {
		switch err := errs[i]; {
		case errors.Is(err, errBranch):
			aborted = cmp.Or(aborted, err)
		case endsAlone(err):
			alone = cmp.Or(alone, err)
		default:
			return err
		}
	}
	return cmp.Or(alone, aborted)
}

// window is how many branches are under way at once. Those who wait in them cost little,
// and it is more than servers bear.
const window = 256

func isWaiting(err error) bool {
	_, waits := errors.AsType[*person.WaitingError](err)
	return waits
}

// endsAlone reports whether an error is no reason to end the branches beside the one
// that it is from: what they have begun is paid for, and they come to an end by
// themselves.
func endsAlone(err error) bool {
	return isWaiting(err) || errors.Is(err, budget.ErrExhausted)
}

var errBranch = errors.New("another branch of the run failed")
