package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// bounded is a flag whose value has a smallest one.
type bounded[T cmp.Ordered] struct {
	value  *T
	least  T
	parse  func(string) (T, error)
	format func(T) string
	kind   string
}

func (b *bounded[T]) String() string {
	if b.value == nil { // pflag asks a zero one for its default
		return ""
	}
	return b.format(*b.value)
}

func (b *bounded[T]) Type() string { return b.kind }

func (b *bounded[T]) Set(s string) error {
	v, err := b.parse(s)
	if err != nil {
		return fmt.Errorf("want a %s such as %s", b.kind, b.format(max(*b.value, b.least)))
	}
	if v != v || v < b.least { // NaN is below everything
		return fmt.Errorf("want at least %s", b.format(b.least))
	}
	*b.value = v
	return nil
}

func intFlag[T int | int64](f *pflag.FlagSet, p *T, name, short string, value, least T, usage string) {
	*p = value
	f.VarP(&bounded[T]{p, least, func(s string) (T, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err == nil && int64(T(n)) != n {
			err = strconv.ErrRange
		}
		return T(n), err
	}, func(n T) string { return strconv.FormatInt(int64(n), 10) }, "number"}, name, short, usage)
}

func floatFlag(f *pflag.FlagSet, p *float64, name string, value, least float64, usage string) {
	*p = value
	f.Var(&bounded[float64]{p, least, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) },
		func(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }, "number"}, name, usage)
}

func durationFlag(f *pflag.FlagSet, p *time.Duration, name string, value, least time.Duration, usage string) {
	*p = value
	f.Var(&bounded[time.Duration]{p, least, time.ParseDuration, time.Duration.String, "duration"}, name, usage)
}

// engineFlags are the settings of the engine, shared by all commands that run
// something.
type engineFlags struct {
	config      maker.Config
	first, temp float64
	voters      string
	log         string
	redFlags    string
	prices      string
	record      string
	strategy    string // of the voting; "" where it is fixed
}

// choice is a flag that takes one of a few words.
type choice struct {
	value   *string
	allowed []string
	unset   string // the word that stands for ""
}

func (c *choice) String() string {
	if c.value == nil || *c.value == "" {
		return c.unset
	}
	return *c.value
}

func (c *choice) Type() string { return "word" }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		last := len(c.allowed) - 1
		return fmt.Errorf("want %s or %s", strings.Join(c.allowed[:last], ", "), c.allowed[last])
	}
	if s == c.unset {
		s = ""
	}
	*c.value = s
	return nil
}

// register adds the flags of a chain.
func (e *engineFlags) register(f *pflag.FlagSet, model string) {
	e.registerModels(f, model)
	c := &e.config
	c.Voting.Strategy = vote.FirstToK
	intFlag(f, &c.Voting.K, "ahead-by", "k", 3, 1, "votes by which an answer must lead to win")
	intFlag(f, &c.Voting.MaxSamples, "max-samples", "", 0, 0, "votes and red flags after which a step is undecided (0: 50 times k)")
	e.registerSampling(f, maker.DefaultMaxOutput)
	e.registerStructured(f)
	e.registerLimits(f)
	e.log = "compact"
	f.Var(&choice{value: &e.log, allowed: []string{"compact", "full"}}, "log", "compact: samples of contested steps only; full: all samples")
	e.registerFiles(f)
}

// registerAgents adds the flags of runs whose steps are done by agents.
func (e *engineFlags) registerAgents(f *pflag.FlagSet) {
	e.registerModels(f, maker.DefaultModel)
	e.registerVoting(f)
	e.registerSampling(f, maker.DefaultStepOutput)
	e.registerLimits(f)
	e.registerFiles(f)
}

// registerResume adds the flags of all kinds of run.
func (e *engineFlags) registerResume(f *pflag.FlagSet) {
	e.register(f, "sim/default")
	e.registerStrategy(f, vote.FirstToK)
}

// registerVoting adds the flags of the voting rule under the names that plans use.
func (e *engineFlags) registerVoting(f *pflag.FlagSet) {
	e.registerStrategy(f, vote.None)
	c := &e.config
	intFlag(f, &c.Voting.K, "voting-k", "", 2, 1, "votes by which an answer must lead to win with first_to_k")
	intFlag(f, &c.Voting.MaxSamples, "max-voting-samples", "", 10, 1, "votes and red flags after which a step is undecided")
}

