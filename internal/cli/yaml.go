package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
)

func (a *app) yaml() *cobra.Command {
	var name, baseURL, promptsDir string
	var repair string
	cmd := &cobra.Command{
		Use:   "yaml FILE",
		Short: "Read YAML the way answers of models are read",
		Long: `yaml reads what a model wrote, takes fences and prose away, mends slips of syntax,
and prints the result. FILE may be - for stdin. With --model it may also ask that
model to write the text again if nothing else helps (--repair llm).
Exit code 1 means that the text cannot be read.`,
		Example: `  maker yaml answer.txt
  maker yaml - --json < answer.txt`,
		Args: exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.fileArg(args[0])
			if err != nil {
				return err
			}
			var result yamlclean.Result
			switch {
			case name != "":
				fix, err := yamlFixer(cmd.Context(), name, baseURL, promptsDir)
				if err != nil {
					return err
				}
				result, err = yamlclean.CleanWith(text, fix)
				if err != nil {
					return a.unreadable(args[0], err)
				}
			case repair == "off":
				result, err = yamlclean.Read(text)
			default:
				result, err = yamlclean.Clean(text)
			}
			if err != nil {
				return a.unreadable(args[0], err)
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
	f := cmd.Flags()
	ownFlag(f, &repair, "syntax", config.Setting{Name: "repair", Choices: config.Find("repair").Choices,
		Help: "off reads the text as it is, syntax mends it, llm also asks --model"})
	f.StringVarP(&name, "model", "m", "", "model that writes the text again, with --repair llm")
	f.StringVar(&baseURL, "base-url", "", "address of the server for compat/ models")
	f.StringVar(&promptsDir, "prompts-dir", "", config.Find("prompts_dir").Help)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if repair == "llm" && name == "" {
			return usageError{fmt.Errorf("--repair llm needs a --model to ask, such as sim/default")}
		}
		if repair != "llm" {
			name = "" // from a configuration file, for runs
		}
		return nil
	}
	return cmd
}

func (a *app) unreadable(name string, err error) error {
	fmt.Fprintf(a.Err, "maker: %s: %v\n", name, err)
	return exitError{exitFailed}
}

// yamlFixer asks a model to write a text again.
func yamlFixer(ctx context.Context, name, baseURL, promptsDir string) (func(string, error) (string, error), error) {
	set, err := openPrompts(promptsDir)
	if err != nil {
		return nil, err
	}
	v, err := route.Open(name, route.Options{BaseURL: baseURL, Env: os.Getenv, Prices: price.Default()})
	if err != nil {
		return nil, &maker.ConfigError{Field: "model", Err: err}
	}
	return func(text string, problem error) (string, error) {
		prompt, err := set.Render(prompts.YAMLFixer{Text: text, Problem: problem.Error()})
		if err != nil {
			return "", err
		}
		resp, err := v.Generate(ctx, &model.Request{Messages: []model.Message{{Role: model.User, Text: prompt}}, Temperature: new(float64)})
		if err != nil {
			return "", err
		}
		return resp.Text, nil
	}, nil
}
