package solver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
)

// Looks returns the looks at the world that the solver and those who measure its
// voters take, by kind, for the adapters that they may name.
func Looks(adapters map[string]domain.Adapter) map[string]func(context.Context, json.RawMessage) (any, error) {
	return map[string]func(context.Context, json.RawMessage) (any, error){
		flow.LookVerify: func(_ context.Context, params json.RawMessage) (any, error) {
			var c flow.Claim
			a, err := adapterOf(adapters, params, &c, &c.Domain)
			if err != nil {
				return nil, err
			}
			if wrong := a.Verify(c.Problem, c.Solution); wrong != nil {
				return wrong.Error(), nil
			}
			return "", nil
		},
		flow.LookSame: func(_ context.Context, params json.RawMessage) (any, error) {
			var c flow.Comparison
			a, err := adapterOf(adapters, params, &c, &c.Domain)
			if err != nil {
				return nil, err
			}
			groups := make([][]int, len(c.Solutions))
			for i, x := range c.Solutions {
				for j, y := range c.Solutions {
					if x == y || a.Equivalent(x, y) {
						groups[i] = append(groups[i], j)
					}
				}
			}
			return groups, nil
		},
	}
}

// adapterOf reads the parameters of a look and finds the domain that they name.
func adapterOf(adapters map[string]domain.Adapter, params json.RawMessage, into any, name *string) (domain.Adapter, error) {
	if err := json.Unmarshal(params, into); err != nil {
		return nil, fmt.Errorf("solver: parameters of a look: %w", err)
	}
	a, ok := adapters[*name]
	if !ok {
		return nil, fmt.Errorf("solver: no domain is called %q", *name)
	}
	return a, nil
}
