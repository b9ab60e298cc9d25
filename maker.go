package maker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/ballot"
	"github.com/maker-mdap/maker/internal/budget"
	"github.com/maker-mdap/maker/internal/chain"
	"github.com/maker-mdap/maker/internal/limiter"
	"github.com/maker-mdap/maker/internal/local"
	"github.com/maker-mdap/maker/internal/retry"
	"github.com/maker-mdap/maker/internal/route"
	"github.com/maker-mdap/maker/internal/runlog"
	"github.com/maker-mdap/maker/model/recorded"
	"github.com/maker-mdap/maker/usage"
)

// An Engine starts and resumes runs. It is safe for concurrent use.
type Engine struct {
	opts Options
}

// New returns an engine. Nil options are the defaults, but for the model, which
// has none.
func New(opts *Options) (*Engine, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Config = o.Config.withDefaults()
	if err := o.Config.validate(); err != nil {
		return nil, err
	}
	return &Engine{opts: o.withDefaults()}, nil
}

// Chain starts a task of the named family with the given parameters and returns
// at once. The run ends with ctx.
func (e *Engine) Chain(ctx context.Context, family string, params any) (*Run, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("maker: parameters of %s: %w", family, err)
	}
	c, task, readers, err := e.newChain(family, raw)
	if err != nil {
		return nil, err
	}
	stack, err := e.newStack(e.opts.Config, usage.Spent{})
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(e.opts.Config)
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	id := newID(family, time.Now())
	log, err := runlog.Create(filepath.Join(e.opts.LogDir, id), id, nil)
	if err != nil {
		return nil, err
	}
	first := event.TaskSubmitted{
		Format: event.Format, Maker: Version, Kind: family, Task: task,
		Params: raw, Config: config, Steps: c.Steps(), Simulated: stack.voter.Simulated,
	}
	return e.start(ctx, log, stack, readers, c, first, nil)
}

// ResumeOptions say how a run goes on.
type ResumeOptions struct {
	// Change is applied to the configuration that the run had. Raise a budget
	// here, or move to another address.
	Change func(*Config)

	// SetAside moves the damaged rest of a log into a file beside it and goes
	// on from the last intact line. Without it a damaged log is an error.
	SetAside bool
}

// ErrFinished says that a run is over and has nothing to resume.
var ErrFinished = errors.New("the run is finished")

// Resume continues a run from its last committed step.
func (e *Engine) Resume(ctx context.Context, run string, opts *ResumeOptions) (*Run, error) {
	var o ResumeOptions
	if opts != nil {
		o = *opts
	}
	dir, err := FindRun(e.opts.LogDir, run)
	if err != nil {
		return nil, err
	}
	log, past, rec, err := e.reopen(dir, o.SetAside)
	if err != nil {
		return nil, err
	}
	r, err := e.resume(ctx, log, past, rec, o)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return r, nil
}

func (e *Engine) reopen(dir string, setAside bool) (*runlog.Log, *local.Past, runlog.Recovery, error) {
	past := local.NewPast(dir, true)
	log, rec, err := runlog.Open(dir, nil, past.Visit)
	if damage, ok := errors.AsType[*runlog.CorruptError](err); ok && setAside {
		if _, err := runlog.SetAside(damage); err != nil {
			return nil, nil, rec, err
		}
		past = local.NewPast(dir, true)
		log, rec, err = runlog.Open(dir, nil, past.Visit)
	}
	if err != nil {
		return nil, nil, rec, err
	}
	if err := past.Finish(); err != nil {
		return nil, nil, rec, errors.Join(err, log.Close())
	}
	return log, past, rec, nil
}

func (e *Engine) resume(ctx context.Context, log *runlog.Log, past *local.Past, rec runlog.Recovery, o ResumeOptions) (*Run, error) {
	switch end := past.End.(type) {
	case event.TaskCompleted:
		return nil, fmt.Errorf("%w: it completed %d steps", ErrFinished, end.Steps)
	case event.TaskFailed:
		if end.Wrong {
			return nil, fmt.Errorf("%w and cannot be mended: %s", ErrFinished, end.Reason)
		}
	}
	cfg, err := parseConfig(past.Config)
	if err != nil {
		return nil, err
	}
	if o.Change != nil {
		o.Change(&cfg)
	}
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c, _, readers, err := e.newChain(past.Submitted.Kind, past.Submitted.Params)
	if err != nil {
		return nil, err
	}
	stack, err := e.newStack(cfg, past.Spent)
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	first := event.RunResumed{Maker: Version, Step: past.Checkpoint.Step, Config: config, Dropped: rec.Dropped}
	return e.start(ctx, log, stack, readers, c, first, past)
}

