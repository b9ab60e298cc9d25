package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

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
	cfg, err := configFor(e.opts.Config, config.Solving)
	if err != nil {
		return nil, err
	}
	params, err := json.Marshal(kind.SolveParams{Problem: problem, Domain: cfg.Solve.Domain})
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	j, err := kind.Of(kind.Solve).Job(e.env(), params, cfg)
	if err != nil {
		return nil, err
	}
	var first firstQuestion
	if err := j.Run(&first, chain.Checkpoint{}); first.question == nil {
		return nil, err
	}
	q := first.question
	p := &SolvePreview{Prompt: q.Prompt, Rule: q.Rule, MaxTokens: cfg.MaxTokens, Model: cfg.Execution()}
	switch q.Model {
	case flow.Voters:
	case flow.Reasoning:
		p.Model = cfg.Reasoning()
	default:
		p.Model = q.Model
	}
	prompt := int64(len(q.Prompt) / bytesPerToken)
	for _, parts := range []int{0, 4, 16} {
		p.Estimates = append(p.Estimates, e.estimateSolve(cfg, prompt, parts))
	}
	return p, nil
}

// estimateSolve works out what a tree with a number of leaves takes.
func (e *Engine) estimateSolve(cfg config.Config, prompt int64, parts int) SolveEstimate {
	direct := 0
	if !cfg.Solve.NoDirect {
		direct = 1
	}
	// Each node is looked at, each leaf solved, each other node composed, and the
	// answer checked.
	solves, thoughts := direct, 0
	if parts > 0 {
		solves, thoughts = direct+parts, (2*parts-1)+(parts-1)+1
	}
	samples := firstNeed(cfg.Voting)
	out := SolveEstimate{Parts: parts, Steps: solves + thoughts, Calls: samples * (solves + thoughts)}
	if parts > 0 {
		out.Steps -= direct // which is none if it comes to nothing
	}
	if c := cfg.Solve.Calibration; cfg.Solve.Calibrate {
		out.Calls += c.Problems * c.Samples
		solves += c.Problems * c.Samples / samples
	}
	total, known := 0.0, true
	for _, role := range []struct {
		models []string
		votes  int
	}{{cfg.VoterNames(), solves}, {[]string{cfg.Reasoning()}, thoughts}} {
		calls := int64(samples * role.votes)
		tokens := usage.Tokens{Input: calls * prompt, Output: calls * answerTokens}
		out.Tokens.Input += tokens.Input
		out.Tokens.Output += tokens.Output
		usd := e.price(cfg, role.models, tokens)
		if usd == nil {
			known = false
			continue
		}
		total += *usd
	}
	if known {
		out.CostUSD = &total
	}
	return out
}

// firstQuestion is a flow that keeps the first question and ends there.
type firstQuestion struct {
	question *flow.Question
	looks    map[string]json.RawMessage // what is seen before it, by kind
}

var errAsked = errors.New("maker: that was the first question")

func (f *firstQuestion) Decide(_ string, q *flow.Question) (*flow.Verdict, error) {
	f.question = q
	return nil, errAsked
}

func (f *firstQuestion) Perform(string, *flow.Effect) (*flow.Result, error) { return nil, errAsked }

func (f *firstQuestion) Ask(string, *flow.HumanQuestion) (*flow.Answer, error) { return nil, errAsked }

func (f *firstQuestion) Observe(_ string, l flow.Look) (json.RawMessage, error) {
	if seen, ok := f.looks[l.Kind]; ok {
		return seen, nil
	}
	return nil, errAsked
}

func (f *firstQuestion) Parallel(_ string, n int, branch func(i int, f flow.Flow) error) error {
	if n == 0 {
		return nil
	}
	return branch(0, f)
}

func (f *firstQuestion) Emit(string, event.Event) {}
