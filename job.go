package maker

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/chain"
	"github.com/maker-mdap/maker/internal/local"
	"github.com/maker-mdap/maker/internal/prompts"
)

// isAgentKind reports whether the steps of a kind of run are done by agents.
func isAgentKind(kind string) bool {
	switch kind {
	case KindRun, KindPlan, KindExec, KindValidate, KindDo:
		return true
	}
	return false
}

// tellsItsOutput reports whether a kind of run says itself what came of it. Of the
// others it is the output of the last step.
func tellsItsOutput(kind string) bool { return isAgentKind(kind) || isSolveKind(kind) }

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

// isChain reports whether a kind of run is a chain.
func (e *Engine) isChain(kind string) bool {
	return slices.ContainsFunc(e.opts.Families, func(f domain.Family) bool { return f.Name == kind })
}

func (e *Engine) defaultsOf(kind string) defaults {
	switch {
	case e.isChain(kind):
		return chainDefaults
	case isSolveKind(kind):
		return solveDefaults
	default:
		return agentDefaults
	}
}

func (e *Engine) newJob(kind string, params json.RawMessage, cfg Config) (*job, error) {
	switch {
	case kind == KindDo:
		return e.outlineJob(params, cfg)
	case isAgentKind(kind):
		return e.planJob(kind, params, cfg)
	case isSolveKind(kind):
		return e.solveJob(kind, params, cfg)
	default:
		return e.chainJob(kind, params, cfg)
	}
}

func (e *Engine) chainJob(family string, params json.RawMessage, cfg Config) (*job, error) {
	c, task, readers, err := e.newChain(family, params)
	if err != nil {
		return nil, err
	}
	return &job{
		kind: family, task: task, steps: c.Steps(), readers: readers, chain: true,
		run: func(f flow.Flow, _ *stack, at chain.Checkpoint) error {
			return chain.Run(f, c, chain.Config{
				Rule: cfg.Voting, Flags: *cfg.Flags,
				FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
				Structured: cfg.StructuredMode, MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults,
			}, at)
		},
	}, nil
}

func (e *Engine) newChain(family string, params json.RawMessage) (domain.Chain, string, domain.Readers, error) {
	readers := domain.Readers{}
	var found *domain.Family
	for i := range e.opts.Families {
		f := &e.opts.Families[i]
		maps.Copy(readers, f.Readers)
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

// promptHashes are the hashes of the prompts that the run asks with.
func (j *job) promptHashes() map[string]string {
	if j.prompts == nil {
		return nil
	}
	return j.prompts.Hashes()
}
