package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker/internal/route"
	"github.com/maker-mdap/maker/internal/secret"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/tool/builtin"
)

// toolFlags are the settings of the tools.
type toolFlags struct {
	names        []string
	workspace    string
	sandbox      string
	readable     []string
	allowNetwork bool
	allowPrivate bool
	searchURL    string
}

func (t *toolFlags) register(f *pflag.FlagSet) {
	t.sandbox = "auto"
	f.SortFlags = false
	f.StringVar(&t.workspace, "workspace", ".", "folder that the tools work in and cannot leave")
	f.Var(&choice{&t.sandbox, []string{"auto", "strict", "off"}}, "sandbox", "what confines Bash: auto takes the best there is, strict fails without one, off")
	f.StringSliceVar(&t.readable, "readable", nil, "further folders that Bash may read, such as a toolchain in your home folder")
	f.BoolVar(&t.allowNetwork, "allow-network", false, "let Bash use the network")
	f.BoolVar(&t.allowPrivate, "allow-private", false, "let WebFetch go to loopback and private addresses")
	f.StringVar(&t.searchURL, "search-url", "", "back end of WebSearch: a URL that returns JSON, with {query} in it")
}

// open returns the built-in tools in a registry of their own.
func (t *toolFlags) open(cmd *cobra.Command, a *app) (*builtin.Set, *tool.Registry, error) {
	// A tool that could change the log of a run could change what happened.
	logs, err := filepath.Abs(a.logDir)
	if err != nil {
		return nil, nil, err
	}
	set, err := builtin.New(cmd.Context(), builtin.Options{
		Workspace:    t.workspace,
		Tools:        t.names,
		Sandbox:      t.sandbox,
		Readable:     t.readable,
		AllowNetwork: t.allowNetwork,
		AllowPrivate: t.allowPrivate,
		SearchURL:    t.searchURL,
		Protected:    []string{logs},
	})
	if err != nil {
		if cmd.Context().Err() != nil {
			return nil, nil, err
		}
		return nil, nil, usageError{err} // the folder, a name or the sandbox
	}
	registry := tool.NewRegistry()
	if err := registry.Register(set.Tools()...); err != nil {
		return nil, nil, errors.Join(err, set.Close())
	}
	return set, registry, nil
}

// listedTool is a tool as a list shows it.
type listedTool struct {
	Name        string          `json:"name"`
	Class       tool.Effect     `json:"class"`
	Source      string          `json:"source"`
	Available   bool            `json:"available"`
	Reason      string          `json:"reason,omitempty"` // why it is not available
	Idempotent  bool            `json:"idempotent"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

func (a *app) tools() *cobra.Command {
	var flags toolFlags
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools, or call one by hand",
		Long: `tools lists every tool with its class, where it comes from and whether it can be
used. The class says who runs it: samples run pure and observe tools themselves, a
mutate tool runs once, after the vote, and human means that you are asked.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, registry, err := flags.open(cmd, a)
			if err != nil {
				return err
			}
			return errors.Join(a.listTools(set, registry), set.Close())
		},
	}
	flags.register(cmd.Flags())
	cmd.Flags().StringSliceVar(&flags.names, "tools", nil, "only these built-in tools, such as Read,Grep")
	cmd.AddCommand(a.toolsCall())
	return cmd
}

func (a *app) listTools(set *builtin.Set, registry *tool.Registry) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	if !a.json {
		fmt.Fprintln(w, "TOOL\tCLASS\tSOURCE\tAVAILABLE\tDOES")
	}
	for _, t := range registry.List() {
		if a.json {
			line := listedTool{t.Name, t.Effect, t.Source, t.Unavailable == "", t.Unavailable, t.Idempotent, t.Description, t.Schema}
			if err := a.printJSON(line); err != nil {
				return err
			}
			continue
		}
		available := "yes"
		if t.Unavailable != "" {
			available = "no: " + t.Unavailable
		}
		does, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.Name, t.Effect, t.Source, available, does)
	}
	a.saySandbox(set)
	return w.Flush()
}

// saySandbox reports what confines Bash.
func (a *app) saySandbox(set *builtin.Set) {
	if level := set.Sandbox(); level != "" && !a.quiet {
		fmt.Fprintf(a.Err, "sandbox: %s\n", level)
	}
}

func (a *app) toolsCall() *cobra.Command {
	var flags toolFlags
	cmd := &cobra.Command{
		Use:   "call NAME JSON",
		Short: "Run one tool by hand",
		Long: `call runs a built-in tool with the given input, a JSON object, or - to read it
from stdin, and prints the result. A mutate tool changes things, at once.

  maker tools call Grep '{"pattern": "TODO", "output_mode": "content"}'
  maker tools call Bash '{"command": "id"}' --sandbox strict

Exit code 1 means that the result is an error, 2 that the input is wrong.`,
		Args: exactArgs("NAME", "JSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			input := json.RawMessage(args[1])
			if args[1] == "-" {
				const longest = 2 << 20
				data, err := io.ReadAll(io.LimitReader(a.In, longest))
				if err != nil {
					return err
				}
				input = data
			}
			flags.names = []string{args[0]}
			set, registry, err := flags.open(cmd, a)
			if err != nil {
				return err
			}
			return errors.Join(a.callTool(cmd, set, registry, args[0], input), set.Close())
		},
	}
	flags.register(cmd.Flags())
	return cmd
}

func (a *app) callTool(cmd *cobra.Command, set *builtin.Set, registry *tool.Registry, name string, input json.RawMessage) error {
	t, err := registry.Get(name)
	if err != nil {
		return usageError{err}
	}
	if err := t.Validate(input); err != nil {
		return usageError{err}
	}
	if t.Effect == tool.Human {
		return usageError{fmt.Errorf("%s asks the person, and that is you", name)}
	}
	a.saySandbox(set)
	result, err := t.Run(cmd.Context(), input)
	if err != nil {
		return err
	}
	// A key that a tool came across is not repeated.
	result.Text = secret.NewSet(route.AllKeys(os.Getenv)...).Redact(result.Text)
	if a.json {
		err = a.printJSON(result)
	} else {
		_, err = fmt.Fprintln(a.Out, strings.TrimSuffix(result.Text, "\n"))
	}
	if err == nil && result.IsError {
		err = exitError{exitFailed}
	}
	return err
}
