package engine

import (
	"fmt"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// What a call is taken to have: a token is about four bytes of text.
const (
	bytesPerToken    = 4
	systemTokens     = 350 // of the prompt that all steps share
	toolTokens       = 300 // of the description of one tool
	inputTokens      = 200 // of one input of a step
	answerTokens     = 150
	callsOfAToolStep = 2 // one that asks for the tool and one that reads its result
)

// Estimate says what the plan will take with the engine's configuration. A plan
// with branches is taken to go through all of its steps.
func (e *Engine) Estimate(planText string) (*plan.Estimate, error) {
	p, findings := plan.Parse(planText)
	if len(findings) > 0 {
		return nil, fmt.Errorf("maker: %s", findings[0])
	}
	cfg := e.opts.Config.WithDefaults(config.Run)
	out := &plan.Estimate{Steps: len(p.Steps), Model: cfg.Execution()}
	for i := range p.Steps {
		s := &p.Steps[i]
		rule := s.Voting.Rule(cfg.Voting)
		samples := 1
		switch rule.Strategy {
		case vote.Majority:
			samples = rule.N
		case vote.FirstToK, vote.Adaptive:
			samples = firstNeed(rule)
		}
		tools := len(s.PrimaryTools) + len(s.FallbackTools)
		calls := samples
		if len(s.PrimaryTools) > 0 {
			calls *= callsOfAToolStep
		}
		text := len(s.TaskDescription) + len(s.PrimaryToolInstructions) + len(s.FallbackToolInstructions) + len(s.OutputSchema)
		out.Calls += calls
		out.Tokens.Input += int64(calls * (systemTokens + text/bytesPerToken + tools*toolTokens + len(s.InputVariables)*inputTokens))
		out.Tokens.Output += int64(calls * answerTokens)
	}
	v, err := route.Open(out.Model, route.Options{BaseURL: cfg.BaseURL, Env: e.opts.Env, Prices: e.opts.Prices, Offline: true})
	if err == nil && v.Price != nil {
		usd := v.Price.Cost(out.Tokens).USD()
		out.CostUSD = &usd
	}
	return out, nil
}

// firstNeed is how many votes a race needs at least when it begins.
func firstNeed(r vote.Rule) int {
	if r.Strategy == vote.Adaptive {
		return adaptive.Options{Target: r.Target}.Clean()
	}
	return vote.NewTally(r).Decision().Need
}
