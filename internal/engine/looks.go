package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/tool"
)

// toolLooks are the looks at tools and models that the orchestrators of agents take.
func (s *stack) toolLooks() local.Looks {
	return local.Looks{
		flow.LookTools:      func(context.Context, json.RawMessage) (any, error) { return toolInfo(s.registry()), nil },
		flow.LookCatalogue:  func(context.Context, json.RawMessage) (any, error) { return catalogue(s.registry()), nil },
		flow.LookUsable:     look(func(_ context.Context, w flow.Wanted) (any, error) { return s.usable(w), nil }),
		flow.LookAttachment: look(s.attachment),
		flow.LookFile:       look(func(ctx context.Context, f flow.File) (any, error) { return s.tools.Builtin.File(ctx, f) }),
	}
}

// look reads the parameters of a look.
func look[P any](see func(context.Context, P) (any, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, fmt.Errorf("maker: parameters of a look: %w", err)
		}
		return see(ctx, p)
	}
}

func toolInfo(r *tool.Registry) []flow.ToolInfo {
	list := []flow.ToolInfo{}
	for _, t := range r.List() {
		list = append(list, flow.ToolInfo{
			Name: t.Name, Safe: t.Class.BySample(), Human: t.Class == tool.Human, Unavailable: t.Unavailable,
		})
	}
	return list
}

// catalogue describes the tools to the planner, but for the one that every step has
// without listing it.
func catalogue(r *tool.Registry) string {
	var b strings.Builder
	for line := range strings.Lines(r.Catalogue()) {
		if !strings.HasPrefix(line, "- "+plan.LastResort+" ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// usable says what stands in the way of using tools and models.
func (s *stack) usable(w flow.Wanted) flow.Usability {
	u := flow.Usability{Tools: map[string]string{}, Models: map[string]string{}, Rule: s.config.Voting}
	for _, name := range w.Tools {
		if _, err := s.registry().Get(name); err != nil {
			u.Tools[name] = err.Error()
		}
	}
	for _, name := range w.Models {
		if err := s.canUse(name); err != nil {
			u.Models[name] = err.Error()
		}
	}
	return u
}

func (s *stack) attachment(ctx context.Context, r flow.Reference) (any, error) {
	return s.tools.Attachments(s.config.Tools)(ctx, r)
}