func (e *Engine) newChain(family string, params json.RawMessage) (domain.Chain, string, domain.Readers, error) {
	readers := domain.Readers{}
	var found *domain.Family
	for i := range e.opts.Families {
		f := &e.opts.Families[i]
		for name, r := range f.Readers {
			readers[name] = r
		}
		if f.Name == family {
			found = f
		}
	}
	if found == nil || found.NewChain == nil {
		return nil, "", nil, fmt.Errorf("maker: no task family is called %q", family)
	}
	c, task, err := found.NewChain(params)
	if err != nil {
		return nil, "", nil, err
	}
	return c, task, readers, nil
}

// stack is a model with everything that is put around it.
type stack struct {
	config   Config
	voter    *route.Voter
	ledger   *budget.Ledger
	limits   *limiter.Limiter
	recorder *recorded.Recorder // nil unless the run is recorded
}

func (e *Engine) newStack(cfg Config, spent usage.Spent) (*stack, error) {
	voter, err := route.Open(cfg.Model, route.Options{
		BaseURL: cfg.BaseURL, Env: e.opts.Env, Transport: e.opts.Transport, Prices: e.opts.Prices,
	})
	if err != nil {
		return nil, &ConfigError{Field: "model", Err: err}
	}
	s := &stack{config: cfg, voter: voter}
	if err := s.record(e.opts); err != nil {
		return nil, err
	}
	s.ledger = budget.New(budget.Limits{MaxCalls: cfg.MaxCalls, MaxTokens: cfg.MaxTokens, MaxUSD: cfg.MaxUSD}, spent)
	if err := s.ledger.Check(voter.Price); err != nil {
		return nil, &ConfigError{Field: "max_usd", Err: fmt.Errorf("%w (%s); add its price with --prices, or use --max-tokens", err, voter.Name)}
	}
	s.limits = limiter.New(limiter.Options{})
	return s, nil
}

// record puts a recorder around the model, or a player in its place.
func (s *stack) record(o Options) error {
	if o.ReplayFrom != "" {
		player, err := recorded.Open(o.ReplayFrom)
		if err != nil {
			return &ConfigError{Field: "replay_from", Err: err}
		}
		s.voter.Model = player
	}
	if o.Record != "" {
		recorder, err := recorded.NewRecorder(s.voter.Model, o.Record, nil)
		if err != nil {
			return &ConfigError{Field: "record", Err: err}
		}
		s.voter.Model, s.recorder = recorder, recorder
	}
	return nil
}

// close ends what the stack holds open.
func (s *stack) close() error {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.Close()
}

// start opens the session in the log and sets the run going.
func (e *Engine) start(ctx context.Context, log *runlog.Log, s *stack, readers domain.Readers, c domain.Chain, first event.Event, past *local.Past) (*Run, error) {
	if err := log.Append(first); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	if err := log.Sync(ctx); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	cfg := s.config
	voters := s.ledger.Wrap(s.voter, s.voter.Price)
	voters = retry.Timeout(voters, cfg.CallTimeout)
	voters = s.limits.Wrap(voters)
	voters = retry.New(voters, retry.Options{MaxAttempts: cfg.RetryAttempts, BaseDelay: cfg.RetryDelay})
	voting := ballot.New([]ballot.Voter{{Name: s.voter.Name, Model: voters}}, readers, &ballot.Options{BatchSize: cfg.BatchSize, Spare: cfg.Spare})
	r := &Run{
		log: log, stack: s, steps: c.Steps(), done: make(chan struct{}), ballot: voting,
		runtime: local.New(local.Options{
			Log: log, Ballot: voting, Ledger: s.ledger,
			Compact: !cfg.FullLog, Past: past,
		}),
	}
	var at chain.Checkpoint
	if past != nil {
		at = past.Checkpoint
	}
	go r.run(ctx, func(ctx context.Context) error {
		return chain.Run(r.runtime.Flow(ctx), c, chain.Config{
			Rule: cfg.Voting, Flags: *cfg.Flags,
			FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
			MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults,
		}, at)
	})
	return r, nil
}