func (e *engineFlags) registerStrategy(f *pflag.FlagSet, initial vote.Strategy) {
	e.strategy = string(initial)
	f.Var(&choice{value: &e.strategy, allowed: []string{"none", "majority", "first_to_k"}}, "voting", "how a step is decided: none (one sample), majority or first_to_k")
	intFlag(f, &e.config.Voting.N, "voting-n", "", 3, 1, "samples of a majority")
}

func (e *engineFlags) registerModels(f *pflag.FlagSet, model string) {
	f.SortFlags = false
	c := &e.config
	f.StringVarP(&c.Model, "model", "m", model, "model for everything: provider/model")
	names(f, "model", inModels)
	f.StringVarP(&c.ModelReasoning, "model-reasoning", "r", "", "model for planning (default: --model)")
	names(f, "model-reasoning", inModels)
	f.StringVarP(&c.ModelExecution, "model-execution", "e", "", "model for the steps (default: --model)")
	names(f, "model-execution", inModels)
	f.StringVar(&c.ModelCheap, "model-cheap", "", "model for repairs and quality checks (default: the provider's small one)")
	names(f, "model-cheap", inModels)
	f.StringVar(&e.voters, "voters", "", "models that share the samples of each step, separated by commas; name@0.7 sets a temperature")
	names(f, "voters", inModels)
	f.StringVar(&c.BaseURL, "base-url", "", "address of the server for compat/ models")
}

func (e *engineFlags) registerSampling(f *pflag.FlagSet, maxOutput int) {
	c := &e.config
	intFlag(f, &c.BatchSize, "batch-size", "", 64, 1, "samples of one step in flight at most")
	intFlag(f, &c.Spare, "spare", "", 0, 0, "samples launched beyond what is needed: faster, dearer")
	intFlag(f, &c.SamplesPerCall, "samples-per-call", "", 1, 1, "samples that one request may ask for, where the server can give several")
	floatFlag(f, &e.first, "first-temperature", 0, 0, "temperature of a step's first sample")
	floatFlag(f, &e.temp, "temperature", maker.DefaultTemperature, 0, "temperature of the others")
	intFlag(f, &c.MaxOutput, "max-output", "", maxOutput, 1, "tokens of an answer; a longer one is a red flag")
	f.StringVar(&e.redFlags, "red-flags", "format", "checks that discard an answer: format, default, strict, or a YAML file")
	names(f, "red-flags", asFlags)
}

func (e *engineFlags) registerStructured(f *pflag.FlagSet) {
	f.Var(&choice{&e.config.StructuredMode, []string{"none", "json_schema", "json_object"}, "none"}, "structured-mode", "ask the provider for JSON: none, json_schema or json_object")
}

func (e *engineFlags) registerLimits(f *pflag.FlagSet) {
	c := &e.config
	intFlag(f, &c.MaxCalls, "max-calls", "", 0, 0, "stop before more calls than this (0: no limit)")
	intFlag(f, &c.MaxTokens, "max-tokens", "", 0, 0, "stop before more tokens than this (0: no limit)")
	floatFlag(f, &c.MaxUSD, "max-usd", 0, 0, "stop before spending more dollars than this (0: no limit)")
	durationFlag(f, &c.Deadline, "deadline", 0, 0, "stop after this time (0s: never)")

	durationFlag(f, &c.CallTimeout, "call-timeout", maker.DefaultCallTimeout, time.Millisecond, "give one call up after this time")
	intFlag(f, &c.MaxFaults, "max-faults", "", 20, 1, "failed calls that one step bears")
	intFlag(f, &c.RetryAttempts, "retry-attempts", "", maker.DefaultRetryAttempts, 1, "calls that one sample makes before it counts as failed")
	durationFlag(f, &c.RetryDelay, "retry-delay", maker.DefaultRetryDelay, time.Microsecond, "wait before the first retry; doubles each time")
}

func (e *engineFlags) registerFiles(f *pflag.FlagSet) {
	c := &e.config
	pricesFlag(f, &e.prices)
	f.StringVar(&e.record, "record", "", "write every request and answer to this file")
	names(f, "record", toWriteTo)
	f.StringVar(&c.ReplayFrom, "replay", "", "answer from a file that --record wrote instead of asking the model")
	names(f, "replay", byPath)
}

func pricesFlag(f *pflag.FlagSet, file *string) {
	f.StringVar(file, "prices", "", "YAML file with prices that override the built-in ones")
	names(f, "prices", byPath)
}

