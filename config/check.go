package config

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// MaxFacts is how many facts the solver of a part is told at most.
const MaxFacts = 5

// Escalations are what can be done when voters do not agree.
func Escalations() []string { return slices.Clone(escalations) }

var escalations = []string{"diversity", "model", "split", "person"}

// WithDefaults fills in what was left open, for a kind of run, and leaves out what is
// about other kinds.
func (c Config) WithDefaults(k Kinds) Config {
	if k&Agents == 0 {
		c.Plan = Plan{}
	}
	if k&Do == 0 {
		c.Outline = Outline{}
	}
	c.Solve = c.Solve.of(k)
	if c.Agent == AgentClaudeCode {
		c.StructuredMode = "none" // that program has a form of its own for answers
	}
	// A rule that is given is taken as it is, but for steps that may have another one: then
	// all of its numbers are needed.
	c.TargetError = cmp.Or(c.TargetError, c.Voting.Target, c.Solve.Calibration.Target)
	given := c.Voting.Strategy != "" && k&Agents == 0
	c.Voting.Strategy = cmp.Or(c.Voting.Strategy, vote.Strategy(Find("voting").DefaultFor(k)))
	if c.Voting.Strategy == vote.Adaptive { // in every kind of run the same, whatever a calibration aims at
		c.TargetError = cmp.Or(c.TargetError, adaptive.DefaultTarget)
	}
	for _, s := range settings {
		if s.For&k == 0 || s.field == nil || (given || c.Voting.Strategy == vote.Adaptive) && s.ofRule() {
			continue
		}
		v := s.in(&c)
		if text := s.DefaultFor(k); v.isZero() && text != "" && !s.ZeroIsNone {
			_ = v.Set(text) // a default of ours is one that it takes
		}
	}
	c.Voting.Target = 0
	if c.Voting.Strategy == vote.Adaptive {
		c.Voting.Target = c.TargetError
	}
	if k&(Solving|Measuring|Items) != 0 {
		c.Solve.Calibration.Target = c.TargetError
	}
	if k&(Measuring|Items) != 0 { // which has no use for a rule, but every run has one
		c.Voting.K, c.Voting.MaxSamples = cmp.Or(c.Voting.K, 2), cmp.Or(c.Voting.MaxSamples, 20)
	}
	if c.Voting.MaxSamples == 0 && c.Voting.Strategy != vote.Adaptive { // for which the number of steps counts
		c.Voting.MaxSamples = DerivedSamples(c.Voting)
	}
	if k&Solving != 0 && !given && c.Voting.Strategy == vote.FirstToK && c.Voting.K > 1 && c.Voting.MinVotes == 0 {
		c.Voting.MinVotes = min(enoughVotes, c.Voting.MaxSamples)
	}
	if k&Planning != 0 {
		c.Plan.Voting.Strategy = cmp.Or(c.Plan.Voting.Strategy, vote.None)
		if c.Plan.Voting.Target = 0; c.Plan.Voting.Strategy == vote.Adaptive {
			c.Plan.Voting.Target, c.Plan.Voting.MaxSamples = c.TargetError, cmp.Or(c.Plan.Voting.MaxSamples, adaptive.Options{Target: c.TargetError}.Cap())
		}
		c.Plan.Voting.MaxSamples = cmp.Or(c.Plan.Voting.MaxSamples, 10)
	}
	if k&Do != 0 {
		c.Outline.OnFailure = cmp.Or(c.Outline.OnFailure, "continue")
		c.Outline.Retries = cmp.Or(c.Outline.Retries, 2)
		c.Outline.ContextBudget = cmp.Or(c.Outline.ContextBudget, c.Plan.ContextBudget)
	}
	if k == Asking {
		c.FullLog = true // there is one question, and who voted for what is all there is to see
	}
	if c.Flags == nil {
		flags := redflag.Format()
		flags.ExcessiveLength.MaxTokens = int64(c.MaxOutput)
		switch {
		case k&(Solving|Measuring) != 0:
			flags = SolveFlags(c.MaxOutput)
		case k&(Asking|Items|Mapping|Scripting) != 0:
			flags = AskFlags(c.MaxOutput)
		case k&Sessions != 0:
			flags = CutFlags()
		}
		c.Flags = &flags
	}
	return c
}

