// Package engine puts a run together: what a kind of run asks for, the models with
// everything that is around them, the tools, the log and the runtime. Package maker is
// its public face.
//
// Package kind has the kinds of run.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/script"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// An Engine starts and resumes runs, which share its connections and the limits of
// the providers. It is safe for concurrent use. See [Engine.Close] for its end.
type Engine struct {
	opts     Options
	prepared person.Person // answers that were given in advance
	shared   *shared
}

// New returns an engine.
func New(opts Options) (*Engine, error) { return newEngine(opts, newShared(opts.Transport)) }

// With returns an engine with other options that shares the connections of this one and what
// it knows about how much servers bear.
func (e *Engine) With(opts Options) (*Engine, error) { return newEngine(opts, e.shared) }

func newEngine(o Options, s *shared) (*Engine, error) {
	// What was left open depends on the kind of run; what was said is checked now.
	if err := checkGiven(o.Config); err != nil {
		return nil, err
	}
	prepared, err := person.ReadAnswers(o.Answers)
	if err != nil {
		return nil, &config.Error{Field: "answers", Err: err}
	}
	o = o.withDefaults()
	if err := kind.CheckFamilies(o.Families); err != nil {
		return nil, err
	}
	return &Engine{opts: o, prepared: prepared, shared: s}, nil
}

// Chain starts a task of the named family with the given parameters and returns
// at once. The run ends with ctx.
func (e *Engine) Chain(ctx context.Context, family string, params any) (*Run, error) {
	if !slices.ContainsFunc(e.opts.Families, func(f domain.Family) bool { return f.Name == family }) {
		return nil, kind.NoFamily(family)
	}
	return e.launchParams(ctx, family, params)
}

func (e *Engine) launchParams(ctx context.Context, name string, params any) (*Run, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("maker: parameters of %s: %w", name, err)
	}
	return e.launch(ctx, name, raw, nil)
}

// prepare finds out what a new run of the given kind does, and with which settings.
func (e *Engine) prepare(name string, params json.RawMessage) (kind.Kind, config.Config, *kind.Job, error) {
	k := kind.Of(name)
	if err := e.shared.check(); err != nil {
		return k, config.Config{}, nil, err
	}
	cfg, err := configFor(e.opts.Config, k.Settings)
	if err != nil {
		return k, cfg, nil, err
	}
	if e.long(k, params, cfg) {
		given := e.opts.Config
		given.Voting.Strategy = vote.Adaptive
		if cfg, err = configFor(given, k.Settings); err != nil {
			return k, cfg, nil, err
		}
	}
	if err := e.warm(&cfg); err != nil {
		return k, cfg, nil, err
	}
	if err := e.checkOwn(cfg); err != nil {
		return k, cfg, nil, err
	}
	e.comparePrices(&cfg)
	j, err := e.job(k, params, &cfg)
	if err == nil {
		err = checkWarm(cfg, j)
	}
	if err != nil {
		return k, cfg, nil, err
	}
	return k, cfg, j, nil
}

// launch starts a run of the given kind. Fill, if it is not nil, puts what the run needs
// into its folder and completes the parameters.
func (e *Engine) launch(ctx context.Context, name string, params json.RawMessage, fill func(dir string) (json.RawMessage, error)) (*Run, error) {
	k, cfg, j, err := e.prepare(name, params)
	if err != nil {
		return nil, err
	}
	stored, err := json.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	stack, err := e.newStack(ctx, cfg, usage.Spent{}, j, lent{})
	if err != nil {
		return nil, err
	}
	id := newID(name, time.Now())
	log, err := runlog.Create(filepath.Join(e.opts.LogDir, id), id, stack.secrets.RedactBytes)
	if err != nil {
		return nil, errors.Join(&config.Error{Field: "log_dir", Err: err}, stack.close())
	}
	if fill != nil {
		if params, err = fill(log.Dir()); err == nil {
			j, err = k.Job(e.env(), params, cfg)
		}
		if err != nil {
			return nil, errors.Join(err, log.Close(), stack.close(), runlog.RemoveEmpty(log.Dir()))
		}
	}
	return e.start(ctx, log, stack, j, e.submitted(name, params, stored, stack, j), nil)
}

// submitted is the event that a run begins with.
func (e *Engine) submitted(name string, params, stored json.RawMessage, s *stack, j *kind.Job) event.TaskSubmitted {
	first := event.TaskSubmitted{
		Format: event.Format, Maker: Version, Kind: name, Form: j.Form, Task: j.Task,
		Params: params, Config: stored, Steps: j.Steps, Simulated: s.simulated, Setup: s.setup(),
		Prompts: j.Prompts.Hashes(), Races: j.Races, Checks: j.Checks, Owner: e.opts.Owner, Keeper: e.opts.Keeper,
	}
	if len(j.Classes) == 1 {
		first.Class = j.Classes[0]
	}
	return first
}

