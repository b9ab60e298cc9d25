package engine

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/runtime/local"
)

// A kind is a kind of run. To add one is to add a file with its descriptor, and to name
// it in kinds.
type kind struct {
	names     []string     // that logs have
	settings  config.Kinds // those that it has
	ruleStays bool         // its voting rule cannot be changed on resume
	job       func(e *Engine, name string, params json.RawMessage, cfg config.Config) (*job, error)
}

// kinds are those that are built in. Whatever else a run may be is a chain of a family.
func kinds() []kind {
	return slices.Concat(planKinds, []kind{doKind, solveKind, calibrateKind})
}

// kindOf finds the kind of a run.
func (e *Engine) kindOf(name string) kind {
	for _, k := range kinds() {
		if slices.Contains(k.names, name) {
			return k
		}
	}
	return chainKind
}

// configFor completes a configuration for a kind of run and checks it.
func configFor(cfg config.Config, k config.Kinds) (config.Config, error) {
	cfg = cfg.WithDefaults(k)
	if err := cfg.Check(k); err != nil {
		return cfg, err
	}
	_, err := toolbox.Policy(cfg.Tools)
	return cfg, err
}

// checkGiven checks what is said in a configuration, whatever the run will be about.
func checkGiven(cfg config.Config) error {
	if err := cfg.CheckGiven(); err != nil {
		return err
	}
	_, err := toolbox.Policy(cfg.Tools)
	return err
}

// inFlight bounds the samples of one question in flight. The claude program takes a
// processor and much memory for each.
func inFlight(cfg config.Config) int {
	const programs = 4
	if cfg.Agent == config.AgentClaudeCode {
		return min(cfg.BatchSize, programs)
	}
	return cfg.BatchSize
}

// terms are what all questions of a run have in common.
func terms(cfg config.Config) flow.Terms {
	return flow.Terms{
		Rule: cfg.Voting, Flags: *cfg.Flags, FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		Structured: cfg.StructuredMode, MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults,
	}
}

// promptSet are the prompts with those that the user replaced.
func promptSet(cfg config.Config) (*prompts.Set, error) {
	set, err := prompts.New(cfg.Prompts)
	if err != nil {
		return nil, &config.Error{Field: "prompts_dir", Err: err}
	}
	return set, nil
}

// job is what a run does: all that its kind and parameters say.
type job struct {
	kind    string
	task    string
	steps   int // how many there will be, if known
	readers domain.Readers
	chain   bool                                // it numbers its questions by step and resumes from its last one
	agents  bool                                // its steps are done by agents with tools
	roles   []string                            // groups of voters that its questions name, if it has no agents
	open    func(context.Context, *stack) error // what it needs besides; nil for nothing
	prompts *prompts.Set
	looks   local.Looks // at the world, besides those at tools
	run     func(f flow.Flow, s *stack, at chain.Checkpoint) error

	noModel bool // it asks no model
}

// promptHashes are the hashes of the prompts that the run asks with.
func (j *job) promptHashes() map[string]string {
	if j.prompts == nil {
		return nil
	}
	return j.prompts.Hashes()
}
