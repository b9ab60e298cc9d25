package maker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"os"
	"time"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// Version is the version of this module.
const Version = "0.1.0-dev"

// Defaults of a [Config].
const (
	DefaultMaxOutput     = 750 // tokens, from the paper: beyond it errors multiply
	DefaultCallTimeout   = 60 * time.Second
	DefaultRetryDelay    = 500 * time.Millisecond
	DefaultRetryAttempts = 6
	DefaultTemperature   = 0.1
	DefaultLogDir        = "runs"

	// Of runs whose steps are done by agents.
	DefaultModel      = "anthropic/claude-sonnet-4-5"
	DefaultStepOutput = 4096  // tokens
	DefaultMaxPlan    = 16000 // tokens
)

// A Config is everything about a run that belongs in its log: plain data
// without secrets. A field left zero has the documented default.
type Config struct {
	// Model is the model for everything: provider/model, such as sim/default or
	// openai/gpt-4.1-mini.
	Model string `json:"model"`

	// Models for a role, where it is not to be Model: planning, doing the
	// steps, and small jobs such as repairs. The cheap one's default is its
	// provider's.
	ModelReasoning string `json:"model_reasoning,omitempty"`
	ModelExecution string `json:"model_execution,omitempty"`
	ModelCheap     string `json:"model_cheap,omitempty"`

	// Voters, if there are any, share the samples of each question in turn, in
	// place of the execution model. A name may end in @temperature.
	Voters []string `json:"voters,omitempty"`

	// BaseURL is the address of an OpenAI-compatible server for compat/ models.
	BaseURL string `json:"base_url,omitempty"`

	// Voting is the rule; the default is first to lead by 3.
	Voting vote.Rule `json:"voting"`

	// ReplayFrom names a file that Options.Record wrote, to answer from instead of
	// asking the model.
	ReplayFrom string `json:"replay_from,omitempty"`

	// BatchSize bounds the samples of one question in flight (64), and Spare is
	// how many are launched beyond what is needed (0).
	BatchSize int `json:"batch_size,omitempty"`
	Spare     int `json:"spare,omitempty"`

	// SamplesPerCall is how many samples one request may ask for, where a server
	// can give several (1).
	SamplesPerCall int `json:"samples_per_call,omitempty"`

	// StructuredMode asks providers for JSON: "json_schema" or "json_object";
	// "" asks for text.
	StructuredMode string `json:"structured_mode,omitempty"`

	// FirstTemperature is that of the first sample of a question (0),
	// Temperature that of the others (0.1).
	FirstTemperature *float64 `json:"first_temperature,omitempty"`
	Temperature      *float64 `json:"temperature,omitempty"`

	// MaxOutput bounds an answer, in tokens (750). A longer one is a red flag.
	MaxOutput int `json:"max_output,omitempty"`

	// Flags are the red flags; the default is the paper's.
	Flags *redflag.Config `json:"flags,omitempty"`

	// MaxFaults is how many failed attempts one question bears (20);
	// RetryAttempts how many one sample makes before it counts as failed (6);
	// RetryDelay the first, shortest wait between them.
	MaxFaults     int           `json:"max_faults,omitempty"`
	RetryAttempts int           `json:"retry_attempts,omitempty"`
	RetryDelay    time.Duration `json:"retry_delay_ns,omitempty"`
	CallTimeout   time.Duration `json:"call_timeout_ns,omitempty"`

	// Limits of the whole run, over all its sessions; 0 means none. Deadline
	// is per session.
	MaxCalls  int64         `json:"max_calls,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"`
	MaxUSD    float64       `json:"max_usd,omitempty"`
	Deadline  time.Duration `json:"deadline_ns,omitempty"`

	// FullLog keeps every sample in the log of a long chain, not only those of
	// contested steps.
	FullLog bool `json:"full_log,omitempty"`

	// Plan is for runs that plan or execute a plan, Solve for those that solve a
	// problem without a plan, Outline for those that do tasks as they are written,
	// and Tools for all whose steps use tools.
	Plan    PlanConfig    `json:"plan,omitzero"`
	Solve   SolveConfig   `json:"solve,omitzero"`
	Outline OutlineConfig `json:"outline,omitzero"`
	Tools   ToolConfig    `json:"tools,omitzero"`

	// Agent is who does the steps: AgentNative (the default) or AgentClaudeCode,
	// which runs the program ClaudeProgram ("claude") for every attempt.
	Agent         string `json:"agent,omitempty"`
	ClaudeProgram string `json:"claude_program,omitempty"`

	// Prompts are templates that replace built-in ones, by name.
	Prompts map[string]string `json:"prompts,omitempty"`
}

