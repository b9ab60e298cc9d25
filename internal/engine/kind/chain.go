package kind

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/runs"
)

// chainKind is a task of a family that has many steps in a row.
var chainKind = Kind{Form: event.FormChain, Settings: config.Chain, job: chainJob}

// maxFamilyName bounds the name of a family, which is a part of the names of folders.
const maxFamilyName = 64

var familyName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// CheckFamilies reports the first family that could not be told from something else,
// or whose runs would not stay in the log folder.
func CheckFamilies(families []domain.Family) error {
	names, readers := map[string]bool{}, map[string]string{}
	for name := range reader.Readers() {
		readers[name] = "this program"
	}
	for _, f := range families {
		_, taken := builtin(f.Name)
		switch {
		case !familyName.MatchString(f.Name):
			return config.Errorf("families", "%q cannot be the name of a family: its runs are kept in folders of that name, so use letters, digits, -, _ and ., and begin with none of - and .", f.Name)
		case len(f.Name) > maxFamilyName:
			return config.Errorf("families", "%q has %d characters, want at most %d", f.Name, len(f.Name), maxFamilyName)
		case taken:
			return config.Errorf("families", "%q is a built-in kind of run; give the family another name", f.Name)
		case names[f.Name]:
			return config.Errorf("families", "there are two families called %q", f.Name)
		}
		names[f.Name] = true
		for name := range f.Readers {
			if other, taken := readers[name]; taken {
				return config.Errorf("families", "%s and %s both have a reader called %q", other, f.Name, name)
			}
			readers[name] = f.Name
		}
	}
	return nil
}

func chainJob(env Env, family string, params json.RawMessage, cfg config.Config) (*Job, error) {
	c, task, readers, err := newChain(env.Families, family, params)
	if err != nil {
		return nil, err
	}
	return &Job{
		Task: task, Steps: c.Steps(), Races: c.Steps(), Readers: readers, Checks: runs.ChecksOf(c), Roles: secondPool(cfg),
		Run: func(f flow.Flow, at chain.Checkpoint) error {
			return chain.Run(f, c, chain.Config{Terms: terms(cfg), Pool: cfg.Solve.ModelEscalation}, at)
		},
	}, nil
}

// NoFamily says that there is no family of a name.
func NoFamily(name string) error { return fmt.Errorf("maker: no task family is called %q", name) }

func newChain(families []domain.Family, family string, params json.RawMessage) (domain.Chain, string, domain.Readers, error) {
	readers := domain.Readers{}
	var found *domain.Family
	for i := range families {
		f := &families[i]
		maps.Copy(readers, f.Readers)
		if f.Name == family {
			found = f
		}
	}
	if found == nil || found.NewChain == nil {
		return nil, "", nil, NoFamily(family)
	}
	c, task, err := found.NewChain(params)
	if err != nil {
		return nil, "", nil, err
	}
	return c, task, readers, nil
}
