package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/agent/claudecode"
	"github.com/maker-mdap/maker/agent/native"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/internal/runtime/retry"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/recorded"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// stack is the voters with everything that is put around them.
type stack struct {
	config    config.Config
	voters    []ballot.Voter
	limiters  []serverLimit // one for each server, in order of appearance
	lifts     []func()      // lift the run's caps on them
	places    int           // leased to it: calls in flight at a server; 0 is no limit
	ledger    *budget.Ledger
	keys      []string
	secrets   *secret.Set
	simulated bool
	closers   []io.Closer

	// Of runs with agents.
	engine  *Engine
	routes  route.Options
	tools   *toolbox.Toolbox
	policy  approval.Policy
	prompts *prompts.Set
	mu      sync.Mutex // guards groups and limiters
	groups  map[string][]ballot.Voter
}

// serverLimit is a server, or a model at one, with its limiter.
type serverLimit struct {
	provider string
	server   string // and the model: see limiterOf
	limiter  *limiter.Limiter
	models   []*watched // that are asked there
}

// newSecrets are keys that are kept out of what a run writes.
func newSecrets(keys []string) *secret.Set { return secret.NewSet(keys...).Keep(logNames()) }

// logNames are the names without which a log or a recording could not be read again.
var logNames = sync.OnceValue(func() []string {
	return append(event.FieldNames(config.Config{}, model.Request{}, model.Response{}), recorded.FieldNames()...)
})

