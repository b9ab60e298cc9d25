package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
)

// chainKind is a task of a family that has many steps in a row.
var chainKind = kind{settings: config.Chain, job: (*Engine).chainJob}

// maxFamilyName bounds the name of a family, which is a part of the names of folders.
const maxFamilyName = 64

var familyName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// checkFamilies reports the first family that could not be told from something else,
// or whose runs would not stay in the log folder.
func checkFamilies(families []domain.Family) error {
	names, readers := map[string]bool{}, map[string]string{}
	for _, f := range families {
		switch {
		case !familyName.MatchString(f.Name):
			return config.Errorf("families", "%q cannot be the name of a family: its runs are kept in folders of that name, so use letters, digits, -, _ and ., and begin with none of - and .", f.Name)
		case len(f.Name) > maxFamilyName:
			return config.Errorf("families", "%q has %d characters, want at most %d", f.Name, len(f.Name), maxFamilyName)
		case event.IsBuiltin(f.Name):
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

// isChain reports whether a kind of run is a chain.
func (e *Engine) isChain(kind string) bool {
	return slices.ContainsFunc(e.opts.Families, func(f domain.Family) bool { return f.Name == kind })
}

func (e *Engine) chainJob(family string, params json.RawMessage, cfg config.Config) (*job, error) {
	c, task, readers, err := e.newChain(family, params)
	if err != nil {
		return nil, err
	}
	return &job{
		kind: family, task: task, steps: c.Steps(), readers: readers, chain: true,
		run: func(f flow.Flow, _ *stack, at chain.Checkpoint) error {
			return chain.Run(f, c, chain.Config{
				Terms: terms(cfg),
			}, at)
		},
	}, nil
}

func noFamily(name string) error { return fmt.Errorf("maker: no task family is called %q", name) }

func (e *Engine) newChain(family string, params json.RawMessage) (domain.Chain, string, domain.Readers, error) {
	readers := domain.Readers{}
	var found *domain.Family
	for i := range e.opts.Families {
		f := &e.opts.Families[i]
		maps.Copy(readers, f.Readers)
		if f.Name == family {
			found = f
		}
	}
	if found == nil || found.NewChain == nil {
		return nil, "", nil, noFamily(family)
	}
	c, task, err := found.NewChain(params)
	if err != nil {
		return nil, "", nil, err
	}
	return c, task, readers, nil
}
