package maker

import (
	"context"

	"github.com/maker-mdap/maker/internal/engine"
)

// An Engine starts and resumes runs, which share its connections and the limits of
// the providers. It is safe for concurrent use. See [Engine.Close] for its end.
type Engine struct{ engine *engine.Engine }

// Errors of starting and resuming.
var (
	// ErrFinished says that a run is over and has nothing to resume.
	ErrFinished = engine.ErrFinished

	// ErrTooOld says that a run can be read, but not continued.
	ErrTooOld = engine.ErrTooOld

	// ErrClosed says that an engine was closed and starts no more runs.
	ErrClosed = engine.ErrClosed
)

// New returns an engine. Nil options are the defaults.
func New(opts *Options) (*Engine, error) {
	if opts == nil {
		opts = &Options{}
	}
	e, err := engine.New(engine.Options(*opts))
	if err != nil {
		return nil, err
	}
	return &Engine{e}, nil
}

// With returns an engine with other options that shares the connections of this one and what
// it knows about how much servers bear, so that runs with different settings do not ask a
// server for more than it can give. Nil options are the defaults; their Transport is not
// looked at. Closing one of them closes all.
func (e *Engine) With(opts *Options) (*Engine, error) {
	if opts == nil {
		opts = &Options{}
	}
	other, err := e.engine.With(engine.Options(*opts))
	if err != nil {
		return nil, err
	}
	return &Engine{other}, nil
}

// Close ends the connections that the engine keeps open between calls. From then on
// it refuses to start or resume runs with [ErrClosed]; what only reads logs still
// works. Runs that are going on are the caller's business: they are not ended, go on
// as they would have, and keep their connections until they end. A transport that
// was given in [Options] is left alone. Closing again does nothing.
func (e *Engine) Close() error { return e.engine.Close() }

// Chain starts a task of the named family with the given parameters and returns
// at once. The run ends with ctx.
func (e *Engine) Chain(ctx context.Context, family string, params any) (*Run, error) {
	return begun(e.engine.Chain(ctx, family, params))
}

// Run starts a task in words: it is planned, the plan is checked and then carried
// out step by step. It returns at once, and the run ends with ctx.
func (e *Engine) Run(ctx context.Context, task string) (*Run, error) {
	return begun(e.engine.Plan(ctx, KindRun, task))
}

// Plan makes a plan for a task and checks it, without carrying it out. The plan is
// the output of the run, as YAML.
func (e *Engine) Plan(ctx context.Context, task string) (*Run, error) {
	return begun(e.engine.Plan(ctx, KindPlan, task))
}

// Exec carries out a plan that is given as YAML or JSON.
func (e *Engine) Exec(ctx context.Context, planText string) (*Run, error) {
	return begun(e.engine.Exec(ctx, KindExec, planText))
}

// Validate checks a plan that is given as YAML or JSON, with the quality checks if
// the configuration asks for them, without carrying it out.
func (e *Engine) Validate(ctx context.Context, planText string) (*Run, error) {
	return begun(e.engine.Exec(ctx, KindValidate, planText))
}

// Do starts to do the tasks of a text, in the order in which a person wrote them. No
// model splits it: bullets, numbered lines and sentences are the tasks. A task that
// is a literal command runs as it is; the others are done by voting agents. Files and
// addresses in attach are shown with the tasks that mention them, or with all if none
// does. It returns at once, and the run ends with ctx.
func (e *Engine) Do(ctx context.Context, text string, attach ...string) (*Run, error) {
	return begun(e.engine.Do(ctx, text, attach...))
}

// Solve starts to solve a problem for which there is no plan: it is split until its
// parts are small, these are solved by vote, and the solutions are put together and
// checked. It returns at once, and the run ends with ctx. The output of the run is
// an object with the fields answer, confidence, support, status and remarks; without
// success it is the best draft, whose status says so.
func (e *Engine) Solve(ctx context.Context, problem string) (*Run, error) {
	return begun(e.engine.Solve(ctx, problem))
}

// Calibrate starts to measure the voters with the calibration problems of a domain:
// how often they are right, how often their answers are valid, and what margin
// follows from that. The output of the run is the calibrated event.
func (e *Engine) Calibrate(ctx context.Context, domain string) (*Run, error) {
	return begun(e.engine.Calibrate(ctx, domain))
}

// Resume continues a run from its last committed step. The run is named as in
// [runs.Find].
func (e *Engine) Resume(ctx context.Context, run string, opts *ResumeOptions) (*Run, error) {
	if opts == nil {
		opts = &ResumeOptions{}
	}
	return begun(e.engine.Resume(ctx, run, engine.ResumeOptions(*opts)))
}

// Replay checks a run of this engine's folder; see [runs.Run.Replay]. It knows the
// engine's families, and asks no model.
func (e *Engine) Replay(run string) (*Replay, error) { return e.engine.Replay(run) }

func begun(r *engine.Run, err error) (*Run, error) {
	if err != nil {
		return nil, err
	}
	return &Run{r}, nil
}
