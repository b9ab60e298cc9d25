package engine

import (
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/usage"
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
	out := &plan.Estimate{Steps: len(p.Steps), Model: strings.Join(cfg.VoterNames(), ", ")}
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
	out.CostUSD = e.price(cfg, cfg.VoterNames(), out.Tokens)
	return out, nil
}

// price is what tokens cost that models share, nil if that of one is not known.
func (e *Engine) price(cfg config.Config, models []string, tokens usage.Tokens) *float64 {
	total := 0.0
	for _, name := range models {
		v, err := route.Open(name, route.Options{BaseURL: cfg.BaseURL, Env: e.opts.Env, Prices: e.opts.Prices, Offline: true})
		if err != nil || v.Price == nil {
			return nil
		}
		total += v.Price.Cost(tokens).USD() / float64(len(models))
	}
	return &total
}

// What a question about a record is taken to have around it.
const (
	aroundQuestion = 60 // tokens of instructions
	shortAnswer    = 20 // tokens of an answer
)

// EstimateRecords says what so many questions take whose texts have so many bytes in all,
// if voters agree at once.
func (e *Engine) EstimateRecords(questions int, bytes int64) *plan.Estimate {
	cfg := e.opts.Config.WithDefaults(config.Mapping)
	samples := firstNeed(cfg.Voting)
	out := &plan.Estimate{Steps: questions, Calls: questions * samples, Model: cfg.Execution()}
	out.Tokens.Input = int64(samples) * (bytes/bytesPerToken + int64(questions*aroundQuestion))
	out.Tokens.Output = int64(out.Calls * shortAnswer)
	for _, name := range cfg.VoterNames() { // the dearest of them counts
		v, err := route.Open(name, route.Options{BaseURL: cfg.BaseURL, Env: e.opts.Env, Prices: e.opts.Prices, Offline: true})
		if err != nil || v.Price == nil {
			out.CostUSD = nil
			return out
		}
		if usd := v.Price.Cost(out.Tokens).USD(); out.CostUSD == nil || usd > *out.CostUSD {
			out.CostUSD = &usd
		}
	}
	return out
}

// firstNeed is how many votes a race needs at least when it begins.
func firstNeed(r vote.Rule) int {
	if r.Strategy == vote.Adaptive {
		return adaptive.Options{Target: r.Target}.Clean()
	}
	return vote.NewTally(r).Decision().Need
}
