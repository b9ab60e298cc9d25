package maker

import (
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// An Estimate is what carrying out a plan will take if its voters agree and all
// goes well. What it assumes about the length of answers is a guess.
type Estimate struct {
	Steps  int          `json:"steps"`
	Calls  int          `json:"calls"`
	Tokens usage.Tokens `json:"tokens"`
	Model  string       `json:"model"`

	// CostUSD is nil if the model's price is not known.
	CostUSD *float64 `json:"cost_usd"`
}

// Estimate says what the plan will take with the engine's configuration. A plan
// with branches is taken to go through all of its steps.
func (e *Engine) Estimate(planText string) (*Estimate, error) {
	estimate, err := e.engine.Estimate(planText)
	return (*Estimate)(estimate), err
}

// A SolvePreview is what solving a problem would begin with, and what it may take.
type SolvePreview struct {
	Model     string    `json:"model"` // that is asked first
	Prompt    string    `json:"prompt"`
	Rule      vote.Rule `json:"rule"`
	MaxTokens int64     `json:"max_tokens,omitempty"` // 0 means no limit

	// Estimates are for trees of several sizes: nobody knows before how far the
	// problem will be split.
	Estimates []SolveEstimate `json:"estimates"`
}

// A SolveEstimate is what solving takes if voters agree at once. What it assumes
// about the length of prompts and answers is a guess.
type SolveEstimate struct {
	Parts  int          `json:"parts"` // that are solved as they are; 0 if the problem is not split
	Steps  int          `json:"steps"`
	Calls  int          `json:"calls"`
	Tokens usage.Tokens `json:"tokens"`

	// CostUSD is nil if the price of a model is not known.
	CostUSD *float64 `json:"cost_usd"`
}

// PreviewSolve says what Solve would ask first. It asks nothing.
func (e *Engine) PreviewSolve(problem string) (*SolvePreview, error) {
	p, err := e.engine.PreviewSolve(problem)
	if err != nil {
		return nil, err
	}
	out := &SolvePreview{Model: p.Model, Prompt: p.Prompt, Rule: p.Rule, MaxTokens: p.MaxTokens}
	for _, size := range p.Estimates {
		out.Estimates = append(out.Estimates, SolveEstimate(size))
	}
	return out, nil
}
