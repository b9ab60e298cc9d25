package maker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/solver"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/redflag"
)

// The kinds of run about problems without a plan.
const (
	KindSolve     = event.KindSolve     // split, solve the parts, compose
	KindCalibrate = event.KindCalibrate // measure the voters
)

// Defaults of runs that solve a problem.
const (
	DefaultSolveBatch  = 4
	DefaultSolveMargin = 2
	DefaultSolveRounds = 5
	DefaultDomain      = DomainText
)

// Solve starts to solve a problem for which there is no plan: it is split until its
// parts are small, these are solved by vote, and the solutions are put together and
// checked. It returns at once, and the run ends with ctx. The output of the run is
// an object with the fields answer, confidence, support, status and remarks; without
// success it is the best draft, whose status says so.
func (e *Engine) Solve(ctx context.Context, problem string) (*Run, error) {
	if !utf8.ValidString(problem) { // which JSON, and so the log, could not hold
		return nil, badConfig("problem", "the problem is not valid UTF-8")
	}
	return e.launchSolve(ctx, KindSolve, solveParams{Problem: problem, Domain: cmp.Or(e.opts.Config.Solve.Domain, DefaultDomain)})
}

// Calibrate starts to measure the voters with the calibration problems of a domain:
// how often they are right, how often their answers are valid, and what margin
// follows from that. The output of the run is the calibrated event.
func (e *Engine) Calibrate(ctx context.Context, domain string) (*Run, error) {
	return e.launchSolve(ctx, KindCalibrate, solveParams{Domain: cmp.Or(domain, DefaultDomain)})
}

func (e *Engine) launchSolve(ctx context.Context, kind string, p solveParams) (*Run, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	return e.launch(ctx, kind, raw)
}

// solveParams are what a run is about, as its log has it.
type solveParams struct {
	Problem string `json:"problem,omitempty"`
	Domain  string `json:"domain"`
}

// A SolveConfig is how a problem is split, solved and put together. It stays as it
// is when a run is resumed. A zero field means its default.
type SolveConfig struct {
	// Domain is the family of problems: "text", which is the default, "math", or one
	// of Options.Domains.
	Domain string `json:"domain,omitempty"`

	// ModelEscalation is asked when the others do not agree; empty leaves that out.
	ModelEscalation string `json:"model_escalation,omitempty"`

	// NoDirect leaves out the attempt to solve the problem as it is.
	NoDirect bool `json:"no_direct,omitempty"`

	// MaxDepth bounds the depth of the tree (6), MaxNodes its size (511): what is
	// not split any further is solved as it is.
	MaxDepth int `json:"max_depth,omitempty"`
	MaxNodes int `json:"max_nodes,omitempty"`

	// MaxFillRounds is how often gaps in the answer are filled (2), MaxStagnant how
	// many rounds in a row may change nothing (2).
	MaxFillRounds int `json:"max_fill_rounds,omitempty"`
	MaxStagnant   int `json:"max_stagnant_rounds,omitempty"`

	// Escalate says what is done, in this order, when voters do not agree:
	// diversity, model, split, person. Nil means all of them; an empty list, nothing.
	Escalate []string `json:"escalate"`

	// ComposeByCode lets the domain put solutions together where it can, instead of a
	// vote.
	ComposeByCode bool `json:"compose_by_code,omitempty"`

	// VerifyVotes discards answers that the domain knows to be wrong before they are
	// counted; otherwise it looks only at what won.
	VerifyVotes bool `json:"verify_votes,omitempty"`

	// RequireWork discards solutions that do not show how they were found.
	RequireWork bool `json:"require_work,omitempty"`

	// Facts are what everybody who works on a part may know: at most five.
	Facts []string `json:"facts,omitempty"`

	// Tolerance is how far apart two numbers may be in the domain math and still be
	// the same, relative to the larger one (0: not at all).
	Tolerance float64 `json:"tolerance,omitempty"`

	// SymPy has the domain math ask SymPy about expressions that it cannot compare
	// itself. It needs python3 with the package sympy.
	SymPy bool `json:"sympy,omitempty"`

	// Calibrate measures the voters before the first vote, and sets the margin.
	Calibrate   bool              `json:"calibrate,omitempty"`
	Calibration CalibrationConfig `json:"calibration,omitzero"`
}

