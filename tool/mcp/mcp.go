// Package mcp connects a run to MCP servers: it starts them or finds them, and
// registers their tools.
//
// # Effects
//
// A server's tool is taken to change something, whatever the server says of it.
// Only of a server that the configuration calls trusted are the annotations
// believed: then a read-only tool is one that samples may run themselves, and an
// idempotent one may be repeated.
//
// # Calls
//
// A call ends in one of three ways. The server answered: that is a [tool.Result],
// also if the answer is an error. The server has certainly not seen the call: that
// is an error. Or nobody knows: the error is then [tool.ErrUnknownOutcome], unless
// the tool only reads.
//
// A lost connection is made again by the next call. A call that was lost with it
// is repeated, once, if it is safe to repeat: its tool only reads or is
// idempotent. Nothing else is ever sent twice.
//
// # Processes
//
// A stdio server gets a minimal environment, which has none of our keys, and what
// its configuration names. Package supervise sees to it that nothing of it is left.
//
// To end, a server's stdin is closed; then it gets a SIGTERM, then a SIGKILL.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/tool"
)

// Options configure the connections. Nil means the defaults.
type Options struct {
	// Dir is where stdio servers start that name no folder, and where relative
	// folders and commands begin; "" means the current folder.
	Dir string

	// Version is that of the program, which servers are told.
	Version string

	// Warn is told what is odd but no error, such as a tool that had to be left
	// out; nil means that nobody is. It is called before Connect returns, from its
	// goroutine.
	Warn func(server, text string)

	// Grace is how long a server has to end when it is asked to, before it is
	// killed or left alone; 0 means 2 seconds. Before a stdio server gets a signal
	// it has a quarter of that to notice that its stdin is closed.
	Grace time.Duration
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Grace == 0 {
		out.Grace = 2 * time.Second
	}
	if out.Version == "" {
		out.Version = "unknown"
	}
	if out.Warn == nil {
		out.Warn = func(string, string) {}
	}
	return out
}

// Servers are the connected servers of a run. They are safe for concurrent use.
type Servers struct {
	all      []*server
	disabled []Health
}

// Connect connects to all servers at once, each within its start timeout, and
// registers them and their tools. A server that does not come up is registered as
// unavailable, with the reason; if it is required, Connect fails. ctx is for
// connecting: the servers live until Close.
func Connect(ctx context.Context, c Config, registry *tool.Registry, o *Options) (*Servers, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	options := o.withDefaults()
	s := &Servers{}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		config := c.Servers[name]
		health := Health{Name: name, Transport: config.transport(), Required: config.Required, State: Unavailable}
		if config.Disabled {
			health.State, health.Reason = Disabled, "the configuration disables it"
			s.disabled = append(s.disabled, health)
			continue
		}
		if err := registry.RegisterServer(tool.Server{Name: name, Declared: declaredNames(config.Tools)}); err != nil {
			s.undo(registry)
			return nil, fmt.Errorf("mcp: %w", err)
		}
		s.all = append(s.all, &server{
			name: name, config: config, options: options, health: health,
			secrets: secret.NewSet(config.allSecrets()...),
		})
	}
	if err := s.connect(ctx, registry, options); err != nil {
		s.undo(registry)
		return nil, err
	}
	return s, nil
}

// declaredNames are the tools of the configuration under the names that they are
// registered with.
func declaredNames(tools []tool.Declared) []tool.Declared {
	out := slices.Clone(tools)
	for i := range out {
		out[i].Name = plainName(out[i].Name)
	}
	return out
}

func (s *Servers) connect(ctx context.Context, registry *tool.Registry, o Options) error {
	type outcome struct {
		tools    []tool.Tool
		warnings []string
		err      error
	}
	outcomes := make([]outcome, len(s.all))
	var wg sync.WaitGroup
	for i, one := range s.all {
		wg.Go(func() {
			r := &outcomes[i]
			r.tools, r.warnings, r.err = one.start(ctx)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("mcp: connecting: %w", context.Cause(ctx))
	}
	var missing []error
	for i, one := range s.all {
		r := outcomes[i]
		for _, w := range r.warnings {
			o.Warn(one.name, w)
		}
		if r.err == nil && len(r.tools) == 0 {
			o.Warn(one.name, "it has no tools that can be used")
		}
		if r.err == nil {
			r.err = registry.Register(r.tools...)
		}
		if r.err == nil {
			continue
		}
		one.note(func(h *Health) { h.State, h.Reason = Unavailable, r.err.Error() })
		if one.config.Required {
			missing = append(missing, fmt.Errorf("mcp: the required server %q is not ready: %w", one.name, r.err))
			continue
		}
		o.Warn(one.name, "it is not available: "+r.err.Error())
		if err := registry.SetUnavailable(one.name, summarize(r.err)); err != nil {
			return fmt.Errorf("mcp: %w", err)
		}
	}
	return errors.Join(missing...)
}

// summarize shortens a reason to what a planner needs to know, without what the
// server had to say about it.
func summarize(err error) string {
	const enough = 160
	text, _, _ := strings.Cut(err.Error(), lastWordsMark)
	return clip.Text(text, enough)
}

// undo leaves things as they were.
func (s *Servers) undo(registry *tool.Registry) {
	s.Close()
	for _, one := range s.all {
		registry.UnregisterServer(one.name)
	}
}

// Close ends all servers and the calls that are under way, and waits until
// nothing of them is left.
func (s *Servers) Close() {
	var wg sync.WaitGroup
	for _, one := range s.all {
		wg.Go(one.close)
	}
	wg.Wait()
}

// State is what can be said of a server.
type State string

// The states.
const (
	Ready       State = "ready"
	Lost        State = "lost"        // it was ready; the next call tries to reach it again
	Unavailable State = "unavailable" // it did not come up
	Disabled    State = "disabled"
)

// Health is how a server is.
type Health struct {
	Name      string `json:"name"`
	Transport string `json:"transport"` // "stdio" or "http"
	Required  bool   `json:"required"`
	State     State  `json:"state"`
	Reason    string `json:"reason,omitempty"` // why it is not ready

	Server   string        `json:"server,omitempty"` // what it calls itself
	Version  string        `json:"version,omitempty"`
	Protocol string        `json:"protocol,omitempty"` // version of MCP
	Tools    int           `json:"tools"`              // that can be used
	Took     time.Duration `json:"took_ns"`            // until it was ready, or known not to be
}

// Check connects to all servers, says how they are, and closes them again. That a
// required one is not ready is no error here.
func Check(ctx context.Context, c Config, o *Options) ([]Health, error) {
	optional := Config{Servers: maps.Clone(c.Servers)}
	for name, s := range optional.Servers {
		s.Required = false
		optional.Servers[name] = s
	}
	s, err := Connect(ctx, optional, tool.NewRegistry(), o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all := s.Health()
	for i := range all {
		all[i].Required = c.Servers[all[i].Name].Required
	}
	return all, nil
}

// Health returns the servers by name, disabled ones included.
func (s *Servers) Health() []Health {
	out := slices.Clone(s.disabled)
	for _, one := range s.all {
		out = append(out, one.report())
	}
	slices.SortFunc(out, func(a, b Health) int { return strings.Compare(a.Name, b.Name) })
	return out
}
