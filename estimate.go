package maker

import (
	"context"

	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/plan"
)

// An Estimate is what carrying out a plan will take.
type Estimate = plan.Estimate

// Estimate says what the plan will take with the engine's configuration. A plan
// with branches is taken to go through all of its steps.
func (e *Engine) Estimate(planText string) (*Estimate, error) {
	return e.engine.Estimate(planText)
}

// A RunPreview is what a task in words would begin with: the planner's prompt, the tools,
// the rule, and what plans of several lengths may take.
type RunPreview = engine.RunPreview

// PreviewRun says what Run would ask first. It asks no model, and needs no key.
func (e *Engine) PreviewRun(ctx context.Context, task string) (*RunPreview, error) {
	return e.engine.PreviewRun(ctx, task)
}

// A SolvePreview is what solving a problem would begin with: the model that is asked first,
// its prompt, the rule, and what trees of several sizes may take.
type SolvePreview = engine.SolvePreview

// PreviewSolve says what Solve would ask first. It asks nothing.
func (e *Engine) PreviewSolve(problem string) (*SolvePreview, error) {
	return e.engine.PreviewSolve(problem)
}
