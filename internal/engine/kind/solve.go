package kind

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/solver"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

var (
	solveKind     = Kind{Name: Solve, Form: event.FormTree, Settings: config.Solving, RuleStays: true, job: solveJob}
	calibrateKind = Kind{Name: Calibrate, Form: event.FormMeasurement, Settings: config.Measuring, RuleStays: true, job: solveJob}
)

// The names of these.
const (
	Solve     = "solve"     // split, solve the parts, compose
	Calibrate = "calibrate" // measure the voters
)

// SolveParams are what a run is about, as its log has it.
type SolveParams struct {
	Problem string `json:"problem,omitempty"`
	Domain  string `json:"domain"`
}

// solveJob is a run that solves a problem, or measures those who would.
func solveJob(env Env, kind string, params json.RawMessage, cfg config.Config) (*Job, error) {
	var p SolveParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	ask := algebra{warn: env.Warn}
	all, err := adapters(env.Domains, cfg.Solve, &ask)
	if err != nil {
		return nil, err
	}
	adapter, ok := all[p.Domain]
	if !ok {
		return nil, config.Errorf("domain", "there is no domain %q; %s", p.Domain, nearest.Among(p.Domain, slices.Sorted(maps.Keys(all))))
	}
	readers, err := solver.Readers(all)
	if err != nil {
		return nil, &config.Error{Field: "domains", Err: err}
	}
	how := solverConfig(cfg, p.Domain, adapter, set)
	atoms, err := solver.NewAtoms(how)
	if err != nil {
		return nil, &config.Error{Field: "solve", Err: err}
	}
	j := &Job{
		Task: p.Problem, Prompts: set, Readers: readers, Roles: append([]string{flow.Reasoning}, secondPool(cfg)...), Looks: solver.Looks(all),
	}
	if cfg.Solve.SymPy {
		j.Open = ask.open
	}
	measure := calibrateConfig(cfg.Solve.Calibration, adapter)
	if kind == Calibrate {
		if len(measure.Trials) == 0 {
			return nil, config.Errorf("domain", "the domain %s has no calibration problems", p.Domain)
		}
		j.Task, j.Roles = fmt.Sprintf("Measure the voters with %s problems", p.Domain), nil
		j.Run = func(f flow.Flow, _ chain.Checkpoint) error {
			return calibrateAlone(f, atoms, measure)
		}
		return j, nil
	}
	if strings.TrimSpace(p.Problem) == "" {
		return nil, config.Errorf("problem", "the problem is empty")
	}
	j.Run = func(f flow.Flow, _ chain.Checkpoint) error {
		if cfg.Solve.Calibrate {
			measured, err := calibrate.Run(f, atoms, measure)
			if err != nil {
				return err
			}
			if end, failed := unmeasured(measured); failed && measured.Samples > 0 {
				f.Emit("end", end)
				return nil
			}
			how.Rule = calibrate.Rule(how.Rule, measured.K)
		}
		return solver.Run(f, p.Problem, how)
	}
	return j, nil
}

func solverConfig(cfg config.Config, name string, adapter domain.Adapter, set *prompts.Set) solver.Config {
	s := cfg.Solve
	how := solver.Config{
		Domain: name, Adapter: adapter, Prompts: set,
		Terms:      terms(cfg),
		AtomOutput: max(1, cfg.MaxOutput*2/3), // one solution takes less than a split
		Models:     solver.Models{Reasoning: flow.Reasoning, Execution: flow.Voters, Escalation: s.ModelEscalation},
		NoDirect:   s.NoDirect,
		MaxDepth:   s.MaxDepth, MaxNodes: s.MaxNodes, MaxFillRounds: s.MaxFillRounds, MaxStagnant: s.MaxStagnant,
		Escalate:      []solver.Escalation{},
		ComposeByCode: s.ComposeByCode, VerifyVotes: s.VerifyVotes, RequireWork: !s.AllowNoWork, Facts: s.Facts,
	}
	for _, e := range s.Escalate {
		how.Escalate = append(how.Escalate, solver.Escalation(e))
	}
	return how
}

func calibrateConfig(c config.Calibration, a domain.Adapter) calibrate.Config {
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
	return endMeasured(f, measured)
}

// endMeasured ends a run that measured the voters.
func endMeasured(f flow.Flow, measured event.Calibrated) error {
	if end, failed := unmeasured(measured); failed {
		f.Emit("end", end)
		return nil
	}
	raw, err := json.Marshal(measured)
	if err != nil {
		return fmt.Errorf("maker: %w", err)
	}
	f.Emit("end", event.TaskCompleted{Output: event.JSONValue(raw)})
	return nil
}

// unmeasured is the end of a run whose measurement came to nothing.
func unmeasured(measured event.Calibrated) (event.TaskFailed, bool) {
	end := event.TaskFailed{Status: event.StatusFailed, Reason: measured.Reason, Reopen: []string{"calibrate", "calibrated"}}
	if measured.Samples == 0 {
		end.Reason = "nobody answered: nothing could be measured"
	}
	return end, measured.Valid == 0
}
