package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/usage"
)

// Parts are what a run consists of, for runtimes that do it in several places: its orchestrator
// for one, and models and tools for others.
type Parts struct {
	engine    *Engine
	submitted event.TaskSubmitted
	config    config.Config
	job       *kind.Job
	tools     *toolbox.Toolbox
}

// Parts takes apart a run, by what its log begins with. It is to be closed.
func (e *Engine) Parts(submitted event.TaskSubmitted) (*Parts, error) {
	p := &Parts{engine: e, submitted: submitted}
	var err error
	if p.config, err = config.Parse(submitted.Config); err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	if err := e.checkOwn(p.config); err != nil {
		return nil, err
	}
	if p.job, err = kind.Of(submitted.Kind).Job(e.env(), submitted.Params, p.config); err != nil {
		return nil, err
	}
	if !maps.Equal(p.job.Prompts.Hashes(), submitted.Prompts) {
		return nil, errors.New("maker: the run was begun with other prompts than there are here (prompts_dir, or another version of the program)")
	}
	return p, nil
}

// Config is how the run is done.
func (p *Parts) Config() config.Config { return p.config }

// Run runs the orchestrator.
func (p *Parts) Run(f flow.Flow) error { return p.job.Run(f, chain.Checkpoint{}) }

// Block runs the orchestrator of a chain from a checkpoint on, or over a block of records, which
// are in a file and of which the first has a number.
func (p *Parts) Block(f flow.Flow, at chain.Checkpoint, first int, records string) error {
	if p.job.Block == nil {
		return p.job.Run(f, at)
	}
	return p.job.Block(f, at, first, records)
}

// OpenTools opens the tools of the run, which its runtimes then share.
func (p *Parts) OpenTools(ctx context.Context) error {
	if !p.job.Agents || p.tools != nil {
		return nil
	}
	s := &stack{config: p.config, engine: p.engine}
	err := s.openTools(ctx)
	p.tools = s.tools
	return err
}

// lent is what the parts of a run share: tools, and each a share of the calls that may be in
// flight at a server; 0 is no limit.
type lent struct {
	tools  *toolbox.Toolbox
	places int
}

// Runtime are the options of a runtime that does one part of the run within its limits, with so
// many calls in flight (0: any number), but for its log. The function gives back what they hold.
// What the engine itself is told of max_in_flight holds for all parts together that it does.
func (p *Parts) Runtime(ctx context.Context, limits budget.Limits, inFlight int) (local.Options, func() error, error) {
	cfg := p.config
	cfg.MaxCalls, cfg.MaxTokens, cfg.MaxUSD = limits.MaxCalls, limits.MaxTokens, limits.MaxUSD
	cfg.MaxInFlight = p.engine.opts.Config.MaxInFlight
	s, err := p.engine.newStack(ctx, cfg, usage.Spent{}, p.job, lent{p.tools, inFlight})
	if err != nil {
		return local.Options{}, nil, err
	}
	return p.engine.runtime(s, p.job, p.submitted, nil), s.close, nil
}

// Close ends the tools.
func (p *Parts) Close() error {
	if p.tools == nil {
		return nil
	}
	return p.tools.Close()
}

// HasTools reports whether the run is one of agents with tools, which need the folder that they
// work in.
func (p *Parts) HasTools() bool { return p.job.Agents }