// The agents.
const (
	AgentNative     = "native"
	AgentClaudeCode = "claude-code"
)

// A ToolConfig says which tools the agents of a run have and what these may do.
// The zero value is the safe one: all built-in tools, confined to the current
// folder, no MCP servers, and every call that changes something waits for a
// person.
type ToolConfig = toolbox.Config

// maxMargin is far beyond any margin that makes sense: with p = 0.51, a million
// steps need 420.
const maxMargin = 10_000

// Bounds of settings that are far beyond what makes sense. They keep sums from
// overflowing and memory from running out.
const (
	maxCount    = math.MaxInt32        // of what is only counted
	maxAtOnce   = 100_000              // of what may be in flight together
	maxDuration = 365 * 24 * time.Hour // of one wait
)

// A bound is what the number of a setting may be.
type bound struct {
	field           string
	value, min, max int64
}

// checkBounds reports the first number that is out of its bounds.
func checkBounds(list ...bound) error {
	for _, n := range list {
		if n.value < n.min {
			return badConfig(n.field, "%d is too small, want at least %d", n.value, n.min)
		}
		if n.value > n.max {
			return badConfig(n.field, "%d is too large, want at most %d", n.value, n.max)
		}
	}
	return nil
}

// A Role is a kind of work that a model is asked for.
type Role string

// The roles.
const (
	Reasoning Role = "reasoning" // planning, decomposing
	Execution Role = "execution" // the steps
	Cheap     Role = "cheap"     // repairs, quality checks
)

// For is the model for a role.
func (c Config) For(r Role) string {
	switch r {
	case Reasoning:
		return cmp.Or(c.ModelReasoning, c.Model)
	case Cheap:
		return cmp.Or(c.ModelCheap, route.Cheap(c.For(Execution)))
	default:
		return cmp.Or(c.ModelExecution, c.Model)
	}
}

// voters are the names of the models that share the samples of a question.
func (c Config) voters() []string {
	if len(c.Voters) > 0 {
		return c.Voters
	}
	return []string{c.For(Execution)}
}

// batchSize bounds the samples of one question in flight. The claude program takes
// a processor and much memory for each.
func (c Config) batchSize() int {
	const programs = 4
	if c.Agent == AgentClaudeCode {
		return min(c.BatchSize, programs)
	}
	return c.BatchSize
}

// promptSet are the prompts with those that the user replaced.
func (c Config) promptSet() (*prompts.Set, error) {
	set, err := prompts.New(c.Prompts)
	if err != nil {
		return nil, &ConfigError{Field: "prompts_dir", Err: err}
	}
	return set, nil
}

// FirstToK is the rule that one answer must lead by k.
func FirstToK(k int) vote.Rule { return vote.Rule{Strategy: vote.FirstToK, K: k} }

// defaults are what differs from one kind of run to another.
type defaults struct {
	model     string
	rule      vote.Rule
	maxOutput int
	steps     bool // steps may have rules of their own, so all numbers are needed

	// Of runs that solve a problem.
	solve     bool
	batchSize int
}

var (
	chainDefaults = defaults{rule: FirstToK(3), maxOutput: DefaultMaxOutput}
	agentDefaults = defaults{
		model: DefaultModel, rule: vote.Rule{Strategy: vote.None, N: 3, K: 2, MaxSamples: 10}, maxOutput: DefaultStepOutput, steps: true,
	}
	solveDefaults = defaults{
		model: DefaultModel, rule: vote.Rule{Strategy: vote.FirstToK, K: DefaultSolveMargin, MaxSamples: DefaultSolveBatch * DefaultSolveRounds},
		maxOutput: DefaultMaxOutput, solve: true, batchSize: DefaultSolveBatch,
	}
)

