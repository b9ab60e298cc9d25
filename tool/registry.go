package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/maker-mdap/maker/internal/text/nearest"
)

// A Registry holds the tools of a run. Tools are registered explicitly; there is
// no global one. It is safe for concurrent use.
type Registry struct {
	mu      sync.RWMutex
	tools   map[string]Tool
	servers map[string]Server
}

// A Server is a source of tools that is not built in.
type Server struct {
	Name string

	// Unavailable says why the server's tools cannot be used; empty if they can.
	Unavailable string

	// Declared are the tools that the configuration names, for a server whose own
	// list is not known (yet) or not to be used in full.
	Declared []Declared
}

// Declared is a tool that somebody says there is.
type Declared struct {
	Name        string `json:"name" yaml:"name"`
	Description string `json:"description,omitempty" yaml:"description,omitempty"`
}

// Builtin is the source of the tools that are part of the program.
const Builtin = "builtin"

// Errors of a registry.
var (
	ErrUnknown     = errors.New("there is no such tool")
	ErrUnavailable = errors.New("the tool is not available")
)

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{tools: map[string]Tool{}, servers: map[string]Server{}}
}

var validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,127}$`)

// ServerTool is the name of a server's tool: mcp__server__tool.
func ServerTool(server, tool string) string { return "mcp__" + server + "__" + tool }

// Register adds tools. A name that is taken, or none at all, is an error, and
// then none of them is added.
func (r *Registry) Register(tools ...Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, t := range tools {
		_, taken := r.tools[t.Name]
		switch {
		case !validName.MatchString(t.Name):
			return fmt.Errorf("tool: %q cannot be the name of a tool", t.Name)
		case taken || slices.ContainsFunc(tools[:i], func(u Tool) bool { return u.Name == t.Name }):
			return fmt.Errorf("tool: %s is registered already", t.Name)
		case !slices.Contains([]Class{Pure, Observe, Mutate, Human}, t.Class):
			return fmt.Errorf("tool: %s has no effect class", t.Name)
		case t.Run == nil && t.Class != Human:
			return fmt.Errorf("tool: %s cannot be run", t.Name)
		case t.Run != nil && t.Class == Human:
			return fmt.Errorf("tool: %s is for a person and cannot be run", t.Name)
		case !isObject(t.Schema):
			return fmt.Errorf("tool: the schema of %s is no JSON object", t.Name)
		}
	}
	for _, t := range tools {
		r.tools[t.Name] = t
	}
	return nil
}

// RegisterServer adds a server. Its tools are registered separately, once they
// are known.
func (r *Registry) RegisterServer(s Server) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !validName.MatchString(s.Name) || strings.Contains(s.Name, "__") || s.Name == Builtin {
		return fmt.Errorf("tool: %q cannot be the name of a server", s.Name)
	}
	if _, taken := r.servers[s.Name]; taken {
		return fmt.Errorf("tool: the server %s is registered already", s.Name)
	}
	r.servers[s.Name] = s
	return nil
}

// SetUnavailable marks a server whose tools cannot be used, and says why; an
// empty reason makes it available again.
func (r *Registry) SetUnavailable(server, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.servers[server]
	if !ok {
		return fmt.Errorf("tool: no server is called %q", server)
	}
	s.Unavailable = reason
	r.servers[server] = s
	return nil
}

// UnregisterServer removes a server with all its tools.
func (r *Registry) UnregisterServer(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.servers, name)
	maps.DeleteFunc(r.tools, func(_ string, t Tool) bool { return t.Source == name })
}

// Get returns the tool called name, if it can be used.
func (r *Registry) Get(name string) (Tool, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[name]
	if server, rest, found := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__"); !ok && found && rest != "" {
		if s, known := r.servers[server]; known && s.Unavailable != "" {
			return Tool{}, fmt.Errorf("tool: %w: %s: %s", ErrUnavailable, name, s.Unavailable)
		}
	}
	if !ok {
		return Tool{}, fmt.Errorf("tool: %w: %q; %s", ErrUnknown, name, nearest.Among(name, r.names()))
	}
	if reason := r.unavailable(t); reason != "" {
		return Tool{}, fmt.Errorf("tool: %w: %s: %s", ErrUnavailable, name, reason)
	}
	return t, nil
}

// unavailable says why t cannot be used: for a reason of its own, or its
// server's.
func (r *Registry) unavailable(t Tool) string {
	if t.Unavailable != "" {
		return t.Unavailable
	}
	return r.servers[t.Source].Unavailable
}

// Names lists all tools in alphabetical order, available or not.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.names()
}

func (r *Registry) names() []string {
	return slices.Sorted(maps.Keys(r.tools))
}

// List returns all tools by name, each with the reason why it cannot be used, if
// there is one. Tools that are only declared for an unavailable server are among
// them.
func (r *Registry) List() []Listed {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []Listed
	for _, t := range r.tools {
		out = append(out, Listed{t, r.unavailable(t)})
	}
	for _, s := range r.servers {
		for _, d := range s.Declared {
			name := ServerTool(s.Name, d.Name)
			if _, known := r.tools[name]; known {
				continue
			}
			reason := s.Unavailable
			if reason == "" {
				reason = "the server does not have it"
			}
			out = append(out, Listed{Tool{Name: name, Description: d.Description, Class: Mutate, Source: s.Name}, reason})
		}
	}
	slices.SortFunc(out, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Listed is a tool as a list shows it.
type Listed struct {
	Tool
	Unavailable string // why it cannot be used, for its own or its server's reasons
}

// Servers returns the servers by name.
func (r *Registry) Servers() []Server {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.SortedFunc(maps.Values(r.servers), func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
}

// Catalogue describes all tools to a planner, one a line and in order, and says of
// those that cannot be used why, and of servers whose tools are not known.
func (r *Registry) Catalogue() string {
	var b strings.Builder
	for _, s := range r.Servers() {
		if s.Unavailable != "" && len(s.Declared) == 0 {
			fmt.Fprintf(&b, "- %s [NOT AVAILABLE: %s]\n", ServerTool(s.Name, "*"), s.Unavailable)
		}
	}
	for _, t := range r.List() {
		summary, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		fmt.Fprintf(&b, "- %s (%s): %s", t.Name, t.Class, summary)
		if t.Unavailable != "" {
			fmt.Fprintf(&b, " [NOT AVAILABLE: %s]", t.Unavailable)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func isObject(schema json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(schema, &object) == nil && object != nil
}
