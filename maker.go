package maker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
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
	"github.com/maker-mdap/maker/internal/secret"
	"github.com/maker-mdap/maker/model"
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
	o = o.withDefaults()
	seen := map[string]string{}
	for _, f := range o.Families {
		for name := range f.Readers {
			if other, taken := seen[name]; taken {
				return nil, badConfig("families", "%s and %s both have a reader called %q", other, f.Name, name)
			}
			seen[name] = f.Name
		}
	}
	return &Engine{opts: o}, nil
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
	log, err := runlog.Create(filepath.Join(e.opts.LogDir, id), id, stack.secrets.RedactBytes)
	if err != nil {
		return nil, errors.Join(&ConfigError{Field: "log_dir", Err: err}, stack.close())
	}
	first := event.TaskSubmitted{
		Format: event.Format, Maker: Version, Kind: family, Task: task,
		Params: raw, Config: config, Steps: c.Steps(), Simulated: stack.simulated, Setup: stack.setup(),
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
	var secrets atomic.Pointer[secret.Set] // known once the log has said which models it is about
	redact := func(line []byte) []byte { return secrets.Load().RedactBytes(line) }
	log, past, rec, err := reopen(dir, redact, o.SetAside)
	if err != nil {
		return nil, err
	}
	r, err := e.resume(ctx, log, &secrets, past, rec, o)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return r, nil
}