// A CalibrationConfig says how voters are measured. A zero field means its default.
type CalibrationConfig struct {
	Problems int     `json:"problems,omitempty"`     // that are asked (5)
	Samples  int     `json:"samples,omitempty"`      // of each problem (5)
	Target   float64 `json:"target_error,omitempty"` // that is accepted (0.01)
	Steps    int     `json:"steps,omitempty"`        // for which the target is meant (1)
	MaxK     int     `json:"max_k,omitempty"`        // the largest margin (5)
}

func (c SolveConfig) withDefaults() SolveConfig {
	c.Domain = cmp.Or(c.Domain, DefaultDomain)
	if c.Escalate == nil {
		for _, e := range solver.DefaultEscalation() {
			c.Escalate = append(c.Escalate, string(e))
		}
	}
	c.MaxDepth = cmp.Or(c.MaxDepth, solver.DefaultMaxDepth)
	c.MaxNodes = cmp.Or(c.MaxNodes, solver.DefaultMaxNodes)
	c.MaxFillRounds = cmp.Or(c.MaxFillRounds, solver.DefaultMaxFillRounds)
	c.MaxStagnant = cmp.Or(c.MaxStagnant, solver.DefaultMaxStagnant)
	k := &c.Calibration
	k.Problems = cmp.Or(k.Problems, calibrate.DefaultProblems)
	k.Samples = cmp.Or(k.Samples, calibrate.DefaultSamples)
	k.Target = cmp.Or(k.Target, calibrate.DefaultTarget)
	k.MaxK = cmp.Or(k.MaxK, calibrate.DefaultMaxK)
	return c
}

func (c SolveConfig) validate() error {
	if err := checkBounds(
		bound{"max_depth", int64(c.MaxDepth), 0, maxCount},
		bound{"max_nodes", int64(c.MaxNodes), 0, maxCount},
		bound{"max_fill_rounds", int64(c.MaxFillRounds), 0, maxCount},
		bound{"max_stagnant_rounds", int64(c.MaxStagnant), 0, maxCount},
		bound{"problems", int64(c.Calibration.Problems), 0, maxCount},
		bound{"samples", int64(c.Calibration.Samples), 0, maxAtOnce},
		bound{"steps", int64(c.Calibration.Steps), 0, math.MaxInt64},
		bound{"max_k", int64(c.Calibration.MaxK), 0, maxMargin},
	); err != nil {
		return err
	}
	for i, name := range c.Escalate {
		if !slices.Contains(solver.DefaultEscalation(), solver.Escalation(name)) {
			return badConfig("escalate", "%q, want %q", name, solver.DefaultEscalation())
		}
		if slices.Contains(c.Escalate[:i], name) {
			return badConfig("escalate", "%q is there twice", name)
		}
	}
	if t := c.Tolerance; t < 0 || t >= 1 || math.IsNaN(t) {
		return badConfig("tolerance", "%v, want 0 or more and less than 1", t)
	}
	if t := c.Calibration.Target; t < 0 || t >= 1 || math.IsNaN(t) {
		return badConfig("target_error", "%v, want more than 0 and less than 1", t)
	}
	if len(c.Facts) > solver.MaxFacts {
		return badConfig("fact", "%d facts, want at most %d", len(c.Facts), solver.MaxFacts)
	}
	return nil
}

// SolveFlags are the red flags of runs that solve a problem, for answers of at most
// maxOutput tokens.
func SolveFlags(maxOutput int) redflag.Config {
	const charsPerToken = 4
	flags := solver.DefaultFlags()
	flags.ExcessiveLength.MaxTokens = int64(maxOutput)
	flags.ExcessiveLength.MaxChars = charsPerToken * maxOutput
	return flags
}

