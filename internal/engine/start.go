package engine

import (
	"cmp"
	"context"
	"unicode/utf8"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/kind"
)

// Plan starts a run that makes a plan for a task.
func (e *Engine) Plan(ctx context.Context, name, task string) (*Run, error) {
	return e.launchParams(ctx, name, kind.PlanParams{Task: task})
}

// Exec starts a run that is about a given plan.
func (e *Engine) Exec(ctx context.Context, name, planText string) (*Run, error) {
	return e.launchParams(ctx, name, kind.PlanParams{Plan: planText})
}

// Do starts to do the tasks of a text.
func (e *Engine) Do(ctx context.Context, text string, attach ...string) (*Run, error) {
	if !utf8.ValidString(text) {
		return nil, config.Errorf("text", "the text is not valid UTF-8")
	}
	return e.launchParams(ctx, kind.Do, kind.DoParams{Text: text, Attach: attach})
}

// Solve starts to solve a problem.
func (e *Engine) Solve(ctx context.Context, problem string) (*Run, error) {
	if !utf8.ValidString(problem) { // which JSON, and so the log, could not hold
		return nil, config.Errorf("problem", "the problem is not valid UTF-8")
	}
	return e.launchParams(ctx, kind.Solve, kind.SolveParams{Problem: problem, Domain: cmp.Or(e.opts.Config.Solve.Domain, config.DefaultDomain)})
}

// Ask starts to ask one question.
func (e *Engine) Ask(ctx context.Context, p kind.AskParams) (*Run, error) {
	if !utf8.ValidString(p.Question) {
		return nil, config.Errorf("question", "the question is not valid UTF-8")
	}
	return e.launchParams(ctx, kind.Ask, p)
}

// Calibrate starts to measure the voters.
func (e *Engine) Calibrate(ctx context.Context, domain string) (*Run, error) {
	return e.launchParams(ctx, kind.Calibrate, kind.SolveParams{Domain: cmp.Or(domain, config.DefaultDomain)})
}

// CalibrateItems starts to measure the voters with questions of the user's own.
func (e *Engine) CalibrateItems(ctx context.Context, p kind.ItemsParams) (*Run, error) {
	if err := p.Distinct(); err != nil {
		return nil, err
	}
	return e.launchParams(ctx, kind.CalibrateItems, p)
}

// env is what runs are made of.
func (e *Engine) env() kind.Env {
	return kind.Env{Families: e.opts.Families, Domains: e.opts.Domains, Modules: e.opts.Modules, Warn: func(text string) { e.opts.Logger.Warn(text) }}
}
