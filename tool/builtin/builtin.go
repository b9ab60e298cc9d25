// Package builtin holds the tools that are part of the program: files, a shell,
// the web and the person.
//
// Their names, arguments and behaviour are those that users of coding agents
// know. What a tool tells a model about itself is the Markdown file beside its
// code. Every output is bounded and says when it was cut.
//
// # Confinement
//
// The file tools work on an [os.Root] of the workspace: no path, link or change
// of a link while it is used leads out of it. Bash runs in a sandbox, if the
// machine offers one. WebFetch looks at the address it is about to connect to,
// on every hop, and refuses those that are not public.
package builtin

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/internal/process/protect"
	"github.com/maker-mdap/maker/internal/process/sandbox"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/tool"
)

//go:embed *.md
var descriptions embed.FS

// Options configure the tools. The zero value is the safe one: the current
// folder, the best sandbox there is, no network for commands and no private
// addresses.
type Options struct {
	Workspace string   // the folder that the tools work in; "" is the current one
	Tools     []string // which tools; nil is all of them

	Sandbox      string   // for Bash: "auto" (or ""), "strict" or "off"; without a sandbox auto goes on without Bash, and strict not at all
	AllowNetwork bool     // Bash may use the network
	Readable     []string // further folders that Bash may read

	// Protected names files that no tool may change, in the workspace or, for Bash
	// without a sandbox, elsewhere; Own names files and folders of which that is true
	// but which this program writes to, such as the run log.
	Protected, Own []string

	AllowPrivate bool   // WebFetch may go to loopback and private addresses
	SearchURL    string // back end of WebSearch, with {query} where the query goes

	// Grace is the time between asking a command to end and killing it; 0 is two
	// seconds. Processes is how many a command may have; 0 is 512.
	Grace     time.Duration
	Processes int

	// Resolve finds the addresses of a host for WebFetch; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Names are the names of all built-in tools.
func Names() []string {
	return []string{"AskUserQuestion", "Bash", "Edit", "Glob", "Grep", "Read", "WebFetch", "WebSearch", "Write"}
}

// A Set is the built-in tools of one workspace.
type Set struct {
	tools     []tool.Tool
	workspace *workspace
	sandbox   *sandbox.Sandbox // nil without Bash, or if there is none
	noSandbox string           // why there is none
}

// New returns the tools that o asks for. The caller closes the set when no tool
// runs any more.
func New(ctx context.Context, o Options) (*Set, error) {
	names := o.Tools
	if names == nil {
		names = Names()
	}
	for i, name := range names {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("builtin: %w: %q; %s", tool.ErrUnknown, name, nearest.Among(name, Names()))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("builtin: %s is named twice", name)
		}
	}
	w, err := openWorkspace(o.Workspace)
	if err != nil {
		return nil, err
	}
	w.protected = protect.New(w.dir, o.Protected, o.Own)
	s := &Set{workspace: w}
	if slices.Contains(names, "Bash") {
		s.sandbox, err = sandbox.New(ctx, sandbox.Options{
			Mode:      sandbox.Mode(o.Sandbox),
			Workspace: w.dir,
			Network:   o.AllowNetwork,
			Readable:  o.Readable,
			Protected: w.protected,
			Limits:    sandbox.Limits{Grace: o.Grace, Processes: o.Processes},
		})
		if errors.Is(err, sandbox.ErrNone) && sandbox.Mode(o.Sandbox) != sandbox.Strict {
			// The other tools work without. To run commands with the rights of a person is
			// something that the person has to ask for.
			s.noSandbox, err = err.Error(), nil
		}
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	for _, name := range names {
		t, err := s.make(name, o)
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
		s.tools = append(s.tools, t)
	}
	return s, nil
}

// make builds one tool.
func (s *Set) make(name string, o Options) (tool.Tool, error) {
	switch name {
	case "Read":
		return define(name, tool.Pure, false, s.workspace.read)
	case "Glob":
		return define(name, tool.Pure, false, s.workspace.glob)
	case "Grep":
		return define(name, tool.Pure, false, s.workspace.grep)
	case "Write":
		return define(name, tool.Mutate, true, s.workspace.write)
	case "Edit":
		return define(name, tool.Mutate, false, s.workspace.edit)
	case "Bash":
		t, err := define(name, tool.Mutate, false, bash{s.sandbox}.run)
		t.Unavailable = s.noSandbox
		return t, err
	case "WebFetch":
		return define(name, tool.Observe, false, newFetcher(o).fetch)
	case "WebSearch":
		b, reason := newSearcher(o.SearchURL)
		t, err := define(name, tool.Observe, false, b.search)
		t.Unavailable = reason
		return t, err
	default:
		return define[askInput](name, tool.Human, false, nil)
	}
}

// define makes a tool of a func and the description beside it. Reading twice is
// always harmless, so only mutating tools say whether they are idempotent.
func define[In any](name string, class tool.Class, idempotent bool, run func(context.Context, In) (tool.Result, error)) (tool.Tool, error) {
	text, err := descriptions.ReadFile(strings.ToLower(name) + ".md")
	if err != nil {
		return tool.Tool{}, fmt.Errorf("builtin: %w", err)
	}
	return tool.New(tool.Tool{
		Name:        name,
		Description: strings.TrimSpace(string(text)),
		Class:       class,
		Source:      tool.Builtin,
		Idempotent:  idempotent || class.BySample(),
	}, run)
}

// Tools returns the tools, in the order in which they were asked for.
func (s *Set) Tools() []tool.Tool { return slices.Clone(s.tools) }

// Workspace returns the folder that the tools work in.
func (s *Set) Workspace() string { return s.workspace.dir }

// Sandbox says in one line what confines Bash; empty without Bash.
func (s *Set) Sandbox() string {
	switch {
	case s.noSandbox != "":
		return "none, so Bash is not available: " + s.noSandbox
	case s.sandbox == nil:
		return ""
	}
	return s.sandbox.Describe()
}

// Close releases the workspace.
func (s *Set) Close() error { return s.workspace.Close() }