// of is what a kind of run has of it.
func (s Solve) of(k Kinds) Solve {
	if k&(Solving|Measuring|Items) != 0 {
		return s
	}
	var rest Solve
	if k&Find("model_escalation").For != 0 {
		rest.ModelEscalation, rest.EscalationPrice = s.ModelEscalation, s.EscalationPrice
	}
	if k&Find("escalate").For != 0 {
		rest.Escalate = s.Escalate
	}
	return rest
}

// enoughVotes is how many votes a solver's question has before it is decided.
const enoughVotes = 3

// DerivedSamples is the cap on the samples of a rule that names none: far beyond any
// race that is worth finishing.
func DerivedSamples(r vote.Rule) int {
	const times = 50
	return times * min(max(r.K, r.N, 1), vote.MostSamples/times)
}

// ofRule reports whether a setting is a number of the voting rule.
func (s *Setting) ofRule() bool {
	return s.Name == "ahead_by" || s.Name == "min_samples" || s.Name == "voting_n" || s.Name == "max_samples"
}

// SolveFlags are the red flags of runs that solve a problem, for answers of at most
// maxOutput tokens. A solution or an answer is a result alone; work shown beside it may
// think aloud.
func SolveFlags(maxOutput int) redflag.Config {
	const charsPerToken = 4
	flags := redflag.Default()
	flags.MetaChatter = redflag.MetaChatterCheck{On: true, Musings: true}
	flags.ToolLeakage.On = true
	flags.Placeholder.Notes = true
	flags.SelfContradiction.On = true
	flags.AnswerFields = []string{"solution", "answer"}
	flags.ExcessiveLength = redflag.LengthCheck{On: true, MaxTokens: int64(maxOutput), MaxChars: charsPerToken * maxOutput}
	return flags
}

// AskFlags are the red flags of runs that ask one question: a refusal must not win as
// the text that was asked for.
func AskFlags(maxOutput int) redflag.Config {
	flags := redflag.Format()
	flags.ExcessiveLength.MaxTokens = int64(maxOutput)
	flags.Refusal = redflag.RefusalCheck{On: true, Words: true}
	return flags
}

// CutFlags are the red flags of runs that answer other programs: what these asked for may be
// anything, but not nothing, and not a part of it.
func CutFlags() redflag.Config {
	return redflag.Config{Refusal: redflag.RefusalCheck{On: true}, Truncated: redflag.TruncatedCheck{On: true}, Empty: redflag.EmptyCheck{On: true}}
}

// Check reports the first setting that makes no sense for a kind of run. Defaults have
// been filled in.
func (c Config) Check(k Kinds) error {
	if c.Model == "" && len(c.Voters) == 0 && c.ModelExecution == "" {
		return Errorf("model", "no model is named; try sim/default")
	}
	for _, s := range settings {
		if s.For&k == 0 || s.field == nil || s.ofRule() && s.in(&c).isZero() { // which its strategy may not need
			continue
		}
		if err := s.check(&c); err != nil {
			return err
		}
	}
	return first(c.checkVoting, func() error { return c.checkPlanVoting(k) }, c.checkSolve, c.checkRest)
}

// CheckGiven reports the first setting that makes no sense whatever the run is about.
// What was left open is not looked at.
func (c Config) CheckGiven() error {
	for _, s := range settings {
		if s.field == nil || s.in(&c).isZero() {
			continue
		}
		if err := s.check(&c); err != nil {
			return err
		}
	}
	return first(c.WithDefaults(Chain).checkVoting, func() error { return c.WithDefaults(Run).checkPlanVoting(Run) }, c.checkSolve, c.checkRest)
}

