// Package toolbox opens the tools of a run: the built-in ones of its workspace and
// those of its MCP servers.
package toolbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/process/sandbox"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/tool/builtin"
	"github.com/maker-mdap/maker/tool/mcp"
)

// Policy is the approval that the configuration asks for.
func Policy(c config.Tools) (approval.Policy, error) {
	p := approval.Policy{Mode: cmp.Or(approval.Mode(c.Approve), approval.Mutate), Workspace: cmp.Or(c.Workspace, ".")}
	var err error
	if p.Allow, err = approval.ParseRules(c.Allow); err != nil {
		return p, &config.Error{Field: "allow", Err: err}
	}
	if p.Deny, err = approval.ParseRules(c.Deny); err != nil {
		return p, &config.Error{Field: "deny", Err: err}
	}
	return p, nil
}

// Options are what opening needs beyond the configuration.
type Options struct {
	Env       func(string) string
	Protected []string // files that tools must not change, such as settings
	Own       []string // the same for what this program writes to, such as the run logs
	Extra     []tool.Tool
	Version   string
	Warn      func(string)
}

// A Toolbox holds the tools of a run.
type Toolbox struct {
	Registry *tool.Registry
	Builtin  *builtin.Set
	Servers  *mcp.Servers // nil if there are none
	MCP      *mcp.Config  // nil if there is none
}

// Open opens the tools. Errors that are about a setting are a [*config.Error]. The
// caller closes the toolbox when no tool runs any more.
func Open(ctx context.Context, c config.Tools, o Options) (*Toolbox, error) {
	t := &Toolbox{Registry: tool.NewRegistry()}
	options := builtinOptions(c)
	options.Protected, options.Own = o.Protected, o.Own
	if c.MCPConfig != "" {
		servers, err := ReadMCP(c.MCPConfig, o.Env)
		if err != nil {
			return nil, &config.Error{Field: "mcp_config", Err: err}
		}
		file, err := filepath.Abs(c.MCPConfig)
		if err != nil {
			return nil, &config.Error{Field: "mcp_config", Err: err}
		}
		t.MCP = &servers
		options.Protected = append(slices.Clone(o.Protected), file)
		options.Own = append(slices.Clone(o.Own), programs(servers, filepath.Dir(file))...)
	}
	var err error
	t.Builtin, err = builtin.New(ctx, options)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		field := "workspace"
		switch {
		case errors.Is(err, tool.ErrUnknown):
			field = "tools"
		case errors.Is(err, sandbox.ErrNone), errors.Is(err, sandbox.ErrProbe):
			field = "sandbox"
		}
		return nil, &config.Error{Field: field, Err: err}
	}
	if err := t.open(ctx, c, o); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func builtinOptions(c config.Tools) builtin.Options {
	return builtin.Options{
		Workspace: c.Workspace, Tools: c.Builtin, Sandbox: c.Sandbox, Readable: c.Readable,
		AllowNetwork: c.AllowNetwork, AllowPrivate: c.AllowPrivate, SearchURL: c.SearchURL,
	}
}

// Attachments returns what looks at the things that tasks refer to.
func (t *Toolbox) Attachments(c config.Tools) func(context.Context, flow.Reference) (flow.Attached, error) {
	return t.Builtin.Attachments(builtinOptions(c))
}

func (t *Toolbox) open(ctx context.Context, c config.Tools, o Options) error {
	if err := t.Registry.Register(t.Builtin.Tools()...); err != nil {
		return err
	}
	if err := t.Registry.Register(o.Extra...); err != nil {
		return err
	}
	if t.MCP == nil {
		return nil
	}
	warn := func(server, text string) {
		if o.Warn != nil {
			o.Warn(fmt.Sprintf("MCP server %s: %s", server, text))
		}
	}
	var err error
	t.Servers, err = mcp.Connect(ctx, *t.MCP, t.Registry, &mcp.Options{Dir: filepath.Dir(c.MCPConfig), Version: o.Version, Warn: warn})
	if err != nil {
		return &config.Error{Field: "mcp_config", Err: err}
	}
	return nil
}

// programs are the files that servers are started with. What an agent put into them
// would run with the person's rights. Among them may be some that a server writes to.
func programs(c mcp.Config, dir string) []string {
	var files []string
	for _, s := range c.Servers {
		from := s.Cwd
		if !filepath.IsAbs(from) {
			from = filepath.Join(dir, from)
		}
		for _, name := range append([]string{s.Command}, s.Args...) {
			if !filepath.IsAbs(name) {
				name = filepath.Join(from, name)
			}
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				files = append(files, name)
			}
		}
	}
	return files
}

// Close ends the servers and releases the workspace.
func (t *Toolbox) Close() error {
	if t.Servers != nil {
		t.Servers.Close()
	}
	if t.Builtin == nil {
		return nil
	}
	return t.Builtin.Close()
}

// ReadMCP reads the servers that a file configures: JSON in the form that other
// programs have, or YAML with the same fields, such as maker.yaml.
func ReadMCP(path string, env func(string) string) (mcp.Config, error) {
	const limit = 1 << 20
	info, err := os.Stat(path)
	if err != nil {
		return mcp.Config{}, err
	}
	if info.Size() > limit {
		return mcp.Config{}, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), limit)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return mcp.Config{}, err
	}
	lookup := func(name string) (string, bool) {
		value := env(name)
		return value, value != ""
	}
	if filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".yml" {
		c, err := mcp.ParseConfig(data, lookup)
		if err != nil {
			return c, fmt.Errorf("%s: %w", path, err)
		}
		return c, nil
	}
	var file struct {
		Servers map[string]any `yaml:"mcpServers"`
		Old     map[string]any `yaml:"mcp_servers"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return mcp.Config{}, fmt.Errorf("%s: %w", path, err)
	}
	if file.Servers == nil {
		file.Servers = file.Old
	}
	c, err := mcp.FromMap(file.Servers, lookup)
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}
