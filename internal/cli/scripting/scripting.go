// Package scripting has what the commands about scripts read from their flags.
package scripting

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker"
)

// Args reads arguments of a script, each NAME=VALUE.
func Args(list []string) (map[string]string, error) {
	named := map[string]string{}
	for _, arg := range list {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--arg %s: want NAME=VALUE", arg)
		}
		if _, twice := named[name]; twice {
			return nil, fmt.Errorf("--arg %s is given twice", name)
		}
		named[name] = value
	}
	return named, nil
}

// As is what a planner writes for a task.
type As string

// What there is to write.
const (
	plan   As = "plan"
	script As = "script"
)

// RegisterAs adds --as to the flags of a command.
func RegisterAs(flags *pflag.FlagSet) *As {
	as := new(As)
	flags.StringVar((*string)(as), "as", string(plan), "what the planner writes: plan, or script (experimental)")
	return as
}

// Check finds what does not go with what is to be written.
func (as As) Check(outline, dryRun bool) error {
	switch {
	case as != plan && as != script:
		return fmt.Errorf("--as %s: want plan or script", string(as))
	case as == script && outline:
		return errors.New("--as script: an outline has no planner that could write one")
	case as == script && dryRun:
		return errors.New("--dry-run shows what is asked for a plan: leave out --as script")
	}
	return nil
}

// Start starts a task.
func (as As) Start(ctx context.Context, e *maker.Engine, task string) (*maker.Run, error) {
	if as == script {
		return e.RunAsScript(ctx, task)
	}
	return e.Run(ctx, task)
}
