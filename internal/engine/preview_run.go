package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// A RunPreview is what planning and carrying out a task would begin with, and what it
// may take.
type RunPreview struct {
	Model  string    `json:"model"`  // that plans
	Steps  string    `json:"steps"`  // the model that does the steps
	System string    `json:"system"` // the planner's prompt,
	Prompt string    `json:"prompt"` // in two parts
	Tools  []string  `json:"tools"`  // that can be used
	Rule   vote.Rule `json:"rule"`   // by which steps are decided

	// Estimates are for plans of several lengths: nobody knows before how long it will be.
	Estimates []RunEstimate `json:"estimates"`
}

// A RunEstimate is what a plan of some length takes: at least if all goes well, at most
// if every step needs as many samples as it may have. What it assumes about the length of
// prompts and answers is a guess.
type RunEstimate struct {
	Steps   int      `json:"steps"`
	AtLeast Estimate `json:"at_least"`
	AtMost  Estimate `json:"at_most"`
}

// An Estimate is what calls take. CostUSD is nil if the price of a model is not known.
type Estimate struct {
	Calls   int          `json:"calls"`
	Tokens  usage.Tokens `json:"tokens"`
	CostUSD *float64     `json:"cost_usd"`
}

// What a step of a plan that nobody has made yet is taken to have.
const (
	planTokens = 200 // in the plan
	stepTokens = 150 // in the prompt of the step
)

// PreviewRun says what Run would ask first. It asks no model, and needs no key.
func (e *Engine) PreviewRun(ctx context.Context, task string) (*RunPreview, error) {
	cfg, err := configFor(e.opts.Config, config.Run)
	if err != nil {
		return nil, err
	}
	params, err := json.Marshal(kind.PlanParams{Task: task})
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	j, err := kind.Of(kind.Run).Job(e.env(), params, cfg)
	if err != nil {
		return nil, err
	}
	box, err := toolbox.Open(ctx, cfg.Tools, toolbox.Options{
		Env: e.opts.Env, Version: Version, Extra: e.opts.Tools, Warn: func(text string) { e.opts.Logger.Warn(text) },
	})
	if err != nil {
		return nil, err
	}
	p, err := e.previewRun(cfg, j, box.Registry)
	return p, errors.Join(err, box.Close())
}

func (e *Engine) previewRun(cfg config.Config, j *kind.Job, tools *tool.Registry) (*RunPreview, error) {
	first := firstQuestion{looks: map[string]json.RawMessage{}}
	for look, at := range map[string]any{flow.LookCatalogue: catalogue(tools), flow.LookTools: toolInfo(tools)} {
		seen, err := json.Marshal(at)
		if err != nil {
			return nil, fmt.Errorf("maker: %w", err)
		}
		first.looks[look] = seen
	}
	if err := j.Run(&first, chain.Checkpoint{}); first.question == nil {
		return nil, errors.Join(errors.New("maker: the planner asks no model, so there is no prompt to show"), err)
	}
	q := first.question
	p := &RunPreview{Model: cfg.Reasoning(), Steps: strings.Join(cfg.VoterNames(), ", "), System: q.System, Prompt: q.Prompt, Rule: cfg.Voting, Tools: []string{}}
	for _, t := range tools.List() {
		if t.Unavailable == "" {
			p.Tools = append(p.Tools, t.Name)
		}
	}
	for _, steps := range []int{3, 10, 30} {
		p.Estimates = append(p.Estimates, e.estimateRun(cfg, q, steps))
	}
	return p, nil
}

// estimateRun works out what a plan of some length takes, and the making of it.
func (e *Engine) estimateRun(cfg config.Config, planning *flow.Question, steps int) RunEstimate {
	samples, most := vote.NewTally(cfg.Voting).Decision().Need, cfg.Voting.MaxSamples
	if cfg.Voting.Strategy == vote.None {
		most = 1 + max(cfg.Plan.StepMaxRetries, 0)
	}
	plans := vote.NewTally(planning.Rule).Decision().Need
	out := RunEstimate{Steps: steps}
	for _, c := range []struct {
		to     *Estimate
		plans  int
		each   int // samples of a step
		asking int // calls of a sample
	}{{&out.AtLeast, plans, samples, 1}, {&out.AtMost, max(planning.Rule.MaxSamples, plans), most, callsOfAToolStep}} {
		calls := steps * c.each * c.asking
		prompt := (len(planning.System) + len(planning.Prompt)) / bytesPerToken
		type role struct {
			models []string
			tokens usage.Tokens
		}
		of := []role{
			{[]string{cfg.Reasoning()}, usage.Tokens{Input: int64(c.plans * prompt), Output: int64(c.plans * steps * planTokens)}},
			{cfg.VoterNames(), usage.Tokens{Input: int64(calls * (systemTokens + stepTokens + toolTokens + inputTokens)), Output: int64(calls * answerTokens)}},
		}
		c.to.Calls, c.to.CostUSD = c.plans+calls, new(float64)
		if n := len(prompts.QualityChecks()); cfg.Plan.QualityChecks {
			c.to.Calls += n
			of = append(of, role{[]string{CheapModel(cfg)}, usage.Tokens{Input: int64(n * (systemTokens + steps*planTokens)), Output: int64(n * answerTokens)}})
		}
		for _, role := range of {
			c.to.Tokens.Input += role.tokens.Input
			c.to.Tokens.Output += role.tokens.Output
			if usd := e.price(cfg, role.models, role.tokens); usd == nil {
				c.to.CostUSD = nil
			} else if c.to.CostUSD != nil {
				*c.to.CostUSD += *usd
			}
		}
	}
	return out
}