// comparePrices works out what a sample of the second pool costs in samples of the first,
// by what a short question and its answer cost. Where a price is not known they are taken
// to cost the same.
func (e *Engine) comparePrices(cfg *config.Config) {
	if cfg.Solve.ModelEscalation == "" || cfg.Solve.EscalationPrice != 0 {
		return
	}
	const input, output = 1000, 250
	mean := func(names []string) float64 {
		sum := 0.0
		for _, name := range names {
			p, ok := e.opts.Prices.Lookup(name)
			if !ok {
				return 0
			}
			sum += p.WorstCost(input, output).USD()
		}
		return sum / float64(len(names))
	}
	cfg.Solve.EscalationPrice = 1
	if first, second := mean(cfg.VoterNames()), mean(cfg.Solve.SecondPool()); first > 0 && second > 0 {
		cfg.Solve.EscalationPrice = second / first
	}
}

// checkOwn refuses a rule of the program's own that it did not bring.
func (e *Engine) checkOwn(cfg config.Config) error {
	if e.opts.Decide == nil && (cfg.Voting.Strategy == vote.Own || cfg.Plan.Voting.Strategy == vote.Own) {
		return config.Errorf("voting", "%q is a rule of a program's own, which Options.Decide has to be", vote.Own)
	}
	return nil
}

// longChain is from how many steps on a margin for the average step is not to be trusted.
const longChain = 100

// long reports whether a run is a long chain of a family of the user's own about whose
// votes nothing was said: nobody knows how hard its steps are. The built-in one is the
// paper's, and votes as the paper does.
func (e *Engine) long(k kind.Kind, params json.RawMessage, cfg config.Config) bool {
	if k.Form != event.FormChain || k.Name == hanoi.Name || e.opts.Config.Voting != (vote.Rule{}) {
		return false
	}
	j, err := k.Job(e.env(), params, cfg)
	return err == nil && j.Steps >= longChain
}

// warm takes over what an earlier run learnt, if one is named.
func (e *Engine) warm(cfg *config.Config) error {
	if cfg.WarmRun == "" || cfg.Voting.Strategy != vote.Adaptive {
		return nil
	}
	dir, err := e.find(cfg.WarmRun)
	if err != nil {
		return &config.Error{Field: "warm", Err: err}
	}
	run, err := runs.Open(dir)
	if err != nil {
		return &config.Error{Field: "warm", Err: err}
	}
	learnt, asked, err := run.Learnt()
	if err != nil {
		return &config.Error{Field: "warm", Err: err}
	}
	if now := strings.Join(cfg.VoterNames(), ","); asked != now {
		return config.Errorf("warm", "%s asked %s, and this run is to ask %s: how hard questions are for one says nothing about the other", run.ID(), asked, now)
	}
	if len(learnt) == 0 {
		return config.Errorf("warm", "%s has no votes to learn from", run.ID())
	}
	cfg.Warm = learnt
	return nil
}

// checkWarm reports that an earlier run learnt nothing about what this one asks, as far as
// that is known before.
func checkWarm(cfg config.Config, j *kind.Job) error {
	if cfg.Warm == nil || len(j.Classes) == 0 || slices.ContainsFunc(j.Classes, func(c string) bool { return cfg.Warm[c].Races > 0 }) {
		return nil
	}
	return config.Errorf("warm", "%s learnt nothing about %s, which this run asks; it knows %s",
		cfg.WarmRun, quoted(j.Classes), quoted(slices.Sorted(maps.Keys(cfg.Warm))))
}

func quoted(list []string) string {
	text := fmt.Sprintf("%q", list)
	return text[1 : len(text)-1]
}

// job is what a run does. The cap on samples of an adaptive rule follows from how many
// steps that are, unless it is given.
func (e *Engine) job(k kind.Kind, params json.RawMessage, cfg *config.Config) (*kind.Job, error) {
	j, err := k.Job(e.env(), params, *cfg)
	if err != nil || cfg.Voting.Strategy != vote.Adaptive || cfg.Voting.MaxSamples > 0 {
		return j, err
	}
	cfg.Voting.MaxSamples = history.Length{Races: j.Races, Steps: j.Steps}.Options(cfg.Voting, nil).Cap()
	return k.Job(e.env(), params, *cfg)
}

// ResumeOptions are those of package maker.
type ResumeOptions struct {
	Change   func(*config.Config)
	SetAside bool
	Retry    []string
	Script   *script.Source
}

