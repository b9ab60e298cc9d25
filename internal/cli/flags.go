package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/promptdir"
	"github.com/maker-mdap/maker/internal/cli/redflags"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/vote"
)

// settings are those of one command, as its flags set them.
type settings struct {
	config config.Config
	flags  *pflag.FlagSet
	resume bool // what is not given stays as the run has it

	// What is no part of a configuration.
	redFlags   string
	promptsDir string
	prices     string
	record     string
	answers    string
	planner    string
	onFailure  string
	planVoting bool
	maxReplans int
	maxRounds  int
	attach     []string
}

// place is where a setting is kept that is no part of a configuration.
func (s *settings) place(name string) any {
	return map[string]any{
		"red_flags": &s.redFlags, "prompts_dir": &s.promptsDir, "prices": &s.prices, "record": &s.record, "answers": &s.answers,
		"planner": &s.planner, "on_failure": &s.onFailure, "plan_voting": &s.planVoting, "max_replans": &s.maxReplans,
		"max_rounds": &s.maxRounds, "attach": &s.attach,
	}[name]
}

// value is where a setting is kept.
func (s *settings) value(d *config.Setting) config.Value {
	if v := d.Value(&s.config); v != nil {
		return v
	}
	if at := s.place(d.Name); at != nil {
		return d.ValueAt(at)
	}
	return nil // one of the program
}

// register adds the flags of the settings that kinds of run have, with the defaults of
// the first of these kinds; of all of them, or of those that are picked.
func (s *settings) register(cmd *cobra.Command, kinds config.Kinds, pick func(*config.Setting) bool) {
	s.flags = cmd.Flags()
	s.flags.SortFlags = false
	for _, d := range config.Settings() {
		v := s.value(d)
		if d.For&kinds == 0 || v == nil || pick != nil && !pick(d) {
			continue
		}
		if text := d.DefaultFor(kinds & -kinds); text != "" {
			_ = v.Set(text) // a default of ours is one that it takes
		}
		addFlag(cmd, s.flags, d, s.value(d))
	}
}

// initially gives a setting another default than its own.
func (s *settings) initially(name, text string) {
	flag := s.flags.Lookup(name)
	flag.DefValue = text
	_ = flag.Value.Set(text) // a default of ours is one that it takes
}

// addFlag adds the flag of a setting.
func addFlag(cmd *cobra.Command, f *pflag.FlagSet, d *config.Setting, v config.Value) {
	flag := f.VarPF(flagValue{v}, d.Flag(), d.Letter, d.Help)
	if v.Type() == "switch" {
		flag.NoOptDefVal = "true"
	}
	if len(d.Choices) > 0 {
		_ = cmd.RegisterFlagCompletionFunc(d.Flag(), cobra.FixedCompletions(d.Choices, cobra.ShellCompDirectiveNoFileComp))
	}
}

// flagValue is a value as the flags library knows it.
type flagValue struct{ config.Value }

func (v flagValue) Type() string {
	if t := v.Value.Type(); t != "switch" {
		return t
	}
	return "bool"
}

// ownFlag adds a flag that is one command's own.
func ownFlag(f *pflag.FlagSet, at any, value string, d config.Setting) {
	v := d.ValueAt(at)
	_ = v.Set(value) // a default of ours is one that it takes
	f.VarP(flagValue{v}, d.Flag(), d.Letter, d.Help)
}

// numberFlag adds a flag of one command that is a number, with its least value.
func numberFlag(f *pflag.FlagSet, at any, name, letter, value string, least float64, usage string) {
	ownFlag(f, at, value, config.Setting{Name: name, Letter: letter, Least: least, Help: usage})
}

// oldNames turns the older names of settings into those that they have now.
func oldNames(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if d := config.Find(name); d != nil && slices.Contains(d.FlagAliases(), name) {
		name = d.Flag()
	}
	return pflag.NormalizedName(name)
}