func reopen(dir string, redact runlog.Redact, setAside bool) (*runlog.Log, *local.Past, runlog.Recovery, error) {
	past := local.NewPast(dir, true)
	log, rec, err := runlog.Open(dir, redact, past.Visit)
	if damage, ok := errors.AsType[*runlog.CorruptError](err); ok && setAside {
		if _, err := runlog.SetAside(damage); err != nil {
			return nil, nil, rec, err
		}
		past = local.NewPast(dir, true)
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

func (e *Engine) resume(ctx context.Context, log *runlog.Log, secrets *atomic.Pointer[secret.Set], past *local.Past, rec runlog.Recovery, o ResumeOptions) (*Run, error) {
	switch end := past.End.(type) {
	case event.TaskCompleted:
		return nil, errors.Join(fmt.Errorf("%w: it completed %d steps", ErrFinished, end.Steps), writeResult(log.Dir()))
	case event.TaskFailed:
		if end.Wrong {
			return nil, errors.Join(fmt.Errorf("%w and cannot be mended: %s", ErrFinished, end.Reason), writeResult(log.Dir()))
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
	secrets.Store(stack.secrets)
	config, err := json.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	first := event.RunResumed{Maker: Version, Step: past.Checkpoint.Step, Config: config, Dropped: rec.Dropped, Spent: past.Spent, Setup: stack.setup()}
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

// stack is the voters with everything that is put around them.
type stack struct {
	config    Config
	voters    []ballot.Voter
	limiters  []providerLimit // one for each provider, in order of appearance
	ledger    *budget.Ledger
	secrets   *secret.Set
	simulated bool
	closers   []io.Closer
}

// providerLimit is a provider with its limiter.
type providerLimit struct {
	provider string
	limiter  *limiter.Limiter
}

func (e *Engine) newStack(cfg Config, spent usage.Spent) (*stack, error) {
	s := &stack{config: cfg}
	s.ledger = budget.New(budget.Limits{MaxCalls: cfg.MaxCalls, MaxTokens: cfg.MaxTokens, MaxUSD: cfg.MaxUSD}, spent)
	routes := route.Options{
		BaseURL: cfg.BaseURL, Env: e.opts.Env, Transport: e.opts.Transport, Prices: e.opts.Prices,
		Warn:    func(text string) { e.opts.Logger.Warn(text) },
		Offline: cfg.ReplayFrom != "",
	}
	field := "model"
	if len(cfg.Voters) > 0 {
		field = "voters"
	}
	var opened []*route.Voter
	keys := route.AllKeys(e.opts.Env)
	for _, name := range cfg.voters() {
		v, err := route.Open(name, routes)
		if err != nil {
			return nil, &ConfigError{Field: field, Err: err}
		}
		if err := s.ledger.Check(v.Price); err != nil {
			return nil, &ConfigError{Field: "max_usd", Err: fmt.Errorf("%w (%s); add its price with --prices, or use --max-tokens", err, v.Name)}
		}
		opened, keys = append(opened, v), append(keys, v.Secrets...)
		s.simulated = s.simulated || v.Simulated
	}
	if err := checkBaseURL(cfg, opened); err != nil {
		return nil, err
	}
	s.secrets = secret.NewSet(keys...)
	if err := s.record(opened, e.opts); err != nil {
		return nil, err
	}
	for _, v := range opened {
		s.voters = append(s.voters, ballot.Voter{Name: v.Name, Temperature: v.Temperature, Model: s.wrap(v)})
	}
	return s, nil
}

// checkBaseURL refuses an address that nobody would use: requests must not go
// elsewhere than the user thinks.
func checkBaseURL(cfg Config, voters []*route.Voter) error {
	elsewhere := ""
	for _, v := range voters {
		if v.Provider == "compat" {
			return nil
		}
		if !v.Simulated {
			elsewhere = v.Provider
		}
	}
	if cfg.BaseURL == "" || elsewhere == "" {
		return nil
	}
	return badConfig("base_url", "it is for compat/ models, and there is none; %s/ has its own variable (see `maker models`)", elsewhere)
}

// wrap puts the decorators around a voter. Voters of one provider share its
// limiter.
func (s *stack) wrap(v *route.Voter) model.Model {
	var limit *limiter.Limiter
	for _, p := range s.limiters {
		if p.provider == v.Provider {
			limit = p.limiter
		}
	}
	if limit == nil {
		limit = limiter.New(limiter.Options{})
		s.limiters = append(s.limiters, providerLimit{v.Provider, limit})
	}
	m := retry.Timeout(v.Model, s.config.CallTimeout)
	m = s.ledger.Wrap(m, v.Price)
	m = limit.Wrap(m)
	return retry.New(m, retry.Options{MaxAttempts: s.config.RetryAttempts, BaseDelay: s.config.RetryDelay})
}

// record puts a recorder around each voter, or a player in its place.
func (s *stack) record(voters []*route.Voter, o Options) error {
	if s.config.ReplayFrom != "" {
		player, err := recorded.Open(s.config.ReplayFrom)
		if err != nil {
			return &ConfigError{Field: "replay", Err: err}
		}
		for _, v := range voters {
			v.Model = player
		}
	}
	if o.Record == "" {
		return nil
	}
	if len(voters) > 1 {
		// A recording does not say which model gave an answer.
		return badConfig("record", "it works with one voter, not with %d", len(voters))
	}
	recorder, err := recorded.NewRecorder(voters[0].Model, o.Record, &recorded.Options{Redact: s.secrets.Redact})
	if err != nil {
		return &ConfigError{Field: "record", Err: err}
	}
	voters[0].Model = recorder
	s.closers = append(s.closers, recorder)
	return nil
}

// setup is what the session is done with.
func (s *stack) setup() event.Setup {
	name := strings.Join(s.config.voters(), ",")
	if s.config.ReplayFrom != "" {
		name += " replayed from " + s.config.ReplayFrom
	}
	return event.Setup{Model: name, Rule: s.config.Voting, Simulated: s.simulated}
}

// trouble says which provider is failing, and how.
func (s *stack) trouble() string {
	for _, p := range s.limiters {
		state := p.limiter.State()
		wait := max(0, time.Until(state.Until)).Round(100 * time.Millisecond)
		switch {
		case state.Open:
			return fmt.Sprintf("%s is failing: %s; next try in %s", p.provider, state.LastError, wait)
		case wait > 2*time.Second:
			return fmt.Sprintf("%s asked to wait; next call in %s", p.provider, wait)
		}
	}
	return ""
}

// close ends what the stack holds open.
func (s *stack) close() error {
	var err error
	for _, c := range s.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// start opens the session in the log and sets the run going.
func (e *Engine) start(ctx context.Context, log *runlog.Log, s *stack, readers domain.Readers, c domain.Chain, first event.Event, past *local.Past) (*Run, error) {
	err := log.Append(first)
	if err == nil {
		err = log.Sync(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close(), s.close())
	}
	s.ledger.OnClaim(func(ctx context.Context, c budget.Claim) error {
		if err := log.Append(event.BudgetClaimed{Calls: c.Calls, Tokens: c.Tokens, USD: c.USD}); err != nil {
			return err
		}
		return log.Sync(ctx)
	})
	cfg := s.config
	voting := ballot.New(s.voters, readers, &ballot.Options{
		BatchSize: cfg.BatchSize, Spare: cfg.Spare, PerCall: cfg.SamplesPerCall,
	})
	r := &Run{
		log: log, stack: s, steps: c.Steps(), done: make(chan struct{}), ballot: voting,
		runtime: local.New(local.Options{
			Log: log, Ballot: voting, Ledger: s.ledger,
			Setup:       s.setup(),
			Checkpoints: true, Compact: !cfg.FullLog, Past: past, Redact: s.secrets.RedactBytes,
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
			Structured: cfg.StructuredMode, MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults,
		}, at)
	})
	return r, nil
}
