// Package kind has the kinds of run: what each of them does with the parameters and the
// settings of a run.
package kind

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/reader"
)

// A Kind is a kind of run. To add one is to add a file with its descriptor to this
// package, and to name it in kinds.
type Kind struct {
	Name      string // that logs have
	Form      event.Form
	Settings  config.Kinds // those that it has
	RuleStays bool         // its voting rule cannot be changed on resume

	job func(env Env, name string, params json.RawMessage, cfg config.Config) (*Job, error)
}

// kinds are those that are built in. Whatever else a run may be is a chain of a family.
func kinds() []Kind {
	return slices.Concat(planKinds, []Kind{doKind, solveKind, calibrateKind, itemsKind, askKind, mapKind, scriptKind, sessionKind})
}

// Of finds the kind of a run.
func Of(name string) Kind {
	if k, ok := builtin(name); ok {
		return k
	}
	k := chainKind
	k.Name = name
	return k
}

func builtin(name string) (Kind, bool) {
	for _, k := range kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Job is what a run of the kind does.
func (k Kind) Job(env Env, params json.RawMessage, cfg config.Config) (*Job, error) {
	j, err := k.job(env, k.Name, params, cfg)
	if err != nil {
		return nil, err
	}
	j.Kind, j.Form = k.Name, cmp.Or(j.Form, k.Form)
	return j, nil
}

// An Env is what an engine was given that runs are made of.
type Env struct {
	Families []domain.Family
	Domains  map[string]domain.Adapter
	Modules  func(builtin Modules) []flow.Module // nil means the built-in ones
	Warn     func(text string)
}

// terms are what all questions of a run have in common.
func terms(cfg config.Config) flow.Terms {
	structured := cfg.StructuredMode
	if structured == "none" {
		structured = ""
	}
	return flow.Terms{
		Rule: cfg.Voting, Flags: cfg.Flags, FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		Structured: structured, MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults,
	}
}

// secondPool is the group of voters who are asked where others do not agree, if there is
// one.
func secondPool(cfg config.Config) []string {
	if pool := cfg.Solve.ModelEscalation; pool != "" {
		return []string{pool}
	}
	return nil
}

// Terms are those of the questions of a run.
func Terms(cfg config.Config) flow.Terms { return terms(cfg) }

// meaning says whether texts are compared by what they say.
func meaning(cfg config.Config) bool { return cfg.Compare == config.ByMeaning }

// promptSet are the prompts with those that the user replaced.
func promptSet(cfg config.Config) (*prompts.Set, error) {
	set, err := prompts.New(cfg.Prompts)
	if err != nil {
		return nil, &config.Error{Field: "prompts_dir", Err: err}
	}
	return set.Limited(cfg.Framings), nil
}

// AllReaders are those of the run's own questions, and those that every run knows.
func (j *Job) AllReaders() domain.Readers {
	all := reader.Readers()
	maps.Copy(all, j.Readers)
	return all
}

// Several reports whether its steps may be several votes.
func (j *Job) Several() bool { return j.Races > j.Steps }

// A Job is what a run does: all that its kind and parameters say.
type Job struct {
	Kind    string     // set by its kind,
	Form    event.Form // as is this
	Dir     string     // the folder of the run, known when it begins
	Task    string
	Steps   int      // how many there will be, if known
	Races   int      // how many questions will be put to voters, if known
	Classes []string // of its questions, if known
	Checks  string   // what code that knows the answer looks at, as in event.TaskSubmitted
	Readers domain.Readers
	Agents  bool     // its steps are done by agents with tools
	Roles   []string // groups of voters that its questions name, if it has no agents
	NoModel bool     // it asks no model
	Prompts *prompts.Set
	Looks   local.Looks // at the world, besides those at tools

	// Open opens what it needs besides; nil if it needs nothing.
	Open func(context.Context) (io.Closer, error)

	Run func(f flow.Flow, at chain.Checkpoint) error

	// Block is Run for a block of records: the file at path has those from first on. It is nil
	// for runs that have none.
	Block func(f flow.Flow, at chain.Checkpoint, first int, path string) error
}