// options are those of the engine for a kind of run.
func (s *settings) options(a *app) (*maker.Options, error) {
	// A comma may stand in the settings of a simulated model.
	s.config.Voters = route.List(strings.Join(s.config.Voters, ","))
	given := func(name string) bool { return s.flags.Changed(name) && a.sources[name] == "" }
	if s.flags.Lookup("voting") != nil && given("ahead-by") && !given("voting") {
		s.config.Voting.Strategy = vote.FirstToK // -k votes
	}
	c := s.config
	if s.flags.Lookup("min-samples") != nil && c.Voting.Strategy == vote.FirstToK {
		c.Voting.Strategy = "" // the default, with all that goes with it
	}
	flags, err := redflags.Read(s.redFlags, c.MaxOutput)
	if err != nil {
		return nil, &maker.ConfigError{Field: "red_flags", Err: err}
	}
	c.Flags = flags
	if c.Voting.Strategy == vote.Adaptive {
		s.adapt(&c)
	}
	table, err := readPrices(s.prices)
	if err != nil {
		return nil, err
	}
	if c.Prompts, err = promptdir.Read(s.promptsDir); err != nil {
		return nil, err
	}
	for _, path := range []*string{&c.Tools.Workspace, &c.Tools.MCPConfig} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil { // a run may be resumed from elsewhere
			return nil, err
		}
	}
	if s.onFailure == "replan" {
		c.Plan.MaxReplans = s.maxReplans
	}
	if s.planVoting {
		c.Plan.Voting = c.Voting
		if c.Plan.Voting.Strategy == vote.None {
			c.Plan.Voting.Strategy = vote.FirstToK
		}
	}
	if s.maxRounds > 0 {
		c.Voting.MaxSamples = max(c.BatchSize*s.maxRounds, c.Voting.K)
	}
	o := &maker.Options{Config: c, LogDir: a.logDir, Record: s.record, Prices: table, Logger: slog.New(warnings{a.Err})}
	if err := a.people(o, s.answers); err != nil {
		return nil, err
	}
	if f := s.flags.Lookup("escalate"); f != nil && !f.Changed { // nobody is asked where nobody is
		order := slices.DeleteFunc(slices.Clone(c.Solve.Escalate), func(name string) bool { return name == "person" })
		if o.Ask != nil || o.Answers != nil {
			order = append(order, "person")
		}
		o.Config.Solve.Escalate = order
	}
	s.sayUseless(a)
	return o, nil
}

// adapt takes the defaults that suit margins that adapt, where nothing was said.
func (s *settings) adapt(c *maker.Config) {
	if !s.flags.Changed("max-samples") {
		c.Voting.MaxSamples = 0 // it follows from the target
	}
	if !s.flags.Changed("target-error") {
		c.TargetError = 0 // the same in every kind of run, whatever a calibration aims at
	}
	if !s.flags.Changed("max-tokens") {
		c.MaxTokens *= 4 // for so many more votes than first to lead by 2 takes
	}
}

// sayUseless says which flags that were given have no effect.
func (s *settings) sayUseless(a *app) {
	s.flags.Visit(func(f *pflag.Flag) {
		d := config.Find(f.Name)
		if d == nil || a.sources[f.Name] != "" {
			return
		}
		var why []string
		for _, needs := range d.Needs {
			name, want, _ := strings.Cut(needs, " ")
			other := config.Find(name)
			if s.planVoting && name == "voting" {
				return
			}
			if s.flags.Lookup(other.Flag()) == nil {
				continue // the command has only the other case
			}
			if s.resume && !s.flags.Changed(other.Flag()) {
				return // the run knows
			}
			is := s.value(other).String()
			if is == "" || is == want {
				return
			}
			why = append(why, fmt.Sprintf("--%s is %s, not %s", other.Flag(), is, want))
		}
		if len(why) > 0 {
			fmt.Fprintf(a.Err, "maker: warning: --%s has no effect: %s\n", f.Name, strings.Join(why, ", and "))
		}
	})
}

// engine makes the engine of a command.
func (s *settings) engine(a *app) (*maker.Engine, error) {
	o, err := s.options(a)
	if err != nil {
		return nil, err
	}
	return a.newEngine(o)
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

// change applies the flags that were given to the configuration of a run that is
// resumed; everything else stays as it was.
func (s *settings) change(c *maker.Config, given *maker.Options) {
	derived := c.Voting.MaxSamples == config.DerivedSamples(c.Voting) // and is so again
	s.flags.VisitAll(func(f *pflag.Flag) {
		d := config.Find(f.Name)
		switch {
		case d == nil, !f.Changed:
		case d.Name == "red_flags":
			c.Flags = given.Config.Flags
		case d.Value(c) != nil:
			d.Copy(c, &s.config)
		}
	})
	if s.flags.Changed("ahead-by") && !s.flags.Changed("voting") {
		c.Voting.Strategy = vote.FirstToK // -k votes
	}
	if s.flags.Changed("ahead-by") && derived && !s.flags.Changed("max-samples") {
		c.Voting.MaxSamples = 0
	}
	if s.flags.Changed("max-output") {
		c.Flags = given.Config.Flags
	}
	if s.flags.Changed("model") && !s.flags.Changed("replay") {
		c.ReplayFrom = "" // a model given takes the place of a recording
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