// options returns the engine's options.
func (e *engineFlags) options(a *app) (*maker.Options, error) {
	c := e.config
	c.FirstTemperature, c.Temperature = &e.first, &e.temp
	c.FullLog = e.log == "full"
	c.Voters = route.List(e.voters)
	if e.strategy != "" {
		c.Voting.Strategy = vote.Strategy(e.strategy)
	}
	flags, err := readRedFlags(e.redFlags, c.MaxOutput)
	if err != nil {
		return nil, &maker.ConfigError{Field: "red_flags", Err: err}
	}
	c.Flags = flags
	table, err := readPrices(e.prices)
	if err != nil {
		return nil, err
	}
	return &maker.Options{Config: c, LogDir: a.logDir, Record: e.record, Prices: table, Logger: slog.New(warnings{a.Err})}, nil
}

// readPrices returns the built-in prices, with those of a file over them if one is
// named.
func readPrices(file string) (*price.Table, error) {
	if file == "" {
		return price.Default(), nil
	}
	table, err := price.Load(file)
	if err != nil {
		return nil, &maker.ConfigError{Field: "prices", Err: err}
	}
	return table, nil
}

// change applies the flags that were given to the configuration of a run that
// is resumed; everything else stays as it was.
func (e *engineFlags) change(f *pflag.FlagSet, flags *redflag.Config) func(*maker.Config) {
	return func(c *maker.Config) {
		changes := map[string]func(){
			"model":           func() { c.Model, c.ReplayFrom = e.config.Model, "" },
			"replay":          func() { c.ReplayFrom = e.config.ReplayFrom },
			"model-reasoning": func() { c.ModelReasoning = e.config.ModelReasoning },
			"model-execution": func() { c.ModelExecution = e.config.ModelExecution },
			"model-cheap":     func() { c.ModelCheap = e.config.ModelCheap },
			"voters":          func() { c.Voters = route.List(e.voters) },
			"base-url":        func() { c.BaseURL = e.config.BaseURL },
			"ahead-by": func() {
				if c.Voting.MaxSamples == 50*c.Voting.K {
					c.Voting.MaxSamples = 0 // it was derived from k, and is so again
				}
				c.Voting.K = e.config.Voting.K
			},
			"max-samples":       func() { c.Voting.MaxSamples = e.config.Voting.MaxSamples },
			"voting":            func() { c.Voting.Strategy = vote.Strategy(e.strategy) },
			"voting-n":          func() { c.Voting.N = e.config.Voting.N },
			"batch-size":        func() { c.BatchSize = e.config.BatchSize },
			"spare":             func() { c.Spare = e.config.Spare },
			"samples-per-call":  func() { c.SamplesPerCall = e.config.SamplesPerCall },
			"structured-mode":   func() { c.StructuredMode = e.config.StructuredMode },
			"first-temperature": func() { c.FirstTemperature = &e.first },
			"temperature":       func() { c.Temperature = &e.temp },
			"max-output":        func() { c.MaxOutput, c.Flags = e.config.MaxOutput, flags },
			"red-flags":         func() { c.Flags = flags },
			"max-calls":         func() { c.MaxCalls = e.config.MaxCalls },
			"max-tokens":        func() { c.MaxTokens = e.config.MaxTokens },
			"max-usd":           func() { c.MaxUSD = e.config.MaxUSD },
			"deadline":          func() { c.Deadline = e.config.Deadline },
			"call-timeout":      func() { c.CallTimeout = e.config.CallTimeout },
			"max-faults":        func() { c.MaxFaults = e.config.MaxFaults },
			"retry-attempts":    func() { c.RetryAttempts = e.config.RetryAttempts },
			"retry-delay":       func() { c.RetryDelay = e.config.RetryDelay },
			"log":               func() { c.FullLog = e.log == "full" },
		}
		// In the order of the flags: a model given takes the place of a recording,
		// unless one is given too.
		f.VisitAll(func(flag *pflag.Flag) {
			if apply := changes[flag.Name]; apply != nil && flag.Changed {
				apply()
			}
		})
	}
}

// warnings prints the engine's diagnostics the way this program speaks.
type warnings struct{ w io.Writer }

func (warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (h warnings) Handle(_ context.Context, r slog.Record) error {
	_, err := fmt.Fprintf(h.w, "maker: warning: %s\n", r.Message)
	return err
}

func (h warnings) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h warnings) WithGroup(string) slog.Handler      { return h }