// newStack opens what a run needs, but for what is shared with others of its parts.
func (e *Engine) newStack(ctx context.Context, cfg config.Config, spent usage.Spent, j *kind.Job, shared lent) (*stack, error) {
	s := &stack{config: cfg, engine: e, prompts: j.Prompts, tools: shared.tools, places: shared.places}
	s.ledger = budget.New(budget.Limits{MaxCalls: cfg.MaxCalls, MaxTokens: cfg.MaxTokens, MaxUSD: cfg.MaxUSD}, spent)
	s.routes = route.Options{
		BaseURL: cfg.BaseURL, Env: e.opts.Env, Transport: e.shared.transport, Prices: e.opts.Prices,
		Warn:    func(text string) { e.opts.Logger.Warn(text) },
		Offline: cfg.ReplayFrom != "",
	}
	s.keys = route.AllKeys(e.opts.Env)
	var err error
	if j.NoModel {
		s.voters = []ballot.Voter{noVoter()}
	} else {
		err = s.openVoters()
	}
	s.secrets = newSecrets(s.keys)
	switch {
	case err != nil:
	case j.Agents:
		err = s.equip(ctx, j)
	case len(j.Roles) > 0:
		err = s.cast(j.Roles)
	}
	if err == nil && j.Open != nil {
		var opened io.Closer
		if opened, err = j.Open(ctx); err == nil {
			s.closers = append(s.closers, opened)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// openVoters opens the models that share the samples of a question.
func (s *stack) openVoters() error {
	field := votersField(s.config)
	var opened []*route.Voter
	for _, name := range s.config.VoterNames() {
		v, err := s.open(name, field)
		if err != nil {
			return err
		}
		opened, s.keys = append(opened, v), append(s.keys, v.Secrets...)
	}
	if err := checkBaseURL(s.config, opened); err != nil {
		return err
	}
	if err := s.record(opened, s.engine.opts); err != nil {
		return err
	}
	for _, v := range opened {
		s.voters = append(s.voters, s.voter(v))
	}
	return nil
}

// votersField is the setting that names the voters.
func votersField(cfg config.Config) string {
	if len(cfg.Voters) > 0 {
		return "voters"
	}
	return "model"
}

// open finds the model of a setting and looks whether the budget can be kept with it.
func (s *stack) open(name, field string) (*route.Voter, error) {
	v, err := route.Open(name, s.routes)
	if err != nil {
		return nil, &config.Error{Field: field, Err: err}
	}
	if err := s.ledger.Check(v.Price); err != nil {
		return nil, &config.Error{Field: "max_usd", Err: fmt.Errorf("%w (%s); add its price with --prices, or use --max-tokens", err, v.Name)}
	}
	s.simulated = s.simulated || v.Simulated
	return v, nil
}

// voter is a model with the decorators around it.
func (s *stack) voter(v *route.Voter) ballot.Voter {
	w := &watched{name: v.Name}
	l := s.limiterOf(v, w)
	return ballot.Voter{Name: v.Name, Temperature: v.Temperature, Limiter: l, Model: s.wrap(v, w, l), InProcess: v.Server == ""}
}

// cast opens the models that questions will name, so that one that cannot be used
// is found out before anything is spent.
func (s *stack) cast(roles []string) error {
	s.groups = map[string][]ballot.Voter{}
	for _, name := range roles {
		if _, err := s.group(name); err != nil {
			return err
		}
	}
	return nil
}

// noModel is the name that stands where there is none.
const noModel = "none"

// noVoter stands where a run asks no model.
func noVoter() ballot.Voter {
	fail := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		return nil, &model.Error{Kind: model.Invalid, Message: "this run was started without a model"}
	})
	return ballot.Voter{Name: noModel, Model: fail, Agent: native.New(fail)}
}

// equip gives the voters agents, and the agents tools.
func (s *stack) equip(ctx context.Context, j *kind.Job) error {
	err := s.openTools(ctx)
	if err != nil {
		return err
	}
	if s.policy, err = toolbox.Policy(s.config.Tools); err != nil {
		return err
	}
	if s.tools.MCP != nil {
		s.secrets = newSecrets(append(s.keys, s.tools.MCP.Secrets()...))
	}
	s.groups = map[string][]ballot.Voter{}
	if j.NoModel {
		return nil
	}
	cheap, err := s.group(flow.Cheap)
	if err != nil {
		return err
	}
	roles := []string{flow.Reasoning}
	if name := s.config.Solve.ModelEscalation; name != "" {
		roles = append(roles, name)
	}
	for _, role := range roles {
		if _, err := s.group(role); err != nil {
			return err
		}
	}
	for i := range s.voters {
		if s.voters[i].Agent, err = s.agentFor(s.voters[i], cheap[0].Model); err != nil {
			return err
		}
	}
	return nil
}

// openTools opens the tools of the run, unless it has them.
func (s *stack) openTools(ctx context.Context) error {
	if s.tools != nil {
		return nil
	}
	files, own, err := s.protected()
	if err != nil {
		return fmt.Errorf("maker: %w", err)
	}
	s.tools, err = toolbox.Open(ctx, s.config.Tools, toolbox.Options{
		Env: s.engine.opts.Env, Version: Version, Extra: s.engine.opts.Tools,
		Protected: files, Own: own,
		Warn: func(text string) { s.engine.opts.Logger.Warn(text) },
	})
	if err == nil {
		s.closers = append(s.closers, s.tools)
	}
	return err
}

// protected lists what tools must not change: files that say what they may do, and what
// this program writes, because who could change a log could change what happened.
func (s *stack) protected() (files, own []string, err error) {
	files = slices.Clone(s.engine.opts.Protected)
	program := s.config.ClaudeProgram
	if filepath.Base(program) == program {
		program = "" // it is looked for in PATH
	}
	add := func(list *[]string, path string) {
		if path == "" || err != nil {
			return
		}
		if path, err = filepath.Abs(path); err == nil {
			*list = append(*list, path)
		}
	}
	add(&files, s.config.ReplayFrom)
	add(&files, program)
	add(&own, s.engine.opts.LogDir)
	add(&own, s.engine.opts.Record)
	return files, own, err
}

// agentFor is the agent around a voter's model.
func (s *stack) agentFor(v ballot.Voter, cheap model.Model) (agent.Agent, error) {
	a := native.New(v.Model)
	if s.config.Agent == config.AgentClaudeCode {
		var err error
		if a, err = s.claudeCode(v.Name); err != nil {
			return nil, err
		}
	}
	return agent.WithRepair(a, cheap, s.prompts), nil
}

// What one attempt of the claude program can cost at most: the bound that it is
// given, and one more message, whose size is that of the model's context.
const (
	claudeAttemptUSD = 0.50
	claudeContext    = 200_000 // tokens
	claudeMessage    = 32_000  // tokens that it lets the model write
	claudeCalls      = 10      // that an attempt has the time for
)

// claudeCode is the agent that runs the claude program with a model.
func (s *stack) claudeCode(name string) (agent.Agent, error) {
	provider, rest, _ := strings.Cut(name, "/")
	if provider != "anthropic" {
		return nil, config.Errorf("agent", "%s works with anthropic/ models only, not with %s", config.AgentClaudeCode, name)
	}
	o := claudecode.Options{Program: s.config.ClaudeProgram, Model: rest, Env: s.engine.opts.Env, Timeout: claudeCalls * s.config.CallTimeout}
	worst := 0.0
	if s.config.MaxUSD > 0 {
		p, ok := s.engine.opts.Prices.Lookup(name)
		if !ok {
			return nil, config.Errorf("max_usd", "the price of %s is not known; add it with --prices, or use --max-calls", name)
		}
		o.MaxUSD = claudeAttemptUSD
		worst = o.MaxUSD + p.WorstCost(claudeContext, claudeMessage).USD()
	}
	a, err := claudecode.New(o)
	if err != nil {
		return nil, &config.Error{Field: "agent", Err: err}
	}
	return s.ledger.WrapAgent(a, worst), nil
}

// registry has the tools of the run; nil if it has none.
func (s *stack) registry() *tool.Registry {
	if s.tools == nil {
		return nil
	}
	return s.tools.Registry
}

// group returns the voters that a question asks for: the model of a role, or a
// model by its name. They are opened when they are first needed. A model that a
// confined run names has no file of its own.
func (s *stack) group(name string) ([]ballot.Voter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if group, ok := s.groups[name]; ok {
		return group, nil
	}
	field, wanted := "model", name
	switch name {
	case flow.Reasoning:
		field, wanted = "model_reasoning", s.config.Reasoning()
	case flow.Cheap:
		field, wanted = "model_cheap", CheapModel(s.config)
	case s.config.Solve.ModelEscalation:
		field = "model_escalation"
	}
	names := []string{wanted}
	if field == "model_escalation" {
		names = s.config.Solve.SecondPool()
	}
	if field == "model" && s.engine.opts.Confined && len(route.Scripts(name)) > 0 {
		return nil, config.Errorf(field, "%s names a file, which only a setting of the run may", name)
	}
	return s.openGroup(name, names, field)
}

// errManyModels says that a run has opened as many models as it may.
var errManyModels = errors.New("too many models")

// pool opens the models of a setting that share the samples of a question, if that makes not
// more than most models in all, and returns what questions call them.
func (s *stack) pool(field string, names []string, most int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.Join(names, ",")
	if _, ok := s.groups[name]; ok {
		return name, nil
	}
	for _, group := range s.groups {
		most -= len(group)
	}
	if len(names) > most {
		return "", errManyModels
	}
	_, err := s.openGroup(name, names, field)
	return name, err
}

// openGroup opens models that share the samples of a question.
func (s *stack) openGroup(group string, names []string, field string) ([]ballot.Voter, error) {
	if s.groups == nil {
		return nil, fmt.Errorf("maker: this kind of run has one model only, not also %q", group)
	}
	var opened []ballot.Voter
	for _, name := range names {
		v, err := s.named(name, field)
		if err != nil {
			return nil, err
		}
		cheap := v.Model
		if group := s.groups[flow.Cheap]; len(group) > 0 {
			cheap = group[0].Model
		}
		if v.Agent, err = s.agentFor(v, cheap); err != nil {
			return nil, err
		}
		opened = append(opened, v)
	}
	s.groups[group] = opened
	return opened, nil
}

// CheapModel is the model for small jobs: the provider's, unless one is named.
func CheapModel(cfg config.Config) string {
	return cmp.Or(cfg.ModelCheap, route.Cheap(cfg.Execution()))
}

// canUse says why a model cannot be asked.
func (s *stack) canUse(name string) error {
	_, err := s.group(name)
	if e, ok := errors.AsType[*config.Error](err); ok {
		return e.Err
	}
	return err
}

// named opens a model, unless it is open already.
func (s *stack) named(name, field string) (ballot.Voter, error) {
	for _, v := range s.voters {
		if v.Name == name {
			return ballot.Voter{Name: v.Name, Model: v.Model, Limiter: v.Limiter, Temperature: v.Temperature, InProcess: v.InProcess}, nil
		}
	}
	v, err := s.open(name, field)
	if err != nil {
		return ballot.Voter{}, err
	}
	if s.config.ReplayFrom != "" || s.engine.opts.Record != "" {
		return ballot.Voter{}, config.Errorf(field, "--record and --replay work with one model for everything, and there is %s too; use --model alone", v.Name)
	}
	return s.voter(v), nil
}

// checkBaseURL refuses an address that nobody would use: requests must not go
// elsewhere than the user thinks.
func checkBaseURL(cfg config.Config, voters []*route.Voter) error {
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
	return config.Errorf("base_url", "it is for compat/ models, and there is none; %s/ has its own variable (see `maker models`)", elsewhere)
}

// wrap puts the decorators around a voter.
func (s *stack) wrap(v *route.Voter, w *watched, l *limiter.Limiter) model.Model {
	m := retry.Timeout(v.Model, s.config.CallTimeout)
	m = s.ledger.Wrap(m, v.Price)
	w.Model = m
	m = l.Wrap(w)
	return retry.New(m, retry.Options{MaxAttempts: s.config.RetryAttempts, BaseDelay: s.config.RetryDelay})
}

// limiterOf is the limiter of a voter: of a model at a server, because one may be out of
// order, or asked too much, while others there do well; or of the server, if that can do so
// many calls at once and no more. All runs of the engine share it, but for what is asked
// within this process or answered from a recording: there is no server then.
func (s *stack) limiterOf(v *route.Voter, w *watched) *limiter.Limiter {
	server := v.Server
	if s.config.MaxInFlight == 0 && s.places == 0 {
		server += " " + v.Name
	}
	for i := range s.limiters {
		if l := &s.limiters[i]; l.server == server {
			l.models = append(l.models, w)
			return l.limiter
		}
	}
	l := serverLimit{provider: v.Provider, server: server, models: []*watched{w}}
	if v.Server == "" || s.config.ReplayFrom != "" {
		l.limiter = limiter.New(limiter.Options{})
	} else {
		l.limiter = s.engine.shared.limiter(server)
	}
	s.lifts = append(s.lifts, l.limiter.Cap(s.config.MaxInFlight), l.limiter.Lease(s.places))
	s.limiters = append(s.limiters, l)
	return l.limiter
}

// record puts a recorder around each voter, or a player in its place.
func (s *stack) record(voters []*route.Voter, o Options) error {
	if s.config.ReplayFrom != "" {
		player, err := recorded.Open(s.config.ReplayFrom)
		if err != nil {
			return &config.Error{Field: "replay", Err: err}
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
		return config.Errorf("record", "it works with one voter, not with %d", len(voters))
	}
	recorder, err := recorded.NewRecorder(voters[0].Model, o.Record, &recorded.Options{
		Redact: func(line []byte) []byte { return s.secrets.RedactBytes(line) },
	})
	if err != nil {
		return &config.Error{Field: "record", Err: err}
	}
	voters[0].Model = recorder
	s.closers = append(s.closers, recorder)
	return nil
}

// setup is what the session is done with.
func (s *stack) setup() event.Setup {
	name := strings.Join(s.config.VoterNames(), ",")
	if s.voters[0].Name == noModel {
		name = noModel
	}
	if s.config.ReplayFrom != "" {
		name += " replayed from " + s.config.ReplayFrom
	}
	setup := event.Setup{Model: name, Rule: s.config.Voting, Simulated: s.simulated}
	if s.tools != nil {
		setup.Sandbox = s.tools.Builtin.Sandbox()
	}
	return setup
}

// trouble says which provider is failing, and how.
func (s *stack) trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
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

// forgets reports whether servers stop what is given up. Local ones go on for seconds, and
// what is asked in vain there is in the way of what is not.
func (s *stack) forgets() bool {
	return !slices.ContainsFunc(s.limiters, func(l serverLimit) bool { return l.provider == "ollama" })
}

// calm reports whether all providers take what they get.
func (s *stack) calm() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.limiters {
		if !p.limiter.Calm() {
			return false
		}
	}
	return true
}

// width is how many calls those who vote first take at once.
func (s *stack) width() int {
	n := 0
	for i, v := range s.voters {
		if !slices.ContainsFunc(s.voters[:i], func(other ballot.Voter) bool { return other.Limiter == v.Limiter }) {
			n += v.Limiter.Limit()
		}
	}
	return n
}

// servers are those that answer, with how they do.
func (s *stack) servers() []runs.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]runs.Server, len(s.limiters))
	for i, p := range s.limiters {
		now := p.limiter.State()
		list[i] = runs.Server{
			Provider: p.provider, Limit: now.Limit, InFlight: now.InFlight, Waiting: now.Waiting,
			Failing: now.Open, LastError: now.LastError, Until: now.Until,
		}
		for _, m := range p.models {
			list[i].Models = addModel(list[i].Models, m.now())
		}
	}
	return list
}

// close ends what the stack holds open.
func (s *stack) close() error {
	var err error
	for _, c := range s.closers {
		err = errors.Join(err, c.Close())
	}
	s.mu.Lock()
	for _, lift := range s.lifts {
		lift()
	}
	s.mu.Unlock()
	s.engine.shared.runEnded()
	return err
}