// solveJob is a run that solves a problem, or measures those who would.
func (e *Engine) solveJob(kind string, params json.RawMessage, cfg Config) (*job, error) {
	var p solveParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	set, err := prompts.New(cfg.Prompts)
	if err != nil {
		return nil, &ConfigError{Field: "prompts_dir", Err: err}
	}
	var ask algebra
	all, err := e.adapters(cfg.Solve, &ask)
	if err != nil {
		return nil, err
	}
	adapter, ok := all[p.Domain]
	if !ok {
		return nil, badConfig("domain", "there is no domain %q; there are %q", p.Domain, slices.Sorted(maps.Keys(all)))
	}
	readers, err := solver.Readers(all)
	if err != nil {
		return nil, &ConfigError{Field: "domains", Err: err}
	}
	how := solverConfig(cfg, p.Domain, adapter, set)
	atoms, err := solver.NewAtoms(how)
	if err != nil {
		return nil, &ConfigError{Field: "solve", Err: err}
	}
	j := &job{
		kind: kind, task: p.Problem, prompts: set, readers: readers, roles: []string{flow.Reasoning}, looks: solver.Looks(all),
	}
	if name := cfg.Solve.ModelEscalation; name != "" {
		j.roles = append(j.roles, name)
	}
	if cfg.Solve.SymPy {
		j.open = ask.open
	}
	measure := calibrateConfig(cfg.Solve.Calibration, adapter)
	if kind == KindCalibrate {
		if len(measure.Trials) == 0 {
			return nil, badConfig("domain", "the domain %s has no calibration problems", p.Domain)
		}
		j.task, j.roles = fmt.Sprintf("Measure the voters with %s problems", p.Domain), nil
		j.run = func(f flow.Flow, _ *stack, _ chain.Checkpoint) error {
			return calibrateAlone(f, atoms, measure)
		}
		return j, nil
	}
	if strings.TrimSpace(p.Problem) == "" {
		return nil, badConfig("problem", "the problem is empty")
	}
	j.run = func(f flow.Flow, _ *stack, _ chain.Checkpoint) error {
		if cfg.Solve.Calibrate {
			measured, err := calibrate.Run(f, atoms, measure)
			if err != nil {
				return err
			}
			how.Rule = calibrate.Rule(how.Rule, measured.K)
		}
		return solver.Run(f, p.Problem, how)
	}
	return j, nil
}

func solverConfig(cfg Config, name string, adapter domain.Adapter, set *prompts.Set) solver.Config {
	s := cfg.Solve
	how := solver.Config{
		Domain: name, Adapter: adapter, Prompts: set,
		Rule: cfg.Voting, Flags: *cfg.Flags, FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		Structured: cfg.StructuredMode, MaxFaults: cfg.MaxFaults,
		MaxOutput:  cfg.MaxOutput,
		AtomOutput: max(1, cfg.MaxOutput*solver.DefaultAtomOutput/solver.DefaultMaxOutput), // what is small has a short answer
		Models:     solver.Models{Reasoning: flow.Reasoning, Execution: flow.Voters, Escalation: s.ModelEscalation},
		Direct:     solver.Direct{Off: s.NoDirect},
		MaxDepth:   s.MaxDepth, MaxNodes: s.MaxNodes, MaxFillRounds: s.MaxFillRounds, MaxStagnant: s.MaxStagnant,
		Escalate:      []solver.Escalation{},
		ComposeByCode: s.ComposeByCode, VerifyVotes: s.VerifyVotes, RequireWork: s.RequireWork, Facts: s.Facts,
	}
	for _, e := range s.Escalate {
		how.Escalate = append(how.Escalate, solver.Escalation(e))
	}
	return how
}

func calibrateConfig(c CalibrationConfig, a domain.Adapter) calibrate.Config {
	out := calibrate.Config{Problems: c.Problems, Samples: c.Samples, Target: c.Target, Steps: c.Steps, MaxK: c.MaxK}
	if known, ok := a.(domain.Calibrated); ok {
		out.Trials = known.Calibration()
	}
	return out
}

// calibrateAlone measures the voters and ends the run with what came of it.
func calibrateAlone(f flow.Flow, atoms *solver.Atoms, cfg calibrate.Config) error {
	measured, err := calibrate.Run(f, atoms, cfg)
	if err != nil {
		return err
	}
	if measured.Samples == 0 {
		f.Emit("end", event.TaskFailed{Status: event.StatusFailed, Reason: "nobody answered: nothing could be measured", Reopen: []string{"calibrate", "calibrated"}})
		return nil
	}
	raw, err := json.Marshal(measured)
	if err != nil {
		return fmt.Errorf("maker: %w", err)
	}
	f.Emit("end", event.TaskCompleted{Output: event.JSONValue(raw)})
	return nil
}