// config is the one that a run goes on with.
func (o ResumeOptions) config(past *history.History, k kind.Kind) (config.Config, error) {
	cfg, err := config.Parse(past.Config)
	if err != nil {
		return cfg, fmt.Errorf("maker: %w", err)
	}
	if o.Change != nil {
		was := cfg
		o.Change(&cfg)
		cfg.Plan, cfg.Solve, cfg.Outline = was.Plan, was.Solve, was.Outline // the keys of what was decided and executed depend on them
		if k.RuleStays && cfg.Voting != was.Voting {
			// A question of a committed step that had no winner could now have one.
			return cfg, config.Errorf("ahead_by", "the voting rule of a run that solves a problem stays as it is: its steps follow from each other")
		}
	}
	return configFor(cfg, k.Settings)
}

// ErrFinished says that a run is over and has nothing to resume.
var ErrFinished = errors.New("the run is finished")

// ErrTooOld says that a run can be read, but not continued.
var ErrTooOld = errors.New("the run was begun by an earlier version, whose log does not say all that is needed to go on without repeating anything: it can be read (maker show, maker replay), not resumed; finish it with that version, or start anew")

// Resume continues a run from its last committed step. The run is named as in
// [runs.Find].
func (e *Engine) Resume(ctx context.Context, run string, o ResumeOptions) (*Run, error) {
	if err := e.shared.check(); err != nil {
		return nil, err
	}
	dir, err := e.find(run)
	if err != nil {
		return nil, err
	}
	var secrets atomic.Pointer[secret.Set] // known once the log has said which models it is about
	redact := func(line []byte) []byte { return secrets.Load().RedactBytes(line) }
	log, past, rec, err := e.reopen(dir, redact, o.SetAside)
	if err != nil {
		return nil, err
	}
	r, err := e.resume(ctx, log, &secrets, past, rec, o)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return r, nil
}

func (e *Engine) reopen(dir string, redact runlog.Redact, setAside bool) (*runlog.Log, *history.History, runlog.Recovery, error) {
	past := history.New(dir)
	log, rec, err := runlog.Open(dir, redact, past.Visit)
	if damage, ok := errors.AsType[*runlog.CorruptError](err); ok && setAside {
		if _, err := runlog.SetAside(damage); err != nil {
			return nil, nil, rec, err
		}
		past = history.New(dir)
		log, rec, err = runlog.Open(dir, redact, past.Visit)
	}
	if err != nil {
		return nil, nil, rec, err
	}
	if err := past.Finish(); err != nil {
		return nil, nil, rec, errors.Join(err, log.Close())
	}
	return log, past, rec, nil
}

func (e *Engine) resume(ctx context.Context, log *runlog.Log, secrets *atomic.Pointer[secret.Set], past *history.History, rec runlog.Recovery, o ResumeOptions) (*Run, error) {
	switch end := past.End.(type) {
	case event.TaskCompleted:
		return nil, errors.Join(fmt.Errorf("%w: it completed %d steps", ErrFinished, end.Steps), mendEnded(log.Dir()))
	case event.TaskFailed:
		if end.Wrong {
			return nil, errors.Join(fmt.Errorf("%w and cannot be mended: %s", ErrFinished, end.Reason), mendEnded(log.Dir()))
		}
	}
	if err := checkRetry(o.Retry, past.Submitted.Form); err != nil {
		return nil, err
	}
	k := kind.Of(past.Submitted.Kind)
	cfg, err := o.config(past, k)
	if err != nil {
		return nil, err
	}
	if err := e.checkOwn(cfg); err != nil {
		return nil, err
	}
	edited, err := edit(past, o.Script)
	if err != nil {
		return nil, err
	}
	j, err := e.job(k, past.Params, &cfg)
	if err != nil {
		return nil, err
	}
	if past.Edits > 0 {
		if past.Numbers, err = history.ReadNumbers(log.Dir()); err != nil {
			return nil, err
		}
	}
	if past.Unkeyed {
		return nil, ErrTooOld
	}
	stored, err := json.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	stack, err := e.newStack(ctx, cfg, past.Spent, j, lent{})
	if err != nil {
		return nil, err
	}
	secrets.Store(stack.secrets)
	for key := range past.Answered {
		if err := person.Discard(log.Dir(), key); err != nil {
			return nil, errors.Join(err, stack.close())
		}
	}
	first := event.RunResumed{
		Maker: Version, Step: past.Checkpoint.Step, Config: stored, Dropped: rec.Dropped, Spent: past.Spent, Setup: stack.setup(), Retry: o.Retry, Params: edited, Keeper: e.opts.Keeper,
	}
	past.Records.Retry(o.Retry)
	return e.start(ctx, log, stack, j, first, past)
}

