package kind

import (
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/internal/orchestrator/script"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/vote"
)

// AsScript says that the planner writes a script.
const AsScript = "script"

// writtenName is what a script is called in errors that nobody gave a name.
const writtenName = "script.star"

// checkWritten reports settings that are about plans and that scripts have no use for.
func checkWritten(p PlanParams, cfg config.Config) error {
	switch {
	case p.As != AsScript:
		return config.Errorf("as", "%q is neither plan nor script", p.As)
	case cfg.Plan.QualityChecks:
		return config.Errorf("quality_checks", "they are about plans, and the task is done as a script")
	case cfg.Plan.MaxReplans > 0:
		return config.Errorf("on_failure", "a script is not planned anew")
	case cfg.Plan.Voting.Strategy != "" && cfg.Plan.Voting.Strategy != vote.None:
		return config.Errorf("plan_voting", "scripts are not voted on: no two are alike")
	}
	return nil
}

// writtenModules are the pipeline of a run whose planner writes a script.
func writtenModules(cfg config.Config, set *prompts.Set) Modules {
	language := &planner.Language{
		Name: person.Script, System: prompts.WriterSystem{}, Check: checkScript,
		User: func(u prompts.PlannerUser) prompts.Data {
			return prompts.WriterUser{Task: u.Task, Catalogue: u.Catalogue, Rejected: u.Rejected, Problems: u.Problems}
		},
	}
	planning := plannerConfig(cfg, set)
	planning.Language = language
	validator := planner.NewValidator(planner.ValidatorConfig{Language: language})
	var doer flow.Module = &script.Executor{Name: writtenName, Config: scriptConfig(cfg, set)}
	if cfg.Plan.Confirm {
		doer = &planner.Confirm{Validator: validator, Next: doer}
	}
	return Modules{planner.New(planning), validator, doer}
}

// checkScript is what is wrong with a script that a planner wrote. There is nothing beside it
// to load.
func checkScript(text string) (flow.Wanted, []event.Check) {
	program, err := script.Compile(script.Source{Name: writtenName, Text: text})
	if err != nil {
		var list []event.Check
		for line := range strings.Lines(err.Error()) {
			list = append(list, event.Check{Name: "script", Message: strings.TrimSpace(line)})
		}
		return flow.Wanted{}, list
	}
	tools, models := program.Uses()
	if args := program.Args(); len(args) > 0 {
		return flow.Wanted{}, []event.Check{{Name: "script", Message: fmt.Sprintf("args has no %s: the script is started without arguments", strings.Join(args, ", "))}}
	}
	return flow.Wanted{Tools: tools, Models: models}, nil
}
