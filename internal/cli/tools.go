package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/tool/builtin"
)

// ofTools picks the settings that say which tools there are.
func ofTools(d *config.Setting) bool {
	return d.Group == config.Find("tools").Group && !slices.Contains([]string{"approve", "allow", "deny", "answers"}, d.Name)
}

// openTools opens the tools as a run would.
func (s *settings) openTools(cmd *cobra.Command, a *app) (*toolbox.Toolbox, error) {
	return toolbox.Open(cmd.Context(), s.config.Tools, toolbox.Options{
		Env: os.Getenv, Version: maker.Version, Protected: a.protected.Files, Own: a.protected.Own,
		Warn: func(text string) { fmt.Fprintf(a.Err, "maker: warning: %s\n", text) },
	})
}

// listedTool is a tool as a list shows it.
type listedTool struct {
	Name        string          `json:"name"`
	Class       tool.Class      `json:"class"`
	Source      string          `json:"source"`
	Available   bool            `json:"available"`
	Reason      string          `json:"reason,omitempty"` // why it is not available
	Idempotent  bool            `json:"idempotent"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

func (a *app) tools() *cobra.Command {
	var flags settings
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools, or call one by hand",
		Long: `tools lists every tool with its class, where it comes from and whether it can be
used. The class says who runs it: samples run pure and observe tools themselves, a
mutate tool runs once, after the vote, and human means that you are asked.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := flags.openTools(cmd, a)
			if err != nil {
				return err
			}
			return errors.Join(a.listTools(box), box.Close())
		},
	}
	flags.register(cmd, config.Run, ofTools)
	cmd.AddCommand(a.toolsCall())
	return cmd
}

func (a *app) listTools(box *toolbox.Toolbox) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	if !a.json {
		fmt.Fprintln(w, "TOOL\tCLASS\tSOURCE\tAVAILABLE\tDOES")
	}
	for _, t := range box.Registry.List() {
		if a.json {
			line := listedTool{t.Name, t.Class, t.Source, t.Unavailable == "", t.Unavailable, t.Idempotent, t.Description, t.Schema}
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", show.Line(t.Name), t.Class, show.Line(t.Source), show.Line(available), show.Line(does))
	}
	a.saySandbox(box.Builtin)
	return w.Flush()
}

// saySandbox reports what confines Bash.
func (a *app) saySandbox(set *builtin.Set) {
	if level := set.Sandbox(); level != "" && !a.quiet {
		fmt.Fprintf(a.Err, "sandbox: %s\n", level)
	}
}

func (a *app) toolsCall() *cobra.Command {
	var flags settings
	cmd := &cobra.Command{
		Use:   "call NAME JSON",
		Short: "Run one tool by hand",
		Long: `call runs a tool with the given input, a JSON object, or - to read it
from stdin, and prints the result. A mutate tool changes things, at once.

  maker tools call Grep '{"pattern": "TODO", "output_mode": "content"}'
  maker tools call Bash '{"command": "id"}' --sandbox strict

Exit code 1 means that the result is an error, 2 that the input is wrong.`,
		Args: exactArgs("NAME", "JSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			input := json.RawMessage(args[1])
			if args[1] == "-" {
				text, err := readAll(a.In, "stdin")
				if err != nil {
					return err
				}
				input = json.RawMessage(text)
			}
			if !strings.HasPrefix(args[0], "mcp__") {
				// What is not called need not be set up.
				flags.config.Tools.Builtin, flags.config.Tools.MCPConfig = []string{args[0]}, ""
			}
			box, err := flags.openTools(cmd, a)
			if err != nil {
				return err
			}
			return errors.Join(a.callTool(cmd, box, args[0], input), box.Close())
		},
	}
	flags.register(cmd, config.Run, func(d *config.Setting) bool { return ofTools(d) && d.Name != "tools" })
	return cmd
}

func (a *app) callTool(cmd *cobra.Command, box *toolbox.Toolbox, name string, input json.RawMessage) error {
	t, err := box.Registry.Get(name)
	if err != nil {
		return usageError{err}
	}
	if err := t.Validate(input); err != nil {
		return usageError{err}
	}
	if t.Class == tool.Human {
		return usageError{fmt.Errorf("%s asks the person, and that is you", name)}
	}
	if t.Source == tool.Builtin {
		a.saySandbox(box.Builtin)
	}
	result, err := t.Run(cmd.Context(), input)
	if err != nil {
		return err
	}
	// A key that a tool came across is not repeated.
	keys := route.AllKeys(os.Getenv)
	if box.MCP != nil {
		keys = append(keys, box.MCP.Secrets()...)
	}
	result.Text = secret.NewSet(keys...).Redact(result.Text)
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