// fewRecords are those of which the log has all samples, if they take time: what a kill could
// lose would be much of the run, and the room that they take is not.
const fewRecords = 10_000

// checkRetry checks what is to be asked about again.
func checkRetry(statuses []string, form event.Form) error {
	for _, s := range statuses {
		if s != string(flow.Failed) && s != string(flow.Undecided) {
			return config.Errorf("retry", "%q: want failed, undecided, or both", s)
		}
	}
	if len(statuses) > 0 && form != event.FormRecords {
		return config.Errorf("retry", "it is about records, and this run has none; without it a resume goes on where the run stopped")
	}
	return nil
}

// start opens the session in the log and sets the run going.
func (e *Engine) start(ctx context.Context, log *runlog.Log, s *stack, j *kind.Job, first event.Event, past *history.History) (*Run, error) {
	err := log.Append(first)
	if err == nil {
		err = log.Sync(ctx)
	}
	if err != nil {
		err = errors.Join(err, log.Close(), s.close())
		if past == nil {
			err = errors.Join(err, runlog.RemoveEmpty(log.Dir()))
		}
		return nil, err
	}
	s.ledger.OnClaim(func(ctx context.Context, c budget.Claim) error {
		if err := log.Append(event.BudgetClaimed{Calls: c.Calls, Tokens: c.Tokens, USD: c.USD}); err != nil {
			return err
		}
		return log.Sync(ctx)
	})
	submitted, ok := first.(event.TaskSubmitted)
	if !ok {
		submitted = past.Submitted
	}
	j.Dir = log.Dir()
	o := e.runtime(s, j, submitted, past)
	arrivals := make(chan *local.Arrival) // of a session
	o.Log, o.Person, o.Keep, o.Arrivals = log, e.people(log.Dir(), s.secrets), s.keeper(log.Dir()), arrivals
	r := &Run{
		log: log, stack: s, steps: j.Steps, kind: j.Kind, task: j.Task, form: j.Form, done: make(chan struct{}), ballot: o.Ballot, arrivals: arrivals,
		runtime: local.New(o),
	}
	var at chain.Checkpoint
	if past != nil {
		at = past.Checkpoint
		at.Ended = past.Records.Ended
	}
	if e.opts.Hold != nil && past == nil {
		go r.hold(ctx)
		return r, nil
	}
	go r.run(ctx, func(ctx context.Context) error {
		return r.runtime.Run(ctx, func(f flow.Flow) error { return j.Run(f, at) })
	})
	return r, nil
}

// runtime are the options of a runtime for a run, but for its log and its person.
func (e *Engine) runtime(s *stack, j *kind.Job, submitted event.TaskSubmitted, past *history.History) local.Options {
	cfg := s.config
	looks := j.Looks
	if j.Agents {
		looks = s.toolLooks()
	}
	lean := j.Form.Alone() // it says all that a resume needs to know of it
	voting := ballot.New(s.voters, j.AllReaders(), &ballot.Options{
		BatchSize: inFlight(cfg), Spare: cfg.Spare, PerCall: cfg.SamplesPerCall,
		Group: s.group, Tools: s.registry(), Redact: s.secrets.Redact,
		Decide: e.opts.Decide, Flag: e.opts.RedFlag,
		Alone: j.Form.Apart(), Answered: past != nil && past.Steps > 0, Served: j.Form == event.FormRequests,
	})
	var width func() int
	if j.Form.Apart() { // of which there are many to choose from
		width = s.width
	}
	var same func(first, other string) (*flow.Question, error)
	if j.Prompts != nil {
		same = askSame(j.Prompts, kind.Terms(cfg))
	}
	return local.Options{
		Ballot: voting, Ledger: s.ledger, Setup: s.setup(),
		Alike: j.Form == event.FormRecords, Apart: j.Form.Apart(), Checkpoints: lean, Several: j.Several(), Compact: !cfg.FullLog && !(lean && j.Several()), KeepSamples: j.Form == event.FormRecords && j.Steps <= fewRecords, Past: past, Redact: s.secrets.RedactBytes,
		Tools: s.registry(), Approve: s.policy, Holds: s.holds, Looks: looks, Same: same,
		Class: submitted.StepClass(), Adapting: history.Adapting(j.Form, cfg.Voting, cfg.TargetError), Length: history.Length{Races: j.Races, Steps: j.Steps, Records: j.Form.Apart()}, Warm: cfg.Warm, GoOnIfFutile: cfg.OnFutile == "warn",
		Extra: *cfg.Extra, Calm: s.calm, Width: width, Guess: cfg.Speculate != "off" && s.forgets(), GuessTools: cfg.Speculate == "tools", Pool: cfg.Solve.ModelEscalation, PoolPrice: cfg.Solve.EscalationPrice,
	}
}