// withDefaults fills in what was left zero.
func (c Config) withDefaults(d defaults) Config {
	c.Model = cmp.Or(c.Model, d.model)
	if c.Voting.Strategy == "" || d.steps {
		c.Voting.Strategy = cmp.Or(c.Voting.Strategy, d.rule.Strategy)
		c.Voting.K = cmp.Or(c.Voting.K, d.rule.K)
		c.Voting.N = cmp.Or(c.Voting.N, d.rule.N)
		c.Voting.MaxSamples = cmp.Or(c.Voting.MaxSamples, d.rule.MaxSamples)
	}
	if c.Voting.MaxSamples == 0 {
		// Far beyond any race that is worth finishing.
		const times = 50
		c.Voting.MaxSamples = times * min(max(c.Voting.K, c.Voting.N, 1), vote.MostSamples/times)
	}
	c.BatchSize = cmp.Or(c.BatchSize, d.batchSize, ballot.DefaultBatchSize)
	c.SamplesPerCall = cmp.Or(c.SamplesPerCall, 1)
	c.MaxOutput = cmp.Or(c.MaxOutput, d.maxOutput)
	c.MaxFaults = cmp.Or(c.MaxFaults, ballot.DefaultMaxFaults)
	c.RetryAttempts = cmp.Or(c.RetryAttempts, DefaultRetryAttempts)
	c.RetryDelay = cmp.Or(c.RetryDelay, DefaultRetryDelay)
	c.CallTimeout = cmp.Or(c.CallTimeout, DefaultCallTimeout)
	if c.FirstTemperature == nil {
		c.FirstTemperature = new(float64)
	}
	if c.Temperature == nil {
		t := DefaultTemperature
		c.Temperature = &t
	}
	if c.Flags == nil {
		flags := redflag.Format()
		flags.ExcessiveLength.MaxTokens = int64(c.MaxOutput)
		if d.solve {
			flags = SolveFlags(c.MaxOutput)
		}
		c.Flags = &flags
	}
	if d.solve {
		c.Solve = c.Solve.withDefaults()
	}
	if d.steps {
		c.Plan, c.Outline = c.Plan.withDefaults(), c.Outline.withDefaults()
	} else {
		c.Plan, c.Outline = PlanConfig{}, OutlineConfig{} // they are about other kinds of run
	}
	return c
}

// A ConfigError is a setting that cannot be used. Field is its name in the
// configuration file; the flag is the same with dashes.
type ConfigError struct {
	Field string
	Err   error
}

func (e *ConfigError) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

func badConfig(field, format string, args ...any) error {
	return &ConfigError{Field: field, Err: fmt.Errorf(format, args...)}
}

