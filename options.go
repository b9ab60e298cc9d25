package maker

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// Version is the version of this module.
var Version = engine.Version

// DefaultLogDir is the folder of runs if none is named.
const DefaultLogDir = engine.DefaultLogDir

// The configuration of a run, and its parts. Package config has all that belongs to
// them: what each setting is called, its default and its bounds.
type (
	Config            = config.Config
	PlanConfig        = config.Plan
	OutlineConfig     = config.Outline
	SolveConfig       = config.Solve
	CalibrationConfig = config.Calibration
	ToolConfig        = config.Tools

	// A ConfigError is a setting that cannot be used.
	ConfigError = config.Error
)

// FirstToK is the rule that one answer must lead by k.
func FirstToK(k int) vote.Rule { return config.FirstToK(k) }

// The kinds of run that are built in.
const (
	KindRun       = kind.Run       // plan, validate, execute
	KindPlan      = kind.Plan      // plan and validate
	KindExec      = kind.Exec      // execute a given plan
	KindValidate  = kind.Validate  // check a given plan
	KindDo        = kind.Do        // do tasks as a person wrote them
	KindSolve     = kind.Solve     // split, solve the parts, compose
	KindCalibrate = kind.Calibrate // measure the voters
	KindAsk       = kind.Ask       // one question

	KindCalibrateItems = kind.CalibrateItems // measure the voters with items of one's own
)

// The domains that are built in.
const (
	DomainText = kind.DomainText
	DomainMath = kind.DomainMath
)

// Options are what an [Engine] needs beyond the configuration of a run. The
// zero value of each field is useful.
type Options struct {
	Config Config

	// LogDir is the folder that holds the run folders ("runs").
	LogDir string

	// Owner is whose the runs are, where several people or programs start some. It is kept
	// in their logs; see runs.Summary.
	Owner string

	// Keeper names the program that keeps the runs going, if it is one that goes on with
	// what it was doing when it is started again: see [runs.Run.Session].
	Keeper string

	// Hold, if not nil, has new runs wait before their first step: they are paused at once,
	// and Hold is called with the folder of each. Whoever goes on with one may be another
	// program, on another machine.
	Hold func(dir string)

	// Families are the tasks that the engine can run, in addition to the
	// built-in ones.
	Families []domain.Family

	// Domains are families of problems that Solve can be told to solve, by name, in
	// addition to the built-in ones.
	Domains map[string]domain.Adapter

	// Prices is the price table; nil means the built-in one.
	Prices *price.Table

	// Record names a file that gets every request and its answer.
	Record string

	// Protected names files that tools must not change, beyond those that Config names,
	// such as the program's own settings. Relative paths start in the workspace.
	Protected []string

	// Confined has no file opened that a plan, a script or a request names as part of a model,
	// such as the answers of a simulated one: for work that others send.
	Confined bool

	// Tools are further tools for the agents of runs that have some.
	Tools []tool.Tool

	// Modules makes the modules of a run that plans, from the built-in ones: it may
	// replace one of them, put another beside them, or leave them all. Each run needs its
	// own, so this is a function. Nil means the built-in ones.
	Modules func(builtin Modules) []flow.Module

	// Decide is the voting rule of runs whose Config.Voting is [vote.Own].
	Decide vote.Decider

	// RedFlag says why an answer that passed all other checks is to be discarded; nil if
	// it is not. It is asked for every answer to every question, from several goroutines,
	// and is a pure function of them. Nil means that there is no such flag.
	RedFlag func(q *flow.Question, a *redflag.Answer) *redflag.Flag

	// Ask puts a question to the person and returns the answer, or ErrAbsent if
	// nobody is there. Without it a run that needs a person stops and can be
	// resumed once its question is answered; see Run.Result.
	Ask func(ctx context.Context, q Question) (string, error)

	// Answers are prepared answers, as YAML; see docs/tools.md. They are looked at
	// before anybody is asked.
	Answers []byte

	// Transport carries the requests to providers. Nil means a tuned one of the
	// engine's own, which Engine.Close closes.
	Transport http.RoundTripper

	// Env looks up environment variables; nil means os.Getenv.
	Env func(string) string

	// Logger gets diagnostics; nil discards them.
	Logger *slog.Logger
}

// Modules are the parts of a run that plans; see Options.Modules.
type Modules = kind.Modules

// A Question is put to the person that a run works for.
type Question = flow.HumanQuestion

// ErrAbsent is what Options.Ask returns if nobody is there to answer.
var ErrAbsent = engine.ErrAbsent

// ResumeOptions say how a run goes on.
type ResumeOptions struct {
	// Change is applied to the configuration that the run had. Raise a budget
	// here, or move to another address.
	Change func(*Config)

	// SetAside moves the damaged rest of a log into a file beside it and goes
	// on from the last intact line. Without it a damaged log is an error.
	SetAside bool

	// Retry has records without an answer asked about again: those that "failed", those
	// that are "undecided", or both. Those go on with the votes they have, so that they
	// need more samples than before.
	Retry []string

	// Script has a run of a script go on with another one, as [Engine.Rehearse] tells
	// beforehand. Its arguments stay as they were. Nil, or the script that the run has,
	// changes nothing.
	Script *Script
}

func (o *ResumeOptions) options() engine.ResumeOptions {
	if o == nil {
		return engine.ResumeOptions{}
	}
	to := engine.ResumeOptions{Change: o.Change, SetAside: o.SetAside, Retry: o.Retry}
	if o.Script != nil {
		s := o.Script.params().Script
		to.Script = &s
	}
	return to
}

// AnsweredElsewhere is an Options.Ask for a run whose person is elsewhere: the run goes on, and
// waits until the answer is left with [runs.Run.Answer].
func AnsweredElsewhere(ctx context.Context, _ Question) (string, error) {
	<-ctx.Done()
	return "", context.Cause(ctx)
}