// first is the first error of several checks.
func first(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// check says whether a configuration has a setting within its bounds.
func (s *Setting) check(c *Config) error {
	v := s.in(c)
	if err := v.bounds(); err != nil {
		return &Error{s.Name, err}
	}
	if text := v.String(); len(s.Choices) > 0 && !slices.Contains(s.Choices, text) && !(s.Name == "voting" && text == string(vote.Own)) { // which programs can say
		return Errorf(s.Name, "%q, want %s", text, oneOf(s.Choices))
	}
	return nil
}

// checkVoting checks the rule as a whole, and the red flags.
func (c Config) checkVoting() error {
	if err := c.Voting.Validate(); err != nil {
		field := "ahead_by"
		switch {
		case c.Voting.Strategy == vote.Adaptive && c.Voting.MaxSamples >= 0:
			field = "target_error"
		case c.Voting.N > vote.MostSamples:
			field = "voting_n"
		case c.Voting.MinVotes < 0, c.Voting.MinVotes > c.Voting.MaxSamples:
			field = "min_samples"
		case c.Voting.MaxSamples < 1, c.Voting.MaxSamples > vote.MostSamples, c.Voting.K > c.Voting.MaxSamples:
			field = "max_samples"
		case c.Voting.Strategy != vote.FirstToK:
			field = "voting"
		}
		return &Error{Field: field, Err: err}
	}
	if err := c.Flags.Validate(); err != nil {
		return &Error{Field: "flags", Err: err}
	}
	return nil
}

func (c Config) checkPlanVoting(k Kinds) error {
	if k&Planning == 0 {
		return nil
	}
	if err := c.Plan.Voting.Validate(); err != nil {
		return &Error{Field: "plan_voting", Err: err}
	}
	if c.Plan.Voting.Strategy == vote.Adaptive && c.Voting.Strategy != vote.Adaptive {
		return Errorf("plan_voting", "plans can be voted on by an adaptive rule only if steps are (--voting adaptive)")
	}
	return nil
}

func (c Config) checkSolve() error {
	if c.Solve.Calibrate && c.Voting.Strategy == vote.Adaptive {
		return Errorf("calibrate", "it finds a margin for --voting first_to_k; an adaptive rule finds its margins itself")
	}
	for i, name := range c.Solve.Escalate {
		if !slices.Contains(escalations, name) {
			return Errorf("escalate", "%q, want %q", name, escalations)
		}
		if slices.Contains(c.Solve.Escalate[:i], name) {
			return Errorf("escalate", "%q is there twice", name)
		}
	}
	if t := c.Solve.Tolerance; t >= 1 {
		return Errorf("tolerance", "%v, want 0 or more and less than 1", t)
	}
	if t := c.TargetError; t >= 1 {
		return Errorf("target_error", "%v, want more than 0 and less than 1", t)
	}
	if len(c.Solve.Facts) > MaxFacts {
		return Errorf("fact", "%d facts, want at most %d", len(c.Solve.Facts), MaxFacts)
	}
	return nil
}

func (c Config) checkRest() error {
	for _, class := range slices.Sorted(maps.Keys(c.Warm)) {
		if err := c.Warm[class].Validate(); err != nil {
			return Errorf("warm", "class %q: %w", class, err)
		}
	}
	if math.IsInf(c.MaxUSD, 0) {
		return Errorf("max_usd", "%v is not an amount of money", c.MaxUSD)
	}
	if on := c.Outline.OnFailure; on != "" && on != "stop" && on != "continue" {
		return Errorf("on_failure", "%q, want stop or continue", on)
	}
	if c.Outline.Retries < -1 || c.Outline.Retries > maxCount {
		return Errorf("task_retries", "%d is out of bounds", c.Outline.Retries)
	}
	if b := c.Outline.ContextBudget; b != 0 && (b < minBudget || b > maxCount) {
		return Errorf("context_budget", "%d is out of bounds, want at least %d", b, minBudget)
	}
	if n := c.Plan.MaxReplans; n < 0 || n > maxCount {
		return Errorf("max_replans", "%d is out of bounds", n)
	}
	if c.Agent == AgentClaudeCode && c.MaxTokens > 0 {
		return Errorf("max_tokens", "it cannot be kept with the agent %s, whose calls we do not see; use --max-usd or --max-calls", AgentClaudeCode)
	}
	if c.Agent == AgentClaudeCode && c.MaxInFlight > 0 {
		return Errorf("max_in_flight", "it cannot be kept with the agent %s, whose calls we do not see; use --batch-size", AgentClaudeCode)
	}
	return nil
}