// validate reports the first setting that makes no sense.
func (c Config) validate() error {
	if c.Model == "" && len(c.Voters) == 0 && c.ModelExecution == "" {
		return badConfig("model", "no model is named; try sim/default")
	}
	if c.Voting.K > maxMargin {
		return badConfig("ahead_by", "%d votes, want at most %d", c.Voting.K, maxMargin)
	}
	switch c.StructuredMode {
	case "", string(model.JSONSchema), string(model.JSONObject):
	default:
		return badConfig("structured_mode", "%q, want %s or %s", c.StructuredMode, model.JSONSchema, model.JSONObject)
	}
	if err := c.Voting.Validate(); err != nil {
		field := "ahead_by"
		switch {
		case c.Voting.N > vote.MostSamples:
			field = "voting_n"
		case c.Voting.MaxSamples < 1, c.Voting.MaxSamples > vote.MostSamples, c.Voting.K > c.Voting.MaxSamples:
			field = "max_samples"
		case c.Voting.Strategy != vote.FirstToK:
			field = "voting"
		}
		return &ConfigError{Field: field, Err: err}
	}
	if err := checkBounds(
		bound{"batch_size", int64(c.BatchSize), 1, maxAtOnce},
		bound{"spare", int64(c.Spare), 0, maxAtOnce},
		bound{"samples_per_call", int64(c.SamplesPerCall), 1, maxAtOnce},
		bound{"max_output", int64(c.MaxOutput), 1, maxCount},
		bound{"max_faults", int64(c.MaxFaults), 1, math.MaxInt64},
		bound{"retry_attempts", int64(c.RetryAttempts), 1, math.MaxInt64},
		bound{"retry_delay", int64(c.RetryDelay), 1, math.MaxInt64},
		bound{"call_timeout", int64(c.CallTimeout), 1, math.MaxInt64},
		bound{"max_calls", c.MaxCalls, 0, math.MaxInt64},
		bound{"max_tokens", c.MaxTokens, 0, math.MaxInt64},
		bound{"deadline", int64(c.Deadline), 0, math.MaxInt64},
	); err != nil {
		return err
	}
	if c.RetryDelay > maxDuration {
		return badConfig("retry_delay", "%s is too long, want at most %s", c.RetryDelay, maxDuration)
	}
	if c.CallTimeout > maxDuration {
		return badConfig("call_timeout", "%s is too long, want at most %s", c.CallTimeout, maxDuration)
	}
	if c.MaxUSD < 0 || math.IsNaN(c.MaxUSD) || math.IsInf(c.MaxUSD, 0) {
		return badConfig("max_usd", "%v is not an amount of money", c.MaxUSD)
	}
	for _, t := range []struct {
		field string
		value *float64
	}{{"first_temperature", c.FirstTemperature}, {"temperature", c.Temperature}} {
		if t.value != nil && (math.IsNaN(*t.value) || *t.value < 0 || *t.value > 2) {
			return badConfig(t.field, "%v, want 0 to 2", *t.value)
		}
	}
	if err := c.Flags.Validate(); err != nil {
		return &ConfigError{Field: "flags", Err: err}
	}
	if _, err := c.Tools.Policy(); err != nil {
		return settingError(err)
	}
	switch c.Agent {
	case "", AgentNative, AgentClaudeCode:
	default:
		return badConfig("agent", "%q, want %s or %s", c.Agent, AgentNative, AgentClaudeCode)
	}
	if c.Agent == AgentClaudeCode && c.MaxTokens > 0 {
		return badConfig("max_tokens", "it cannot be kept with the agent %s, whose calls we do not see; use --max-usd or --max-calls", AgentClaudeCode)
	}
	if err := c.Solve.validate(); err != nil {
		return err
	}
	if c.Plan == (PlanConfig{}) {
		return nil // it is another kind of run
	}
	if err := c.Outline.validate(); err != nil {
		return err
	}
	return c.Plan.validate()
}

// settingError names a setting of the tools as all settings are named.
func settingError(err error) error {
	if e, ok := errors.AsType[*toolbox.FieldError](err); ok {
		return &ConfigError{Field: e.Field, Err: e.Err}
	}
	return err
}

// Options are what an [Engine] needs beyond the configuration of a run. The
// zero value of each field is useful.
type Options struct {
	Config Config

	// LogDir is the folder that holds the run folders ("runs").
	LogDir string

	// Families are the tasks that the engine can run, in addition to the
	// built-in ones.
	Families []domain.Family

	// Domains are families of problems that Solve can be told to solve, by name, in
	// addition to the built-in ones.
	Domains map[string]domain.Adapter

	// Prices is the price table; nil means the built-in one.
	Prices *price.Table

	// Record names a file that gets every request and its answer.
	Record string

	// Protected names files that tools must not change, beyond those that Config names,
	// such as the program's own settings. Relative paths start in the workspace.
	Protected []string

	// Tools are further tools for the agents of runs that have some.
	Tools []tool.Tool

	// Modules take the place of the planner, the validator and the executor in runs
	// that plan; nil means the built-in ones. Each run needs its own, so this is a
	// function that makes them.
	Modules func() []flow.Module

	// Ask puts a question to the person and returns the answer, or ErrAbsent if
	// nobody is there. Without it a run that needs a person stops and can be
	// resumed once its question is answered; see Run.Result.
	Ask func(ctx context.Context, q Question) (string, error)

	// Answers are prepared answers, as YAML; see docs/tools.md. They are looked at
	// before anybody is asked.
	Answers []byte

	// Transport carries the requests to providers. Nil means a tuned one of the
	// engine's own, which Engine.Close closes.
	Transport http.RoundTripper

	// Env looks up environment variables; nil means os.Getenv.
	Env func(string) string

	// Logger gets diagnostics; nil discards them.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.LogDir = cmp.Or(o.LogDir, DefaultLogDir)
	o.Families = append([]domain.Family{hanoi.Family()}, o.Families...)
	if o.Prices == nil {
		o.Prices = price.Default()
	}
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// parseConfig reads a configuration from a log.
func parseConfig(raw json.RawMessage) (Config, error) {
	var c Config
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("maker: the run's configuration: %w", err)
	}
	return c, nil
}
