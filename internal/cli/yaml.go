package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
)

func (a *app) yaml() *cobra.Command {
	var repair string
	cmd := &cobra.Command{
		Use:   "yaml FILE",
		Short: "Read YAML the way answers of models are read",
		Long: `yaml reads what a model wrote, takes fences and prose away, mends slips of syntax,
and prints the result. FILE may be - for stdin. What a run would then have a model
write again (--repair llm) is an error here.
Exit code 1 means that the text cannot be read.`,
		Example: `  maker yaml answer.txt
  maker yaml - --json < answer.txt`,
		Args: exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.fileArg(args[0])
			if err != nil {
				return err
			}
			read := yamlclean.Clean
			if repair == "off" {
				read = yamlclean.Read
			}
			result, err := read(text)
			if err != nil {
				fmt.Fprintf(a.Err, "maker: %s: %v\n", args[0], err)
				return exitError{exitFailed}
			}
			if a.json {
				return a.printJSON(struct {
					Repaired bool            `json:"repaired"`
					Fixes    []string        `json:"fixes,omitempty"`
					Data     json.RawMessage `json:"data"`
				}{result.Repaired, result.Fixes, result.Data})
			}
			switch {
			case result.Repaired:
				fmt.Fprintf(a.Err, "repaired: %s\n", strings.Join(result.Fixes, ", "))
			case !a.quiet:
				fmt.Fprintln(a.Err, "read as it is")
			}
			_, err = fmt.Fprintln(a.Out, strings.TrimRight(result.Text, "\n"))
			return err
		},
	}
	ownFlag(cmd.Flags(), &repair, "syntax", config.Setting{Name: "repair", Choices: []string{"off", "syntax"},
		Help: "off reads the text as it is, syntax mends it"})
	cmd.Annotations = map[string]string{ownSettings: "repair is that of runs"}
	return cmd
}
